package intake

import (
	"container/heap"
	"path"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// Expansion is the work of Expand in parts, between which a caller can do other things. Its members
// come one by one: those that are named like dumps first, then those that cost least.
//
// A member that turns out to cost more than its allowance is postponed: what was unpacked of it is
// dropped, and it starts over, with a larger allowance, when the others are done. So a slow or
// hostile member does not keep the others from being read, no more than one member is being unpacked
// at any time, and unpacking twice adds at most a seventh.
type Expansion struct {
	e     *expander
	given int // members that Next has returned
}

// Begin returns the Expansion of an archive.
func Begin(src *input.Source, limits Limits, progress Progress) *Expansion {
	e := &expander{limits: limits.orDefault(), progress: progress, ended: true}
	e.top, _ = src.Within()
	e.limits.MaxStream = max(e.limits.MaxStream, e.top.MaxUnpacked)
	e.limits.RatioFloor = max(e.limits.RatioFloor, e.top.MaxUnpacked)
	e.most = max(e.limits.RatioFloor, e.limits.MaxRatio*e.top.Size)
	e.later(src.Name, 0, func(*task) bool { e.expand(src, Sniff(src), 0, nil); return true })
	return &Expansion{e: e}
}

// Turn says when Next should let others go first. Its zero value is: never.
type Turn struct {
	// Over is asked now and then. When it is true, Next returns, and goes on at the next call.
	Over func() bool
	// Others: other files wait, which go before a postponed member.
	Others bool
}

// State is what an Expansion needs next.
type State uint8

const (
	Done    State = iota // there are no more members
	Waiting              // there may be more
	PutOff               // there may be more, which cost so much that others should go first
)

// Next works until there are further members, or until the turn is over, and returns those members.
// When it returns Done, Err says what could not be used.
func (x *Expansion) Next(turn Turn) (members []*input.Source, state State) {
	e := x.e
	e.turn, e.ended = turn, false
	defer func() { e.ended = true }()
	for len(e.tasks) > 0 && e.need == nil && !e.over && e.bombs <= maxBombs {
		t := e.tasks[0]
		if turn.Others && t.allowed > eagerSize && !t.running {
			state = PutOff
			if t.waited { // its turn has come
				state, t.waited = Waiting, false
			} else {
				t.waited = true
				break
			}
		}
		heap.Pop(&e.tasks)
		t.running = true
		if !t.step(t) {
			heap.Push(&e.tasks, t)
		}
		if e.letsGo {
			state, e.letsGo = PutOff, false
			break
		}
		if state = Waiting; len(e.out) > x.given || turn.Over != nil && turn.Over() {
			break
		}
	}
	members, x.given = e.out[x.given:], len(e.out)
	if len(e.tasks) == 0 || e.need != nil || e.over || e.bombs > maxBombs {
		state, e.tasks = Done, nil
	}
	return members, state
}

// Err is the error of Expand.
func (x *Expansion) Err() error {
	if x.e.need != nil {
		return x.e.need
	}
	return x.e.problems.err()
}

// task is a part of the work. Step reports whether it is done; otherwise it is called again.
type task struct {
	step    func(t *task) (done bool)
	dump    bool  // it is named like a dump
	cost    int64 // bytes to be read and unpacked, as far as is known
	allowed int64 // bytes that it may read and unpack before others go first
	n       int   // in the order of arrival
	running bool  // it was begun and not postponed
	waited  bool  // other files were let go first
}

// later adds a task for a file with a name.
func (e *expander) later(name string, cost int64, step func(t *task) bool) {
	e.arrived++
	heap.Push(&e.tasks, &task{step: step, dump: isDumpName(name), cost: cost, allowed: eagerSize, n: e.arrived})
}

// tooSlow reports whether a task that has read and unpacked n bytes is postponed. Then it must drop what
// it has. The archive's last one keeps it, and lets other files go first.
func (e *expander) tooSlow(t *task, n int64) bool {
	last := len(e.tasks) == 0
	if n <= t.allowed || last && !e.turn.Others {
		return false
	}
	for t.allowed < n {
		t.allowed *= 8
	}
	e.letsGo, t.running = last, last
	return !last
}

// pauses reports whether the turn is over.
func (e *expander) pauses() bool { return e.letsGo || e.turn.Over != nil && e.turn.Over() }

// isDumpName reports whether a file is named like a dump, which may be compressed.
func isDumpName(name string) bool {
	base := strings.ToLower(path.Base(name))
	for _, end := range []string{".dmp", ".mdmp"} {
		if i := strings.LastIndex(base, end); i > 0 && (i+len(end) == len(base) || base[i+len(end)] == '.') {
			return true
		}
	}
	return false
}

// tasks is a heap: what runs first is its first element.
type tasks []*task

func (t tasks) Len() int { return len(t) }

func (t tasks) Less(i, j int) bool {
	a, b := t[i], t[j]
	switch {
	case a.running != b.running:
		return a.running
	case a.allowed != b.allowed:
		return a.allowed < b.allowed
	case a.dump != b.dump:
		return a.dump
	case a.cost != b.cost:
		return a.cost < b.cost
	}
	return a.n < b.n
}

func (t tasks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *tasks) Push(x any) { *t = append(*t, x.(*task)) }

// Pop implements heap.Interface.
func (t *tasks) Pop() any {
	old := *t
	x := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	return x
}
