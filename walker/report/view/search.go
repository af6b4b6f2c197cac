package view

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// frameHolds reports whether the text of a row contains a Query. inline is the number of an inlined
// call, or -1 for the frame itself.
//
// It searches what the row and its details show: module!function, file and line, module+offset,
// both addresses, the word for the trust, and from four digits on the values of registers.
func (v *View) frameHolds(f *report.Frame, inline int, query string) bool {
	if query == "" {
		return false
	}
	name, file, line := &f.Function, f.File, f.Line
	if inline >= 0 {
		in := &f.Inlines[inline]
		name, file, line = &in.Function, in.File, in.Line
	}
	module := ""
	if m := v.module(f.Module); m != nil {
		module = m.Title()
	} else if len(f.Unloaded) > 0 {
		module = rows.BaseName(f.Unloaded[0].Module)
	}
	var texts [6]string
	if inline >= 0 || named(f) {
		texts[0] = module + "!" + v.full(*name)
		if inline < 0 {
			texts[0] += after(f)
		}
	}
	if file != "" {
		texts[1] = file + ":" + strconv.FormatUint(uint64(line), 10)
	}
	if inline < 0 {
		texts[2], texts[3] = module+"+"+short(f.RVA), v.frameHex(f, f.PC)
		texts[4], _ = rows.Word(f.Trust)
		texts[5] = v.frameHex(f, f.Lookup)
	}
	if rows.Holds(query, texts[:]...) {
		return true
	}
	const digits = 4 // search registers for at least so many digits: fewer match most registers
	if inline >= 0 || f.Regs == nil || f.Regs.Arch == nil || !strings.HasPrefix(query, "0x") || len(query) < 2+digits {
		return false
	}
	a := f.Regs.Arch
	for r := a.PC - a.PC; int(r) < len(a.Names); r++ {
		if x, ok := f.Regs.Get(r); ok && strings.HasPrefix(short(x), query) {
			return true
		}
	}
	return false
}

// hits returns how many rows of a thread contain a Query.
func (v *View) hits(t *report.Thread, query string) (n int) {
	v.eachHit(t, query, func(int, int) bool { n++; return true })
	return n
}

// eachHit calls do for each row of a thread that contains a Query, until do returns false.
func (v *View) eachHit(t *report.Thread, query string, do func(frame, inline int) bool) {
	for i := range t.Frames {
		f := &t.Frames[i]
		for k := range f.Inlines {
			if v.frameHolds(f, k, query) && !do(i, k) {
				return
			}
		}
		is := v.frameHolds(f, -1, query)
		if i == 0 && !is {
			is = factsHold(query, append(v.instruction(t.Index, 0), v.threadFacts(t)...))
		}
		if is && !do(i, -1) {
			return
		}
	}
}

// maxHits is the most hits that Find returns.
const maxHits = 10_000

// Find lists the matches of a Query in the page's order: the verdict, the threads, the tabs of the
// lower panel. The page steps through the hits in this order.
func (v *View) Find(query string) []rows.Hit {
	var out []rows.Hit
	add := func(h rows.Hit, is bool) bool {
		if is && len(out) < maxHits {
			out = append(out, h)
		}
		return len(out) < maxHits
	}
	said := []string{v.sentence()}
	for _, s := range v.r.Messages {
		said = append(said, s.Source+": "+s.Text)
	}
	if v.r.Crash != nil {
		_, _, signature := v.site()
		said = append(said, v.r.Crash.Reason.Name, signature)
	}
	add(rows.Hit{Thread: -1}, rows.Holds(query, append(said, v.facts()...)...))
	for _, i := range v.order() {
		t := &v.r.Threads[i]
		add(rows.Hit{Thread: i, Frame: -1, Inline: -1}, rows.Holds(query, threadWords(t)))
		v.eachHit(t, query, func(frame, inline int) bool { return add(rows.Hit{Thread: i, Frame: frame, Inline: inline}, true) })
	}
	for _, i := range v.moduleOrder() {
		m := &v.r.Modules[i]
		add(rows.Hit{Thread: -1, Tab: "modules", Row: i}, v.moduleHolds(m, query))
	}
	for i := range v.r.Missing {
		w := &v.r.Missing[i]
		add(rows.Hit{Thread: -1, Tab: "wanted", Row: i}, rows.Holds(query, w.DebugFile, w.DebugID, w.StorePath, w.Mismatch.File, w.Mismatch.ID))
	}
	for i, f := range v.Findings() {
		add(rows.Hit{Thread: -1, Tab: "findings", Row: i}, rows.Holds(query, rows.FindingText(f)))
	}
	add(rows.Hit{Thread: -1, Tab: "system"}, GroupsHold(query, v.system()))
	for i := range v.r.Diagnostics {
		add(rows.Hit{Thread: -1, Tab: "log", Row: i}, rows.Holds(query, v.r.Diagnostics[i].Text))
	}
	return out
}

// GroupsHold reports whether one of the facts contains a Query.
func GroupsHold(query string, groups []rows.Group) bool {
	for _, g := range groups {
		if factsHold(query, g.Facts) {
			return true
		}
	}
	return false
}

func factsHold(query string, facts []rows.Fact) bool {
	for _, f := range facts {
		if rows.Holds(query, f.Key+" "+f.Value) {
			return true
		}
	}
	return false
}

// threadWords returns what a search for a thread looks in: its name, its index, and its id in both
// bases.
func threadWords(t *report.Thread) string {
	return t.Name + "\nthread " + strconv.Itoa(t.Index) + "\nid " + strconv.FormatUint(uint64(t.ID), 10) + "\n" + short(uint64(t.ID))
}

// moduleHolds reports whether a module has the searched text in what the list shows of it.
func (v *View) moduleHolds(m *report.Module, query string) bool {
	start, end := m.Range()
	return rows.Holds(query, m.Name, m.DebugFile, m.DebugID, m.CodeID, m.SymbolFile, m.SymbolID, version(m), v.hex(start), v.hex(end))
}
