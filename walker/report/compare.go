package report

import (
	"slices"
	"sort"

	"github.com/crashpane/crashpane/walker"
)

// Comparison is one thread walked in several ways, side by side.
type Comparison struct {
	Thread int
	Walks  []ComparedWalk
	// Rows are the frames that any of the walks found, by stack pointer; a frame is its stack pointer and its pc.
	Rows []ComparedRow
	// Partings are where walks that agree on a frame do not agree on its caller, from frame 0 upwards.
	Partings []Parting
}

// ComparedWalk is a column.
type ComparedWalk struct {
	Policy string
	Frames []Frame
	Stop   Stop
}

// ComparedRow is a frame, and which walks found it.
type ComparedRow struct {
	SP, PC uint64
	// At is for each walk the number of the frame in it, or -1.
	At []int
	// Same: all walks have the frame.
	Same bool
}

// Parting is a place where the walks go different ways.
type Parting struct {
	// Row is the last row that the walks concerned have in common.
	Row int
	// Ways are what they found there, that of the first walk first.
	Ways []Way
}

// Differs reports whether the ways lead to different places, and not to one by different means.
func (p *Parting) Differs() bool {
	for i := range p.Ways {
		if p.Ways[i].Next != p.Ways[0].Next || p.Ways[i].Stop.Kind != p.Ways[0].Stop.Kind {
			return true
		}
	}
	return false
}

// Way is one of the ways on from a row.
type Way struct {
	// Walks are the columns that went it.
	Walks []int
	// Next is the row that they went to, or -1: then their walk ended, and Stop says why.
	Next int
	// Source, Origin and Rule say how Walks found it; Attempts what they tried before.
	Source, Origin, Rule string
	Stop                 Stop
	Attempts             []Attempt
}

// Walked is a stack and how it was walked.
type Walked struct {
	Policy string
	Merged bool // as Input has it
	Stack  walker.Stack
}

// Compare lays walks of one thread side by side. in is as for Build; its Stacks are not used.
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

// align merges the walks by stack pointer. In each of them it never falls.
func (c *Comparison) align() {
	at := make([]int, len(c.Walks))
	frame := func(w int) *Frame {
		if at[w] < len(c.Walks[w].Frames) {
			return &c.Walks[w].Frames[at[w]]
		}
		return nil
	}
	for {
		// The lowest stack pointer that is left, of the first walk that has it.
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

// part finds the rows after which the walks that have them go on differently: to another frame, or by another source.
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

// way is how walk w went on from its frame f.
func (c *Comparison) way(w, f, next int) Way {
	walk := &c.Walks[w]
	if next < 0 {
		return Way{Walks: []int{w}, Next: -1, Stop: walk.Stop, Attempts: walk.Stop.Attempts}
	}
	n := &walk.Frames[f+1]
	return Way{Walks: []int{w}, Next: next, Source: n.Source, Origin: n.Origin, Rule: n.Rule, Attempts: n.Attempts,
		Stop: Stop{Attempts: []Attempt{}}}
}

// Frame is the frame of a row, as the first walk that has it found it.
func (c *Comparison) Frame(row int) *Frame {
	for w, f := range c.Rows[row].At {
		if f >= 0 {
			return &c.Walks[w].Frames[f]
		}
	}
	return nil
}

// Demangle fills in every display name.
func (c *Comparison) Demangle(f func(string) string) {
	for w := range c.Walks {
		(&Report{Threads: []Thread{{Frames: c.Walks[w].Frames}}}).Demangle(f)
	}
}

// Demangle fills in every display name.
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
