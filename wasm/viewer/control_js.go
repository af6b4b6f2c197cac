package main

import (
	"syscall/js"

	"github.com/crashpane/crashpane/web/app"
)

// A page around the viewer speaks with it by two functions of the loader's object: the viewer calls told(kind, detail), and sets
// control(what, arguments…), of which it is written at each case what they are.

// obey makes control. stop ends the workers.
func (h *host) obey(stop func()) {
	h.limit(h.viewer.Get("limits"))
	if h.viewer.Get("told").Type() == js.TypeFunction {
		h.page.Around.Watch = h.watched
	}
	h.page.Around.Inside = !h.owns()
	h.viewer.Set("control", js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer survive()
		what := args[0].String()
		if what == "stop" {
			// The program itself sleeps from now on, and goes when nobody knows it any more.
			stop()
			for _, undo := range h.undo {
				undo()
			}
			return nil
		}
		h.change(func(p *app.Page) { h.control(p, what, args[1:]) })
		return nil
	}))
}

func (h *host) control(p *app.Page, what string, args []js.Value) {
	switch what {
	case "add": // an array of Files, a number that comes back when they are done
		p.Around.Mark = args[1].Int()
		p.Reading.Add(filesOf(args[0]))
	case "clear":
		p.Clear()
	case "limits": // {noFiles, readOnly, redact}
		h.limit(args[0])
	case "select": // thread or -1, frame or -1, tab or ""
		p.Select(args[0].Int(), args[1].Int(), args[2].String())
	case "theme": // "dark", "light" or ""
		p.State.Theme = args[0].String()
		h.SetTheme(p.State.Theme)
	case "export": // the kind, a function (text, problem)
		done := args[1]
		p.Work.Exports.Export(args[0].String(), func(text, problem string) { done.Invoke(text, problem) })
	}
}

func (h *host) limit(v js.Value) {
	if v.Truthy() {
		// What may not be done is not shown either, by the style sheet.
		mark := func(name string, on bool, value string) {
			if !on {
				value = ""
			}
			h.root.Get("dataset").Set(name, value)
		}
		mark("files", v.Get("noFiles").Truthy() || v.Get("readOnly").Truthy(), "off")
		mark("readonly", v.Get("readOnly").Truthy(), "on")
		mark("redact", v.Get("redact").Truthy(), "on")
		h.page.Around.SetLimits(app.Limits{NoFiles: v.Get("noFiles").Truthy(), NoNetwork: !h.viewer.Get("network").Truthy(), ReadOnly: v.Get("readOnly").Truthy(), Redact: v.Get("redact").Truthy()})
	}
}

// watched hands an event on.
func (h *host) watched(e app.Event) {
	detail := map[string]any{}
	switch e.Kind {
	case app.EventProgress:
		detail = map[string]any{"text": e.Text, "done": e.Done, "total": e.Total, "percent": e.Percent}
	case app.EventIdle:
		detail = map[string]any{"mark": e.Mark, "dumps": e.Dumps}
	case app.EventError:
		detail = map[string]any{"level": e.Level, "message": e.Text}
	case app.EventSelect:
		detail = map[string]any{"dump": e.State.DumpName, "thread": e.State.Thread, "frame": e.State.Frame, "inline": e.State.Inline, "tab": e.State.Tab}
	}
	h.tell(e.Kind, detail)
}

func (h *host) tell(kind string, detail map[string]any) {
	if told := h.viewer.Get("told"); told.Type() == js.TypeFunction {
		told.Invoke(kind, detail)
	}
}
