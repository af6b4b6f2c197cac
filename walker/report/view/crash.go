package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// What the crashing instruction did, for the verdict and for the crashed frame.

// tried are the kinds of access as what a process tried to do, and as a fact.
var tried = map[string]struct{ verb, noun string }{
	"read":      {"read", "reads"},
	"write":     {"write", "writes"},
	"readwrite": {"read and write", "reads and writes"},
	"exec":      {"execute code", "executes"},
	"access":    {"access", "accesses"},
}

// failure is the access that failed: what was tried, where, and what is thought of the address; ok is false if the instruction
// is not known, or failed for something else than an access.
func failure(c *report.Crash) (what string, address uint64, guess string, ok bool) {
	a := c.Analysis
	if a == nil || a.Cause < 0 || a.Cause >= len(a.Accesses) || !a.Accesses[a.Cause].AddressKnown {
		return "", 0, "", false
	}
	x := &a.Accesses[a.Cause]
	what = "tried to " + tried[x.Kind.String()].verb
	if x.Size > 0 && x.Kind.String() != "exec" {
		what += " " + count(x.Size, "byte", "bytes")
	}
	_, guess, _ = strings.Cut(a.Sentence, ": ")
	return what + " at", x.Address, Clean(guess), true
}

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
		s := tried[x.Kind.String()].noun
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
	if p := a.Jump; p != nil && a.Cause < 0 && a.Sentence != "" {
		facts = append(facts, Fact{"In short", Clean(a.Sentence), false})
	}
	for _, g := range a.Guesses {
		facts = append(facts, Fact{"A guess", Clean(g), false})
	}
	return facts
}
