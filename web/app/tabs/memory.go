package tabs

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Memory is a part of the tab Memory: all memory that the dump and the added programs have, in rows of
// words, bytes or text. Its id is the form of its rows.
type Memory struct {
	pane
	rows.MemoryPage
	list   table.List
	sought zone.Sought
	seek   bool // scroll to the selected row when it is known
}

// NewMemory makes the part with an id. The id is the form of its rows.
func NewMemory(s *zone.Shared, id string) zone.Tab {
	z := &Memory{pane: pane{s, id}}
	z.list = table.List{ID: "memory", Visible: protocol.Span{Count: 16}, More: 16, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	return z
}

// Want implements Zone.
func (z *Memory) Want(q *protocol.Query) {
	s := &z.page.State
	now := zone.Sought{Known: true, Dump: s.DumpName, At: s.At}
	if s.At == 0 {
		now.Thread, now.Frame = s.Thread, s.Frame
	}
	z.seek = z.seek || now != z.sought
	z.sought = now
	q.Memory.Rows = &protocol.MemoryRows{Address: s.At, Form: z.id, Span: z.list.Span(), Around: z.seek, Texts: z.places().Texts}
}

// Apply implements Zone.
func (z *Memory) Apply(r *protocol.QueryResult) {
	if r.Memory.Rows == nil || r.Memory.Rows.Form != z.id {
		return
	}
	z.MemoryPage = *r.Memory.Rows
	if z.seek {
		z.seek = false
		z.list.Around(z.Selected)
		for _, row := range []int{max(0, z.Selected-2), min(z.Selected+2, z.Total-1), z.Selected} { // with rows around it
			z.page.Host.Reveal("memory", row)
		}
	}
}

// Hidden implements Zone.
func (z *Memory) Hidden() bool { return !z.open() }

// Disabled is for Tab.
func (z *Memory) Disabled() bool { return z.lacks("memory") }

// List is for Tab.
func (z *Memory) List() *table.List { return &z.list }

func (z *Memory) places() *zone.Places { return &z.page.Memory }

func (z *Memory) Opened() {
	z.sought = zone.Sought{}
	z.places().Form = z.id
}

func (z *Memory) Forget() {
	z.MemoryPage, z.list.Visible, z.sought = rows.MemoryPage{}, protocol.Span{Count: 16}, zone.Sought{}
	z.page.Memory = zone.Places{}
}

// ThreadSelected is for Tab: without an address the memory of another stack is shown.
func (z *Memory) ThreadSelected() {}

func (z *Memory) HidePrivate() { z.places().Texts = false }

func (z *Memory) Actions() []zone.Action {
	if z.id != rows.MemoryWords { // the other forms share them
		return nil
	}
	return []zone.Action{
		{ID: "memory-back", Do: func(string) { z.step(-1) }},
		{ID: "memory-forward", Do: func(string) { z.step(1) }},
		{ID: "memory-texts", Limit: zone.ShowsPrivate, Do: func(string) {
			z.places().Texts = !z.places().Texts
			z.page.ShowPart(z.page.State.Tab)
		}},
	}
}

// step goes back to the address that was selected before, or forward again.
func (z *Memory) step(by int) {
	if s := &z.page.State; z.places().Step(&s.At, by) {
		z.page.ShowPart(z.page.State.Tab)
	}
}

// hexParts divides the bytes of a row into those before the selected one, it, and those after it.
func hexParts(r rows.MemoryRow) (parts [3]string) {
	if at := 3 * r.Byte; r.Selected && r.Byte >= 0 && at+2 <= len(r.Hex) {
		return [3]string{r.Hex[:at], r.Hex[at : at+2], r.Hex[at+2:]}
	}
	return [3]string{r.Hex, "", ""}
}

func memoryClass(r rows.MemoryRow) string {
	class := "mem-row"
	if r.Selected {
		class += " here"
	}
	if r.Gap != "" {
		class += " gap"
	}
	return class
}

// title says what the selected address is in.
func (z *Memory) title() string {
	s := z.Points
	if s == "" {
		s = "in nothing that is known"
	}
	if z.Absent {
		s += " · its bytes are not there"
	}
	return s
}

func (z *Memory) label() string {
	return map[string]string{rows.MemoryWords: "Memory as words", rows.MemoryBytes: "Memory as bytes", rows.MemoryText: "Memory as text"}[z.id]
}
