package elf

// RelativeRelocations calls fn for every word of a program that the loader computes by adding the
// program's base to a number in its relocation: the word's address, and its value where the base is
// the one that the file was linked for. Linkers leave such words 0 in the file. On processors whose
// relocations have no number of their own (SHT_REL) the words are right in the file, and there are
// none.
func (f *File) RelativeRelocations(fn func(at, value uint64) error) error {
	if f.dyn == nil || f.dyn.values[dynRela] == 0 {
		return nil
	}
	src := f.loaded(f.dyn.values[dynRela], f.dyn.values[dynRelaSize])
	if src == nil {
		return nil
	}
	return f.relocRecords(src, true, func(r relocation) error {
		if r.sym != 0 {
			return nil
		}
		return fn(r.off, uint64(r.addend))
	})
}
