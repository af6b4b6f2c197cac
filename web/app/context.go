package app

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// contextMenu is the name of the menu of a stack's row in Page.Menu.
const contextMenu = "frame"

// Point is a place in the window, in pixels.
type Point struct{ X, Y int }

// OpenContext opens the menu of a row of the stack, which it selects: what the menu does is done to the selected row.
// It reports whether there is such a row.
func (p *Page) OpenContext(key string, at Point) bool {
	if key == "" {
		key = pair(p.State.Frame, p.State.Inline)
	}
	for _, r := range p.Stack.Rows {
		if r.Kind == view.RowStop || p.frameKey(r) != key {
			continue
		}
		if !p.isSelected(r) {
			p.selectFrame(r.Frame, r.Inline)
			p.Stack.Selected = -1 // until the answer says which row it is
		}
		p.Menu, p.menuRow, p.menuAt = contextMenu, r, at
		p.Host.Focus("menu-row")
		return true
	}
	return false
}

// MenuItem is a line of a context menu.
type MenuItem struct{ Act, Arg, Text, Key string }

// menuItems are the lines that apply to the row. They repeat what keys and other buttons do.
func (p *Page) menuItems() []MenuItem {
	if p.Menu != contextMenu {
		return nil
	}
	r := p.menuRow
	var out []MenuItem
	if !r.NoSymbol {
		out = append(out, MenuItem{"copy-row", "name", "Copy function name", ""})
	}
	out = append(out, MenuItem{"copy-row", "address", "Copy address", ""}, MenuItem{"copy-row", "text", "Copy frame as text", ""},
		MenuItem{"copy", protocol.ExportStack, "Copy the stack", "c"}, MenuItem{"why", "", "Why this frame", "e"})
	if r.ModuleIndex >= 0 {
		out = append(out, MenuItem{"show-module", strconv.Itoa(r.ModuleIndex), "Show module", ""})
		if item := p.forcedItem(r.ModuleIndex); r.Forced && item >= 0 {
			out = append(out, MenuItem{"unuse", pair(item, r.ModuleIndex), "Stop using the unmatched symbols", ""})
		} else if r.Other >= 0 && r.Missing {
			out = append(out, MenuItem{"use", pair(r.Other, r.ModuleIndex), "Use the symbols of another build", ""})
		}
	}
	return out
}

// menuStyle puts the menu where it was asked for, inside the window.
func (p *Page) menuStyle() string {
	return "left:min(" + strconv.Itoa(p.menuAt.X) + "px,100vw - 280px);top:min(" + strconv.Itoa(p.menuAt.Y) + "px,100vh - " +
		strconv.Itoa(len(p.menuItems())*28+24) + "px)"
}

// copyRow copies a part of the row that the menu is of.
func (p *Page) copyRow(what string) {
	r := p.menuRow
	text, said := "", ""
	switch what {
	case "name":
		text, said = r.Full, "Function name copied"
	case "address":
		text, said = r.Address, "Address copied"
	case "text":
		text, said = p.frameNumber(r)+" "+view.RowText(r), "Frame copied"
	}
	if text != "" {
		p.copy(text, said)
	}
}

// copy puts text on the clipboard and says so.
func (p *Page) copy(text, said string) {
	p.Host.Copy(text, func(problem string) {
		if problem != "" {
			p.say("error", "The browser did not allow copying: "+problem)
			return
		}
		p.toast(said)
	})
}
