package engine

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// This file makes tables of the dump's own data. The page shows windows of them.

// gridTables has a row for each table, with the id of its tab. A row of the memory map may be one of
// thousands, so open makes what the rows are made from once for a report.
var gridTables = []struct {
	id string
	// has reports whether a dump has data for the table.
	has  func(d *core.Dump, rep *report.Report) bool
	open func(e *Engine, d *core.Dump, rep *report.Report) gridTable
	// points: what the addresses of shown rows point to is not in the rows themselves.
	points bool
}{
	{"memory", hasMemory, openMemory, false},
	{"streams", func(d *core.Dump, _ *report.Report) bool { return len(d.Streams) > 0 }, openStreams, false},
	{"handles", func(_ *core.Dump, rep *report.Report) bool { return len(rep.Handles) > 0 }, openHandles, false},
	{"annotations", func(_ *core.Dump, rep *report.Report) bool { return len(rep.Annotations) > 0 }, openAnnotations, true},
}

// gridTable is a table: the heads of its columns, the number of its rows, and a function that makes
// one.
type gridTable struct {
	heads []rows.Head
	total int
	row   func(i int) protocol.GridRow
}

// newGrid makes a table of rows of one type. mark returns the mark of a row; nil for none.
func newGrid[R any](all []R, mark func(r *R) string, columns ...rows.Column[*R]) gridTable {
	return gridTable{rows.Heads(columns), len(all), func(i int) protocol.GridRow {
		g := protocol.GridRow{Index: i, Cells: make([]string, len(columns))}
		for k := range columns {
			g.Cells[k] = rows.Clean(columns[k].Text(&all[i]))
		}
		if mark != nil {
			g.Mark = mark(&all[i])
		}
		return g
	}}
}

// have returns the tabs for which a dump has data.
func have(d *core.Dump, rep *report.Report) []string {
	out := []string{}
	for _, g := range gridTables {
		if g.has(d, rep) {
			out = append(out, g.id)
		}
	}
	return out
}

// addPoints says what the addresses in the rows of a table point to.
func addPoints(g *protocol.GridPage, v *view.View) {
	for _, t := range gridTables {
		if t.id != g.Name || !t.points {
			continue
		}
		for c := range g.Columns {
			for i := range g.Rows {
				if g.Columns[c].Address {
					g.Rows[i].Points = v.AddressNote(g.Rows[i].Cells[c])
				}
			}
		}
	}
}

// grid makes a window of a table.
func (e *Engine) grid(d *core.Dump, rep *report.Report, name string, span protocol.Span) *protocol.GridPage {
	out := &protocol.GridPage{Name: name, Rows: []protocol.GridRow{}}
	for _, g := range gridTables {
		if g.id != name {
			continue
		}
		t := g.open(e, d, rep)
		out.Columns, out.Total, out.From = t.heads, t.total, max(0, min(span.From, t.total))
		for i := out.From; i < min(out.From+span.Count, t.total); i++ {
			out.Rows = append(out.Rows, t.row(i))
		}
	}
	return out
}

func hasMemory(d *core.Dump, _ *report.Report) bool {
	return len(d.Regions) > 0 || len(d.Linux.Maps) > 0 || len(d.Memory.Regions()) > 0
}

func openMemory(e *Engine, d *core.Dump, rep *report.Report) gridTable {
	if e.mapsOf != rep {
		e.maps, e.mapsOf = report.MemoryMap(d, rep), rep
	}
	digits := 2 * max(rep.Dump.WordSize, 4)
	type row = *report.MemoryRange
	return newGrid(e.maps, func(m row) string { return m.Mark },
		rows.Column[row]{Head: rows.Head{Title: "Address", Address: true, Class: "code", Width: "152px", Narrow: "140px"}, Text: func(m row) string { return fmt.Sprintf("0x%0*x", digits, m.Start) }},
		rows.Column[row]{Head: rows.Head{Title: "Size", Width: "96px", Narrow: "84px"}, Text: func(m row) string { return rows.Size(int64(m.Size)) }},
		rows.Column[row]{Head: rows.Head{Title: "Access", Width: "minmax(64px, 1fr)", Narrow: "44px"}, Text: func(m row) string { return m.Access }},
		rows.Column[row]{Head: rows.Head{Title: "State", Width: "minmax(84px, 1.4fr)", Narrow: "-"}, Text: func(m row) string { return m.State }},
		rows.Column[row]{Head: rows.Head{Title: "Contents", Class: "code", Width: "minmax(0, 5fr)", Narrow: "minmax(0, 3fr)"}, Text: func(m row) string { return m.Contents }})
}

func openStreams(_ *Engine, d *core.Dump, _ *report.Report) gridTable {
	type row = *core.Stream
	return newGrid(d.Streams, nil,
		rows.Column[row]{Head: rows.Head{Title: "Stream", Width: "minmax(0, 2fr)"}, Text: streamName},
		rows.Column[row]{Head: rows.Head{Title: "Type", Class: "code", Width: "92px", Medium: "-"}, Text: func(s row) string { return fmt.Sprintf("0x%x", uint32(s.Type)) }},
		rows.Column[row]{Head: rows.Head{Title: "Vendor", Width: "minmax(0, 1fr)", Medium: "-"}, Text: func(s row) string { return s.Vendor }},
		rows.Column[row]{Head: rows.Head{Title: "Size", Width: "96px", Medium: "84px"}, Text: func(s row) string { return rows.Size(int64(s.Loc.Size)) }},
		rows.Column[row]{Head: rows.Head{Title: "Status", Width: "minmax(0, 1.4fr)", Medium: "minmax(0, 1fr)"}, Text: streamStatus})
}

// streamStatus says how Crashpane reads a stream.
func streamStatus(s *core.Stream) string {
	switch {
	case s.Duplicate:
		return "not used: a later one is"
	case s.Decoded:
		return "decoded"
	case s.Form == core.FormFields:
		return "damaged"
	case s.Loc.Size == 0:
		return "empty"
	}
	return "shown as text or bytes"
}

func streamName(s *core.Stream) string {
	if s.Name == "" {
		return "unknown"
	}
	return s.Name
}

func openHandles(_ *Engine, _ *core.Dump, rep *report.Report) gridTable {
	type row = *report.Handle
	return newGrid(rep.Handles, nil,
		rows.Column[row]{Head: rows.Head{Title: "Handle", Class: "code", Width: "84px"}, Text: func(h row) string { return fmt.Sprintf("0x%x", h.Handle) }},
		rows.Column[row]{Head: rows.Head{Title: "Type", Width: "minmax(0, 1fr)"}, Text: func(h row) string { return h.Type }},
		rows.Column[row]{Head: rows.Head{Title: "Name", Width: "minmax(0, 4fr)"}, Text: func(h row) string { return h.Name }},
		rows.Column[row]{Head: rows.Head{Title: "Access", Width: "96px"}, Text: func(h row) string { return fmt.Sprintf("0x%08x", h.Access) }},
		rows.Column[row]{Head: rows.Head{Title: "Open", Width: "56px"}, Text: func(h row) string { return fmt.Sprint(h.Count) }})
}

func openAnnotations(e *Engine, _ *core.Dump, rep *report.Report) gridTable {
	type row = *report.Annotation
	return newGrid(append(slices.Clip(rep.Annotations), e.traces(rep)...), nil,
		rows.Column[row]{Head: rows.Head{Title: "From", Width: "minmax(0, 1fr)"}, Text: func(a row) string { return a.From }},
		rows.Column[row]{Head: rows.Head{Title: "Name", Width: "minmax(0, 1.4fr)"}, Text: func(a row) string { return a.Name }},
		rows.Column[row]{Head: rows.Head{Title: "Value", Address: true, Class: "code", Width: "minmax(0, 4fr)"}, Text: func(a row) string { return a.Value }})
}

// traces makes rows for annotations that are lists of addresses: a row for each frame.
func (e *Engine) traces(rep *report.Report) (list []report.Annotation) {
	name := func(n report.Name) string { return e.demangle(n.Raw) }
	for i := range rep.Traces {
		t := &rep.Traces[i]
		for k := range t.Frames {
			list = append(list, report.Annotation{From: t.Source, Name: fmt.Sprintf("frame %d", k), Value: t.Text(rep, k, name)})
		}
	}
	return list
}
