package app

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Outline shows what a symbol file, a program or its debug information says about the code: functions, source
// files, lines, and what is at an address. It is a part of the tab Modules, and without a dump a page of its
// own (alone).
type Outline struct {
	page *Page
	id   string
	rows.OutlinePage
	Alone bool // it is shown without a dump
	// file is the item, or -1 for that of a module.
	file, module int
	text         string // in the field
	sources      bool   // source files are listed
	listed       bool   // the list is queried too: it takes longer than the rest
	stopped      bool
	place        bool // at is shown
	at           uint64
	seek, around bool // scroll the list, the lines, to at when its row is known
	restored     bool // the address's state was applied
	list, lines  table.List
	table, rows  table.Table
}

func newOutline(_ *zone.Shared, id string) zone.Tab {
	z := &Outline{id: id, file: -1, module: -1}
	z.list = table.List{ID: "outline", Visible: protocol.Span{Count: 24}, More: 2 * table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.lines = table.List{ID: "outline-lines", Visible: protocol.Span{Count: 16}, More: 2 * table.Overscan, Here: func() (rows.Page, int) {
		if z.Place == nil {
			return rows.Page{}, 0
		}
		return z.Place.Page, len(z.Place.Lines)
	}}
	z.table = table.Table{List: &z.list, Label: "Outline", Class: "table outline-table"}
	z.rows = table.Table{List: &z.lines, Label: "Lines of the function", Class: "table outline-lines"}
	return z
}

// Compute implements vugu's callback before each drawing.
func (z *Outline) Compute() {
	columns := rows.OutlineColumns
	switch z.Kind {
	case "files":
		columns = rows.OutlineFileColumns
	case "lines":
		columns = rows.OutlineLineColumns
	}
	z.table.Empty = z.Empty
	selected := z.Selected - z.From
	table.Fill(&z.table, z.Rows, columns, func(r rows.OutlineRow, to *table.Row) {
		to.Class = "row choice-row"
		if selected == 0 {
			to.Class += " selected"
		}
		selected--
		if to.Act, to.Arg = "outline-at", r.Address; r.Address == "" {
			to.Act, to.Arg = "outline-source", r.Full
		}
	})
	z.rows.Rows = z.rows.Rows[:0]
	if z.Place == nil {
		return
	}
	row := z.Place.From
	table.Fill(&z.rows, z.Place.Lines, rows.OutlineLineRows, func(l rows.OutlineRow, to *table.Row) {
		if row == z.Place.At {
			to.Class += " selected"
		}
		row++
		to.Cells[0].Parts = []table.Part{{Kind: "button", Class: "address", Text: l.Address, Act: "outline-at", Arg: l.Address, Tip: "Show what is at this address"}}
	})
}

// outlineLines is the second list of the zone.
type outlineLines struct{ *Outline }

// Apply implements Zone: the Outline has the result.
func (outlineLines) Apply(*protocol.QueryResult) {}

func (z *Outline) Beside() (zone.Zone, *table.List) { return outlineLines{z}, &z.lines }

// Hidden implements Zone.
func (z *Outline) Hidden() bool { return !z.page.ShowsPart(z.id) && !z.alone() }

// alone reports whether it is shown without a dump.
func (z *Outline) alone() bool { return z.Alone && z.page.Empty() }

// List is for Tab.
func (z *Outline) List() *table.List { return &z.list }

// Want implements Zone.
func (z *Outline) Want(q *protocol.Query) {
	z.restore()
	q.Overview.Outline = &protocol.OutlineQuery{Item: outlineItem(z), Module: z.module, List: z.listed, Files: z.sources, Text: z.filter(), Span: z.list.Span(),
		Place: z.place, Around: z.around, At: z.at, Lines: z.lines.Span()}
}

// outlineItem is the file of an outline, -1 for that of a module: the first one before the user has chosen.
func outlineItem(z *Outline) int {
	if files := z.files(); z.file < 0 && z.module < 0 && len(files) > 0 {
		return files[0].Item
	}
	return z.file
}

// filter is the text that the list is of: an address is none.
func (z *Outline) filter() string {
	if _, ok := z.address(); ok {
		return ""
	}
	return z.text
}

// address is the address that the text is, if it is one.
func (z *Outline) address() (uint64, bool) {
	text := strings.ToLower(strings.TrimSpace(z.text))
	if !strings.HasPrefix(text, "0x") {
		return 0, false
	}
	return words.ParseAddress(text)
}

// Apply implements Zone. While the list is not complete, the next query reads on.
func (z *Outline) Apply(r *protocol.QueryResult) {
	if r.Overview.Outline == nil || r.Overview.Outline.Listed && r.Overview.Outline.Text != z.filter() {
		return
	}
	was := z.OutlinePage
	z.OutlinePage = *r.Overview.Outline
	z.file = z.Item
	if !z.Listed {
		z.Page, z.Rows, z.Kind = was.Page, was.Rows, was.Kind
		if z.Item >= 0 && z.Status == "" {
			z.Status = "Reading " + z.Name + " …"
		}
	}
	if z.Place != nil && z.around && z.listed {
		z.around = false
		z.lines.Around(max(0, z.Place.At))
		z.page.Host.Reveal("outline-lines", max(0, z.Place.At))
	}
	if z.seek && z.Selected >= 0 {
		z.seek = false
		if at := z.Selected - z.list.Visible.From; at < 0 || at >= z.list.Visible.Count {
			z.list.Around(z.Selected)
			z.page.Host.Reveal("outline", z.Selected)
			z.page.Screen.Ask(z)
		}
	}
	for _, f := range z.files() {
		if s := &z.page.State; f.Item == z.Item && s.Outline != f.Name {
			s.Outline = f.Name
			z.page.Address.write()
		}
	}
	if z.Item >= 0 && !z.stopped && (!z.listed || !z.Ended) {
		z.listed = true
		z.page.Screen.Ask(z)
	}
}

// files are those that have an outline.
func (z *Outline) files() []protocol.Choice { return z.page.Panel.Files.Symbols }

// show opens the outline of a file, or without a file that of a module.
func (z *Outline) show(item, module int) {
	z.take(item, module)
	if z.page.Empty() {
		z.Alone = true
		z.page.Notices.Withdraw("outline")
		z.page.Screen.Ask(z)
		z.page.Host.Focus("outline-field")
		return
	}
	z.page.Panel.show(z.id, false)
	z.page.Screen.Ask(z)
}

// take begins the outline of a file, or of a module, unless it is that already.
func (z *Outline) take(item, module int) {
	if item != z.file || item < 0 {
		z.OutlinePage, z.place, z.text, z.sources, z.listed = rows.OutlinePage{Item: -1, Selected: -1}, false, "", false, false
		z.list.Visible.From, z.lines.Visible.From = 0, 0
		z.page.State.OutlineState = state.OutlineState{}
	}
	z.file, z.module, z.stopped, z.restored = item, module, false, true
}

// close goes back to the start screen.
func (z *Outline) close() {
	z.take(-1, -1)
	z.Alone, z.page.State.At, z.page.Address.linked.Outline = false, 0, ""
	z.page.Address.write()
}

// typed lists what has a text, or goes to the address that it is.
func (z *Outline) typed(text string) {
	z.text, z.stopped = text, false
	if at, ok := z.address(); ok {
		z.goTo(at)
		return
	}
	if s := &z.page.State; len(text) <= state.MaxText && (s.Functions != text || s.SourceFiles != z.sources) {
		s.Functions, s.SourceFiles = text, z.sources
		z.page.Address.write()
	}
	z.list.Visible.From = 0
	z.page.Host.Reveal("outline", 0)
	z.page.Screen.Ask(z)
}

// restore applies the state of the page's address, once its file is there.
func (z *Outline) restore() {
	s := z.page.State
	i := slices.IndexFunc(z.files(), func(f protocol.Choice) bool { return f.Name == s.Outline })
	if z.restored || i < 0 {
		return
	}
	z.take(z.files()[i].Item, -1)
	z.page.State = s
	z.text, z.sources, z.at, z.place = s.Functions, s.SourceFiles, s.At, s.At != 0
	z.around, z.seek = z.place, z.place
}

// reopen is called when there are other files, or another address: it shows the outline that the address is about.
func (z *Outline) reopen() {
	if z.restored {
		return
	}
	switch z.restore(); {
	case z.restored:
		if z.Alone = len(z.page.Dumps.List) == 0; z.Alone {
			z.page.Notices.Withdraw("outline")
		}
		z.page.Screen.Ask(z, &z.page.Frame.Code)
	case len(z.page.Dumps.List) == 0:
		z.Forget()
	}
}

// goTo shows what is at an address.
func (z *Outline) goTo(at uint64) {
	z.at, z.place, z.around, z.seek, z.stopped = at, true, true, true, false
	if s := &z.page.State; s.At != at {
		if !z.page.Empty() {
			z.page.Memory.Visit(s.At, at)
		}
		s.At = at
		z.page.Address.write()
	}
	z.page.Screen.Ask(z, &z.page.Frame.Code)
}

// enter has the first row selected, and the list focused.
func (z *Outline) enter() {
	if _, ok := z.address(); !ok && z.Kind != "files" && len(z.Rows) > 0 {
		z.choose(0)
	}
	z.page.Host.Focus("outline")
}

// choose selects a row that the page has.
func (z *Outline) choose(i int) {
	if at, ok := words.ParseAddress(z.Rows[i].Address); ok {
		z.page.Host.Reveal("outline", z.From+i)
		z.goTo(at)
	}
}

// MoveSelection moves the selection.
func (z *Outline) MoveSelection(by int) {
	i := z.Selected - z.From + by
	if z.Selected < 0 {
		i = max(0, z.list.Visible.From-z.From)
	}
	if i >= 0 && i < len(z.Rows) {
		z.choose(i)
	}
}

// stop ends the making of a list, and reports whether there was one.
func (z *Outline) stop() bool {
	if z.Hidden() || !z.listed || z.Ended {
		return false
	}
	z.stopped = true
	z.Status = "Stopped. The list is not complete."
	return true
}

func (z *Outline) Forget() {
	s := z.page.State
	z.take(-1, -1)
	z.page.State, z.restored, z.Alone = s, false, false
}

// relist lists functions or source files, of a text.
func (z *Outline) relist(sources bool, text string) {
	z.sources = sources
	z.typed(text)
}

// outlineFacts are those of the place, or without one of the file.
func outlineFacts(z *Outline) []rows.Fact {
	if z.Place != nil {
		return z.Place.Facts
	}
	return z.Facts
}

func outlineTitle(z *Outline) string {
	if z.Place != nil {
		return z.Place.Full
	}
	if z.Name == "" { // none, or it is being opened
		return "No symbol file"
	}
	return z.Name
}

// outlineAddress is the address that is shown, or "".
func outlineAddress(z *Outline) string {
	if z.Place == nil {
		return ""
	}
	return z.Place.Address
}

// listsCode reports whether it lists the code at the address: with a dump the frame zone does.
func (z *Outline) listsCode() bool { return z.alone() && z.place && z.page.State.Side == "code" }

// listsLines reports whether an outline lists the lines of the function.
func listsLines(z *Outline) bool { return z.Place != nil && z.Place.Total > 0 && !z.listsCode() }

// codePressed is for aria-pressed of the button Code; nil leaves the attribute out.
func codePressed(z *Outline) any {
	if z.page.Empty() {
		return words.Bool(z.listsCode())
	}
	return nil
}

// outlineWarnings are the first, with the number of all.
func outlineWarnings(z *Outline) []string {
	list := z.Warnings
	if more := z.WarningCount - len(list); more > 0 {
		list = append(list[:len(list):len(list)], rows.Number(more)+" more")
	}
	return list
}

// offeredOutlines are the first files, for the start screen: the outline has the choice of all.
func offeredOutlines(z *Outline) []protocol.Choice { return z.files()[:min(len(z.files()), 6)] }
