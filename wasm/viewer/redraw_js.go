package main

import (
	"syscall/js"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/domrender"

	"github.com/crashpane/crashpane/web/app"
)

// redraw draws screens invisibly as a warm-up: before the first dump arrives, it runs the renderer,
// Vugu's JavaScript helper, which writes to the document, and the browser's style and layout.
type redraw struct {
	renderer *domrender.JSRenderer
	screens  [2]vugu.Builder
	box      js.Value
	aside    js.Value
	state    js.Value // state of Vugu's helper, with another element to draw in
	drawn    int
}

// redraws is how often it draws: until the browser has optimized the functions.
const redraws = 12

// newRedraw makes an invisible element of the window's size, and a renderer that draws in it.
func (h *browser) newRedraw(r *app.WarmUp, aside js.Value) *redraw {
	document := h.window.Get("document")
	d := &redraw{screens: r.Screens(), box: document.Call("createElement", "div"), aside: aside}
	mount := document.Call("createElement", "div")
	d.box.Call("append", mount)
	d.box.Set("className", "crashpane-root")
	d.box.Get("style").Set("cssText", "position:fixed;inset:0;visibility:hidden")
	d.state = js.ValueOf(map[string]any{"mountPointEl": mount})
	d.withOwnState(func() { d.renderer, _ = domrender.New("-") })
	return d
}

// withOwnState calls do while Vugu's helper has the warm-up's state in place of the page's.
func (d *redraw) withOwnState(do func()) {
	const name = "vuguState"
	window := js.Global().Get("window")
	own := window.Get(name)
	window.Set(name, d.state)
	defer window.Set(name, own)
	do()
}

// step draws one of the two screens, in turn, and reports whether there is more to do. The element
// is in the document only during this call, so that no other task has to lay it out.
func (d *redraw) step() (more bool) {
	env, err := vugu.NewBuildEnv()
	if err != nil || d.renderer == nil {
		return false
	}
	d.withOwnState(func() { err = d.renderer.Render(env.RunBuild(d.screens[d.drawn%2])) })
	d.aside.Call("append", d.box)
	d.box.Get("offsetWidth")
	d.box.Call("remove")
	d.drawn++
	return d.drawn < redraws && err == nil
}
