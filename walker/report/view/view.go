// Package view turns a report into the rows that the page shows. It works on the engine's side, so that the page decodes
// only what stands in a window of a list: rows are made on demand, and only their names are demangled. Every text that
// comes from a file leaves here cleaned (Clean): valid UTF-8, bounded, with control characters made visible.
package view

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report"
)

// View makes rows of one report. It remembers readable names, so that a deep recursion is demangled once.
type View struct {
	r        *report.Report
	demangle func(string) string
	names    map[string]string
	starts   map[int][]int32 // thread → row number of each frame, with inlined rows counted
	said     []report.Said
	width    map[int][2]int // thread → the longest text of two columns
	explain  func(thread, frame int) *report.Explanation
}

// ExplainBy gives the View what explains frames, one at a time; without it frames have rules and no numbers.
func (v *View) ExplainBy(f func(thread, frame int) *report.Explanation) { v.explain = f }

// Says replaces what the program said of its end, for views that are for others.
func (v *View) Says(said []report.Said) { v.said = said }

// New makes a View. demangle may be nil: names are then shown as they are stored.
func New(r *report.Report, demangle func(string) string) *View {
	return &View{r: r, said: r.Said, demangle: demangle, names: map[string]string{}, starts: map[int][]int32{}, width: map[int][2]int{}}
}

// Report is what the view was made of.
func (v *View) Report() *report.Report { return v.r }

// Pending is how many threads are not walked yet.
func (v *View) Pending() (n int) {
	for i := range v.r.Threads {
		if v.r.Threads[i].Pending {
			n++
		}
	}
	return n
}

// Page is a window of a list.
type Page struct {
	From  int // the number of the first row given
	Total int // how many rows there are
}

// window cuts a request to what exists.
func window(total, from, count int) (lo, hi int) {
	lo = max(0, min(from, total))
	hi = max(lo, min(lo+max(count, 0), total))
	return lo, hi
}

// full is the readable name, whole.
func (v *View) full(n report.Name) string {
	if n.Display != "" {
		return Clean(n.Display)
	}
	if v.demangle == nil || n.Raw == "" {
		return Clean(n.Raw)
	}
	if s, ok := v.names[n.Raw]; ok {
		return s
	}
	s := v.demangle(n.Raw)
	if s == "" {
		s = n.Raw
	}
	s = Clean(s)
	v.names[n.Raw] = s
	return s
}

// hex prints an address in the dump's width, so that addresses stand under each other.
func (v *View) hex(a uint64) string {
	digits := 16
	if v.r.Dump.WordSize == 4 {
		digits = 8
	}
	s := strconv.FormatUint(a, 16)
	for len(s) < digits {
		s = "0" + s
	}
	return "0x" + s
}

// short prints a number without leading zeros.
func short(a uint64) string { return "0x" + strconv.FormatUint(a, 16) }

// module is the module of an index, or nil.
func (v *View) module(i int) *report.Module {
	if i < 0 || i >= len(v.r.Modules) {
		return nil
	}
	return &v.r.Modules[i]
}

// thread is the thread of an index, or nil.
func (v *View) thread(i int) *report.Thread {
	if i < 0 || i >= len(v.r.Threads) {
		return nil
	}
	return &v.r.Threads[i]
}

// count says "1 frame", "2 frames".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Number prints 10881 as "10,881".
func Number(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
