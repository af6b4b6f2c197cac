package report

import (
	"slices"
	"sort"

	"github.com/crashpane/crashpane/walker"
)

// Comparison compares the stacks of one thread under several unwind policies. A walk is the stack
// of one policy.
//
//	          best    breakpad
//	row 0     0       0            frame 0 of both walks
//	row 1     1       -            only best finds this frame
//	row 2     2       1            both find it: the walks diverged after row 0
type Comparison struct {
	Thread int
	Walks  []ComparedWalk
	// Rows are the frames of all walks, sorted by stack pointer. Frames are the same if their stack
	// pointer and pc are.
	Rows []ComparedRow
	// Divergences are the rows after which walks diverge: they share a frame, but not its caller or
	// how it was found. From frame 0 up.
	Divergences []Divergence
}

// ComparedWalk is the stack of one policy, a column of the comparison.
type ComparedWalk struct {
	Policy string
	Frames []Frame
	Stop   Stop
}

// ComparedRow is a frame, and the walks that found it.
type ComparedRow struct {
	SP, PC uint64
	// At has the frame's number in each walk, or -1.
	At []int
	// Same: all walks have the frame.
	Same bool
}

// Divergence is a row after which walks diverge.
type Divergence struct {
	// Row is the last row that these walks share.
	Row int
	// Branches are what they found next, that of the first walk first.
	Branches []Branch
}

// Differs reports whether the walks found different callers, and not the same one by different
// means.
func (p *Divergence) Differs() bool {
	for i := range p.Branches {
		if p.Branches[i].Next != p.Branches[0].Next || p.Branches[i].Stop.Kind != p.Branches[0].Stop.Kind {
			return true
		}
	}
	return false
}

// Branch is what one or more walks found after a row.
type Branch struct {
	// Walks are the indexes of these walks.
	Walks []int
	// Next is the row of the next frame, or -1 if the walks ended, for the reason in Stop.
	Next int
	// Source, Origin and Rule say how the walks found the frame, Attempts what they rejected
	// before.
	Source, Origin, Rule string
	Stop                 Stop
	Attempts             []Attempt
}

// Walk is a stack and its unwind policy.
type Walk struct {
	Policy string
	Merged bool // see Input.Merged
	Stack  walker.Stack
}

// Compare compares walks of one thread. in is as for Build, without Stacks.
func Compare(in Input, thread int, walks []Walk) *Comparison {
	out := &Comparison{Thread: thread, Walks: []ComparedWalk{}, Rows: []ComparedRow{}, Divergences: []Divergence{}}
	for i := range walks {
		in.Stacks, in.Merged = nil, walks[i].Merged
		b := &builder{in: in, d: in.Dump, r: &Report{MainModule: -1, FirstThread: -1}}
		b.modules()
		s := &walks[i].Stack
		w := ComparedWalk{Policy: walks[i].Policy, Frames: make([]Frame, len(s.Frames)), Stop: stopOf(s)}
		for j := range s.Frames {
			w.Frames[j] = b.frame(s.Frames, j)
		}
		out.Walks = append(out.Walks, w)
	}
	out.align()
	out.findDivergences()
	return out
}

// align makes Rows: it merges the walks by stack pointer, which never decreases within a walk,
// except where a signal interrupted another stack.
func (c *Comparison) align() {
	at := make([]int, len(c.Walks))
	frame := func(w int) *Frame {
		if at[w] < len(c.Walks[w].Frames) {
			return &c.Walks[w].Frames[at[w]]
		}
		return nil
	}
	for {
		// The frame with the lowest stack pointer that is not in a row yet, of the first walk that
		// has it.
		var low *Frame
		for w := range c.Walks {
			if f := frame(w); f != nil && (low == nil || f.Regs.SP() < low.Regs.SP()) {
				low = f
			}
		}
		if low == nil {
			return
		}
		row := ComparedRow{SP: low.Regs.SP(), PC: low.PC, At: make([]int, len(c.Walks)), Same: true}
		for w := range c.Walks {
			row.At[w] = -1
			if f := frame(w); f != nil && f.PC == row.PC && f.Regs.SP() == row.SP {
				row.At[w] = at[w]
				at[w]++
			} else {
				row.Same = false
			}
		}
		c.Rows = append(c.Rows, row)
	}
}

// findDivergences makes Divergences: the rows after which walks that share them find another frame,
// or the same by another source.
func (c *Comparison) findDivergences() {
	rowOf := make([][]int, len(c.Walks))
	for w := range c.Walks {
		rowOf[w] = make([]int, len(c.Walks[w].Frames)+1)
		rowOf[w][len(c.Walks[w].Frames)] = -1
	}
	for r := range c.Rows {
		for w, f := range c.Rows[r].At {
			if f >= 0 {
				rowOf[w][f] = r
			}
		}
	}
	for r := range c.Rows {
		p := Divergence{Row: r, Branches: []Branch{}}
		for w, f := range c.Rows[r].At {
			if f < 0 {
				continue
			}
			branch := c.branch(w, f, rowOf[w][f+1])
			i := slices.IndexFunc(p.Branches, func(o Branch) bool {
				return o.Next == branch.Next && o.Source == branch.Source && o.Origin == branch.Origin && o.Stop.Kind == branch.Stop.Kind &&
					slices.Equal(o.Attempts, branch.Attempts)
			})
			if i < 0 {
				p.Branches = append(p.Branches, branch)
			} else {
				p.Branches[i].Walks = append(p.Branches[i].Walks, w)
			}
		}
		if len(p.Branches) > 1 {
			sort.SliceStable(p.Branches, func(i, j int) bool { return p.Branches[i].Walks[0] < p.Branches[j].Walks[0] })
			c.Divergences = append(c.Divergences, p)
		}
	}
}

// branch returns what walk w found after its frame f.
func (c *Comparison) branch(w, f, next int) Branch {
	walk := &c.Walks[w]
	if next < 0 {
		return Branch{Walks: []int{w}, Next: -1, Stop: walk.Stop, Attempts: walk.Stop.Attempts}
	}
	n := &walk.Frames[f+1]
	return Branch{Walks: []int{w}, Next: next, Source: n.Source, Origin: n.Origin, Rule: n.Rule, Attempts: n.Attempts,
		Stop: Stop{Attempts: []Attempt{}}}
}

// Frame returns the frame of a row, from the first walk that has it.
func (c *Comparison) Frame(row int) *Frame {
	for w, f := range c.Rows[row].At {
		if f >= 0 {
			return &c.Walks[w].Frames[f]
		}
	}
	return nil
}

// Demangle sets the display name of every function.
func (c *Comparison) Demangle(f func(string) string) {
	for w := range c.Walks {
		(&Report{Threads: []Thread{{Frames: c.Walks[w].Frames}}}).Demangle(f)
	}
}
