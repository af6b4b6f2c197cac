package app

import (
	"slices"
)

// Key does the action of a key, and reports whether there is one. typing says that the focus is in
// a text field, where only Escape and Enter are keys of the page.
func (p *Page) Key(key string, typing bool) bool {
	if p.Menus.GoTo.Open {
		return p.Menus.GoTo.key(key)
	}
	if key == "Escape" {
		if p.Table.Open() && p.Menus.Open == "" && !p.Menus.Help && !p.Work.Busy() {
			return p.Table.escape()
		}
		if typing && !p.Empty() && p.Menus.Open == "" {
			// Escape clears and leaves a field first, whatever else there is to close.
			p.leaveField()
			return true
		}
		return p.escape()
	}
	if p.Menus.Help || p.Menus.Open != "" || p.Menus.Preview.isOpen() { // dialogs and menus have keys of their own
		return false
	}
	if typing {
		if key == "Enter" && p.Table.Open() {
			p.Host.Focus("dump-table")
			return true
		}
		if key == "Enter" && !p.Empty() {
			p.Host.Focus("stack")
			return true
		}
		return false
	}
	for _, a := range p.actions {
		if slices.Contains(a.keys, key) {
			switch {
			case p.Table.Open() && a.id == "focus-search":
				p.Host.Focus("dumps-filter")
				return true
			case !p.Shows() && !a.start && !(a.id == "toggle-code" && p.Panel.Outline.alone()):
				return false
			}
			p.Act(a.id, "")
			return true
		}
	}
	i := slices.IndexFunc(Tabs, func(t TabRow) bool { return t.Key == key })
	if i < 0 || !p.Shows() {
		return false
	}
	p.Act("tab", p.Panel.first(Tabs[i]))
	return true
}

// escape closes the innermost of what is open, or cancels the running work. It reports whether
// there was anything.
func (p *Page) escape() bool {
	switch {
	case p.Menus.Open != "":
		p.Menus.close()
	case p.Menus.Preview.isOpen():
		p.Menus.Preview.close()
	case p.Menus.Help:
		p.Act("help", "")
	case p.Threads.Choosing:
		p.Threads.Choosing = false
	case p.Work.Busy():
		p.Reading.Cancel()
	case p.State.Search != "":
		p.Input("search", "")
		p.Host.Focus("stack")
	default:
		return false
	}
	return true
}

// leaveField clears the search and the filters.
func (p *Page) leaveField() {
	if p.State.Search != "" {
		p.Input("search", "")
	}
	if p.State.ThreadFilter != "" {
		p.Input("threads", "")
	}
	if p.Panel.Modules.Filter != "" {
		p.Input("modules", "")
	}
	p.Host.Focus("stack")
}

// ListKey moves the selection of a list other than the stack, and reports whether that list has
// one.
func (p *Page) ListKey(list, key string) bool {
	if p.Table.Open() {
		return p.Table.key(list, key)
	}
	if list == "threads" && (key == "Home" || key == "End") {
		p.Threads.toRow(map[string]int{"Home": 0, "End": p.Threads.Total - 1}[key])
		return true
	}
	for _, t := range p.Panel.tabs {
		if k, ok := t.(interface{ ListKey(key string) bool }); ok && listOf(t).ID == list {
			return k.ListKey(key)
		}
	}
	by := map[string]int{"ArrowDown": 1, "ArrowUp": -1}[key]
	if t, ok := p.Panel.tab(list).(interface{ MoveSelection(by int) }); ok && by != 0 {
		t.MoveSelection(by)
		return true
	}
	return false
}
