package main

import (
	"strings"
	"syscall/js"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/table"
)

// browser implements host.Host. The loader decides what the viewer fills: the whole
// window, or a shadow root in a host page.
type browser struct {
	viewer    js.Value
	root      *dom.BasicElement // the element that the viewer fills, which has its listeners
	window    js.Value
	page      *app.Page
	change    func(func(*app.Page))
	changeIf  func(func(*app.Page) (draw bool))
	draws     int      // how often the page was drawn
	after     []func() // called after the next render
	low       js.Value // the media query lowWindow
	measure   js.Func
	measured  bool     // a measurement is pending
	addresses int      // how often the address was set
	entry     bool     // the pending address makes a new entry of the history
	undo      []func() // removes the listeners from the window
	busy      bool     // Work.Busy when the page was last drawn
	turns     int      // how often busy changed
	timer     js.Value
}

func newBrowser(viewer js.Value) *browser {
	window := viewer.Get("hostWindow")
	return &browser{viewer: viewer, root: element(viewer.Get("root")), window: window, low: window.Call("matchMedia", lowWindow)}
}

// try calls browser functions that may throw (storage, clipboard), and returns the exception's
// message.
func try(do func()) (problem string) {
	defer func() {
		if p := recover(); p != nil {
			problem = "the browser refused"
			if e, ok := p.(js.Error); ok {
				problem = e.Get("message").String()
			}
		}
	}()
	do()
	return ""
}

// owns reports whether the viewer is the whole page, and not embedded in one.
func (h *browser) owns() bool { return h.viewer.Get("ownsWindow").Truthy() }

func (h *browser) hash() string {
	if !h.owns() {
		return ""
	}
	return h.window.Get("location").Get("hash").String()
}

func (h *browser) SetTitle(title string) {
	if h.owns() {
		h.window.Get("document").Set("title", title)
	}
}

// SetAddress writes the address when it has not changed for 250 ms. Holding a key down changes it
// faster than browsers allow, and places that the user only passes through need no entry in the
// history.
func (h *browser) SetAddress(hash string, entry bool) {
	if !h.owns() {
		return
	}
	h.addresses++
	mine := h.addresses
	h.entry = h.entry || entry
	h.later(250, func() {
		if mine != h.addresses {
			return
		}
		to, how := "#"+hash, "replaceState"
		if hash == "" {
			to = h.window.Get("location").Get("pathname").String() + h.window.Get("location").Get("search").String()
		}
		if h.entry {
			how = "pushState"
		}
		h.entry = false
		try(func() { h.window.Get("history").Call(how, js.Null(), "", to) })
	})
}

func (h *browser) Link(hash string) string {
	address, _, _ := strings.Cut(h.window.Get("location").Get("href").String(), "#")
	return address + "#" + hash
}

func (h *browser) Load(key string) (value string) {
	h.stored(func(storage js.Value) {
		if v := storage.Call("getItem", "crashpane."+key); v.Type() == js.TypeString {
			value = v.String()
		}
	})
	return value
}

func (h *browser) Store(key, value string) {
	h.stored(func(storage js.Value) { storage.Call("setItem", "crashpane."+key, value) })
}

// stored calls do with the storage of preferences, unless the viewer or the browser refuses it. A
// browser that does throws when the property is read, which a program only survives in a call.
func (h *browser) stored(do func(storage js.Value)) {
	if h.viewer.Get("storage").Truthy() {
		try(func() { do(js.Global().Get("Reflect").Call("get", h.window, "localStorage")) })
	}
}

func (h *browser) SetTheme(theme string) {
	target := h.viewer.Get("themed")
	if theme == "" {
		target.Call("removeAttribute", "data-theme")
		return
	}
	target.Call("setAttribute", "data-theme", theme)
}

func (h *browser) System() string {
	agent := h.window.Get("navigator").Get("userAgent").String()
	switch {
	case strings.Contains(agent, "Windows"):
		return host.Windows
	case strings.Contains(agent, "Mac OS"):
		return host.Mac
	}
	return host.Linux
}

func (h *browser) KeptSize(done func(int64, int)) {
	h.promised(func(all js.Value, problem string) {
		if problem == "" {
			done(int64(all.Get("bytes").Float()), all.Get("count").Int())
		}
	}, h.viewer.Get("kept"), "size")
}

func (h *browser) ForgetKept(done func()) {
	h.promised(func(js.Value, string) { done() }, h.viewer.Get("kept"), "clear")
}

// promised calls a function of the loader, and passes on the result of its promise, or the problem.
func (h *browser) promised(do func(answer js.Value, problem string), of js.Value, name string, args ...any) {
	go func() {
		var answer js.Value
		problem := try(func() { answer = of.Call(name, args...) })
		if problem == "" {
			answer, problem = settle(answer)
		}
		h.change(func(*app.Page) { do(answer, problem) })
	}()
}

// once makes a JavaScript function that is released when it is called.
func once(do func(args []js.Value)) js.Func {
	var f js.Func
	f = js.FuncOf(func(_ js.Value, args []js.Value) any {
		f.Release()
		do(args)
		return nil
	})
	return f
}

func (h *browser) later(milliseconds int, do func()) {
	h.window.Call("setTimeout", once(func([]js.Value) { do() }), milliseconds)
}

func (h *browser) After(milliseconds int, do func() (draw bool)) {
	h.later(milliseconds, func() { h.changeIf(func(*app.Page) bool { return do() }) })
}

// NextFrame implements host.Host. In a hidden tab the browser paints nothing, so it waits at most
// 200 ms.
func (h *browser) NextFrame(do func()) {
	done := false
	act := func() {
		if !done {
			done = true
			h.changeIf(func(*app.Page) bool { do(); return false })
		}
	}
	h.after = append(h.after, act)
	h.later(200, act)
}

// Copy implements host.Host. It tries the clipboard object first, then the old way, which works in
// more contexts but is deprecated.
func (h *browser) Copy(text string, done func(string)) {
	tell := func(problem string) { h.change(func(*app.Page) { done(problem) }) }
	clipboard := h.window.Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		// Without https, pages have no clipboard object, but document.execCommand still works.
		h.later(0, func() { tell(h.copyOld(text)) })
		return
	}
	go func() {
		problem := ""
		var done js.Value
		if problem = try(func() { done = clipboard.Call("writeText", text) }); problem == "" {
			_, problem = settle(done)
		}
		if problem != "" && h.copyOld(text) == "" {
			problem = ""
		}
		tell(problem)
	}()
}

// copyOld copies by document.execCommand, and returns the problem.
func (h *browser) copyOld(text string) string {
	document := h.window.Get("document")
	ok := false
	problem := try(func() {
		area := document.Call("createElement", "textarea")
		area.Set("value", text)
		area.Set("className", "offscreen")
		document.Get("body").Call("appendChild", area)
		area.Call("select")
		ok = document.Call("execCommand", "copy").Bool()
		area.Call("remove")
	})
	if problem == "" && !ok {
		problem = "it has no clipboard for this page"
	}
	return problem
}

func (h *browser) Download(name, mime string, parts ...string) {
	all := make([]any, len(parts))
	for i, part := range parts {
		all[i] = part
	}
	h.downloadBlob(name, js.Global().Get("Blob").New(all, map[string]any{"type": mime}))
}

// downloadBlob has the browser save a Blob, as if the user had clicked a link with the attribute
// download.
func (h *browser) downloadBlob(name string, blob js.Value) {
	document := h.window.Get("document")
	url := js.Global().Get("URL").Call("createObjectURL", blob)
	link := document.Call("createElement", "a")
	link.Set("href", url)
	link.Set("download", name)
	link.Call("click")
	// The browser needs the URL until it has begun the download, and does not report when that is.
	h.later(30_000, func() { js.Global().Get("URL").Call("revokeObjectURL", url) })
}

func (h *browser) Focus(id string) {
	if id == "search" {
		// The search field always exists, so focus it at once: the next keys that the user types
		// must go into it.
		if el := h.find(id); el.Truthy() {
			el.Call("focus")
			return
		}
	}
	if !h.owns() && !h.root.Call("matches", ":focus-within").Bool() {
		return // the focus is elsewhere in the host page, and must stay there
	}
	h.onRendered(id, func(el js.Value) { el.Call("focus", map[string]any{"preventScroll": true}) })
}

// onRendered calls do with the element with an id, if there is one after the next render.
func (h *browser) onRendered(id string, do func(el js.Value)) {
	h.after = append(h.after, func() {
		if el := h.find(id); el.Truthy() {
			do(el)
		}
	})
}

// find returns the element with an id, or null.
func (h *browser) find(id string) js.Value { return h.root.Call("querySelector", "#"+id) }

// ShowDocument implements host.Host. Vugu leaves the frame alone, because it has drawn the element
// without content. A sandbox without permissions gives the document an origin of its own, without
// scripts, forms and navigation; the policy of the page holds in it, too.
func (h *browser) ShowDocument(id, html string) {
	h.onRendered(id, func(box js.Value) {
		frame := h.window.Get("document").Call("createElement", "iframe")
		frame.Call("setAttribute", "sandbox", "")
		frame.Set("title", "Preview")
		frame.Set("srcdoc", html)
		box.Call("replaceChildren", frame)
	})
}

// Progress implements host.Host. It sets the same attribute as the next render, which therefore has
// nothing to change.
func (h *browser) Progress(bar string, percent int) {
	if el := h.root.Call("querySelector", "progress."+bar); el.Truthy() {
		el.Call("setAttribute", "value", percent)
	}
}

func (h *browser) ShowBackground(text string, percent int) {
	box := h.root.Call("querySelector", ".background")
	if !box.Truthy() {
		return
	}
	bar := box.Call("querySelector", "progress")
	if percent < 0 {
		bar.Call("removeAttribute", "value")
	} else {
		bar.Call("setAttribute", "value", percent)
	}
	box.Call("querySelector", ".background-text").Set("textContent", text)
	box.Set("hidden", false)
}

func (h *browser) Shift(list string, rows int) {
	h.onRendered(list, func(box js.Value) {
		box.Set("scrollTop", box.Get("scrollTop").Float()+float64(rows*rowHeight(box)))
	})
}

// Reveal implements host.Host. It scrolls no further than needed.
func (h *browser) Reveal(list string, row int) {
	h.onRendered(list, func(box js.Value) {
		height := rowHeight(box)
		top, view := box.Get("scrollTop").Float(), box.Get("clientHeight").Float()
		at := float64(row * height)
		switch {
		case at < top:
			box.Set("scrollTop", at)
		case at+float64(height) > top+view:
			box.Set("scrollTop", at+float64(height)-view)
		}
	})
}

// rowHeight returns the height of a list's rows, in pixels.
func rowHeight(list js.Value) int {
	switch list.Get("id").String() {
	case "threads":
		return table.ThreadHeight
	case "content", "code", "memory", "stack-words":
		return table.LineHeight
	}
	return table.RowHeight
}

// lowWindow is the style sheet's query of medium windows that have no room for twelve rows of a stack
// above an open lower panel.
const lowWindow = "(max-width: 1080px) and (max-height: 860px)"

func (h *browser) Low() bool { return h.low.Get("matches").Bool() }

func (h *browser) Announce(text string) { h.announce(text) }

// announce writes to the live region, from which screen readers read. The loader makes it outside
// of what Vugu draws, because text would be read again whenever it is drawn again.
func (h *browser) announce(text string) {
	if live := h.viewer.Get("live"); live.Truthy() {
		live.Set("textContent", text)
	}
}

func (h *browser) PickFiles()  { h.viewer.Get("filesInput").Call("click") }
func (h *browser) PickFolder() { h.viewer.Get("folderInput").Call("click") }

// rendered is called after each render. What has to wait for a render (after) runs in the next
// frame: measuring elements makes the browser lay out the page, and in that frame it does so
// anyway.
func (h *browser) rendered() {
	h.draws++
	h.markBusy()
	h.scheduleMeasure()
	if doc := h.viewer.Get("themed"); doc.Get("dataset").Get("ready").IsUndefined() {
		doc.Get("dataset").Set("ready", "1")
		h.notify("ready", nil)
	}
}

// busyFrom is how long work must take before the page shows it, in milliseconds. Shorter work is
// over before the user could read about it.
const busyFrom = 200

// markBusy has the style sheet show the bar of work after busyFrom. A CSS animation with a delay
// could do the same, but the browser would compute sixty frames a second for the invisible bar,
// which takes a tenth of two cores from the engine.
func (h *browser) markBusy() {
	if h.busy == h.page.Work.Busy() {
		return
	}
	h.busy = !h.busy
	h.turns++
	mine, data := h.turns, h.root.Underlying().Get("dataset")
	if !h.busy {
		data.Delete("busy")
		return
	}
	h.later(busyFrom, func() {
		if h.turns == mine {
			data.Set("busy", "")
		}
	})
}

// scheduleMeasure measures in the next frame, at most once in a frame.
func (h *browser) scheduleMeasure() {
	if h.measured {
		return
	}
	h.measured = true
	h.window.Call("requestAnimationFrame", h.measure)
}

// measureLists tells the page which rows of each list are visible. It draws nothing: if rows are
// missing, the query's result draws them.
func (h *browser) measureLists() {
	h.measured = false
	// Callbacks may add others, for the render after this one.
	todo := h.after
	h.after = nil
	for _, do := range todo {
		do()
	}
	lists := h.root.Underlying().Call("querySelectorAll", "[data-list]")
	for i := 0; i < lists.Length(); i++ {
		box := lists.Index(i)
		height := box.Get("clientHeight").Int()
		if height == 0 {
			continue
		}
		row := rowHeight(box)
		first := box.Get("scrollTop").Int() / row
		h.page.Screen.Scrolled(box.Get("id").String(), first, height/row+2)
	}
	// The width of the stack's first column is a number of characters. From that follows how many fit
	// into the second.
	if head := h.find("stack-head"); head.Truthy() {
		number := head.Get("children").Index(0).Call("getBoundingClientRect").Get("width").Float()
		name := head.Get("children").Index(1).Call("getBoundingClientRect").Get("width").Float()
		if number > 0 && h.page.Stack.SetNameWidth(int(float64(app.NumberWidth(&h.page.Stack))*name/number)) {
			h.change(func(*app.Page) {})
		}
	}
}

// isTyping reports whether an element takes text.
func isTyping(el js.Value) bool {
	switch strings.ToUpper(el.Get("tagName").String()) {
	case "INPUT", "TEXTAREA", "SELECT":
		return true
	}
	return el.Get("isContentEditable").Truthy()
}
