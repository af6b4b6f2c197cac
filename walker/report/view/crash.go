package view

import (
	"fmt"
)

// What the crashing instruction did, for the verdict and for the crashed frame.

// nouns are the kinds of access as what an instruction does.
var nouns = map[string]string{"read": "reads", "write": "writes", "readwrite": "reads and writes", "exec": "executes", "access": "accesses"}

// instruction are the facts about the instruction that crashed.
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
		s := nouns[x.Kind.String()]
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
		facts = append(facts, Fact{"A guess", Clean(g), false})
	}
	return facts
}
