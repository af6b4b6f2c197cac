package framecode

import (
	"github.com/crashpane/crashpane/core/cpu"
)

// ppcReg is a general register by its number; the table has srr0 before them.
func ppcReg(n uint32) cpu.Reg { return cpu.Reg(n&31 + 1) }

// decodePPC does one instruction of powerpc.
//
// Source: Power ISA, book I, chapters 2 and 3. Fields: opcode, RT or RS, RA, immediate or RB and a
// second opcode.
func decodePPC(m *machine, at uint64, code []byte) (int, flow) {
	if len(code) < 4 {
		return 0, flow{}
	}
	w := m.order.Uint32(code)
	rt, ra := ppcReg(w>>21), ppcReg(w>>16)
	n := int64(int16(w))
	long := m.arch.WordSize == 8
	base := m.get(ra)
	if w>>16&31 == 0 { // number 0 as a base is the number 0
		base = value{}
	}
	switch op := w >> 26; op {
	case 14: // addi
		m.set(rt, base.plus(n))
	case 15: // addis
		m.set(rt, value{})
	case 16: // bc
		to := m.arch.Mask(at + uint64(int64(int16(w&0xfffc))))
		switch {
		case w&1 != 0 && to == at+4: // reads its own address
			m.set(m.arch.LR, value{})
		case w&1 != 0:
			m.ppcCall()
			return 4, flow{kind: call}
		default:
			return 4, flow{branch, to}
		}
	case 17: // sc
		m.set(ppcReg(3), value{})
		m.set(ppcReg(0), value{})
	case 18: // b
		if w&1 != 0 {
			m.ppcCall()
			return 4, flow{kind: call}
		}
		return 4, flow{jump, m.arch.Mask(at + uint64(int64(int32(w<<6)>>6&^3)))}
	case 19: // branches to lr and ctr
		switch always := w>>21&0x14 == 0x14; {
		case w>>1&0x3ff == 16 && w&1 == 0 && always: // blr
			return 4, m.returnToLink()
		case w>>1&0x3ff == 528 && w&1 == 0 && always: // bctr
			return 4, flow{kind: indirect}
		case w>>1&0x3ff == 528, w>>1&0x3ff == 16:
			if w&1 != 0 {
				m.ppcCall()
				return 4, flow{kind: call}
			}
		}
	case 31:
		m.ppcRegisters(w)
	case 32, 33: // lwz, lwzu
		m.access(rt, base.plus(n), true, !long)
	case 36, 37: // stw, stwu
		m.ppcStore(rt, ra, base.plus(n), !long, op == 37)
	case 46: // lmw
		for i := w >> 21 & 31; i < 32; i++ {
			m.access(ppcReg(i), base.plus(n+4*int64(i-w>>21&31)), true, !long)
		}
	case 47: // stmw
		for i := w >> 21 & 31; i < 32; i++ {
			m.ppcStore(ppcReg(i), ra, base.plus(n+4*int64(i-w>>21&31)), !long, false)
		}
	case 58: // ld, ldu, lwa
		m.access(rt, base.plus(n&^3), true, w&3 == 0)
	case 62: // std, stdu
		m.ppcStore(rt, ra, base.plus(n&^3), w&3 < 2, w&3 == 1)
	case 38, 39, 44, 45, 52, 53, 54, 55: // other stores
		if op&1 != 0 {
			m.set(ra, base.plus(n))
		}
	case 48, 49, 50, 51, 59, 63, 4, 10, 11, 60, 61: // floating point, vectors, comparisons
	case 20, 21, 23, 24, 25, 26, 27, 28, 29, 30: // what writes RA
		m.set(ra, value{})
	default:
		m.set(rt, value{})
	}
	return 4, flow{}
}

func (m *machine) ppcCall() {
	m.forget()
	// r2 and r13 are the system's.
	m.set(ppcReg(2), value{})
}

// ppcStore stores a register, and with update makes the address the base register's value.
func (m *machine) ppcStore(r, base cpu.Reg, at value, whole, update bool) {
	if whole {
		m.store(at, m.get(r))
	}
	if update {
		m.set(base, at)
	}
}

// ppcRegisters are the operations of opcode 31.
func (m *machine) ppcRegisters(w uint32) {
	rt, ra := ppcReg(w>>21), ppcReg(w>>16)
	switch w >> 1 & 0x3ff {
	case 339: // mfspr
		v := value{}
		if w>>11&0x3ff == 0x100 { // lr
			v = m.get(m.arch.LR)
		}
		m.set(rt, v)
	case 467: // mtspr
		if w>>11&0x3ff == 0x100 {
			m.set(m.arch.LR, m.get(rt))
		}
	case 444: // or; mr
		v := value{}
		if w>>21&31 == w>>11&31 {
			v = m.get(rt)
		}
		m.set(ra, v)
	case 183, 181: // stwux, stdux: a frame of any size
		m.set(ra, value{})
	case 0, 32, 4, 68, 151, 149, 215, 407, 598, 854, 982: // comparisons, traps, stores, barriers
	case 7, 39, 71, 103, 359, 135, 167, 199, 231, 487: // loads and stores of vectors (chapter 6)
	case 268, 588, 780, 844, 396, 716, 908, 972, 535, 599, 663, 727: // and of floating point (chapters 4, 7)
	default:
		m.set(rt, value{})
		m.set(ra, value{})
	}
}
