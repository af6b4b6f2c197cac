package main

import (
	"syscall/js"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/app/host"
)

// This file implements host.Symbols with web/static/symbols.js.

func (h *browser) sources() js.Value { return h.viewer.Get("sources") }

func (h *browser) SymbolBases() (bases []string, ok bool) {
	list := h.sources().Get("bases")
	if !list.Truthy() {
		return nil, false
	}
	for i := 0; i < list.Length(); i++ {
		bases = append(bases, list.Index(i).String())
	}
	return bases, true
}

func (h *browser) ResolveBase(text string) (base string, allowed bool, problem string) {
	r := h.sources().Call("resolve", text)
	if p := r.Get("problem"); p.Truthy() {
		return "", false, p.String()
	}
	return r.Get("base").String(), r.Get("allowed").Bool(), ""
}

// Fetch implements host.Host. It reports progress at most every 150 ms, because each report draws
// the page.
func (h *browser) Fetch(url, token string, whole bool, progress func(done, total int64), done func(host.Fetched)) (stop func()) {
	abort := js.Global().Get("AbortController").New()
	stopped, shown := false, 0.0
	counted := js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer recoverPanic()
		now := h.window.Get("performance").Call("now").Float()
		if !stopped && now-shown > 150 {
			shown = now
			h.change(func(*app.Page) { progress(int64(args[0].Float()), int64(args[1].Float())) })
		}
		return nil
	})
	h.promised(func(answer js.Value, problem string) {
		counted.Release()
		if stopped {
			return
		}
		f := host.Fetched{Problem: problem}
		if problem == "" {
			f.Status, f.At = answer.Get("status").Int(), answer.Get("at").String()
			if file := answer.Get("file"); file.Truthy() {
				f.File = newFile(file, url)
			} else if r := answer.Get("remote"); r.Truthy() {
				f.File = &jsFile{value: r, name: url, size: int64(r.Get("size").Float()), remote: true}
			}
		}
		done(f)
	}, h.sources(), "ask", url, token, whole, counted, abort.Get("signal"))
	return func() {
		stopped = true
		abort.Call("abort")
	}
}

func (h *browser) folder() js.Value { return h.sources().Get("folder") }

func (h *browser) CanPickStore() bool { return h.folder().Get("can").Truthy() }

func (h *browser) PickStore(done func(name, problem string)) {
	h.promised(func(name js.Value, problem string) {
		if problem != "" { // mostly because the user has cancelled the chooser
			done("", problem)
			return
		}
		done(name.String(), "")
	}, h.folder(), "pick")
}

func (h *browser) KeepStore(keep bool) {
	h.promised(func(js.Value, string) {}, h.folder(), "keep", keep)
}

func (h *browser) RecallStore(done func(string)) {
	h.promised(func(name js.Value, problem string) {
		if problem == "" {
			done(name.String())
		}
	}, h.folder(), "recall")
}

func (h *browser) FromStore(paths []string, limit int, done func([]host.File, string)) {
	list := make([]any, len(paths))
	for i, p := range paths {
		list[i] = p
	}
	h.promised(func(found js.Value, problem string) {
		var files []host.File
		for i := 0; problem == "" && i < found.Length(); i++ {
			files = append(files, newFile(found.Index(i).Get("file"), found.Index(i).Get("path").String()))
		}
		done(files, problem)
	}, h.folder(), "find", list, limit)
}
