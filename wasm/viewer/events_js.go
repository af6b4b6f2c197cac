package main

import (
	"fmt"
	"syscall/js"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/web/app"
)

// listen adds a few native listeners at the root for everything that the user does. Vugu's own "@"
// listeners would serialize the target element with everything in it, at each event.
func (h *browser) listen() {
	h.measure = js.FuncOf(func(js.Value, []js.Value) any {
		defer recoverPanic()
		h.measureLists()
		return nil
	})
	h.native(h.root.Underlying(), "click", h.clicked, false)
	h.native(h.root.Underlying(), "input", h.typed, false)
	h.native(h.root.Underlying(), "keydown", h.pressed, false)
	// Scroll events do not bubble, so the listener captures them on their way to the lists.
	h.native(h.root.Underlying(), "scroll", func(js.Value) { h.scheduleMeasure() }, true)
	h.native(h.window, "resize", func(js.Value) { h.scheduleMeasure() }, true)
	h.native(h.low, "change", func(js.Value) { h.change(func(p *app.Page) { p.Panel.Changed() }) }, false)
	if h.owns() {
		// Keys also work when nothing has the focus: then the body gets them.
		h.native(h.window.Get("document").Get("body"), "keydown", func(e js.Value) {
			if e.Get("target").Equal(h.window.Get("document").Get("body")) {
				h.pressed(e)
			}
		}, false)
		h.native(h.window, "hashchange", func(js.Value) {
			hash := h.hash()
			h.addresses, h.entry = h.addresses+1, false // cancel the pending write, which is about the place before
			h.change(func(p *app.Page) { p.Address.Changed(hash) })
		}, false)
	}
	if h.owns() && h.window.Get("parent").Equal(h.window) {
		// Closing the page loses the files, so have the browser ask.
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

// recoverPanic recovers from a panic in a callback, and writes it to the console. Without it the
// panic would end the program, and with it the page.
func recoverPanic() {
	if p := recover(); p != nil {
		js.Global().Get("console").Call("error", fmt.Sprintf("Crashpane: %v", p))
	}
}

// element and event give a value the methods of package dom. They replace dom.WrapElement and
// dom.WrapEvent, which compare a value with some sixty classes at each event, and would add all of
// these to the page's program (60 KB).
func element(v js.Value) *dom.BasicElement {
	return &dom.BasicElement{BasicNode: &dom.BasicNode{Value: v}}
}

func event(v js.Value) *dom.BasicEvent { return &dom.BasicEvent{Value: v} }

// native adds a listener.
func (h *browser) native(target js.Value, event string, do func(js.Value), passive bool) {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer recoverPanic()
		do(args[0])
		return nil
	})
	target.Call("addEventListener", event, f, map[string]any{"passive": passive, "capture": passive})
	if target.Equal(h.window) {
		// The other listeners are removed with the viewer's elements.
		h.undo = append(h.undo, func() { target.Call("removeEventListener", event, f, passive) })
	}
}

// closest returns the innermost element with an attribute that contains a node, or is it.
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

// clicked does the action of the innermost element with data-act. A click elsewhere closes the open
// menu.
func (h *browser) clicked(e js.Value) {
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

// typed passes the text of a field with data-input to the page.
func (h *browser) typed(e js.Value) {
	el := closest(e.Get("target"), "data-input")
	if !el.Truthy() {
		return
	}
	field, value := attribute(el, "data-input"), el.Get("value").String()
	h.change(func(p *app.Page) { p.Input(field, value) })
}

// pressed handles a key: first splitters, tabs, menus and lists, which have keys of their own by
// their roles, then the page.
func (h *browser) pressed(e js.Value) {
	if e.Get("key").String() == "k" && (e.Get("ctrlKey").Bool() || e.Get("metaKey").Bool()) && !h.page.Empty() {
		event(e).PreventDefault()
		h.change(func(p *app.Page) { p.Act("go-to", "") })
		return
	}
	// Leave the browser's shortcuts, and keys of an input method, alone.
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
	if target.Get("id").String() == "go-to" {
		h.handles(e, func(p *app.Page) bool { return p.Key(key, true) })
		return
	}
	if act := attribute(target, "data-enter"); act != "" && key == "Enter" {
		event(e).PreventDefault()
		h.change(func(p *app.Page) { p.Act(act, "") })
		return
	}
	list := closest(target, "data-list")
	inThreads := list.Truthy() && list.Get("id").String() == "threads"
	isTree := list.Truthy() && attribute(list, "role") == "tree" && (key == "ArrowLeft" || key == "ArrowRight" || key == "Enter")
	if list.Truthy() && (!inThreads || key == "Home" || key == "End") && list.Get("id").String() != "stack" && (isMove(key) || isTree) {
		// In lists with a selection, arrow keys move it; other lists scroll.
		h.handles(e, func(p *app.Page) bool { return p.ListKey(list.Get("id").String(), key) })
		return
	}
	if inThreads { // arrow keys in the list of threads do the same as n and p
		key = threadKey(key)
	}
	// Arrow keys belong to the page only if nothing has the focus; otherwise they scroll the
	// focused element.
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
	if h.handles(e, func(p *app.Page) bool { return p.Key(key, isTyping(target)) }) {
		e.Call("stopPropagation")
	}
}

// threadKey is the key of the page that does what a key does in the list of threads.
func threadKey(key string) string {
	switch key {
	case "ArrowDown":
		return "n"
	case "ArrowUp":
		return "p"
	}
	return key
}

// handles passes a key to the page. If the page has used it, the browser does not use it too.
func (h *browser) handles(e js.Value, do func(p *app.Page) bool) (used bool) {
	if h.change(func(p *app.Page) { used = do(p) }); used {
		event(e).PreventDefault()
	}
	return used
}

// isMove reports whether a key moves a selection, or scrolls.
func isMove(key string) bool {
	switch key {
	case "ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End":
		return true
	}
	return false
}

// roves moves the focus within tabs and menus with the arrow keys, as the ARIA roles tablist and
// menu require, and within an open dialog with Tab.
func (h *browser) roves(e js.Value, key string, target js.Value) bool {
	by := 0
	group, items := "", ""
	switch key {
	case "ArrowRight", "ArrowLeft":
		group, items = `[role="tablist"]`, `[role="tab"]`
	case "ArrowDown", "ArrowUp":
		group, items = ".menu-box, .menu", `[role^="menuitem"]`
	case "Tab":
		group, items = ".dialog", "input, button:not([hidden], :disabled), [tabindex]"
	default:
		return false
	}
	if by = 1; key == "ArrowLeft" || key == "ArrowUp" || key == "Tab" && e.Get("shiftKey").Bool() {
		by = -1
	}
	if target.Get("closest").Type() != js.TypeFunction {
		return false
	}
	box := target.Call("closest", group)
	if key == "Tab" {
		box = h.root.Underlying().Call("querySelector", group)
	}
	if !box.Truthy() || key != "Tab" && isTyping(target) {
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
