package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/stabs"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// symbolSource is one file's DWARF or STABS.
type symbolSource struct {
	section string // ".debug_info" or ".stab"
	file    *elf.File
	open    func() (symbolTable, error)
	table   symbolTable
	err     error // why it could not be opened, if that will not change
	// What it has, if asked is set.
	asked, functions, lines, inlines bool
}

// symbolTable knows functions.
type symbolTable interface {
	symbol.Functions
	Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error)
}

func (s *symbolSource) get() (symbolTable, error) {
	if s.table == nil && s.err == nil {
		t, err := s.open()
		if input.Needs(err) {
			return nil, err
		}
		if s.err = err; err == nil {
			s.table = t // of an error it would be a nil pointer, which is not a nil interface
		}
	}
	return s.table, s.err
}

func (s *symbolSource) warnings() []string {
	if t, ok := s.table.(interface{ Warnings() []string }); ok {
		return t.Warnings()
	}
	return nil
}

// symbolSources are what knows functions, in the order in which it is asked.
func (f *File) symbolSources() []*symbolSource {
	if f.symbols == nil {
		f.symbols = []*symbolSource{}
		for _, e := range f.files() {
			if e.Section(".debug_info") != nil {
				f.symbols = append(f.symbols, &symbolSource{section: ".debug_info", file: e, open: func() (symbolTable, error) { return f.openDWARF(e) }})
			}
		}
		for _, e := range f.files() {
			if e.Section(".stab") != nil {
				f.symbols = append(f.symbols, &symbolSource{section: ".stab", file: e, open: func() (symbolTable, error) {
					t, err := stabs.OpenELF(e)
					if err == nil && t == nil {
						err = &input.FormatError{File: e.Src.Name, Part: "section headers", Offset: -1, Want: "a section .stabstr beside .stab"}
					}
					return t, err
				}})
			}
		}
	}
	return f.symbols
}

// sections are a file's debug sections.
func (f *File) sections(e *elf.File) dwarf.Sections {
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
		Order: e.Order, AddressSize: e.Class / 8, Base: f.base(e), File: e.Src.Name,
	}
}

func (f *File) openDWARF(e *elf.File) (*dwarf.Data, error) {
	opt := dwarf.Options{Split: f.findSplit}
	if f.alt != nil {
		alt := f.sections(f.alt)
		opt.Alt = &alt
	}
	return dwarf.Open(f.sections(e), opt)
}

// findSplit is the .dwo file of a unit: the one whose path ends like the unit's, as far as possible, else the package.
func (f *File) findSplit(dwoName, _ string, _ uint64) (*dwarf.Sections, bool) {
	var best *splitFile
	most := 0
	for _, s := range f.split {
		if n := sameEnd(s.elf.Src.Name, dwoName); !s.pack && n > most {
			best, most = s, n
		}
	}
	if best == nil {
		best = f.packed()
	}
	if best == nil {
		// A package is called after its program.
		for _, s := range f.split {
			if s.pack && (best == nil || baseName(s.elf.Src.Name) == baseName(f.src.Name)+".dwp") {
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

// sameEnd is how many names two paths have in common at their ends.
func sameEnd(a, b string) int {
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

// Lookup is the function, source line and inlined calls at an RVA; where no function is known, the name that a symbol table has for
// it, as a public symbol. Names are those that the file has. Where a stripped file has no name for an address, the answer is NoFile if
// there is code: nothing can be concluded from it, while No says that no function lies there. An error is that of the first part that should have answered and cannot be
// read; another may have answered in its place.
func (f *File) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	var failed error
	for _, s := range f.symbolSources() {
		t, err := s.get()
		var sym symbol.Symbol
		ans := symbol.No
		if err == nil {
			sym, ans, err = t.Lookup(rva)
		}
		switch {
		case input.Needs(err):
			return symbol.Symbol{}, symbol.Needs, err
		case err != nil:
			if failed == nil {
				failed = err
			}
		case ans == symbol.Yes:
			if sym.Name == nameless {
				name, err := f.nameAt(sym.Start)
				if input.Needs(err) {
					return symbol.Symbol{}, symbol.Needs, err
				}
				sym.Name = name
			}
			return sym, ans, failed
		}
	}
	tables, err := f.symbolTables()
	if err != nil {
		return symbol.Symbol{}, symbol.Needs, err
	}
	for _, n := range tables {
		p, err := n.get()
		if input.Needs(err) {
			return symbol.Symbol{}, symbol.Needs, err
		}
		if err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		if s, ok := p.Lookup(rva - f.shift(n.file)); ok {
			return symbol.Symbol{Name: s.Name, Start: s.Start + f.shift(n.file), Size: s.Size, Public: true}, symbol.Yes, failed
		}
	}
	// A stripped file says nothing of its own functions: it is as if there were none for them.
	if len(f.symbolSources()) == 0 && !full(tables) && f.isCode(rva) {
		return symbol.Symbol{}, symbol.NoFile, failed
	}
	return symbol.Symbol{}, symbol.No, failed
}

// isCode says whether an address is one of code.
func (f *File) isCode(rva uint64) bool {
	address := f.elf.Base + rva
	if s := f.elf.SectionAt(address); s != nil {
		return s.Exec()
	}
	for _, s := range f.elf.Segments {
		if s.Type == segLoad && address >= s.Address && address-s.Address < s.MemSize {
			return s.Flags&segExec != 0 && len(f.elf.Sections) <= 1
		}
	}
	return false
}

// Each calls fn for every function of DWARF and STABS, source by source, each by address.
func (f *File) Each(fn func(symbol.Function) error) error {
	for _, s := range f.symbolSources() {
		t, err := s.get()
		if input.Needs(err) {
			return err
		}
		if err != nil {
			continue // Warnings tells of it
		}
		err = t.Each(func(s symbol.Function) error {
			if s.Name == nameless {
				name, err := f.nameAt(s.Ranges[0].Start)
				if err != nil {
					return err
				}
				s.Name = name
			}
			return fn(s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
