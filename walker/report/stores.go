package report

import (
	"cmp"
	"encoding/binary"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Layouts of symbol servers. Each row of stores has the paths of one.
const (
	LayoutBreakpad   = "breakpad"
	LayoutMicrosoft  = "microsoft"
	LayoutDebuginfod = "debuginfod"
)

// StoreFile is a file as servers of a layout have it: relative to the server's address, names not
// escaped. Else is another place for the same file, to request if the server has nothing at Path,
// or "".
type StoreFile struct{ Layout, Path, Else string }

// StorePath returns where a symbol store keeps a module's file, relative to its root:
// debug_file/ID/name.sym. The name is the debug file's without ".pdb" (in any case).
func StorePath(debugFile, debugID string) string {
	if debugFile == "" || debugID == "" {
		return ""
	}
	base := BaseName(debugFile)
	name := base
	if n := len(name) - len(".pdb"); n >= 0 && strings.EqualFold(name[n:], ".pdb") {
		name = name[:n]
	}
	return base + "/" + debugID + "/" + name + ".sym"
}

// stores says where servers have what a module lacks.
//
//	Breakpad    name.pdb/<debug id>/name.sym                   the id of a big-endian machine in either byte order
//	Microsoft   name.pdb/<debug id>/name.pdb, …/name.pd_       a cabinet under the second name; https://learn.microsoft.com/windows/win32/debug/using-symsrv
//	            name.exe/<time stamp><size>/name.exe, …/name.ex_
//	debuginfod  buildid/<build id>/debuginfo, …/executable     https://sourceware.org/elfutils/Debuginfod.html
//	            buildid/<its own build id>/debuginfo           the supplementary file of dwz
//
// None of them has .dwo and .dwp files, which have no build id, or dSYM bundles.
func (b *builder) stores(w *MissingFile) {
	m := &b.r.Modules[w.Module]
	add := func(layout, path, other string) { w.Stores = append(w.Stores, StoreFile{layout, path, other}) }
	if w.StorePath != "" {
		add(LayoutBreakpad, w.StorePath, w.OtherPath)
	}
	switch {
	case b.d.OS() == core.Windows:
		in := func(name, id string) {
			if path := name + "/" + id + "/" + name; name != "" {
				add(LayoutMicrosoft, path, path[:len(path)-1]+"_")
			}
		}
		if w.DebugID != "" && !(w.Partial && w.Program != "") {
			in(w.DebugFile, w.DebugID)
		}
		if len(w.CodeID) > 8 && w.CodeID[:8] != "00000000" {
			in(w.Program, strings.ToUpper(w.CodeID[:8])+w.CodeID[8:])
		}
	case w.Module < len(b.d.Modules) && b.d.Modules[w.Module].CodeView.Signature == core.SigBpEL && m.CodeID != "":
		id := m.CodeID
		if w.Partial && !m.Has.NoProgram {
			id = w.CodeID
		}
		add(LayoutDebuginfod, "buildid/"+id+"/debuginfo", "")
		if !w.Partial || m.Has.NoProgram {
			add(LayoutDebuginfod, "buildid/"+id+"/executable", "")
		}
	}
}

// needsProgram: the unwind rules of a module are in its program, where a file of another kind has
// no place for them: Windows' function tables, which only x86 does without.
func (b *builder) needsProgram(m int) bool {
	return b.d.OS() == core.Windows && (b.layer[m].code || !(b.d.Arch() != nil && b.d.Arch().StackWIN))
}

// processorOf returns the name of the processor of a module's code.
func (b *builder) processorOf(m int) string {
	if b.layer[m].code {
		return b.d.Wow64().Host.Name
	}
	return b.r.System.CPU
}

// debugFile returns the base name and id of the module's debug file. What the dump does not say about
// it, the module's program may.
func (m *Module) debugFile() (file, id string) {
	if m.DebugID == "" && m.Has.DebugFile != "" {
		return m.Has.DebugFile, m.Has.DebugID
	}
	if file = BaseName(m.DebugFile); file == "" {
		file = BaseName(m.Name)
	}
	return file, m.DebugID
}

// partial reports whether the symbols that were given lack the module's program, its debug file or
// the supplementary one.
func (m *Module) partial() bool {
	return m.Has.NoProgram || m.Has.DebugFile != "" || m.Has.AltFile != ""
}

// FileToAdd returns the name of the file that a module lacks: its debug file if the program is there,
// else the module's own.
func (m *Module) FileToAdd() string {
	return cmp.Or(m.Has.DebugFile, m.Has.AltFile, m.Title())
}

// complete sets Module.Completes: a program that was stripped lacks its debug file, a symbol file without unwind rules the
// program that it was made from.
func (b *builder) complete(i int) {
	m := &b.r.Modules[i]
	noRules := !m.Has.CFI && !m.Has.SFrame && len(m.Has.Parts) > 0
	if m.Frames == 0 || m.State != SymbolsLoaded || !m.Has.OnlyExports && !noRules {
		return
	}
	w := b.missingFile(i)
	w.Partial, w.CodeID = !noRules, m.CodeID
	b.stores(&w)
	m.Completes = &w
}

// missingFile returns the debug file of a module as a missing one, without where servers have it.
func (b *builder) missingFile(i int) MissingFile {
	m := &b.r.Modules[i]
	file, id := m.debugFile()
	w := MissingFile{Module: i, DebugFile: file, DebugID: id, StorePath: StorePath(file, id), Frames: m.Frames, Stores: []StoreFile{}}
	if b.d.Header.Order == binary.BigEndian {
		w.OtherPath = StorePath(file, core.ByteSwappedID(id))
	}
	return w
}

// missing ranks the missing symbol files by the frames that need them, those of the program before
// those of the system, which the user does not have, and last those that only second stacks need. Whatever asks for symbols (findings, the end of a stack, the line above it)
// asks in this order. Modules of one debug file
// and id want one file. A program whose debug information is missing, and debug information whose
// program is, are among them.
func (b *builder) missing() {
	r := b.r
	r.Missing = []MissingFile{}
	type key struct{ file, id string }
	seen := map[key]int{}
	for i := range r.Modules {
		m, s := &r.Modules[i], &b.symbols[i]
		missing := m.State == SymbolsMissing || m.State == SymbolsMismatch
		partial := m.State == SymbolsLoaded && m.partial()
		if m.Frames == 0 || !missing && !partial {
			b.complete(i)
			continue
		}
		w := b.missingFile(i)
		k := key{w.DebugFile, w.DebugID}
		if at, ok := seen[k]; ok && w.DebugID != "" {
			r.Missing[at].Frames += m.Frames
			continue
		}
		seen[k] = len(r.Missing)
		w.Partial, w.Mismatch = partial, s.Mismatch
		if missing && b.needsProgram(i) && !m.Has.CFI || m.Has.NoProgram { // a dump's memory may hold the program
			w.Program, w.CodeID = BaseName(m.Name), m.CodeID
		} else if partial && b.d.OS() != core.Windows {
			w.Program, w.CodeID = m.FileToAdd(), m.CodeID
			if m.Has.DebugFile == "" {
				w.CodeID = m.Has.AltID
			}
		}
		b.stores(&w)
		if p := b.published(i); p != nil {
			if w.Published, w.Layout = p.says(), p.layout; p.layout != "" {
				w.Server = p.server
			}
		}
		r.Missing = append(r.Missing, w)
	}
	last := make(map[int]int, len(r.Missing)) // of a module: how far behind others it is
	for i := range r.Missing {
		m := r.Missing[i].Module
		if b.layer[m].frames == r.Modules[m].Frames {
			last[m] = 2
		} else if b.r.IsSystems(m) {
			last[m] = 1
		}
	}
	sort.SliceStable(r.Missing, func(i, j int) bool {
		x, y := &r.Missing[i], &r.Missing[j]
		if a, b := last[x.Module], last[y.Module]; a != b {
			return a < b
		}
		return x.Frames > y.Frames
	})
}
