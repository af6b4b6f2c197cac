package framecode

// decodeMIPS does one instruction of mips, and a branch with the instruction in its delay slot,
// which is done before the branch is taken. If that one is asked for, the branch is done alone.
//
// Source: MIPS64 Architecture, volume II. Fields: opcode, rs, rt, immediate or rd and a second
// opcode.
func decodeMIPS(m *machine, at uint64, code []byte) (int, flow) {
	if len(code) < 4 {
		return 0, flow{}
	}
	f := m.mipsInstruction(at, m.order.Uint32(code))
	if f.kind == next || f.kind == stop || at+4 == m.pc {
		if at+4 == m.pc {
			f = flow{}
		}
		return 4, f
	}
	if len(code) < 8 {
		return 0, flow{}
	}
	if d := m.mipsInstruction(at+4, m.order.Uint32(code[4:])); d.kind != next {
		return 0, flow{}
	}
	if f.kind == call {
		m.set(m.arch.LR, value{})
		m.forget()
	}
	return 8, f
}

func (m *machine) mipsInstruction(at uint64, w uint32) flow {
	rs, rt := general(w>>21), general(w>>16)
	n := int64(int16(w))
	long := m.arch.WordSize == 8
	near := m.arch.Mask(at + 4 + uint64(n*4))
	switch op := w >> 26; op {
	case 0:
		return m.mipsRegisters(w, long)
	case 1: // bltz, bgez, and those that link
		if w>>18&7 == 4 {
			return flow{kind: call}
		}
		return flow{branch, near}
	case 2:
		return flow{jump, (at+4)&^0xfffffff | uint64(w&0x3ffffff)<<2}
	case 3:
		return flow{kind: call}
	case 4, 20: // beq
		if w>>16&0x3ff == 0 {
			return flow{jump, near}
		}
		return flow{branch, near}
	case 5, 6, 7, 21, 22, 23:
		return flow{branch, near}
	case 8, 9, 24, 25: // addi, addiu, daddi, daddiu
		v := value{}
		if long == (op >= 24) {
			v = m.get(rs).plus(n)
		}
		m.set(rt, v)
	case 17, 18: // coprocessors
		switch w >> 21 & 31 {
		case 8: // bc1
			return flow{branch, near}
		case 0, 1, 2: // mfc1
			m.set(rt, value{})
		}
	case 35, 55: // lw, ld
		m.access(rt, m.get(rs).plus(n), true, long == (op == 55))
	case 43, 63: // sw, sd
		if long == (op == 63) {
			m.store(m.get(rs).plus(n), m.get(rt))
		}
	case 40, 41, 42, 44, 45, 46, 47, 49, 51, 53, 57, 61: // other stores, loads of floating-point numbers
	default:
		m.set(rt, value{})
	}
	return flow{}
}

// mipsRegisters are the operations of opcode 0.
func (m *machine) mipsRegisters(w uint32, long bool) flow {
	rs, rt, rd := general(w>>21), general(w>>16), general(w>>11)
	switch w & 0x3f {
	case 8: // jr
		if rs == m.arch.LR {
			return m.returnToLink()
		}
		return flow{kind: indirect}
	case 9: // jalr
		return flow{kind: call}
	case 0x0c: // syscall
		m.set(general(2), value{})
		m.set(general(7), value{})
	case 0x0d: // break
		return flow{kind: stop}
	case 0x21, 0x25, 0x2d: // addu, or, daddu; move
		v := value{}
		if rt == zero && (w&0x3f != 0x21 || !long) {
			v = m.get(rs)
		}
		m.set(rd, v)
	case 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x30, 0x31, 0x32, 0x33, 0x34, 0x36, 0x0f: // multiplications, traps, sync
	default:
		m.set(rd, value{})
	}
	return flow{}
}
