package gopclntab

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Rules returns the table's unwind rules: those that the runtime itself walks stacks with
// (runtime/traceback.go). pcsp has how far each instruction's function has moved the stack pointer.
//
//	x86, amd64   cfa = sp + moved + word     ra = [cfa - word]
//	others       cfa = sp + moved            ra = [sp] once the function has moved it, before lr
//
// They equal those of the .debug_frame that Go's linker writes, which a stripped program lacks. Where
// the function's first instructions show that it saves the frame pointer, there is a rule for it too.
func (t *Table) Rules() unwind.Table { return rules{t} }

type rules struct{ *Table }

// Row implements unwind.Table.
func (r rules) Row(rva uint64) (unwind.Row, bool, error) {
	pc := r.cfg.Base + rva
	f, ok, err := r.find(pc)
	if err != nil || !ok || r.cfg.Arch == nil {
		return unwind.Row{}, false, err
	}
	v, ok, err := r.valueAt(&f, f.pcsp, pc)
	if err != nil || !ok {
		return unwind.Row{}, false, err
	}
	saved, err := r.framePointer(&f)
	if err != nil {
		return unwind.Row{}, false, err
	}
	row := r.row(&f, v, saved.at(pc, v.value))
	return row, true, nil
}

// row makes the rules of a range.
func (r rules) row(f *function, v *values, fp savedFP) unwind.Row {
	a, moved := r.cfg.Arch, int64(v.value)
	row := unwind.Row{Start: v.start - r.cfg.Base, Origin: unwind.Origin{File: r.cfg.File, Part: part, Offset: r.pcTables + int64(f.pcsp)}}
	switch word := int64(a.WordSize); {
	case a.LR == cpu.NoReg:
		row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: moved + word}
		row.RA = unwind.Rule{Kind: unwind.AtCFA, Offset: -word}
	case r.version >= go16 && f.flag&flagTop != 0:
		// Go's .debug_frame says so too, where the return address is in a register.
		row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: moved}
		row.RA, row.Outermost = unwind.Rule{Kind: unwind.Undefined}, true
	case moved <= 0:
		row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: moved}
		row.RA, row.Topmost = unwind.Rule{Kind: unwind.FromReg, Reg: a.LR}, true
	default:
		row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: moved}
		row.RA = unwind.Rule{Kind: unwind.AtCFA, Offset: -moved}
	}
	if fp.off != 0 {
		row.Saved = []unwind.RegRule{{Reg: a.FP, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: fp.off}}}
	}
	return row
}

// savedFP says that from an address on, while sp has moved at least that far, the caller's frame
// pointer is at CFA + off. off is 0 where it is not known to be saved.
type savedFP struct {
	from  uint64
	moved int32
	off   int64
}

// at returns what holds at an address.
func (s savedFP) at(pc uint64, moved int32) savedFP {
	if s.off != 0 && pc >= s.from && moved >= s.moved {
		return s
	}
	return savedFP{}
}

// framePointer reads where a function saves the frame pointer: around the instruction that first
// moves the stack pointer. Assembler functions mostly save none, so the code has to show it.
//
//	amd64 since Go 1.21   push rbp
//	amd64 before          sub rsp, N; mov [rsp + N - 8], rbp
//	arm64                 str x30, [sp, #-N]!; stur x29, [sp, #-8]
//	arm64, large frames   stp x29, x30, [x20, #-8]; mov sp, x20
func (r rules) framePointer(f *function) (savedFP, error) {
	a := r.cfg.Arch
	if a != cpu.AMD64 && a != cpu.ARM64 || f.pcsp == 0 {
		return savedFP{}, nil
	}
	v := r.values(f, f.pcsp)
	for v.next() && v.value == 0 {
	}
	if v.c.Err() != nil || v.value <= 0 || v.start-f.start < 1 {
		return savedFP{}, v.c.Err()
	}
	const before, after = 8, 8
	var code [before + after]byte
	first := max(f.start, v.start-min(before, v.start))
	p, err := r.cfg.At(first, int64(min(v.start+after, f.end)-first))
	if err != nil {
		return savedFP{}, r.warn(err)
	}
	copy(code[before-(v.start-first):], p)
	s := savedFP{from: v.start, moved: v.value}
	switch past := code[before:]; {
	case a == cpu.AMD64 && v.value == 8 && code[before-1] == 0x55:
		s.off = -16
	case a == cpu.AMD64 && string(past[:4]) == "\x48\x89\x6c\x24" && int32(past[4]) == v.value-8:
		s.off, s.from = -16, v.start+5
	case a == cpu.AMD64 && string(past[:4]) == "\x48\x89\xac\x24" && int32(binary.LittleEndian.Uint32(past[4:])) == v.value-8:
		s.off, s.from = -16, v.start+8
	case a == cpu.ARM64 && binary.LittleEndian.Uint32(past) == 0xf81f83fd:
		s.off, s.from = -int64(v.value)-8, v.start+4
	case a == cpu.ARM64 && binary.LittleEndian.Uint32(code[:]) == 0xa93ffa9d:
		s.off = -int64(v.value) - 8
	}
	return s, nil
}

// Each implements unwind.Table.
func (r rules) Each(fn func(start, end uint64, row unwind.Row) error) error {
	if r.cfg.Arch == nil {
		return nil
	}
	return r.each(func(f *function) error {
		if f.pcsp == 0 {
			return nil
		}
		saved, err := r.framePointer(f)
		if err != nil {
			return err
		}
		v := r.values(f, f.pcsp)
		for v.next() {
			// The frame pointer may be saved within a range.
			start := v.start
			if saved.from > v.start && saved.from < v.end && saved.at(saved.from, v.value).off != 0 {
				if err := fn(start-r.cfg.Base, saved.from-r.cfg.Base, r.row(f, v, savedFP{})); err != nil {
					return err
				}
				start = saved.from
			}
			if err := fn(start-r.cfg.Base, v.end-r.cfg.Base, r.row(f, v, saved.at(start, v.value))); err != nil {
				return err
			}
		}
		if err := v.c.Err(); err != nil {
			return r.warn(err)
		}
		return nil
	})
}

// Function implements unwind.Functions.
func (r rules) Function(rva uint64) (start, end uint64, ok bool, err error) {
	f, ok, err := r.find(r.cfg.Base + rva)
	if err != nil || !ok {
		return 0, 0, false, err
	}
	return f.start - r.cfg.Base, f.end - r.cfg.Base, true, nil
}
