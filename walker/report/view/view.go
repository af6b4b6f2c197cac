// Package view makes the rows that the page shows from a report. It runs in the engine, and makes
// rows for a window of a list on demand, so that the page gets only visible rows and only their
// names are demangled.
//
// New makes a View. View.Summary (summary.go) is the top of the page, View.Stack (stack.go) a
// window of a stack, View.Frame (frame.go) the details of a frame, lists.go the other lists. All
// text from files passes Clean: valid UTF-8, limited in length, with control characters made
// visible.
package view

import (
	"cmp"
	"strconv"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// View makes the rows of one report. It caches readable names, so that a recursion's name is
// demangled once.
type View struct {
	r        *report.Report
	demangle func(string) string
	names    map[string]string
	starts   map[layout][]int32 // see rowsOf
	width    map[int][2]int     // by thread: see widths
	// mismatches has the loaded files with another id that modules could use, by module; nil until
	// one is asked for.
	mismatches map[int]*report.MissingFile
	differs    struct { // the last comparison with another dump
		to  *report.Report
		all *report.Difference
	}
	own    *int     // see firstOwn
	sorted struct { // the last answer of sortedModules
		sort   int
		filter string
		rows   []rows.ModuleRow
	}
	merged  *report.Merged // nil before it is asked for
	explain func(thread, frame int) *report.Explanation
	points  func(address uint64) report.Pointee
}

// PointBy sets the function that says what an address is in. Without it registers have only modules.
func (v *View) PointBy(f func(address uint64) report.Pointee) { v.points = f }

// ExplainBy sets the function that explains a frame. Without it frames have rules but no numbers.
func (v *View) ExplainBy(f func(thread, frame int) *report.Explanation) { v.explain = f }

// New makes a View. If demangle is nil, names are shown as they are stored.
func New(r *report.Report, demangle func(string) string) *View {
	return &View{r: r, demangle: demangle, names: map[string]string{}, starts: map[layout][]int32{}, width: map[int][2]int{}}
}

// Report returns the view's report.
func (v *View) Report() *report.Report { return v.r }

// Pending returns how many threads are not walked yet.
func (v *View) Pending() (n int) {
	for i := range v.r.Threads {
		if v.r.Threads[i].Pending {
			n++
		}
	}
	return n
}

// window limits a requested window to the rows that exist.
func window(total, from, count int) (lo, hi int) {
	lo = max(0, min(from, total))
	hi = max(lo, min(lo+max(count, 0), total))
	return lo, hi
}

// full returns the full readable name.
func (v *View) full(n report.Name) string {
	if n.Display != "" {
		return rows.Clean(n.Display)
	}
	if v.demangle == nil || n.Raw == "" {
		return rows.Clean(n.Raw)
	}
	if s, ok := v.names[n.Raw]; ok {
		return s
	}
	s := cmp.Or(v.demangle(n.Raw), n.Raw)
	s = rows.Clean(s)
	v.names[n.Raw] = s
	return s
}

// hex formats an address with as many digits as the dump's addresses have, so that columns align.
func (v *View) hex(a uint64) string { return hexOf(v.r.Dump.WordSize, a) }

// frameHex does the same for the processor of a frame.
func (v *View) frameHex(f *report.Frame, a uint64) string { return hexOf(v.r.WordSizeOf(f), a) }

func hexOf(wordSize int, a uint64) string {
	digits := 16
	if wordSize == 4 {
		digits = 8
	}
	const zeros = "0x0000000000000000"
	s := strconv.FormatUint(a, 16)
	return zeros[:2+max(0, digits-len(s))] + s
}

// short formats a number in hexadecimal without leading zeros.
func short(a uint64) string { return "0x" + strconv.FormatUint(a, 16) }

// module returns the module with an index, or nil.
func (v *View) module(i int) *report.Module {
	if i < 0 || i >= len(v.r.Modules) {
		return nil
	}
	return &v.r.Modules[i]
}

// thread returns the thread with an index, or nil.
func (v *View) thread(i int) *report.Thread {
	if i < 0 || i >= len(v.r.Threads) {
		return nil
	}
	return &v.r.Threads[i]
}

// Number returns the number of a frame in the whole stack: see report.Thread.
func (v *View) Number(thread, frame int) int {
	if t := v.thread(thread); t != nil {
		return t.Number(frame)
	}
	return frame
}

// Position returns the source file and the line of a frame, or of an inlined call in it if inline is not
// -1; "" and 0 if they are not known.
func (v *View) Position(thread, frame, inline int) (path string, line int) {
	t := v.thread(thread)
	if t == nil || frame < 0 || frame >= len(t.Frames) {
		return "", 0
	}
	f := &t.Frames[frame]
	if inline >= 0 && inline < len(f.Inlines) {
		return f.Inlines[inline].File, int(f.Inlines[inline].Line)
	}
	return f.File, int(f.Line)
}

// count returns "1 frame", "2 frames".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return rows.Number(n) + " " + many
}
