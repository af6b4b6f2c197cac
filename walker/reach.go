package walker

import (
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// reach says whether the call before a return address can have led to the top frame.
type reach uint8

const (
	reachUnknown  reach = iota // the code or the functions are not known
	reachNever                 // it calls another function
	reachTail                  // it calls a function that jumps on to the frame's
	reachIndirect              // it calls by a register or by memory, and so any function
	reachDirect                // it calls the frame's function, or a stub that leads there
)

// calls is the call before a return address: how it can have led to the top frame, and the function in
// between if there is one.
type calls struct {
	how  reach
	tail *TailCall
}

// TailCall is a function that called another one by a jump, as its last act: the other function has
// taken the place of its frame.
type TailCall struct {
	Module int
	// RVA is the function's first address, relative to the module.
	RVA    uint64
	Symbol symbol.Symbol
}

// function is a function of a module. start and end are addresses, and end is 0 where neither symbols
// nor unwind rules say how far it reaches; the symbol has no name if none is the function's.
type function struct {
	module     int
	start, end uint64
	symbol     symbol.Symbol
	// bounded: the function ends somewhere before end.
	bounded bool
	// vague: the function may begin behind start. Unwind rules may be those of several functions, and
	// the nearest name below an address may be another function's.
	vague bool
}

// functionAt returns the function that an address is in.
func (s *walk) functionAt(addr uint64) function {
	m, rva := s.Modules.Find(addr)
	f := function{module: m, vague: true}
	if m < 0 {
		return f
	}
	sym, _ := s.lookup(m, rva)
	if sym.Name != "" && (sym.Size == 0 || rva-sym.Start < sym.Size) {
		f.symbol, f.start = sym, addr-(rva-sym.Start)
		f.vague = sym.Size == 0 && sym.Extent != symbol.Covers
	}
	if sym.Size > 0 && f.start != 0 {
		f.end = f.start + sym.Size
		return f
	}
	rules, ok := s.Symbols.Function(m, rva)
	switch start := addr - (rva - rules.Start); {
	case !ok:
	case start > f.start: // the name below is another function's
		f.symbol, f.start, f.vague = symbol.Symbol{}, start, true
		fallthrough
	case start == f.start:
		f.end = start + rules.Size
	}
	return f
}

// mayBe: the function that begins at an address may be the one that f knows only vaguely, with code
// at another address.
func (s *walk) mayBe(f *function, start, code uint64) bool {
	if !f.vague || s.moduleOf(start) != f.module || start < f.start || start > code {
		return false
	}
	at := s.functionAt(start)
	return at.end == 0 || code < at.end
}

// isPart: two functions are one, which the compiler divided into several ranges: "f" and "f.cold".
func (f *function) isPart(of *function) bool {
	name := of.symbol.Name
	return name != "" && f.module == of.module && (f.start == of.start || f.symbol.Name == name || strings.HasPrefix(f.symbol.Name, name+"."))
}

// landing is where a call or a jump to an address leads: to that address, and on through code that
// only jumps.
type landing struct {
	at []uint64
	// mode is the Thumb bit of the first address.
	mode uint64
	// open: the last address is a stub that jumps to what a slot holds, which the dump does not
	// have, or which the loader has not filled yet. name is what the symbols say it leads to, or "".
	open bool
	name string
	// anywhere: a function ends in a jump to where a register or memory says.
	anywhere bool
}

// maxHops is how many stubs are followed: a call of an import thunk that leads to a linker's table of
// jumps, and one to spare.
const maxHops = 3

// land follows a call or jump.
func (s *walk) land(to uint64) landing {
	first := s.arch.CodeAddress(to)
	l := landing{at: []uint64{first}, mode: to - first}
	for range maxHops {
		var room [32]byte // the longest stub
		at := s.arch.CodeAddress(to)
		code := room[:s.Code.Read(at, room[:])]
		slot, isStub := s.stubSlot(code, at)
		next, jumps := uint64(0), false
		switch {
		case isStub:
			next, jumps = s.slotValue(slot)
			// The loader fills slots when they are first used; until then they lead back to the stubs.
			if jumps && s.moduleOf(next) == s.moduleOf(at) {
				jumps = s.functionAt(next).start == next
			}
			if !jumps {
				l.open = true
				if name, ok := strings.CutSuffix(s.functionAt(at).symbol.Name, "@plt"); ok {
					l.name = name
				}
				return l
			}
		case s.arch.Jump != nil:
			next, jumps = s.arch.Jump(code, to, s.order())
		}
		if !jumps {
			break
		}
		to = s.arch.Mask(next)
		l.at = append(l.at, s.arch.CodeAddress(to))
	}
	return l
}

// stubSlot returns the slot that code jumps by, if that is all it does.
func (s *walk) stubSlot(code []byte, at uint64) (slot uint64, ok bool) {
	if s.arch.Stubs == nil {
		return 0, false
	}
	s.arch.Stubs(&cpu.PLT{Code: code, Address: at, Order: s.order()}, func(stub cpu.Stub) {
		if !ok && stub.At == at {
			slot, ok = s.arch.Mask(stub.Slot), true
		}
	})
	return slot, ok
}

// slotValue reads a slot in the program's data.
func (s *walk) slotValue(slot uint64) (uint64, bool) {
	if s.Space == nil {
		return 0, false
	}
	m := s.Space.Stack(slot)
	if m == nil {
		return 0, false
	}
	return m.Word(slot, s.arch.WordSize)
}

// moduleOf returns the module that an address is in, or -1.
func (s *walk) moduleOf(addr uint64) int {
	m, _ := s.Modules.Find(addr)
	return m
}

// isIn: a call that lands so enters a function.
func (l *landing) isIn(f *function) bool {
	return f.start != 0 && slices.Contains(l.at, f.start) || l.name != "" && l.name == f.symbol.Name
}

// reaches says whether the call before a return address can have led to the top frame, and names the
// function in between if there is one.
//
// A return address behind a direct call of X belongs to a call of X. It is left over from an earlier
// call unless X is the frame's function, or jumps there as its last act.
func (s *walk) reaches(ra uint64) (reach, *TailCall) {
	how, to := s.entersDirectly(ra)
	if how != reachNever || to == nil {
		return how, nil
	}
	y, x := s.callee(), s.called(to)
	switch {
	case y.isPart(&x):
		return reachDirect, nil
	case y.module < 0:
		return reachNever, nil // code that the program made is in no reach of a linker's jumps
	}
	if x.bounded = x.end == 0 && slices.Contains(to.at, x.start); x.bounded {
		x.end = s.nextName(&x)
	}
	switch {
	case x.end == 0, s.arch.Jump == nil, s.mayEnter(to):
		return reachUnknown, nil
	}
	jumps, ok := s.jumpsOf(&x, to.mode)
	if !ok {
		return reachUnknown, nil
	}
	how = reachNever
	_, rva := s.Modules.Find(x.start)
	var tail *TailCall
	for i := range jumps {
		if jumps[i].isIn(y) {
			return reachTail, &TailCall{Module: x.module, RVA: rva, Symbol: x.symbol}
		}
		switch {
		case jumps[i].anywhere:
			how = reachIndirect
		case how == reachNever && s.mayEnter(&jumps[i]):
			how = reachUnknown
		case how == reachNever && y.module != x.module && s.mayBeImported(&jumps[i], x.start):
			// If the return address is not left over from an earlier call, x was called and is not on the stack.
			how, tail = reachUnknown, &TailCall{Module: x.module, RVA: rva, Symbol: x.symbol}
		}
	}
	if x.bounded && how == reachIndirect { // the jump may be another one's
		how = reachUnknown
	}
	if how != reachUnknown {
		tail = nil
	}
	return how, tail
}

// nextName returns the address behind a function's name at which another name begins, so that the
// function has ended, or 0 if that is too far.
func (s *walk) nextName(f *function) uint64 {
	_, rva := s.Modules.Find(f.start)
	own := func(n int) bool {
		sym, ans := s.lookup(f.module, rva+uint64(n))
		return ans == symbol.Needs || sym.Name == f.symbol.Name && sym.Start == rva
	}
	n := 1 + sort.Search(maxJumps, func(n int) bool { return !own(n + 1) })
	if n > maxJumps {
		return 0
	}
	return f.start + uint64(n)
}

// entersDirectly is reaches without the functions that jump on: it looks up no symbols. If a call
// leads to another address than the function's first one, it returns where.
func (s *walk) entersDirectly(ra uint64) (reach, *landing) {
	call, known := s.callBefore(ra)
	if !known || s.arch.Target == nil {
		return reachUnknown, nil
	}
	if !call {
		return reachNever, nil
	}
	target, direct := s.calledBefore(ra)
	if !direct {
		return reachIndirect, nil
	}
	l := s.land(target)
	switch {
	case l.isIn(s.callee()):
		return reachDirect, nil
	case s.mayBeImported(&l, target):
		return reachUnknown, nil
	case l.open:
		return reachNever, nil
	}
	return reachNever, &l
}

// mayBeImported: code at an address leads to an imported function that may be the top frame's. Such
// functions are in other modules, and there they may have other names.
func (s *walk) mayBeImported(l *landing, code uint64) bool {
	y := s.callee()
	return l.open && (l.name == "" || y.symbol.Name == "" || y.module != s.moduleOf(code))
}

// called returns the function that a call enters: the first one on its way whose end symbols or unwind
// rules know.
func (s *walk) called(l *landing) (f function) {
	for _, at := range l.at {
		if f = s.functionAt(at); f.start == at && f.end != 0 {
			break
		}
	}
	return f
}

// doubts: a caller was found by a scan, and its call is not known to lead to the frame below; or the
// caller of such a frame, which another source found by its registers or a call of any function.
func (s *walk) doubts(cand *candidate) bool {
	scanned := cand.trust == TrustScan || cand.trust == TrustCFIScan
	switch {
	case cand.trust == TrustNone:
		return true
	case scanned && cand.call.how == reachUnknown:
		return true
	case scanned && cand.call.how != reachIndirect:
		return false
	}
	return s.top().Doubtful
}

// mayEnter: a call or a jump may lead to the top frame's function, whose first address is not known.
func (s *walk) mayEnter(l *landing) bool {
	return slices.ContainsFunc(l.at, func(at uint64) bool { return s.mayBe(s.callee(), at, s.top().Lookup) })
}

// callee returns the top frame's function.
func (s *walk) callee() *function {
	if s.calleeOf != len(s.frames) {
		s.calleeFunction, s.calleeOf = s.functionAt(s.top().Lookup), len(s.frames)
	}
	return &s.calleeFunction
}

// leaves: the last instruction of a function is a jump that may lead to any function.
func (s *walk) leaves(f *function) bool {
	var room [cpu.MaxCallBytes]byte
	n := min(f.end-f.start, cpu.MaxCallBytes)
	return f.end != 0 && s.arch.Leaves != nil && s.Code.Read(f.end-n, room[:n]) == int(n) && s.arch.Leaves(room[:n])
}

// slotJumps returns where a function's jumps by slots of the program lead to: a call of an imported
// function as the last act.
//
//	jmp *0x7d546(%rip)
func (s *walk) slotJumps(f *function, code []byte) (list []landing) {
	if s.arch.Stubs == nil {
		return nil
	}
	s.arch.Stubs(&cpu.PLT{Code: code, Address: f.start, Order: s.order()}, func(stub cpu.Stub) {
		if s.Modules.Covers(s.arch.Mask(stub.Slot)) {
			l := s.land(stub.At)
			l.at = l.at[1:]
			list = append(list, l)
		}
	})
	return list
}

// maxJumps bounds what is read of one function, in bytes, and what is kept of all functions, in jumps.
const maxJumps = 64 << 10

// jumpWork is the work of following a jump, in steps.
const jumpWork = 32

// jumpsOf returns where a function jumps to outside of itself. mode is the Thumb bit of its address. On
// a CPU whose instructions have no fixed size, bytes in the middle of one may look like a jump too: that
// they lead to the first byte of a certain function by accident is as good as impossible.
func (s *walk) jumpsOf(f *function, mode uint64) ([]landing, bool) {
	if list, ok := s.jumps[f.start]; ok {
		return list, true
	}
	n := int(min(f.end-f.start, maxJumps))
	code := make([]byte, n+cpu.MaxJumpBytes) // the end of the last jump is whatever is behind the function
	if s.Budget.Draw(input.Work, int64(n/s.arch.JumpAlign)) != nil || s.Code.Read(f.start, code[:n]) < n {
		return nil, false
	}
	list := []landing{}
	if s.leaves(f) {
		list = append(list, landing{anywhere: true})
	}
	for i := 0; i < n; i += s.arch.JumpAlign {
		if f.bounded && s.arch.Leaves != nil && s.arch.Leaves(code[:i]) {
			list = append(list, landing{anywhere: true})
		}
		to, ok := s.arch.Jump(code[i:i+cpu.MaxJumpBytes], (f.start+uint64(i))|mode, s.order())
		to = s.arch.Mask(to)
		if start := s.arch.CodeAddress(to); !ok || start >= f.start && start < f.end || !s.Modules.Covers(start) {
			continue
		}
		if s.Budget.Draw(input.Work, jumpWork) != nil {
			return nil, false
		}
		l := s.land(to)
		next := s.called(&l)
		// If instructions have no fixed size, a byte of one may look like a short jump into a function
		// nearby, but hardly to its first byte.
		l.anywhere = (s.arch.JumpAlign > 1 || slices.Contains(l.at, next.start)) && s.leaves(&next)
		list = append(list, l)
	}
	list = append(list, s.slotJumps(f, code[:n])...)
	if s.kept += len(list) + 1; s.jumps == nil || s.kept > maxJumps {
		s.jumps, s.kept = map[uint64][]landing{}, len(list)+1
	}
	s.jumps[f.start] = list
	return list, true
}
