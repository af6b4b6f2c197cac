package engine

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// This file makes tables of the dump's own data, which the report lacks. The page shows windows of
// them.

// gridNames are the tables that grid makes, by their tabs.
var gridNames = []string{"annotations", "memory", "streams", "handles"}

// have returns the tabs for which a dump has data.
func have(d *core.Dump) []string {
	out := []string{}
	add := func(tab string, is bool) {
		if is {
			out = append(out, tab)
		}
	}
	add("memory", len(d.Regions) > 0 || len(d.Linux.Maps) > 0 || len(d.Memory.Regions()) > 0)
	add("streams", len(d.Streams) > 0)
	add("handles", len(d.Handles) > 0)
	add("annotations", len(annotations(d)) > 0)
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
		rows := e.memoryMap(d, rep)
		total, row = len(rows), func(i int) protocol.GridRow { return rows[i] }
	case "handles":
		g.Columns = []string{"Handle", "Type", "Name", "Access", "Open"}
		total, row = len(d.Handles), func(i int) protocol.GridRow { return handleRow(&d.Handles[i]) }
	case "annotations":
		g.Columns = []string{"From", "Name", "Value"}
		rows := append(annotations(d), e.traces(rep)...)
		total, row = len(rows), func(i int) protocol.GridRow { return rows[i] }
	}
	g.Total, g.From = total, max(0, min(span.From, total))
	for i := g.From; i < min(g.From+span.Count, total); i++ {
		r := row(i)
		r.Index = i
		if e.redact {
			r.Cells = slices.Clone(r.Cells)
			hideRow(name, r)
		}
		for k := range r.Cells {
			r.Cells[k] = view.Clean(r.Cells[k])
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
	return protocol.GridRow{Cells: []string{streamName(s), fmt.Sprintf("0x%x", uint32(s.Type)), s.Vendor, view.Size(int64(s.Loc.Size)), read}}
}

func streamName(s *core.Stream) string {
	if s.Name == "" {
		return "unknown"
	}
	return s.Name
}

func handleRow(h *core.Handle) protocol.GridRow {
	return protocol.GridRow{Cells: []string{fmt.Sprintf("0x%x", h.Handle), h.Type, h.Name, fmt.Sprintf("0x%08x", h.GrantedAccess),
		fmt.Sprint(h.HandleCount)}}
}

// memoryMap makes the rows of the process's memory map: from /proc/PID/maps, or from Windows's
// memory information, or else the ranges that the dump has. Rows name the fault address, stacks and
// modules. The rows are made once for each report.
func (e *Engine) memoryMap(d *core.Dump, rep *report.Report) []protocol.GridRow {
	if e.maps != nil && e.mapsOf == rep {
		return e.maps
	}
	width := 2 * max(rep.Dump.WordSize, 4)
	var rows []protocol.GridRow
	add := func(start, size uint64, access, state, path string) {
		if path == "" {
			path = moduleAt(rep, start, size)
		}
		row := protocol.GridRow{Cells: []string{fmt.Sprintf("0x%0*x", width, start), view.Size(int64(size)), access, state, path}}
		inside := func(a uint64) bool { return a >= start && a-start < size }
		if rep.Crash != nil && rep.Crash.Event.HasAddress && inside(rep.Crash.Event.Address) {
			row.Mark, row.Cells[4] = "danger", join("the fault address", path)
		}
		for i := range d.Threads {
			if sp, ok := stackPointer(rep, i); ok && inside(sp) {
				row.Cells[4] = join(stackOf(&rep.Threads[i]), row.Cells[4])
				if row.Mark == "" {
					row.Mark = "stack"
				}
				break
			}
		}
		rows = append(rows, row)
	}
	switch {
	case len(d.Linux.Maps) > 0: // it has names, which Breakpad's memory information of Linux lacks
		for _, m := range d.Linux.Maps {
			state := "private"
			if strings.HasSuffix(m.Perms, "s") {
				state = "shared"
			}
			add(m.Start, m.End-m.Start, strings.TrimRight(m.Perms, "ps"), state, m.Path)
		}
	case len(d.Regions) > 0:
		for i := range d.Regions {
			r := &d.Regions[i]
			add(r.Base, r.Size, protection(r.Protect), regionState(r), "")
		}
	default:
		for _, r := range d.Memory.Regions() {
			add(r.Start, r.Loc.Size, "", "in the dump", "")
		}
	}
	e.maps, e.mapsOf = rows, rep
	return rows
}

// stackOf names a thread's stack.
func stackOf(t *report.Thread) string {
	switch {
	case t.Unlisted:
		return fmt.Sprintf("stack of the thread with id %d", t.ID)
	case t.IsSecond:
		return fmt.Sprintf("second stack of thread %d", t.Other)
	}
	return fmt.Sprintf("stack of thread %d", t.Index)
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + " · " + b
}

// stackPointer returns the stack pointer of a thread's first frame.
func stackPointer(rep *report.Report, thread int) (uint64, bool) {
	if thread >= len(rep.Threads) || len(rep.Threads[thread].Frames) == 0 {
		return 0, false
	}
	r := rep.Threads[thread].Frames[0].Regs
	if r == nil || r.Arch == nil {
		return 0, false
	}
	return r.Get(r.Arch.SP)
}

// moduleAt returns the name of the first module that overlaps a range, or "".
func moduleAt(rep *report.Report, start, size uint64) string {
	for i := range rep.Modules {
		m := &rep.Modules[i]
		if start >= m.Base && start-m.Base < m.Size || m.Base >= start && m.Base-start < size {
			return report.BaseName(m.Name)
		}
	}
	return ""
}

// The values of PAGE_* in letters, as Linux writes them, of MEM_* for states, and of MEM_* for
// kinds of memory. They are made once, because a memory map has thousands of rows.
var (
	accessWords = map[uint32]string{0: "", 1: "none", 2: "r", 4: "rw", 8: "r, copy-on-write", 0x10: "x", 0x20: "rx", 0x40: "rwx", 0x80: "rx, copy-on-write"}
	stateWords  = map[uint32]string{0x1000: "committed", 0x2000: "reserved", 0x10000: "free"}
	kindWords   = map[uint32]string{0x20000: "private", 0x40000: "mapped", 0x1000000: "image"}
)

// protection describes a PAGE_* value: the access, then its modifiers.
func protection(p uint32) string {
	s, ok := accessWords[p&0xff]
	if !ok {
		s = fmt.Sprintf("0x%x", p)
	}
	if p&0x100 != 0 {
		s += ", guard"
	}
	return s
}

func regionState(r *core.MemoryInfo) string {
	if kind := kindWords[r.Type]; kind != "" {
		return join(stateWords[r.State], kind)
	}
	return stateWords[r.State]
}

// traces makes rows for annotations that are lists of addresses: a row for each frame.
func (e *Engine) traces(rep *report.Report) (rows []protocol.GridRow) {
	name := func(n report.Name) string { return e.demangle(n.Raw) }
	for i := range rep.Traces {
		t := &rep.Traces[i]
		for k := range t.Frames {
			rows = append(rows, protocol.GridRow{Cells: []string{t.Source, fmt.Sprintf("frame %d", k), t.Text(rep, k, name)}})
		}
	}
	return rows
}

// Sources of annotations other than the program. redact.go keeps their texts.
const (
	fromAssertion = "Assertion"
	fromLimits    = "Limits"
	fromWriter    = "Writer"
)

// annotations makes rows for the texts that the program or the crash handler has left in the dump:
// Crashpad's annotations, comments, an assertion, macOS crash information, limits.
func annotations(d *core.Dump) []protocol.GridRow {
	var rows []protocol.GridRow
	add := func(from, name, value string) {
		rows = append(rows, protocol.GridRow{Cells: []string{from, name, value}})
	}
	for _, c := range []*string{d.Windows.CommentA, d.Windows.CommentW} {
		if c != nil {
			add("Comment", "", *c)
		}
	}
	if a := d.Assertion; a != nil {
		for _, f := range []struct{ name, value string }{{"expression", a.Expression}, {"function", a.Function}, {"file", a.File}} {
			if f.value != "" {
				add(fromAssertion, f.name, f.value)
			}
		}
	}
	for _, n := range d.Src.Notes {
		from := "Upload"
		if n.Origin == "envelope" {
			from = "Envelope"
		}
		add(from, n.Key, n.Value)
	}
	if c := d.Crashpad; c != nil {
		if c.ReportID != "" {
			add("Crashpad", "report id", c.ReportID)
		}
		if c.ClientID != "" {
			add("Crashpad", "client id", c.ClientID)
		}
		for _, kv := range c.Annotations {
			add("Crashpad", kv.Key, kv.Value)
		}
		for i := range c.Modules {
			m := &c.Modules[i]
			from := fmt.Sprintf("module %d", m.Module)
			if int(m.Module) < len(d.Modules) {
				from = report.BaseName(d.Modules[m.Module].Name)
			}
			for _, text := range m.List {
				add(from, "", text)
			}
			for _, kv := range m.Simple {
				add(from, kv.Key, kv.Value)
			}
			for k := range m.Objects {
				o := &m.Objects[k]
				text, isText := o.Text()
				if !isText {
					text = hex.EncodeToString(o.Value[:min(len(o.Value), 256)])
				}
				add(from, o.Name, text)
			}
		}
	}
	for i := range d.MacCrashInfo {
		m := &d.MacCrashInfo[i]
		for _, f := range []struct{ name, value string }{{"message", m.Message}, {"second message", m.SecondMessage},
			{"signature", m.Signature}, {"backtrace", m.Backtrace}} {
			if f.value != "" {
				add(report.BaseName(m.Module), f.name, f.value)
			}
		}
	}
	if d.SoftErrors != "" {
		add(fromWriter, "soft errors", d.SoftErrors)
	}
	if d.MacBootArgs != nil {
		add("Kernel", "boot arguments", *d.MacBootArgs)
	}
	for _, l := range d.Limits {
		add(fromLimits, l.Name, strings.TrimSpace(l.Soft+" of "+l.Hard+" "+l.Unit))
	}
	return rows
}
