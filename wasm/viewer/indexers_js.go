package main

import (
	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/protocol"
)

// indexers implements app.Indexers: workers that index symbol files beside the engine. They run the page's own program.
type indexers struct {
	*workerEngine // the engine: the other methods of app.Engine
	workers       []*workerEngine
	indexed       func(worker int, a protocol.Answer, index app.File)
	died          func(worker int, why string)
}

// Index implements app.Indexers.
func (x *indexers) Index(n int, c protocol.Call, file app.File) {
	for len(x.workers) <= n {
		i := len(x.workers)
		w := &workerEngine{viewer: x.viewer, module: x.viewer.Get("module")}
		w.answer = func(a protocol.Answer, index app.File) { x.indexed(i, a, index) }
		w.stopped = func(why string) {
			x.workers[i] = nil
			x.died(i, why)
		}
		x.workers = append(x.workers, w)
		w.start()
	}
	if x.workers[n] == nil {
		x.died(n, "its worker had ended")
		return
	}
	x.workers[n].Send(c, file)
}

// StopIndexing implements app.Indexers. Ending the workers frees their memory.
func (x *indexers) StopIndexing() {
	for _, w := range x.workers {
		if w != nil {
			w.terminate()
		}
	}
	x.workers = nil
}
