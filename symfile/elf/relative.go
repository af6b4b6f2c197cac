package elf

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/ordered"
)

// Relative are the words of a program that the loader computes by adding the program's base to a
// number in their relocation. Linkers leave such words 0 in the file. On processors whose relocations
// have no number of their own (SHT_REL) the words are right in the file, and there are none.
type Relative struct {
	file   *File
	src    *input.Source
	size   int64 // of a record
	sorted ordered.Table
}

// Relative returns a program's words of this kind, or nil. Linkers write their relocations first,
// sorted by address, and say how many there are (DT_RELACOUNT).
func (f *File) Relative() *Relative {
	if f.dyn == nil || f.dyn.values[dynRela] == 0 {
		return nil
	}
	r := &Relative{file: f, src: f.loaded(f.dyn.values[dynRela], f.dyn.values[dynRelaSize]), size: 3 * f.word()}
	if r.src == nil {
		return nil
	}
	n := r.src.Size / r.size
	if count := f.dyn.values[dynRelaCount]; count > 0 && count < uint64(n) {
		n = int64(count)
	}
	r.sorted = ordered.Table{N: int(n), Key: func(i int) (uint64, error) {
		rec, err := r.record(i)
		return rec.off, err
	}}
	return r
}

// Each calls fn for every word: its address, and its value where the base is the one that the file
// was linked for.
func (r *Relative) Each(fn func(at, value uint64) error) error {
	return r.file.relocRecords(r.src, true, func(rec relocation) error {
		if rec.sym != 0 {
			return nil
		}
		return fn(rec.off, uint64(rec.addend))
	})
}

// At returns the value of the word at an address; ok is false if it has none but that in the file.
func (r *Relative) At(address uint64) (value uint64, ok bool, err error) {
	pos, err := r.sorted.Search(address)
	if err != nil || pos < 0 {
		return 0, false, err
	}
	rec, err := r.record(r.sorted.Record(pos))
	return uint64(rec.addend), rec.off == address && rec.sym == 0, err
}

func (r *Relative) record(i int) (out relocation, err error) {
	err = r.file.relocRecords(r.src.Sub(r.src.Name, int64(i)*r.size, r.size), true, func(rec relocation) error {
		out = rec
		return nil
	})
	return out, err
}
