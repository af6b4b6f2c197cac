package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/stabs"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// symbolSources returns what has functions and lines, of the program and of its debug file.
func (f *elfProgram) symbolSources(symbols dwarf.Symbols) []*symbolSource {
	out := []*symbolSource{}
	for _, e := range f.files() {
		if e.Section(".debug_info") != nil {
			out = append(out, sourceOf(".debug_info", e.Src, func() (symbolTable, error) { return f.openDWARF(e, symbols) }))
		}
	}
	for _, e := range f.files() {
		if e.Section(".stab") != nil {
			out = append(out, sourceOf(".stab", e.Src, func() (symbolTable, error) {
				t, err := stabs.OpenELF(e)
				if err == nil && t == nil {
					err = &input.FormatError{File: e.Src.Name, Part: "section headers", Offset: -1, Want: "a section .stabstr next to .stab"}
				}
				return t, err
			}))
		}
	}
	if g := f.goELF(); g != nil {
		out = append(out, g.source())
	}
	return out
}

// sections returns a file's debug sections for package dwarf.
func (f *elfProgram) sections(e *elf.File) dwarf.Sections {
	return dwarf.Sections{
		Get: func(name string) (*input.Source, error) {
			s := e.Section(name)
			if s == nil {
				return nil, nil
			}
			return e.Data(s)
		},
		More: func(name string) (more []*input.Source, err error) {
			first := e.Section(name)
			for i := range e.Sections {
				if s := &e.Sections[i]; s.Name == name && s != first {
					data, err := e.Data(s)
					if err != nil {
						return nil, err
					}
					more = append(more, data)
				}
			}
			return more, nil
		},
		Order: e.Order, Base: f.baseOf(e), File: e.Src.Name,
	}
}

// openDWARF opens the debug information of a file, with the files that its units may refer to.
func (f *elfProgram) openDWARF(e *elf.File, symbols dwarf.Symbols) (*dwarf.Data, error) {
	// An object file's first section is at address 0, and no linker has discarded code of it.
	opt := dwarf.Options{Split: f.findSplit, Symbols: symbols, ZeroIsCode: e.Type == elf.TypeRel}
	if f.alt != nil {
		alt := f.sections(f.alt)
		opt.Alt = &alt
	}
	return dwarf.Open(f.sections(e), opt)
}

// findSplit returns the .dwo file of a unit, or the package that may have the unit. Dumps and users
// have other folders than the compiler had, so it chooses the .dwo file whose path has the longest
// common end with the unit's.
func (f *elfProgram) findSplit(dwoName string) (*dwarf.Sections, bool) {
	var best *splitFile
	most := 0
	for _, s := range f.dwos[baseName(dwoName)] {
		if n := commonSuffix(s.elf.Src.Name, dwoName); n > most {
			best, most = s, n
		}
	}
	if best == nil {
		best = f.embeddedSplit()
	}
	if best == nil {
		// Prefer the package named after the program: "prog.dwp".
		for _, s := range f.split {
			if s.isPackage && (best == nil || baseName(s.elf.Src.Name) == baseName(f.src.Name)+".dwp") {
				best = s
			}
		}
	}
	if best == nil {
		return nil, false
	}
	if best.sections == nil {
		s := f.sections(best.elf)
		best.sections = &s
	}
	return best.sections, true
}

// commonSuffix returns how many path elements two paths share at their ends.
//
// Example: "/tmp/dump/src/a.dwo" and "obj/src/a.dwo" share two, "src/a.dwo".
func commonSuffix(a, b string) int {
	for n := 0; ; n++ {
		x, y := baseName(a), baseName(b)
		if x != y || x == "" {
			return n
		}
		if len(a) == len(x) || len(b) == len(y) {
			return n + 1
		}
		a, b = a[:len(a)-len(x)-1], b[:len(b)-len(y)-1]
	}
}

// elfNames is an ELF file's names with the program's RVAs. The base of a debug file may differ from
// the program's, since it may lack the program headers.
type elfNames struct {
	*elf.Publics
	shift uint64
}

func (n elfNames) symbol(p elf.Public) symbol.Symbol {
	return symbol.Symbol{Name: p.Name, Start: p.Start + n.shift, Size: p.Size, Public: true}
}

// At implements nameTable.
func (n elfNames) At(i int) symbol.Symbol { return n.symbol(n.Publics.At(i)) }

// Lookup implements nameTable.
func (n elfNames) Lookup(rva uint64) (symbol.Symbol, bool) {
	p, ok := n.Publics.Lookup(rva - n.shift)
	if !ok {
		return symbol.Symbol{}, false
	}
	return n.symbol(p), true
}

// Piece implements nameTable.
func (n elfNames) Piece(rva uint64) (int, symbol.Range) {
	i, start, end := n.Publics.Piece(rva - n.shift)
	return i, symbol.Range{Start: start + n.shift, Size: end - start}
}

// Names implements nameTable.
func (n elfNames) Names(rva uint64) []string { return n.Publics.Names(rva - n.shift) }

// symbolTables returns the symbol tables in the order in which they are asked: complete ones first.
//
//	.symtab of the program      not stripped
//	.symtab of the debug file
//	.symtab of .gnu_debugdata   functions that are not exported
//	.dynsym of the program      exported and imported names only
func (f *elfProgram) symbolTables() ([]*names, error) {
	if err := f.openMini(); err != nil {
		return nil, err
	}
	var full, rest []*names
	for _, e := range []*elf.File{f.elf, f.debug, f.mini} {
		if e == nil || !e.HasSymtab() && e != f.elf {
			continue
		}
		n := &names{full: e.HasSymtab(), some: e.NamesFunction, onDemand: onDemand[nameTable]{section: ".dynsym", src: e.Src, open: func() (nameTable, error) {
			p, err := e.Publics()
			if err != nil {
				return nil, err
			}
			return elfNames{p, e.Base - f.baseOf(e)}, nil
		}}}
		if n.full {
			n.section = ".symtab"
			full = append(full, n)
		} else {
			rest = append(rest, n)
		}
	}
	return append(full, rest...), nil
}

// openMini opens the file in .gnu_debugdata, once.
func (f *elfProgram) openMini() error {
	if f.miniRead {
		return nil
	}
	mini, err := f.elf.MiniDebugInfo()
	if input.Needs(err) {
		return err
	}
	if err != nil {
		f.notes.Add(err)
	}
	f.mini, f.miniRead = mini, true
	return nil
}
