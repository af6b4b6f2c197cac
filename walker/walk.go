package walker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Walker walks the threads of one dump with one policy.
type Walker struct {
	Policy  Policy
	Symbols Symbols
	Modules *core.ModuleMap
	OS      core.OS
	// Code, if set, reads instructions, which distinguish return addresses from other pointers into
	// code.
	Code Code
	// Assigned, if set, reads instructions of programs that the user assigned to modules of another
	// build. As the rules of assigned symbols they lead to callers, and they refute none.
	Assigned Code
	// Space, if set, is what the dump knows about the process's address space: the memory map, and
	// which memory is in the dump.
	Space Space
	// Entry is the program's entry point as the system reports it (Linux' AT_ENTRY), or 0 if
	// unknown.
	Entry uint64
	// NTDLL and Kernel32 are the indexes of these modules on Windows. A 32-bit process on a 64-bit
	// system has two of the former.
	NTDLL, Kernel32 []int
	// Unloaded are the modules that the process had unloaded.
	Unloaded []core.UnloadedModule
	// Budget is what the walks may cost; nil for no limit. A stack draws FrameCost for each caller.
	Budget *input.Budget
	// Keep is how much of the Budget's memory a stack leaves for others, once it has LeastFrames.
	Keep int64
	// BigEndian is the byte order of Code, on CPUs that have both.
	BigEndian bool
	// pacMask keeps the address bits of an arm64 pointer.
	pacMask uint64
	// codeLeft is how many instructions proposeCode may still follow.
	codeLeft int
	// jumps are those of functions by their first address; kept is how many.
	jumps map[uint64][]landing
	kept  int
	// farWords counts what scans searched beyond their first words.
	farWords  int
	reentered entered
	// spare is a slice that the next walk reuses for its frames.
	spare []Frame
}

// mostSpare is the largest capacity of spare, in frames.
const mostSpare = 1024

// New makes a Walker. The modules are the dump's, as the policy has them: see Policy.Overlap and
// MergeEntries.
func New(p Policy, os core.OS, modules *core.ModuleMap, syms Symbols) *Walker {
	w := &Walker{Policy: p, Symbols: syms, OS: os, Modules: modules, codeLeft: codeSteps}
	w.pacMask = addressMask(w.Modules.Top(), p.Pointer.MinBits)
	return w
}

// walk is the state of one thread's walk.
type walk struct {
	*Walker
	arch   *cpu.Arch
	mem    unwind.Memory
	frames []Frame
	// stale are the last known values of all registers, including those that are unknown in the top
	// frame. Breakpad's frames keep their callee's values, and some of its sources read them.
	stale cpu.Regs
	// left is the memory of the stacks that the walk was on before it switched to another.
	left []unwind.Memory
	// scanned counts frames that a scan found.
	scanned int
	// shadow are the return addresses of the CPU's shadow stack, youngest first, that no frame has
	// used yet.
	shadow []uint64
	// shadowed: the dump has the thread's shadow stack.
	shadowed  bool
	callbacks callbacks
	// readsG0: the dump has the g of the thread's own stack, which leads to the goroutine that is on it.
	readsG0 bool
	// coded are the rules that the code showed, by address.
	coded map[codedAt]codedRow
	// calleeFunction is the top frame's function when there were calleeOf frames.
	calleeFunction function
	calleeOf       int
	// params are the parameter sizes of the frames, where STACK WIN or FUNC has one.
	params []paramSize
	// rounds is the recursion that the walk is in.
	rounds rounds
	// inside are addresses that have the same rules as the one before: namedReturns asks for each several times.
	inside map[uint64]bool
}

// paramSize is the size in bytes of a function's parameters on the stack; ok is false if no record
// states it.
type paramSize struct {
	bytes uint32
	ok    bool
}

// Walk recovers the stack whose youngest frame has the registers regs. It reads words from mem,
// which is nil if the dump has no stack for the thread.
func (w *Walker) Walk(regs cpu.Regs, mem unwind.Memory) Stack { return w.WalkShadowed(regs, mem, nil) }

// WalkShadowed is Walk for a thread whose shadow stack the dump has: the return addresses on it,
// youngest first.
func (w *Walker) WalkShadowed(regs cpu.Regs, mem unwind.Memory, shadow []uint64) Stack {
	t := w.Begin(regs, mem, shadow)
	for t.Next() {
	}
	return t.Stack()
}

// push appends a frame. Its symbol is looked up when it is first needed, at the latest when the
// walk ends: most rules need none.
func (s *walk) push(f Frame) {
	f.Module, f.RVA = s.Modules.Find(f.Lookup)
	f.unnamed = true
	s.enterStack(f.Regs.SP())
	if f.Trust == TrustScan || f.Trust == TrustCFIScan || f.Trust == TrustNone {
		s.scanned++
	}
	if s.frames == nil {
		s.frames, s.spare = s.spare, nil
	}
	if n := len(s.frames); n == cap(s.frames) { // frames are large: to move them often would cost more than room for as many again
		s.frames = append(make([]Frame, 0, max(2*n, 30)), s.frames...)
	}
	s.frames = append(s.frames, f)
	s.params = append(s.params, paramSize{})
}

// symbol returns the symbol of a frame, and looks it up if that is not done yet.
func (s *walk) symbol(f *Frame) *symbol.Symbol {
	if f.unnamed {
		f.Symbol, f.Answer = s.lookup(f.Module, f.RVA)
		f.unnamed = false
	}
	return &f.Symbol
}

// lookup returns the symbol at an address of a module, which may be -1.
func (s *walk) lookup(module int, rva uint64) (symbol.Symbol, symbol.Answer) {
	if module < 0 {
		return symbol.Symbol{}, symbol.NoFile
	}
	sym, ans := s.Symbols.Lookup(module, rva)
	s.Policy.LimitName(&sym, rva)
	return sym, ans
}

// farName is the distance in bytes from which on a name is not taken to be that of an address, if
// nothing else says where its function ends: few functions are as long.
const farName = 64 << 10

// LimitName applies NamesEnd to a symbol that was found at an address. A PUBLIC "<unknown in app.exe>"
// is of functions without a name.
func (p *Policy) LimitName(s *symbol.Symbol, rva uint64) {
	switch {
	case !p.NamesEnd:
		s.Extent = symbol.Covers
	case s.Public && strings.HasPrefix(s.Name, "<unknown in "):
		s.Extent = symbol.Passed
	case s.Extent == symbol.Nearest && rva-s.Start >= farName:
		s.Extent = symbol.Passed
	}
}

// top returns the last frame so far, whose caller the walk looks for.
func (s *walk) top() *Frame { return &s.frames[len(s.frames)-1] }

// candidate is what a source proposes: rules, and the trust of a frame found by them.
type candidate struct {
	row   unwind.Row
	trust Trust
	win   WinPlace
	call  calls
}

// caller tries the sources in order for the frame above the top one. The first accepted candidate
// decides: if it then breaks an invariant of stacks, the walk ends there, as in both peers.
//
// A candidate goes through five steps: propose makes rules, apply computes registers by them, check
// and refuted test the registers, and ends decides whether they are a frame or the end of the
// stack. What fails on the way is kept as an Attempt, with the reason, for the explanation of the
// frame.
func (s *walk) caller() (Frame, *Stop) {
	var attempts []Attempt
	reject := func(src Source, row unwind.Row, format string, args ...any) {
		attempts = append(attempts, Attempt{Source: src, Row: row, Reason: fmt.Sprintf(format, args...)})
	}
	var undeclared *Stop // the end of the stack, if the function's code does not lead on
	for _, src := range s.Policy.Sources {
		if src == SourceFramePointer || src == SourceScan {
			// The sources that know the function are done; from here on sources guess.
			stop := cmp.Or(s.ended(), undeclared)
			if stop != nil {
				stop.Attempts = attempts
				return Frame{}, stop
			}
		}
		cand, why := s.propose(src)
		if why == notApplicable {
			continue
		}
		if why != "" {
			reject(src, cand.row, "%s", why)
			continue
		}
		if cand.row.Outermost && s.Policy.EndAtOutermost && !s.atContext() {
			origin := cand.row.Origin
			origin.File = origin.File[strings.LastIndexAny(origin.File, `/\`)+1:] // reports are passed on without folders
			stop := &Stop{Kind: StopEnd, Attempts: attempts, Detail: origin.String() + " says that nothing calls the function"}
			if !cand.row.CannotUnwind {
				return Frame{}, stop
			}
			if !s.interrupted() {
				undeclared = stop
			}
		}
		s.keepInThunk(&cand.row)
		regs, cfa, err := s.apply(src, &cand.row)
		if err != nil {
			reject(src, cand.row, "%s", s.notRead(err))
			continue
		}
		s.stripPointers(&regs, src, &cand.row)
		if why := s.check(src, &regs); why != "" {
			reject(src, cand.row, "%s", why)
			continue
		}
		if why := s.refuted(cand.row.Signal, &regs); why != "" {
			reject(src, cand.row, "%s", why)
			continue
		}
		if stop := s.ends(src, cand, &regs); stop != nil {
			// The code behind a call that does not return belongs to another path.
			if src == SourceCode && stop.Kind == StopLost {
				reject(src, cand.row, "%s", stop.Detail)
				continue
			}
			stop.Attempts = attempts
			return Frame{}, stop
		}
		if s.unproven(src, &cand, regs.PC()) {
			// If the frame is a guess itself, its rules need not be those of the stack.
			if s.top().Doubtful {
				reject(src, cand.row, "0x%x is in no module", regs.PC()-s.arch.CallSize)
				continue
			}
			cand.trust = TrustNone
		}
		// The stack pointer of a leaf's caller is right only if the leaf has pushed nothing.
		if top := s.top(); (top.Doubtful || top.Source == SourceLeaf) && !cand.row.Signal && !s.returnsFromSignal(regs.PC()) && s.beginsFunction(regs.PC()) {
			reject(src, cand.row, "0x%x is a function's first instruction, and no call is before it", regs.PC())
			continue
		}
		if cand.row.Signal {
			s.entersHandler()
		}
		s.remember(src, &regs)
		s.passShadow(regs.PC())
		s.top().CFA, s.top().HasCFA = cfa, src != SourceScan && src != SourceShadow && src != SourceGo
		f := Frame{PC: regs.PC(), Regs: regs, Trust: cand.trust, Source: src, Row: cand.row, Win: cand.win, Tail: cand.call.tail, Attempts: attempts}
		f.Doubtful = s.doubts(&cand)
		// A return address is that of the instruction after the call, which may be on another line
		// or in another function. Looked up is an address inside of the call.
		f.Lookup = f.PC - s.arch.CallSize
		// An interrupted function continues at its pc, which is not a return address. Nothing calls the
		// code that returns from a signal's handler, nor what a stack was made to return to.
		switch {
		case cand.row.Signal || s.returnsFromSignal(f.PC):
			f.Lookup = s.arch.CodeAddress(f.PC)
		case s.beginsFunction(f.PC):
			f.Lookup, f.returnedTo = s.arch.CodeAddress(f.PC), true
		case s.returnsToGoexit(f.PC):
			f.Lookup = f.PC - uint64(s.arch.JumpAlign)
		}
		s.callPC(&f)
		return f, nil
	}
	// No source found a caller. Three reasons follow, the most telling one first.
	if sp := s.top().Regs.SP(); s.Policy.Refute && !s.atContext() && !s.holdsStack(sp) {
		return Frame{}, &Stop{Kind: StopLeftStack, Attempts: attempts,
			Detail: fmt.Sprintf("the stack pointer 0x%x has left the memory that the dump has: nothing of what called 0x%x can be read", sp, s.top().PC)}
	}
	if stop := s.stackBegins(attempts); stop != nil {
		return Frame{}, stop
	}
	return Frame{}, &Stop{Kind: StopNothingFound, Attempts: attempts,
		Detail: fmt.Sprintf("no caller of 0x%x was found (sp 0x%x)", s.top().PC, s.top().Regs.SP())}
}

// evaluate applies rules to registers, and draws what their code costs.
func (s *walk) evaluate(row *unwind.Row, regs *cpu.Regs, mem unwind.Memory, tr *unwind.Trace) (caller cpu.Regs, cfa uint64, err error) {
	if n := row.Ops(); n > 0 {
		if err := s.Budget.Draw(input.Work, n); err != nil {
			return cpu.Regs{Arch: s.arch}, 0, err
		}
	}
	return row.Apply(regs, mem, tr)
}

// apply evaluates a candidate's rules for the top frame.
//
// With CFIWhole, a record whose rules do not all work is refused as a whole, as Breakpad does.
func (s *walk) apply(src Source, row *unwind.Row) (regs cpu.Regs, cfa uint64, err error) {
	if !s.Policy.CFIWhole || src != SourceCFI {
		return s.evaluate(row, &s.top().Regs, s.memoryFor(row), nil)
	}
	var tr unwind.Trace
	regs, cfa, err = s.evaluate(row, &s.top().Regs, s.memoryFor(row), &tr)
	if err == nil && len(tr.Notes) > 0 {
		err = fmt.Errorf("%s", tr.Notes[0])
	}
	for _, r := range row.Saved {
		if err == nil && r.Rule.Kind == unwind.Undefined {
			err = fmt.Errorf("$%s: the rules say that it cannot be recovered", s.arch.RegName(r.Reg))
		}
	}
	return regs, cfa, err
}

// remember updates stale with the registers that Breakpad's frame would have.
func (s *walk) remember(src Source, regs *cpu.Regs) {
	if src == SourceCFI {
		// Its CFI walker fills a new context; what it did not recover reads as zero.
		s.stale = cpu.Regs{Arch: s.arch}
	}
	for r := range s.arch.Names {
		if v, ok := regs.Get(cpu.Reg(r)); ok {
			s.stale.Set(cpu.Reg(r), v)
		}
	}
}

// reg returns a register of the top frame, or its last known value if the policy uses stale values.
func (s *walk) reg(r cpu.Reg) (uint64, bool) {
	if v, ok := s.top().Regs.Get(r); ok {
		return v, true
	}
	if s.Policy.FramePointer.Stale {
		v, _ := s.stale.Get(r)
		return v, true
	}
	return 0, false
}

// fromReg returns the rule "value of r + off". A stale value becomes a constant, since the frame
// itself does not know it.
func (s *walk) fromReg(r cpu.Reg, value uint64, off int64) unwind.Rule {
	if s.top().Regs.Known(r) {
		return unwind.Rule{Kind: unwind.FromReg, Reg: r, Offset: off}
	}
	return unwind.Rule{Kind: unwind.Const, Offset: int64(value) + off}
}

// word reads a word of the CPU's size from the thread's stack.
func (s *walk) word(addr uint64) (uint64, bool) { return s.mem.Word(addr, s.arch.WordSize) }

func (s *walk) atContext() bool { return s.top().Trust == TrustContext }
