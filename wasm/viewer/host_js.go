package main

import (
	"strings"
	"syscall/js"

	"honnef.co/go/js/dom/v2"

	"github.com/crashpane/crashpane/web/app"
)

// host is the browser as the page sees it (app.Host). The loader decides what lies behind it: the whole window, or a
// shadow root in somebody's page.
type host struct {
	viewer    js.Value
	root      *dom.BasicElement // all that the viewer draws, and where its events are heard
	window    js.Value
	page      *app.Page
	change    func(func(*app.Page))
	changeIf  func(func(*app.Page) (draw bool))
	draws     int      // how often the page was drawn
	after     []func() // to be done after the next render
	measure   js.Func
	measured  bool     // a measurement is on its way
	addresses int      // how often the address was set
	entry     bool     // what is to be written is a new entry of the history
	undo      []func() // takes back what was done to the window
	busy      bool     // the page was, when it was drawn last
	turns     int      // how often it began or ended to be
	timer     js.Value
}

func newHost(viewer js.Value) *host {
	return &host{viewer: viewer, root: element(viewer.Get("root")), window: viewer.Get("hostWindow")}
}

// try calls into the browser where it may refuse by an exception (storage, clipboard), and says so.
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

func (h *host) owns() bool { return h.viewer.Get("ownsWindow").Truthy() }

func (h *host) hash() string {
	if !h.owns() {
		return ""
	}
	return h.window.Get("location").Get("hash").String()
}

func (h *host) SetTitle(title string) {
	if h.owns() {
		h.window.Get("document").Set("title", title)
	}
}

// SetAddress waits until the state has rested for a moment: holding a key down changes it faster than browsers let an address change, and
// only where a person stays is an entry of the history.
func (h *host) SetAddress(hash string, entry bool) {
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

func (h *host) Load(key string) (value string) {
	try(func() {
		if v := h.viewer.Get("storage").Call("getItem", "crashpane."+key); v.Type() == js.TypeString {
			value = v.String()
		}
	})
	return value
}

func (h *host) Store(key, value string) {
	try(func() { h.viewer.Get("storage").Call("setItem", "crashpane."+key, value) })
}

func (h *host) SetTheme(theme string) {
	target := h.viewer.Get("themed")
	if theme == "" {
		target.Call("removeAttribute", "data-theme")
		return
	}
	target.Call("setAttribute", "data-theme", theme)
}

func (h *host) System() string {
	agent := h.window.Get("navigator").Get("userAgent").String()
	switch {
	case strings.Contains(agent, "Windows"):
		return app.SystemWindows
	case strings.Contains(agent, "Mac OS"):
		return app.SystemMac
	}
	return app.SystemLinux
}

func (h *host) Cores() int {
	if n := h.window.Get("navigator").Get("hardwareConcurrency"); n.Type() == js.TypeNumber {
		return n.Int()
	}
	return 2
}

// kept calls a function of the loader's storage and hands on what it promises: undefined where the browser refuses.
func (h *host) kept(do func(js.Value), name string, args ...any) {
	go func() {
		answer := js.Undefined()
		try(func() {
			promised, problem := settle(h.viewer.Get("kept").Call(name, args...))
			if problem == "" {
				answer = promised
			}
		})
		h.change(func(*app.Page) { do(answer) })
	}()
}

func (h *host) Keep(key string, index app.File) {
	if f, ok := index.(*jsFile); ok {
		h.kept(func(js.Value) {}, "put", key, f.value)
	}
}

func (h *host) Kept(key string, done func(app.File)) {
	h.kept(func(found js.Value) {
		if !found.Truthy() {
			done(nil)
			return
		}
		done(newBytes(found))
	}, "get", key)
}

func (h *host) KeptSize(done func(int64, int)) {
	h.kept(func(all js.Value) {
		if all.Truthy() {
			done(int64(all.Get("bytes").Float()), all.Get("count").Int())
		}
	}, "size")
}

func (h *host) ForgetKept(done func()) { h.kept(func(js.Value) { done() }, "clear") }

// once is a JavaScript function that is freed when it was called.
func once(do func(args []js.Value)) js.Func {
	var f js.Func
	f = js.FuncOf(func(_ js.Value, args []js.Value) any {
		f.Release()
		do(args)
		return nil
	})
	return f
}

func (h *host) later(milliseconds int, do func()) {
	h.window.Call("setTimeout", once(func([]js.Value) { do() }), milliseconds)
}

func (h *host) After(milliseconds int, do func() (draw bool)) {
	h.later(milliseconds, func() { h.changeIf(func(*app.Page) bool { return do() }) })
}

// NextFrame does not wait for ever: a page that nobody sees paints nothing.
func (h *host) NextFrame(do func()) {
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

func (h *host) Copy(text string, done func(string)) {
	tell := func(problem string) { h.change(func(*app.Page) { done(problem) }) }
	clipboard := h.window.Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		// Without https a browser has no clipboard for pages, but still its oldest way of copying.
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

func (h *host) copyOld(text string) string {
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

func (h *host) Download(name, mime, text string) {
	h.downloadBlob(name, js.Global().Get("Blob").New([]any{text}, map[string]any{"type": mime}))
}

func (h *host) downloadBlob(name string, blob js.Value) {
	document := h.window.Get("document")
	url := js.Global().Get("URL").Call("createObjectURL", blob)
	link := document.Call("createElement", "a")
	link.Set("href", url)
	link.Set("download", name)
	link.Call("click")
	h.later(30_000, func() { js.Global().Get("URL").Call("revokeObjectURL", url) })
}

func (h *host) Focus(id string) {
	if id == "search" {
		// It is always there, and what is typed behind the key that leads to it belongs into it.
		if el := h.find(id); el.Truthy() {
			el.Call("focus")
			return
		}
	}
	if !h.owns() && !h.root.Call("matches", ":focus-within").Bool() {
		return // it is somewhere else in the page around, where nobody has called for it to leave
	}
	h.after = append(h.after, func() {
		if el := h.find(id); el.Truthy() {
			el.Call("focus", map[string]any{"preventScroll": true})
		}
	})
}

// find is the element of an id, or null.
func (h *host) find(id string) js.Value { return h.root.Call("querySelector", "#"+id) }

// Progress writes what the next render would write.
func (h *host) Progress(bar string, percent int) {
	if el := h.root.Call("querySelector", "progress."+bar); el.Truthy() {
		el.Call("setAttribute", "value", percent)
	}
}

func (h *host) Later(text string, percent int) {
	box := h.root.Call("querySelector", ".later")
	if !box.Truthy() {
		return
	}
	bar := box.Call("querySelector", "progress")
	if percent < 0 {
		bar.Call("removeAttribute", "value")
	} else {
		bar.Call("setAttribute", "value", percent)
	}
	box.Call("querySelector", ".later-text").Set("textContent", text)
	box.Set("hidden", false)
}

func (h *host) Shift(list string, rows int) {
	h.after = append(h.after, func() {
		if box := h.find(list); box.Truthy() {
			box.Set("scrollTop", box.Get("scrollTop").Float()+float64(rows*rowHeight(box)))
		}
	})
}

func (h *host) Reveal(list string, row int) {
	h.after = append(h.after, func() {
		box := h.find(list)
		if !box.Truthy() {
			return
		}
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

// rowHeight is the height of a list's rows, in pixels.
func rowHeight(list js.Value) int {
	switch list.Get("id").String() {
	case "threads":
		return app.ThreadHeight
	case "content":
		return app.LineHeight
	}
	return app.RowHeight
}

func (h *host) Announce(text string) { h.announce(text) }

// announce writes into the live region that the loader made outside of what is drawn: text that is drawn again would be
// read again.
func (h *host) announce(text string) {
	if live := h.viewer.Get("live"); live.Truthy() {
		live.Set("textContent", text)
	}
}

func (h *host) PickFiles()  { h.viewer.Get("filesInput").Call("click") }
func (h *host) PickFolder() { h.viewer.Get("folderInput").Call("click") }

// rendered says that the page can be used. What had to wait for a render waits for the next frame: asking where things are
// makes the browser lay out the page, which it does then anyway.
func (h *host) rendered() {
	h.draws++
	h.markBusy()
	h.scheduleMeasure()
	if doc := h.viewer.Get("themed"); doc.Get("dataset").Get("ready").IsUndefined() {
		doc.Get("dataset").Set("ready", "1")
		h.tell("ready", nil)
	}
}

// busyFrom is from when on a person is told that there is work, in milliseconds: what takes less is over before anybody could read it.
const busyFrom = 200

// markBusy has the style sheet show the bar of work that goes on for a while. An animation with a delay would do so, too, but until then the
// browser makes sixty frames a second for it, and as many of the bar that nobody sees: a tenth of two cores, which the engine could use.
func (h *host) markBusy() {
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

func (h *host) scheduleMeasure() {
	if h.measured {
		return
	}
	h.measured = true
	h.window.Call("requestAnimationFrame", h.measure)
}

// measureLists tells the page which rows of each list can be seen. Nothing is drawn for it: if rows are missing, the
// engine's answer draws them.
func (h *host) measureLists() {
	h.measured = false
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
	// The first column of the stack is four characters wide, so it tells how many the second has room for.
	if head := h.find("stack-head"); head.Truthy() {
		four := head.Get("children").Index(0).Call("getBoundingClientRect").Get("width").Float()
		name := head.Get("children").Index(1).Call("getBoundingClientRect").Get("width").Float()
		if four > 0 && h.page.Stack.SetNameWidth(int(4*name/four)) {
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
