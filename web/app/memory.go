package app

import (
	"slices"
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Memory is a part of the tab Memory: all memory that the dump and the added programs have, in rows of
// words, bytes or text. Its id is the form of its rows.
type Memory struct {
	pane
	rows.MemoryPage
	list   table.List
	sought sought
	seek   bool // scroll to the selected row when it is known
}

// sought is what a list was scrolled to: an address, or without one a frame's stack pointer.
type sought struct {
	known         bool
	dump          string
	at            uint64
	thread, frame int
}

// MemoryPlaces is what the forms of memory share.
type MemoryPlaces struct {
	back, forward []uint64 // addresses that were selected before, and after the present one
	form          string   // the part that shows an address; "" for the usual
	texts         bool     // texts are shown
}

func newMemory(t pane) Tab {
	z := &Memory{pane: t}
	z.list = table.List{ID: "memory", Visible: protocol.Span{Count: 16}, More: 16, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	return z
}

// Want implements Zone.
func (z *Memory) Want(q *protocol.Query) {
	s := &z.page.State
	now := sought{known: true, dump: s.DumpName, at: s.At}
	if s.At == 0 {
		now.thread, now.frame = s.Thread, s.Frame
	}
	z.seek = z.seek || now != z.sought
	z.sought = now
	q.Memory.Rows = &protocol.MemoryRows{Address: s.At, Form: z.id, Span: z.list.Span(), Around: z.seek, Texts: z.places().texts}
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
func (z *Memory) Disabled() bool {
	return z.page.Summary != nil && !slices.Contains(z.page.Panel.have, "memory")
}

// List is for Tab.
func (z *Memory) List() *table.List { return &z.list }

func (z *Memory) places() *MemoryPlaces { return &z.page.Panel.Memory }

func (z *Memory) opened() {
	z.sought = sought{}
	z.places().form = z.id
}

// showsAddress reports whether a part of the panel shows the selected address.
func showsAddress(part string) bool {
	return part == rows.MemoryWords || part == rows.MemoryBytes || part == rows.MemoryText
}

func (z *Memory) forget() {
	z.MemoryPage, z.list.Visible, z.sought = rows.MemoryPage{}, protocol.Span{Count: 16}, sought{}
	z.page.Panel.Memory = MemoryPlaces{}
}

// threadSelected is for Tab: without an address the memory of another stack is shown.
func (z *Memory) threadSelected() {}

func (z *Memory) hidePrivate() { z.places().texts = false }

func (z *Memory) actions() []action {
	if z.id != rows.MemoryWords { // the other forms share them
		return nil
	}
	return []action{
		{id: "memory-back", do: func(p *Page, _ string) { p.Panel.Memory.step(p, -1) }},
		{id: "memory-forward", do: func(p *Page, _ string) { p.Panel.Memory.step(p, 1) }},
		{id: "memory-texts", limit: shows, do: func(p *Page, _ string) {
			p.Panel.Memory.texts = !p.Panel.Memory.texts
			p.Panel.ask()
		}},
	}
}

// visit records that another address is selected.
func (z *MemoryPlaces) visit(from, to uint64) {
	if from != to {
		z.back, z.forward = append(z.back, from), nil
	}
}

// step goes back to the address that was selected before, or forward again.
func (z *MemoryPlaces) step(p *Page, by int) {
	from, to := &z.back, &z.forward
	if by > 0 {
		from, to = to, from
	}
	if n := len(*from); n > 0 {
		*to = append(*to, p.State.At)
		p.State.At, *from = (*from)[n-1], (*from)[:n-1]
		p.Address.write()
		p.Panel.ask()
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

// Finder is the part of the tab Memory that searches it.
type Finder struct {
	pane
	rows.HitPage
	list     table.List
	table    table.Table
	kind     string
	text     string
	call     int    // the number of the pending request; 0 for none
	kindOf   string // of the last search
	done     protocol.MemoryFound
	searched bool
	problem  string
}

func newFinder(t pane) Tab {
	z := &Finder{pane: t, kind: protocol.FindText}
	z.list = table.List{ID: "hits", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = table.Table{List: &z.list, Label: "Found in memory", Class: "table hits"}
	return z
}

// hitHeads are the columns of what was found.
var hitHeads = []rows.Head{{Title: "Address", Class: "code", Width: "176px", Narrow: "164px"}, {Title: "Found", Class: "code", Width: "minmax(0, 1fr)"}, {Title: "In", Class: "code", Width: "minmax(0, 2fr)", Narrow: "-"}}

// Compute implements vugu's callback before each drawing.
func (z *Finder) Compute() {
	z.table.SetHeads(hitHeads)
	z.table.Rows = z.table.Rows[:0]
	for _, r := range z.Rows {
		if r.Region != "" {
			z.table.Rows = append(z.table.Rows, table.Row{Class: "row region", Cells: []table.Cell{{Class: "cell", Text: r.Region, Tip: words.Hint(r.Region, "")}}})
			continue
		}
		z.table.Rows = append(z.table.Rows, table.Row{Class: "row", Cells: []table.Cell{
			{Class: "cell code", Parts: []table.Part{table.Address(r.Address, r.Points)}},
			{Class: "cell code", Text: r.As, Tip: words.Hint(r.As, "")},
			{Class: "cell code" + hitHeads[2].Hidden(), Text: r.Points, Tip: words.Hint(r.Points, "")}}})
	}
}

// Want implements Zone.
func (z *Finder) Want(q *protocol.Query) {
	w := z.list.Span()
	q.Memory.Hits = &w
}

// Apply implements Zone.
func (z *Finder) Apply(r *protocol.QueryResult) {
	if r.Memory.Hits != nil {
		z.HitPage = *r.Memory.Hits
	}
}

// Hidden implements Zone.
func (z *Finder) Hidden() bool { return !z.open() }

// Disabled is for Tab.
func (z *Finder) Disabled() bool {
	return z.page.Summary != nil && !slices.Contains(z.page.Panel.have, "memory")
}

// List is for Tab.
func (z *Finder) List() *table.List { return &z.list }

func (z *Finder) actions() []action {
	return []action{
		{id: "find-memory", do: func(*Page, string) { z.begin(z.kind) }},
		{id: "stop-finding", do: func(*Page, string) { z.stop() }},
		{id: "stack-texts", limit: shows, do: func(*Page, string) { z.begin(protocol.FindStackTexts) }},
	}
}

// kinds are the choices of what is searched.
func (z *Finder) kinds() []findKind {
	if z.page.HostPage.Limits.Redact {
		z.kind = protocol.FindPointers
		return allKinds[2:]
	}
	return allKinds
}

type findKind struct{ ID, Title, Example string }

var allKinds = []findKind{
	{protocol.FindText, "Text (UTF-8 and UTF-16)", "a text, as it is written"},
	{protocol.FindBytes, "Bytes", "7f 45 4c 46"},
	{protocol.FindPointers, "Pointers to an address", "0x7ffe1000"},
}

func (z *Finder) example() string {
	for _, k := range allKinds {
		if k.ID == z.kind {
			return k.Example
		}
	}
	return ""
}

// begin begins a search, and drops the one before.
func (z *Finder) begin(kind string) {
	z.done, z.problem, z.searched, z.HitPage, z.list.Visible.From = protocol.MemoryFound{}, "", true, rows.HitPage{}, 0
	z.kindOf = kind
	z.next(&protocol.FindMemory{Dump: z.page.Dumps.Open, Thread: z.page.State.Thread, Kind: kind, Text: z.text})
}

func (z *Finder) next(q *protocol.FindMemory) { z.call = z.page.send(q, nil) }

func (z *Finder) stop() { z.call = 0 }

// found takes a step of the search, and asks for the next.
func (z *Finder) found(id int, r *protocol.MemoryFound, problem string) {
	if id != z.call {
		return
	}
	more := r.Rows > z.done.Rows
	z.done, z.problem = *r, problem
	if r.Ended {
		z.call = 0
		z.page.Host.Announce(z.status())
	} else {
		z.next(&protocol.FindMemory{Dump: z.page.Dumps.Open, Kind: z.kindOf, Next: true})
	}
	if more || r.Ended {
		z.page.Screen.ask(z)
	}
}

// percent is how far the search is.
func (z *Finder) percent() string {
	if z.done.Total == 0 {
		return "0"
	}
	return strconv.FormatInt(z.done.Done*100/z.done.Total, 10)
}

// status says how far the search is, and what it found.
func (z *Finder) status() string {
	switch n := z.done.Hits; {
	case !z.searched:
		return ""
	case z.problem != "":
		return z.problem
	case z.call != 0:
		return rows.Number(n) + " found so far · " + rows.Size(z.done.Done) + " of " + rows.Size(z.done.Total)
	case !z.done.Ended:
		return rows.Number(n) + " found until it was stopped, at " + rows.Size(z.done.Done) + " of " + rows.Size(z.done.Total)
	case z.kindOf == protocol.FindStackTexts:
		return rows.Number(n) + " texts in the stack of thread " + strconv.Itoa(z.page.State.Thread) + " and where it points to"
	case n == 0:
		return "Not found in " + rows.Size(z.done.Total)
	case z.done.More:
		return "The first " + rows.Number(n) + " are listed"
	default:
		return rows.Number(n) + " found in " + rows.Size(z.done.Total)
	}
}

func (z *Finder) forget() {
	z.HitPage, z.done, z.problem, z.call, z.searched, z.list.Visible = rows.HitPage{}, protocol.MemoryFound{}, "", 0, false, protocol.Span{Count: 8}
}

// hidePrivate drops what was found: it may be texts.
func (z *Finder) hidePrivate() { z.forget() }
