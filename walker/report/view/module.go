package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// assignable reports whether a module lacks matching symbols.
func assignable(m *report.Module) bool {
	return m.State != report.SymbolsLoaded && m.State != report.SymbolsNotNeeded
}

// hasWords returns what a module's files contain, short enough for a column. That a loaded file has
// exported names alone, its state says.
func hasWords(m *report.Module) string {
	var out []string
	h := &m.Has
	for _, w := range []struct {
		is   bool
		word string
	}{{h.CFI || h.SFrame, "unwind rules"}, {h.Functions && !h.Lines, "functions"}, {h.Lines, "lines"}, {h.Inlines, "inlined calls"}, {h.OnlyExports && m.State != report.SymbolsLoaded, "exported names"}} {
		if w.is {
			out = append(out, w.word)
		}
	}
	s := strings.Join(out, " · ")
	if m.IgnoredCFI && (h.CFI || h.SFrame) {
		s += ", not used"
	}
	return s
}

// Module returns the details of a module, or nil.
func (v *View) Module(i int) *rows.ModuleDetail {
	m := v.module(i)
	if m == nil {
		return nil
	}
	d := &rows.ModuleDetail{Index: i, Name: rows.Clean(m.Title()), Facts: []rows.Fact{}, Has: []rows.Fact{}, Missing: []string{}, Warnings: []string{}, Stores: []rows.Fact{},
		Rules: m.Has.CFI || m.Has.SFrame || m.IgnoredCFI || m.State == report.SymbolsLoaded || m.State == report.SymbolsAssigned, Ignored: m.IgnoredCFI,
		Binary: m.Binary, Assign: assignable(m)}
	d.Status = v.moduleStatus(m)
	add := func(key, value string, code bool) {
		if value != "" {
			d.Facts = append(d.Facts, rows.Fact{Key: key, Value: value, Code: code})
		}
	}
	add("Path", rows.Clean(m.Name), true)
	start, end := m.Range()
	add("Address", v.hex(start)+" – "+v.hex(end), true)
	var parts string
	for _, p := range m.Mappings {
		parts += "\n" + v.hex(p.Start) + " – " + v.hex(p.Start+p.Size) + " +" + short(p.RVA)
	}
	add("Mappings", strings.TrimPrefix(parts, "\n"), true)
	add("Debug file", rows.Clean(m.DebugFile), true)
	add("Debug id", rows.Clean(m.DebugID), true)
	add("Code id", rows.Clean(m.CodeID), true)
	add("Version", version(m), false)
	add("Symbol file", rows.Clean(m.SymbolFile), true)
	if m.Binary != m.SymbolFile {
		add("Binary", rows.Clean(m.Binary), true)
	}
	v.addWanted(d, i)
	d.Has = has(m)
	for _, s := range m.Has.Missing {
		d.Missing = append(d.Missing, sentenceCase(rows.Clean(s)))
	}
	d.Missing = append(d.Missing, lacks(m)...)
	for _, w := range m.Warnings {
		d.Warnings = append(d.Warnings, rows.Clean(w))
	}
	return d
}

// storeNames are the kinds of symbol servers, by their layouts.
var storeNames = map[string]string{report.LayoutBreakpad: "Breakpad server", report.LayoutMicrosoft: "Microsoft server", report.LayoutDebuginfod: "debuginfod"}

// addWanted adds what a module lacks: what differs from a loaded file, the command that makes the file,
// where servers have it.
func (v *View) addWanted(d *rows.ModuleDetail, module int) {
	m := &v.r.Modules[module]
	w := m.Completes
	for i := range v.r.Missing {
		if v.r.Missing[i].Module == module {
			w = &v.r.Missing[i]
		}
	}
	if w == nil {
		return
	}
	if w.Mismatch.File != "" {
		d.Missing = append(d.Missing, rows.Clean(rows.BaseName(w.Mismatch.File))+" does not match: "+rows.Clean(report.IDDifference(w.DebugID, w.Mismatch.ID)))
	}
	d.Command, d.File = "crashpane dumpsyms FILE > FILE.sym", rows.Clean(w.DebugFile)
	if w.Partial && w.Program != "" {
		d.File = rows.Clean(w.Program)
		if m.Has.NoProgram { // the PDB is there
			d.Command = "crashpane dumpsyms FILE FILE.pdb > FILE.sym"
		}
	}
	for _, s := range w.Stores {
		d.Stores = append(d.Stores, rows.Fact{Key: storeNames[s.Layout], Value: rows.Clean(s.Path), Code: true})
	}
}

// unloadedRow makes the row of a module that the process had unloaded.
func (v *View) unloadedRow(i int) rows.ModuleRow {
	u := &v.r.Unloaded[i]
	return rows.ModuleRow{Index: len(v.r.Modules) + i, Name: rows.Clean(rows.BaseName(u.Name)), Path: rows.Clean(u.Name), Base: v.hex(u.Base), End: v.hex(u.Base + u.Size),
		CodeID: rows.Clean(u.CodeID), State: "not-needed", Word: "unloaded", Item: -1, Warnings: []string{}, Unloaded: true}
}

// firstOwn returns the module of the first frame of the first thread's stack that is not the system's,
// or -1.
func (v *View) firstOwn() int {
	if v.own == nil {
		own := v.findOwn()
		v.own = &own
	}
	return *v.own
}

func (v *View) findOwn() int {
	t := v.thread(v.r.FirstThread)
	if t == nil {
		return -1
	}
	for i := range t.Frames {
		if m := v.module(t.Frames[i].Module); m != nil && !m.System && t.GuessesAt(i) == nil {
			return t.Frames[i].Module
		}
	}
	return -1
}

// sortedModules returns the rows of the modules that a text finds, sorted by a column, counted from 1;
// a negative one sorts the other way around, 0 is the usual order.
func (v *View) sortedModules(sort int, filter string) []rows.ModuleRow {
	if v.sorted.rows != nil && v.sorted.sort == sort && v.sorted.filter == filter {
		return v.sorted.rows
	}
	out := []rows.ModuleRow{}
	add := func(r rows.ModuleRow) {
		if filter == "" || rows.Finds(filter, r, rows.ModuleColumns) || rows.Holds(filter, rows.ModuleColumns[1].Text(r)) {
			out = append(out, r)
		}
	}
	for _, i := range v.moduleOrder() {
		add(v.moduleRow(i))
	}
	for i := range v.r.Unloaded {
		add(v.unloadedRow(i))
	}
	if by := max(sort, -sort); by > 0 && by <= len(rows.ModuleColumns) {
		text := rows.ModuleColumns[by-1].Text
		slices.SortStableFunc(out, func(a, b rows.ModuleRow) int {
			x, y := text(a), text(b)
			if (x == "") != (y == "") { // what is not known is last
				return map[bool]int{true: 1, false: -1}[x == ""]
			}
			if sort < 0 {
				return rows.Natural(y, x)
			}
			return rows.Natural(x, y)
		})
	}
	v.sorted.sort, v.sorted.filter, v.sorted.rows = sort, filter, out
	return out
}

// has returns the parts of a module. Parts of one kind are one fact.
//
//	Unwind rules    libfoo.so, .eh_frame
//	Functions       libfoo.so.debug, .debug_info
func has(m *report.Module) []rows.Fact {
	out := []rows.Fact{}
	for _, p := range m.Has.Parts {
		from := rows.Clean(rows.BaseName(p.File))
		if p.Section != "" {
			from += ", " + rows.Clean(p.Section)
		}
		what := upperFirst(rows.Clean(p.What))
		if n := len(out); n > 0 && out[n-1].Key == what {
			out[n-1].Value += "\n" + from
			continue
		}
		out = append(out, rows.Fact{Key: what, Value: from, Code: true})
	}
	return out
}

// lacks returns the kinds of information that the files of a module in use do not have.
//
// A symbol file that is indexed on demand is not said to lack functions: its counts are unknown
// until it is fully indexed.
func lacks(m *report.Module) []string {
	out := []string{}
	if !m.SymbolsRequested || len(m.Has.Parts) == 0 {
		return out
	}
	h := &m.Has
	if !h.CFI && !h.SFrame {
		out = append(out, "No unwind rules: callers of its frames are found by frame pointers, or guessed")
	}
	switch {
	case h.OnlyExports:
		out = append(out, "No functions but exported names: the name of a frame is that of the nearest export below")
	case !h.Functions && !m.IndexedOnDemand:
		out = append(out, "No functions")
	}
	if !h.Lines {
		out = append(out, "No source lines")
	}
	return out
}

// moduleStatus returns the state of a module's symbols as a sentence.
func (v *View) moduleStatus(m *report.Module) string {
	frames := count(m.Frames, "frame is", "frames are") + " in it"
	switch m.State {
	case report.SymbolsMissing:
		return "Its symbols are missing; " + frames + "."
	case report.SymbolsLoaded:
		s := "Its symbols are loaded; " + frames + "."
		if m.IDSwapped() {
			s += " The id of the symbol file has its bytes in another order."
		}
		if m.IndexedOnDemand {
			s += " The symbol file is not fully indexed; Crashpane searches it."
		}
		if m.BinaryByName {
			s += " The binary matches only by its name and its size or time stamp: it has no debug id, or the module has none."
		}
		return s
	case report.SymbolsCorrupt:
		return "Its symbols could not be read completely; " + frames + "."
	case report.SymbolsMismatch:
		if m.DebugID == "" {
			return fmt.Sprintf("A loaded file has its name and is not used, since the dump has no id of the module to compare with; %s.", frames)
		}
		return fmt.Sprintf("A loaded file is of another build and is not used; %s.", frames)
	case report.SymbolsAssigned:
		return fmt.Sprintf("You assigned its symbols, which may be of another build; %s.", frames)
	}
	return "No frame is in it."
}
