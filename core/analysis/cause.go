package analysis

import (
	"slices"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/disasm"
	"github.com/crashpane/crashpane/core/reason"
)

// nullPage is the distance from 0 within which an address comes from a null pointer: the 64 KiB
// that Windows never maps, and Linux does not by default (vm.mmap_min_addr).
const nullPage = 0x10000

// findCause finds the access that failed.
//
// An instruction may access memory twice: "push [rax]" reads at rax and writes to the stack. The
// tests below go from certain to plausible, and the first that an access passes makes it the cause.
//
// In order: the access that contains the reported address; for a general protection fault, an
// access with a non-canonical or a misaligned address; if the reported address is low or missing,
// an access that the memory map forbids; if 0 is reported, the only access.
func (c *crash) findCause() {
	if c.insn == nil || !c.aboutMemory() || c.execution() || c.ranInto() || c.why.Access == reason.Exec || c.faultWithoutAddress() && c.insn.privileged {
		return
	}
	reported := c.untagged(c.why.Address)
	gpf := c.faultWithoutAddress()
	all := c.out.Accesses
	// A single access whose address depends on a value that the dump lacks must be the one: take
	// the reported address.
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
	// The address may be inside of the access, as for one that reaches into the next page.
	if !gpf && c.why.HasAddress && pick(func(a *Access) bool { return reported-c.untagged(a.Address) < uint64(max(1, a.Size)) }) {
		return
	}
	// x86 has two general protection faults of memory: a non-canonical address, and an operand that
	// must be aligned.
	if gpf && pick(func(a *Access) bool { return !c.possible(a.Address) }) {
		return
	}
	if gpf && pick(func(a *Access) bool { return c.misaligned(a) != 0 }) || c.instructionRefused() {
		return
	}
	// Some writers report no address or a wrong one. Then an access that must fail is the cause.
	if c.why.HasAddress && reported < nullPage || gpf {
		if pick(func(a *Access) bool {
			p := c.places.At(a.Address)
			return a.Address < nullPage || !c.possible(a.Address) || p != nil && (!p.Mapped || !p.Allows(a.Kind))
		}) {
			return
		}
	}
	// The crate minidumper reports 0 for every crash. Then the only access of the instruction is
	// the cause.
	if c.why.HasAddress && reported == 0 && len(all) == 1 {
		pick(func(a *Access) bool { return true })
	}
}

// fits reports whether an access of a kind can fail as the system says.
func (k Kind) fits(a reason.Access) bool {
	switch a {
	case reason.Read:
		return k == Read || k == ReadWrite || k == KindUnknown
	case reason.Write:
		return k == Write || k == ReadWrite || k == KindUnknown
	}
	return true
}

// aboutMemory reports whether the crash reason is a memory access.
func (c *crash) aboutMemory() bool {
	switch c.why.Kind {
	case reason.Memory, reason.InPage, reason.Misaligned:
		return true
	}
	return false
}

// execution reports whether the address that failed is pc itself: the program jumped to a bad
// address.
func (c *crash) execution() bool {
	if !c.aboutMemory() || c.ctx == nil {
		return false
	}
	if c.why.Stated && c.why.Kind != reason.Misaligned {
		return false
	}
	if c.why.HasAddress && c.untagged(c.why.Address) == c.pc && !c.faultWithoutAddress() {
		return true
	}
	// A reported 0 may just be missing. If pc cannot be code, the jump to it failed.
	return c.why.HasAddress && c.why.Address == 0 && c.noCode(c.pc)
}

// ranInto reports whether the instruction reaches into a page from which the processor could not
// fetch its end: the address is the start of that page.
//
//	pc 0x7ff700000ffe, address 0x7ff700001000: the page ends after two bytes of the instruction
func (c *crash) ranInto() bool {
	const page = 0x1000
	rest := c.why.Address - c.pc
	if !c.aboutMemory() || c.arch == nil || c.arch.Instructions != cpu.DecodedX86 || !c.why.HasAddress || c.why.Stated ||
		c.why.Address%page != 0 || rest == 0 || rest >= disasm.Longest || c.why.Access == reason.Write {
		return false
	}
	if c.insn != nil && uint64(c.insn.len) <= rest {
		return false
	}
	return c.why.Access == reason.Exec || !slices.ContainsFunc(c.out.Accesses, func(a Access) bool {
		return !a.AddressKnown || c.why.Address-a.Address < uint64(max(1, a.Size))
	})
}

// noCode reports whether by the memory map an address cannot be code.
func (c *crash) noCode(addr uint64) bool {
	p := c.places.At(addr)
	return !c.possible(addr) || p != nil && (!p.Mapped || !p.Exec)
}

// faultWithoutAddress reports whether the fault was a general protection fault of x86 or amd64, for
// which the processor gives the system no address.
//
//	Windows    a read of 0xffffffffffffffff
//	macOS      EXC_BAD_ACCESS / EXC_I386_GPFLT
//	Linux      SIGSEGV or SIGBUS with si_code SI_KERNEL and no address
func (c *crash) faultWithoutAddress() bool {
	if c.arch == nil || !c.arch.NoFaultAddress {
		return false
	}
	switch c.d.OS() {
	// Windows writes all bits set as the address, and the access as a read.
	case core.Windows:
		return c.why.Access == reason.Read && c.why.HasAddress && c.arch.Mask(^uint64(0)) == c.why.Address
	case core.MacOS, core.IOS:
		return c.why.Name == "EXC_BAD_ACCESS / EXC_I386_GPFLT"
	}
	// Old writers store si_code 0. Then only the instruction shows whether address 0 is real.
	if c.why.HasAddress && c.why.Address == 0 && c.d.Exception.Flags == 0 {
		for _, a := range c.insn.accessesOrNone() {
			if a.AddressKnown && a.Address < nullPage {
				return false
			}
		}
		return c.insn != nil && (len(c.insn.accesses) > 0 || c.insn.privileged || c.insn.refused != "")
	}
	// Linux has no si_addr for such a fault, and says that the kernel sent the signal.
	return c.why.Name == "SIGSEGV / SI_KERNEL" || c.why.Name == "SIGBUS / SI_KERNEL"
}

// instructionRefused reports whether the processor refused the instruction itself: there was a
// general protection fault, and no address of the instruction explains it.
func (c *crash) instructionRefused() bool {
	if c.insn == nil || !c.faultWithoutAddress() || c.execution() || c.out.Cause >= 0 {
		return false
	}
	return c.insn.privileged || c.insn.refused != "" && !c.insn.unknown && allKnown(c.out.Accesses) && !c.badTarget()
}

// accessesOrNone returns the accesses, none if the instruction could not be decoded.
func (in *decoded) accessesOrNone() []Access {
	if in == nil {
		return nil
	}
	return in.accesses
}

// untagged clears the top byte of an arm64 data address, which the processor ignores (Arm ARM D8.8,
// "top byte ignore"). Systems report addresses without it.
func (c *crash) untagged(addr uint64) uint64 {
	if c.arch != nil && c.arch.TopByteIgnored {
		return addr << 8 >> 8
	}
	return addr
}

// possible reports whether an address is canonical.
func (c *crash) possible(addr uint64) bool {
	return c.arch == nil || c.arch.Canonical == nil || c.arch.Canonical(addr)
}

// misaligned returns the alignment in bytes that the instruction needs and the address does not
// have, or 0. Only some SSE and AVX instructions need one; a violation is a general protection
// fault.
func (c *crash) misaligned(a *Access) int {
	if c.insn.x86 == nil || a.Size < 16 || a.Address%uint64(a.Size) == 0 {
		return 0
	}
	if x := c.insn.x86; !alignedMove(c.insn.text) && (x.Vector || !c.insn.sseOperand()) {
		return 0
	}
	return a.Size
}

// adjust sets Adjusted and Place: what explains the address that failed, and its entry in the
// memory map.
func (c *crash) adjust() {
	if c.sentSignal(nil) || c.instructionRefused() {
		return
	}
	addr, ok := c.address()
	switch {
	case c.why.Stated:
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

// adjustAccess explains the address of an access: not canonical, or that of a null pointer plus an
// offset.
//
//	[rdi + 0x10], rdi 0                   null pointer, offset 16, through rdi
//	[rdi - 8], rdi 0                      null pointer, offset -8
//	[rdi + rcx * 8], rdi 0, rcx 0x4000    null pointer in rdi, offset 0x20000
//	[rax], rax 0x5a5a5a5a5a5a5a5a         non-canonical, in rax
func (c *crash) adjustAccess(a *Access) {
	offset := int64(a.Address)
	if c.arch.WordSize == 4 {
		offset = int64(int32(uint32(a.Address)))
	}
	// A non-canonical address has the fault in one of the registers that it was computed from.
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
	// Small negative offsets count too: a member before the object, such as the header of an array.
	case offset > -nullPage && offset < nullPage && (offset >= 0 || a.Base.Name != "" && a.Base.Value < nullPage):
		c.out.Adjusted = &Adjusted{Kind: NullPointer, Address: a.Address, Offset: offset, Register: a.Base}
	case a.Base.Name != "" && a.Base.Value == 0 && a.Index.Name != "":
		// An array at a null pointer, with an index into it.
		c.out.Adjusted = &Adjusted{Kind: NullPointer, Address: a.Address, Offset: offset, Register: a.Base}
	}
}

// badTarget reports whether the instruction branches to a non-canonical address. The processor
// faults at the branch, not at its target.
func (c *crash) badTarget() bool {
	j := c.out.Jump
	return j != nil && c.out.Cause < 0 && c.aboutMemory() && !c.execution() && c.faultWithoutAddress() && !c.possible(j.Target)
}
