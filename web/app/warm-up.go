package app

import (
	"github.com/vugu/vugu"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// A browser compiles a WebAssembly function when it is first called. All functions that draw a dump
// are first called when the first dump arrives, so the user would wait for one long task. Instead
// the start screen, while it is idle, builds each part of the screen several times from made-up
// data, in small tasks, and discards it. wasm/viewer/warmup_js.go does the same with the browser's
// side: fonts, styles and layout.

// WarmUp has the parts to build.
type WarmUp struct {
	page  *Page
	parts []vugu.Builder
	steps int // builds so far
}

// rounds is how often each part is built: often enough that the browser compiles the functions a
// second time, with optimization. Otherwise it would do so while the first dump is read, and take
// half a second of a core that the engine needs then.
const rounds = 40

// NewWarmUp prepares the parts, with a page of its own.
func NewWarmUp() *WarmUp {
	p := NewPage(host.Nothing{}, host.Nothing{}, "")
	r := &WarmUp{page: p}
	r.parts = []vugu.Builder{&p.Verdict, &p.Threads, &p.Stack, &p.Frame, &p.Panel, NewRoot(p)}
	return r
}

// Step builds the next part, and reports whether there are more.
func (r *WarmUp) Step() bool {
	p := r.page
	if p.Summary == nil {
		p.Reading.Add([]host.File{host.Nothing{}})
		for _, a := range []protocol.Answer{{Reply: &protocol.Added{Items: []protocol.FileRow{{Name: "a", Usable: true}}, Dumps: []protocol.DumpName{{Name: "a"}}}}, {Reply: madeUpResult()}} {
			if back, err := protocol.ReadAnswer(protocol.AppendAnswer(nil, a, nil)); err == nil {
				p.Answer(back)
			}
		}
		return true
	}
	if env, err := vugu.NewBuildEnv(); err == nil {
		env.RunBuild(r.parts[r.steps%len(r.parts)])
	}
	r.steps++
	return r.steps < rounds*len(r.parts)
}

// Screens returns the start screen and, after all steps, the screen of a dump, to be drawn.
func (r *WarmUp) Screens() [2]vugu.Builder {
	return [2]vugu.Builder{NewRoot(NewPage(host.Nothing{}, host.Nothing{}, "")), NewRoot(r.page)}
}

// madeUpResult returns a result that has a little of everything.
func madeUpResult() *protocol.QueryResult {
	r := &protocol.QueryResult{Summary: &rows.Summary{Name: "a", Verdict: []rows.Span{{Text: "a"}}, Facts: []string{"a"}, Threads: 1},
		Threads: &rows.ThreadPage{Rows: []rows.ThreadRow{{Crashed: true}}},
		Stack: &rows.StackPage{Rows: []rows.StackRow{{Kind: rows.RowInline}, {Kind: rows.RowFrame, Inline: -1},
			{Kind: rows.RowStop, Frame: -1, Inline: -1}}},
		Detail:  &rows.FrameDetail{Facts: []rows.Fact{{Key: "a", Value: "a"}}, Registers: []rows.Register{{Name: "a", Note: "a"}}},
		Modules: &rows.ModulePage{Rows: []rows.ModuleRow{{Name: "a"}}},
		Missing: &rows.MissingPage{}, Files: &protocol.FilePage{}}
	r.Threads.Total, r.Stack.Total, r.Modules.Total = 1, 3, 1
	return r
}
