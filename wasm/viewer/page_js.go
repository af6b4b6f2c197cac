// Viewer is the page's program: it draws the page (web/app) and parses nothing. The engine, which
// reads files, walks stacks and finds names, is another program (wasm/worker).
//
//	page_js.go                    begin here
//	host_js.go, sources_js.go     host.Host
//	worker_js.go, maker_js.go     host.Engine
//	events_js.go, drop_js.go,     the user's input
//	split_js.go
//	control_js.go                 the host page
//	warmup_js.go, redraw_js.go    what the start screen does before the first dump arrives
//	protocol_js.go                the object that this program shares with the page's scripts
package main

import (
	"fmt"
	"math"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/domrender"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/protocol"
)

// limitHeap has the page's heap, a few megabytes, grow more between collections, which then interrupt
// less often. The limit bounds it, because WebAssembly memory never shrinks.
func limitHeap() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(20 << 20)
}

// collectInProportion takes the limit off the page's heap. What thousands of files need exceeds it,
// and then the collector would run all the time.
func collectInProportion() {
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
}

func main() {
	// What comes now is a task of its own: the program's start took long enough.
	time.Sleep(time.Millisecond)
	limitHeap()
	viewer := loader()
	renderer, err := domrender.New(viewer.Get("mount").String())
	if err != nil {
		panic(err)
	}
	h := newBrowser(viewer)
	env := renderer.EventEnv()
	var page *app.Page
	// All callbacks change the page through changeIf or change. They hold the renderer's lock, and
	// turn a panic into a notice, so that it does not end the program.
	changeIf := func(do func(p *app.Page) (draw bool)) {
		draw := true
		env.Lock()
		defer func() {
			if draw {
				env.UnlockRender()
			} else {
				env.UnlockOnly()
			}
		}()
		defer func() {
			if p := recover(); p != nil {
				page.Notices.Problem(fmt.Sprintf("Crashpane could not do that: %v.", p))
			}
		}()
		draw = do(page)
	}
	change := func(do func(p *app.Page)) { changeIf(func(p *app.Page) bool { do(p); return true }) }
	h.change, h.changeIf = change, changeIf
	// Each event of the engine's worker changes the page.
	w := &workerEngine{viewer: viewer, later: func(do func()) { h.later(0, do) },
		answer:  func(a protocol.Answer) { changeIf(func(p *app.Page) bool { return p.Answer(a) }) },
		stopped: func(why string) { change(func(p *app.Page) { p.Reading.EngineStopped(why, false) }) },
		vanished: func() {
			change(func(p *app.Page) { p.Reading.EngineStopped("its worker has ended, and nothing says why", true) })
		},
		program:  func(state js.Value) { change(func(p *app.Page) { showProgram(&p.Work.Program, state) }) },
		making:   func(g protocol.Progress) { change(func(p *app.Page) { p.Work.Making.Progress(g) }) },
		made:     func(name, problem string) { change(func(p *app.Page) { p.Work.Making.Made(name, problem) }) },
		download: h.downloadBlob}
	w.start()
	page = app.NewPage(h, w, h.hash())
	h.page = page
	showProgram(&page.Work.Program, viewer.Get("program"))
	h.listen()
	h.setControl(func() { w.terminate(); w.StopMaking() })
	build, err := vugu.NewBuildEnv(env)
	if err != nil {
		panic(err)
	}
	root := app.NewRoot(page)
	// Draw the start screen before the warm-up begins.
	h.later(100, func() { h.warmUp(app.NewWarmUp(), warmUpFonts) })
	for ok := true; ok; ok = renderer.EventWait() {
		draw(h, renderer, build, root)
		h.rendered()
	}
}

// showProgram tells the page how far the engine's program is.
func showProgram(p *app.Program, state js.Value) {
	switch {
	case state.Get("module").Truthy():
		p.Loaded()
	case state.Get("problem").Truthy():
		p.Failed(state.Get("problem").String())
	default:
		p.Loading(int64(state.Get("done").Float()), int64(state.Get("total").Float()))
	}
}

// draw renders the page. The program survives a panic in it.
func draw(h *browser, renderer *domrender.JSRenderer, build *vugu.BuildEnv, root *app.Root) {
	defer func() {
		if p := recover(); p != nil {
			h.announce(fmt.Sprintf("Crashpane could not draw the page: %v", p))
		}
	}()
	if err := renderer.Render(build.RunBuild(root)); err != nil {
		h.announce("Crashpane could not draw the page: " + err.Error())
	}
}
