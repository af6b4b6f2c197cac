package app

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/servers"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/tabs"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Tabs are the tabs of the lower panel, in their order: a tab for each question, with the parts that
// answer it. Where there are several parts, a switch next to the tabs shows one of them.
var Tabs = []TabRow{
	{"Threads", "1", []Part{{"threads", "Threads", tabs.NewMerged}}},
	{"Memory", "2", []Part{{"memory", "Map", tabs.NewGrid}, {"words", "Words", tabs.NewMemory}, {"bytes", "Bytes", tabs.NewMemory}, {"text", "Text", tabs.NewMemory}, {"find", "Find", tabs.NewFinder}}},
	{"Modules", "3", []Part{{"modules", "Modules", tabs.NewModules}, {"wanted", "Missing symbols", tabs.NewMissing}, {"files", "Files", tabs.NewFiles}, {"outline", "Outline", newOutline}}},
	{"Findings", "4", []Part{{"findings", "Findings", tabs.NewFindings}, {"compare", "Compare", tabs.NewCompare}, {"dumps", "Two dumps", tabs.NewDifference}, {"log", "Log", tabs.NewLog}}},
	{"System", "5", []Part{{"system", "System", tabs.NewSystem}, {"annotations", "Annotations", tabs.NewGrid}, {"handles", "Handles", tabs.NewGrid}, {"streams", "Streams", tabs.NewStreams}}},
}

// TabRow is a row of Tabs. Key opens the tab's first part.
type TabRow struct {
	Title, Key string
	Parts      []Part
}

// Part is one view of a tab. ID is its name in State.Tab, the address and for host pages.
type Part struct {
	ID, Title string
	make      func(s *zone.Shared, id string) zone.Tab
}

// Parts returns the parts of all tabs.
func Parts() (all []Part) {
	for _, t := range Tabs {
		all = append(all, t.Parts...)
	}
	return all
}

// Panel is the lower part of the page, with its tabs.
type Panel struct {
	page  *Page
	parts []Part      // of all tabs
	tabs  []zone.Tab  // of each part
	zones []zone.Zone // the parts, and the zones next to them

	// Tabs that other zones call.
	Modules *tabs.Modules
	Missing *tabs.Missing
	Files   *tabs.Files
	Sources *servers.Sources
	Finder  *tabs.Finder
	Outline *Outline
}

// init makes the tabs of the table, and registers their zones and lists.
func (z *Panel) init(p *Page) {
	z.page, z.parts = p, Parts()
	for _, row := range z.parts {
		t := row.make(&p.Shared, row.ID)
		z.tabs = append(z.tabs, t)
		switch t := t.(type) {
		case *tabs.Modules:
			z.Modules = t
		case *tabs.Missing:
			t.Sources = servers.NewSources(&p.Shared, &p.Work.Downloads)
			z.Missing, z.Sources = t, t.Sources
		case *tabs.Files:
			z.Files = t
		case *tabs.Finder:
			z.Finder = t
		case *Outline:
			t.page = p
			z.Outline = t
		}
		z.add(t, listOf(t))
		if t, ok := t.(interface {
			Beside() (zone.Zone, *table.List)
		}); ok {
			z.add(t.Beside())
		}
	}
	z.Modules.Files = z.Files
}

// listOf returns the list of a tab, or nil.
func listOf(t zone.Tab) *table.List {
	if t, ok := t.(interface{ List() *table.List }); ok {
		return t.List()
	}
	return nil
}

// add registers a zone and its list; either may be nil.
func (z *Panel) add(one zone.Zone, list *table.List) {
	if one == nil {
		return
	}
	z.zones = append(z.zones, one)
	if list == nil {
		z.page.Screen.Add(one)
		return
	}
	z.page.Screen.Add(one, list)
}

// Want implements Zone. Which tabs have data comes with the summary.
func (z *Panel) Want(*protocol.Query) {}

// Apply implements Zone.
func (z *Panel) Apply(r *protocol.QueryResult) {
	z.page.Listed = z.page.Listed || r.Modules != nil
	if r.Summary != nil {
		z.page.Have = r.Have
		if z.disabled(z.page.State.Tab) {
			z.page.State.Tab = state.UsualTab
		}
	}
}

// Hidden implements Zone. The panel itself has nothing to query.
func (z *Panel) Hidden() bool { return true }

// empty clears the lists that are queried with the first screen.
func (z *Panel) empty() {
	z.page.Listed = false
	z.Modules.ModulePage, z.Missing.MissingPage, z.Files.FilePage = rows.ModulePage{}, rows.MissingPage{}, protocol.FilePage{}
}

// tab returns the part with an id, or nil.
func (z *Panel) tab(id string) zone.Tab {
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
	if t := tabOf(z.page.State.Tab); len(t.Parts) > 1 && !z.page.Folded() {
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
	s, was := &z.page.State, z.page.ShowsPart(id)
	s.Closed = toggle && !z.page.Folded() && s.Tab == id
	s.Opened = !s.Closed
	s.Tab = id
	if l := listOf(z.tab(id)); l != nil && !was {
		l.Visible.From = 0 // its element is a new one
	}
	if t, ok := z.tab(id).(interface{ Opened() }); ok && !was {
		t.Opened()
	}
	z.page.Address.write()
	z.ask()
}

// ask queries the open tab, and those whose data other zones show.
func (z *Panel) ask() { z.page.Screen.Ask(z.zones...) }

// actions returns the actions of all tabs.
func (z *Panel) actions() (all []action) {
	for _, t := range z.tabs {
		if t, ok := t.(interface{ Actions() []zone.Action }); ok {
			for _, a := range t.Actions() {
				all = append(all, action{id: a.ID, limit: a.Limit, tab: a})
			}
		}
	}
	return all
}

// threadSelected notifies the tabs that another thread is selected.
func (z *Panel) threadSelected() {
	for _, t := range z.tabs {
		if o, ok := t.(interface{ ThreadSelected() }); ok {
			o.ThreadSelected()
			z.page.Screen.Ask(t)
		}
	}
}

// goTo shows a row of a tab.
func (z *Panel) goTo(id string, row int) {
	t := z.tab(id)
	if g, ok := t.(interface{ ShowRow(row int) }); ok {
		g.ShowRow(row)
		return
	}
	z.show(id, false)
	if l := listOf(t); l != nil {
		l.Around(row)
		z.page.Host.Reveal(l.ID, row)
		z.page.Screen.Ask(t)
	}
}

// Changed asks for the open tab after the window has become lower or higher.
func (z *Panel) Changed() { z.ask() }

func (z *Panel) class() string {
	if z.page.Folded() {
		return "panel folded"
	}
	return "panel"
}

func (z *Panel) foldText() string {
	if z.page.Folded() {
		return "Unfold"
	}
	return "Fold"
}

// countOf returns the number next to a part's title.
func (z *Panel) countOf(id string) (n int, alert bool) {
	if t, ok := z.tab(id).(interface{ Count() (int, bool) }); ok && z.page.Summary != nil {
		return t.Count()
	}
	return 0, false
}

// count is the number next to the title of one part or of a tab, which is that of its first part.
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
