package framecode

import (
	"encoding/binary"
	"math/bits"

	"github.com/crashpane/crashpane/core/cpu"
)

// decodeARM does one instruction of 32-bit arm.
//
// Source: Arm Architecture Reference Manual ARMv7-A, A5 (ARM), A6 (Thumb).
func decodeARM(m *machine, at uint64, code []byte) (int, flow) {
	switch {
	case !m.thumb && len(code) >= 4:
		return 4, m.armInstruction(at, binary.LittleEndian.Uint32(code))
	case m.thumb && len(code) >= 2:
		w := binary.LittleEndian.Uint16(code)
		if w>>11 < 0x1d {
			return 2, m.thumbInstruction(at, uint32(w))
		}
		if len(code) >= 4 {
			return 4, m.thumb32(at, uint32(w), uint32(binary.LittleEndian.Uint16(code[2:])))
		}
	}
	return 0, flow{}
}

// armReg is a register by its number in instructions.
func armReg(n uint32) cpu.Reg {
	switch n &= 15; n {
	case 11:
		return cpu.ARM.FP
	case 12:
		return cpu.Reg(11) // the table has r12 before fp
	}
	return cpu.Reg(n)
}

// armGet is the value of an operand. The value of pc is not followed.
func (m *machine) armGet(n uint32) value {
	if n&15 == 15 {
		return value{}
	}
	return m.get(armReg(n))
}

// armSet writes a register. A write to pc is a jump: to the caller, if it is the return address
// that is written.
func (m *machine) armSet(n uint32, v value) flow {
	if n&15 != 15 {
		m.set(armReg(n), v)
		return flow{}
	}
	m.set(m.arch.PC, v)
	if v == (value{sum, m.arch.LR, 0}) || v.kind == word {
		return flow{kind: ret}
	}
	return flow{kind: indirect}
}

// armCall forgets what calls may change.
func (m *machine) armCall() flow {
	for _, n := range [...]uint32{0, 1, 2, 3, 12, 14} {
		m.set(armReg(n), value{})
	}
	return flow{kind: call}
}

// armMany loads or stores a list of registers: up or down from a base register, before or after it,
// which may be changed.
func (m *machine) armMany(base, list uint32, load, up, before, writes bool) flow {
	start := m.armGet(base)
	size := 4 * int64(bits.OnesCount32(list&0xffff))
	at := start
	switch {
	case up && before:
		at = start.plus(4)
	case !up && before:
		at = start.plus(-size)
	case !up:
		at = start.plus(4 - size)
	}
	if writes {
		m.armSet(base, start.plus(distance(uint32(size), up)))
	}
	f := flow{}
	for n := uint32(0); n < 16; n++ {
		if list>>n&1 == 0 {
			continue
		}
		if load {
			f = m.armSet(n, m.load(at))
		} else {
			m.store(at, m.armGet(n))
		}
		at = at.plus(4)
	}
	return f
}

// armOne loads or stores one register: at base + n, or at base, which is then changed by n.
func (m *machine) armOne(rt, base uint32, n int64, load, whole, before, writes bool) flow {
	start := m.armGet(base)
	at := start
	if before {
		at = start.plus(n)
	}
	if writes {
		m.armSet(base, start.plus(n))
	}
	switch v := m.load(at); {
	case load && whole:
		return m.armSet(rt, v)
	case load:
		return m.armSet(rt, value{})
	case whole:
		m.store(at, m.armGet(rt))
	}
	return flow{}
}

// conditional makes what an instruction does uncertain: what it writes is not known after it. A
// return becomes one that may not happen.
func (m *machine) conditional(do func() flow) flow {
	before := m.state
	f := do()
	switch f.kind {
	case jump:
		m.state = before
		return flow{branch, f.target}
	case indirect:
		m.state = before
		if m.body { // addls pc, pc, r0, lsl #2: a switch
			return f
		}
		return flow{}
	case ret, stop:
		m.state = before
		return flow{}
	}
	for r := range m.regs {
		if m.regs[r] != before.regs[r] {
			m.regs[r] = value{}
		}
	}
	m.stored = before.stored
	return f
}

func (m *machine) armInstruction(at uint64, w uint32) flow {
	if cond := w >> 28; cond < 14 {
		return m.conditional(func() flow { return m.armInstruction(at, w&0x0fffffff|0xe0000000) })
	} else if cond == 15 {
		if w>>25 == 0x7d { // blx
			return m.armCall()
		}
		return flow{} // prefetch, barriers, vectors
	}
	rd, rn := w>>12&15, w>>16&15
	immediate := int64(armImmediate(w))
	load, writes, before, up := w>>20&1 != 0, w>>21&1 != 0, w>>24&1 != 0, w>>23&1 != 0
	switch {
	case w>>25&7 == 5: // b, bl
		if w>>24&1 != 0 {
			return m.armCall()
		}
		return flow{jump, m.arch.Mask(at + 8 + uint64(int64(int32(w<<8)>>6)))}
	case w&0x0ffffff0 == 0x012fff30: // blx
		return m.armCall()
	case w&0x0ffffff0 == 0x012fff10: // bx
		return m.armSet(15, m.armGet(w))
	case w>>25&7 == 4: // ldm, stm
		return m.armMany(rn, w, load, up, before, writes)
	case w>>26&3 == 1 && (w>>25&1 == 0 || w>>4&1 == 0): // ldr, str
		n := distance(w&0xfff, up)
		if w>>25&1 != 0 { // a register as distance
			if writes || !before {
				m.armSet(rn, value{})
			}
			if load {
				return m.armSet(rd, value{})
			}
			return flow{}
		}
		return m.armOne(rd, rn, n, load, w>>22&1 == 0, before, writes || !before)
	case w>>26&3 == 3: // vpush, vpop and their like; svc
		if w>>25&1 == 0 && rn == 13 && writes {
			m.armSet(13, m.armGet(13).plus(distance(w&0xff*4, up)))
		} else if load && w>>24&15 != 15 && w>>25&1 != 0 && w>>4&1 != 0 { // moves from the coprocessor
			m.armSet(rd, value{})
		}
		return flow{}
	case w&0x0fff0ff0 == 0x01a00000: // mov
		return m.armSet(rd, m.armGet(w))
	case w>>21&0x7f == 0x14: // add #
		return m.armSet(rd, m.armGet(rn).plus(immediate))
	case w>>21&0x7f == 0x12: // sub #
		return m.armSet(rd, m.armGet(rn).plus(-immediate))
	case w>>21&0x7f == 0x1e && rd == 13 && rn == 13: // bic sp, sp, #
		return m.armSet(13, m.align(m.armGet(13)))
	case w>>26&3 == 0 && w>>23&3 == 2 && w>>20&1 != 0 && w>>25&1 != 0, // tst, teq, cmp, cmn
		w>>26&3 == 0 && w>>23&3 == 2 && w>>20&1 != 0 && w>>4&9 != 9:
		return flow{}
	case w>>25&7 == 0 && w>>4&9 == 9 && w>>5&3 != 0: // ldrh, ldrd and their like
		if writes && before || !before {
			m.armSet(rn, value{})
		}
		m.armSet(rd, value{})
		if w>>20&1 == 0 && w>>6&1 != 0 {
			m.armSet(rd+1, value{})
		}
		return flow{}
	case w>>25&7 == 0 && w>>4&9 == 9: // multiplications
		m.armSet(rn, value{})
		m.armSet(rd, value{})
		return flow{}
	}
	return m.armSet(rd, value{})
}

// armImmediate returns an operand of 8 bits, rotated right by twice the 4 bits above.
func armImmediate(w uint32) uint32 { return bits.RotateLeft32(w&0xff, -int(w>>8&15*2)) }

func (m *machine) thumbInstruction(at uint64, w uint32) flow {
	to := func(n int32) uint64 { return m.arch.Mask(at + 4 + uint64(int64(n))) }
	low := w & 7
	switch {
	case w>>9 == 0x5a: // push
		return m.armMany(13, w&0xff|w<<6&0x4000, false, false, true, true)
	case w>>9 == 0x5e: // pop
		return m.armMany(13, w&0xff|w<<7&0x8000, true, true, false, true)
	case w>>8 == 0xb0: // add, sub sp
		return m.armSet(13, m.armGet(13).plus(distance(w&0x7f*4, w&0x80 == 0)))
	case w>>11 == 0x15: // add rd, sp, #
		return m.armSet(w>>8&7, m.armGet(13).plus(int64(w&0xff)*4))
	case w>>11 == 0x12, w>>11 == 0x13: // str, ldr relative to sp
		return m.armOne(w>>8&7, 13, int64(w&0xff)*4, w>>11 == 0x13, true, true, false)
	case w>>8 == 0x46: // mov
		return m.armSet(w&7|w>>4&8, m.armGet(w>>3))
	case w>>8 == 0x44: // add
		return m.armSet(w&7|w>>4&8, value{})
	case w>>8 == 0x45, w>>11 == 5, w>>6 == 0x10a, w>>6 == 0x10b, w>>6 == 0x108: // cmp, cmn, tst
		return flow{}
	case w>>7 == 0x8f: // blx
		return m.armCall()
	case w>>7 == 0x8e: // bx
		return m.armSet(15, m.armGet(w>>3))
	case w>>12 == 0xd:
		if w>>9 == 0x6f { // svc, udf
			return flow{kind: map[bool]flowKind{true: next, false: stop}[w>>8&1 != 0]}
		}
		return flow{branch, to(int32(w<<24) >> 23)}
	case w>>11 == 0x1c:
		return flow{jump, to(int32(w<<21) >> 20)}
	case w>>8&0xf5 == 0xb1: // cbz, cbnz
		return flow{branch, to(int32(w>>3&0x1f<<1 | w>>9&1<<6))}
	case w>>8 == 0xbf: // it: what it makes conditional is taken as done, or not, alike
		return flow{}
	case w>>12 == 0xc: // ldm, stm
		return m.armMany(w>>8&7, w&0xff, w>>11&1 != 0, true, false, true)
	case w>>12 == 6, w>>12 == 7, w>>12 == 8: // ldr, str with an immediate
		if w>>12 == 6 {
			return m.armOne(low, w>>3&7, int64(w>>6&0x1f)*4, w>>11&1 != 0, true, true, false)
		}
		if w>>11&1 != 0 {
			return m.armSet(low, value{})
		}
		return flow{}
	case w>>12 == 5: // with a register
		if w>>9&7 > 2 {
			return m.armSet(low, value{})
		}
		return flow{}
	case w>>13 == 1, w>>11 == 0x14, w>>11 == 9: // mov #, add #, sub #, adr, ldr literal
		return m.armSet(w>>8&7, value{})
	case w>>8 == 0xbe: // bkpt
		return flow{kind: stop}
	}
	return m.armSet(low, value{})
}

// thumbSet writes the result of data processing; number 15 is nothing: a comparison.
func (m *machine) thumbSet(rd uint32, v value) flow {
	if rd == 15 {
		return flow{}
	}
	return m.armSet(rd, v)
}

// thumb32 is an instruction of two halves.
func (m *machine) thumb32(at uint64, a, b uint32) flow {
	rn, rt := a&15, b>>12
	load := a>>4&1 != 0
	switch {
	case a>>9 == 0x74 && a>>6&1 == 0: // ldm, stm: e8 or e9, writes in bit 5
		return m.armMany(rn, b, load, a>>8&1 == 0, a>>8&1 != 0, a>>5&1 != 0)
	case a>>9 == 0x74 && (a>>8&1 != 0 || a>>5&1 != 0): // ldrd, strd
		n := distance(b&0xff*4, a>>7&1 != 0)
		before, writes := a>>8&1 != 0, a>>5&1 != 0
		start := m.armGet(rn)
		if load {
			m.armOne(rt, rn, n, true, true, before, false)
			m.armSet(b>>8, value{})
		} else {
			v := start
			if before {
				v = start.plus(n)
			}
			m.store(v, m.armGet(rt))
			m.store(v.plus(4), m.armGet(b>>8))
		}
		if writes {
			m.armSet(rn, start.plus(n))
		}
		return flow{}
	case a>>9 == 0x74: // exclusives, tbb
		if a>>4 == 0xe8d {
			return flow{kind: indirect}
		}
		m.armSet(rt, value{})
		return m.armSet(b&15, value{})
	case a>>9 == 0x7c: // f8, f9: one register
		whole := a>>5&3 == 2
		switch {
		case a>>7&1 != 0: // twelve bits
			return m.armOne(rt, rn, int64(b&0xfff), load, whole, true, false)
		case b>>11&1 != 0: // eight bits
			return m.armOne(rt, rn, distance(b&0xff, b>>9&1 != 0), load, whole, b>>10&1 != 0, b>>8&1 != 0)
		case load:
			return m.armSet(rt, value{})
		}
		return flow{}
	case a>>11 == 0x1e && b>>15 == 0: // data processing with an immediate
		rd := b >> 8 & 15
		n := int64(b&0xff | b>>4&0x700 | a<<1&0x800)
		if a>>9&1 == 0 {
			n = int64(thumbImmediate(uint32(n)))
		}
		switch a >> 4 & 0x3f &^ 1 {
		case 0x10, 0x20: // add
			return m.thumbSet(rd, m.armGet(rn).plus(n))
		case 0x1a, 0x2a: // sub
			return m.thumbSet(rd, m.armGet(rn).plus(-n))
		case 0x02: // bic
			if rd == 13 {
				return m.armSet(rd, m.align(m.armGet(rn)))
			}
		}
		return m.thumbSet(rd, value{})
	case a>>11 == 0x1e && b>>14 == 3, a>>11 == 0x1e && b>>14 == 2 && b>>12&1 != 0: // bl, blx, b
		s := int32(a<<21) >> 31
		i1, i2 := ^(int32(b>>13)^s)&1, ^(int32(b>>11)^s)&1
		far := s<<24 | i1<<23 | i2<<22 | int32(a&0x3ff)<<12 | int32(b&0x7ff)<<1
		if b>>14 == 3 {
			return m.armCall()
		}
		return flow{jump, m.arch.Mask(at + 4 + uint64(int64(far)))}
	case a>>11 == 0x1e && a>>7&7 != 7: // b with a condition
		far := int32(a<<21)>>31<<20 | int32(b>>11&1)<<19 | int32(b>>13&1)<<18 | int32(a&0x3f)<<12 | int32(b&0x7ff)<<1
		return flow{branch, m.arch.Mask(at + 4 + uint64(int64(far)))}
	case a>>11 == 0x1e: // hints, barriers, mrs
		if a>>5 == 0x79f>>0 {
			m.armSet(b>>8, value{})
		}
		return flow{}
	case a>>10&0xf == 0xb || a>>8&0xec == 0xec: // coprocessors: vpush, vpop
		if rn == 13 && a>>5&1 != 0 && a>>9&1 == 0 {
			m.armSet(13, m.armGet(13).plus(distance(b&0xff*4, a>>7&1 != 0)))
		} else if load && a>>9&1 != 0 && b>>4&1 != 0 {
			m.armSet(rt, value{})
		}
		return flow{}
	case a>>9 == 0x75: // data processing with registers
		rd := b >> 8 & 15
		if a&0xffef == 0xea4f && b&0x70f0 == 0 {
			return m.thumbSet(rd, m.armGet(b))
		}
		return m.thumbSet(rd, value{})
	case a>>8 == 0xfb: // multiplications
		m.armSet(rt, value{})
		return m.armSet(b>>8, value{})
	case a>>8 == 0xfa:
		return m.armSet(b>>8, value{})
	}
	return flow{kind: stop}
}

// thumbImmediate returns a constant of 12 bits: a byte that is repeated, or one that is rotated.
func thumbImmediate(n uint32) uint32 {
	b := n & 0xff
	switch n >> 8 {
	case 0:
		return b
	case 1:
		return b<<16 | b
	case 2:
		return b<<24 | b<<8
	case 3:
		return b<<24 | b<<16 | b<<8 | b
	}
	return bits.RotateLeft32(0x80|n&0x7f, -int(n>>7))
}
