package engine

import (
	"iter"
	"runtime/debug"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// What is unpacked while it is read, a .gz or a member of a .zip, lies in the engine only, and can be unpacked by one reader after the
// other. So the engine makes the pass over such a file itself, a megabyte at a time, while nobody asks for anything; the same with a
// file whose pieces turned out to depend on each other.

// ownPass is one file's.
type ownPass struct {
	item   int
	next   func() (struct{}, bool)
	stop   func()
	pause  func()
	err    error
	before map[int]*report.Report // dump → what was shown before the last step
}

// errStopped unwinds a pass that is given up.
type errStopped struct{}

// startOwn begins to read a file as a whole.
func (e *Engine) startOwn(item int) {
	o := &ownPass{item: item}
	o.next, o.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if p := recover(); p != nil && p != any(errStopped{}) {
				panic(p)
			}
		}()
		o.pause = func() {
			e.exact.pause = nil
			if !yield(struct{}{}) {
				panic(errStopped{})
			}
			o.begin(e)
		}
		o.begin(e)
		_, o.err = e.session.Complete(item)
	})
	e.exact.own = append(e.exact.own, o)
}

// begin begins a step. It may be the last, so what is shown is noted.
func (o *ownPass) begin(e *Engine) {
	e.exact.pause = o.pause
	o.before = map[int]*report.Report{}
	for dump, v := range e.views {
		o.before[dump] = v.Report()
	}
}

// stopOwn gives up the pass over a file.
func (e *Engine) stopOwn(item int) {
	for i, o := range e.exact.own {
		if o.item == item {
			o.stop()
			e.exact.own = append(e.exact.own[:i:i], e.exact.own[i+1:]...)
			return
		}
	}
}

// readOn does a step of the passes, and reports whether there may be more.
func (e *Engine) readOn() (more bool) {
	if len(e.exact.own) == 0 {
		return false
	}
	o := e.exact.own[0]
	// Tables that grow leave much behind, and in a browser the memory that is taken once is never given back.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	if _, more := o.next(); more {
		return true
	}
	e.exact.pause = nil
	e.exact.own = e.exact.own[1:]
	r := protocol.Answer{Reply: &protocol.WholeIndexed{Item: o.item, Exact: o.err == nil}}
	if o.err != nil {
		r.Error = view.Clean(o.err.Error())
	}
	for dump, rep := range o.before {
		if e.exact.before[dump] == nil && o.err == nil {
			e.exact.before[dump] = rep
		}
	}
	e.post(r)
	return len(e.exact.own) > 0
}
