// Package framecode finds out from a function's instructions how its caller's registers are to be
// recovered, where no unwind information says it. It returns an unwind.Row.
//
// Body follows the code from the function's first instruction to an address, along all branches,
// and keeps track of where the values are that the registers had on entry. Epilogue follows the
// code from an address on to the function's return. Both know about an instruction only what it does to
// the stack pointer and to values that were there before; a register that anything else is written
// to becomes unknown. If the stack pointer's place is lost there are no rules.
//
// Example, amd64: 55 is "push %rbp", 48 89 e5 "mov %rsp, %rbp". For a function that begins with both,
// Body says
//
//	at the push             cfa = rsp + 8     ra = [cfa − 8]
//	at the mov              cfa = rsp + 16    ra = [cfa − 8]    rbp = [cfa − 16]
//
// Start with machine in this file: the state, and how code is followed. The other files have the
// instructions of a processor each.
package framecode

import (
	"cmp"
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// MaxBody is how many bytes of a function Body needs at most, if its size is not known: 99 % of the
// functions of large programs are shorter. MaxSized is the limit for one whose size is known; it is
// there because a file may claim any size.
const (
	MaxBody  = 16 << 10
	MaxSized = 256 << 10
)

// MaxEpilogue is how many bytes Epilogue reads at most, and epilogueSteps how many instructions it
// follows: an epilogue restores each register that calls preserve, and sets a result. On Windows
// vectors are among them: Go's callbackasm1 has 133 bytes.
const (
	MaxEpilogue   = 160
	epilogueSteps = 32
)

// aligned is the base of addresses in a stack that the function has aligned: how far below the
// caller's frame they are is not known.
const aligned = cpu.Reg(cpu.MaxRegs)

// drifted is the base of a stack pointer that is above the place of its offset by what calls have taken
// from the stack (settle).
const drifted = aligned + 1

// value is what a register or a word on the stack has: nothing that is known; the value that the
// register base had at first, and an offset; or the word that was in memory at that address.
type value struct {
	kind valueKind
	base cpu.Reg
	off  int64
}

type valueKind uint8

const (
	unknown valueKind = iota
	sum               // base + off
	word              // [base + off]
)

// slot is the address of a word on the stack.
type slot struct {
	base cpu.Reg
	off  int64
}

// state is what is known at an instruction. A copy shares the list of stored words, which grows at
// its head only.
type state struct {
	regs   [cpu.MaxRegs]value
	stored *store
	signed unwind.SigningKey // of the return address
}

// store is a word that the code has stored on the stack, and those before it.
type store struct {
	at     slot
	v      value
	before *store
	n      int // how many there are
}

// maxStores is how many stores are followed: those of registers and addresses, which functions have
// a few dozen of. It bounds the time that made-up code takes.
const maxStores = 256

// flow is what an instruction does to the order of execution.
type flow struct {
	kind   flowKind
	target uint64
}

type flowKind uint8

const (
	next     flowKind = iota
	branch            // to target, or on
	jump              // to target
	indirect          // to anywhere
	call              // and on
	ret               // to the caller
	stop              // unknown, or nowhere
)

// machine follows code.
type machine struct {
	arch  *cpu.Arch
	order binary.ByteOrder
	state
	thumb bool
	pc    uint64 // the address that Body is asked for
	body  bool   // Body follows the code from the function's first instruction on
	// returned: pc is a return address.
	returned bool
	// drifts: settle follows the code. taken is what it finds: how many bytes of the stack calls have
	// taken, by their return addresses.
	drifts   bool
	taken    map[uint64]int64
	called   func(at uint64) (Function, bool) // the Function's Callee, see callee
	asks     bool                             // settle asks callees what they take
	inCallee bool                             // outlined does a callee's code
	entry    state
	steps    *int
	todo     [3]ways // of follow; kept, since a function may have many
	seen     []uint8 // the sizes of the instructions that follow has done, by their distance from the first
	// decode does one instruction and returns its size, 0 if it has none.
	decode func(m *machine, at uint64, code []byte) (int, flow)
}

// newMachine returns a machine at a function's first instruction, or nil where there is no decoder
// for the processor.
func newMachine(arch *cpu.Arch, order binary.ByteOrder, thumb bool) *machine {
	m := &machine{arch: arch, order: order, thumb: thumb}
	if m.decode = decoders[arch]; m.decode == nil {
		return nil
	}
	for r := range arch.Names {
		m.entry.regs[r] = value{sum, cpu.Reg(r), 0}
	}
	m.state = m.entry
	return m
}

var decoders = map[*cpu.Arch]func(*machine, uint64, []byte) (int, flow){cpu.AMD64: decodeX86, cpu.X86: decodeX86, cpu.ARM64: decodeA64, cpu.ARM: decodeARM,
	cpu.RISCV: decodeRISCV, cpu.RISCV64: decodeRISCV, cpu.PPC: decodePPC, cpu.PPC64: decodePPC, cpu.S390X: decodeZ, cpu.MIPS: decodeMIPS, cpu.MIPS64: decodeMIPS,
	cpu.LoongArch64: decodeLoongArch}

// Knows reports whether there is a decoder for a processor.
func Knows(arch *cpu.Arch) bool { return decoders[arch] != nil }

// get and set are a register's value.
func (m *machine) get(r cpu.Reg) value {
	if r == cpu.NoReg {
		return value{}
	}
	return m.regs[r]
}

func (m *machine) set(r cpu.Reg, v value) {
	if v.base == drifted && r != m.arch.SP {
		v = value{} // a copy of the stack pointer would undo what later calls take
	}
	if r != cpu.NoReg {
		m.regs[r] = v
	}
}

func (v value) plus(n int64) value {
	if v.kind != sum {
		return value{}
	}
	v.off += n
	return v
}

// load is the word at an address.
func (m *machine) load(at value) value {
	if at.kind != sum {
		return value{}
	}
	if v, ok := m.find(slot{at.base, at.off}); ok {
		return v
	}
	return value{word, at.base, at.off}
}

// find is the word that was stored last at an address.
func (m *machine) find(at slot) (value, bool) {
	for s := m.stored; s != nil; s = s.before {
		if s.at == at {
			return s.v, true
		}
	}
	return value{}, false
}

// has: what was stored is still there.
func (m *machine) has(s *store) bool {
	v, _ := m.find(s.at)
	return v == s.v
}

// store changes the word at an address on the stack.
func (m *machine) store(at, v value) {
	if at.kind != sum || at.base != m.arch.SP && at.base != m.arch.FP && at.base != aligned {
		return
	}
	if v.base == drifted {
		v = value{}
	}
	to := slot{at.base, at.off}
	if _, ok := m.find(to); v.kind == unknown && m.body && !ok && to != (slot{m.arch.SP, 0}) {
		return // what was there before the function began is never asked for
	}
	n := 1
	if m.stored != nil {
		n += m.stored.n
	}
	m.stored = &store{to, v, m.stored, n}
}

// access is a load or store of one register. whole: of all of it.
func (m *machine) access(r cpu.Reg, at value, load, whole bool) {
	switch {
	case load && whole:
		m.set(r, m.load(at))
	case load:
		m.set(r, value{})
	case whole:
		m.store(at, m.get(r))
	default:
		m.store(at, value{})
	}
}

// general is a register by its number in instructions, which is that of the table, on processors whose
// register 0 is always 0.
func general(n uint32) cpu.Reg {
	if n &= 31; n != 0 {
		return cpu.Reg(n)
	}
	return zero
}

// zero is the register that is always 0.
const zero = cpu.NoReg

// distance is a number with its sign.
func distance(n uint32, up bool) int64 {
	if up {
		return int64(n)
	}
	return -int64(n)
}

// move adds to the stack pointer.
func (m *machine) move(n int64) { m.set(m.arch.SP, m.get(m.arch.SP).plus(n)) }

func (m *machine) push(v value) {
	m.move(-int64(m.arch.WordSize))
	m.store(m.get(m.arch.SP), v)
}

func (m *machine) pop() value {
	v := m.load(m.get(m.arch.SP))
	m.move(int64(m.arch.WordSize))
	return v
}

// align is the result of clearing the lower bits of a stack address.
func (m *machine) align(v value) value {
	if v.kind == sum && v.base == m.arch.SP {
		return value{sum, aligned, 0}
	}
	return value{}
}

// place is an instruction that is followed; from is the one that leads to it, and called says that it
// is a call.
type place struct {
	at, from uint64
	called   bool
}

// way is a place that is to be followed, with the state there.
type way struct {
	place
	state
}

// ways are those that wait, first in first out.
type ways struct {
	list []way
	head int
}

func (w *ways) add(one way) { w.list = append(w.list, one) }

// next takes the first one, or nil. It stays valid until the next add.
func (w *ways) next() *way {
	if w.head == len(w.list) {
		w.list, w.head = w.list[:0], 0
		return nil
	}
	w.head++
	return &w.list[w.head-1]
}

// Function is the code that Body reads.
type Function struct {
	Code  []byte
	Start uint64
	// Sized: Code is the whole function, so that all of it belongs to it. Otherwise calls may not return
	// and what is behind them may be another function's.
	Sized bool
	Thumb bool // the instruction set of arm
	// Callee, if set, returns a function that is called, by its first instruction's address.
	Callee func(at uint64) (Function, bool)
}

// callee returns a function that is called, if the Function has a Callee. That counts what reading the
// code costs.
func (m *machine) callee(at uint64) (f Function, ok bool) {
	if m.called == nil {
		return f, false
	}
	return m.called(at)
}

// Body returns the rules at pc in a function. returned says that pc is a return address: the rules
// are those of the call before it, since code may lead there by other ways too if the call never
// returns. steps is how many instructions may be followed, and is counted down.
func Body(arch *cpu.Arch, order binary.ByteOrder, f *Function, pc uint64, returned bool, steps *int) (unwind.Row, bool) {
	m := newMachine(arch, order, f.Thumb)
	if m == nil || pc < f.Start || pc-f.Start > uint64(len(f.Code)) {
		return unwind.Row{}, false
	}
	m.body, m.pc, m.returned, m.called = true, pc, returned, f.Callee
	row, ok := m.rules(f, steps)
	if arch != cpu.X86 {
		return row, ok
	}
	for _, m.asks = range [...]bool{false, true} {
		if ok {
			break
		}
		m.settle(f, steps)
		row, ok = m.rules(f, steps)
	}
	return row, ok
}

// rules follows the code to the address that Body is asked for. If ways with different stack
// pointers meet, one of them has allocated memory of a size that is found out at run time (alloca).
func (m *machine) rules(f *Function, steps *int) (row unwind.Row, ok bool) {
	found := false
	var there state
	first := map[uint64]value{} // the stack pointer at each instruction, as the first way there has it
	apart := false
	m.follow(f, steps, func(p *place) bool {
		sp := m.get(m.arch.SP)
		if was, ok := first[p.at]; !ok {
			first[p.at] = sp
		} else if was != sp {
			apart = true
		}
		if p.at == m.pc && (!found || m.returned && p.called) {
			there, found = m.state, true
		}
		return true
	})
	if !found {
		return row, false
	}
	m.state = there
	return m.row(apart)
}

// follow does the instructions of a function along all ways from its first one, each once. visit is
// called before each, also where a way joins another one that was followed before, and says whether
// to go on. The result are the instructions from which the function is left.
func (m *machine) follow(f *Function, steps *int, visit func(p *place) bool) (leaves []uint64) {
	m.state, m.steps = m.entry, steps
	m.seen = make([]uint8, len(f.Code))
	// Blocks that branches lead to come first, then what follows calls, which may not return, then
	// what follows jumps to anywhere: that may be a switch.
	todo := &m.todo
	for level := range todo {
		todo[level] = ways{list: todo[level].list[:0]}
	}
	add := func(level int, at, from uint64) {
		todo[level].add(way{place{at, from, level == 1}, m.state})
	}
	add(0, f.Start, f.Start)
	var switches cases
	for {
		var w *way
		for level := 0; level < len(todo) && w == nil; level++ {
			w = todo[level].next()
		}
		if w == nil {
			if w = switches.next(f, m.seen); w == nil {
				return leaves
			}
		}
		p := w.place
		m.state = w.state
		for {
			if !visit(&p) {
				return leaves
			}
			at := p.at
			if !f.has(at) || m.seen[at-f.Start] > 0 || *steps <= 0 || m.stored != nil && m.stored.n > maxStores {
				break
			}
			*steps--
			n, to := m.decode(m, at, f.Code[at-f.Start:])
			if n == 0 {
				break
			}
			m.seen[at-f.Start] = uint8(n)
			p = place{at: at + uint64(n), from: at}
			switch to.kind {
			case next:
				continue
			case branch:
				add(0, to.target, at)
				continue
			case jump:
				add(0, to.target, at)
				if !f.has(to.target) {
					leaves = append(leaves, at)
				}
			case call:
				if f.Sized || m.returned && p.at == m.pc {
					add(1, p.at, at)
				}
			case indirect:
				leaves = append(leaves, at)
				if f.Sized {
					switches.jump(at, m)
				}
				if f.Sized && m.get(m.arch.SP) != m.entry.regs[m.arch.SP] {
					add(2, p.at, at)
				} else {
					switches.after = append(switches.after, p.at)
				}
			case ret:
				leaves = append(leaves, at)
			}
			if to.kind == jump || to.kind == ret {
				switches.after = append(switches.after, p.at)
			}
			break
		}
	}
}

// cases are those of a function's switch that nothing but its jump leads to. They follow other code
// that ends with a jump or a return.
type cases struct {
	from  *way // the jump, if the function has one or the stack pointer is the same at all
	many  bool // it is not
	sp    value
	after []uint64
	// leaving is a jump with the stack pointer of the function's entry. If the function has others, it
	// calls another function that returns in its place.
	leaving *way
}

func (c *cases) jump(at uint64, m *machine) {
	sp := m.get(m.arch.SP)
	if sp == m.entry.regs[m.arch.SP] {
		c.leaving = cmp.Or(c.leaving, &way{place{from: at}, m.state})
		return
	}
	if c.from == nil {
		c.from, c.sp = &way{place{from: at}, m.state}, sp
	}
	c.many = c.many || c.sp != sp
}

// next is a case that was not seen yet, or nil.
func (c *cases) next(f *Function, seen []uint8) *way {
	from := cmp.Or(c.from, c.leaving)
	for from != nil && !c.many && len(c.after) > 0 {
		at := c.after[0]
		c.after = c.after[1:]
		if f.has(at) && seen[at-f.Start] == 0 {
			w := *from
			w.at = at
			return &w
		}
	}
	return nil
}

// has reports whether the function has code at an address.
func (f *Function) has(at uint64) bool { return at >= f.Start && at-f.Start < uint64(len(f.Code)) }

// settle finds out what the calls of a function of 32-bit x86 take from the stack.
//
// A callee may take its arguments from the stack, which the call does not show. So every call moves
// the stack pointer up by an unknown number of bytes, 0 or more, and never down. If the function
// is left, the stack pointer is what it was on entry. If the other instructions alone bring it
// back there, the sum of what was taken on the way is 0, and so is each part of it. The same holds
// where the way joins one without calls, at the same stack pointer. With the callees at hand, their
// returns say what they take.
func (m *machine) settle(f *Function, steps *int) {
	m.drifts, m.taken = true, map[uint64]int64{}
	defer func() { m.drifts = false }()
	first := map[uint64]value{}     // the stack pointer at each instruction, as the way that is followed has it
	before := map[uint64][]uint64{} // the instructions that lead to one with the same stack pointer
	var todo []uint64
	leaves := m.follow(f, steps, func(p *place) bool {
		now := m.get(m.arch.SP)
		was, ok := first[p.at]
		if !ok {
			first[p.at], was = now, now
		}
		if now.kind != sum || was.kind != sum || now.off != was.off {
			return true
		}
		if now.base == drifted {
			before[p.at] = append(before[p.at], p.from)
		}
		if now.base != was.base {
			todo = append(todo, p.at)
		}
		return true
	})
	for _, at := range leaves {
		if first[at] == (value{sum, drifted, 0}) {
			todo = append(todo, at)
		}
	}
	settled := map[uint64]bool{}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if settled[at] {
			continue
		}
		settled[at] = true
		todo = append(todo, before[at]...)
		if _, ok := m.taken[at]; !ok {
			m.taken[at] = 0
		}
	}
}

// row makes the rules at an instruction that Body has reached: of what the registers had on entry,
// where is it now?
//
// apart: somewhere in the function the stack pointer depends on the way. Then the frame pointer is
// the surer one.
func (m *machine) row(apart bool) (unwind.Row, bool) {
	a := m.arch
	var row unwind.Row
	up := int64(0) // from sp on entry to the cfa
	if a.LR == cpu.NoReg {
		up = int64(a.WordSize)
	}
	switch {
	case apart && m.cfaFrom(a.FP, up, &row):
	case m.cfaFrom(a.SP, up, &row):
	case m.cfaFrom(a.FP, up, &row):
	case m.cfaStored(up, &row):
	// Thumb code keeps its frame pointer in r7; a function that aligns its stack has the cfa in any
	// register before it stores it.
	case m.cfaFromAny(up, &row):
	default:
		return row, false
	}
	// A function that saved its frame pointer has a word for it, unless it is as it was.
	var room [cpu.MaxRegs]unwind.RegRule
	saved := room[:0]
	for _, r := range a.CalleeSaved {
		rule, ok := m.where(r, up)
		if !ok {
			rule = unwind.Rule{Kind: unwind.Undefined}
		}
		if rule.Kind != unwind.Same {
			saved = append(saved, unwind.RegRule{Reg: r, Rule: rule})
		}
	}
	row.Saved = append(row.Saved, saved...)
	if a.LR == cpu.NoReg {
		row.RA = unwind.Rule{Kind: unwind.AtCFA, Offset: -up}
		_, gone := m.find(slot{a.SP, 0}) // it took its return address off the stack and stored something there
		return row, !gone
	}
	ra, ok := m.where(a.LR, up)
	if ra.Kind == unwind.Same {
		ra = unwind.Rule{Kind: unwind.FromReg, Reg: a.LR}
		row.Topmost = true
	}
	for r := 0; !ok && r < len(a.Names); r++ { // over calls of what compilers have outlined
		ra, ok = unwind.Rule{Kind: unwind.FromReg, Reg: cpu.Reg(r)}, m.get(cpu.Reg(r)) == m.entry.regs[a.LR]
	}
	row.RA, row.Signed = ra, m.signed
	return row, ok
}

// cfaFrom: a register has an address whose distance to the cfa is known.
func (m *machine) cfaFrom(r cpu.Reg, up int64, row *unwind.Row) bool {
	v := m.get(r)
	if v.kind != sum || v.base != m.arch.SP {
		return false
	}
	row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: r, Offset: up - v.off}
	return true
}

func (m *machine) cfaFromAny(up int64, row *unwind.Row) bool {
	for r := range m.arch.Names {
		if m.cfaFrom(cpu.Reg(r), up, row) {
			return true
		}
	}
	return false
}

// cfaStored: in an aligned stack the cfa itself was stored, at a distance from the frame pointer or
// the stack pointer.
func (m *machine) cfaStored(up int64, row *unwind.Row) bool {
	found := false
	for s := m.stored; s != nil; s = s.before {
		at := s.at
		if s.v != (value{sum, m.arch.SP, up}) || !m.has(s) {
			continue
		}
		for _, r := range [...]cpu.Reg{m.arch.SP, m.arch.FP} {
			now := m.get(r)
			if rule := (unwind.Rule{Kind: unwind.AtReg, Reg: r, Offset: at.off - now.off}); now.kind == sum && now.base == at.base && (!found || r == m.arch.FP || row.CFA.Offset < rule.Offset) {
				row.CFA, found = rule, true
			}
		}
	}
	return found
}

// where returns the rule for the value that a register had on entry. The copy in the function's
// frame is surer than the register: where ways join, a call or a write may be on another one than
// that which was followed.
func (m *machine) where(r cpu.Reg, up int64) (unwind.Rule, bool) {
	rule, found := unwind.Rule{}, false
	// The first of several copies is the prologue's.
	for s := m.stored; s != nil; s = s.before {
		if s.v != (value{sum, r, 0}) || m.freed(s.at) || !m.has(s) {
			continue
		}
		switch fp := m.get(m.arch.FP); {
		case s.at.base == m.arch.SP:
			rule, found = unwind.Rule{Kind: unwind.AtCFA, Offset: s.at.off - up}, true
		case s.at.base == aligned && fp.kind == sum && fp.base == aligned:
			rule, found = unwind.Rule{Kind: unwind.AtReg, Reg: m.arch.FP, Offset: s.at.off - fp.off}, true
		}
	}
	if !found && m.get(r) == (value{sum, r, 0}) {
		return unwind.Rule{Kind: unwind.Same}, true
	}
	return rule, found
}

// freed: a word on the stack is below the stack pointer, where an epilogue leaves what it has
// loaded and a signal may overwrite it.
func (m *machine) freed(at slot) bool {
	sp := m.get(m.arch.SP)
	return sp.kind == sum && sp.base == at.base && at.off < sp.off
}

// Epilogue returns the rules at an address from which the code runs on to its function's return: what
// the registers will have there is what the caller's have. If it branches, the code behind the
// branch is followed: an address has one stack, so any way to the return shows it.
func Epilogue(arch *cpu.Arch, order binary.ByteOrder, code []byte, at uint64, thumb bool) (row unwind.Row, ok bool) {
	m := newMachine(arch, order, thumb)
	if m == nil {
		return row, false
	}
	start := at
	for range epilogueSteps {
		if at < start || at-start >= uint64(len(code)) {
			return row, false
		}
		n, f := m.decode(m, at, code[at-start:])
		if n == 0 {
			return row, false
		}
		switch at += uint64(n); f.kind {
		case next, branch:
		case jump:
			at = f.target
		case ret:
			return m.left()
		default:
			return row, false
		}
	}
	return row, false
}

// left makes the rules where Epilogue has met the return: of what the caller's registers have,
// where is it now?
func (m *machine) left() (row unwind.Row, ok bool) {
	a := m.arch
	sp := m.get(a.SP)
	if sp.kind != sum || sp.base == aligned {
		return row, false
	}
	row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: sp.base, Offset: sp.off}
	ra := m.get(a.PC)
	if row.RA, ok = m.was(ra); !ok {
		return row, false
	}
	row.Topmost = a.LR != cpu.NoReg && ra == value{sum, a.LR, 0}
	for _, r := range a.CalleeSaved {
		v := m.get(r)
		if v == (value{sum, r, 0}) {
			continue
		}
		rule, known := m.was(v)
		if !known {
			rule = unwind.Rule{Kind: unwind.Undefined}
		}
		row.Saved = append(row.Saved, unwind.RegRule{Reg: r, Rule: rule})
	}
	return row, true
}

// was is the rule for a value by the registers and the memory at first.
func (m *machine) was(v value) (unwind.Rule, bool) {
	switch {
	case v.base >= aligned:
	case v.kind == sum:
		return unwind.Rule{Kind: unwind.FromReg, Reg: v.base, Offset: v.off}, true
	case v.kind == word:
		return unwind.Rule{Kind: unwind.AtReg, Reg: v.base, Offset: v.off}, true
	}
	return unwind.Rule{}, false
}
