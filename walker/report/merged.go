package report

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Merged are the stacks of all threads as one tree, from the outermost frames on. Threads share a branch
// for as long as they are in the same functions.
type Merged struct {
	// Branches are in the order in which a tree is read: each is followed by those that begin at its
	// end, the crashed thread's first, then by their number of threads.
	Branches []MergedBranch
	// Threads is how many threads are in the tree, Stacks how many different stacks they have.
	// Pending threads are not walked yet, Empty ones have no frames.
	Threads, Stacks, Pending, Empty int
	// States has what each thread was doing.
	States []State
	// Holders are the threads that others wait for, those with most waiting threads first.
	Holders []Holder
	// Unknown is how many threads wait for a lock without the dump showing who holds it.
	Unknown int
}

// MergedBranch is a run of frames that some threads share, outermost first.
type MergedBranch struct {
	Parent, Level int // Parent is -1 for the outermost, whose Level is 0
	Frames        []MergedFrame
	// Threads are those that have these frames. For Ends the last of Frames is the innermost.
	Threads, Ends []int
	Crashed       bool // the crashed thread is one of Threads
	// System: these frames, and those of all branches below, are in the system's libraries.
	System bool
}

// MergedFrame is a frame of a branch, as the first of its threads has it. Repeat is set if the frame is
// the outermost of a recursion's first period, the only one in the tree.
type MergedFrame struct {
	Thread, Frame int
	Repeat        *Repeat
}

// node is a function in the tree that Merge makes first: it has one function each.
type node struct {
	frame           MergedFrame
	threads, ends   []int
	children        []*node
	crashed, system bool // system: these frames and all below are in the system's libraries
}

// Merge merges the stacks of all threads. Guesses are left out, and of a recursion all but the first
// period. d may be nil: then no holder of a lock is known.
//
// The tree has at most as many nodes as the stacks have frames.
func Merge(d *core.Dump, r *Report) *Merged {
	out := &Merged{Branches: []MergedBranch{}, States: make([]State, len(r.Threads)), Holders: []Holder{}}
	root := &node{}
	type edge struct {
		from *node
		to   sameFunction
	}
	next, ends := map[edge]*node{}, map[*node]bool{}
	system := make([]bool, len(r.Modules))
	for i := range system {
		system[i] = r.IsSystems(i)
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		if t.Pending || len(t.Frames) == 0 {
			if t.Pending {
				out.Pending++
			} else {
				out.Empty++
			}
			continue
		}
		out.States[i] = r.StateOf(d, t)
		out.Threads++
		at := root
		for k := len(t.Frames) - 1; k >= 0; k-- {
			fold := t.FoldAt(k)
			if fold != nil {
				k = fold.From // the loop goes on before it
				continue
			}
			f := MergedFrame{Thread: i, Frame: k}
			if n := t.FoldAt(k + 1); n != nil && n.Repeat != nil {
				f.Repeat = n.Repeat
			}
			e := edge{at, functionKey(&t.Frames[k])}
			to := next[e]
			if to == nil {
				to = &node{frame: f}
				next[e] = to
				at.children = append(at.children, to)
			}
			to.threads = append(to.threads, i)
			to.crashed = to.crashed || t.Crashed
			at = to
		}
		at.ends = append(at.ends, i)
		ends[at] = true
	}
	out.Stacks = len(ends)
	root.mark(r, system)
	out.add(root, -1, 0)
	out.findHolders(d, r)
	return out
}

// mark sorts the children of a node and of all nodes below it, and sets system for each. It keeps its own
// list of nodes: a thread may have a million frames.
func (n *node) mark(r *Report, system []bool) {
	all := []*node{n}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].children...)
	}
	for i := len(all) - 1; i > 0; i-- {
		n := all[i]
		m := r.Threads[n.frame.Thread].Frames[n.frame.Frame].Module
		n.system = m >= 0 && system[m] && !n.crashed
		for _, c := range n.children {
			n.system = n.system && c.system
		}
	}
	for _, n := range all {
		sort.SliceStable(n.children, func(i, j int) bool {
			a, b := n.children[i], n.children[j]
			if a.crashed != b.crashed {
				return a.crashed
			}
			return len(a.threads) > len(b.threads)
		})
	}
}

// add adds the branches below a node. A branch ends where threads part or end, and where the system's
// frames begin.
func (m *Merged) add(n *node, parent, level int) {
	type task struct {
		n             *node
		parent, level int
	}
	var todo []task
	push := func(n *node, parent, level int) {
		for i := len(n.children) - 1; i >= 0; i-- {
			todo = append(todo, task{n.children[i], parent, level})
		}
	}
	for push(n, parent, level); len(todo) > 0; {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		b := MergedBranch{Parent: t.parent, Level: t.level, Threads: t.n.threads, Crashed: t.n.crashed, System: t.n.system, Frames: []MergedFrame{t.n.frame}, Ends: []int{}}
		last := t.n
		for len(last.children) == 1 && len(last.ends) == 0 && last.children[0].system == b.System {
			last = last.children[0]
			b.Frames = append(b.Frames, last.frame)
		}
		b.Ends = append(b.Ends, last.ends...)
		m.Branches = append(m.Branches, b)
		push(last, len(m.Branches)-1, t.level+1)
	}
}

// numbersShown is how many threads a text lists by their numbers.
const numbersShown = 12

// Numbers lists threads: "2, 3 and 9 more".
func Numbers(threads []int) string {
	var out []string
	for _, n := range threads[:min(len(threads), numbersShown)] {
		out = append(out, strconv.Itoa(n))
	}
	s := strings.Join(out, ", ")
	if more := len(threads) - numbersShown; more > 0 {
		s += " and " + grouped(more) + " more"
	}
	return s
}

// threadsText is "thread 3", "threads 2, 3 and 9 more".
func threadsText(threads []int) string {
	if len(threads) == 1 {
		return "thread " + strconv.Itoa(threads[0])
	}
	return "threads " + Numbers(threads)
}

// stateText says what threads were doing, if all were doing the same, and whether that is a guess.
func (m *Merged) stateText(threads []int) string {
	s := m.States[threads[0]]
	guess := false
	for _, i := range threads {
		if m.States[i].Word != s.Word {
			return ""
		}
		guess = guess || m.States[i].Guess
	}
	if guess {
		return s.Word + " (a guess)"
	}
	return s.Word
}

// EndsText names the threads whose stacks end with a branch, and what they were doing.
func (m *Merged) EndsText(r *Report, b *MergedBranch) string {
	out := threadsText(b.Ends)
	if at := slices.IndexFunc(b.Ends, func(i int) bool { return r.Threads[i].Crashed }); at >= 0 && len(b.Ends) == 1 {
		return out + ": crashed"
	} else if at >= 0 {
		return out + ": " + threadsText(b.Ends[at:at+1]) + " crashed"
	}
	if s := m.stateText(b.Ends); s != "" {
		out += ": " + s
	}
	return out
}

// Foldable reports whether folding a branch hides rows.
func (m *Merged) Foldable(i int) bool {
	return len(m.Branches[i].Frames) > 1 || i+1 < len(m.Branches) && m.Branches[i+1].Level > m.Branches[i].Level
}

// End returns the index after the last branch below a branch.
func (m *Merged) End(i int) int {
	end := i + 1
	for end < len(m.Branches) && m.Branches[end].Level > m.Branches[i].Level {
		end++
	}
	return end
}

// FoldedText says in one line what the threads of a branch do, and which they are.
//
//	epoll_wait: waits for events (a guess)    threads 2, 3, 4
func (m *Merged) FoldedText(r *Report, branch int, name func(Name) string) (what, which string) {
	b := &m.Branches[branch]
	first := b.Threads[0]
	state := m.stateText(b.Threads)
	x := b.Frames[0]
	if s := m.States[first]; state != "" && s.Guess {
		x = MergedFrame{Thread: first, Frame: s.Frame}
	}
	f := &r.Threads[x.Thread].Frames[x.Frame]
	switch {
	case f.Named():
		what = name(f.Function)
	case f.Module >= 0:
		what = r.Modules[f.Module].Title()
	}
	if state != "" {
		what += ": " + state
	}
	return what, threadsText(b.Threads)
}
