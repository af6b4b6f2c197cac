package app

import (
	"slices"

	"github.com/vugu/vugu"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Tab is a zone of the lower panel: what it asks of the engine (Want), what it takes of an answer (Apply), and its component (Build), whose template
// writes its rows. A new tab is a type that embeds pane, in NAME.go with its template in NAME.vugu, and a row of Tabs. It may have more:
//
//	Count() (n int, alert bool)   the number beside the title, 0 for none, and whether it calls for attention
//	Disabled() bool               the dump has nothing for the tab
//	Empty() string                what stands in place of rows, "" if there are rows
//	List() *List                  the window of rows; without it all are drawn
//	actions() []action            what its elements do
type Tab interface {
	Zone
	vugu.Builder
}

// Tabs are the tabs of the lower panel, in their order.
var Tabs = []TabRow{
	{"modules", "Modules", newModules},
	{"wanted", "Missing symbols", newWanted},
	{"findings", "Findings", newFindings},
	{"compare", "Compare", newCompare},
	{"files", "Files", newFiles},
	{"system", "System", newSystem},
	{"memory", "Memory map", newGrid},
	{"streams", "Streams", newStreams},
	{"handles", "Handles", newGrid},
	{"annotations", "Annotations", newGrid},
	{"log", "Log", newLog},
}

// TabRow is a row of Tabs.
type TabRow struct {
	ID, Title string
	make      func(pane) Tab
}

// tabKeys are the keys of the tabs, in their order.
const tabKeys = "1234567890-"

func tabKey(tab int) string { return tabKeys[tab : tab+1] }

// pane is what tabs have in common.
type pane struct {
	page *Page
	id   string
}

func (t *pane) open() bool { return t.page.Panel.shows(t.id) }

// Panel is the lower part with its tabs.
type Panel struct {
	page  *Page
	tabs  []Tab    // of the rows of Tabs
	zones []Zone   // the tabs, and what is beside them
	have  []string // tabs of the dump's own data that are not empty
	// Listed: the lists that are asked for with the first screen have come.
	Listed bool

	// Tabs that other zones speak to.
	Modules *Modules
	Wanted  *Wanted
	Files   *Files
	Sources *Sources
}

func (z *Panel) init(p *Page) {
	z.page = p
	for _, row := range Tabs {
		t := row.make(pane{p, row.ID})
		z.tabs = append(z.tabs, t)
		switch t := t.(type) {
		case *Modules:
			z.Modules = t
		case *Wanted:
			z.Wanted, z.Sources = t, t.Sources
		case *Files:
			z.Files = t
		}
		z.add(t, listOf(t))
		if t, ok := t.(interface{ beside() (Zone, *List) }); ok {
			z.add(t.beside())
		}
	}
}

// listOf is the list of a tab, or nil.
func listOf(t Tab) *List {
	if t, ok := t.(interface{ List() *List }); ok {
		return t.List()
	}
	return nil
}

// add takes a zone with its list, if there are any.
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

// Want implements Zone: which tabs have something comes with the summary.
func (z *Panel) Want(*protocol.Look) {}

// Apply implements Zone.
func (z *Panel) Apply(r *protocol.Looked) {
	z.Listed = z.Listed || r.Modules != nil
	if r.Summary != nil {
		z.have = r.Have
		if z.disabled(z.page.State.Tab) {
			z.page.State.Tab = Tabs[0].ID
		}
	}
}

// Hidden has nothing asked for the panel by itself.
func (z *Panel) Hidden() bool { return true }

// empty forgets what the tabs show.
func (z *Panel) empty() {
	z.Listed = false
	z.Modules.ModulePage, z.Wanted.MissingPage, z.Files.FilePage = view.ModulePage{}, view.MissingPage{}, protocol.FilePage{}
}

// tab is the tab of an id, or nil.
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

// show shows a tab; with toggle the open one folds the panel.
func (z *Panel) show(id string, toggle bool) {
	if z.disabled(id) {
		return
	}
	s, was := &z.page.State, z.shows(id)
	s.Closed = toggle && !s.Closed && s.Tab == id
	s.Tab = id
	if l := listOf(z.tab(id)); l != nil && !was {
		l.visible.From = 0 // its element is a new one
	}
	z.page.Address.write()
	z.ask()
}

// ask asks for what the open tab shows, and for what tabs show that others know.
func (z *Panel) ask() { z.page.Screen.ask(z.zones...) }

// actions are those of the tabs.
func (z *Panel) actions() (all []action) {
	for _, t := range z.tabs {
		if t, ok := t.(interface{ actions() []action }); ok {
			all = append(all, t.actions()...)
		}
	}
	return all
}

// threadSelected tells the tabs that are of one thread that it is another one now.
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

func (z *Panel) class() string {
	if z.page.State.Closed {
		return "panel folded"
	}
	return "panel"
}

func (z *Panel) foldText() string {
	if z.page.State.Closed {
		return "Unfold"
	}
	return "Fold"
}

func (z *Panel) shows(tab string) bool {
	return z.page.Summary != nil && !z.page.State.Closed && z.page.State.Tab == tab
}

// countOf is what a tab counts.
func (z *Panel) countOf(id string) (n int, alert bool) {
	if t, ok := z.tab(id).(interface{ Count() (int, bool) }); ok && z.page.Summary != nil {
		return t.Count()
	}
	return 0, false
}

func (z *Panel) count(id string) string {
	n, _ := z.countOf(id)
	return number(n)
}

func (z *Panel) countClass(id string) string {
	if _, alert := z.countOf(id); alert {
		return "tab-count warn"
	}
	return "tab-count"
}
