package engine

import (
	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// found has the hits of the last search, through which the user steps.
type found struct {
	of    *view.View
	query string
	hits  []rows.Hit
}

// find lists the hits, once for each text and report, and returns hit number n, counted from 1; 0
// for none.
func (e *Engine) find(v *view.View, d *core.Dump, rep *report.Report, query string, n int) *protocol.FoundPage {
	if e.found.of != v || e.found.query != query {
		hits := v.Find(query) // of the report; the dump's own data and the files follow
		add := func(tab string, row int, is bool) {
			if is {
				hits = append(hits, rows.Hit{Thread: -1, Tab: tab, Row: row})
			}
		}
		add("system", 0, view.GroupsHold(query, system(d)))
		for _, g := range gridTables {
			for i, r := range e.grid(d, rep, g.id, protocol.Span{Count: 1 << 20}).Rows {
				add(g.id, i, rows.Holds(query, r.Cells...))
			}
		}
		for i, it := range e.files.Items() {
			add("files", i, rows.Finds(query, fileRow(it), protocol.FileColumns))
		}
		e.found = found{v, query, hits}
	}
	f := &protocol.FoundPage{Total: len(e.found.hits)}
	if n > 0 && f.Total > 0 {
		f.At = (n-1)%f.Total + 1
		f.Hit = e.found.hits[f.At-1]
	}
	return f
}
