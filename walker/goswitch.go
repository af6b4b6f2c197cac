package walker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Go's runtime leaves a goroutine's stack for the thread's own to call C (asmcgocall), to run its
// own code (systemstack) and to make the goroutine's stack larger (morestack) or to take another
// goroutine (mcall). These functions load the stack pointer from memory, which no rule for them says,
// so that rules lead to whatever is on the thread's stack. The stack pointer of the goroutine is
// where the runtime keeps it to return: on the thread's stack, or in the g that describes the
// goroutine. A dump that has not all memory lacks the g or the goroutine's stack; then the walk ends
// at the switch.
//
// If C calls Go (cgocallback) it is the other way round: the thread's stack is left for the
// goroutine's, and where it was is in the g of the thread's stack.
//
// Source: runtime/asm_*.s and runtime/runtime2.go. The layout has been the same since Go 1.5, in
// words:
//
//	g   0 stack.lo | 1 stack.hi | 6 m | 7 sched.sp | 8 sched.pc | 11 sched.lr, 12 before Go 1.25, where 11 is 0
//	m   0 g0, the g of the thread's own stack | … curg, the g of the goroutine

// goSwitch is a function that switches stacks.
type goSwitch struct {
	// caller returns rules for the function's caller on the stack that it left.
	caller func(*walk) (unwind.Row, bool)
	// without is what the walk does where there are no such rules.
	without withoutRules
	// from: the function switches stacks if it called one whose name begins so.
	from string
}

type withoutRules uint8

const (
	stops     withoutRules = iota // it ends: the stack that was left is not in the dump
	ends                          // as stops, but where the goroutine has left the thread, its stack is complete
	schedules                     // as ends, but a goroutine leaves the thread only where that looks for another one
	goesOn                        // the function's own rules lead to true frames, too
)

var goSwitches = map[string]goSwitch{
	"runtime.asmcgocall":  {caller: (*walk).callerOfC},
	"runtime.systemstack": {caller: (*walk).callerOfSystem},
	"runtime.morestack":   {caller: (*walk).callerInSched, without: schedules},
	"runtime.mcall":       {caller: (*walk).callerInSched, without: ends},
	// The runtime gives the goroutine a frame as if the function had been called there.
	"runtime.cgocallback": {caller: (*walk).callerOfCallback, without: goesOn, from: "runtime.cgocallbackg"},
	// Up to Go 1.14 it called another function for that.
	"runtime.cgocallback_gofunc": {caller: (*walk).callerOfCallback, without: goesOn, from: "runtime.cgocallbackg"},
	// What the runtime pretends that such a function called is not behind a call.
	"runtime.systemstack_switch": {caller: (*walk).callerAtPC, without: goesOn},
	// It does not switch stacks, but C's registers, which it saves, are in no rule for it.
	"crosscall2": {caller: (*walk).callerByCode, without: goesOn},
	// The runtime pretends that the code that a signal interrupted had called them.
	"runtime.sigpanic":     {caller: (*walk).callerOfPanic, without: goesOn},
	"runtime.asyncPreempt": {caller: (*walk).callerOfPanic, without: goesOn},
	// Go's rules say that nothing called it, where return addresses are in a register.
	"runtime.sigtramp": {caller: (*walk).callerOfHandler, without: goesOn},
	// Big-endian ppc64 gives the other name to the function's descriptor.
	"sigtramp":             {caller: (*walk).callerOfHandler, without: goesOn},
	"runtime.callbackasm1": {caller: (*walk).callerByCode, without: goesOn},
}

// savesForSwitch are functions, the older release's first, that systemstack and asmcgocall call before
// they switch stacks.
var savesForSwitch = map[string]bool{"gosave": true, "gosave_systemstack_switch": true}

// goPart is the Origin's Part of rules that lead to another stack.
const goPart = "stack pointer saved by Go's runtime"

// goName is the name of a function without the suffix by which Go names a calling convention.
func goName(name string) string { return strings.TrimSuffix(name, ".abi0") }

// switches returns what frame i's function is, if it switched stacks. All names up to there are
// known. If a thread was stopped or interrupted by a signal in such a function, that may have been
// before the switch.
func (s *walk) switches(i int) (sw goSwitch, ok bool) {
	f := &s.frames[i]
	callee := goName(s.symbol(&s.frames[i-1]).Name)
	sw, ok = goSwitches[goName(s.symbol(f).Name)]
	switch {
	// Up to Go 1.16 a callback's caller on the goroutine's stack is asmcgocall, by design.
	case f.Source != SourceGo && strings.HasPrefix(callee, "runtime.cgocallback") && sw.without == stops:
		ok = false
	case f.Row.Signal, i+1 < len(s.frames) && s.frames[i+1].Row.Signal, i+1 < len(s.frames) && s.frames[i+1].Source == SourceGo:
		ok = false
	case !strings.HasPrefix(callee, sw.from), savesForSwitch[callee]:
		ok = false
	}
	return sw, ok
}

// acrossSwitches goes back to the first frame that switched stacks, walks on from there on the stack
// that it left, and so on.
//
// It runs when the walk is over, as endAtOutermost does, for the same reason.
func (t *Steps) acrossSwitches() {
	s := t.walk
	for i := 1; s.Policy.GoSwitch && (i < len(s.frames) || t.Next()); i++ {
		i = min(i, len(s.frames)-1) // a recursion's frames may have gone (skipRounds)
		sw, ok := s.switches(i)
		if !ok && !s.frames[i].Row.Signal && s.entered(&s.frames[i]) != "" {
			break
		}
		if ok && !t.across(i, &sw) {
			return
		}
	}
	for t.Next() {
	}
}

// across replaces the caller of frame i, which switched stacks, if there are rules for it. It reports
// whether the walk goes on.
func (t *Steps) across(i int, sw *goSwitch) bool {
	s := t.walk
	all := s.frames
	s.frames = all[:i+1]
	row, ok := sw.caller(s)
	regs, found := s.leadsTo(&row, ok)
	s.frames = all
	if !found && sw.without == goesOn {
		return true
	}
	name, attempts := goName(s.frames[i].Symbol.Name), s.backTo(i)
	switch {
	case found && s.passed(&regs):
		found = false
		t.stop = &Stop{Kind: StopNoProgress, Attempts: attempts,
			Detail: fmt.Sprintf("the stack was switched here, and the stack pointer that %s saved leads back to a frame before (pc 0x%x, sp 0x%x)", name, regs.PC(), regs.SP())}
	case found:
		f := Frame{PC: regs.PC(), Lookup: regs.PC() - s.arch.CallSize, Regs: regs, Trust: TrustCFI, Source: SourceCFI, Row: row, Attempts: attempts}
		if row.Origin.Part == goPart {
			f.Source = SourceGo
		}
		if row.Signal || s.returnsFromSignal(f.PC) {
			f.Lookup = s.arch.CodeAddress(f.PC)
		}
		s.remember(f.Source, &regs)
		t.stop = nil
		return t.add(f)
	case sw.without == ends && s.readsG0, sw.without != stops && s.scheduling():
		t.stop = &Stop{Kind: StopEnd, Detail: noCaller(name), Attempts: attempts}
	default:
		t.stop = &Stop{Kind: StopSwitched, Attempts: attempts,
			Detail: fmt.Sprintf("the stack was switched here: %s was called on a goroutine's stack, which the dump does not have", name)}
	}
	return found
}

// passed reports whether a frame has the registers' pc and sp already. A damaged dump could lead round in a circle.
func (s *walk) passed(regs *cpu.Regs) bool {
	for i := range s.frames {
		if f := &s.frames[i]; f.PC == regs.PC() && f.Regs.SP() == regs.SP() {
			return true
		}
	}
	return false
}

// leadsTo applies rules for the top frame's caller, on whichever stack. ok: there are any.
func (s *walk) leadsTo(row *unwind.Row, ok bool) (cpu.Regs, bool) {
	if !ok {
		return cpu.Regs{}, false
	}
	regs, _, err := s.evaluate(row, &s.top().Regs, (*everywhere)(s), nil)
	pc := regs.PC()
	if row.Signal {
		return regs, err == nil && s.Modules.Covers(pc)
	}
	good, _ := s.plausibleReturn(pc)
	return regs, err == nil && (good || s.returnsFromSignal(pc))
}

// backTo removes the frames above frame i, and returns the attempts for its caller.
func (s *walk) backTo(i int) (attempts []Attempt) {
	if i+1 < len(s.frames) {
		next := &s.frames[i+1]
		attempts = append(next.Attempts[:len(next.Attempts):len(next.Attempts)], Attempt{Source: next.Source, Row: next.Row,
			Reason: fmt.Sprintf("the stack was switched here, and 0x%x is on the stack that it was switched to", next.PC)})
	}
	s.leaveOut(i + 1)
	s.rounds = rounds{}
	s.top().HasCFA = false
	s.scanned = 0
	for k := range s.frames {
		if t := s.frames[k].Trust; t == TrustScan || t == TrustCFIScan || t == TrustNone {
			s.scanned++
		}
	}
	if len(s.left) > 0 {
		s.mem, s.left = s.left[0], nil
		s.enterStacks()
	}
	return attempts
}

// everywhere is all memory that the dump has. It implements unwind.Memory.
type everywhere walk

// Word implements unwind.Memory.
func (m *everywhere) Word(addr uint64, size int) (uint64, bool) {
	if v, ok := m.mem.Word(addr, size); ok || m.Space == nil {
		return v, ok
	}
	if other := m.Space.Stack(addr); other != nil {
		return other.Word(addr, size)
	}
	return 0, false
}

// wordAt reads word n of what is at an address.
func (s *walk) wordAt(addr uint64, n int) (uint64, bool) {
	return (*everywhere)(s).Word(addr+uint64(n*s.arch.WordSize), s.arch.WordSize)
}

// goroutine is a g of the runtime.
type goroutine struct{ at, lo, hi, m, sp, pc uint64 }

// Words of a g, see above.
const (
	gStackLo, gStackHi, gM, gSP, gPC, gLR, gOldLR = 0, 1, 6, 7, 8, 11, 12
	mG0                                           = 0
)

// goroutineAt reads a g. ok is false if there cannot be one at the address.
func (s *walk) goroutineAt(at uint64) (g goroutine, ok bool) {
	size := uint64(s.arch.WordSize)
	if at < firstPage || at%size != 0 {
		return g, false
	}
	g.at = at
	for _, f := range []struct {
		n int
		v *uint64
	}{{gM, &g.m}, {gStackLo, &g.lo}, {gStackHi, &g.hi}, {gSP, &g.sp}, {gPC, &g.pc}} {
		if *f.v, ok = s.wordAt(at, f.n); !ok {
			return g, false
		}
	}
	return g, g.m >= firstPage && g.m%size == 0 && g.lo >= firstPage && g.lo < g.hi && g.hi%size == 0
}

// holds: an address is on the goroutine's stack.
func (g *goroutine) holds(sp uint64) bool { return sp >= g.lo && sp < g.hi }

// ownRules returns the top frame's rules where its stack pointer is given by a rule. The
// function's own rules hold on either stack: it made its frame before the switch. Those of Windows
// may count from the frame pointer, which is still that of the stack that was left.
func (s *walk) ownRules(sp unwind.Rule, note string) (row unwind.Row, ok bool) {
	f := s.top()
	if f.Module < 0 {
		return row, false
	}
	own := s.rulesAtFrame(f)
	if own.CFA.Kind != unwind.FromReg || own.CFA.Reg != s.arch.SP && own.CFA.Reg != s.arch.FP || own.RA.Kind != unwind.AtCFA {
		return row, false
	}
	row = unwind.Row{CFA: own.CFA, RA: own.RA, OthersUndefined: true, Origin: unwind.Origin{Part: goPart, Note: note}}
	if own.CFA.Reg == s.arch.SP {
		row.CFA = unwind.Sum(s.arch, sp, own.CFA.Offset)
	}
	for _, r := range own.Saved {
		if r.Rule.Kind == unwind.AtCFA {
			row.Saved = append(row.Saved, r)
		}
	}
	return row, true
}

// rulesAtFrame returns a function's own rules where it has made its frame. What it reserves on the
// stack that it switched to counts in its later rules on the processors that keep return addresses
// in a register at first.
func (s *walk) rulesAtFrame(f *Frame) unwind.Row {
	const most = 1 << 10 // bytes; these functions have some hundred
	at := f.RVA
	if start := f.Symbol.Start; s.arch.LR != cpu.NoReg && start < at && at-start < most {
		for at = start; at < f.RVA; at += s.arch.CallSize {
			if row, _ := s.Symbols.Row(f.Module, at); row.RA.Kind == unwind.AtCFA {
				return row
			}
		}
	}
	own, _ := s.Symbols.Row(f.Module, at)
	return own
}

// cWords is how many words asmcgocall reserves on the thread's stack, at most, below what C code may
// use: two, and on amd64 before Go 1.26 six more for calls on Windows.
const cWords = 8

// callerOfC: asmcgocall keeps the g on the thread's stack, and next to it how far the goroutine's
// stack pointer is below the end of the goroutine's stack, which may move.
//
//	sp = g.stack.hi - depth
//
// If it was called on the thread's own stack, there is no g, and the stack pointer itself is next to
// the 0.
func (s *walk) callerOfC() (unwind.Row, bool) {
	at, size := s.top().Regs.SP(), s.arch.WordSize
	word := func(n int) unwind.Rule {
		return unwind.Rule{Kind: unwind.AtReg, Reg: s.arch.SP, Offset: int64(n * size)}
	}
	for n := range cWords {
		p, ok := s.wordAt(at, n)
		if !ok {
			break
		}
		g, isG := s.goroutineAt(p)
		for _, beside := range [...]int{n - 1, n + 1} {
			v, ok := s.wordAt(at, beside)
			if !ok || beside < 0 {
				continue
			}
			if isG && v > 0 && g.holds(g.hi-v) {
				hi := unwind.Deref(unwind.Sum(s.arch, word(n), int64(gStackHi*size)))
				row, ok := s.ownRules(unwind.Difference(s.arch, hi, word(beside)), fmt.Sprintf("the g at 0x%x and how deep its stack was are on the thread's stack", p))
				if _, ok := s.leadsTo(&row, ok); ok {
					return row, true
				}
			}
			if p == 0 && v > at && v-at < uint64(4*cWords*size) {
				row, ok := s.ownRules(word(beside), "the function was called on this stack")
				if _, ok := s.leadsTo(&row, ok); ok {
					return row, true
				}
			}
		}
	}
	return unwind.Row{}, false
}

// callerOfSystem: systemstack saves the goroutine's state in its g, and pretends that it is in
// systemstack_switch, which has the same frame.
func (s *walk) callerOfSystem() (unwind.Row, bool) {
	_, g, ok := s.current(func(g0, g *goroutine) bool {
		return s.onThread(g0) && g.holds(g.sp) && s.goFunction(g.pc) == "runtime.systemstack_switch"
	})
	if !ok {
		return unwind.Row{}, false
	}
	return s.ownRules(unwind.Rule{Kind: unwind.AtConst, Offset: int64(g.at) + int64(gSP*s.arch.WordSize)}, fmt.Sprintf("in the g at 0x%x", g.at))
}

// callerInSched: morestack and mcall save the state of the function that called them in the
// goroutine's g. The scheduler may give the thread another goroutine, so its frames must not be
// there.
//
//	pc = g.sched.pc     sp = g.sched.sp     lr = g.sched.lr
//
// A function calls morestack before it makes its frame. If return addresses are in a register, its
// own is still there, as in a function that was interrupted.
func (s *walk) callerInSched() (unwind.Row, bool) {
	if s.scheduling() {
		return unwind.Row{}, false
	}
	_, g, ok := s.current(func(g0, g *goroutine) bool {
		good, _ := s.plausibleReturn(g.pc)
		return s.onThread(g0) && g.holds(g.sp) && good
	})
	if !ok {
		return unwind.Row{}, false
	}
	word := func(n int) unwind.Rule {
		return unwind.Rule{Kind: unwind.AtConst, Offset: int64(g.at) + int64(n*s.arch.WordSize)}
	}
	row := unwind.Row{CFA: word(gSP), RA: word(gPC), OthersUndefined: true, Origin: unwind.Origin{Part: goPart, Note: fmt.Sprintf("in the g at 0x%x", g.at)}}
	for n := gLR; n <= gOldLR && s.arch.LR != cpu.NoReg && !row.Signal; n++ {
		lr, _ := s.wordAt(g.at, n)
		if row.Signal, _ = s.plausibleReturn(lr); row.Signal {
			row.Saved = []unwind.RegRule{{Reg: s.arch.LR, Rule: word(n)}}
		}
	}
	return row, true
}

// scheduling: the thread looks for a goroutine to run, and has none.
func (s *walk) scheduling() bool {
	return slices.ContainsFunc(s.frames, func(f Frame) bool { return strings.HasPrefix(f.Symbol.Name, "runtime.schedule") })
}

// callerAtPC: the runtime gives a goroutine that it leaves a pc in systemstack_switch, right behind
// the instructions that make its frame.
func (s *walk) callerAtPC() (unwind.Row, bool) {
	f := s.top()
	if f.Module < 0 {
		return unwind.Row{}, false
	}
	row, ok := s.Symbols.Row(f.Module, f.RVA+f.PC-f.Lookup)
	return row, ok == symbol.Yes
}

// callbacks are the calls of Go by C that a walk went across, from the youngest on.
type callbacks struct {
	// saved is where the thread's stack pointer is that the next one saved, 0 before the first; g is
	// the goroutine that they are on.
	saved uint64
	g     goroutine
	// lost: one was not crossed, so that it is not known which is next.
	lost bool
}

// callerOfCallback: cgocallback begins on the thread's stack, with crosscall2 as its caller, and
// saves its stack pointer in g0; what was there before, which an older call saved, it keeps in its
// frame. A panic undoes that (unwindm), and what runs then overwrites the frames.
//
//	sp = g0.sched.sp, or the word that the younger cgocallback kept
func (s *walk) callerOfCallback() (unwind.Row, bool) {
	c, size := &s.callbacks, uint64(s.arch.WordSize)
	if c.lost {
		return unwind.Row{}, false
	}
	c.lost = true
	for i := range s.frames {
		if s.frames[i].Symbol.Name == "runtime.gopanic" {
			return unwind.Row{}, false
		}
	}
	if c.saved == 0 {
		g0, g, ok := s.current(func(_, g *goroutine) bool { return g.holds(s.top().Regs.SP()) })
		if !ok {
			return unwind.Row{}, false
		}
		c.saved, c.g = g0.at+gSP*size, g
	}
	row, ok := s.ownRules(unwind.Rule{Kind: unwind.AtConst, Offset: int64(c.saved)}, fmt.Sprintf("at 0x%x", c.saved))
	regs, ok := s.leadsTo(&row, ok)
	if !ok || c.g.holds(regs.SP()) || !s.callsBack(regs.PC()) {
		return row, false
	}
	sp, _ := s.wordAt(c.saved, 0)
	c.saved, c.lost = sp+uint64(s.arch.GoReserved)*size, false
	return row, true
}

// callsBack: a return address is in a function that calls cgocallback, and it can be seen how to go
// on from there.
func (s *walk) callsBack(pc uint64) bool {
	switch s.goFunction(pc) {
	case "runtime.cgocallback":
		return goName(s.top().Symbol.Name) != "runtime.cgocallback"
	case "crosscall2", "runtime.callbackasm1":
		f := Frame{PC: pc, Lookup: pc - s.arch.CallSize, unnamed: true}
		f.Module, f.RVA = s.Modules.Find(f.Lookup)
		_, ok := s.savedByCode(&f)
		return ok
	}
	return false
}

// callerOfHandler: the kernel calls sigtramp, and has made the code that returns from a handler its
// return address. That is where its code shows, or the first word of its frame.
func (s *walk) callerOfHandler() (unwind.Row, bool) {
	f := s.top()
	if f.Module < 0 || s.arch.LR == cpu.NoReg {
		return unwind.Row{}, false
	}
	own, _ := s.Symbols.Row(f.Module, f.RVA)
	own.RA, own.Outermost = unwind.Rule{Kind: unwind.AtCFA, Offset: -own.CFA.Offset}, false
	frame := own.CFA.Kind == unwind.FromReg && own.CFA.Reg == s.arch.SP && own.CFA.Offset > 0
	shown, why := unwind.Row{}, notApplicable
	if s.Code != nil {
		shown, why = s.codeRow(f)
	}
	for _, try := range []struct {
		row unwind.Row
		ok  bool
	}{{shown, why == ""}, {own, frame}} {
		try.row.OthersUndefined = true
		if regs, ok := s.leadsTo(&try.row, try.ok); ok && s.returnsFromSignal(regs.PC()) {
			return try.row, true
		}
	}
	return unwind.Row{}, false
}

// callerOfPanic: a signal's handler makes the function that it interrupted call sigpanic, with the
// interrupted instruction as its return address. What was in the link register is pushed before.
func (s *walk) callerOfPanic() (unwind.Row, bool) {
	f := s.top()
	if f.Module < 0 {
		return unwind.Row{}, false
	}
	row, _ := s.Symbols.Row(f.Module, f.RVA)
	row.Signal = true
	if pushed := int64(s.arch.GoReserved * s.arch.WordSize); pushed > 0 {
		row.CFA.Offset += pushed
		row.RA.Offset -= pushed
		row.Saved = []unwind.RegRule{{Reg: s.arch.LR, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: -pushed}}}
	}
	return row, row.CFA.Kind == unwind.FromReg && row.CFA.Reg == s.arch.SP && row.RA.Kind == unwind.AtCFA
}

// callerByCode: crosscall2 saves the registers that C functions preserve; Go's change them.
func (s *walk) callerByCode() (unwind.Row, bool) { return s.savedByCode(s.top()) }

// savedByCode returns the rules that a frame's code shows. On arm and arm64 Go's own are wrong: the
// function makes its frame by itself.
func (s *walk) savedByCode(f *Frame) (unwind.Row, bool) {
	if f.Module < 0 || s.Code == nil {
		return unwind.Row{}, false
	}
	row, why := s.codeRow(f)
	row.OthersUndefined = true
	return row, why == ""
}

// returnsToGoexit: the runtime makes a goroutine's stack as if goexit had called its first function
// by the instruction that it begins with, which is not a call. If a call has a delay slot, what is
// looked up for a return address would be in the function before.
func (s *walk) returnsToGoexit(pc uint64) bool {
	return s.Policy.GoSwitch && s.arch.CallSize > uint64(s.arch.JumpAlign) && s.goFunction(pc) == "runtime.goexit"
}

// goFunction is the name of the function that has a return address.
func (s *walk) goFunction(pc uint64) string {
	module, rva := s.Modules.Find(pc - 1)
	sym, _ := s.lookup(module, rva)
	return goName(sym.Name)
}

// onThread: the top frame is on the stack of g0. It may be at the very end.
func (s *walk) onThread(g0 *goroutine) bool {
	return g0.holds(s.top().Regs.SP() - uint64(s.arch.WordSize))
}

// mWords is how many words of an m are searched for curg. It is the 29th to 45th, by release and
// processor.
const mWords = 64

// gWords is how many words of the stack are searched for a g.
const gWords = 1024

// gWork is the work of looking for a g in the registers of a frame, in steps.
const gWork = 20

// current returns the thread's g0 and the goroutine that it runs, if they are as is says. The two and
// the m point to one another, so no other words can be taken for them.
func (s *walk) current(is func(g0, g *goroutine) bool) (g0, g goroutine, ok bool) {
	if s.Budget.Draw(input.Work, gWork*int64(len(s.frames))) != nil {
		return g0, g, false
	}
	tried := map[uint64]bool{}
	from := func(p uint64) bool {
		if tried[p] {
			return false
		}
		tried[p] = true
		any, ok := s.goroutineAt(p)
		if !ok {
			return false
		}
		at, _ := s.wordAt(any.m, mG0)
		if g0, ok = s.goroutineAt(at); !ok || g0.m != any.m {
			return false
		}
		s.readsG0 = true
		for n := 1; n < mWords; n++ {
			p, ok := s.wordAt(any.m, n)
			if !ok {
				break
			}
			if g, ok = s.goroutineAt(p); ok && p != at && g.m == g0.m && is(&g0, &g) {
				return true
			}
		}
		return false
	}
	// Go's code keeps its g in a register, on most processors.
	for i := range s.frames {
		for r := range s.arch.Names {
			if p, ok := s.frames[i].Regs.Get(cpu.Reg(r)); ok && from(p) {
				return g0, g, true
			}
		}
	}
	// The youngest words of the frames, on whichever stacks they are.
	left := gWords
	for i := len(s.frames) - 2; i >= 0; i-- {
		low, high := s.frames[i].Regs.SP(), s.frames[i+1].Regs.SP()
		for n := 0; left > 0 && low+uint64(n*s.arch.WordSize) < high; n++ {
			p, ok := s.wordAt(low, n)
			if !ok {
				break
			}
			if left--; from(p) {
				return g0, g, true
			}
		}
	}
	return g0, g, false
}
