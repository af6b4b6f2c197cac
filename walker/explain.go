package walker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Explanation is the computation of one frame, done again with a trace: the same rules on the same
// registers and memory, by the same evaluator.
type Explanation struct {
	Source Source
	// Row are the rules; zero for frame 0.
	Row unwind.Row
	// Before are the callee's registers, After the frame's. Before has no Arch for frame 0.
	Before, After cpu.Regs
	CFA           uint64
	// Values are the results of the rules in the order of evaluation, before pointer authentication
	// codes were removed.
	Values   []unwind.RuleResult
	Words    []ReadWord
	Stripped []Stripped
	Checks   []Check
	// Notes are plain sentences about what was lost.
	Notes []string
	// Scanned says for a frame that a scan found which words it passed over.
	Scanned Scanned
	// Win are the numbers that a STACK WIN record was evaluated with.
	Win WinPlace
	// Attempts are the sources that were tried before.
	Attempts []Attempt
}

// ReadWord is a word of memory that an evaluation read, with what it points at.
type ReadWord struct {
	unwind.WordRead
	Place Place
}

// Place is what is known about an address.
type Place struct {
	// Addr is the address: a word's value without pointer authentication.
	Addr uint64
	// Module is an index in the dump's module list, or -1; RVA is Addr relative to the module.
	Module int
	RVA    uint64
	// Symbol covers the place of the call if the address is a return address, else the address
	// itself; its Name is "" if nothing is known.
	Symbol symbol.Symbol
}

// Stripped is a register whose pointer authentication code was taken off.
type Stripped struct {
	Reg        cpu.Reg
	Raw, Value uint64
}

// CheckKind is something that was found to hold of a frame; stable words.
type CheckKind string

const (
	CheckInModule   CheckKind = "in-module"   // the pc is in a module
	CheckInFunction CheckKind = "in-function" // symbols name the function
	CheckAfterName  CheckKind = "after-name"  // a public symbol is Number bytes before it, whose function may have ended
	CheckExecutable CheckKind = "executable"  // the memory map says that the memory is executable
	CheckAfterCall  CheckKind = "after-call"  // the instruction before the return address is a call
	CheckMovedUp    CheckKind = "moved-up"    // sp is Number bytes above the callee's
	CheckOtherStack CheckKind = "other-stack" // sp is on another stack than the callee's
	CheckSameSP     CheckKind = "same-sp"     // sp is the callee's, where a function need not move it
	CheckCanonical  CheckKind = "canonical"   // the pc is an address that the CPU can have
	CheckInStack    CheckKind = "in-stack"    // the word at sp is in the dump
	CheckFPAbove    CheckKind = "fp-above"    // the frame pointer is Number bytes above sp
)

// Check is one check that a frame passed.
type Check struct {
	Kind   CheckKind
	Number uint64
}

// Scanned are the words above sp that a scan met before its frame.
type Scanned struct {
	// From is where it began, Words how many were looked at, the accepted one included.
	From  uint64
	Words int
	// Rejected are those that point into a module and are not return addresses, the first of them;
	// the others of Words are not addresses of code. More says how many are left out.
	Rejected []RejectedWord
	More     int
}

// RejectedWord is a word that a scan passed by.
type RejectedWord struct {
	Addr, Value uint64
	Module      int
	RVA         uint64 // Value relative to the module
	Reason      string
}

// keptRejected is how many rejected words an explanation lists.
const keptRejected = 32

// Explain computes a frame of a stack again, with everything that was read and checked. The Walker,
// mem and stack must be those of the walk. An error says that there is no such frame, or that the
// rules fail, which they do not where they did not before.
func (w *Walker) Explain(stack *Stack, frame int, mem unwind.Memory) (*Explanation, error) {
	if frame < 0 || frame >= len(stack.Frames) {
		return nil, fmt.Errorf("there is no frame %d; the stack has %d frames", frame, len(stack.Frames))
	}
	f := &stack.Frames[frame]
	x := &Explanation{Source: f.Source, Row: f.Row, After: f.Regs, Win: f.Win, Attempts: f.Attempts}
	// The walk is set up as it was when it looked for this frame: the frames below it, on the stack
	// that the last of them was on.
	s := &walk{Walker: w, arch: f.Regs.Arch, mem: mem, frames: stack.Frames[:frame]}
	if frame > 0 {
		s.enterStacks()
		if f.Skipped != nil { // the frame that it called was not kept
			s.frames = slices.Clone(s.frames)
			s.top().Regs = f.Skipped.Below
		}
		x.Before = s.top().Regs
		if err := s.replay(x); err != nil {
			return nil, fmt.Errorf("frame %d: %w", frame, err)
		}
		if f.Row.Origin.Part == scanPart && f.Row.RA.Kind == unwind.AtConst && !(s.Policy.Scan.WithFP && s.breakpad().ScanWithFP) {
			at := uint64(f.Row.RA.Offset)
			from := x.Before.SP()
			if words := int((at - from) / uint64(s.arch.WordSize)); at >= from && words < w.Policy.Scan.ExtendedWords {
				x.Scanned = s.passedBy(from, words)
				x.Scanned.Words++
			}
		}
	}
	s.checks(x, f)
	return x, nil
}

// replay applies the rules as the walk did.
func (s *walk) replay(x *Explanation) error {
	var tr unwind.Trace
	regs, cfa, err := s.evaluate(&x.Row, &x.Before, s.memoryFor(&x.Row), &tr)
	if err != nil {
		return err
	}
	raw := regs
	s.stripPointers(&regs, x.Source, &x.Row)
	for r := range s.arch.Names {
		was, _ := raw.Get(cpu.Reg(r))
		if is, known := regs.Get(cpu.Reg(r)); known && is != was {
			x.Stripped = append(x.Stripped, Stripped{cpu.Reg(r), was, is})
		}
	}
	f := Frame{PC: regs.PC(), Regs: regs}
	if s.callPC(&f); f.Regs != regs {
		tr.Notes = append(tr.Notes, fmt.Sprintf("as Breakpad has it on mips, pc is the call's place, two words before the return address 0x%x", f.PC))
	}
	x.After, x.CFA, x.Values, x.Notes = f.Regs, cfa, tr.Values, tr.Notes
	for _, word := range tr.Words {
		x.Words = append(x.Words, ReadWord{word, s.place(word)})
	}
	return nil
}

// place finds out what the value of a word points at.
func (s *walk) place(word unwind.WordRead) Place {
	addr := s.strip(word.Value)
	if word.For == "ra" && addr >= s.arch.CallSize {
		addr -= s.arch.CallSize
	}
	p := Place{Addr: s.strip(word.Value)}
	module, rva := s.Modules.Find(addr)
	p.Module, p.RVA = module, rva+p.Addr-addr
	if module >= 0 {
		p.Symbol, _ = s.lookup(module, rva)
	}
	return p
}

// checks lists what holds of the frame.
func (s *walk) checks(x *Explanation, f *Frame) {
	add := func(ok bool, kind CheckKind, n uint64) {
		if ok {
			x.Checks = append(x.Checks, Check{kind, n})
		}
	}
	pc, sp := f.PC, x.After.SP()
	add(f.Module >= 0, CheckInModule, 0)
	add(f.Symbol.Name != "" && f.Symbol.Extent == symbol.Covers, CheckInFunction, 0)
	add(f.Symbol.Name != "" && f.Symbol.Extent == symbol.Nearest, CheckAfterName, f.RVA-f.Symbol.Start)
	yes, _ := s.executable(f.Lookup)
	add(yes, CheckExecutable, 0)
	if f.Source == SourceContext {
		if s.mem != nil {
			_, ok := s.word(sp)
			add(ok, CheckInStack, 0)
		}
		return
	}
	// What follows compares the frame with its callee, which the first frame does not have.
	call, known := s.callBefore(pc)
	add(call, CheckAfterCall, 0)
	if known && !call {
		if x.Row.Signal {
			x.Notes = append(x.Notes, "the frame was interrupted by a signal: its pc is not a return address")
		} else {
			x.Notes = append(x.Notes, fmt.Sprintf("the instruction before 0x%x is not a call", pc))
		}
	}
	if f.Tail != nil {
		x.Notes = append(x.Notes, fmt.Sprintf("the call is of %s, which jumped on to the frame below (a tail call), and so has no frame", cmp.Or(f.Tail.Symbol.Name, "a function without a name")))
	}
	callee := x.Before.SP()
	other := (f.Row.Signal || f.Source == SourceGo) && s.Policy.OtherStacks && (sp < callee || !s.onStack(s.mem, sp))
	add(other, CheckOtherStack, 0)
	add(!other && sp > callee, CheckMovedUp, sp-callee)
	add(sp == callee, CheckSameSP, 0)
	add(s.arch.Canonical != nil && s.arch.Canonical(pc), CheckCanonical, 0)
	_, ok := s.word(sp)
	add(ok || other && s.holdsStack(sp), CheckInStack, 0)
	if fp, has := x.After.Get(s.arch.FP); has && f.Trust == TrustFramePointer && fp > sp {
		add(true, CheckFPAbove, fp-sp)
	}
}

// passedBy reads words as a scan does, and returns why each that points into a module was not taken
// for a return address.
func (s *walk) passedBy(from uint64, words int) Scanned {
	out := Scanned{From: from}
	size := uint64(s.arch.WordSize)
	for ; out.Words < words; out.Words++ {
		at := from + uint64(out.Words)*size
		v, ok := s.word(at)
		if !ok || at < from {
			break
		}
		m, rva := s.Modules.Find(v - 1)
		if v == 0 || m < 0 {
			continue
		}
		good, why, _ := s.couldReturn(v)
		if good || why == "" {
			continue
		}
		if len(out.Rejected) == keptRejected {
			out.More++
			continue
		}
		out.Rejected = append(out.Rejected, RejectedWord{at, v, m, rva + 1, why})
	}
	return out
}

// ExplainStop says which words the last scan of a stack passed by, if it ended without one.
func (w *Walker) ExplainStop(stack *Stack, mem unwind.Memory) Scanned {
	n := len(stack.Frames)
	if n == 0 || mem == nil || stack.Stop.Kind != StopNothingFound {
		return Scanned{}
	}
	s := &walk{Walker: w, arch: stack.Frames[n-1].Regs.Arch, mem: mem, frames: stack.Frames}
	s.enterStacks()
	for _, a := range stack.Stop.Attempts {
		if a.Source == SourceScan {
			return s.passedBy(s.top().Regs.SP(), s.scanWords())
		}
	}
	return Scanned{}
}

// PassedBy says why a word of the stack is not a return address for a scan from the top of the first
// frames of a stack, or "" if it points into no module or could be one.
func (w *Walker) PassedBy(stack *Stack, frames int, mem unwind.Memory, at uint64) string {
	if frames < 1 || frames > len(stack.Frames) || mem == nil {
		return ""
	}
	s := &walk{Walker: w, arch: stack.Frames[frames-1].Regs.Arch, mem: mem, frames: stack.Frames[:frames]}
	s.enterStacks()
	if p := s.passedBy(at, 1); len(p.Rejected) > 0 {
		return p.Rejected[0].Reason
	}
	return ""
}
