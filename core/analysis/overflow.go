package analysis

import (
	"github.com/crashpane/crashpane/core/reason"
)

const (
	// probe is how far beyond the stack pointer code touches its frame before it has made room for it, and how close to the
	// end of its stack a thread must be.
	probe = 64 << 10
	// gap is what Linux keeps free below a stack that grows (stack_guard_gap: 256 pages).
	gap = 1 << 20
	// deep is the least that a thread must have in use for its stack to be suspected without a memory map; the smallest usual
	// stacks have 128 KiB (musl) and 512 KiB (macOS).
	deep = 120 << 10
)

// overflow finds out whether the crashed thread's stack is used up. Windows has an exception for that. Elsewhere it is an access
// that failed just below the stack, in its guard page or where nothing is mapped, while the stack pointer was there too.
func (c *crash) overflow() {
	if c.why.Kind == reason.Stack {
		c.out.Overflow = Yes
		return
	}
	addr, ok := c.address()
	if !ok || c.ctx == nil || !c.aboutMemory() || c.execution() || addr < nullPage || c.sp < nullPage || c.faultWithoutAddress() {
		return
	}
	if c.out.Cause >= 0 && !c.nearStack(&c.out.Accesses[c.out.Cause]) || distance(addr, c.sp) > gap {
		return
	}
	switch p := c.places.At(addr); {
	case p == nil:
		// Without a map: what a push or a frame's first access touches below the stack pointer is there, unless the stack has run out.
		region, _ := c.d.Memory.Region(addr)
		below := addr < c.sp+2*uint64(c.arch.WordSize) && distance(addr, c.sp) <= probe
		if region.Loc.Size == 0 && (below || c.stackInUse() >= deep) {
			c.out.Overflow = Likely
		}
	case p.Write:
	default:
		up := c.places.above(p)
		if up == nil || !up.Write || up.Start-addr > gap+probe || c.sp >= up.Start+probe || p.End-addr > gap+probe {
			return
		}
		c.out.Overflow = Yes
		if !p.Guard && up.Name != "[stack]" {
			c.out.Overflow = Likely
		}
	}
}

// nearStack: the access goes through the stack pointer or the frame pointer, or close by.
func (c *crash) nearStack(a *Access) bool {
	switch a.Base.Name {
	case "rsp", "esp", "sp", "rbp", "ebp", "x29":
		return true
	}
	return a.Implicit || distance(a.Address, c.sp) <= probe
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// stackInUse is how many bytes of the crashed thread's stack were in use as far as the dump has it, or 0.
func (c *crash) stackInUse() uint64 {
	if c.thread < 0 {
		return 0
	}
	t := &c.d.Threads[c.thread]
	end := t.StackStart + t.Stack.Size
	// The stack pointer may lie below what could be written into the dump.
	if t.Stack.Size == 0 || end <= c.sp || t.StackStart > c.sp+gap {
		return 0
	}
	return end - c.sp
}
