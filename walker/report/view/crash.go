package view

import (
	"fmt"
)

// verbs has what an instruction does, by kind of access.
var verbs = map[string]string{"read": "reads", "write": "writes", "readwrite": "reads and writes", "exec": "executes", "access": "accesses"}

// instruction returns the facts about the crashing instruction, for the crashed frame.
func (v *View) instruction(thread, frame int) (facts []Fact) {
	c := v.r.Crash
	if c == nil || c.Thread != thread || frame != 0 || c.Analysis == nil || c.Analysis.Instruction == nil {
		return nil
	}
	a := c.Analysis
	if a.Instruction.Text != "" {
		facts = append(facts, Fact{"Instruction", Clean(a.Instruction.Text), true})
	}
	if n := len(a.Instruction.Bytes); n > 0 {
		facts = append(facts, Fact{"Code", fmt.Sprintf("% x", a.Instruction.Bytes), true})
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
		facts = append(facts, Fact{"Memory", s, false})
	}
	for _, g := range a.Guesses {
		facts = append(facts, Fact{"Guess", Clean(g), false})
	}
	return facts
}
