package binary

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Has returns what the module's files contain, which file has what, and which files are missing. It
// reads headers, and abbreviations of DWARF until it has seen each kind. A part that cannot be read
// counts as absent, and Warnings has the error.
//
// In order: unwind rules; frame data; functions, lines and inlined calls; symbol tables; the files
// that are missing, which depend on what is there. A file with a symbol table of exports and no
// functions is OnlyExports.
func (f *File) Has() symbol.Contents {
	out := symbol.Contents{Parts: []symbol.Part{}, Missing: []string{}}
	for _, t := range f.unwindTables() {
		if u, err := t.get(); err != nil || u == nil {
			continue
		}
		out.SFrame = out.SFrame || t.section == ".sframe"
		out.CFI = out.CFI || t.section != ".sframe"
		out.Parts = append(out.Parts, symbol.Part{What: "unwind rules", File: t.src.Name, Section: t.section})
	}
	if p := f.program.frameData(); p != nil && p.HasFrameData() {
		out.CFI = true
		out.Parts = append(out.Parts, symbol.Part{What: "unwind rules", File: p.Name(), Section: "frame data"})
	}
	for _, s := range f.symbolSources() {
		t, err := s.get()
		if err != nil {
			continue
		}
		if _, ok := t.(publicNames); ok {
			out.OnlyExports = true
			out.Parts = append(out.Parts, symbol.Part{What: "names", File: s.src.Name, Section: "public names"})
		}
		if !s.asked {
			s.functions, s.lines, s.asked = true, true, true
			switch d := t.(type) {
			case *dwarf.Data:
				s.functions, s.lines, s.inlines = d.Has()
			case *objectTable:
				s.functions = d.Has()
				s.lines, s.inlines = s.functions, s.functions
			case *pdb.File:
				var err error
				s.functions, s.lines, err = d.Has()
				s.inlines, s.asked = s.lines, !input.Needs(err)
			}
		}
		for _, p := range []struct {
			there bool
			what  string
			has   *bool
		}{{s.functions, "functions", &out.Functions}, {s.lines, "lines", &out.Lines}, {s.inlines, "inlined calls", &out.Inlines}} {
			if p.there {
				*p.has = true
				out.Parts = append(out.Parts, symbol.Part{What: p.what, File: s.src.Name, Section: s.section})
			}
		}
	}
	tables, err := f.symbolTables()
	for _, n := range tables {
		if n.any() {
			out.Parts = append(out.Parts, symbol.Part{What: "names", File: n.src.Name, Section: n.section})
		}
	}
	out.OnlyExports = (out.OnlyExports || err == nil && len(tables) > 0 && !full(tables)) && !out.Functions
	f.program.missing(&f.id, &out)
	for _, s := range f.symbols {
		switch d := s.table.(type) {
		case *dwarf.Data:
			addWanted(&out, d.Wanted())
		case *objectTable:
			if len(d.wanted) > 0 {
				out.Missing = append(out.Missing, "without a dSYM, the objects that it was linked from: "+someOf(d.wanted))
			}
		}
	}
	return out
}

// maxWanted is how many missing files are named.
const maxWanted = 20

// someOf names the first of some files, and says how many there are. Files of one folder are named
// without it, which follows.
func someOf(paths []string) string {
	var names []string
	folder := strings.TrimSuffix(paths[0], baseName(paths[0]))
	for _, path := range paths {
		if !strings.HasPrefix(path, folder) {
			folder = ""
		}
	}
	for _, path := range paths[:min(len(paths), maxWanted)] {
		names = append(names, path[len(folder):])
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - maxWanted; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	if folder != "" {
		text += ", in " + folder
	}
	return text
}

// addWanted adds the missing .dwo files, the first by name.
func addWanted(out *symbol.Contents, wanted []string) {
	for i, name := range wanted {
		if i == maxWanted {
			out.Missing = append(out.Missing, "more files of split debug information")
			return
		}
		out.Missing = append(out.Missing, "split debug information: "+name)
	}
}
