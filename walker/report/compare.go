package report

import (
	"slices"
	"sort"

	"github.com/crashpane/crashpane/walker"
)

// Comparison compares the stacks of one thread under several unwind policies. A walk is the stack of one policy.
//
//	          best    breakpad
//	row 0     0       0            frame 0 of both walks
//	row 1     1       -            only best finds this frame
//	row 2     2       1            both find it: the walks diverged after row 0
type Comparison struct {
	Thread int
	Walks  []ComparedWalk
	// Rows are the frames of all walks, sorted by stack pointer. Frames are the same if their stack pointer and pc are.
	Rows []ComparedRow
	// Partings are the rows after which walks diverge: they share a frame, but not its caller or how it was found. From frame 0 up.
	Partings []Parting
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

// Parting is a row after which walks diverge.
type Parting struct {
	// Row is the last row that these walks share.
	Row int
	// Ways are what they found next, that of the first walk first.
	Ways []Way
}

// Differs reports whether the walks found different callers, and not the same one by different means.
func (p *Parting) Differs() bool {
	for i := range p.Ways {
		if p.Ways[i].Next != p.Ways[0].Next || p.Ways[i].Stop.Kind != p.Ways[0].Stop.Kind {
			return true
		}
	}
	return false
}

// Way is what one or more walks found after a row.
type Way struct {
	// Walks are the indexes of these walks.
	Walks []int
	// Next is the row of the next frame, or -1 if the walks ended, for the reason in Stop.
	Next int
	// Source, Origin and Rule say how the walks found the frame, Attempts what they rejected before.
	Source, Origin, Rule string
	Stop                 Stop
	Attempts             []Attempt
}

// Walked is a stack and its unwind policy.
type Walked struct {
	Policy string
	Merged bool // see Input.Merged
	Stack  walker.Stack
}

// Compare compares walks of one thread. in is as for Build, without Stacks.
func Compare(in Input, thread int, walks []Walked) *Comparison {
	out := &Comparison{Thread: thread, Walks: []ComparedWalk{}, Rows: []ComparedRow{}, Partings: []Parting{}}
	for i := range walks {
		in.Stacks, in.Merged = nil, walks[i].Merged
		b := &builder{in: in, d: in.Dump, r: &Report{MainModule: -1, FirstThread: -1}}
		b.modules()
		s := &walks[i].Stack
		w := ComparedWalk{Policy: walks[i].Policy, Frames: make([]Frame, len(s.Frames))}
		for j := range s.Frames {
			w.Frames[j] = b.frame(s.Frames, j)
		}
		w.Stop = Stop{Kind: string(s.Stop.Kind), Detail: s.Stop.Detail, Attempts: []Attempt{}}
		if n := len(s.Frames); n > 0 {
			w.Stop.Attempts = attempts(s.Stop.Attempts, s.Frames[n-1].Regs.Arch)
		}
		out.Walks = append(out.Walks, w)
	}
	out.align()
	out.part()
	return out
}

// align makes Rows: it merges the walks by stack pointer, which never decreases within a walk.
func (c *Comparison) align() {
	at := make([]int, len(c.Walks))
	frame := func(w int) *Frame {
		if at[w] < len(c.Walks[w].Frames) {
			return &c.Walks[w].Frames[at[w]]
		}
		return nil
	}
	for {
		// The frame with the lowest stack pointer that is not in a row yet, of the first walk that has it.
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

// part makes Partings: the rows after which walks that share them find another frame, or the same by another source.
func (c *Comparison) part() {
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
		p := Parting{Row: r, Ways: []Way{}}
		for w, f := range c.Rows[r].At {
			if f < 0 {
				continue
			}
			way := c.way(w, f, rowOf[w][f+1])
			i := slices.IndexFunc(p.Ways, func(o Way) bool {
				return o.Next == way.Next && o.Source == way.Source && o.Origin == way.Origin && o.Stop.Kind == way.Stop.Kind &&
					slices.Equal(o.Attempts, way.Attempts)
			})
			if i < 0 {
				p.Ways = append(p.Ways, way)
			} else {
				p.Ways[i].Walks = append(p.Ways[i].Walks, w)
			}
		}
		if len(p.Ways) > 1 {
			sort.SliceStable(p.Ways, func(i, j int) bool { return p.Ways[i].Walks[0] < p.Ways[j].Walks[0] })
			c.Partings = append(c.Partings, p)
		}
	}
}

// way returns what walk w found after its frame f.
func (c *Comparison) way(w, f, next int) Way {
	walk := &c.Walks[w]
	if next < 0 {
		return Way{Walks: []int{w}, Next: -1, Stop: walk.Stop, Attempts: walk.Stop.Attempts}
	}
	n := &walk.Frames[f+1]
	return Way{Walks: []int{w}, Next: next, Source: n.Source, Origin: n.Origin, Rule: n.Rule, Attempts: n.Attempts,
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

// Demangle sets the display name of every function.
func (x *Explanation) Demangle(f func(string) string) {
	if x.Instruction != nil && x.Instruction.Place.Function.Raw != "" {
		x.Instruction.Place.Function.Display = f(x.Instruction.Place.Function.Raw)
	}
	for i := range x.Words {
		if n := &x.Words[i].Place.Function; n.Raw != "" {
			n.Display = f(n.Raw)
		}
	}
}
