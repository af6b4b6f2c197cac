package view

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// ThreadRow is one thread of the list.
type ThreadRow struct {
	Index      int
	ID         string
	Name       string
	Crashed    bool
	Requesting bool
	Frames     int
	Top        string // the first function that has a name
	Hits       int    // rows of its stack that contain the searched text
	Hit        bool   // its name or id contains it
	Pending    bool   // not walked yet
	HasSecond  bool   // Other is the index of its second stack
	Other      int
	Unlisted   bool // not in the dump's list
}

// ThreadPage is a window of the threads, the crashed one first.
type ThreadPage struct {
	Page
	Selected int // row number of the requested thread, or -1
	Rows     []ThreadRow
}

// Threads lists the threads, the crashed or requesting one first, then in the dump's order. filter
// selects threads by number, id and name. search is a Query; Hits counts its matches.
//
// It goes through all threads, since Total and Selected count those that the filter selects, but
// makes rows for the window alone.
func (v *View) Threads(from, n, selected int, filter, search string) ThreadPage {
	out := ThreadPage{Selected: -1, Rows: []ThreadRow{}}
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
			r := ThreadRow{Index: i, ID: fmt.Sprint(t.ID), Name: Clean(t.Name), Crashed: t.Crashed, Frames: len(t.Frames),
				Requesting: i == v.r.FirstThread && v.r.HasRequesting && !t.Crashed, Top: v.top(t), Hits: v.hits(t, search), Pending: t.Pending, Hit: Holds(search, threadWords(t)),
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
			return lastParts(bare(v.full(f.Inlines[0].Function)))
		} else if named(f) {
			return lastParts(bare(v.full(f.Function))) + after(f)
		}
	}
	if len(t.Frames) > 0 {
		if m := v.module(t.Frames[0].Module); m != nil {
			return Clean(m.Title())
		}
		return v.frameHex(&t.Frames[0], t.Frames[0].PC)
	}
	return ""
}

// ModuleRow is a module with the state of its symbols.
type ModuleRow struct {
	Index             int
	Name, Path        string
	Base, End         string
	Version           string
	DebugFile         string
	DebugID, CodeID   string
	State, Word       string
	SymbolFile, Other string // Other is the id of symbols of another build
	Item              int    // of the file that "use anyway" would use, or -1
	Frames            int
	Warnings          []string
	IndexedOnDemand   bool   // the symbol file has no full index; lookups search it
	Has               string // what its files contain
}

// ModulePage is a window of the modules.
type ModulePage struct {
	Page
	Selected int // row number of the requested module, or -1
	Rows     []ModuleRow
	Detail   *ModuleDetail // of the requested module, or nil
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

// Modules lists the modules.
func (v *View) Modules(from, n, selected int) ModulePage {
	out := ModulePage{Selected: -1, Rows: []ModuleRow{}}
	order := v.moduleOrder()
	lo, hi := window(len(order), from, n)
	out.From, out.Total = lo, len(order)
	out.Selected = slices.Index(order, selected)
	out.Detail = v.Module(selected)
	for _, i := range order[lo:hi] {
		m := &v.r.Modules[i]
		start, end := m.Range()
		row := ModuleRow{Index: i, Name: Clean(m.Title()), Path: Clean(m.Name), Base: v.hex(start),
			End: v.hex(end), Version: version(m), DebugFile: Clean(BaseName(m.DebugFile)),
			DebugID: Clean(m.DebugID), CodeID: Clean(m.CodeID), State: string(m.State), Word: StateWord(m.State),
			SymbolFile: Clean(BaseName(m.SymbolFile)), Frames: m.Frames, Item: -1, Warnings: []string{}, Has: hasWords(m)}
		if row.IndexedOnDemand = m.IndexedOnDemand; row.IndexedOnDemand && m.State == report.SymbolsLoaded {
			row.Word = "indexed on demand"
		}
		if m.State == report.SymbolsLoaded && m.Has.OnlyExports {
			row.State, row.Word = "exports", "only exports" // "loaded" would promise more
		}
		for _, w := range m.Warnings {
			row.Warnings = append(row.Warnings, Clean(w))
		}
		if m.State == report.SymbolsAssigned || m.State == report.SymbolsMismatch {
			row.Other = Clean(m.SymbolID)
		}
		if w := v.mismatch(i); w != nil {
			row.Item, row.Other = w.Mismatch.Item, Clean(w.Mismatch.ID)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// mismatch returns the loaded file with another id that a module could use, or nil.
func (v *View) mismatch(module int) *report.MissingFile {
	for k := range v.r.Missing {
		if w := &v.r.Missing[k]; w.Module == module && w.Mismatch.File != "" {
			return w
		}
	}
	return nil
}

// other returns the item number of that file, or -1.
func (v *View) other(module int) int {
	if w := v.mismatch(module); w != nil && module >= 0 {
		return w.Mismatch.Item
	}
	return -1
}

// MissingRow is a symbol file that is missing.
type MissingRow struct {
	Module             int
	DebugFile, DebugID string
	StorePath          string
	Frames             int
	Stores             []report.StoreFile // the paths on symbol servers
	OtherFile, OtherID string             // a loaded file with the right name and another id
	Differs            string             // how the two ids differ
	Item               int
}

// MissingPage is a window of the missing symbol files.
type MissingPage struct {
	Page
	Rows []MissingRow
}

// Missing lists the missing files, the most useful first.
//
// A Windows module may need two files: the PDB for names, and the program for unwind rules. If both
// are missing, the row names both; if only the program is (Partial), the row is the program's.
func (v *View) Missing(from, n int) MissingPage {
	out := MissingPage{Rows: []MissingRow{}}
	lo, hi := window(len(v.r.Missing), from, n)
	out.From, out.Total = lo, len(v.r.Missing)
	for i := lo; i < hi; i++ {
		w := &v.r.Missing[i]
		row := MissingRow{Module: w.Module, DebugFile: Clean(w.DebugFile), DebugID: Clean(w.DebugID),
			StorePath: Clean(w.StorePath), Frames: w.Frames, Stores: []report.StoreFile{}, OtherFile: Clean(BaseName(w.Mismatch.File)),
			OtherID: Clean(w.Mismatch.ID), Item: -1}
		if row.OtherFile != "" {
			row.Item = w.Mismatch.Item
			row.Differs = Clean(report.IDDifference(w.DebugID, w.Mismatch.ID))
		}
		for _, s := range w.Stores {
			row.Stores = append(row.Stores, report.StoreFile{Layout: s.Layout, Path: Clean(s.Path), Else: Clean(s.Else)})
		}
		if w.Program != "" {
			if w.Partial {
				row.DebugFile, row.DebugID, row.StorePath = Clean(w.Program), Clean(w.CodeID), programPath(w)
			} else {
				row.DebugFile += ", " + Clean(w.Program)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// programPath returns the path of a missing program on Microsoft's symbol servers, or "" if its
// identifier is not known.
func programPath(w *report.MissingFile) string {
	for _, s := range w.Stores {
		if strings.HasPrefix(s.Path, w.Program+"/") && s.Layout == report.LayoutMicrosoft {
			return Clean(s.Path)
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
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", Clean(file), Clean(id), Clean(path), count(w.Frames, "frame", "frames"))
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
	if s := Clean(m.Version); s != "0.0.0.0" {
		return s
	}
	return ""
}
