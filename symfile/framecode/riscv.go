package framecode

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
)

// decodeRISCV does one instruction of riscv, compressed ones too.
//
// Source: RISC-V unprivileged ISA, 2.2 (formats) and 27 (compressed instructions).
func decodeRISCV(m *machine, at uint64, code []byte) (int, flow) {
	if len(code) < 2 {
		return 0, flow{}
	}
	if code[0]&3 != 3 {
		return 2, m.riscvShort(at, uint32(binary.LittleEndian.Uint16(code)))
	}
	if len(code) < 4 {
		return 0, flow{}
	}
	w := binary.LittleEndian.Uint32(code)
	rd, rs := general(w>>7), general(w>>15)
	immediate := int64(int32(w) >> 20)
	word := uint32(2)
	if m.arch.WordSize == 8 {
		word = 3
	}
	switch w & 0x7f {
	case 0x13: // addi and other operations with an immediate
		v := value{}
		if w>>12&7 == 0 {
			v = m.get(rs).plus(immediate)
		}
		m.set(rd, v)
	case 0x03:
		m.access(rd, m.get(rs).plus(immediate), true, w>>12&7 == word)
	case 0x23:
		m.access(general(w>>20), m.get(rs).plus(int64(int32(w)>>25<<5|int32(w>>7&31))), false, w>>12&7 == word)
	case 0x6f:
		to := uint64(int64(int32(w)>>31<<20|int32(w&0xff000)|int32(w>>20&1<<11)|int32(w>>21&0x3ff<<1))) + at
		return 4, m.jumpAndLink(rd, flow{jump, m.arch.Mask(to)})
	case 0x67:
		if rd == zero && rs == m.arch.LR && immediate == 0 {
			return 4, m.returnToLink()
		}
		return 4, m.jumpAndLink(rd, flow{kind: indirect})
	case 0x63:
		to := uint64(int64(int32(w)>>31<<12|int32(w>>7&1<<11)|int32(w>>25&0x3f<<5)|int32(w>>8&15<<1))) + at
		return 4, flow{branch, m.arch.Mask(to)}
	case 0x27, 0x0f: // stores of floating-point numbers, fences
	case 0x07, 0x43, 0x47, 0x4b, 0x4f: // what writes those
	case 0x73:
		if w == 0x00100073 { // ebreak
			return 4, flow{kind: stop}
		}
		m.set(rd, value{})
	default:
		m.set(rd, value{})
	}
	return 4, flow{}
}

// jumpAndLink is a call if the jump keeps its address.
func (m *machine) jumpAndLink(link cpu.Reg, f flow) flow {
	if link == zero {
		return f
	}
	m.set(link, value{})
	m.forget()
	return flow{kind: call}
}

func (m *machine) returnToLink() flow {
	m.set(m.arch.PC, m.get(m.arch.LR))
	return flow{kind: ret}
}

// forget drops what a call may change.
func (m *machine) forget() {
	for r := range m.arch.Names {
		if r := cpu.Reg(r); r != m.arch.SP && m.scratch(r) {
			m.set(r, value{})
		}
	}
}

// riscvShort is a compressed instruction: two bits of quadrant and three of function.
func (m *machine) riscvShort(at uint64, w uint32) flow {
	sp := m.arch.SP
	long := m.arch.WordSize == 8
	rd, short, other := general(w>>7), general(w>>7&7|8), general(w>>2&7|8)
	signed := int64(int32(w<<19)>>31<<5 | int32(w>>2&31))
	switch w&3<<3 | w>>13 {
	case 0: // addi4spn
		if w == 0 {
			return flow{kind: stop}
		}
		m.set(other, m.get(sp).plus(int64(w>>11&3<<4|w>>7&15<<6|w>>6&1<<2|w>>5&1<<3)))
	case 2, 3: // lw, ld or flw
		if !long && w>>13 == 3 {
			return flow{}
		}
		n := int64(w>>10&7<<3 | w>>6&1<<2 | w>>5&1<<6)
		if long {
			n = int64(w>>10&7<<3 | w>>5&3<<6)
		}
		m.access(other, m.get(short).plus(n), true, long == (w>>13 == 3))
	case 6, 7: // sw, sd or fsw
		n := int64(w>>10&7<<3 | w>>6&1<<2 | w>>5&1<<6)
		if long {
			n = int64(w>>10&7<<3 | w>>5&3<<6)
		}
		if long == (w>>13 == 7) {
			m.store(m.get(short).plus(n), m.get(other))
		}
	case 8: // addi
		m.set(rd, m.get(rd).plus(signed))
	case 9: // addiw, jal
		if !long {
			return m.jumpAndLink(m.arch.LR, flow{})
		}
		m.set(rd, value{})
	case 11: // addi16sp, lui
		if rd != sp {
			m.set(rd, value{})
			break
		}
		m.move(int64(int32(w<<19)>>31<<9 | int32(w>>6&1<<4|w>>5&1<<6|w>>3&3<<7|w>>2&1<<5)))
	case 10:
		m.set(rd, value{})
	case 12:
		m.set(short, value{})
	case 13:
		to := int32(w<<19)>>31<<11 | int32(w>>11&1<<4|w>>9&3<<8|w>>8&1<<10|w>>7&1<<6|w>>6&1<<7|w>>3&7<<1|w>>2&1<<5)
		return flow{jump, m.arch.Mask(at + uint64(int64(to)))}
	case 14, 15:
		to := int32(w<<19)>>31<<8 | int32(w>>10&3<<3|w>>5&3<<6|w>>3&3<<1|w>>2&1<<5)
		return flow{branch, m.arch.Mask(at + uint64(int64(to)))}
	case 16: // slli
		m.set(rd, value{})
	case 18, 19: // lwsp, ldsp or flwsp
		if !long && w>>13 == 3 {
			return flow{}
		}
		n := int64(w>>12&1<<5 | w>>4&7<<2 | w>>2&3<<6)
		if long {
			n = int64(w>>12&1<<5 | w>>5&3<<3 | w>>2&7<<6)
		}
		m.access(rd, m.get(sp).plus(n), true, long == (w>>13 == 3))
	case 20:
		from := general(w >> 2)
		switch {
		case from == zero && w>>12&1 == 0 && rd == m.arch.LR:
			return m.returnToLink()
		case from == zero && w>>12&1 == 0:
			return flow{kind: indirect}
		case from == zero && rd == zero:
			return flow{kind: stop}
		case from == zero:
			return m.jumpAndLink(m.arch.LR, flow{})
		case w>>12&1 == 0: // mv
			m.set(rd, m.get(from))
		default:
			m.set(rd, value{})
		}
	case 22, 23: // swsp, sdsp or fswsp
		n := int64(w>>9&15<<2 | w>>7&3<<6)
		if long {
			n = int64(w>>10&7<<3 | w>>7&7<<6)
		}
		if long == (w>>13 == 7) {
			m.store(m.get(sp).plus(n), m.get(general(w>>2)))
		}
	}
	return flow{}
}
