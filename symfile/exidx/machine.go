package exidx

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// machine executes frame unwinding instructions (IHI 0038, section 10.3) symbolically. The virtual
// stack pointer (vsp) is a base plus an offset, and popping a register records the address that it
// was popped from. At the end vsp is the caller's sp, the CFA, and the addresses become offsets to
// it:
//
//	instruction         vsp         recorded
//	0x01  vsp += 8      sp + 8
//	0xa8  pop {r4, lr}  sp + 16     r4 at sp + 8, lr at sp + 12
//	0xb0  finish                    cfa = sp + 16, r4 = [cfa - 8], ra = [cfa - 4]
type machine struct {
	t    *table
	part string
	at   int64 // offset of the first instruction, for errors
	code []byte
	pos  int

	bases []unwind.Rule // the values that vsp was set to; the first is sp
	vsp   stackSlot
	// popped is the address from which each of r0 to r15 was popped. has is the mask of those that
	// were, order their order.
	popped [16]stackSlot
	has    uint16
	order  []uint8
}

// stackSlot is the address bases[base] + off.
type stackSlot struct {
	base int
	off  int64
}

// bad returns an error about the byte that was read last.
func (m *machine) bad(want, have string) error {
	return &input.FormatError{File: m.t.cfg.File, Part: m.part, Offset: m.at + int64(m.pos) - 1, Want: want, Have: have}
}

// next returns the next byte of the unwind instructions; false at their end.
func (m *machine) next() (byte, bool) {
	if m.pos >= len(m.code) {
		return 0, false
	}
	m.pos++
	return m.code[m.pos-1], true
}

// run executes the instructions up to "finish" or the end of the entry, and makes the row.
func (m *machine) run(row unwind.Row) (unwind.Row, error) {
	m.bases = append(m.bases, unwind.Rule{Kind: unwind.FromReg, Reg: arm.SP})
	for {
		op, ok := m.next()
		if !ok || op == 0xb0 {
			return m.row(row), nil
		}
		cannot, err := m.step(op)
		if err != nil {
			return row, err
		}
		if cannot {
			return outermost(row), nil
		}
	}
}

// step executes one instruction. It returns true for "refuse to unwind" (0x8000).
//
//	00xxxxxx            vsp += (x << 2) + 4
//	01xxxxxx            vsp -= (x << 2) + 4
//	1000iiii iiiiiiii   pop r15 to r4, those of the mask; 0x8000 refuse to unwind
//	1001nnnn            vsp = r[n]
//	10100nnn 10101nnn   pop r4 to r[4+n]; with lr
//	10110000            finish
//	10110001 0000iiii   pop r3 to r0, those of the mask
//	10110010 ULEB128    vsp += 0x204 + (x << 2)
//	10110100            pop the return address authentication code
//	others              pop floating-point and iWMMXt registers, which only move vsp
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
		return false, m.bad("a known frame unwinding instruction", fmt.Sprintf("0x%02x, which is reserved", op))
	case op>>4 == 0b1010:
		mask := uint16(1)<<(op&7+1) - 1
		mask <<= 4
		if op&8 != 0 {
			mask |= 1 << 14
		}
		return false, m.pop(mask)
	case op>>3 == 0b10111:
		m.vsp.off += int64(op&7+1)*8 + 4 // d8 up, as FSTMFDX stores them: a word more
		return false, nil
	case op>>3 == 0b11000 && op&7 < 6:
		m.vsp.off += int64(op&7+1) * 8 // wR10 up
		return false, nil
	case op>>3 == 0b11010:
		m.vsp.off += int64(op&7+1) * 8 // d8 up
		return false, nil
	case op == 0xb4:
		m.vsp.off += 4 // the return address authentication code
		return false, nil
	case op == 0xb5:
		return false, nil // use vsp as the modifier of the authentication: no effect on the frame
	case op == 0xb2:
		return false, m.addLongOffset()
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
		return false, m.bad("a known frame unwinding instruction", fmt.Sprintf("0x%02x 0x%02x", op, second))
	}
	return false, nil
}

// addLongOffset executes 0xb2: vsp += 0x204 + (ULEB128 << 2).
func (m *machine) addLongOffset() error {
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

// pop pops the registers of a mask. The lowest register is at the lowest address.
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

// maxBases limits how often an entry may set vsp. Compilers set it once.
const maxBases = 8

// setVSP sets vsp to a register's value: the popped one, or the callee's if it was not popped.
func (m *machine) setVSP(r uint8) error {
	if len(m.bases) >= maxBases {
		return m.bad(fmt.Sprintf("at most %d changes of the stack pointer", maxBases), "one more")
	}
	ru := unwind.Rule{Kind: unwind.FromReg, Reg: register(r)}
	if m.has&(1<<r) != 0 {
		ru = m.word(m.popped[r])
	}
	m.bases = append(m.bases, ru)
	m.vsp = stackSlot{base: len(m.bases) - 1}
	return nil
}

// register returns the register with an ARM number, which is also its DWARF number.
func register(r uint8) cpu.Reg { return arm.DWARF[r] }

// value returns the address of a slot as a rule.
func (m *machine) value(p stackSlot) unwind.Rule { return unwind.Sum(arm, m.bases[p.base], p.off) }

// word returns the word in a slot as a rule.
func (m *machine) word(p stackSlot) unwind.Rule { return unwind.Deref(m.value(p)) }

// row makes the row of the machine's final state. If pc was not popped, the return address is that
// in lr (IHI 0038, section 10.3: "finish").
func (m *machine) row(row unwind.Row) unwind.Row {
	row.CFA = m.value(m.vsp)
	from := uint8(15)
	if m.has&(1<<15) == 0 {
		from = 14
	}
	row.RA = unwind.Rule{Kind: unwind.FromReg, Reg: arm.LR}
	for _, r := range m.order {
		p := m.popped[r]
		ru := m.word(p)
		if p.base == m.vsp.base {
			ru = unwind.Rule{Kind: unwind.AtCFA, Offset: int64(int32(p.off - m.vsp.off))}
		}
		switch {
		case r == from:
			row.RA = ru
		case r == 13 || r == 15: // sp is the CFA; a popped pc is the return address, above
		default:
			row.Saved = append(row.Saved, unwind.RegRule{Reg: register(r), Rule: ru})
		}
	}
	row.Topmost = row.RA.Kind == unwind.FromReg
	return row
}
