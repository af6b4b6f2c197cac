package session

import (
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker"
)

// Where symbol files are searched as they lie and each read costs more than the work on what it gives (input.Source.ReadsMany), threads
// are walked side by side: a step of each, whose unwind rules are fetched together, then the next. Their functions, lines and
// names are fetched together too, when the frames are known.

const (
	// mostTogether is how many threads are walked side by side.
	mostTogether = 32
	// stepsATurn is how many steps all of them make at least until others have their turn.
	stepsATurn = 32
	// foreseen is how many words of a thread's stack that point into code have their rules fetched when rules are lacking, and each of
	// them may have wordsForeseen words before it: 32 KB of stack are some hundred frames of most programs, and the words that are no
	// return addresses cost, too. Each time it is twice as many, up to mostForeseen: the deeper the stack, the more of it is to come.
	foreseen, wordsForeseen, mostForeseen = 192, 22, 3072
)

// together are threads that are walked side by side. All have steps, or a stack of no frames that says why.
type together struct {
	threads []int
	steps   []*foresight
	fetch   []*symfile.Preparation // what is being fetched for them
	named   bool                   // their functions are, or were
}

// foresight is a walk with what was looked at of its stack for what it may come to.
type foresight struct {
	*walker.Steps
	seen   map[int]uint64 // module → address on the stack up to which
	next   int            // how many words are to have their rules fetched next time
	frames int            // when rules were fetched last
}

// readsMany says whether one of the dump's symbol files is better read in many places at once.
func (d *dump) readsMany() bool {
	for i := range d.modules {
		if it := d.modules[i].item; it != nil && it.src.ReadsMany() {
			return true
		}
	}
	return false
}

// walkTogether does a part of the work on the next threads, and takes over the stacks that are whole.
func (s *Session) walkTogether(d *dump) {
	w := &d.walked
	if len(w.side.threads) == 0 {
		s.gather(d)
	}
	side := &w.side
	if n := len(side.fetch); n > 0 {
		if !side.fetch[n-1].Step() {
			side.fetch = side.fetch[:n-1]
		}
		s.rewalk(d)
		return
	}
	moving := side.moving()
	if len(moving) == 0 {
		if !side.named {
			var wants places
			for _, t := range side.steps {
				t.Unnamed(wants.add)
			}
			side.fetch, side.named = w.syms.preparations(nil, wants), true
			return
		}
		s.nameNext(d)
		return
	}
	for n := 0; n < stepsATurn && len(moving) > 0; n += len(moving) {
		var wants places
		for _, t := range moving {
			w.syms.foresee(t, &wants)
		}
		if side.fetch = w.syms.preparations(wants, nil); len(side.fetch) > 0 {
			return
		}
		for _, t := range moving {
			w.syms.arch = t.Arch()
			t.Next()
		}
		moving = side.moving()
	}
	s.rewalk(d)
}

// gather begins with the next threads that are not walked.
func (s *Session) gather(d *dump) {
	w := &d.walked
	w.side = together{}
	for i := w.next; i < len(w.done) && len(w.side.threads) < mostTogether; i++ {
		if w.done[i] {
			continue
		}
		steps, why := s.beginThread(d, w.walker, w.syms, i, w.policy)
		if why != nil {
			w.stacks[i] = walker.Stack{Stop: *why}
			w.finished(i)
			continue
		}
		w.side.threads = append(w.side.threads, i)
		w.side.steps = append(w.side.steps, &foresight{Steps: steps})
	}
}

// moving are the walks that have not ended.
func (t *together) moving() []*foresight {
	var out []*foresight
	for _, s := range t.steps {
		if !s.Ended() {
			out = append(out, s)
		}
	}
	return out
}

// foresee notes the rules that a walk's next step lacks, and with them those that later steps in the same module may ask for: of the
// words of its stack that point into code some are return addresses. Where the module's file lies on a server, each place is a request, and
// only what is certain is noted.
func (y *symbols) foresee(t *foresight, into *places) {
	module, rva := t.Wants()
	if module < 0 || t.frames == t.Frames() || y.d.ignored[module] || y.d.modules[module].item == nil {
		return
	}
	f := y.file(module)
	if f == nil || !f.Lacks(rva) {
		return
	}
	t.frames = t.Frames()
	into.add(module, rva)
	if y.d.modules[module].item.src.Slice > 0 {
		return
	}
	if t.seen == nil {
		t.seen = map[int]uint64{}
	}
	t.next = min(max(2*t.next, foreseen), mostForeseen)
	left := t.next
	for words := t.next * wordsForeseen; words > 0 && left > 0; words -= 64 {
		t.seen[module] = t.Words(t.seen[module], 64, func(m int, rva uint64) {
			if m == module && f.Lacks(rva) {
				into.add(m, rva)
				left--
			}
		})
	}
}

// nameNext names the frames of a thread whose walk has ended, and is done with it.
func (s *Session) nameNext(d *dump) {
	w := &d.walked
	n := len(w.side.threads) - 1
	if n < 0 {
		return
	}
	thread, steps := w.side.threads[n], w.side.steps[n]
	w.side.threads, w.side.steps = w.side.threads[:n], w.side.steps[:n]
	if w.done[thread] { // somebody looked at it meanwhile
		return
	}
	w.stacks[thread] = w.syms.named(steps.Steps)
	w.finished(thread)
	s.rewalk(d)
}

// named is a stack whose symbols are fetched together.
func (y *symbols) named(steps *walker.Steps) walker.Stack {
	if y.d.readsMany() {
		var wants places
		steps.Unnamed(wants.add)
		y.prepare(nil, wants)
	}
	y.arch = steps.Arch()
	return steps.Stack()
}

// places are addresses by module.
type places map[int][]uint64

func (p *places) add(module int, rva uint64) {
	if module < 0 {
		return
	}
	if *p == nil {
		*p = places{}
	}
	(*p)[module] = append((*p)[module], rva)
}

// preparations are what fetches what the symbol files will be asked. Modules are indices of the dump's module list.
func (y *symbols) preparations(rules, functions places) (out []*symfile.Preparation) {
	for module, rvas := range rules {
		if f := y.file(module); f != nil && !y.d.ignored[module] {
			out = append(out, f.Prepare(rvas, nil))
		}
	}
	for module, rvas := range functions {
		if f := y.file(module); f != nil {
			out = append(out, f.Prepare(nil, rvas))
		}
	}
	return out
}

// prepare fetches it at once.
func (y *symbols) prepare(rules, functions places) {
	for _, p := range y.preparations(rules, functions) {
		p.All()
	}
}

// finished notes that a thread's stack is there.
func (w *walked) finished(thread int) {
	w.done[thread] = true
	w.left--
	for w.next < len(w.done) && w.done[w.next] {
		w.next++
	}
}

// rewalk walks those threads again that were walked, if a file turned out not to be sorted: it may have answered wrong before. Each
// time more of the file is read as a whole, so that this ends.
func (s *Session) rewalk(d *dump) {
	w := &d.walked
	for d.revised() {
		w.side = together{}
		for i := range w.done {
			if w.done[i] {
				w.stacks[i] = s.walkThread(d, w.walker, w.syms, i, w.policy)
			}
		}
		d.report = nil
	}
}
