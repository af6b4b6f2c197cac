package walker

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// proposeLeaf simulates the return of a function that has made no call and whose return address is
// still where its caller's call put it.
func (s *walk) proposeLeaf() (candidate, string) {
	switch {
	// The call pushed its return address, and nothing ran since: the word at sp, or no caller.
	case s.Policy.NullLeaf && s.interrupted() && s.arch.LR == cpu.NoReg && s.holdsNoCode(s.top().PC):
		return s.leafAtSP(1)
	// A function that called another one is not a leaf.
	case !s.atContext() && !(s.Policy.InterruptedAsContext && s.interrupted()):
	case s.arch.LR != cpu.NoReg && s.Policy.FramePointer.LeafByLR:
		return s.leafByLR()
	case s.Policy.LeafOnWindows && s.functionTables():
		return s.leafAtSP(2)
	}
	return candidate{}, notApplicable
}

// leafByLR uses the link register. A function's lr is its return address until it makes a call;
// afterwards lr is the address after that call, in the function itself. So where the symbols tell
// functions apart, an lr in another function leads to the caller, and one in the same function is
// useless, except at the function's first instruction. Without symbols only arm64's lr is used, as
// in Breakpad.
//
// On arm a function returns by loading pc from the stack, and lr keeps what the last of its calls
// left there: after a call, lr points anywhere below. There the instruction before lr must call
// this very function (rust-minidump 460 ignores lr altogether), or, where the code is not there, the
// rules at lr must lead on.
//
//	cfa = sp     pc = lr
func (s *walk) leafByLR() (candidate, string) {
	lr, ok := s.top().Regs.Get(s.arch.LR)
	if !ok {
		return candidate{}, s.arch.RegName(s.arch.LR) + " is not known"
	}
	name, to := s.arch.RegName(s.arch.LR), s.strip(lr)
	if good, why := s.plausibleReturn(to); !good {
		if why != "" {
			why = ": " + why
		}
		return candidate{}, fmt.Sprintf("%s 0x%x is not a return address into a known function%s", name, lr, why)
	}
	f, own := s.top(), s.symbol(s.top())
	// The lowest bit of an arm address says Thumb, and is not part of it.
	if to&^1 == f.PC&^1 {
		return candidate{}, fmt.Sprintf("%s 0x%x is this very instruction: the function has just come back from a call", name, lr)
	}
	m, rva := s.Modules.Find(to - 1)
	caller, _ := s.lookup(m, rva+1-s.arch.CallSize)
	switch {
	case s.atEntry(f):
	case own.Name == "" || caller.Name == "":
		if !s.arch.LinkAlone {
			return candidate{}, fmt.Sprintf("without symbols %s 0x%x cannot be told from what is left of an earlier call", name, lr)
		}
	case m == f.Module && caller.Start == own.Start:
		return candidate{}, fmt.Sprintf("%s 0x%x points into the function itself: it made a call since it was entered", name, lr)
	}
	if s.arch.LinkStale && !s.atEntry(f) {
		target, ok := s.calledBefore(to)
		if ok && target != f.Address(own.Start) || !ok && !s.continuesAt(to, m, rva+1-s.arch.CallSize) {
			return candidate{}, fmt.Sprintf("%s 0x%x may be left from a function that was called since: no call of this function is known to lie before it", name, lr)
		}
	}
	if fp, ok := s.top().Regs.Get(s.arch.FP); ok && s.arch.LinkInRecord && fp >= s.top().Regs.SP() {
		if saved, ok := s.word(fp + uint64(s.arch.Frame.CFAOffset+s.arch.Frame.RAOffset)); ok && s.strip(saved) == to {
			return candidate{}, fmt.Sprintf("%s 0x%x is saved in the frame at fp already", name, lr)
		}
	}
	return candidate{trust: TrustLeaf, row: unwind.Row{
		CFA:    unwind.Rule{Kind: unwind.FromReg, Reg: s.arch.SP},
		RA:     unwind.Rule{Kind: unwind.FromReg, Reg: s.arch.LR},
		Saved:  []unwind.RegRule{{Reg: s.arch.LR, Rule: unwind.Rule{Kind: unwind.Undefined}}},
		Origin: unwind.Origin{Part: "leaf function"},
	}}, ""
}

// continuesAt: with the top frame's registers, the rules at a return address lead to the next one.
// If the address is left from a function that was called since, they take other words of the stack.
func (s *walk) continuesAt(to uint64, module int, rva uint64) bool {
	if module < 0 {
		return false
	}
	row, ans := s.Symbols.Row(module, rva)
	if ans != symbol.Yes || row.Topmost || row.RA.Kind != unwind.AtCFA {
		return false
	}
	regs := s.top().Regs
	regs.Set(s.arch.PC, to)
	next, _, err := s.evaluate(&row, &regs, s.mem, nil)
	if err != nil || next.SP() <= regs.SP() {
		return false
	}
	good, _ := s.plausibleReturn(next.PC())
	return good
}

// atEntry: a frame is at its function's first instruction.
func (s *walk) atEntry(f *Frame) bool {
	own := s.symbol(f)
	return f.Module >= 0 && own.Name != "" && f.PC == f.Address(own.Start)
}

// afterLeaf: the top frame was found by frame 0's link register, with its sp.
func (s *walk) afterLeaf() bool { return s.top().Source == SourceLeaf && s.arch.LR != cpu.NoReg }

// leafAtSP simulates the return of a function that has not moved sp. Either it does not exist,
// since a null pointer was called. Or it has no unwind data on Windows amd64, where the ABI lets a
// function go without if it calls nothing and moves no registers. The return address is the first
// plausible one of some words at sp; for Windows Breakpad looks at two.
func (s *walk) leafAtSP(words int) (candidate, string) {
	at, _, ok := s.scanFor(s.top().Regs.SP(), words)
	if !ok {
		return candidate{}, fmt.Sprintf("no return address is in the first %d words at the stack pointer", words)
	}
	row := returnAt(s.arch, at)
	row.Origin.Part = "leaf function"
	row.OthersUndefined = false
	// The frame is still the context's: all registers keep their values.
	for r := range s.arch.Names {
		if reg := cpu.Reg(r); reg != s.arch.PC && reg != s.arch.SP {
			row.Saved = append(row.Saved, unwind.RegRule{Reg: reg, Rule: unwind.Rule{Kind: unwind.Same, Reg: reg}})
		}
	}
	return candidate{row: row, trust: TrustLeaf}, ""
}

// holdsNoCode: no code can be at an address. If the memory map has the stack and not the
// address, nothing is mapped there.
func (s *walk) holdsNoCode(pc uint64) bool {
	if yes, known := s.executable(pc); pc < firstPage || known {
		return !yes
	}
	_, mapped := s.executable(s.top().Regs.SP())
	return !s.Modules.Covers(pc) && mapped
}
