package framecode

import (
	"encoding/binary"
)

// decodeLoongArch does one instruction of loongarch64.
//
// Source: LoongArch Reference Manual, volume 1, 2.2 and appendix B (instruction encodings); of the
// vector instructions, volume 2, those that write a general register.
func decodeLoongArch(m *machine, at uint64, code []byte) (int, flow) {
	if len(code) < 4 {
		return 0, flow{}
	}
	w := binary.LittleEndian.Uint32(code)
	rd, rj, rk := general(w), general(w>>5), general(w>>10)
	si12 := int64(int32(w<<10) >> 20)
	si14 := int64(int32(w<<8)>>18) * 4
	if w>>26 >= 0x10 && w>>26 <= 0x1b {
		return 4, m.loongArchJump(at, w)
	}
	switch w >> 22 {
	case 0x0b: // addi.d
		m.set(rd, m.get(rj).plus(si12))
		return 4, flow{}
	case 0x02: // bstrins.d; of zero into the lowest bits: the stack is aligned
		v := value{}
		if rj == zero && w>>10&0x3f == 0 {
			v = m.align(m.get(rd))
		}
		m.set(rd, v)
		return 4, flow{}
	case 0xa3: // ld.d
		m.set(rd, m.load(m.get(rj).plus(si12)))
		return 4, flow{}
	case 0xa7: // st.d
		m.store(m.get(rj).plus(si12), m.get(rd))
		return 4, flow{}
	case 0xa4, 0xa5, 0xa6: // smaller ones
		m.store(m.get(rj).plus(si12), value{})
		return 4, flow{}
	case 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1, 0xb2, 0xb3: // preld, and registers of floating-point numbers and vectors
		return 4, flow{}
	}
	switch w >> 24 {
	case 0x10, 0x11, 0x12, 0x13: // addu16i.d
		m.set(rd, m.get(rj).plus(int64(int32(w<<6)>>16)<<16))
	case 0x26: // ldptr.d
		m.set(rd, m.load(m.get(rj).plus(si14)))
	case 0x27: // stptr.d
		m.store(m.get(rj).plus(si14), m.get(rd))
	case 0x25: // stptr.w
		m.store(m.get(rj).plus(si14), value{})
	case 0x01, 0x30, 0x31, 0x32, 0x33, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d:
		if loongArchFromVector(w) {
			m.set(rd, value{})
		}
	default:
		switch op := w >> 15; {
		case op == 0x54: // break
			return 4, flow{kind: stop}
		case op == 0x2a && rk == zero: // move
			m.set(rd, m.get(rj))
		// Stores, and loads of other registers, at a sum of registers; barriers; the same with a bound.
		case op >= 0x7020 && op <= 0x7038 || op >= 0x7058 && op <= 0x7098 || op >= 0x70e4 && op <= 0x70ef || op >= 0x70f8 && op <= 0x70ff:
		default:
			m.set(rd, value{})
		}
	}
	return 4, flow{}
}

// loongArchFromVector: of the instructions for other registers, one that writes a general one.
func loongArchFromVector(w uint32) bool {
	switch w >> 10 {
	case 0x452d, 0x452e, 0x452f, 0x4532, 0x4537: // movfr2gr.s, .d, movfrh2gr.s, movfcsr2gr, movcf2gr
		return true
	}
	// vpickve2gr and xvpickve2gr
	return w>>16 == 0x72ef || w>>16 == 0x72f3 || w>>16 == 0x76ef || w>>16 == 0x76f3
}

// loongArchJump is a branch, a jump, a call or a return.
func (m *machine) loongArchJump(at uint64, w uint32) flow {
	rd, rj := general(w), general(w>>5)
	near := at + uint64(int64(int32(w<<6)>>16)*4)
	switch op := w >> 26; op {
	case 0x10, 0x11, 0x12: // beqz, bnez, bceqz and bcnez
		return flow{branch, at + uint64(int64(int32(w<<27)>>11|int32(w>>10&0xffff))*4)}
	case 0x13: // jirl
		if rd == zero && rj == m.arch.LR && near == at {
			return m.returnToLink()
		}
		return m.jumpAndLink(rd, flow{kind: indirect})
	case 0x14, 0x15: // b, bl
		link := zero
		if op == 0x15 {
			link = m.arch.LR
		}
		return m.jumpAndLink(link, flow{jump, at + uint64(int64(int32(w<<22)>>6|int32(w>>10&0xffff))*4)})
	}
	return flow{branch, near}
}
