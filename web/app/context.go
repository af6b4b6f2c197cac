package app

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/words"
)

// contextMenu is the name of the context menu of a stack's row in Menus.Open.
const contextMenu = "frame"

// Point is a position in the window, in pixels.
type Point struct{ X, Y int }

// Menus has the menus and the dialogs.
type Menus struct {
	page *Page
	Open string // "dumps", "copy", "download", "frame", or ""
	Help bool
	// Preview is the dialog of an export.
	Preview Preview
	// GoTo is the dialog that goes to an address or a name.
	GoTo GoTo
	row  rows.StackRow // the one that the context menu is for
	at   Point         // where the context menu opens
}

// toggle opens a menu, or closes it.
func (z *Menus) toggle(menu string) {
	if z.Open == menu {
		z.Open = ""
		return
	}
	z.Open = menu
	z.page.Host.Focus("menu-" + menu)
}

// toggleHelp opens the dialog, or closes it.
func (z *Menus) toggleHelp() {
	if z.Help = !z.Help; z.Help {
		z.page.Host.Focus("help-close")
	} else {
		z.page.Host.Focus("help-button")
	}
}

// close closes the open menu.
func (z *Menus) close() {
	if z.Open == contextMenu {
		z.page.Host.Focus("stack")
	} else {
		z.page.Host.Focus("menu-" + z.Open)
	}
	z.Open = ""
}

// OpenContext opens the context menu of a row of the stack, and selects the row, because the menu's
// actions are about the selected row. It reports whether there is such a row.
func (z *Menus) OpenContext(key string, at Point) bool {
	if key == "" {
		key = words.Pair(z.page.State.Frame, z.page.State.Inline)
	}
	for _, r := range z.page.Stack.Rows {
		if r.Kind == rows.RowStop || frameKey(r) != key {
			continue
		}
		if !z.page.Stack.isSelected(r) {
			z.page.selectFrame(r.Frame, r.Inline)
			z.page.Stack.Selected = -1 // until the result says which row it is
		}
		z.Open, z.row, z.at = contextMenu, r, at
		z.page.Host.Focus("menu-row")
		return true
	}
	return false
}

// MenuItem is a line of a context menu.
type MenuItem struct{ Act, Arg, Text, Key string }

// items returns the menu's items. Each has a key or a button elsewhere, too.
func (z *Menus) items() []MenuItem {
	if z.Open != contextMenu {
		return nil
	}
	r := z.row
	var out []MenuItem
	if !r.NoSymbol {
		out = append(out, MenuItem{"copy-row", "name", "Copy function name", ""})
	}
	out = append(out, MenuItem{"copy-row", "address", "Copy address", ""}, MenuItem{"copy-row", "text", "Copy frame as text", ""},
		MenuItem{"copy-stack", "", "Copy the stack…", keyOf("copy-stack")}, MenuItem{"why", "", "Why this frame", keyOf("toggle-why")})
	if r.ModuleIndex >= 0 {
		out = append(out, MenuItem{"show-module", strconv.Itoa(r.ModuleIndex), "Show module", ""})
		if item := z.page.Assigned(r.ModuleIndex); r.AssignedSymbols && item >= 0 {
			out = append(out, MenuItem{"unuse", words.Pair(item, r.ModuleIndex), "Stop using the assigned symbols", ""})
		} else if r.Other >= 0 && r.Missing {
			out = append(out, MenuItem{"use", words.Pair(r.Other, r.ModuleIndex), "Use the symbols of another build", ""})
		}
	}
	return out
}

// style positions the menu where the user clicked, but within the window.
func (z *Menus) style() string {
	return "left:min(" + strconv.Itoa(z.at.X) + "px,100vw - 280px);top:min(" + strconv.Itoa(z.at.Y) + "px,100vh - " +
		strconv.Itoa(len(z.items())*28+24) + "px)"
}

// copyRow copies a part of the menu's row.
func (z *Menus) copyRow(what string) {
	r := z.row
	text, said := "", ""
	switch what {
	case "name":
		text, said = r.Full, "Function name copied"
	case "address":
		text, said = r.Address, "Address copied"
	case "text":
		text, said = rows.FrameNumber(r)+" "+rows.RowText(r), "Frame copied"
	}
	if text != "" {
		z.page.Notices.Copy(text, said)
	}
}
