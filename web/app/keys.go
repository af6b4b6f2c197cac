package app

import (
	"slices"
	"strings"
)

// Key does what a key asks for and reports whether it was taken. typing says that the focus is in a text field, where
// only Escape and Enter belong to the page.
func (p *Page) Key(key string, typing bool) bool {
	if key == "Escape" {
		if typing && !p.Empty() && p.Menus.Open == "" {
			// Escape leaves a field, whatever else there is to close, and takes back what the field did.
			p.leaveField()
			return true
		}
		return p.escape()
	}
	if p.Menus.Help || p.Menus.Open != "" {
		return false
	}
	if typing {
		if key == "Enter" && !p.Empty() {
			p.Host.Focus("stack")
			return true
		}
		return false
	}
	for _, a := range p.actions {
		if slices.Contains(a.keys, key) {
			if p.Empty() && !a.start {
				return false
			}
			p.Act(a.id, "")
			return true
		}
	}
	i := strings.Index(tabKeys, key)
	if len(key) != 1 || i < 0 || p.Empty() {
		return false
	}
	p.Act("tab", Tabs[i].ID)
	return true
}

// escape closes what is open, the innermost first.
func (p *Page) escape() bool {
	switch {
	case p.Menus.Open != "":
		p.Menus.close()
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

func (p *Page) leaveField() {
	if p.State.Search != "" {
		p.Input("search", "")
	}
	if p.State.ThreadFilter != "" {
		p.Input("threads", "")
	}
	p.Host.Focus("stack")
}

// ListKey moves the selection in a list whose rows can be selected and which is not the stack, and reports whether it did.
func (p *Page) ListKey(list, key string) bool {
	if list == "threads" && (key == "Home" || key == "End") {
		p.Threads.toRow(map[string]int{"Home": 0, "End": p.Threads.Total - 1}[key])
		return true
	}
	by := map[string]int{"ArrowDown": 1, "ArrowUp": -1}[key]
	if t, ok := p.Panel.tab(list).(interface{ key(by int) }); ok && by != 0 {
		t.key(by)
		return true
	}
	return false
}
