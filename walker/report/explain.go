package report

import (
	"fmt"

	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// Explanation explains how one frame was found: the rules with numbers, the words read, the checks,
// and the attempts before. It is made on demand (session.Explain), because a stack may have a
// hundred thousand frames.
type Explanation struct {
	Thread, Frame int
	// Source is the source of the rules: "context", "signal-code", "cfi", "stack-win", "frame-pointer",
	// "code", "leaf", "go-stack", "shadow-stack", "scan".
	Source string
	Trust  string
	// Origin says where the rules come from: "libfoo.sym line 812", "frame pointer". It is "" for
	// frame 0.
	Origin string
	// Record has the lines of the symbol file with the rules. It is empty for rules that the walker
	// made itself.
	Record []RecordLine
	// Steps are the rules in the order of evaluation, with numbers.
	Steps []Step
	// CFA is the result of the CFA's rule: usually the caller's stack pointer. It is 0 for frame 0.
	CFA uint64
	// Registers are the CPU's registers in the called frame (before) and in this one (after).
	Registers []RegisterChange
	Words     []Word
	// Checks are the checks that the frame passed: "in module app", "stack moved up 48 bytes".
	Checks []string
	// Notes are further sentences, such as which registers were lost.
	Notes []string
	// Scanned is what a stack scan rejected, or nil.
	Scanned  *Scanned
	Attempts []Attempt
	// Instruction is the instruction that the frame is at, for a caller its call. It is nil if the
	// code is not available.
	Instruction *Instruction
	// End says why no frame follows. It is nil except for the last frame.
	End *End
}

// Instruction is a machine instruction.
type Instruction struct {
	Address uint64
	// Text is the disassembly, or "" if the program links no disassembler for the processor. Bytes
	// is the code, empty outside of modules.
	Text  string
	Bytes []byte
	// Target is the address that it calls, valid if HasTarget: only then does the instruction alone
	// determine it. Place describes Target.
	Target    uint64
	HasTarget bool
	Place     Place
}

// RecordLine is a line of a symbol file.
type RecordLine struct {
	Line int // counted from 1, or 0 if unknown
	Text string
}

// Step is the evaluation of one rule.
type Step struct {
	// For is the value: "cfa", "ra" (the caller's pc), or a register such as "$rbx".
	For string
	// Rule is the formula: "$rsp + 48". Computed is the same with numbers and the result,
	// "0x7ffe3d0 + 48 = 0x7ffe400", or why there is no result.
	Rule, Computed string
	Value          uint64
	// Known is false if the value could not be computed.
	Known bool
}

// RegisterChange is a register in the called frame and in this one.
type RegisterChange struct {
	Name              string
	Before, After     uint64
	HadBefore, HasNow bool
	// How: "context" (from the dump, frame 0), "rule" (computed by a rule), "unchanged"
	// (callee-saved, or by a rule), "lost" (known only before), or "unknown" (in both).
	How string
}

// Word is a word of memory that was read.
type Word struct {
	Addr, Value uint64
	Size        int
	// For is the value that needed the word, as in Step.
	For   string
	Place Place
}

// Place is what an address points to: a function and the offset in it, or without one a module and
// the offset in it.
type Place struct {
	Module   int // or -1
	Function Name
	Offset   uint64
}

// Scanned is the words that a stack scan rejected before it found a return address or gave up.
type Scanned struct {
	From  uint64 // address of the first word
	Words int    // number of words checked
	// Rejected are the first of the words that point into a module and are not return addresses.
	// More is the number of the others.
	Rejected []RejectedWord
	More     int
}

// RejectedWord is a word that points into a module, and why it is not a return address.
type RejectedWord struct {
	Addr, Value uint64
	Module      int
	RVA         uint64 // of Value
	Reason      string
}

// End says why a stack ended, and what the last scan rejected.
type End struct {
	Stop
	Scanned *Scanned
}

// ExplainInput is what Explain makes an Explanation from.
type ExplainInput struct {
	Report        *Report
	Thread, Frame int
	Explained     *walker.Explanation
	// Record has the symbol file's lines with the rules, RecordNotes what was ignored in them.
	Record      []RecordLine
	RecordNotes []string
	Instruction *Instruction
	// Stopped is what the last scan rejected. It is used for the last frame only.
	Stopped walker.Scanned
}

// Explain makes an Explanation of a walker's explanation. The report must be of the same walk.
func Explain(in ExplainInput) *Explanation {
	x, r := in.Explained, in.Report
	f := &r.Threads[in.Thread].Frames[in.Frame]
	out := &Explanation{
		Thread: in.Thread, Frame: in.Frame, Source: string(x.Source), Trust: f.Trust, CFA: x.CFA,
		Record: append([]RecordLine{}, in.Record...), Steps: []Step{}, Words: []Word{}, Checks: []string{},
		Notes: append([]string{}, in.RecordNotes...), Attempts: f.Attempts, Scanned: scanned(x.Scanned),
		Instruction: in.Instruction,
	}
	if in.Frame > 0 {
		out.Origin = origin(&x.Row)
	}
	for i := range x.Values {
		v := &x.Values[i]
		out.Steps = append(out.Steps, Step{For: v.For, Rule: v.Rule.Describe(x.After.Arch),
			Computed: v.Computed(&x.Before, x.CFA), Value: v.Value, Known: v.Err == nil})
	}
	for _, w := range x.Words {
		out.Words = append(out.Words, Word{Addr: w.Addr, Value: w.Value, Size: w.Size, For: w.For, Place: r.place(w)})
	}
	out.Registers = changes(x)
	out.Checks = r.checks(f, x)
	for _, s := range x.Stripped {
		out.Checks = append(out.Checks, fmt.Sprintf("pointer authentication stripped off %s: 0x%x became 0x%x",
			x.After.Arch.RegName(s.Reg), s.Raw, s.Value))
	}
	out.Notes = append(out.Notes, x.Notes...)
	if in.Frame == len(r.Threads[in.Thread].Frames)-1 {
		out.End = &End{Stop: r.Threads[in.Thread].Stop, Scanned: scanned(in.Stopped)}
	}
	return out
}

func scanned(s walker.Scanned) *Scanned {
	if s.Words == 0 {
		return nil
	}
	out := &Scanned{From: s.From, Words: s.Words, More: s.More, Rejected: []RejectedWord{}}
	for _, w := range s.Rejected {
		out.Rejected = append(out.Rejected, RejectedWord(w))
	}
	return out
}

// place returns what a word points to.
func (r *Report) place(w walker.ReadWord) Place {
	p := Place{Module: w.Place.Module}
	if p.Module < 0 {
		return p
	}
	p.Offset = w.Place.RVA
	if s := &w.Place.Symbol; s.Name != "" && s.Extent != symbol.Passed {
		p.Function.Raw, p.Offset = s.Name, p.Offset-s.Start
	}
	return p
}

// Text returns the place as text: "main + 0x34", "app + 0x1234", or "" if it is unknown. name makes
// a function's name readable.
func (p *Place) Text(r *Report, name func(Name) string) string {
	if p.Module < 0 {
		return ""
	}
	s := r.Modules[p.Module].Title()
	if p.Function.Raw != "" {
		s = name(p.Function)
	}
	return fmt.Sprintf("%s + 0x%x", s, p.Offset)
}

// PlaceOf returns what the word points to that was read for a step's result, as text: the word is for the
// same target and has the same value. Without one it is "".
func (x *Explanation) PlaceOf(s *Step, r *Report, name func(Name) string) string {
	for i := range x.Words {
		if w := &x.Words[i]; w.For == s.For && w.Value == s.Value {
			return w.Place.Text(r, name)
		}
	}
	return ""
}

// Demangle sets the display name of every function.
func (x *Explanation) Demangle(f func(string) string) {
	if x.Instruction != nil {
		x.Instruction.Place.Function.demangle(f)
	}
	for i := range x.Words {
		x.Words[i].Place.Function.demangle(f)
	}
}

// checks returns the walker's checks as text.
func (r *Report) checks(f *Frame, x *walker.Explanation) []string {
	out := []string{}
	for _, c := range x.Checks {
		switch c.Kind {
		case walker.CheckInModule:
			out = append(out, "in module "+r.Modules[f.Module].Title())
		case walker.CheckInFunction:
			out = append(out, "in a named function")
		case walker.CheckAfterName:
			out = append(out, fmt.Sprintf("%d bytes after a public name", c.Number))
		case walker.CheckExecutable:
			out = append(out, "in executable memory")
		case walker.CheckAfterCall:
			out = append(out, "after a call instruction")
		case walker.CheckMovedUp:
			out = append(out, fmt.Sprintf("stack moved up %d bytes", c.Number))
		case walker.CheckOtherStack:
			out = append(out, "on another stack, which the signal interrupted")
		case walker.CheckSameSP:
			out = append(out, "stack pointer unchanged, as a function without a frame leaves it")
		case walker.CheckCanonical:
			out = append(out, "address canonical")
		case walker.CheckInStack:
			out = append(out, "stack pointer in the dump's stack memory")
		case walker.CheckFPAbove:
			out = append(out, fmt.Sprintf("frame pointer %d bytes above the stack pointer", c.Number))
		}
	}
	return out
}

// changes lists the registers in the called frame and in this one.
func changes(x *walker.Explanation) []RegisterChange {
	arch := x.After.Arch
	out := []RegisterChange{}
	ruled := map[string]bool{"$" + arch.RegName(arch.PC): true, "$" + arch.RegName(arch.SP): true}
	for i := range x.Values {
		v := &x.Values[i]
		ruled[v.For] = v.Err == nil && v.Rule.Kind != unwind.Same
	}
	for _, r := range arch.Shown() {
		name := arch.RegName(r)
		c := RegisterChange{Name: name}
		c.Before, c.HadBefore = x.Before.Get(r)
		c.After, c.HasNow = x.After.Get(r)
		switch {
		case x.Before.Arch == nil && c.HasNow:
			c.How = "context"
		case c.HasNow && ruled["$"+name]:
			c.How = "rule"
		case c.HasNow:
			c.How = "unchanged"
		case c.HadBefore:
			c.How = "lost"
		default:
			c.How = "unknown"
		}
		out = append(out, c)
	}
	return out
}
