package exidx

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// machine runs frame unwinding instructions (IHI 0038, section 10.3) on places instead of on values: the virtual stack pointer
// is a base and a distance, and what is popped is remembered by where it lay. Most functions have one base, sp, so that all
// of it ends as distances from the last vsp, the caller's sp: the CFA.
type machine struct {
	t    *table
	part string
	at   int64 // of the first instruction, for errors
	code []byte
	pos  int

	bases []unwind.Rule // what vsp was set to; the first is sp
	vsp   place
	// popped is where each of r0 to r15 lay; in order of the pops for those that were.
	popped [16]place
	has    uint16
	order  []uint8
}

// place is bases[base] + off.
type place struct {
	base int
	off  int64
}

func (m *machine) bad(want, have string) error {
	return &input.FormatError{File: m.t.cfg.File, Part: m.part, Offset: m.at + int64(m.pos) - 1, Want: want, Have: have}
}

func (m *machine) next() (byte, bool) {
	if m.pos >= len(m.code) {
		return 0, false
	}
	m.pos++
	return m.code[m.pos-1], true
}

// run makes the row. Instructions end with "finish", or with the entry.
func (m *machine) run(row unwind.Row) (unwind.Row, error) {
	m.bases = append(m.bases, unwind.Rule{Kind: unwind.FromReg, Reg: arm.SP})
	for {
		op, ok := m.next()
		if !ok || op == 0xb0 {
			return m.row(row)
		}
		cannot, err := m.step(op)
		if err != nil {
			return row, err
		}
		if cannot {
			return ended(row), nil
		}
	}
}

// step runs one instruction. True is the one that refuses to unwind.
func (m *machine) step(op byte) (bool, error) {
	switch {
	case op>>6 == 0b00:
		m.vsp.off += int64(op&0x3f)<<2 + 4
		return false, nil
	case op>>6 == 0b01:
		m.vsp.off -= int64(op&0x3f)<<2 + 4
		return false, nil
	case op>>4 == 0b1001:
		if r := op & 15; r != 13 && r != 15 {
			return false, m.setVSP(r)
		}
		return false, m.bad("a frame unwinding instruction that is known", fmt.Sprintf("0x%02x, which is reserved", op))
	case op>>4 == 0b1010:
		mask := uint16(1)<<(op&7+1) - 1
		mask <<= 4
		if op&8 != 0 {
			mask |= 1 << 14
		}
		return false, m.pop(mask)
	case op>>3 == 0b10111:
		m.vsp.off += int64(op&7+1)*8 + 4 // d8 and on, as FSTMFDX stores them
		return false, nil
	case op>>3 == 0b11000 && op&7 < 6:
		m.vsp.off += int64(op&7+1) * 8 // wR10 and on
		return false, nil
	case op>>3 == 0b11010:
		m.vsp.off += int64(op&7+1) * 8 // d8 and on
		return false, nil
	case op == 0xb4:
		m.vsp.off += 4 // the return address' authentication code
		return false, nil
	case op == 0xb5:
		return false, nil // vsp is what authentication is made with
	case op == 0xb2:
		return false, m.far()
	}
	second, ok := m.next()
	if !ok {
		return false, m.bad("the second byte of a frame unwinding instruction", fmt.Sprintf("the end of the entry after 0x%02x", op))
	}
	both := uint16(op)<<8 | uint16(second)
	count := int64(second&15) + 1
	switch {
	case both == 0x8000:
		return true, nil
	case op>>4 == 0b1000:
		return false, m.pop(both << 4)
	case op == 0xb1 && second != 0 && second < 16:
		return false, m.pop(uint16(second))
	case op == 0xb3:
		m.vsp.off += count*8 + 4 // double registers, as FSTMFDX stores them
	case op == 0xc6, op == 0xc8, op == 0xc9:
		m.vsp.off += count * 8 // iWMMXt data registers; double registers from 16 on; double registers
	case op == 0xc7 && second != 0 && second < 16:
		for ; second != 0; second &= second - 1 {
			m.vsp.off += 4 // iWMMXt control registers
		}
	default:
		m.pos--
		return false, m.bad("a frame unwinding instruction that is known", fmt.Sprintf("0x%02x 0x%02x", op, second))
	}
	return false, nil
}

// far adds a distance that one byte cannot say: 0x204 and four times a number of variable length.
func (m *machine) far() error {
	var v int64
	for shift := 0; ; shift += 7 {
		b, ok := m.next()
		if !ok || shift > 28 {
			return m.bad("a distance of at most 32 bits", "a longer one")
		}
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			m.vsp.off += 0x204 + v<<2
			return nil
		}
	}
}

// pop takes registers off the stack, the lowest number from the lowest address.
func (m *machine) pop(mask uint16) error {
	sp := false
	for r := uint8(0); r < 16; r++ {
		if mask&(1<<r) == 0 {
			continue
		}
		if m.has&(1<<r) == 0 {
			m.order = append(m.order, r)
		}
		m.has |= 1 << r
		m.popped[r] = m.vsp
		m.vsp.off += 4
		sp = sp || r == 13
	}
	if sp {
		return m.setVSP(13)
	}
	return nil
}

// maxBases bounds how often vsp may be set; compilers do so once.
const maxBases = 8

// setVSP makes a register's value the virtual stack pointer: what was popped into it, or what it still is.
func (m *machine) setVSP(r uint8) error {
	if len(m.bases) >= maxBases {
		return m.bad(fmt.Sprintf("at most %d changes of the stack pointer", maxBases), "one more")
	}
	ru := unwind.Rule{Kind: unwind.FromReg, Reg: register(r)}
	if m.has&(1<<r) != 0 {
		var err error
		if ru, err = m.word(m.popped[r]); err != nil {
			return err
		}
	}
	m.bases = append(m.bases, ru)
	m.vsp = place{base: len(m.bases) - 1}
	return nil
}

func register(r uint8) cpu.Reg { return arm.DWARF[r] }

// value is the address of a place as a rule, word the word there.
func (m *machine) value(p place) (unwind.Rule, error) {
	return unwind.Sum(arm, m.bases[p.base], p.off)
}

func (m *machine) word(p place) (unwind.Rule, error) {
	ru, err := m.value(p)
	if err != nil {
		return ru, err
	}
	return unwind.Deref(arm, ru)
}

// row gathers what the instructions did. If they did not pop pc, it is what lr is then.
func (m *machine) row(row unwind.Row) (unwind.Row, error) {
	var err error
	if row.CFA, err = m.value(m.vsp); err != nil {
		return row, m.bad("rules that can be said", err.Error())
	}
	from := uint8(15)
	if m.has&(1<<15) == 0 {
		from = 14
	}
	row.RA = unwind.Rule{Kind: unwind.FromReg, Reg: arm.LR}
	for _, r := range m.order {
		var ru unwind.Rule
		if p := m.popped[r]; p.base == m.vsp.base {
			ru = unwind.Rule{Kind: unwind.AtCFA, Offset: int64(int32(p.off - m.vsp.off))}
		} else if ru, err = m.word(p); err != nil {
			return row, m.bad("rules that can be said", err.Error())
		}
		switch {
		case r == from:
			row.RA = ru
		case r == 13 || r == 15: // vsp, and a pc that cannot be here
		default:
			row.Saved = append(row.Saved, unwind.RegRule{Reg: register(r), Rule: ru})
		}
	}
	row.Topmost = row.RA.Kind == unwind.FromReg
	return row, nil
}
