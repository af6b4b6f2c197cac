package analysis

import (
	"github.com/crashpane/crashpane/core/reason"
)

const (
	// probe is how far below the stack pointer a function may access its frame before it moves the
	// stack pointer (stack probes), and how close to the end of the stack the stack pointer must
	// be.
	probe = 64 << 10
	// gap is what Linux keeps unmapped below a growing stack (stack_guard_gap: 256 pages).
	gap = 1 << 20
	// deep is the least stack in use that suggests an overflow if there is no memory map. The
	// smallest usual stacks have 128 KiB (musl) and 512 KiB (macOS).
	deep = 120 << 10
)

// overflow sets Overflow. Windows reports a stack overflow as an exception of its own. On other
// systems it is an access that failed just below the stack, in its guard page or in unmapped
// memory, with the stack pointer close to it.
//
// A stack grows down into the page below it. From high to low:
//
//	the stack, "rw-", which the stack pointer is in or was in
//	guard page, "---", or a gap where nothing is mapped
//	addr, which the instruction accessed
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
		// Without a map: an access just below the stack pointer can fail only if the stack has
		// overflowed.
		region, _ := c.d.Memory.Region(addr)
		below := addr < c.sp+2*uint64(c.arch.WordSize) && distance(addr, c.sp) <= probe
		if region.Loc.Size == 0 && (below || c.stackInUse() >= deep || c.leftStack(addr)) {
			c.out.Overflow = Likely
		}
	// Memory that may be written to ends no stack.
	case p.Write:
	default:
		// The access is in the range right below writable memory, near its upper end, and the stack
		// pointer is near too.
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

// leftStack reports whether the stack pointer has left the stack: the access failed in the frame
// above it, and the dump has memory as the thread's stack that is elsewhere. Crashpad keeps the
// alternate stack then, on which the handler of the signal ran.
func (c *crash) leftStack(addr uint64) bool {
	if c.thread < 0 || addr < c.sp || addr-c.sp > probe {
		return false
	}
	t := &c.d.Threads[c.thread]
	if _, held := c.d.Memory.Region(c.sp); held {
		return false
	}
	return t.Stack.Size > 0 && distance(t.StackStart, c.sp) > gap
}

// nearStack reports whether an access uses the stack pointer or the frame pointer, or is close to
// the stack pointer.
//
// An access to another object close to the end of the stack is not an overflow: it uses another
// register, and is far from the stack pointer.
func (c *crash) nearStack(a *Access) bool {
	switch a.Base.Name {
	case "rsp", "esp", "sp", "rbp", "ebp", "x29":
		return true
	}
	return a.Implicit || distance(a.Address, c.sp) <= probe
}

// distance is the distance of two addresses, in bytes.
func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// stackInUse returns how many bytes of the crashed thread's stack were in use, or 0 if the dump
// does not have the stack.
func (c *crash) stackInUse() uint64 {
	if c.thread < 0 {
		return 0
	}
	t := &c.d.Threads[c.thread]
	end := t.StackStart + t.Stack.Size
	// The stack pointer may be below the part of the stack that the writer could read.
	if t.Stack.Size == 0 || end <= c.sp || t.StackStart > c.sp+gap {
		return 0
	}
	return end - c.sp
}
