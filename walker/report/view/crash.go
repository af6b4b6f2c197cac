package view

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// verbs has what an instruction does, by kind of access.
var verbs = map[string]string{"read": "reads", "write": "writes", "readwrite": "reads and writes", "exec": "executes", "access": "accesses"}

// instruction returns the facts about the crashing instruction, for the crashed frame, and what the
// crash may come from.
//
//	Instruction   mov rax, qword ptr [rdi + 0x10]
//	Code          48 8b 47 10
//	Memory        reads 8 bytes at 0x10, which failed
//	Guess         rdi may be memory that Firefox's allocator has freed
func (v *View) instruction(thread, frame int) (facts []rows.Fact) {
	c := v.r.Crash
	if c == nil || c.Thread != thread || frame != 0 || c.Analysis == nil {
		return nil
	}
	a := c.Analysis
	if in := a.Instruction; in != nil && in.Text != "" {
		facts = append(facts, rows.Fact{Key: "Instruction", Value: rows.Clean(in.Text), Code: true})
	}
	if in := a.Instruction; in != nil && len(in.Bytes) > 0 {
		facts = append(facts, rows.Fact{Key: "Code", Value: fmt.Sprintf("% x", in.Bytes), Code: true})
	}
	for i := range a.Accesses {
		x := &a.Accesses[i]
		s := verbs[x.Kind.String()]
		if x.Size > 0 {
			s += " " + count(x.Size, "byte", "bytes")
		}
		if x.AddressKnown {
			s += " at " + short(x.Address)
		}
		if i == a.Cause {
			s += ", which failed"
		}
		facts = append(facts, rows.Fact{Key: "Memory", Value: s, Code: false})
	}
	for _, g := range a.Guesses {
		facts = append(facts, rows.Fact{Key: "Guess", Value: rows.Clean(g), Code: false})
	}
	return facts
}

// frameInstruction adds the instruction that a frame is at, a caller's call, unless the crash's is
// there.
func (v *View) frameInstruction(d *rows.FrameDetail, in *report.Instruction) {
	if in == nil {
		return
	}
	add := func(key, value string) {
		if value != "" && !slices.ContainsFunc(d.Facts, func(f rows.Fact) bool { return f.Key == key }) {
			d.Facts = append(d.Facts, rows.Fact{Key: key, Value: rows.Clean(value), Code: true})
		}
	}
	add("Instruction", in.Text)
	if in.HasTarget {
		target := v.hex(in.Target)
		if place := in.Place.Text(v.r, v.full); place != "" {
			target += "  " + place
		}
		add("Calls", target)
	}
	add("Code", fmt.Sprintf("% x", in.Bytes))
}
