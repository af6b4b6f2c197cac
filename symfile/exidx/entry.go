package exidx

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// row makes the Row of entry i (IHI 0038, section 6). word is the entry's second word:
//
//	1                        EXIDX_CANTUNWIND: the function cannot be unwound
//	bit 31 set: 0x80bbbbbb   three bytes of instructions for personality routine 0
//	bit 31 clear             prel31 distance to an entry of .ARM.extab
func (t *table) row(i int, start uint64, word uint32) (unwind.Row, error) {
	off := t.offset(i)
	row := unwind.Row{Start: start - t.cfg.Base, WholeFunction: true, Origin: unwind.Origin{File: t.cfg.File, Part: part, Offset: off}}
	m := machine{t: t, part: part, at: off + 4}
	switch {
	case word == cannotUnwind:
		return outermost(row), nil
	case word>>31 != 0:
		if word>>24 != 0x80 {
			return row, t.bad(off+4, "instructions for personality routine 0", fmt.Sprintf("0x%08x", word))
		}
		m.code = []byte{byte(word >> 16), byte(word >> 8), byte(word)}
		m.at++
	default:
		address := prel31(word, t.address+uint64(off)+4)
		code, skip, err := t.longEntry(address, off)
		if err != nil {
			return row, err
		}
		m.part, m.code, m.at = extab, code, int64(address)+skip
	}
	return m.run(row)
}

// outermost makes the row of a function that cannot be unwound: its frame has no caller.
func outermost(row unwind.Row) unwind.Row {
	row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: arm.SP}
	row.RA = unwind.Rule{Kind: unwind.Undefined}
	row.Outermost, row.CannotUnwind = true, true
	row.Origin.Note = "which says that the function cannot be unwound"
	return row
}

// longEntry reads the instructions of an entry of .ARM.extab (IHI 0038, section 7). The upper byte
// of its first word names the personality routine:
//
//	0x80bbbbbb             routine 0: three bytes of instructions
//	0x81nnbbbb 0x82nnbbbb  routine 1 or 2: two bytes, then nn words of four bytes each
//	bit 31 clear           prel31 distance to another routine, as C++ and Rust have it. GNU's and LLVM's routines all read the
//	                       second word as 0xnnbbbbbb: three bytes, then nn words
//
// skip is the number of bytes before the instructions.
func (t *table) longEntry(address uint64, off int64) (code []byte, skip int64, err error) {
	bad := func(at uint64, want, have string) error {
		return &input.FormatError{File: t.cfg.File, Part: extab, Offset: int64(at), Want: want, Have: have + fmt.Sprintf(" (entry at %s+0x%x; offsets are addresses)", part, off)}
	}
	first, err := t.word(address)
	if err != nil {
		return nil, 0, err
	}
	more := uint32(0)
	switch {
	case first>>31 == 0:
		address, skip = address+4, 4
		if first, err = t.word(address); err != nil {
			return nil, 0, err
		}
		more = first >> 24
		code, skip = []byte{byte(first >> 16), byte(first >> 8), byte(first)}, skip+1
	case first>>24 == 0x80:
		code, skip = []byte{byte(first >> 16), byte(first >> 8), byte(first)}, 1
	case first>>24 == 0x81 || first>>24 == 0x82:
		more = first >> 16 & 0xff
		code, skip = []byte{byte(first >> 8), byte(first)}, 2
	default:
		return nil, 0, bad(address, "a personality routine from 0 to 2", fmt.Sprintf("0x%08x", first))
	}
	for n := range uint64(more) {
		w, err := t.word(address + 4 + 4*n)
		if err != nil {
			return nil, 0, err
		}
		code = append(code, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
	return code, skip, nil
}

// word reads a word at a link-time address.
func (t *table) word(address uint64) (uint32, error) {
	if t.at == nil {
		return 0, &input.FormatError{File: t.cfg.File, Part: extab, Offset: int64(address), Want: "the file, to read .ARM.extab", Have: "only the section"}
	}
	p, err := t.at(address, 4)
	if input.Needs(err) {
		return 0, err
	}
	if err != nil || len(p) != 4 {
		return 0, &input.FormatError{File: t.cfg.File, Part: extab, Offset: int64(address), Want: "a word at this address", Have: "none", Err: err}
	}
	return t.cfg.Order.Uint32(p), nil
}
