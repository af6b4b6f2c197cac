package analysis

import (
	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/reason"
)

// nullPage is how far from 0 an address still speaks of a null pointer: the 64 KiB that Windows never maps, and Linux by default
// (vm.mmap_min_addr).
const nullPage = 0x10000

// findCause finds the access that failed.
func (c *crash) findCause() {
	if c.insn == nil || !c.aboutMemory() || c.execution() {
		return
	}
	reported := c.untagged(c.why.Address)
	gpf := c.faultWithoutAddress()
	all := c.out.Accesses
	// An access whose address depends on what the dump does not have is the one, if it is the only one.
	if len(all) == 1 && !all[0].AddressKnown && !gpf && c.why.HasAddress {
		all[0].Address, all[0].AddressKnown = reported, true
	}
	pick := func(fits func(a *Access) bool) bool {
		for i := range all {
			if a := &all[i]; a.AddressKnown && fits(a) && (c.why.Access == reason.AccessUnknown || gpf || a.Kind.fits(c.why.Access)) {
				c.out.Cause = i
				return true
			}
		}
		return false
	}
	if !gpf && c.why.HasAddress && pick(func(a *Access) bool { return reported-c.untagged(a.Address) < uint64(max(1, a.Size)) }) {
		return
	}
	if gpf && pick(func(a *Access) bool { return !c.possible(a.Address) }) {
		return
	}
	if gpf && pick(func(a *Access) bool { return c.misaligned(a) != 0 }) {
		return
	}
	// Some writers report no address, or another's. An access that cannot work is the cause all the same.
	if c.why.HasAddress && reported < nullPage || gpf {
		if pick(func(a *Access) bool {
			p := c.places.At(a.Address)
			return a.Address < nullPage || !c.possible(a.Address) || p != nil && (!p.Mapped || !p.Allows(a.Kind))
		}) {
			return
		}
	}
	// Others record 0 for every crash (the crate minidumper). If the instruction accesses one place alone, it is that one.
	if c.why.HasAddress && reported == 0 && len(all) == 1 {
		pick(func(a *Access) bool { return true })
	}
}

func (k Kind) fits(a reason.Access) bool {
	switch a {
	case reason.Read:
		return k == Read || k == ReadWrite || k == KindUnknown
	case reason.Write:
		return k == Write || k == ReadWrite || k == KindUnknown
	}
	return true
}

// aboutMemory: the reason is an access to memory.
func (c *crash) aboutMemory() bool {
	switch c.why.Kind {
	case reason.Memory, reason.InPage, reason.Misaligned:
		return true
	}
	return false
}

// execution: the program counter itself is the address that failed.
func (c *crash) execution() bool {
	if !c.aboutMemory() || c.ctx == nil {
		return false
	}
	if c.why.Access == reason.Exec {
		return true
	}
	if c.why.HasAddress && c.untagged(c.why.Address) == c.pc && !c.faultWithoutAddress() {
		return true
	}
	// A recorded 0 says nothing where no instruction can be at the program counter.
	return c.why.HasAddress && c.why.Address == 0 && c.insn == nil && c.noCode(c.pc)
}

// noCode: no instruction can be at an address, says the memory map.
func (c *crash) noCode(addr uint64) bool {
	p := c.places.At(addr)
	return !c.possible(addr) || p != nil && (!p.Mapped || !p.Exec)
}

// faultWithoutAddress: the processor gave the system no address. That is a general protection fault of x86 and amd64.
func (c *crash) faultWithoutAddress() bool {
	if c.arch == nil || !c.arch.NoFaultAddress {
		return false
	}
	switch c.d.OS() {
	case core.Windows:
		return c.why.Access == reason.Read && c.why.HasAddress && c.arch.Mask(^uint64(0)) == c.why.Address
	case core.MacOS, core.IOS:
		return c.why.Rust == "EXC_BAD_ACCESS / EXC_I386_GPFLT"
	}
	// Old writers leave si_code 0, which cannot be told from an access to address 0 but by what the instruction does.
	if c.why.HasAddress && c.why.Address == 0 && c.d.Exception.Flags == 0 {
		for _, a := range c.insn.accessesOrNone() {
			if a.AddressKnown && a.Address < nullPage {
				return false
			}
		}
		return c.insn != nil && len(c.insn.accesses) > 0
	}
	return c.why.Rust == "SIGSEGV / SI_KERNEL" || c.why.Rust == "SIGBUS / SI_KERNEL"
}

func (in *decoded) accessesOrNone() []Access {
	if in == nil {
		return nil
	}
	return in.accesses
}

// untagged takes off what arm64 ignores in the top byte of a data address (Arm ARM D8.8, "top byte ignore"): the system reports
// the address without it.
func (c *crash) untagged(addr uint64) uint64 {
	if c.arch != nil && c.arch.TopByteIgnored {
		return addr << 8 >> 8
	}
	return addr
}

// possible: the processor can have memory at the address.
func (c *crash) possible(addr uint64) bool {
	return c.arch == nil || c.arch.Canonical == nil || c.arch.Canonical(addr)
}

// misaligned is the alignment that the instruction wants and the address does not have, in bytes; 0 if there is none. The
// moves of whole vectors that want it are few; they report it as a general protection fault.
func (c *crash) misaligned(a *Access) int {
	if c.insn.x86 == nil || a.Size < 16 || a.Address%uint64(a.Size) == 0 {
		return 0
	}
	if x := c.insn.x86; x.vec != nil && !alignedMove(x.vec.text) || x.vec == nil && !alignedMove(c.insn.text) && !c.insn.sseOperand() {
		return 0
	}
	return a.Size
}

// adjust tells what is behind the address that failed, and looks it up in the memory map.
func (c *crash) adjust() {
	if c.sentSignal(nil) {
		return
	}
	addr, ok := c.address()
	switch {
	case c.execution():
		addr, ok = c.pc, true
		if addr < nullPage {
			c.out.Adjusted = &Adjusted{Kind: NullPointer, Address: addr, Offset: int64(addr)}
		} else if !c.possible(addr) {
			c.out.Adjusted = &Adjusted{Kind: NonCanonical, Address: addr}
		}
	case c.badTarget():
		addr, ok = c.out.Jump.Target, true
		c.out.Adjusted = &Adjusted{Kind: NonCanonical, Address: addr, Register: c.out.Jump.Register}
	case c.out.Cause >= 0:
		c.adjustAccess(&c.out.Accesses[c.out.Cause])
	case ok && addr < nullPage && c.why.HasAddress:
		c.out.Adjusted = &Adjusted{Kind: NullPointer, Address: addr, Offset: int64(addr)}
	}
	if ok && c.aboutMemory() && (c.out.Cause >= 0 || !c.faultWithoutAddress() || c.execution() || c.badTarget()) {
		c.out.Place = c.places.At(addr)
	}
}

func (c *crash) adjustAccess(a *Access) {
	offset := int64(a.Address)
	if c.arch.WordSize == 4 {
		offset = int64(int32(uint32(a.Address)))
	}
	wild := func(r Register) bool { return r.Name != "" && !c.possible(r.Value) }
	switch {
	case !c.possible(a.Address):
		adj := &Adjusted{Kind: NonCanonical, Address: a.Address}
		switch {
		case wild(a.Base):
			adj.Register = a.Base
		case wild(a.Index):
			adj.Register = a.Index
		case a.Base.Name != "" && a.Index.Name == "":
			adj.Register = a.Base
		}
		c.out.Adjusted = adj
	case offset > -nullPage && offset < nullPage && (offset >= 0 || a.Base.Name != "" && a.Base.Value < nullPage):
		c.out.Adjusted = &Adjusted{Kind: NullPointer, Address: a.Address, Offset: offset, Register: a.Base}
	case a.Base.Name != "" && a.Base.Value == 0 && a.Index.Name != "":
		// An array that is not there, and an index into it.
		c.out.Adjusted = &Adjusted{Kind: NullPointer, Address: a.Address, Offset: offset, Register: a.Base}
	}
}

// badTarget: the instruction wanted to go on at an address that cannot be; the processor then faults at the branch.
func (c *crash) badTarget() bool {
	j := c.out.Jump
	return j != nil && c.out.Cause < 0 && c.aboutMemory() && !c.execution() && c.faultWithoutAddress() && !c.possible(j.Target)
}
