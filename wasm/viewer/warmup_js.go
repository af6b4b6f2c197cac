package main

import (
	"runtime"
	"syscall/js"
	"time"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// warmUpFonts are the fonts of a dump's screen that the start screen does not have, as in the style
// sheets. For the first text in a size or a weight the browser asks another process for the font,
// one after the other, which would be half of the time of the first screen.
// build/browser/first.test.mjs checks that the list is complete.
var warmUpFonts = []string{
	"10px var(--cp-font)", "600 10px var(--cp-font)", "11px var(--cp-font)", "600 11px var(--cp-font)", "11.5px var(--cp-font)",
	"12px var(--cp-font)", "600 12px var(--cp-font)", "13px var(--cp-font)", "600 13px var(--cp-font)", "700 13px var(--cp-font)", "18px var(--cp-font)", "600 18px var(--cp-font)",
	"11px var(--cp-mono)", "11.5px var(--cp-mono)", "600 11.5px var(--cp-mono)", "12px var(--cp-mono)", "italic 12px var(--cp-mono)", "600 12px var(--cp-mono)",
	"600 12.5px var(--cp-mono)", "600 16px var(--cp-mono)",
}

// warmUpText has the usual characters, and those for which the browser may need another font.
const warmUpText = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .,:;()<>[]{}+-*/&%_'…·“”’↳▾≠✖✓Ø\u200e"

// warmUpTask bounds a task of the warm-up: it begins no further step after this time.
const warmUpTask = 6 * time.Millisecond

// warmUp warms up, in small tasks while the start screen is idle, everything that runs when a dump
// arrives: building its screen (app.WarmUp), handling a drop, fonts, and drawing. The elements with
// the fonts' texts stay in the document, invisibly, because browsers drop fonts that are not in
// use.
func (h *browser) warmUp(r *app.WarmUp, fonts []string) {
	defer recoverPanic()
	aside := h.viewer.Get("live").Get("parentNode")
	box := h.window.Get("document").Call("createElement", "div")
	box.Set("className", "offscreen")
	box.Call("setAttribute", "aria-hidden", "true")
	box.Get("dataset").Set("warmUp", "")
	box.Get("style").Set("visibility", "hidden")
	var d *redraw
	var step func()
	step = func() {
		defer recoverPanic()
		switch {
		case !h.page.Empty() || h.page.Reading.Job.Active: // the user has dropped something
			return
		case r != nil:
			more := true
			for began := time.Now(); more && time.Since(began) < warmUpTask; {
				more = r.Step()
			}
			if !more {
				d = h.newRedraw(r, aside)
				r = nil
				aside.Call("append", box)
				h.warmUpDrop()
			}
		case len(fonts) > 0:
			line := h.window.Get("document").Call("createElement", "span")
			line.Get("style").Set("font", fonts[0])
			line.Set("textContent", warmUpText)
			box.Call("append", line)
			line.Get("offsetWidth")
			fonts = fonts[1:]
		case d != nil:
			if !d.step() {
				d = nil
			}
		default:
			// Collect the garbage of the warm-up now, and not while the first stack is drawn.
			runtime.GC()
			return
		}
		h.later(15, step)
	}
	step()
}

// warmUpDrop handles an empty file as if the user had dropped it, and sends it to a closed channel.
func (h *browser) warmUpDrop() {
	data := js.Global().Get("DataTransfer").New()
	data.Get("items").Call("add", js.Global().Get("File").New([]any{"a"}, "a"))
	channel := js.Global().Get("MessageChannel").New()
	h.take(&dom.DataTransfer{Value: data}, func(files []host.File, _ []string) {
		for _, f := range files {
			f.Size()
			(&workerEngine{worker: channel.Get("port1")}).Send(protocol.Call{Request: &protocol.Add{Names: []string{f.Name()}}}, f)
		}
	})
	channel.Get("port1").Call("close")
}
