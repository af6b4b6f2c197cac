package walker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/framecode"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// proposeCode returns the rules that the code of the top frame's function shows (package
// framecode), where there are no others: by the way from the function's first instruction, where
// the symbols say where that is, or by the way to its return.
//
// The frame pointer of a function that has not set it yet, or that does not set it, is its caller's:
// followed, it would leave out a frame.
func (s *walk) proposeCode() (candidate, string) {
	if s.Code == nil && s.Assigned == nil || !framecode.Knows(s.arch) {
		return candidate{}, notApplicable
	}
	f := s.top()
	// If a program's tables would have the rules and the program is not there, only a scan could
	// go on from the caller, and would begin to guess where it found nothing before.
	if f.Module >= 0 && s.functionTables() {
		if _, ans := s.Symbols.Row(f.Module, f.RVA); ans == symbol.NoFile {
			return candidate{}, notApplicable
		}
	}
	row, why := s.codeRow(f)
	if why != "" {
		return candidate{}, why
	}
	s.takeFromCallee(&row)
	switch {
	case !row.Topmost:
		return candidate{row: row, trust: TrustFramePointer}, ""
	case s.interrupted():
		return candidate{row: row, trust: TrustLeaf}, ""
	}
	return candidate{row: row}, "the code returns to its link register, which a call has changed"
}

// takeFromCallee: a function that keeps its return address in a scratch register over a call knows
// that its callee, which the compiler has outlined from it, leaves that register alone. It is known
// where the thread was stopped in the callee.
//
//	mov x2, lr · bl OUTLINED · … · ret x2
func (s *walk) takeFromCallee(row *unwind.Row) {
	n, r := len(s.frames), row.RA.Reg
	if !s.Policy.CodeAtFrame0 || row.RA.Kind != unwind.FromReg || r == s.arch.LR || slices.Contains(s.arch.CalleeSaved, r) || n < 2 || s.top().Regs.Known(r) {
		return
	}
	if v, ok := s.frames[n-2].Regs.Get(r); ok {
		row.RA = unwind.Rule{Kind: unwind.Const, Offset: int64(v) + row.RA.Offset}
	}
}

// codeRow returns the rules of the code at a frame, or why there are none. Frames of a recursion ask
// for the same addresses.
func (s *walk) codeRow(f *Frame) (unwind.Row, string) {
	at := codedAt{f.PC, f.Lookup}
	if known, ok := s.coded[at]; ok {
		return known.row, known.why
	}
	if s.coded == nil {
		s.coded = map[codedAt]codedRow{}
	}
	if len(s.coded) >= maxCoded {
		return unwind.Row{}, notApplicable
	}
	known := s.followCode(f)
	if f.Answer != symbol.Needs {
		s.coded[at] = known
	}
	return known.row, known.why
}

// codedAt is a frame's pc, and where it is looked up: that tells a return address from where a thread
// was stopped.
type codedAt struct{ pc, lookup uint64 }

// codedRow is the result of codeRow for an address. entered says that the code was followed from the
// function's first instruction.
type codedRow struct {
	row     unwind.Row
	why     string
	entered bool
}

// codeSteps is how many instructions the walks of one Walker follow: more than thousands of frames
// of real programs need, a second's work. A file that is made to cost time could have any number.
const codeSteps = 4 << 20

// maxCoded bounds the addresses whose code one walk follows. Stacks have a few dozen; a file that is
// made to cost time could have any number.
const maxCoded = 1024

// followCode is codeRow without its cache.
func (s *walk) followCode(f *Frame) codedRow {
	pc := s.arch.CodeAddress(f.PC)
	thumb, returned := s.isThumb(f), f.Lookup != f.PC
	if !returned {
		read := func(at uint64, p []byte) int { n, _ := s.readCode(at, p); return n }
		if row, ok := framecode.Stub(s.arch, read, pc); ok {
			row.Origin = codeOrigin("code of the stub at", pc)
			return codedRow{row: row}
		}
	}
	if start, size, ok := s.codeStart(f); ok && pc-start < framecode.MaxSized {
		code := s.function(start, size)
		code.Thumb, code.Callee = thumb, s.calledCode
		if row, ok := framecode.Body(s.arch, s.order(), &code, pc, returned, &s.codeLeft); ok {
			// If the stack pointer was lost on the way, nothing says which registers an epilogue has taken
			// from the stack, but the way to its return.
			if row.CFA.Kind == unwind.FromReg && row.CFA.Reg != s.arch.SP && !returned {
				if leaving, ok := s.epilogue(pc, thumb); ok {
					return codedRow{row: leaving, entered: true}
				}
			}
			row.Origin = codeOrigin("code from", start)
			return codedRow{row: row, entered: true}
		}
	}
	// A call that does not return may be the function's last instruction; what follows is another's.
	if returned && s.leavesFunction(f, pc) {
		return codedRow{why: "the call is the last instruction of its function"}
	}
	if row, ok := s.epilogue(pc, thumb); ok {
		return codedRow{row: row}
	}
	if n, _ := s.readCode(pc, make([]byte, 1)); n == 0 {
		return codedRow{why: notApplicable}
	}
	return codedRow{why: "the code does not show where the return address is"}
}

// epilogue returns the rules of code that runs on to its function's return.
func (s *walk) epilogue(pc uint64, thumb bool) (unwind.Row, bool) {
	var code [framecode.MaxEpilogue]byte
	n, _ := s.readCode(pc, code[:])
	row, ok := framecode.Epilogue(s.arch, s.order(), code[:n], pc, thumb)
	row.Origin = codeOrigin("code of the epilogue at", pc)
	return row, ok
}

// codeStart returns where the function of a frame starts, and its size or 0.
//
// Compilers put what is hardly run into a part of its own, which has a symbol and is entered by
// jumps. Apple's linkers list functions alone, with or without names, and clang makes functions of
// such parts there.
func (s *walk) codeStart(f *Frame) (start, size uint64, ok bool) {
	own, pc := s.symbol(f), s.arch.CodeAddress(f.PC)
	switch {
	case f.Module < 0:
		return 0, 0, false
	case own.Name == "" && s.apple():
		code, ok := s.Symbols.Function(f.Module, f.RVA)
		start = f.Address(code.Start)
		return start, code.Size, ok && start <= pc
	}
	start = f.Address(own.Start)
	return start, own.Size, own.Name != "" && start <= pc && (s.apple() || !strings.Contains(own.Name, ".cold"))
}

// function is the code of a function. size is 0 if it is not known.
func (s *walk) function(start, size uint64) framecode.Function {
	f := framecode.Function{Start: start, Sized: size > 0}
	size = cmp.Or(size, framecode.MaxBody)
	code := make([]byte, min(size, framecode.MaxSized))
	n, _ := s.readCode(start, code)
	f.Code = code[:n]
	return f
}

// calledCode is a function that is called.
func (s *walk) calledCode(at uint64) (framecode.Function, bool) {
	m, rva := s.Modules.Find(at)
	if m < 0 {
		return framecode.Function{}, false
	}
	own, _ := s.lookup(m, rva)
	if own.Start != rva {
		own.Size = 0
	}
	return s.function(at, own.Size), true
}

// leavesFunction: an address is not in a frame's function.
func (s *walk) leavesFunction(f *Frame, pc uint64) bool {
	m, rva := s.Modules.Find(pc)
	if m < 0 || m != f.Module {
		return m != f.Module
	}
	after, _ := s.lookup(m, rva)
	return after.Start != f.Symbol.Start || after.Name != f.Symbol.Name
}

func codeOrigin(what string, at uint64) unwind.Origin {
	return unwind.Origin{Part: fmt.Sprintf("%s 0x%x", what, at)}
}

// beforeCalls: the rules describe the body of a function and the thread was stopped in it, perhaps
// before it saved its registers, and the code says more. Rules for the whole function, as those of
// .ARM.exidx, hold where it calls another; at its first instruction they cannot, if the return
// address is in memory by them.
func (s *walk) beforeCalls(row *unwind.Row) bool {
	f := s.top()
	inMemory := row.RA.Kind == unwind.AtCFA || row.RA.Kind == unwind.AtReg
	switch {
	case !s.Policy.CodeAtFrame0 || !s.interrupted():
		return false
	case row.NoEpilogue:
		return s.codeDiffers(f, row)
	case !row.WholeFunction && (s.arch.LR == cpu.NoReg || !inMemory):
		return false
	}
	// A symbol file's record has such rules too, if it was made from those.
	if own := s.symbol(f); !row.WholeFunction && (row.Origin.Line == 0 || own.Name == "" || own.Start != row.Start) {
		return false
	}
	if f.RVA == row.Start && inMemory {
		return true
	}
	if s.Code == nil && s.Assigned == nil || !framecode.Knows(s.arch) {
		return false
	}
	_, why := s.codeRow(f)
	return why == ""
}

// codeDiffers: the code leads to another caller than rules that do not describe epilogues. If it
// leads to the same, the rules know better which registers were saved on the way.
func (s *walk) codeDiffers(f *Frame, row *unwind.Row) bool {
	code, why := s.codeRow(f)
	if why != "" {
		return false
	}
	byRules, _, err := s.evaluate(row, &f.Regs, s.mem, nil)
	byCode, _, failed := s.evaluate(&code, &f.Regs, s.mem, nil)
	return failed == nil && (err != nil || byRules.PC() != byCode.PC() || byRules.SP() != byCode.SP())
}

// keepInThunk: where a thread was stopped in a function that does nothing but copy its return address
// (framecode.IsPCThunk), its caller has those registers too that other calls may change. While GCC's
// code aligns the stack, ecx alone has the address of the caller's frame, also over such a call.
func (s *walk) keepInThunk(row *unwind.Row) {
	f := s.top()
	if !s.Policy.CodeAtFrame0 || !s.interrupted() || s.symbol(f).Name == "" {
		return
	}
	start := s.symbol(f).Start
	var code [4]byte
	if n, _ := s.readCode(f.Address(start), code[:]); f.RVA-start >= uint64(n) || !framecode.IsPCThunk(s.arch, code[:n]) {
		return
	}
	row.Saved = slices.Clone(row.Saved)
	for r := range s.arch.Names {
		if reg := cpu.Reg(r); reg != s.arch.PC && reg != s.arch.SP && !slices.Contains(s.arch.CalleeSaved, reg) {
			row.Saved = append(row.Saved, unwind.RegRule{Reg: reg, Rule: unwind.Rule{Kind: unwind.Same, Reg: reg}})
		}
	}
}

// isThumb: a frame on arm is in Thumb code. A return address says so by its lowest bit, and a thread's
// context by its mode, if the writer knew it. Otherwise the code shows it: nearly all instructions of
// ARM code have 14 in the upper four bits (always), and those of Thumb code do not.
func (s *walk) isThumb(f *Frame) bool {
	switch {
	case !s.arch.ThumbBit:
		return false
	case !s.interrupted() || f.PC&3 != 0:
		return f.PC&3 != 0
	case s.atContext() && f.Regs.Mode != cpu.AnyMode:
		return f.Regs.Mode == cpu.ThumbMode
	}
	var b [64]byte
	n, _ := s.readCode(f.PC, b[:])
	always := 0
	for i := 3; i < n; i += 4 {
		if b[i]>>4 == 14 {
			always++
		}
	}
	return 2*always < n/4
}

// checkCode rejects what the code shows if the return address does not follow a call. A frame's pc
// may be in no code, where the bytes mean nothing.
func (s *walk) checkCode(regs *cpu.Regs) string {
	pc := s.strip(regs.PC())
	if pc == 0 { // a stack may begin with this function
		return ""
	}
	// As call frame information does, the code from a function's entry says for certain where the return
	// address is. It may be in generated code (unproven).
	at := s.coded[codedAt{s.top().PC, s.top().Lookup}]
	if at.entered && pc >= firstPage && s.canBe(pc) && !s.Modules.Covers(pc-s.arch.CallSize) && !s.top().Doubtful {
		return ""
	}
	if good, why := s.plausibleReturn(pc); !good && !s.returnsFromSignal(pc) && (s.top().Doubtful || !s.beginsFunction(pc)) {
		if why != "" {
			why = ": " + why
		}
		return fmt.Sprintf("0x%x is not a return address%s", pc, why)
	}
	return ""
}
