package tabs

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Finder is the part of the tab Memory that searches it.
type Finder struct {
	pane
	rows.HitPage
	list     table.List
	table    table.Table
	Kind     string
	Text     string
	call     int    // the number of the pending request; 0 for none
	kindOf   string // of the last search
	done     protocol.MemoryFound
	searched bool
	problem  string
}

// NewFinder makes the part with an id.
func NewFinder(s *zone.Shared, id string) zone.Tab {
	z := &Finder{pane: pane{s, id}, Kind: protocol.FindText}
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
func (z *Finder) Disabled() bool { return z.lacks("memory") }

// List is for Tab.
func (z *Finder) List() *table.List { return &z.list }

func (z *Finder) Actions() []zone.Action {
	return []zone.Action{
		{ID: "find-memory", Do: func(string) { z.begin(z.Kind) }},
		{ID: "stop-finding", Do: func(string) { z.stop() }},
		{ID: "stack-texts", Limit: zone.ShowsPrivate, Do: func(string) { z.begin(protocol.FindStackTexts) }},
	}
}

// kinds are the choices of what is searched.
func (z *Finder) kinds() []findKind {
	if z.page.Limits.Redact {
		z.Kind = protocol.FindPointers
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
		if k.ID == z.Kind {
			return k.Example
		}
	}
	return ""
}

// begin begins a search, and drops the one before.
func (z *Finder) begin(kind string) {
	z.done, z.problem, z.searched, z.HitPage, z.list.Visible.From = protocol.MemoryFound{}, "", true, rows.HitPage{}, 0
	z.kindOf = kind
	z.next(&protocol.FindMemory{Dump: z.page.Dumps.Open, Thread: z.page.State.Thread, Kind: kind, Text: z.Text})
}

func (z *Finder) next(q *protocol.FindMemory) { z.call = z.page.Send(q) }

func (z *Finder) stop() { z.call = 0 }

// Found takes a step of the search, and asks for the next.
func (z *Finder) Found(id int, r *protocol.MemoryFound, problem string) {
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
		z.page.Screen.Ask(z)
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

func (z *Finder) Forget() {
	z.HitPage, z.done, z.problem, z.call, z.searched, z.list.Visible = rows.HitPage{}, protocol.MemoryFound{}, "", 0, false, protocol.Span{Count: 8}
}

// HidePrivate drops what was found: it may be texts.
func (z *Finder) HidePrivate() { z.Forget() }
