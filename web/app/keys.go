package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/web/protocol"
)

// Key does what a key asks for and reports whether it was taken. typing says that the focus is in a text field, where
// only Escape and Enter belong to the page.
func (p *Page) Key(key string, typing bool) bool {
	if key == "Escape" {
		if typing && !p.Empty() && p.Menu == "" {
			// Escape leaves a field, whatever else there is to close, and takes back what the field did.
			p.leaveField()
			return true
		}
		return p.escape()
	}
	if p.Help || p.Menu != "" {
		return false
	}
	if typing {
		if key == "Enter" && !p.Empty() {
			p.Host.Focus("stack")
			return true
		}
		return false
	}
	if key == "?" {
		p.Act("help", "")
		return true
	}
	if p.Empty() {
		return false
	}
	switch key {
	case "j", "ArrowDown":
		p.move(1)
	case "k", "ArrowUp":
		p.move(-1)
	case "PageDown":
		p.move(max(1, p.visible["stack"].Count-2))
	case "PageUp":
		p.move(-max(1, p.visible["stack"].Count-2))
	case "Home":
		p.toRow(0)
	case "End":
		p.toRow(p.Stack.Total - 1)
	case "n":
		p.moveThread(1)
	case "p":
		p.moveThread(-1)
	case "x":
		p.crashed()
	case "/":
		p.Host.Focus("search")
	case "c":
		p.export("copy", protocol.ExportStack)
	case "i":
		p.choose("inlines", "")
	case "e":
		if p.State.Side == "why" {
			p.choose("side", "registers")
		} else {
			p.choose("side", "why")
		}
	default:
		i := strings.Index(tabKeys, key)
		if len(key) != 1 || i < 0 {
			return false
		}
		p.selectTab(Tabs[i].ID, true)
	}
	return true
}

// escape closes what is open, the innermost first.
func (p *Page) escape() bool {
	switch {
	case p.Menu != "":
		if p.Menu == contextMenu {
			p.Host.Focus("stack")
		} else {
			p.Host.Focus("menu-" + p.Menu)
		}
		p.Menu = ""
	case p.Help:
		p.Act("help", "")
	case p.Choosing:
		p.Choosing = false
	case p.Busy():
		p.Cancel()
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

// move selects another row of the stack.
func (p *Page) move(by int) {
	at := p.Stack.Selected
	if p.goTo >= 0 {
		at = p.goTo
	}
	if at < 0 {
		p.toRow(0)
		return
	}
	p.toRow(at + by)
}

// toRow selects a row of the stack by its number, and fetches it first if it is not here.
func (p *Page) toRow(row int) {
	row = max(0, min(row, p.Stack.Total-1))
	if p.Stack.Total == 0 {
		return
	}
	from, to, _ := p.loaded("stack")
	if row >= from && row < to {
		p.selectRow(row)
		return
	}
	p.goTo = row
	v := p.visible["stack"]
	p.visible["stack"] = protocol.Span{From: max(0, row-v.Count/2), Count: v.Count}
	p.ask(partStack)
}

// selectRow selects a row that is here; those behind the last frame belong to it.
func (p *Page) selectRow(row int) {
	i := row - p.Stack.From
	if i < 0 || i >= len(p.Stack.Rows) {
		return
	}
	r := p.Stack.Rows[i]
	if r.Frame < 0 {
		p.Host.Reveal("stack", row) // what stands behind the last frame is to be seen, too
	}
	for r.Frame < 0 {
		if i == 0 {
			return
		}
		i--
		row--
		r = p.Stack.Rows[i]
	}
	p.Stack.Selected = row
	p.Host.Reveal("stack", row)
	p.selectFrame(r.Frame, r.Inline)
}

// ListKey moves the selection in a list whose rows can be selected and which is not the stack, and reports whether it did.
func (p *Page) ListKey(list, key string) bool {
	if list == "threads" && (key == "Home" || key == "End") {
		p.toThread(map[string]int{"Home": 0, "End": p.Threads.Total - 1}[key])
		return true
	}
	by := map[string]int{"ArrowDown": 1, "ArrowUp": -1}[key]
	if by == 0 {
		return false
	}
	switch list {
	case "compare":
		row := max(0, min(p.Compared+by, p.Compare.Total-1))
		if row != p.Compared && p.Compare.Total > 0 {
			p.Host.Reveal(list, row)
			p.selectCompared(row)
		}
		return true
	case "modules":
		row := -1
		for i, m := range p.Modules.Rows {
			if m.Index == p.Module {
				row = i
			}
		}
		// None is selected: the first one that can be seen.
		if row += by; p.Module < 0 || p.Modules.Selected < 0 {
			row = max(0, p.visible[list].From-p.Modules.From)
		}
		if row >= 0 && row < len(p.Modules.Rows) {
			p.Host.Reveal(list, p.Modules.From+row)
			p.selectModule(strconv.Itoa(p.Modules.Rows[row].Index))
		}
		return true
	}
	return false
}

// moveThread goes to the next or previous thread of the list.
func (p *Page) moveThread(by int) {
	row := p.Threads.Selected + by
	if p.Threads.Selected < 0 {
		row = 0
	}
	p.toThread(row)
}

// toThread selects a row of the threads by its number, and fetches it first if it is not here.
func (p *Page) toThread(row int) {
	if row < 0 || row >= p.Threads.Total {
		return
	}
	i := row - p.Threads.From
	if i < 0 || i >= len(p.Threads.Rows) {
		p.goThread = row
		v := p.visible["threads"]
		p.visible["threads"] = protocol.Span{From: max(0, row-v.Count/2), Count: v.Count}
		p.ask(partThreads)
		return
	}
	p.Threads.Selected = row
	p.Host.Reveal("threads", row)
	p.selectThread(p.Threads.Rows[i].Index)
}

// crashed goes to the thread that the dump starts with, its first frame.
func (p *Page) crashed() {
	if p.Summary == nil || p.Summary.FirstThread < 0 {
		return
	}
	p.Host.Reveal("threads", 0)
	if p.State.Thread == p.Summary.FirstThread {
		p.toRow(0)
		return
	}
	p.selectThread(p.Summary.FirstThread)
}
