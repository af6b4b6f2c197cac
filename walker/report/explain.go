package report

import (
	"fmt"

	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// Explanation says how one frame was found: the rules with their numbers, what was read, what was checked, what was tried
// before. It is made on demand (session.Explain), because a stack may have a hundred thousand frames.
type Explanation struct {
	Thread, Frame int
	// Source is what proposed the rules: "context", "cfi", "stack-win", "frame-pointer", "leaf", "shadow-stack", "scan".
	Source string
	Trust  string
	// Origin is the place of the rules in words: "libfoo.sym line 812", "frame pointer"; "" for frame 0.
	Origin string
	// Record are the lines of the symbol file that the rules were made of; empty for rules that the walker made itself.
	Record []RecordLine
	// Steps are the rules in the order of their evaluation, with numbers.
	Steps []Step
	// CFA is the frame address that the rules gave: the caller's stack pointer, as a rule. 0 for frame 0.
	CFA uint64
	// Registers are the CPU's, with their values before (in the called frame) and after (in this one).
	Registers []RegisterChange
	Words     []Word
	// Checks are the checks that the frame passed, in words: "in module app", "stack moved up 48 bytes".
	Checks []string
	// Notes are sentences about what was lost or is remarkable.
	Notes []string
	// Scanned is what a scan passed by; nil if there was none.
	Scanned  *Scanned
	Attempts []Attempt
	// Instruction is the one that the frame is at, for a caller its call; nil if the code is not there.
	Instruction *Instruction
	// End is why no frame follows; nil but for the last frame.
	End *End
}

// Instruction is a machine instruction.
type Instruction struct {
	Address uint64
	// Text is in the assembler's words, "" if nobody here has words for it; Bytes are its code, empty outside of modules.
	Text  string
	Bytes []byte
	// Target is what it calls, if HasTarget is set: the instruction alone says so. Place is what lies there.
	Target    uint64
	HasTarget bool
	Place     Place
}

// RecordLine is a line of a symbol file.
//
// Line counts from 1; 0 is a number that is not known.
type RecordLine struct {
	Line int // counted from 1
	Text string
}

// Step is the evaluation of one rule.
type Step struct {
	// For is the value: "cfa", "ra", or "$" and a register's name. The caller's pc is ra.
	For string
	// Rule is the formula, Computed the same with numbers and the result, or why there is none: "$rsp + 48",
	// "0x7ffe3d0 + 48 = 0x7ffe400".
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
	// How: "given" (frame 0), "rule" (a rule gives the value), "unchanged" (calls preserve it, or a rule says so), "lost", or
	// "unknown" (in both).
	How string
}

// Word is a word of memory that was read.
type Word struct {
	Addr, Value uint64
	Size        int
	// For is the value that needed it, as in Step.
	For   string
	Place Place
}

// Place is what lies at an address: a function and the offset in it; without one, a module and the offset in that.
type Place struct {
	Module   int // or -1
	Function Name
	Offset   uint64
}

// Scanned are the words that a scan met before the one it took, or before it gave up.
type Scanned struct {
	From  uint64 // address of the first
	Words int    // how many were looked at
	// Rejected are the first of those that point into a module and are no return addresses; More were left out.
	Rejected []RejectedWord
	More     int
}

// RejectedWord is a word that points into a module, and why it is no return address.
type RejectedWord struct {
	Addr, Value uint64
	Module      int
	RVA         uint64 // of Value
	Reason      string
}

// End is why a stack ended, with what its last search passed by.
type End struct {
	Stop
	Scanned *Scanned
}

// ExplainInput is what an Explanation is made of.
type ExplainInput struct {
	Report        *Report
	Thread, Frame int
	Explained     *walker.Explanation
	// Record and RecordNotes are the symbol file's lines behind the rules, and what was passed over when they were read.
	Record      []RecordLine
	RecordNotes []string
	Instruction *Instruction
	// Stopped is what the last scan passed by; it counts for the last frame only.
	Stopped walker.Scanned
}

// Explain puts a walker's explanation into words. The report must be that of the walk.
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

// place names the target of a word.
func (r *Report) place(w walker.ReadWord) Place {
	p := Place{Module: w.Place.Module}
	if p.Module < 0 {
		return p
	}
	p.Offset = w.Place.RVA
	if s := &w.Place.Symbol; s.Name != "" {
		p.Function.Raw, p.Offset = s.Name, p.Offset-s.Start
	}
	return p
}

// Text is the place in words, "main + 0x34" or "app + 0x1234"; "" if nothing is known of it. name makes a function's name
// readable.
func (p *Place) Text(r *Report, name func(Name) string) string {
	if p.Module < 0 {
		return ""
	}
	s := BaseName(r.Modules[p.Module].Name)
	if p.Function.Raw != "" {
		s = name(p.Function)
	}
	return fmt.Sprintf("%s + 0x%x", s, p.Offset)
}

// checks are the walker's in words.
func (r *Report) checks(f *Frame, x *walker.Explanation) []string {
	out := []string{}
	for _, c := range x.Checks {
		switch c.Kind {
		case walker.CheckInModule:
			out = append(out, "in module "+BaseName(r.Modules[f.Module].Name))
		case walker.CheckInFunction:
			out = append(out, "in a named function")
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

// changes lists the registers that are known before or after.
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
			c.How = "given"
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
