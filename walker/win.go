package walker

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// proposeWin returns the rules of the STACK WIN record that covers the address.
func (s *walk) proposeWin() (candidate, string) {
	if !s.arch.StackWIN {
		return candidate{}, notApplicable
	}
	f := s.top()
	if f.Module < 0 {
		return candidate{}, notApplicable
	}
	fd, ans := s.Symbols.FrameData(f.Module, f.RVA)
	switch ans {
	case symbol.NoFile:
		return candidate{}, notApplicable
	case symbol.Needs:
		return candidate{}, "this part of the symbol file has not been read yet"
	case symbol.No:
		if own := s.symbol(f); f.Answer == symbol.Yes && !own.Public && own.Name != "" && s.Policy.Win.FuncParams {
			s.params[len(s.params)-1] = paramSize{own.ParamSize, true}
		}
		return candidate{}, "the symbols have no STACK WIN record for the address"
	}
	s.params[len(s.params)-1] = paramSize{fd.Params, true}
	return s.winFrame(fd)
}

// numberedRegs are the registers that Microsoft's compiler names by number in programs. Both peers
// take "$20" for a temporary.
//
// Source: microsoft-pdb, include/cvconst.h (CV_HREG_e).
var numberedRegs = [...]string{"$17 ", "$eax ", "$18 ", "$ecx ", "$19 ", "$edx ", "$20 ", "$ebx ", "$22 ", "$ebp ", "$23 ", "$esi ", "$24 ", "$edi "}

// calleeParams returns the size of the arguments that esp points at: those of the frame that the
// top one called.
func (s *walk) calleeParams() uint32 {
	var size uint32
	for i := len(s.params) - 2; i >= 0; i-- {
		if s.params[i].ok {
			size = s.params[i].bytes
		}
		if !s.Policy.Win.YoungestParams {
			break
		}
	}
	return size
}

// winFrame turns a record into a Row. It computes the values that the record's program refers to
// first.
func (s *walk) winFrame(fd unwind.FrameData) (candidate, string) {
	esp64, ok := s.reg(s.arch.SP)
	if !ok {
		return candidate{}, "esp is not known"
	}
	esp, params := uint32(esp64), s.calleeParams()
	// The frame, from low to high: arguments of the function that was called, local variables,
	// saved registers, return address.
	search := esp + params + fd.Locals + fd.SavedRegs
	place := WinPlace{CalleeParams: params, Computed: search}
	if s.Policy.Win.Scan {
		search = s.searchReturnAddress(search, fd)
	}
	program := fd.ProgramText()
	if s.Policy.Win.NumberedRegs {
		for i := 0; i < len(numberedRegs); i += 2 {
			program = strings.ReplaceAll(program, numberedRegs[i], numberedRegs[i+1])
		}
	}
	// An FPO record has no rule for ebp if its function does not use it; every other program is
	// expected to recover it.
	plainFPO := (!fd.HasProgram || fd.Program == "") && !fd.AllocatesBP
	// "@" aligns esp, which loses its old value: then only ebp knows where the frame ends, and the
	// return address is above it.
	if ebp, ok := s.reg(s.arch.FP); ok && strings.Contains(program, "@") {
		search, place.Aligned = uint32(ebp)+4, true
	}
	place.SearchStart = search
	if err := s.Budget.Draw(input.Work, 2*int64(len(program))); err != nil {
		return candidate{}, err.Error()
	}
	row, err := unwind.ParseProgram(s.arch, program, fd.Vars(params, uint64(search)))
	row.Origin = fd.Origin
	if err != nil {
		return s.winByScan(row, fmt.Sprintf("its program cannot be used: %v", err))
	}
	if plainFPO {
		// Forwarding functions of ntdll do not change ebx; some walks need it.
		ebx, _ := s.arch.Lookup("ebx")
		row.Saved = append(row.Saved, unwind.RegRule{Reg: ebx, Rule: unwind.Rule{Kind: unwind.Same, Reg: ebx}})
	}
	unsaved := s.Policy.Win.UnsavedSame && fd.HasProgram && restoresAll(&row, fd.SavedRegs)
	s.keepBP(&row)
	row.OthersUndefined = s.Policy.Win.OnlyAssigned && !unsaved
	// Some corrections depend on the result, so the rules are tried here and then handed on.
	got, _, err := s.evaluate(&row, &s.top().Regs, s.mem, nil)
	if err != nil {
		return s.winByScan(row, err.Error())
	}
	if !s.Policy.Win.Scan {
		return candidate{row: row, trust: TrustCFI, win: place}, ""
	}
	cand := s.correctWin(row, got, fd, search, params, !plainFPO && !unsaved)
	cand.win = place
	return cand, ""
}

// restoresAll: a program restores as many bytes of registers as its record says were saved. The
// registers that it does not mention are then unchanged, and not unknown as they are after programs
// that do not restore everything. Their rules are removed.
func restoresAll(row *unwind.Row, saved uint32) bool {
	var kept []unwind.RegRule
	for _, r := range row.Saved {
		if r.Rule.Kind != unwind.Undefined {
			kept = append(kept, r)
		}
	}
	if uint32(4*len(kept)) != saved {
		return false
	}
	row.Saved = kept
	return true
}

// keepBP: a program without a rule for ebp leaves it unchanged.
func (s *walk) keepBP(row *unwind.Row) {
	for _, r := range row.Saved {
		if r.Reg == s.arch.FP {
			return
		}
	}
	row.Saved = append(row.Saved, unwind.RegRule{Reg: s.arch.FP, Rule: unwind.Rule{Kind: unwind.Same, Reg: s.arch.FP}})
}

// searchReturnAddress looks for the return address at the computed address and up to three words
// above it, since esp may have been aligned. A frame 0 whose first word is its own pc is a system
// call on its way out, with the stub's return address still on the stack: that word is skipped.
func (s *walk) searchReturnAddress(search uint32, fd unwind.FrameData) uint32 {
	at, value, ok := s.scanFor(uint64(search), 4)
	if !ok {
		return search
	}
	if s.atContext() && fd.Type == 0 && uint32(at) == search && value == s.top().PC {
		search += 4
		if at, _, ok = s.scanFor(uint64(search), 4); !ok {
			return search
		}
	}
	return uint32(at)
}

// winByScan: the record's program failed; Breakpad then scans from esp and keeps ebp.
func (s *walk) winByScan(tried unwind.Row, why string) (candidate, string) {
	if !s.Policy.Win.Scan || s.scanned >= s.Policy.MaxScanned {
		return candidate{row: tried}, why
	}
	at, _, ok := s.scanFor(s.top().Regs.SP(), s.winScanWords())
	if !ok {
		return candidate{row: tried}, why + "; a scan above esp found no return address"
	}
	row := returnAt(s.arch, at)
	row.Origin = unwind.Origin{Part: scanPart}
	s.keepBP(&row)
	return candidate{row: row, trust: TrustScan}, ""
}

// winScanWords is scanWords for a failed record.
func (s *walk) winScanWords() int {
	if s.atContext() {
		return s.Policy.Scan.ExtendedWords
	}
	return s.Policy.Scan.Words
}

// correctWin corrects results of STACK WIN records of link-time code generation, which are often
// wrong: a return address outside of every module is searched above its address, and an ebp outside
// of the stack in the area of saved registers. If eip and ebp are both 0 the stack has ended and
// nothing is searched.
func (s *walk) correctWin(row unwind.Row, got cpu.Regs, fd unwind.FrameData, search, params uint32, assignsBP bool) candidate {
	trust := TrustCFI
	eip := uint32(got.PC())
	ebp64, _ := got.Get(s.arch.FP)
	ebp := uint32(ebp64)
	if eip == 0 && ebp == 0 {
		return candidate{row: row, trust: trust}
	}
	// offset is how much higher than expected the return address was found: the saved registers are
	// as much higher.
	var offset uint32
	if !s.Modules.Covers(uint64(eip)) && s.scanned < s.Policy.MaxScanned {
		start := search + 4
		if at, _, ok := s.scanFor(uint64(start), s.winScanWords()); ok {
			row.CFA = unwind.Rule{Kind: unwind.Const, Offset: int64(at) + 4}
			row.RA = unwind.Rule{Kind: unwind.AtConst, Offset: int64(at)}
			offset = uint32(at) - start
			trust = TrustCFIScan
		}
	}
	if !assignsBP {
		return candidate{row: row, trust: trust}
	}
	// After a scan frames may have been skipped; an ebp below the return address belongs to one of
	// them.
	skipped := trust != TrustCFI && ebp <= search+offset
	if _, ok := s.word(uint64(ebp)); ok && !skipped {
		return candidate{row: row, trust: trust}
	}
	low := uint32(s.top().Regs.SP()) + params
	// The saved ebp is searched downwards from the end of the area of saved registers: a word that
	// points into the stack.
	for at := low + fd.SavedRegs + offset; at >= low && at-low <= maxFrameGap; at -= 4 {
		v, ok := s.word(uint64(at))
		if !ok {
			break
		}
		if _, inside := s.word(v); inside {
			setRule(&row, s.arch.FP, unwind.Rule{Kind: unwind.AtConst, Offset: int64(at)})
			break
		}
		if at < 4 {
			break
		}
	}
	return candidate{row: row, trust: trust}
}

// setRule replaces or adds the rule of a register.
func setRule(row *unwind.Row, reg cpu.Reg, rule unwind.Rule) {
	for i := range row.Saved {
		if row.Saved[i].Reg == reg {
			row.Saved[i].Rule = rule
			return
		}
	}
	row.Saved = append(row.Saved, unwind.RegRule{Reg: reg, Rule: rule})
}
