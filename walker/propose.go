package walker

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// notApplicable is the reason of a source that does not exist for the CPU or system. It is not
// recorded as an attempt.
const notApplicable = "\x00"

// propose returns the rules of one source, or the reason why it has none.
func (s *walk) propose(src Source) (candidate, string) {
	// Above a stack's first function is what the program keeps there: its arguments, saved contexts.
	if s.top().returnedTo && src != SourceCFI && src != SourceShadow {
		return candidate{}, "nothing has called the function: another one returned to its first instruction"
	}
	switch src {
	case SourceWin:
		return s.proposeWin()
	case SourceSignal:
		return s.proposeSignal()
	case SourceCFI:
		return s.proposeCFI()
	case SourceCode:
		return s.proposeCode()
	case SourceLeaf:
		return s.proposeLeaf()
	case SourceFramePointer:
		return s.proposeFramePointer()
	case SourceShadow:
		return s.proposeShadow()
	case SourceScan:
		return s.proposeScan()
	}
	return candidate{}, notApplicable
}

// proposeCFI returns the rules that the module's symbols have for the address.
func (s *walk) proposeCFI() (candidate, string) {
	if s.Policy.CFINotOnIOSArm && s.OS == core.IOS && s.breakpad().CFINotOnIOSArm {
		return candidate{}, notApplicable
	}
	f := s.top()
	if f.Module < 0 {
		return candidate{}, fmt.Sprintf("0x%x is in no module", f.Lookup)
	}
	row, ans := s.Symbols.Row(f.Module, f.RVA)
	switch ans {
	case symbol.NoFile:
		return candidate{}, "there are no symbols for the module"
	case symbol.Needs:
		return candidate{}, "this part of the symbol file has not been read yet"
	// A row without rules may still say which record covers the address, for the explanation.
	case symbol.No:
		if row.Origin.Part != "" {
			return candidate{row: unwind.Row{Origin: row.Origin}}, "the record that covers the address cannot be used"
		}
		return candidate{}, "the symbols have no unwind rules (CFI) for the address"
	}
	if f.returnedTo && !row.Outermost {
		return candidate{row: row}, "the rules at a function's entry hold if it was called, and this one was returned to"
	}
	if row.Topmost && !s.interrupted() {
		return candidate{row: row}, "the rules hold only in a function that has not called anything"
	}
	if s.beforeCalls(&row) {
		return candidate{row: row}, "the rules hold where the function calls another, and it may not have saved its registers yet"
	}
	if s.Policy.FixSwapped && row.EntryFromFP {
		row = s.unswap(row)
	}
	// Rules that load the stack pointer from memory, as those of a saved context do, lead to
	// another stack.
	if s.Policy.OtherStacks && !row.Signal {
		row.Signal = s.restoresContext(&row)
	}
	s.takeFromCallee(&row)
	return candidate{row: s.dropStaleLR(row), trust: TrustCFI}, ""
}

// interrupted: the top frame did not make a call; its thread was stopped in it, or a signal came.
func (s *walk) interrupted() bool { return s.atContext() || s.top().Row.Signal }

// unswap puts esp and ebp back in their places if the record has them the other way round: clang
// for macOS i386 numbered them 4 and 5 in .debug_frame where dump_syms expects 5 and 4. That the
// record finds the cfa from ebp at the function's entry makes it suspect; what the stack holds
// decides: the record's own rules find nothing, swapped they lead to a return address. A correct
// record is not suspect, and one that finds a caller is not changed.
func (s *walk) unswap(row unwind.Row) unwind.Row {
	if s.leadsToCode(row) {
		return row
	}
	unswapped := row.Swapped(s.arch.SP, s.arch.FP)
	if !s.leadsToCode(unswapped) {
		return row
	}
	unswapped.Origin.Note = NoteSwapped
	return unswapped
}

// NoteSwapped is the Origin's note of rules that unswap put right.
const NoteSwapped = unwind.NoteSwapped + "the file was made from DWARF that numbers them the other way round"

// leadsToCode: the rules give a return address that a scan would accept, above the frame's sp.
func (s *walk) leadsToCode(row unwind.Row) bool {
	regs, _, err := s.evaluate(&row, &s.top().Regs, s.mem, nil)
	if err != nil || regs.SP() <= s.top().Regs.SP() {
		return false
	}
	good, _ := s.plausibleReturn(regs.PC())
	return good
}

// dropStaleLR removes rules from a row that would read an arm64 lr that is only a guess. A frame
// found by its frame pointer gets the word next to it as lr, which is the lr that the function had
// on entry. Rules that hold at the function's first instruction may use it. Others would take a
// value that has long been overwritten.
func (s *walk) dropStaleLR(row unwind.Row) unwind.Row {
	if !s.arch.LinkInRecord || s.top().Trust != TrustFramePointer || s.fromLR() {
		return row
	}
	if row.Start == s.top().RVA || row.RA.Kind != unwind.FromReg && row.RA.Kind != unwind.Same || row.RA.Kind == unwind.FromReg && row.RA.Reg != s.arch.LR {
		return row
	}
	row.RA = unwind.Rule{Kind: unwind.Undefined}
	return row
}

// returnAt returns the rules for a return address that is stored at an address: pc = [at], sp = at
// + word.
func returnAt(arch *cpu.Arch, at uint64) unwind.Row {
	return unwind.Row{
		CFA:             unwind.Rule{Kind: unwind.Const, Offset: int64(at) + int64(arch.WordSize)},
		RA:              unwind.Rule{Kind: unwind.AtConst, Offset: int64(at)},
		OthersUndefined: true,
	}
}

// proposeFramePointer returns the rules of the CPU's standard frame.
//
//	cfa = fp + 2 words     pc = [fp + word]     fp = [fp]
func (s *walk) proposeFramePointer() (candidate, string) {
	lay, rules := s.arch.Frame, s.Policy.FramePointer
	switch {
	case lay.Style == cpu.NoFrame:
		return candidate{}, notApplicable
	case lay.Style == cpu.BackChain:
		return s.proposeBackChain()
	case s.arch.FPOnlyOnIOS && s.OS != core.IOS, s.functionTables() && !rules.WindowsAMD64:
		return candidate{}, notApplicable
	}
	fpReg := s.framePointer()
	fp, ok := s.reg(fpReg)
	if !ok {
		return candidate{}, s.arch.RegName(fpReg) + " is not known"
	}
	if rules.Aligned && s.breakpad().FPAligned && fp%uint64(s.arch.WordSize) != 0 {
		return candidate{}, fmt.Sprintf("%s is 0x%x, which is not aligned", s.arch.RegName(fpReg), fp)
	}
	// fp + 2 words would wrap around.
	if fp > s.arch.Mask(^uint64(0))-uint64(2*s.arch.WordSize) {
		return candidate{}, fmt.Sprintf("%s is 0x%x", s.arch.RegName(fpReg), fp)
	}
	row := unwind.Row{
		CFA:             s.fromReg(fpReg, fp, lay.CFAOffset+s.intoFrame(fp)),
		RA:              s.savedReturn(lay),
		Saved:           []unwind.RegRule{{Reg: fpReg, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: lay.FPOffset}}},
		OthersUndefined: true,
		Origin:          unwind.Origin{Part: "frame pointer"},
	}
	if s.arch.LR != cpu.NoReg {
		if why := s.linkFrame(&row, fp); why != "" {
			return candidate{}, why
		}
	}
	if _, ok := s.word(fp); !ok && fp != 0 {
		return candidate{row: row}, fmt.Sprintf("%s is 0x%x, where the dump has no stack", s.arch.RegName(fpReg), fp)
	}
	return candidate{row: row, trust: TrustFramePointer}, ""
}

// intoFrame searches how far a frame register of Windows amd64 points into its frame: a multiple of
// 16 up to 240 (UWOP_SET_FPREG in Microsoft's x64 exception handling). It returns the first offset
// that checkFramePointer accepts, or one that it rejects.
func (s *walk) intoFrame(fp uint64) int64 {
	if !s.functionTables() || !s.Policy.FramePointer.WindowsAMD64 {
		return 0
	}
	word := uint64(s.arch.WordSize)
	for offset := uint64(0); offset <= 240; offset += 16 {
		saved, ok := s.word(fp + offset)
		pc, hasPC := s.word(fp + offset + word)
		sp := fp + offset + 2*word
		if !ok || !hasPC {
			return int64(offset)
		}
		if saved < sp {
			continue
		}
		// A saved register above the stack's memory ends the search.
		_, inStack := s.word(saved)
		_, spInStack := s.word(sp)
		if !inStack || s.arch.Canonical(pc) && sp > s.top().Regs.SP() && spInStack {
			return int64(offset)
		}
	}
	return 0
}

// proposeBackChain follows the chain of stack pointers that powerpc frames form.
//
//	cfa = [sp]     pc = [cfa + offset]
func (s *walk) proposeBackChain() (candidate, string) {
	sp := s.top().Regs.SP()
	next, ok := s.word(sp)
	switch {
	case !ok:
		return candidate{}, fmt.Sprintf("%s is 0x%x, where the dump has no stack", s.arch.RegName(s.arch.SP), sp)
	case next == 0:
		// The outermost frame's chain ends with 0, which means the same as a return address of 0.
		return candidate{trust: TrustFramePointer, row: unwind.Row{CFA: unwind.Rule{Kind: unwind.Const, Offset: int64(sp)}, RA: unwind.Rule{Kind: unwind.Const}}}, ""
	}
	lay := s.arch.Frame
	if s.Policy.PPCByOS && lay.SysVRAOffset != 0 && s.OS != core.MacOS {
		lay.RAOffset = lay.SysVRAOffset
	}
	return candidate{trust: TrustFramePointer, row: unwind.Row{
		CFA:             unwind.Rule{Kind: unwind.AtReg, Reg: s.arch.SP},
		RA:              s.savedReturn(lay),
		OthersUndefined: true,
		Origin:          unwind.Origin{Part: "back chain"},
	}}, ""
}

// savedReturn returns the rule of the return address in a standard frame.
func (s *walk) savedReturn(lay cpu.FrameLayout) unwind.Rule {
	return unwind.Sum(s.arch, unwind.Rule{Kind: unwind.AtCFA, Offset: lay.RAOffset}, lay.RABias)
}

// linkFrame adapts the rules to a CPU with a link register, or returns the reason why there are
// none.
func (s *walk) linkFrame(row *unwind.Row, fp uint64) string {
	lay, lr := s.arch.Frame, s.arch.LR
	rules := s.Policy.FramePointer
	value, known := s.reg(lr)
	fromLR := s.fromLR()
	if !known && fromLR {
		// Call frame information seldom recovers lr. A caller has saved it next to its fp, if it
		// keeps one.
		if fp == 0 {
			return "lr is not known and fp is 0"
		}
		return ""
	}
	// An lr that points into no module is not a return address: the frame record has one, perhaps.
	if fromLR && rules.LRInModule && s.atContext() && !s.Modules.Covers(s.strip(value)-1) {
		if fp == 0 {
			return fmt.Sprintf("neither lr (0x%x) nor fp (0) leads to a caller", value)
		}
		return ""
	}
	if !fromLR {
		if fp == 0 && rules.LeafByLR && !s.fpWasRead() {
			return "fp is 0 since the crash: no chain of frames hangs on it"
		}
		if fp == 0 {
			// The end of the chain: a caller whose sp has not moved ends the walk, or is rejected
			// for its pc.
			sp := s.top().Regs.SP()
			row.CFA = unwind.Rule{Kind: unwind.Const, Offset: int64(sp)}
			row.RA = unwind.Rule{Kind: unwind.Const}
			row.Saved[0].Rule = unwind.Rule{Kind: unwind.Const}
			return ""
		}
		if !s.arch.LinkInRecord {
			return ""
		}
		// The caller's lr on entry is in its own frame record.
		if next, ok := s.word(fp); ok && next != 0 {
			next = s.strip(next)
			at := next + uint64(lay.CFAOffset+lay.RAOffset)
			if _, ok := s.word(at); ok {
				row.Saved = append(row.Saved, unwind.RegRule{Reg: lr, Rule: unwind.Rule{Kind: unwind.AtConst, Offset: int64(at)}})
			}
		}
		return ""
	}
	// Breakpad: pc is the callee's lr, and the word next to the saved fp is the caller's lr.
	if s.arch.LinkInRecord && !s.top().Regs.Known(lr) {
		if v, ok := s.linkFromCallee(); ok {
			value = v
		}
		row.RA = unwind.Rule{Kind: unwind.Const, Offset: int64(value)}
	} else {
		row.RA = s.fromReg(lr, value, 0)
	}
	row.Saved = append(row.Saved, unwind.RegRule{Reg: lr, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: lay.RAOffset}})
	if fp == 0 {
		sp := s.top().Regs.SP()
		row.CFA = unwind.Rule{Kind: unwind.Const, Offset: int64(sp)}
		row.Saved[0].Rule = unwind.Rule{Kind: unwind.Const}
		row.Saved[1].Rule = unwind.Rule{Kind: unwind.Const}
	}
	return ""
}

// fromLR: the caller's pc is the callee's lr, and not the saved word next to the frame pointer.
// If LeafByLR uses frame 0's lr, other values of lr are left over from earlier calls. For iOS on
// 32-bit arm there is no reference to test against, so it works as in Breakpad.
func (s *walk) fromLR() bool {
	rules := s.Policy.FramePointer
	return rules.FromLR && !(rules.LeafByLR && !s.arch.LinkStale)
}

// fpWasRead: the top frame's frame pointer was read from the stack and is not what the thread's
// context had.
func (s *walk) fpWasRead() bool {
	// In the frame or in one of its callees.
	for i := len(s.frames) - 1; i > 0; i-- {
		if s.readsFP(&s.frames[i].Row) {
			return true
		}
	}
	return false
}

// readsFP: a rule other than Same finds the caller's frame pointer.
func (s *walk) readsFP(row *unwind.Row) bool {
	return slices.ContainsFunc(row.Saved, func(r unwind.RegRule) bool { return r.Reg == s.arch.FP && r.Rule.Kind != unwind.Same })
}

// linkFromCallee finds the top frame's lr in its callee's frame record, if call frame information
// and the chain of frame pointers agree on the top frame's fp.
func (s *walk) linkFromCallee() (uint64, bool) {
	if len(s.frames) < 2 {
		return 0, false
	}
	fp, _ := s.reg(s.arch.FP)
	if fp <= s.top().Regs.SP() {
		return 0, false
	}
	calleeFP, _ := s.frames[len(s.frames)-2].Regs.Get(s.arch.FP)
	var saved, lr uint64
	if calleeFP != 0 {
		var ok bool
		if saved, ok = s.word(calleeFP); !ok {
			return 0, false
		}
	}
	if saved != fp {
		return 0, false
	}
	if calleeFP != 0 {
		var ok bool
		if lr, ok = s.word(calleeFP + uint64(s.arch.WordSize)); !ok {
			return 0, false
		}
	}
	return s.strip(lr), true
}

// framePointer returns the frame pointer's register: r7 on iOS arm, else that of the CPU's table.
func (s *walk) framePointer() cpu.Reg {
	if s.OS == core.IOS && s.Policy.FramePointer.FromLR {
		return s.arch.IOSFramePointer
	}
	return s.arch.FP
}
