package app

import (
	"slices"

	"github.com/vugu/vugu"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Tab is a zone of the lower panel: what it queries (Want), how it applies a result (Apply), and
// its component (Build), whose template draws its rows. A new tab is a type that embeds pane, in
// NAME.go with its template in NAME.vugu, and a row of Tabs. These methods are optional:
//
//	Count() (n int, alert bool)   the number beside the title, 0 for none, and whether it needs attention
//	Disabled() bool               the dump has no data for the tab
//	List() *List                  the window of rows; without it all rows are drawn
//	actions() []action            the actions of its elements
//	forget()                      clears its state when another dump is opened
//	threadSelected()              clears what belongs to the thread that was selected before
//	hidePrivate()                 hides private data that the user has revealed
//	goTo(row int)                 shows a row, for the search
//	key(by int)                   moves its selection
//	beside() (Zone, *List)        a second zone beside it
type Tab interface {
	Zone
	vugu.Builder
}

// Tabs are the tabs of the lower panel, in their order.
var Tabs = []TabRow{
	{"modules", "Modules", "1", newModules},
	{"wanted", "Missing symbols", "2", newMissing},
	{"findings", "Findings", "3", newFindings},
	{"compare", "Compare", "4", newCompare},
	{"files", "Files", "5", newFiles},
	{"system", "System", "6", newSystem},
	{"memory", "Memory map", "7", newGrid},
	{"streams", "Streams", "8", newStreams},
	{"handles", "Handles", "9", newGrid},
	{"annotations", "Annotations", "0", newGrid},
	{"log", "Log", "-", newLog},
}

// TabRow is a row of Tabs. Key opens the tab.
type TabRow struct {
	ID, Title, Key string
	make           func(pane) Tab
}

// pane has what all tabs have in common.
type pane struct {
	page *Page
	id   string
}

func (t *pane) open() bool { return t.page.Panel.shows(t.id) }

// Panel is the lower part of the page, with its tabs.
type Panel struct {
	page  *Page
	tabs  []Tab    // of the rows of Tabs
	zones []Zone   // the tabs, and the zones beside them
	have  []string // ids of the tabs for which the dump has data
	// Listed is set when the first lists have arrived. Before that, an empty list does not say that
	// there is nothing.
	Listed bool

	// Tabs that other zones call.
	Modules *Modules
	Missing *Missing
	Files   *Files
	Sources *Sources
}

// init makes the tabs of the table, and registers their zones and lists.
func (z *Panel) init(p *Page) {
	z.page = p
	for _, row := range Tabs {
		t := row.make(pane{p, row.ID})
		z.tabs = append(z.tabs, t)
		switch t := t.(type) {
		case *Modules:
			z.Modules = t
		case *Missing:
			z.Missing, z.Sources = t, t.Sources
		case *Files:
			z.Files = t
		}
		z.add(t, listOf(t))
		if t, ok := t.(interface{ beside() (Zone, *List) }); ok {
			z.add(t.beside())
		}
	}
}

// listOf returns the list of a tab, or nil.
func listOf(t Tab) *List {
	if t, ok := t.(interface{ List() *List }); ok {
		return t.List()
	}
	return nil
}

// add registers a zone and its list; either may be nil.
func (z *Panel) add(zone Zone, list *List) {
	if zone == nil {
		return
	}
	z.zones = append(z.zones, zone)
	if list == nil {
		z.page.Screen.add(zone)
		return
	}
	z.page.Screen.add(zone, list)
}

// Want implements Zone. Which tabs have data comes with the summary.
func (z *Panel) Want(*protocol.Query) {}

// Apply implements Zone.
func (z *Panel) Apply(r *protocol.QueryResult) {
	z.Listed = z.Listed || r.Modules != nil
	if r.Summary != nil {
		z.have = r.Have
		if z.disabled(z.page.State.Tab) {
			z.page.State.Tab = Tabs[0].ID
		}
	}
}

// Hidden implements Zone. The panel itself has nothing to query.
func (z *Panel) Hidden() bool { return true }

// empty clears the lists that are queried with the first screen.
func (z *Panel) empty() {
	z.Listed = false
	z.Modules.ModulePage, z.Missing.MissingPage, z.Files.FilePage = rows.ModulePage{}, rows.MissingPage{}, protocol.FilePage{}
}

// tab returns the tab with an id, or nil.
func (z *Panel) tab(id string) Tab {
	if i := slices.IndexFunc(Tabs, func(t TabRow) bool { return t.ID == id }); i >= 0 {
		return z.tabs[i]
	}
	return nil
}

func (z *Panel) disabled(id string) bool {
	t := z.tab(id)
	d, ok := t.(interface{ Disabled() bool })
	return t == nil || ok && d.Disabled()
}

// show opens a tab. With toggle, a tab that is already open folds the panel.
func (z *Panel) show(id string, toggle bool) {
	if z.disabled(id) {
		return
	}
	s, was := &z.page.State, z.shows(id)
	s.Closed = toggle && !z.folded() && s.Tab == id
	s.Opened = !s.Closed
	s.Tab = id
	if l := listOf(z.tab(id)); l != nil && !was {
		l.visible.From = 0 // its element is a new one
	}
	z.page.Address.write()
	z.ask()
}

// ask queries the open tab, and those whose data other zones show.
func (z *Panel) ask() { z.page.Screen.ask(z.zones...) }

// actions returns the actions of all tabs.
func (z *Panel) actions() (all []action) {
	for _, t := range z.tabs {
		if t, ok := t.(interface{ actions() []action }); ok {
			all = append(all, t.actions()...)
		}
	}
	return all
}

// threadSelected notifies the tabs that another thread is selected.
func (z *Panel) threadSelected() {
	for _, t := range z.tabs {
		if o, ok := t.(interface{ threadSelected() }); ok {
			o.threadSelected()
			z.page.Screen.ask(t)
		}
	}
}

// goTo shows a row of a tab.
func (z *Panel) goTo(id string, row int) {
	t := z.tab(id)
	if g, ok := t.(interface{ goTo(row int) }); ok {
		g.goTo(row)
		return
	}
	z.show(id, false)
	if g, ok := t.(*Grid); ok {
		g.goTo = row + 1
	}
	if l := listOf(t); l != nil {
		l.around(row)
		z.page.Host.Reveal(l.id, row)
		z.page.Screen.ask(t)
	}
}

// Changed asks for the open tab after the window has become lower or higher.
func (z *Panel) Changed() { z.ask() }

// folded reports whether the panel is only its line of tabs: the user has folded it, or the window is
// low, and neither the user nor the address has asked for a tab, or for a height of the panel.
func (z *Panel) folded() bool {
	s := &z.page.State
	return s.Closed || !s.Opened && s.Tab == Tabs[0].ID && z.page.Layout.Split.Panel == 0 && z.page.Host.Low()
}

func (z *Panel) class() string {
	if z.folded() {
		return "panel folded"
	}
	return "panel"
}

func (z *Panel) foldText() string {
	if z.folded() {
		return "Unfold"
	}
	return "Fold"
}

func (z *Panel) shows(tab string) bool {
	return z.page.Summary != nil && !z.folded() && z.page.State.Tab == tab
}

// countOf returns the number beside a tab's title.
func (z *Panel) countOf(id string) (n int, alert bool) {
	if t, ok := z.tab(id).(interface{ Count() (int, bool) }); ok && z.page.Summary != nil {
		return t.Count()
	}
	return 0, false
}

func (z *Panel) count(id string) string {
	n, _ := z.countOf(id)
	return rows.Some(n)
}

func (z *Panel) countClass(id string) string {
	if _, alert := z.countOf(id); alert {
		return "tab-count warn"
	}
	return "tab-count"
}
