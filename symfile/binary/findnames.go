package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// A call of Names reads so many entries of a symbol table, or bytes of a PDB's records.
const nameEntries, nameBytes = 1 << 14, 1 << 20

// nameWork is the work of reading a name.
const nameWork = 64

// Names calls each with names of code in the symbol tables, or of a PDB's public names: a part of them, in the order in which
// the file has them. from is 0 at first, then what Names returned, which is below 0 at the end. No debug information is read.
func (f *File) Names(from int64, each func(name symbol.Symbol)) (next int64, err error) {
	if err := f.src.Draw(input.Work, nameEntries*nameWork); err != nil {
		return -1, err
	}
	name := func(rva uint64, name string) { each(symbol.Symbol{Name: name, Start: rva, Public: true}) }
	var of *pdbProgram
	switch p := f.program.(type) {
	case *elfProgram:
		return p.functionNames(from, each)
	case *machoProgram:
		if m, part, ok := p.named(int(from >> partShift)); ok {
			more, err := m.CodeNames(uint32(from), nameEntries, name)
			return nextPart(from, part, more), err
		}
	case *peProgram:
		of = p.pdb
	case *pdbProgram:
		of = p
	}
	if of != nil {
		return of.pdb.PublicNames(from, nameBytes, name)
	}
	if from > 0 {
		return -1, nil
	}
	tables, err := f.symbolTables()
	for _, of := range tables { // exports: there are few
		if t, err := of.get(); err == nil {
			for i := range t.Len() {
				each(t.At(i))
			}
		}
	}
	return -1, err
}

// partShift: a position in the tables of several files is the number of the file above the number of the entry.
const partShift = 32

// nextPart is the position after a part of the table of a file.
func nextPart(from int64, part int, more bool) int64 {
	if more {
		return int64(part)<<partShift | int64(uint32(from)+nameEntries)
	}
	return int64(part+1) << partShift
}

// functionNames is Names. Its files are the program, its debug file, and that in .gnu_debugdata.
func (f *elfProgram) functionNames(from int64, each func(name symbol.Symbol)) (int64, error) {
	if err := f.openMini(); err != nil {
		return -1, err
	}
	part := int(from >> partShift)
	files := []*elf.File{f.elf, f.debug, f.mini}
	for part < len(files) && files[part] == nil {
		part, from = part+1, 0
	}
	if part >= len(files) {
		return -1, nil
	}
	base := f.baseOf(files[part])
	more, err := files[part].FunctionNames(int(uint32(from)), nameEntries, func(s elf.Sym) {
		if s.Value >= base {
			each(symbol.Symbol{Name: s.Name, Start: s.Value - base, Size: s.Size, Public: true})
		}
	})
	return nextPart(from, part, more), err
}

// named is the first file from number part on that has a symbol table: the dSYM or the program.
func (f *machoProgram) named(part int) (m *macho.File, at int, ok bool) {
	files := []*macho.File{f.dsym, f.macho}
	for ; part < len(files); part++ {
		if files[part] != nil && files[part].HasSymbols() {
			return files[part], part, true
		}
	}
	return nil, part, false
}
