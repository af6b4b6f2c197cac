package jsonreport

import (
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteThreads writes what each thread was doing, and the threads that others wait for, as an object
// without a newline at the end. Keys are in alphabetical order.
//
//	holders[]              {deadlock, kind, lock, thread, waiting[], why}
//	lock_holders_unknown   how many threads wait for a lock whose holder the dump does not show
//	threads[]              {crashed, frame_count, id, name, state, state_is_guess, thread}
func WriteThreads(w io.Writer, r *report.Report, m *report.Merged, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		p.holders(m)
		p.Objects("threads", len(r.Threads), func(i int) {
			t := &r.Threads[i]
			p.Bool("crashed", t.Crashed)
			p.Int("frame_count", int64(len(t.Frames)))
			p.Uint("id", uint64(t.ID))
			p.StrOrNull("name", t.Name)
			p.StrOrNull("state", m.States[i].Word)
			p.Bool("state_is_guess", m.States[i].Guess)
			p.Int("thread", int64(i))
		})
	})
}

// WriteMerged writes the tree of all stacks as an object, without a newline at the end.
//
//	branches[]  {crashed, ends[], frames[{frame, function, module, period and repeats of a recursion or null, thread}] outermost first, level, parent (index or null), system, threads[]}
//	holders[], lock_holders_unknown   as WriteThreads
//	stacks      the number of different stacks
func WriteMerged(w io.Writer, r *report.Report, m *report.Merged, opt Options) error {
	numbers := func(p *printer, key string, list []int) {
		p.List(key, len(list), func(i int) { p.PutInt(int64(list[i])) })
	}
	return write(w, r, opt, func(p *printer) {
		p.Objects("branches", len(m.Branches), func(i int) {
			b := &m.Branches[i]
			p.Bool("crashed", b.Crashed)
			numbers(p, "ends", b.Ends)
			p.Objects("frames", len(b.Frames), func(k int) {
				x := &b.Frames[k]
				f := &r.Threads[x.Thread].Frames[x.Frame]
				p.Int("frame", int64(r.Threads[x.Thread].Number(x.Frame)))
				p.frameFunction(f)
				p.moduleName(f.Module)
				if x.Repeat == nil {
					p.Null("period")
					p.Null("repeats")
				} else {
					p.Int("period", int64(x.Repeat.Period))
					p.Int("repeats", int64(x.Repeat.Times()))
				}
				p.Int("thread", int64(x.Thread))
			})
			p.Int("level", int64(b.Level))
			p.IntOrNull("parent", int64(b.Parent), b.Parent >= 0)
			p.Bool("system", b.System)
			numbers(p, "threads", b.Threads)
		})
		p.holders(m)
		p.Int("stacks", int64(m.Stacks))
	})
}

func (p *printer) holders(m *report.Merged) {
	p.Objects("holders", len(m.Holders), func(i int) {
		h := &m.Holders[i]
		p.Bool("deadlock", h.Deadlock)
		p.Str("kind", h.Kind)
		p.hex("lock", h.Lock)
		p.Int("thread", int64(h.Thread))
		p.List("waiting", len(h.Waiting), func(k int) { p.PutInt(int64(h.Waiting[k])) })
		p.Str("why", h.Why)
	})
	p.Int("lock_holders_unknown", int64(m.Unknown))
}
