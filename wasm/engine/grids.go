package engine

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// This file makes tables of the dump's own data. The page shows windows of them.

// gridNames are the tables that grid makes, by their tabs.
var gridNames = []string{"annotations", "memory", "streams", "handles"}

// have returns the tabs for which a dump has data.
func have(d *core.Dump, rep *report.Report) []string {
	out := []string{}
	add := func(tab string, is bool) {
		if is {
			out = append(out, tab)
		}
	}
	add("memory", len(d.Regions) > 0 || len(d.Linux.Maps) > 0 || len(d.Memory.Regions()) > 0)
	add("streams", len(d.Streams) > 0)
	add("handles", len(d.Handles) > 0)
	add("annotations", len(rep.Annotations) > 0)
	return out
}

// grid makes a window of a table.
func (e *Engine) grid(d *core.Dump, rep *report.Report, name string, span protocol.Span) *protocol.GridPage {
	g := &protocol.GridPage{Name: name, Rows: []protocol.GridRow{}}
	total, row := 0, func(int) protocol.GridRow { return protocol.GridRow{} }
	switch name {
	case "streams":
		g.Columns = []string{"Stream", "Type", "Vendor", "Size", "Status"}
		total, row = len(d.Streams), func(i int) protocol.GridRow { return streamRow(&d.Streams[i]) }
	case "memory":
		g.Columns = []string{"Address", "Size", "Access", "State", "Contents"}
		if e.mapsOf != rep { // a memory map may have thousands of ranges
			e.maps, e.mapsOf = report.MemoryMap(d, rep), rep
		}
		width := 2 * max(rep.Dump.WordSize, 4)
		total, row = len(e.maps), func(i int) protocol.GridRow {
			m := &e.maps[i]
			return protocol.GridRow{Cells: []string{fmt.Sprintf("0x%0*x", width, m.Start), rows.Size(int64(m.Size)), m.Access, m.State, m.Contents}, Mark: m.Mark}
		}
	case "handles":
		g.Columns = []string{"Handle", "Type", "Name", "Access", "Open"}
		total, row = len(rep.Handles), func(i int) protocol.GridRow { return handleRow(&rep.Handles[i]) }
	case "annotations":
		g.Columns = []string{"From", "Name", "Value"}
		traces := e.traces(rep)
		total, row = len(rep.Annotations)+len(traces), func(i int) protocol.GridRow {
			if i >= len(rep.Annotations) {
				return traces[i-len(rep.Annotations)]
			}
			a := &rep.Annotations[i]
			return protocol.GridRow{Cells: []string{a.From, a.Name, a.Value}}
		}
	}
	g.Total, g.From = total, max(0, min(span.From, total))
	for i := g.From; i < min(g.From+span.Count, total); i++ {
		r := row(i)
		r.Index = i
		for k := range r.Cells {
			r.Cells[k] = rows.Clean(r.Cells[k])
		}
		g.Rows = append(g.Rows, r)
	}
	return g
}

// streamRow makes the row of a stream. Its last cell says how Crashpane reads it.
func streamRow(s *core.Stream) protocol.GridRow {
	read := "shown as text or bytes"
	switch {
	case s.Duplicate:
		read = "not used: a later one is"
	case s.Decoded:
		read = "decoded"
	case s.Form == core.FormFields:
		read = "damaged"
	case s.Loc.Size == 0:
		read = "empty"
	}
	return protocol.GridRow{Cells: []string{streamName(s), fmt.Sprintf("0x%x", uint32(s.Type)), s.Vendor, rows.Size(int64(s.Loc.Size)), read}}
}

func streamName(s *core.Stream) string {
	if s.Name == "" {
		return "unknown"
	}
	return s.Name
}

func handleRow(h *report.Handle) protocol.GridRow {
	return protocol.GridRow{Cells: []string{fmt.Sprintf("0x%x", h.Handle), h.Type, h.Name, fmt.Sprintf("0x%08x", h.Access), fmt.Sprint(h.Count)}}
}

// traces makes rows for annotations that are lists of addresses: a row for each frame.
func (e *Engine) traces(rep *report.Report) (list []protocol.GridRow) {
	name := func(n report.Name) string { return e.demangle(n.Raw) }
	for i := range rep.Traces {
		t := &rep.Traces[i]
		for k := range t.Frames {
			list = append(list, protocol.GridRow{Cells: []string{t.Source, fmt.Sprintf("frame %d", k), t.Text(rep, k, name)}})
		}
	}
	return list
}
