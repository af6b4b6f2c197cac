package main

import (
	"fmt"
	"syscall/js"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/web/app"
)

// listen hears what a person does, by a few native listeners at the root. Vugu's own "@" listeners would serialise the
// element that was hit with everything in it.
func (h *host) listen() {
	h.measure = js.FuncOf(func(js.Value, []js.Value) any {
		defer survive()
		h.measureLists()
		return nil
	})
	h.native(h.root.Underlying(), "click", h.clicked, false)
	h.native(h.root.Underlying(), "input", h.typed, false)
	h.native(h.root.Underlying(), "keydown", h.pressed, false)
	// Scroll events do not bubble; capturing hears those of every list.
	h.native(h.root.Underlying(), "scroll", func(js.Value) { h.scheduleMeasure() }, true)
	h.native(h.window, "resize", func(js.Value) { h.scheduleMeasure() }, true)
	if h.owns() {
		// Keys count wherever the focus is; the body has it after a click on nothing.
		h.native(h.window.Get("document").Get("body"), "keydown", func(e js.Value) {
			if e.Get("target").Equal(h.window.Get("document").Get("body")) {
				h.pressed(e)
			}
		}, false)
		h.native(h.window, "hashchange", func(js.Value) {
			hash := h.hash()
			h.addresses, h.entry = h.addresses+1, false // what was to be written is of the place that was left
			h.change(func(p *app.Page) { p.Address.Changed(hash) })
		}, false)
	}
	if h.owns() && h.window.Get("parent").Equal(h.window) {
		// The files are nowhere but in this page.
		h.native(h.window, "beforeunload", func(e js.Value) {
			if h.page.Reading.HasFiles() {
				event(e).PreventDefault()
				e.Set("returnValue", "1") // older browsers
			}
		}, false)
	}
	h.listenForFiles()
	h.listenForSplits()
	h.listenForMenus()
}

// survive ends a callback that panicked, and says so where a developer looks. A panic that left a callback would end the
// program, and with it the page.
func survive() {
	if p := recover(); p != nil {
		js.Global().Get("console").Call("error", fmt.Sprintf("Crashpane: %v", p))
	}
}

// element and event give a value dom's methods. dom.WrapElement and dom.WrapEvent would make the value's own class instead,
// by comparing it with some sixty of them at each event, and would bring all of those classes into the page (60 KB of it).
func element(v js.Value) *dom.BasicElement {
	return &dom.BasicElement{BasicNode: &dom.BasicNode{Value: v}}
}

func event(v js.Value) *dom.BasicEvent { return &dom.BasicEvent{Value: v} }

// native adds a listener.
func (h *host) native(target js.Value, event string, do func(js.Value), passive bool) {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer survive()
		do(args[0])
		return nil
	})
	target.Call("addEventListener", event, f, map[string]any{"passive": passive, "capture": passive})
	if target.Equal(h.window) {
		// The rest goes with the viewer's own elements.
		h.undo = append(h.undo, func() { target.Call("removeEventListener", event, f, passive) })
	}
}

// closest is the innermost element around a node that has an attribute.
func closest(node js.Value, attribute string) js.Value {
	if node.Get("closest").Type() != js.TypeFunction {
		return js.Null()
	}
	return node.Call("closest", "["+attribute+"]")
}

func attribute(el js.Value, name string) string {
	if v := el.Call("getAttribute", name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

func (h *host) clicked(e js.Value) {
	el := closest(e.Get("target"), "data-act")
	if !el.Truthy() {
		if h.page.Menus.Open != "" {
			h.change(func(p *app.Page) { p.Menus.Open = "" })
		}
		return
	}
	act, arg := attribute(el, "data-act"), attribute(el, "data-arg")
	h.change(func(p *app.Page) { p.Act(act, arg) })
}

func (h *host) typed(e js.Value) {
	el := closest(e.Get("target"), "data-input")
	if !el.Truthy() {
		return
	}
	field, value := attribute(el, "data-input"), el.Get("value").String()
	h.change(func(p *app.Page) { p.Input(field, value) })
}

// pressed gives a key to the page, after the widgets that move the focus themselves had it.
func (h *host) pressed(e js.Value) {
	if e.Get("ctrlKey").Bool() || e.Get("metaKey").Bool() || e.Get("altKey").Bool() || e.Get("isComposing").Truthy() {
		return
	}
	key, target := e.Get("key").String(), e.Get("target")
	if line := closest(target, "data-split"); line.Truthy() && h.splitKey(key, line) {
		event(e).PreventDefault()
		return
	}
	if h.roves(e, key, target) {
		return
	}
	if h.page.Menus.Help && key == "Tab" {
		// The dialog has one button; the focus stays in it.
		e.Call("preventDefault")
		return
	}
	list := closest(target, "data-list")
	inThreads := list.Truthy() && list.Get("id").String() == "threads"
	if list.Truthy() && (!inThreads || key == "Home" || key == "End") && list.Get("id").String() != "stack" && isMove(key) {
		// Where rows can be selected, arrows do; the other lists scroll.
		taken := false
		h.change(func(p *app.Page) { taken = p.ListKey(list.Get("id").String(), key) })
		if taken {
			event(e).PreventDefault()
		}
		return
	}
	if inThreads {
		switch key {
		case "ArrowDown":
			key = "n"
		case "ArrowUp":
			key = "p"
		}
	}
	if !list.Truthy() && isMove(key) && !target.Equal(h.window.Get("document").Get("body")) {
		return
	}
	if key == "Enter" && target.Get("id").String() == "search" {
		by := 1
		if e.Get("shiftKey").Bool() {
			by = -1
		}
		event(e).PreventDefault()
		h.change(func(p *app.Page) { p.Search.Find(by) })
		return
	}
	taken := false
	h.change(func(p *app.Page) { taken = p.Key(key, isTyping(target)) })
	if taken {
		e.Call("preventDefault")
		e.Call("stopPropagation")
	}
}

func isMove(key string) bool {
	switch key {
	case "ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End":
		return true
	}
	return false
}

// roves moves the focus within tabs and menus by the arrow keys, as their roles promise.
func (h *host) roves(e js.Value, key string, target js.Value) bool {
	by := 0
	group, items := "", ""
	switch key {
	case "ArrowRight", "ArrowLeft":
		group, items = `[role="tablist"]`, `[role="tab"]`
	case "ArrowDown", "ArrowUp":
		group, items = ".menu-box, .menu", `[role^="menuitem"]`
	default:
		return false
	}
	if by = 1; key == "ArrowLeft" || key == "ArrowUp" {
		by = -1
	}
	if target.Get("closest").Type() != js.TypeFunction {
		return false
	}
	box := target.Call("closest", group)
	if !box.Truthy() || isTyping(target) {
		return false
	}
	list := box.Call("querySelectorAll", items)
	n := list.Length()
	if n == 0 {
		return false
	}
	at := -1
	for i := 0; i < n; i++ {
		if list.Index(i).Equal(target) {
			at = i
		}
	}
	if at < 0 && by < 0 {
		at = 0
	}
	next := list.Index(((at+by)%n + n) % n)
	next.Call("focus")
	if group == `[role="tablist"]` {
		next.Call("click")
	}
	e.Call("preventDefault")
	return true
}
