package main

import (
	"fmt"
	"syscall/js"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/app/split"
)

// listenForSplits has the user drag the splitters between zones. During a drag the page is not
// drawn: the size goes straight to a custom property of the style sheet, and only the last one to
// the page.
func (h *browser) listenForSplits() {
	var line js.Value // the splitter that is being dragged
	var start, size, to int
	row := -1
	position := func(e js.Value) int {
		if split.All[row].Vertical {
			return e.Get("clientX").Int()
		}
		return e.Get("clientY").Int()
	}
	h.native(h.root.Underlying(), "pointerdown", func(e js.Value) {
		el := closest(e.Get("target"), "data-split")
		if !el.Truthy() || e.Get("button").Int() != 0 {
			return
		}
		event(e).PreventDefault()
		line, row = el, splitOf(el)
		start, size, to = position(e), h.splitSize(row), 0
		el.Call("setPointerCapture", e.Get("pointerId"))
		el.Call("focus")
		el.Get("classList").Call("add", "moving")
	}, false)
	h.native(h.root.Underlying(), "pointermove", func(e js.Value) {
		if row < 0 {
			return
		}
		s := &split.All[row]
		to = max(s.Least, min(size+s.Grows*(position(e)-start), s.Most))
		line.Get("parentNode").Call("closest", ".crash-in").Get("style").Call("setProperty", "--cp-"+s.Name, fmt.Sprintf("%dpx", to))
	}, false)
	end := func(js.Value) {
		if row < 0 {
			return
		}
		line.Get("classList").Call("remove", "moving")
		name := split.All[row].Name
		row = -1
		if to > 0 {
			h.change(func(p *app.Page) { p.Layout.Resize(name, to) })
		}
	}
	h.native(h.root.Underlying(), "pointerup", end, false)
	h.native(h.root.Underlying(), "pointercancel", end, false)
	h.native(h.root.Underlying(), "dblclick", func(e js.Value) {
		if el := closest(e.Get("target"), "data-split"); el.Truthy() {
			name := split.All[splitOf(el)].Name
			h.change(func(p *app.Page) { p.Layout.Resize(name, 0) })
		}
	}, false)
}

// splitOf returns a splitter's row of app.Splits.
func splitOf(line js.Value) int {
	name := attribute(line, "data-split")
	for i := range split.All {
		if split.All[i].Name == name {
			return i
		}
	}
	return 0
}

// splitSize measures a zone, which may be smaller than the user's size because of the window.
func (h *browser) splitSize(row int) int {
	s := &split.All[row]
	zone := h.root.Call("querySelector", "."+s.Name+":not(.splitter)")
	if !zone.Truthy() {
		return s.Size
	}
	if s.Vertical {
		return zone.Get("offsetWidth").Int()
	}
	return zone.Get("offsetHeight").Int()
}

// splitKey moves a splitter with a key, as the ARIA role separator requires, and reports whether it
// is one of its keys.
func (h *browser) splitKey(key string, line js.Value) bool {
	i := splitOf(line)
	s := &split.All[i]
	const step = 16
	by := 0
	switch {
	case key == "Home":
		by = s.Least - h.splitSize(i)
	case key == "End":
		by = s.Most
	case key == "Enter":
		h.change(func(p *app.Page) { p.Layout.Resize(s.Name, 0) })
		return true
	case s.Vertical && key == "ArrowRight", !s.Vertical && key == "ArrowDown":
		by = step * s.Grows
	case s.Vertical && key == "ArrowLeft", !s.Vertical && key == "ArrowUp":
		by = -step * s.Grows
	default:
		return false
	}
	size := h.splitSize(i) + by
	h.change(func(p *app.Page) { p.Layout.Resize(s.Name, size) })
	return true
}

// listenForMenus opens the context menu of a row of the stack, by the right mouse button or the
// keyboard's menu key.
func (h *browser) listenForMenus() {
	h.native(h.root.Underlying(), "contextmenu", func(e js.Value) {
		target := e.Get("target")
		list := closest(target, "data-list")
		if !list.Truthy() || list.Get("id").String() != "stack" {
			return
		}
		m := dom.MouseEvent{UIEvent: &dom.UIEvent{BasicEvent: event(e)}}
		at, key := app.Point{X: m.ClientX(), Y: m.ClientY()}, ""
		if row := closest(target, "data-arg"); row.Truthy() {
			key = attribute(row, "data-arg")
		}
		if key == "" || at == (app.Point{}) {
			// The event of the menu key has the list as its target, and no position: use the
			// selected row.
			key = ""
			row := h.root.Call("querySelector", "#stack .selected")
			if !row.Truthy() {
				return
			}
			box := row.Call("getBoundingClientRect")
			at = app.Point{X: box.Get("left").Int() + 48, Y: box.Get("bottom").Int()}
		}
		if !h.owns() {
			// In a host page, menus are positioned within the viewer and not within the window.
			box := h.root.Call("getBoundingClientRect")
			at.X, at.Y = at.X-box.Get("left").Int(), at.Y-box.Get("top").Int()
		}
		opened := false
		h.change(func(p *app.Page) { opened = p.Menus.OpenContext(key, at) })
		if opened {
			event(e).PreventDefault()
		}
	}, false)
}
