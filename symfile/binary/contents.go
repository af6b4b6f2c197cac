package binary

import (
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Has is what the files know of the module, where each comes from, and what is missing. It reads headers, and declarations of DWARF
// until it has seen each kind; what cannot be read is counted as not there, and Warnings tells of it.
func (f *File) Has() symbol.Contents {
	out := symbol.Contents{Parts: []symbol.Part{}, Missing: []string{}}
	for _, t := range f.unwindTables() {
		if u, err := t.get(); err != nil || u == nil {
			continue
		}
		out.SFrame = out.SFrame || t.kind == ".sframe"
		out.CFI = out.CFI || t.kind != ".sframe"
		out.Parts = append(out.Parts, symbol.Part{What: "unwind rules", File: t.file.Src.Name, Section: t.kind})
	}
	for _, s := range f.symbolSources() {
		t, err := s.get()
		if err != nil {
			continue
		}
		if !s.asked {
			s.functions, s.lines, s.asked = true, true, true
			if d, ok := t.(*dwarf.Data); ok {
				s.functions, s.lines, s.inlines = d.Has()
			}
		}
		for _, p := range []struct {
			there bool
			what  string
			has   *bool
		}{{s.functions, "functions", &out.Functions}, {s.lines, "lines", &out.Lines}, {s.inlines, "inlined calls", &out.Inlines}} {
			if p.there {
				*p.has = true
				out.Parts = append(out.Parts, symbol.Part{What: p.what, File: s.file.Src.Name, Section: s.section})
			}
		}
	}
	tables, err := f.symbolTables()
	full := false
	for _, n := range tables {
		if p, err := n.get(); err != nil || p.Len() == 0 {
			continue
		}
		section := ".dynsym"
		if n.file.HasSymtab() {
			section, full = ".symtab", true
		}
		out.Parts = append(out.Parts, symbol.Part{What: "names", File: n.file.Src.Name, Section: section})
	}
	out.OnlyExports = err == nil && len(tables) > 0 && !full && !out.Functions
	f.missing(&out)
	return out
}

// missing says which files are known to exist and are not here.
func (f *File) missing(out *symbol.Contents) {
	add := func(text string) { out.Missing = append(out.Missing, text) }
	if f.id.Code && f.debug == nil && !out.Functions {
		name, _, linked := f.elf.DebugLink()
		switch {
		case linked:
			add("the separate debug file " + described(baseName(name), f.elf.BuildID))
		case len(f.elf.BuildID) > 0 && !f.elf.HasSymtab():
			add("the separate debug file, " + described("if there is one", f.elf.BuildID))
		}
	}
	if !f.id.Code && !out.CFI && !out.SFrame && f.id.Kind == "debug file" {
		add("the program itself, whose .eh_frame the debug file does not have: " + described(f.id.Name, f.elf.BuildID))
	}
	for _, e := range f.files() {
		if name, id, ok := e.AltLink(); ok && f.alt == nil {
			add("the supplementary debug file " + described(baseName(name), id))
		}
	}
	for _, s := range f.symbols {
		if d, ok := s.table.(*dwarf.Data); ok {
			for i, name := range d.Wanted() {
				const most = 20
				if i == most {
					add("more files of split debug information")
					break
				}
				add("split debug information: " + name)
			}
		}
	}
}
