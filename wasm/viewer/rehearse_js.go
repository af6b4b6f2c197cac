package main

import (
	"runtime"
	"syscall/js"
	"time"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/protocol"
)

// rehearsedFonts are the fonts of a dump's screen that the start page does not show, as the style sheets have them. Laying out the first
// text of a size or a weight makes the browser ask another process for it, one after the other: half of what the first screen takes.
var rehearsedFonts = []string{
	"10px var(--cp-font)", "600 10px var(--cp-font)", "11px var(--cp-font)", "600 11px var(--cp-font)", "11.5px var(--cp-font)",
	"12px var(--cp-font)", "600 12px var(--cp-font)", "13px var(--cp-font)", "600 13px var(--cp-font)", "700 13px var(--cp-font)", "18px var(--cp-font)", "600 18px var(--cp-font)",
	"11px var(--cp-mono)", "11.5px var(--cp-mono)", "600 11.5px var(--cp-mono)", "12px var(--cp-mono)", "italic 12px var(--cp-mono)", "600 12px var(--cp-mono)",
	"600 12.5px var(--cp-mono)", "600 16px var(--cp-mono)",
}

// rehearsedText has what mostly stands in them, and the characters for which another font may be needed.
const rehearsedText = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .,:;()<>[]{}+-*/&%_'…·“”’↳▾≠✖✓Ø\u200e"

// rehearsedAtOnce is how long a task of it takes, or as long as its one step does.
const rehearsedAtOnce = 6 * time.Millisecond

// rehearse does beforehand what is done when a dump comes, while nobody has dropped anything, in small tasks: what builds its screen (app.Rehearsal), what
// takes it, the fonts, and what draws. Their texts stay where nobody sees them, since a browser forgets fonts that nothing is written in.
func (h *host) rehearse(r *app.Rehearsal, fonts []string) {
	defer survive()
	aside := h.viewer.Get("live").Get("parentNode")
	box := h.window.Get("document").Call("createElement", "div")
	box.Set("className", "offscreen")
	box.Call("setAttribute", "aria-hidden", "true")
	box.Get("dataset").Set("rehearsal", "")
	box.Get("style").Set("visibility", "hidden")
	var d *redraw
	var step func()
	step = func() {
		defer survive()
		switch {
		case !h.page.Empty() || h.page.Reading.Job.Active: // it is in earnest
			return
		case r != nil:
			more := true
			for began := time.Now(); more && time.Since(began) < rehearsedAtOnce; {
				more = r.Step()
			}
			if !more {
				d = h.newRedraw(r, aside)
				r = nil
				aside.Call("append", box)
				h.rehearseDrop()
			}
		case len(fonts) > 0:
			line := h.window.Get("document").Call("createElement", "span")
			line.Get("style").Set("font", fonts[0])
			line.Set("textContent", rehearsedText)
			box.Call("append", line)
			line.Get("offsetWidth")
			fonts = fonts[1:]
		case d != nil:
			if !d.step() {
				d = nil
			}
		default:
			// What was built is garbage now. Collected later, it would be while the first stack is drawn.
			runtime.GC()
			return
		}
		h.later(15, step)
	}
	step()
}

// rehearseDrop takes a file as if it were dropped, and sends it nowhere.
func (h *host) rehearseDrop() {
	data := js.Global().Get("DataTransfer").New()
	data.Get("items").Call("add", js.Global().Get("File").New([]any{"a"}, "a"))
	channel := js.Global().Get("MessageChannel").New()
	h.take(&dom.DataTransfer{Value: data}, func(files []app.File, _ []string) {
		for _, f := range files {
			f.Size()
			(&workerEngine{worker: channel.Get("port1")}).Send(protocol.Call{Request: &protocol.Add{Name: f.Name()}}, f)
		}
	})
	channel.Get("port1").Call("close")
}
