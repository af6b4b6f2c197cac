package view

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// Threads lists the threads, the crashed or requesting one first, then in the dump's order. filter
// selects threads by number, id and name. search is a Query; Hits counts its matches.
//
// It goes through all threads, since Total and Selected count those that the filter selects, but
// makes rows for the window alone.
func (v *View) Threads(from, n, selected int, filter, search string) rows.ThreadPage {
	out := rows.ThreadPage{Selected: -1, Rows: []rows.ThreadRow{}}
	filter = strings.ToLower(filter)
	row := 0
	for _, i := range v.order() {
		t := &v.r.Threads[i]
		if filter != "" && !holds(t.Name, filter) && !strings.HasPrefix(fmt.Sprint(t.Index), filter) &&
			!strings.HasPrefix(fmt.Sprint(t.ID), filter) {
			continue
		}
		if i == selected || t.HasSecond && t.Other == selected {
			out.Selected = row
		}
		if row >= from && row < from+n {
			r := rows.ThreadRow{Index: i, ID: fmt.Sprint(t.ID), Name: rows.Clean(t.Name), Crashed: t.Crashed, Stack: rows.StackSummary{Frames: t.Found(), Top: v.top(t)},
				Requesting: i == v.r.FirstThread && v.r.HasRequesting && !t.Crashed, Hits: v.hits(t, search), Pending: t.Pending, Hit: rows.Holds(search, threadWords(t)),
				HasSecond: t.HasSecond, Other: t.Other, Unlisted: t.Unlisted}
			out.Rows = append(out.Rows, r)
		}
		row++
	}
	out.Total, out.From = row, min(from, row)
	return out
}

// order returns the threads' order in lists: the first thread of the report, then the others in the
// dump's order. Second stacks belong to their threads' rows.
func (v *View) order() []int {
	order := make([]int, 0, len(v.r.Threads))
	if v.thread(v.r.FirstThread) != nil {
		order = append(order, v.r.FirstThread)
	}
	for i := range v.r.Threads {
		if i != v.r.FirstThread && !v.r.Threads[i].IsSecond {
			order = append(order, i)
		}
	}
	return order
}

// top returns the first function of a thread that has a name, without parameters: it shows what the
// thread does.
//
// It looks at the first 16 frames only. The top of a waiting thread is a few frames of the C
// library, so a name is soon found if there are symbols.
func (v *View) top(t *report.Thread) string {
	if t.Omitted {
		return "wrote the dump"
	}
	for i := range t.Frames {
		if i == 16 {
			break
		}
		if f := &t.Frames[i]; len(f.Inlines) > 0 {
			return lastParts(rows.Bare(v.full(f.Inlines[0].Function)))
		} else if named(f) {
			return lastParts(rows.Bare(v.full(f.Function))) + after(f)
		}
	}
	if len(t.Frames) > 0 {
		if m := v.module(t.Frames[0].Module); m != nil {
			return rows.Clean(m.Title())
		}
		return v.frameHex(&t.Frames[0], t.Frames[0].PC)
	}
	return ""
}

// stateOrder is the order of modules by state: those that need the user's attention first.
var stateOrder = map[report.SymbolState]int{report.SymbolsMismatch: 0, report.SymbolsCorrupt: 1, report.SymbolsAssigned: 2,
	report.SymbolsMissing: 3, report.SymbolsLoaded: 4, report.SymbolsNotNeeded: 5}

// StateWord returns the page's word for a symbol state.
func StateWord(s report.SymbolState) string {
	switch s {
	case report.SymbolsMissing:
		return "missing"
	case report.SymbolsLoaded:
		return "loaded"
	case report.SymbolsCorrupt:
		return "damaged"
	case report.SymbolsMismatch:
		return "other build"
	case report.SymbolsAssigned:
		return "assigned"
	}
	return "not needed"
}

// moduleOrder returns the modules' order in the list: those with frames first, then by state, then
// by number of frames.
func (v *View) moduleOrder() []int {
	order := []int{}
	for i := range v.r.Modules {
		if !v.r.Modules[i].Merged {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := &v.r.Modules[order[a]], &v.r.Modules[order[b]]
		if (x.Frames > 0) != (y.Frames > 0) {
			return x.Frames > 0
		}
		if p, q := stateOrder[x.State], stateOrder[y.State]; p != q {
			return p < q
		}
		return x.Frames > y.Frames
	})
	return order
}

// Assignable returns up to n modules that a file may be assigned to: those in use, the ones without
// symbols of their own first. The engine offers them for a file whose module is not known.
func (v *View) Assignable(n int) (out []int) {
	for _, own := range []bool{false, true} {
		for _, i := range v.moduleOrder() {
			if m := &v.r.Modules[i]; m.State != report.SymbolsNotNeeded && assignable(m) != own && len(out) < n {
				out = append(out, i)
			}
		}
	}
	return out
}

// Modules lists the modules, and behind them the unloaded ones. See sortedModules for sort; filter is a
// Query.
func (v *View) Modules(from, n, selected, sort int, filter string) rows.ModulePage {
	out := rows.ModulePage{Detail: v.Module(selected), Rows: []rows.ModuleRow{}}
	if sort != 0 || filter != "" {
		all := v.sortedModules(sort, filter)
		lo, hi := window(len(all), from, n)
		out.From, out.Total, out.Rows = lo, len(all), append(out.Rows, all[lo:hi]...)
		out.Selected = slices.IndexFunc(all, func(r rows.ModuleRow) bool { return r.Index == selected })
		return out
	}
	order := v.moduleOrder()
	lo, hi := window(len(order)+len(v.r.Unloaded), from, n)
	out.From, out.Total, out.Selected = lo, len(order)+len(v.r.Unloaded), slices.Index(order, selected)
	for i := lo; i < hi; i++ {
		if i < len(order) {
			out.Rows = append(out.Rows, v.moduleRow(order[i]))
		} else {
			out.Rows = append(out.Rows, v.unloadedRow(i-len(order)))
		}
	}
	return out
}

// moduleRow makes the row of a module.
func (v *View) moduleRow(i int) rows.ModuleRow {
	m := &v.r.Modules[i]
	start, end := m.Range()
	row := rows.ModuleRow{Index: i, Name: rows.Clean(m.Title()), Path: rows.Clean(m.Name), Base: v.hex(start),
		End: v.hex(end), Version: version(m), DebugFile: rows.Clean(rows.BaseName(m.DebugFile)),
		DebugID: rows.Clean(m.DebugID), CodeID: rows.Clean(m.CodeID), State: string(m.State), Word: StateWord(m.State),
		First: i == v.firstOwn(), Publisher: m.Publisher, SymbolFile: rows.Clean(rows.BaseName(m.SymbolFile)), Frames: m.Frames, Item: -1, Warnings: []string{}, Has: hasWords(m)}
	if m.System && row.Publisher == "" {
		row.Publisher = "system"
	}
	if row.IndexedOnDemand = m.IndexedOnDemand; row.IndexedOnDemand && m.State == report.SymbolsLoaded {
		row.Word = "indexed on demand"
	}
	if m.State == report.SymbolsLoaded && m.Has.OnlyExports {
		row.State, row.Word = "exports", "exported names" // "loaded" would promise more
	}
	for _, w := range m.Warnings {
		row.Warnings = append(row.Warnings, rows.Clean(w))
	}
	if m.State == report.SymbolsAssigned || m.State == report.SymbolsMismatch {
		row.Other = rows.Clean(m.SymbolID)
	}
	if w := v.mismatch(i); w != nil {
		row.Item, row.Other = w.Mismatch.Item, rows.Clean(w.Mismatch.ID)
	}
	return row
}

// mismatch returns the loaded file with another id that a module could use, or nil.
func (v *View) mismatch(module int) *report.MissingFile {
	if v.mismatches == nil {
		v.mismatches = map[int]*report.MissingFile{}
		for k := range v.r.Missing {
			if w := &v.r.Missing[k]; w.Mismatch.File != "" && v.mismatches[w.Module] == nil {
				v.mismatches[w.Module] = w
			}
		}
	}
	return v.mismatches[module]
}

// other returns the item number of that file, or -1.
func (v *View) other(module int) int {
	if w := v.mismatch(module); w != nil && module >= 0 {
		return w.Mismatch.Item
	}
	return -1
}

// Missing lists the missing files, the most useful first.
//
// A Windows module may need two files: the PDB for names, and the program for unwind rules. If both
// are missing, the row names both; if only the program is (Partial), the row is the program's.
func (v *View) Missing(from, n int) rows.MissingPage {
	out := rows.MissingPage{Rows: []rows.MissingRow{}}
	lo, hi := window(len(v.r.Missing), from, n)
	out.From, out.Total = lo, len(v.r.Missing)
	for i := lo; i < hi; i++ {
		out.Rows = append(out.Rows, missingRow(&v.r.Missing[i]))
	}
	return out
}

// missingRow makes the row of a missing file.
func missingRow(w *report.MissingFile) rows.MissingRow {
	row := rows.MissingRow{Module: w.Module, DebugFile: rows.Clean(w.DebugFile), DebugID: rows.Clean(w.DebugID),
		StorePath: rows.Clean(w.StorePath), Frames: w.Frames, Stores: []rows.StoreFile{}, OtherFile: rows.Clean(rows.BaseName(w.Mismatch.File)),
		OtherID: rows.Clean(w.Mismatch.ID), Item: -1, Published: w.Published}
	if row.OtherFile != "" {
		row.Item = w.Mismatch.Item
		row.Differs = rows.Clean(report.IDDifference(w.DebugID, w.Mismatch.ID))
	}
	for _, s := range w.Stores {
		row.Stores = append(row.Stores, rows.StoreFile{Layout: s.Layout, Path: rows.Clean(s.Path), Else: rows.Clean(s.Else)})
	}
	if w.Program != "" {
		if w.Partial {
			row.DebugFile, row.DebugID, row.StorePath = rows.Clean(w.Program), rows.Clean(w.CodeID), programPath(w)
		} else {
			row.DebugFile += ", " + rows.Clean(w.Program)
		}
	}
	return row
}

// programPath returns the path of a missing program on Microsoft's symbol servers, or "" if its
// identifier is not known.
func programPath(w *report.MissingFile) string {
	for _, s := range w.Stores {
		if strings.HasPrefix(s.Path, w.Program+"/") && s.Layout == report.LayoutMicrosoft {
			return rows.Clean(s.Path)
		}
	}
	return ""
}

// MissingText returns the list as text to copy: a line for each file, with its store path and the
// number of frames.
//
//	app.pdb	5A9832E5287241C1838ED98914E9B7FF1	app.pdb/5A98…/app.sym	12 frames
func (v *View) MissingText() string {
	var b strings.Builder
	for i := range v.r.Missing {
		w := &v.r.Missing[i]
		line := func(file, id, path string) {
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", rows.Clean(file), rows.Clean(id), rows.Clean(path), count(w.Frames, "frame", "frames"))
		}
		if !w.Partial || w.Program == "" {
			line(w.DebugFile, w.DebugID, w.StorePath)
		}
		if w.Program != "" {
			line(w.Program, w.CodeID, programPath(w))
		}
	}
	return b.String()
}

// version returns a module's version, or "" for zeros, which writers store on systems without
// versions.
func version(m *report.Module) string {
	if s := rows.Clean(m.Version); s != "0.0.0.0" {
		return s
	}
	return ""
}
