package main

import (
	"fmt"
	"syscall/js"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/zone"
)

// The host page and the viewer call each other through two functions of the loader's object. The
// viewer calls onEvent(kind, detail) for each event, and sets control(what, arguments…) for the host
// page to call; the cases of control below say what the arguments are.

// setControl sets control. stop ends the workers.
func (h *browser) setControl(stop func()) {
	h.limit(h.viewer.Get("limits"))
	if h.viewer.Get("onEvent").Type() == js.TypeFunction {
		h.page.HostPage.Watch = h.notifyHost
	}
	h.page.Inside = !h.owns()
	h.viewer.Set("control", js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer recoverPanic()
		what := args[0].String()
		if what == "stop" {
			// A Go program cannot be ended from here. It sleeps from now on, and is garbage
			// collected when it is unreferenced.
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

// control does what the host page requests.
func (h *browser) control(p *app.Page, what string, args []js.Value) {
	switch what {
	case "add": // an array of Files; a number, which the idle event returns when they are read
		p.HostPage.Mark = args[1].Int()
		p.Reading.Add(filesOf(args[0]))
	case "clear":
		p.Clear()
	case "limits": // {noFiles, readOnly, redact}
		h.limit(args[0])
	case "select": // thread or -1, frame or -1, tab or "", address or ""
		p.Select(args[0].Int(), args[1].Int(), args[2].String(), args[3].String())
	case "theme": // "dark", "light" or ""
		p.State.Theme = args[0].String()
		h.SetTheme(p.State.Theme)
	case "export": // the kind; a function, called with a text and a problem
		done := args[1]
		p.Work.Exports.Export(args[0].String(), func(text, problem string) { done.Invoke(text, problem) })
	}
}

// limit applies the host page's limits. v is {noFiles, readOnly, redact} or undefined.
func (h *browser) limit(v js.Value) {
	if v.Truthy() {
		// The style sheet hides the controls for what is forbidden.
		mark := func(name string, on bool, value string) {
			if !on {
				value = ""
			}
			h.root.Get("dataset").Set(name, value)
		}
		mark("files", v.Get("noFiles").Truthy() || v.Get("readOnly").Truthy(), "off")
		mark("readonly", v.Get("readOnly").Truthy(), "on")
		mark("redact", v.Get("redact").Truthy(), "on")
		h.page.HostPage.SetLimits(zone.Limits{NoFiles: v.Get("noFiles").Truthy(), NoNetwork: !h.viewer.Get("network").Truthy(), ReadOnly: v.Get("readOnly").Truthy(), Redact: v.Get("redact").Truthy()})
	}
}

// notifyHost passes an event to the host page.
func (h *browser) notifyHost(e app.Event) {
	detail := map[string]any{}
	switch e.Kind {
	case app.EventProgress:
		detail = map[string]any{"text": e.Text, "done": e.Done, "total": e.Total, "percent": e.Percent}
	case app.EventIdle:
		detail = map[string]any{"mark": e.Mark, "dumps": e.Dumps}
	case app.EventError:
		detail = map[string]any{"level": e.Level, "message": e.Text}
	case app.EventSelect:
		detail = map[string]any{"dump": e.State.DumpName, "thread": e.State.Thread, "frame": e.State.Frame, "inline": e.State.Inline, "tab": e.State.Tab, "address": addressOf(e.State)}
	}
	h.notify(e.Kind, detail)
}

// addressOf returns the selected address, or nil.
func addressOf(s state.State) any {
	if s.At == 0 {
		return nil
	}
	return fmt.Sprintf("0x%x", s.At)
}

func (h *browser) notify(kind string, detail map[string]any) {
	if onEvent := h.viewer.Get("onEvent"); onEvent.Type() == js.TypeFunction {
		onEvent.Invoke(kind, detail)
	}
}
