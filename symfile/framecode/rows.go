package framecode

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Range is code with the same rules.
type Range struct {
	Start, End uint64
	Row        *unwind.Row
}

// Reader makes the rules for functions of one program, one after the other.
type Reader struct{ m *machine }

// NewReader makes a Reader for a processor that Knows.
func NewReader(arch *cpu.Arch, order binary.ByteOrder) *Reader {
	m := newMachine(arch, order, false)
	m.body = true
	return &Reader{m}
}

// Rows returns the rules for all code of a function that its first instruction leads to, by address.
// known returns those that are known at an address, or nil. They stay where the code does not show that
// their cfa is wrong, since they may know better which registers were saved; those that hold for the
// whole function are in the result, so that it describes the function alone.
func (r *Reader) Rows(f *Function, known func(at uint64) *unwind.Row, steps *int) []Range {
	m := r.m
	m.thumb, m.called = f.Thumb, f.Callee
	out, apart := m.rows(f, known, steps, false)
	if apart {
		out, _ = m.rows(f, known, steps, true)
	}
	return out
}

// rows is Rows for a function whose stack pointer depends on the way (apart) or not. If it does
// although it should not, the result says so.
func (m *machine) rows(f *Function, known func(at uint64) *unwind.Row, steps *int, apart bool) (out []Range, differs bool) {
	first := make([]value, len(f.Code)) // the stack pointer at each instruction
	var last state                      // for which own was made
	var own, given *unwind.Row
	misled := false
	m.follow(f, steps, func(p *place) bool {
		at, sp := p.at-f.Start, m.get(m.arch.SP)
		switch {
		case !f.has(p.at):
			return true
		case m.seen[at] > 0:
			differs = differs || first[at] != sp
			return apart || !differs
		}
		first[at] = sp
		changed := own == nil || inScratch(m.arch, own) || !m.framed(&last) || own.RA.Reg == m.arch.LR && m.copyOfLR() != cpu.NoReg
		if changed {
			if m.stored != nil { // what rules are made of: made-up code may store much and change the stack pointer often
				*steps -= m.stored.n * m.stored.n / 16
			}
			last, own = m.state, nil
			if row, ok := m.row(apart); ok && !losesFP(m.arch, &row) {
				kept := row
				own = &kept
				if r := m.copyOfLR(); row.Topmost && r != cpu.NoReg { // over a call lr does not hold
					own.RA, own.Topmost = unwind.Rule{Kind: unwind.FromReg, Reg: r}, false
				}
			}
		}
		if changed || misled { // tables may follow the code late
			given = known(p.at)
		}
		misled = given != nil && own != nil && m.misleads(given)
		row := own
		switch {
		case given == nil || misled:
		case given.WholeFunction:
			row = given
		default:
			row = nil
		}
		out = append(out, Range{Start: p.at, Row: row})
		return true
	})
	slices.SortFunc(out, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	n := 0
	for _, r := range out {
		size := m.seen[r.Start-f.Start]
		switch r.End = r.Start + uint64(size); {
		case size == 0 || r.Row == nil:
		case n > 0 && out[n-1].End == r.Start && out[n-1].Row == r.Row:
			out[n-1].End = r.End
		default:
			out[n] = r
			n++
		}
	}
	return out[:n], differs
}

// framed: the state is that of an earlier instruction in all that rules without scratch registers are
// made of.
func (m *machine) framed(s *state) bool {
	same := func(r cpu.Reg) bool { return r == cpu.NoReg || m.regs[r] == s.regs[r] }
	if m.stored != s.stored || m.signed != s.signed || !same(m.arch.SP) || !same(m.arch.FP) || !same(m.arch.LR) {
		return false
	}
	return !slices.ContainsFunc(m.arch.CalleeSaved, func(r cpu.Reg) bool { return !same(r) })
}

// copyOfLR returns a scratch register that has the return address as well as lr, or NoReg.
func (m *machine) copyOfLR() cpu.Reg {
	for r := cpu.Reg(0); m.arch.LR != cpu.NoReg && int(r) < len(m.arch.Names); r++ {
		if r != m.arch.LR && m.regs[r] == m.entry.regs[m.arch.LR] {
			return r
		}
	}
	return cpu.NoReg
}

// inScratch: rules find the cfa or the return address in a register that any instruction may change.
func inScratch(a *cpu.Arch, row *unwind.Row) bool {
	scratch := func(ru *unwind.Rule) bool {
		return ru.Kind == unwind.FromReg && ru.Reg != a.SP && ru.Reg != a.FP && ru.Reg != a.LR
	}
	return scratch(&row.CFA) || scratch(&row.RA)
}

// losesFP: the caller's frame pointer is not known. Readers of symbol files take it as unchanged.
func losesFP(a *cpu.Arch, row *unwind.Row) bool {
	return slices.ContainsFunc(row.Saved, func(s unwind.RegRule) bool { return s.Reg == a.FP && s.Rule.Kind == unwind.Undefined })
}

// misleads: the register from which rules find the cfa has another value; or lr has another one than
// the return address, or will have one after a call; or a register is not saved yet, or restored
// already.
func (m *machine) misleads(row *unwind.Row) bool {
	a, up := m.arch, int64(0)
	if a.LR == cpu.NoReg {
		up = int64(a.WordSize)
	}
	v := m.get(row.CFA.Reg)
	if row.CFA.Kind == unwind.FromReg && v.kind == sum && v != (value{sum, a.SP, up - row.CFA.Offset}) ||
		row.RA.Kind == unwind.FromReg && (m.get(row.RA.Reg) != m.entry.regs[a.LR] || m.copyOfLR() != cpu.NoReg) {
		return true
	}
	return slices.ContainsFunc(row.Saved, func(s unwind.RegRule) bool {
		at, own := slot{a.SP, up + s.Rule.Offset}, value{sum, s.Reg, 0}
		saved, _ := m.find(at)
		return s.Rule.Kind == unwind.AtCFA && m.get(s.Reg) == own && (saved != own || m.freed(at))
	})
}
