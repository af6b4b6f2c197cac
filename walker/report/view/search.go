package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// frameHolds reports whether a row contains a Query: in what its columns have, the return address,
// and from four digits on the values of registers. inline is the number of an inlined call, or -1 for
// the frame itself.
func (v *View) frameHolds(f *report.Frame, i, inline int, query string) bool {
	if query == "" {
		return false
	}
	if inline >= 0 {
		return rows.Finds(query, v.namedInlineRow(f, i, inline), rows.StackColumns)
	}
	if rows.Finds(query, v.namedRow(f, i), rows.StackColumns) || rows.Holds(query, v.frameHex(f, f.PC)) {
		return true
	}
	const digits = 4 // search registers for at least so many digits: fewer match most registers
	if f.Regs == nil || f.Regs.Arch == nil || !strings.HasPrefix(query, "0x") || len(query) < 2+digits {
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
			if v.frameHolds(f, i, k, query) && !do(i, k) {
				return
			}
		}
		is := v.frameHolds(f, i, -1, query)
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
		_, _, _, signature := v.site()
		said = append(said, v.r.Crash.Reason.Name, signature)
	}
	add(rows.Hit{Thread: -1}, rows.Holds(query, append(said, v.facts()...)...))
	for _, i := range v.order() {
		t := &v.r.Threads[i]
		add(rows.Hit{Thread: i, Frame: -1, Inline: -1}, rows.Holds(query, threadWords(t)))
		v.eachHit(t, query, func(frame, inline int) bool {
			return add(rows.Hit{Thread: i, Frame: t.Number(frame), Inline: inline}, true)
		})
	}
	for _, i := range v.moduleOrder() {
		add(rows.Hit{Thread: -1, Tab: "modules", Row: i}, rows.Finds(query, v.moduleRow(i), rows.ModuleColumns))
	}
	for i := range v.r.Missing {
		add(rows.Hit{Thread: -1, Tab: "wanted", Row: i}, rows.Finds(query, missingRow(&v.r.Missing[i]), rows.MissingColumns))
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
	return slices.ContainsFunc(groups, func(g rows.Group) bool { return factsHold(query, g.Facts) })
}

func factsHold(query string, facts []rows.Fact) bool {
	return slices.ContainsFunc(facts, func(f rows.Fact) bool { return rows.Holds(query, f.Key+" "+f.Value) })
}

// threadWords returns what a search for a thread looks in: its name, its index, and its id in both
// bases.
func threadWords(t *report.Thread) string {
	return t.Name + "\nthread " + strconv.Itoa(t.Index) + "\nid " + strconv.FormatUint(uint64(t.ID), 10) + "\n" + short(uint64(t.ID))
}
