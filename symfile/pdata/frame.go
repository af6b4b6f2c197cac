package pdata

import (
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// frame undoes a prologue symbolically: the stack pointer is a base and a distance, and for a saved
// register it keeps the place. Most functions have one base, the stack pointer at the instruction,
// so that everything ends as distances from the last stack pointer, the caller's: the CFA.
//
// Example, x64, in the body of "push rbx; sub rsp, 32". The last operation is undone first:
//
//	sub rsp, 32   sp = rsp + 32
//	push rbx      rbx = [rsp + 32], sp = rsp + 40
//	the call      pc = [rsp + 40], sp = rsp + 48, which is the CFA
//
// finish then writes it from the CFA: cfa = rsp + 48, ra = [cfa − 8], rbx = [cfa − 16].
type frame struct {
	arch  *cpu.Arch
	bases []unwind.Rule // what the stack pointer was set to; the first is its value at the instruction
	sp    place
	// saved are the places of registers, has those that have one, order the order in which they
	// were found.
	saved [cpu.MaxRegs]place
	has   uint64
	order []cpu.Reg
	// signed: the return address carries an authentication code.
	signed bool
	// signal: what was found is the whole state of an interrupted function, whose pc is not a return
	// address.
	signal bool
	// unknown: the distance is not known, since it depends on the length of a vector register.
	unknown bool
}

// place is bases[base] + off.
type place struct {
	base int
	off  int64
}

// newFrame returns a frame in which nothing is undone yet: sp is the register itself.
func newFrame(arch *cpu.Arch) *frame {
	return &frame{arch: arch, bases: []unwind.Rule{{Kind: unwind.FromReg, Reg: arch.SP}}}
}

// at is the place a distance above the stack pointer.
func (f *frame) at(off int64) place { return place{f.sp.base, f.sp.off + off} }

// save records the place of a register's value in the caller.
// After a distance that is not known, no place is, until a frame pointer sets the stack pointer
// anew.
func (f *frame) save(r cpu.Reg, p place) {
	if r == cpu.NoReg || f.unknown {
		return
	}
	if f.has&(1<<r) == 0 {
		f.order = append(f.order, r)
	}
	f.has |= 1 << r
	f.saved[r] = p
}

// maxBases bounds how often the stack pointer may be set; compilers do so once.
const maxBases = 8

// set makes a register's value, less a distance, the stack pointer: what was saved of it, or what
// it still is.
//
// Example: with "lea rbp, [rsp + 32]" in the prologue, set(rbp, 32) makes it rbp − 32, whatever was
// allocated since (alloca).
func (f *frame) set(r cpu.Reg, less int64) error {
	ru := unwind.Rule{Kind: unwind.FromReg, Reg: r}
	if f.has&(1<<r) != 0 {
		ru = f.load(f.saved[r])
	}
	return f.setRule(ru, less)
}

// setRule makes the value of a rule, less a distance, the stack pointer. Equal rules share one
// base, so that places after them can be written as distances from the CFA.
func (f *frame) setRule(ru unwind.Rule, less int64) error {
	for i, b := range f.bases {
		if b.Equal(ru) {
			f.sp = place{i, -less}
			f.unknown = false
			return nil
		}
	}
	if len(f.bases) >= maxBases {
		return errTooMany
	}
	f.bases = append(f.bases, ru)
	f.sp = place{len(f.bases) - 1, -less}
	f.unknown = false
	return nil
}

// value is the address of a place as a rule, load the word there.
func (f *frame) value(p place) unwind.Rule { return unwind.Sum(f.arch, f.bases[p.base], p.off) }

func (f *frame) load(p place) unwind.Rule { return unwind.Deref(f.value(p)) }

// rule returns a register's rule in the finished frame, whose CFA is the stack pointer's place.
func (f *frame) rule(p place) unwind.Rule {
	if p.base == f.sp.base && !f.signal {
		off := p.off - f.sp.off
		// Distances wrap with the word, as unwind.Rule has them.
		if f.arch.WordSize == 4 {
			off = int64(int32(off))
		}
		return unwind.Rule{Kind: unwind.AtCFA, Offset: off}
	}
	// The place has another base than the CFA, so its own address is written.
	return f.load(p)
}

// finish makes the row. The caller's stack pointer is the present one. Its pc is in ra, or, if that
// is cpu.NoReg, at the place at. Registers in keep that were not saved are unchanged: those which a
// call preserves by this system's convention and not by that of the processor's table.
func (f *frame) finish(row *unwind.Row, ra cpu.Reg, at place, keep []cpu.Reg) error {
	if f.unknown {
		return errVector
	}
	row.CFA = f.value(f.sp)
	// The prologue stored the link register: the return address is there, and holds after calls
	// too.
	if ra != cpu.NoReg && f.has&(1<<ra) != 0 {
		at = f.saved[ra]
		ra = cpu.NoReg
	}
	if ra != cpu.NoReg {
		// Still in the link register, which any call overwrites.
		row.RA, row.Topmost = unwind.Rule{Kind: unwind.FromReg, Reg: ra}, true
	} else {
		row.RA = f.rule(at)
	}
	f.registers(row, keep)
	return nil
}

// registers adds the rules of saved registers.
func (f *frame) registers(row *unwind.Row, keep []cpu.Reg) {
	for _, r := range f.order {
		// A call overwrites lr, and the row has sp and pc already.
		if r == f.arch.LR || r == f.arch.SP || r == f.arch.PC {
			continue
		}
		row.Saved = append(row.Saved, unwind.RegRule{Reg: r, Rule: f.rule(f.saved[r])})
	}
	for _, r := range keep {
		if f.has&(1<<r) == 0 {
			row.Saved = append(row.Saved, unwind.RegRule{Reg: r, Rule: unwind.Rule{Kind: unwind.Same}})
		}
	}
	if f.signed {
		// Windows signs with pacibsp, the key B ("pac_sign_lr").
		row.Signed = unwind.KeyB
	}
	row.Signal = f.signal
}

// machine makes the row of a frame that the processor or the system pushed: it holds the caller's
// pc and stack pointer.
func (f *frame) machine(row *unwind.Row, pc, sp int64, keep []cpu.Reg) error {
	if f.unknown {
		return errVector
	}
	f.signal = true
	row.CFA, row.RA = f.load(f.at(sp)), f.load(f.at(pc))
	f.registers(row, keep)
	return nil
}
