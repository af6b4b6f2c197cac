package app

import (
	"slices"

	"github.com/vugu/vugu"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/protocol"
)

// Tab is a zone of the lower panel: what it queries (Want), how it applies a result (Apply), and
// its component (Build), whose template draws its rows. A new one is a type that embeds pane, in
// NAME.go with its template in NAME.vugu, and a Part of a row of Tabs. These methods are optional:
//
//	Count() (n int, alert bool)   the number beside the title, 0 for none, and whether it needs attention
//	Disabled() bool               the dump has no data for the tab
//	List() *List                  the window of rows; without it all rows are drawn
//	actions() []action            the actions of its elements
//	forget()                      clears its state when another dump is opened
//	threadSelected()              clears what belongs to the thread that was selected before
//	hidePrivate()                 hides private data that the user has revealed
//	opened()                      its element is a new one
//	goTo(row int)                 shows a row, for the search
//	key(by int)                   moves its selection
//	beside() (Zone, *List)        a second zone beside it
type Tab interface {
	Zone
	vugu.Builder
}

// Tabs are the tabs of the lower panel, in their order: a tab for each question, with the parts that
// answer it. Where there are several parts, a switch beside the tabs shows one of them.
var Tabs = []TabRow{
	{"Threads", "1", []Part{{"threads", "Threads", newMerged}}},
	{"Memory", "2", []Part{{"memory", "Map", newGrid}, {"words", "Words", newMemory}, {"bytes", "Bytes", newMemory}, {"text", "Text", newMemory}, {"find", "Find", newFinder}}},
	{"Modules", "3", []Part{{"modules", "Modules", newModules}, {"wanted", "Missing symbols", newMissing}, {"files", "Files", newFiles}, {"outline", "Outline", newOutline}}},
	{"Findings", "4", []Part{{"findings", "Findings", newFindings}, {"compare", "Compare", newCompare}, {"dumps", "Two dumps", newDifference}, {"log", "Log", newLog}}},
	{"System", "5", []Part{{"system", "System", newSystem}, {"annotations", "Annotations", newGrid}, {"handles", "Handles", newGrid}, {"streams", "Streams", newStreams}}},
}

// TabRow is a row of Tabs. Key opens the tab's first part.
type TabRow struct {
	Title, Key string
	Parts      []Part
}

// Part is one view of a tab. ID is its name in State.Tab, the address and for host pages.
type Part struct {
	ID, Title string
	make      func(pane) Tab
}

// Parts returns the parts of all tabs.
func Parts() (all []Part) {
	for _, t := range Tabs {
		all = append(all, t.Parts...)
	}
	return all
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
	parts []Part   // of all tabs
	tabs  []Tab    // of each part
	zones []Zone   // the parts, and the zones beside them
	have  []string // ids of the parts for which the dump has data
	// Listed is set when the first lists have arrived. Before that, an empty list does not say that
	// there is nothing.
	Listed bool

	// Tabs that other zones call.
	Modules *Modules
	Missing *Missing
	Files   *Files
	Sources *Sources
	Finder  *Finder
	Outline *Outline
	// Memory is what the forms of memory share.
	Memory MemoryPlaces
}

// init makes the tabs of the table, and registers their zones and lists.
func (z *Panel) init(p *Page) {
	z.page, z.parts = p, Parts()
	for _, row := range z.parts {
		t := row.make(pane{p, row.ID})
		z.tabs = append(z.tabs, t)
		switch t := t.(type) {
		case *Modules:
			z.Modules = t
		case *Missing:
			z.Missing, z.Sources = t, t.Sources
		case *Files:
			z.Files = t
		case *Finder:
			z.Finder = t
		case *Outline:
			z.Outline = t
		}
		z.add(t, listOf(t))
		if t, ok := t.(interface{ beside() (Zone, *table.List) }); ok {
			z.add(t.beside())
		}
	}
}

// listOf returns the list of a tab, or nil.
func listOf(t Tab) *table.List {
	if t, ok := t.(interface{ List() *table.List }); ok {
		return t.List()
	}
	return nil
}

// add registers a zone and its list; either may be nil.
func (z *Panel) add(zone Zone, list *table.List) {
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
			z.page.State.Tab = state.UsualTab
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

// tab returns the part with an id, or nil.
func (z *Panel) tab(id string) Tab {
	if i := slices.IndexFunc(z.parts, func(t Part) bool { return t.ID == id }); i >= 0 {
		return z.tabs[i]
	}
	return nil
}

func (z *Panel) disabled(id string) bool {
	t := z.tab(id)
	d, ok := t.(interface{ Disabled() bool })
	return t == nil || ok && d.Disabled()
}

// first returns the id of a tab's first part for which the dump has data; without any, of its first.
func (z *Panel) first(t TabRow) string {
	for _, part := range t.Parts {
		if !z.disabled(part.ID) {
			return part.ID
		}
	}
	return t.Parts[0].ID
}

// tabOf returns the tab that has a part.
func tabOf(part string) TabRow {
	for _, t := range Tabs {
		if t.has(part) {
			return t
		}
	}
	return TabRow{}
}

func (t TabRow) has(id string) bool {
	return slices.ContainsFunc(t.Parts, func(p Part) bool { return p.ID == id })
}

// switches returns the parts among which the switch chooses.
func (z *Panel) switches() []Part {
	if t := tabOf(z.page.State.Tab); len(t.Parts) > 1 && !z.folded() {
		return t.Parts
	}
	return nil
}

// switchID is the id of a part's element in the switch. That of a tab's first part is the tab's own.
func switchID(id string) string {
	if tabOf(id).Parts[0].ID == id {
		return "part-" + id
	}
	return "tab-" + id
}

// labels names the elements that name a part: its tab and, if there is one, its button in the switch.
func labels(part string) string {
	t := tabOf(part)
	if len(t.Parts) == 1 {
		return "tab-" + t.Parts[0].ID
	}
	return "tab-" + t.Parts[0].ID + " " + switchID(part)
}

// show opens a part. With toggle, a part that is already open folds the panel.
func (z *Panel) show(id string, toggle bool) {
	if z.disabled(id) {
		return
	}
	s, was := &z.page.State, z.shows(id)
	s.Closed = toggle && !z.folded() && s.Tab == id
	s.Opened = !s.Closed
	s.Tab = id
	if l := listOf(z.tab(id)); l != nil && !was {
		l.Visible.From = 0 // its element is a new one
	}
	if t, ok := z.tab(id).(interface{ opened() }); ok && !was {
		t.opened()
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
		l.Around(row)
		z.page.Host.Reveal(l.ID, row)
		z.page.Screen.ask(t)
	}
}

// Changed asks for the open tab after the window has become lower or higher.
func (z *Panel) Changed() { z.ask() }

// folded reports whether the panel is only its line of tabs: the user has folded it, or the window is
// low, and neither the user nor the address has asked for a tab, or for a height of the panel.
func (z *Panel) folded() bool {
	s := &z.page.State
	return s.Closed || !s.Opened && s.Tab == state.UsualTab && z.page.Layout.Split.Panel == 0 && z.page.Host.Low()
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

// countOf returns the number beside a part's title.
func (z *Panel) countOf(id string) (n int, alert bool) {
	if t, ok := z.tab(id).(interface{ Count() (int, bool) }); ok && z.page.Summary != nil {
		return t.Count()
	}
	return 0, false
}

// count is the number beside the title of one part or of a tab, which is that of its first part.
func (z *Panel) count(parts ...Part) string {
	n, _ := z.countOf(parts[0].ID)
	return rows.Some(n)
}

// countClass marks the number if one of the parts needs attention.
func (z *Panel) countClass(parts ...Part) string {
	for _, p := range parts {
		if _, alert := z.countOf(p.ID); alert {
			return "tab-count warn"
		}
	}
	return "tab-count"
}
