package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// DumpTable shows all dumps, and the groups of those with one signature. A dump opens from it, and Back
// returns to it as it was.
type DumpTable struct {
	page *Page
	protocol.DumpTablePage
	Selected int    // dump, or -1
	filter   string // see protocol.DumpTableQuery
	grouped  bool
	group    string
	Dumps    tableList
	Groups   tableList
}

// tableList is a table whose rows are sorted.
type tableList struct {
	list  table.List
	table table.Table
	table.Order
}

func (z *DumpTable) init(p *Page) {
	z.page, z.Selected = p, -1
	z.Dumps.list = table.List{ID: "dump-table", Visible: protocol.Span{Count: 20}, More: table.Overscan, Here: func() (rows.Page, int) { return z.DumpTablePage.Dumps.Page, len(z.DumpTablePage.Dumps.Rows) }}
	z.Groups.list = table.List{ID: "dump-groups", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.DumpTablePage.Groups.Page, len(z.DumpTablePage.Groups.Rows) }}
	z.Dumps.table = table.Table{List: &z.Dumps.list, Label: "Dumps", Class: "table dumps-table", Enter: "open-dump"}
	z.Groups.table = table.Table{List: &z.Groups.list, Label: "Groups of dumps with one signature", Class: "table dumps-groups", Enter: "dump-group"}
	p.Screen.Add(z, &z.Dumps.list, &z.Groups.list)
}

// Open reports whether the page shows the table.
func (z *DumpTable) Open() bool { return z.page.State.Table && len(z.page.Dumps.List) > 1 }

// show shows the table, as it was when it was left.
func (z *DumpTable) show() {
	z.page.State.Table = true
	z.page.Address.write()
	z.shown()
}

// shown queries the table, and scrolls its new lists to where they were.
func (z *DumpTable) shown() {
	h := z.page.Host
	for _, l := range []*table.List{&z.Dumps.list, &z.Groups.list} {
		h.Shift(l.ID, l.Visible.From)
	}
	h.Focus("dump-table")
	h.SetTitle(z.page.Menu.documentTitle())
	z.page.Screen.Ask(z, z.page.Panel.Files)
}

// forget clears it when there are no dumps any more.
func (z *DumpTable) forget() {
	z.page.State.Table = false
	z.DumpTablePage, z.Selected, z.filter, z.grouped, z.group = protocol.DumpTablePage{}, -1, "", false, ""
	z.Dumps.Order, z.Groups.Order = table.Order{}, table.Order{}
}

// query is the query of the table without windows.
func (z *DumpTable) query() protocol.DumpTableQuery {
	return protocol.DumpTableQuery{SortDumps: z.Dumps.By, SortGroups: z.Groups.By, Filter: z.filter, Grouped: z.grouped, Group: z.group, Selected: z.Selected}
}

// Want implements Zone.
func (z *DumpTable) Want(q *protocol.Query) {
	t := z.query()
	t.Dumps, t.Groups = z.Dumps.list.Span(), z.Groups.list.Span()
	q.Overview.Dumps = &t
}

// Apply implements Zone.
func (z *DumpTable) Apply(r *protocol.QueryResult) {
	if r.Overview.Dumps == nil {
		return
	}
	z.DumpTablePage = *r.Overview.Dumps
	z.page.Host.SetTitle(z.page.Menu.documentTitle())
}

// described notes that further dumps are described. The result of the query draws them.
func (z *DumpTable) described(*protocol.Described) (draw bool) {
	if z.Open() {
		z.page.Screen.Ask(z)
		if z.Known == z.All {
			z.page.Screen.Ask(z.page.Panel.Files) // which files no dump uses is known by now
		}
	}
	return false
}

// change changes what is selected, and queries it from the first row on.
func (z *DumpTable) change(list *tableList, do func()) {
	do()
	list.list.Visible.From = 0
	z.page.Host.Reveal(list.list.ID, 0)
	z.page.Screen.Ask(z)
}

// search selects the dumps that have the words of a text.
func (z *DumpTable) search(text string) {
	z.Groups.list.Visible.From = 0
	z.page.Host.Reveal(z.Groups.list.ID, 0)
	z.change(&z.Dumps, func() { z.filter = text })
}

// choose selects a group by the number of its row, or all dumps if that is selected. Without a number it is the row that
// Enter is for.
func (z *DumpTable) choose(arg string) {
	page := &z.DumpTablePage.Groups
	row, err := strconv.Atoi(arg)
	if err != nil {
		row = max(page.Selected, 0)
	}
	i := row - page.From
	z.change(&z.Dumps, func() {
		if i < 0 || i >= len(page.Rows) || z.grouped && page.Rows[i].Signature == z.group {
			z.grouped, z.group = false, ""
			return
		}
		z.grouped, z.group = true, page.Rows[i].Signature
	})
}

// open opens a dump, or the selected one.
func (z *DumpTable) open(arg string) {
	if n, err := strconv.Atoi(arg); err == nil {
		z.Selected = n
	} else if page := &z.DumpTablePage.Dumps; z.Selected < 0 && len(page.Rows) > 0 {
		z.Selected = page.Rows[max(0, min(z.Dumps.list.Visible.From-page.From, len(page.Rows)-1))].Dump
	}
	if z.Selected >= 0 {
		z.page.Menu.show(z.Selected, false)
	}
}

// escape clears the filter, or shows the dumps of all groups. It reports whether there was anything.
func (z *DumpTable) escape() bool {
	switch {
	case z.filter != "":
		z.search("")
	case z.grouped:
		z.choose("-1")
	default:
		return false
	}
	z.page.Host.Focus("dump-table")
	return true
}

// key moves the selection of one of the lists, and reports whether the list is one of them.
func (z *DumpTable) key(list, key string) bool {
	switch list {
	case z.Dumps.list.ID:
		page := &z.DumpTablePage.Dumps
		row := z.Dumps.list.Step(key, page.Selected, page.Total)
		if i := row - page.From; i >= 0 && i < len(page.Rows) {
			d := &page.Rows[i]
			z.Selected, page.Selected = d.Dump, row
			z.page.Host.Reveal(list, row)
			z.page.Host.Announce(strings.Join([]string{d.Time, d.SignatureText(), d.Reason, d.Process, d.Name}, ", "))
		} else { // the row is not here yet
			z.Dumps.list.Around(row)
			z.page.Host.Reveal(list, row)
			z.page.Screen.Ask(z)
		}
	case z.Groups.list.ID:
		page := &z.DumpTablePage.Groups
		row := z.Groups.list.Step(key, page.Selected, page.Total)
		if i := row - page.From; i >= 0 && i < len(page.Rows) && !(z.grouped && page.Rows[i].Signature == z.group) {
			z.page.Host.Reveal(list, row)
			z.page.Host.Announce(fmt.Sprintf("%s, %s", page.Rows[i].Title(), words.Count(page.Rows[i].Dumps, "dump")))
			page.Selected = row
			z.choose(strconv.Itoa(row))
		}
	default:
		return false
	}
	return true
}

// export copies or downloads the dumps that are shown: arg is "copy.csv".
func (z *DumpTable) export(arg string) {
	how, id, _ := strings.Cut(arg, ".")
	for _, kind := range protocol.DumpExports {
		if kind.ID != id || z.page.Reading.stopped {
			continue
		}
		var parts []string
		z.exportPart(&protocol.ExportDumps{Kind: id, Table: z.query()}, func(r *protocol.Exported, problem string) {
			parts = append(parts, r.Text)
			switch {
			case problem != "":
				z.page.Notices.Show("error", problem)
			case r.Next != 0:
			case how == "download":
				z.page.Host.Download(r.FileName, kind.MIME, parts...)
			default:
				z.page.Notices.Copy(strings.Join(parts, ""), kind.Copied)
			}
		})
	}
}

// exportPart requests a part of an export, and after it the next.
func (z *DumpTable) exportPart(req *protocol.ExportDumps, do export) {
	exports := &z.page.Work.Exports
	exports.waiting[z.page.send(req, nil)] = func(r *protocol.Exported, problem string) {
		if do(r, problem); problem == "" && r.Next != 0 {
			next := *req
			next.From = r.Next
			z.exportPart(&next, do)
		}
	}
}

// Compute implements vugu's callback before each drawing.
func (z *DumpTable) Compute() {
	table.Fill(&z.Dumps.table, pointers(z.DumpTablePage.Dumps.Rows), rows.DumpColumns, func(d *rows.DumpRow, to *table.Row) {
		to.Class, to.Act, to.Arg = selectedClass(d.Dump == z.Selected), "open-dump", d.Dump
	})
	z.Dumps.Heads(&z.Dumps.table, "sort-dumps")
	from := z.DumpTablePage.Groups.From
	bars := table.ColumnOf(rows.DumpGroupColumns, "days")
	i := -1
	table.Fill(&z.Groups.table, pointers(z.DumpTablePage.Groups.Rows), rows.DumpGroupColumns, func(g *rows.DumpGroupRow, to *table.Row) {
		i++
		to.Class, to.Act, to.Arg = selectedClass(z.grouped && g.Signature == z.group), "dump-group", from+i
		to.Cells[bars].Parts = []table.Part{{Kind: "bars", Text: to.Cells[bars].Text, Style: barsStyle(g.Days)}}
	})
	z.Groups.Heads(&z.Groups.table, "sort-groups")
	// The bars of a row have no order of their own.
	if head := &z.Groups.table.Heads[bars]; len(head.Parts) > 0 {
		head.Parts, head.Sort = nil, nil
	}
	z.Dumps.table.Empty, z.Groups.table.Empty = "", ""
	if z.DumpTablePage.Dumps.Total == 0 && z.All > 0 {
		z.Dumps.table.Empty = "No dump has all of these words."
	}
	if z.DumpTablePage.Groups.Total == 0 && z.All > 0 {
		z.Groups.table.Empty = "The dumps are being read."
		if z.Known == z.All {
			z.Groups.table.Empty = "No group."
		}
	}
}

// pointers returns pointers to the rows of a page. The program has the code of tables of pointers once.
func pointers[R any](list []R) (out []*R) {
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

func selectedClass(selected bool) string {
	if selected {
		return "row choice-row selected"
	}
	return "row choice-row"
}

// barsStyle cuts the bars of a chart out of an element. All numbers are of this program.
func barsStyle(bars []rows.Bar) string {
	most := 0
	for _, b := range bars {
		most = max(most, b.Dumps)
	}
	if most == 0 {
		return "clip-path:polygon(0 0,0 0,0 0)"
	}
	var s strings.Builder
	s.WriteString("clip-path:polygon(0 100%")
	// A bar is at least a tenth as high as the highest, so that a single dump can be seen.
	for i, b := range bars {
		left, right := float64(i)*100/float64(len(bars)), (float64(i)+0.8)*100/float64(len(bars))
		top := 100.0
		if b.Dumps > 0 {
			top = 90 - 90*float64(b.Dumps)/float64(most)
		}
		fmt.Fprintf(&s, ",%.2f%% 100%%,%.2f%% %.1f%%,%.2f%% %.1f%%,%.2f%% 100%%", left, left, top, right, top, right)
	}
	s.WriteString(")")
	return s.String()
}

// title is the heading.
func (z *DumpTable) title() string {
	n := max(z.All, len(z.page.Dumps.List))
	if shown := z.DumpTablePage.Dumps.Total; shown != n && z.All > 0 {
		return rows.Number(shown) + " of " + words.Count(n, "dump")
	}
	return words.Count(n, "dump")
}

// note says how many groups there are, and how far the dumps are read.
func (z *DumpTable) note() string {
	groups := words.Count(z.DumpTablePage.Groups.Total, "group")
	if z.Known < z.All {
		return groups + " · walked " + rows.Number(z.Known) + " of " + rows.Number(z.All)
	}
	return groups
}

// groupText is the text of the button that shows the dumps of all groups again.
func (z *DumpTable) groupText() string {
	if !z.grouped {
		return ""
	}
	return (&rows.DumpGroupRow{Signature: z.group}).Title()
}

// chartText says what the chart shows.
func (z *DumpTable) chartText() string { return rows.DaysText(z.Days, z.DaysEach) }

// firstDay and lastDay are the ends of the chart.
func (z *DumpTable) firstDay() string {
	if len(z.Days) == 0 {
		return ""
	}
	return z.Days[0].Day
}

func (z *DumpTable) lastDay() string {
	if len(z.Days) < 2 {
		return ""
	}
	return z.Days[len(z.Days)-1].Day
}
