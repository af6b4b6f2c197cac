package walker

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Go's runtime leaves a goroutine's stack for the thread's own to call C (asmcgocall), to run its
// own code (systemstack) and to make the goroutine's stack larger (morestack). These functions load
// the stack pointer from memory, which no rule for them says, so that rules lead to whatever is on
// the thread's stack. The stack pointer of the goroutine is where the runtime keeps it to return: on
// the thread's stack, or in the g that describes the goroutine. A dump that has not all memory lacks
// the g or the goroutine's stack; then the walk ends at the switch.
//
// Source: runtime/asm_*.s and runtime/runtime2.go. The layout has been the same since Go 1.5, in
// words:
//
//	g   0 stack.lo | 1 stack.hi | 6 m | 7 sched.sp | 8 sched.pc
//	m   0 g0, the g of the thread's own stack | … curg, the g of the goroutine
//
// mcall leaves a goroutine's stack for good: see reserved.

// goSwitch is a function that switches stacks.
type goSwitch struct {
	// caller returns rules for the function's caller on the goroutine's stack.
	caller func(*walk) (unwind.Row, bool)
	// mayEnd: where there are no rules the goroutine may have left the thread, so that the thread's
	// stack is complete.
	mayEnd bool
}

var goSwitches = map[string]goSwitch{
	"runtime.asmcgocall":  {caller: (*walk).callerOfC},
	"runtime.systemstack": {caller: (*walk).callerOfSystem},
	"runtime.morestack":   {caller: (*walk).callerOfMorestack, mayEnd: true},
}

// goPart is the Origin's Part of rules that lead from the thread's stack to a goroutine's.
const goPart = "stack pointer saved by Go's runtime"

// goSwitchOf returns what a frame's function is.
func goSwitchOf(f *Frame) (name string, sw goSwitch, ok bool) {
	name = strings.TrimSuffix(f.Symbol.Name, ".abi0")
	sw, ok = goSwitches[name]
	return name, sw, ok
}

// switched returns the first frame whose function switched stacks and whose caller was looked for on
// the stack that it switched to, or -1. All names are known. Where a thread was stopped or
// interrupted by a signal in such a function, that may have been before the switch.
func (s *walk) switched() int {
	for i := 1; s.Policy.GoSwitch && i < len(s.frames); i++ {
		f := &s.frames[i]
		_, _, ok := goSwitchOf(f)
		switch {
		// Up to Go 1.16 a callback's caller on the goroutine's stack is asmcgocall, by design.
		case strings.HasPrefix(s.frames[i-1].Symbol.Name, "runtime.cgocallback"):
		case f.Row.Signal, i+1 < len(s.frames) && s.frames[i+1].Source == SourceGo:
		case ok:
			return i
		case s.entered(f) != "":
			return -1
		}
	}
	return -1
}

// acrossSwitch goes back to the first frame that switched stacks and walks on from there, on the
// goroutine's stack. It reports whether it found more frames.
//
// It runs when the walk is over, as endAtOutermost does, for the same reason.
func (t *Steps) acrossSwitch() bool {
	s := t.walk
	i := s.switched()
	if i < 0 {
		return false
	}
	name, sw, _ := goSwitchOf(&s.frames[i])
	attempts := s.backTo(i)
	row, ok := sw.caller(s)
	if ok {
		regs, _, err := row.Apply(&s.top().Regs, s.memoryFor(&row), nil)
		if good, _ := s.plausibleReturn(regs.PC()); err == nil && good {
			s.remember(SourceGo, &regs)
			s.push(Frame{PC: regs.PC(), Lookup: regs.PC() - s.arch.CallSize, Regs: regs, Trust: TrustCFI, Source: SourceGo, Row: row, Attempts: attempts})
			for t.stop = nil; t.Next(); {
			}
			return true
		}
	}
	if sw.mayEnd {
		t.stop = &Stop{Kind: StopEnd, Detail: noCaller(name), Attempts: attempts}
		return false
	}
	t.stop = &Stop{Kind: StopSwitched, Attempts: attempts,
		Detail: fmt.Sprintf("the stack was switched here: %s was called on a goroutine's stack, which the dump does not have", name)}
	return false
}

// backTo removes the frames above frame i, and returns the attempts for its caller.
func (s *walk) backTo(i int) (attempts []Attempt) {
	if i+1 < len(s.frames) {
		next := &s.frames[i+1]
		attempts = append(next.Attempts[:len(next.Attempts):len(next.Attempts)], Attempt{Source: next.Source, Row: next.Row,
			Reason: fmt.Sprintf("the stack was switched here, and 0x%x is on the stack that it was switched to", next.PC)})
	}
	s.frames, s.params = s.frames[:i+1], s.params[:i+1]
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
	gStackLo, gStackHi, gM, gSP, gPC = 0, 1, 6, 7, 8
	mG0                              = 0
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

// ownRules returns the top frame's rules where its stack pointer is given by an expression. The
// function's own rules hold on either stack: it made its frame before the switch.
func (s *walk) ownRules(sp, note string) (row unwind.Row, ok bool) {
	f := s.top()
	if f.Module < 0 {
		return row, false
	}
	own, _ := s.Symbols.Row(f.Module, f.RVA)
	if own.CFA.Kind != unwind.FromReg || own.CFA.Reg != s.arch.SP || own.RA.Kind != unwind.AtCFA {
		return row, false
	}
	row = unwind.Row{CFA: unwind.Rule{Kind: unwind.Expr, Text: fmt.Sprintf("%s %d +", sp, own.CFA.Offset)}, RA: own.RA, OthersUndefined: true,
		Origin: unwind.Origin{Part: goPart, Note: note}}
	for _, r := range own.Saved {
		if r.Rule.Kind == unwind.AtCFA {
			row.Saved = append(row.Saved, r)
		}
	}
	return row, true
}

// cWords is how many words asmcgocall reserves on the thread's stack, at most, below what C code may
// use: two, and on amd64 before Go 1.26 six more for calls on Windows.
const cWords = 8

// callerOfC: asmcgocall keeps the g on the thread's stack, and beside it how far the goroutine's
// stack pointer is below the end of the goroutine's stack, which may move.
//
//	sp = g.stack.hi - depth
//
// If it was called on the thread's own stack, there is no g, and the stack pointer itself is beside
// the 0.
func (s *walk) callerOfC() (unwind.Row, bool) {
	at, size := s.top().Regs.SP(), s.arch.WordSize
	reg := "$" + s.arch.RegName(s.arch.SP)
	try := func(row unwind.Row, ok bool) bool {
		if !ok {
			return false
		}
		regs, _, err := row.Apply(&s.top().Regs, (*everywhere)(s), nil)
		good, _ := s.plausibleReturn(regs.PC())
		return err == nil && good
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
				row, ok := s.ownRules(fmt.Sprintf("%s %d + ^ %d + ^ %s %d + ^ -", reg, n*size, gStackHi*size, reg, beside*size),
					fmt.Sprintf("the g at 0x%x and how deep its stack was are on the thread's stack", p))
				if try(row, ok) {
					return row, true
				}
			}
			if p == 0 && v > at && v-at < uint64(4*cWords*size) {
				row, ok := s.ownRules(fmt.Sprintf("%s %d + ^", reg, beside*size), "the function was called on this stack")
				if try(row, ok) {
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
	g, ok := s.current(func(g *goroutine) bool {
		module, rva := s.Modules.Find(g.pc)
		sym, _ := s.lookup(module, rva)
		return strings.TrimSuffix(sym.Name, ".abi0") == "runtime.systemstack_switch"
	})
	if !ok {
		return unwind.Row{}, false
	}
	return s.ownRules(fmt.Sprintf("%d ^", g.at+uint64(gSP*s.arch.WordSize)), fmt.Sprintf("in the g at 0x%x", g.at))
}

// callerOfMorestack: morestack saves the state of the function that called it in the goroutine's g.
// The scheduler may give the thread another goroutine, so its frames must not be there.
//
//	pc = g.sched.pc     sp = g.sched.sp
func (s *walk) callerOfMorestack() (unwind.Row, bool) {
	for i := range s.frames {
		if strings.HasPrefix(s.frames[i].Symbol.Name, "runtime.schedule") {
			return unwind.Row{}, false
		}
	}
	g, ok := s.current(func(g *goroutine) bool {
		good, _ := s.plausibleReturn(g.pc)
		return good
	})
	if !ok {
		return unwind.Row{}, false
	}
	size := int64(s.arch.WordSize)
	return unwind.Row{CFA: unwind.Rule{Kind: unwind.AtConst, Offset: int64(g.at) + gSP*size}, RA: unwind.Rule{Kind: unwind.AtConst, Offset: int64(g.at) + gPC*size},
		OthersUndefined: true, Origin: unwind.Origin{Part: goPart, Note: fmt.Sprintf("in the g at 0x%x", g.at)}}, true
}

// mWords is how many words of an m are searched for curg. It is the 29th to 45th, by release and
// processor.
const mWords = 64

// gWords is how many words of the thread's stack are searched for its g.
const gWords = 1024

// current returns the goroutine that the thread had when it switched to the stack of the top frame,
// if its saved state is as is says. The thread's g0, m and the goroutine point to one another, and
// g0's stack is the one that the frame is on, so no other words can be taken for them.
func (s *walk) current(is func(*goroutine) bool) (goroutine, bool) {
	sp, size := s.top().Regs.SP(), uint64(s.arch.WordSize)
	tried := map[uint64]bool{}
	from := func(p uint64) (goroutine, bool) {
		if tried[p] {
			return goroutine{}, false
		}
		tried[p] = true
		g, ok := s.goroutineAt(p)
		if !ok {
			return g, false
		}
		at, _ := s.wordAt(g.m, mG0)
		g0, ok := s.goroutineAt(at)
		if !ok || g0.m != g.m || !g0.holds(sp-size) {
			return g, false
		}
		for n := 1; n < mWords; n++ {
			p, ok := s.wordAt(g.m, n)
			if !ok {
				break
			}
			if g, ok := s.goroutineAt(p); ok && p != at && g.m == g0.m && g.holds(g.sp) && is(&g) {
				return g, true
			}
		}
		return g, false
	}
	// Go's code keeps its g in a register, on most processors.
	for i := range s.frames {
		for r := range s.arch.Names {
			if p, ok := s.frames[i].Regs.Get(cpu.Reg(r)); ok {
				if g, ok := from(p); ok {
					return g, true
				}
			}
		}
	}
	first := max(s.frames[0].Regs.SP(), sp-min(sp, gWords*size))
	for at := first; at < sp; at += size {
		if p, ok := s.word(at); ok {
			if g, ok := from(p); ok {
				return g, true
			}
		}
	}
	return goroutine{}, false
}
