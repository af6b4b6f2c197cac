package framecode

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
)

// decodeZ does one instruction of s390x, whose size is in its two upper bits.
//
// Source: z/Architecture Principles of Operation, chapter 7; appendix B has the formats.
func decodeZ(m *machine, at uint64, code []byte) (int, flow) {
	if len(code) < 2 {
		return 0, flow{}
	}
	n := [...]int{2, 4, 4, 6}[code[0]>>6]
	if len(code) < n {
		return 0, flow{}
	}
	var b [6]byte
	copy(b[:], code[:n])
	op, r1, r2 := b[0], cpu.Reg(b[1]>>4), cpu.Reg(b[1]&15)
	half := func(i int) int64 { return int64(int16(binary.BigEndian.Uint16(b[i:]))) }
	far := func() uint64 { return at + uint64(int64(int32(binary.BigEndian.Uint32(b[2:])))*2) }
	near := func() uint64 { return at + uint64(half(2)*2) }
	// A distance of twelve bits, with eight upper ones in instructions of six bytes.
	offset := int64(int32(b[2]&15)<<8|int32(b[3])) | int64(int8(b[4]))<<12
	base := value{}
	if b[2]>>4 != 0 {
		base = m.get(cpu.Reg(b[2] >> 4)).plus(offset)
	}
	if op == 0xe3 && r2 != 0 { // an index
		base = value{}
	}
	switch {
	case op == 0x07 && r1 == 15: // br
		if r2 == m.arch.LR {
			return n, m.returnToLink()
		}
		return n, flow{kind: indirect}
	case op == 0x07, op == 0x0a, op == 0x47 && r1 == 0: // nop; svc
	case op == 0x0d, op == 0x4d, op == 0xa7 && r2 == 5, op == 0xc0 && r2 == 5: // basr, bas, bras, brasl
		m.forget()
		m.set(m.arch.LR, value{})
		return n, flow{kind: call}
	case op == 0xa7 && r2 == 4, op == 0xc0 && r2 == 4: // brc, brcl
		to := near()
		if op == 0xc0 {
			to = far()
		}
		switch r1 {
		case 0:
			return n, flow{}
		case 15:
			return n, flow{jump, to}
		}
		return n, flow{branch, to}
	case op == 0xa7 && (r2 == 6 || r2 == 7): // brct, brctg
		m.set(r1, value{})
		return n, flow{branch, near()}
	case op == 0xec && (b[5] == 0x64 || b[5] == 0x65 || b[5] == 0x76 || b[5] == 0x77 || b[5] == 0x7c || b[5] == 0x7d || b[5] == 0x7e || b[5] == 0x7f): // compare and branch
		return n, flow{branch, near()}
	case op == 0xa7 && r2 == 0xb: // aghi
		m.set(r1, m.get(r1).plus(half(2)))
	case op == 0xa7 && (r2 == 0xe || r2 == 0xf || r2 < 4): // cghi, chi, tests
	case op == 0xe3 && b[5] == 0x71, op == 0x41: // lay, la
		if op == 0x41 && r2 != 0 {
			base = value{}
		}
		m.set(r1, base)
	case op == 0xe3 && b[5] == 0x24, op == 0xe3 && b[5] == 0x04: // stg, lg
		m.access(r1, base, b[5] == 0x04, true)
	case op == 0xeb && b[5] == 0x24, op == 0xeb && b[5] == 0x04: // stmg, lmg
		at := base
		for r := r1; ; r = (r + 1) & 15 {
			m.access(r, at, b[5] == 0x04, true)
			if r == r2 {
				break
			}
			at = at.plus(8)
		}
	case op == 0xb9 && b[1] == 0x04: // lgr
		m.set(cpu.Reg(b[3]>>4), m.get(cpu.Reg(b[3]&15)))
	case op == 0xb3 && b[1] == 0xc1: // ldgr
		m.set(zFloat(b[3]>>4), m.get(cpu.Reg(b[3]&15)))
	case op == 0xb3 && b[1] == 0xcd: // lgdr
		m.set(cpu.Reg(b[3]>>4), m.get(zFloat(b[3])))
	case op == 0xb9, op == 0xb2:
		m.set(cpu.Reg(b[3]>>4), value{})
	case op == 0xb3, op == 0xed, op>>4 == 2, op>>4 == 3: // floating point
		m.set(zFloat(b[1]>>4), value{})
		m.set(zFloat(b[3]>>4), value{})
	case op == 0xe3 && (b[5] == 0x50 || b[5] == 0x70 || b[5] == 0x72 || b[5]&0xf0 == 0x20 && b[5] != 0x24 || b[5] == 0x55 || b[5] == 0x59), // stores, comparisons
		op == 0x50, op == 0x40, op == 0x42, op == 0x60, op == 0x70, op == 0x90, op == 0x92, op == 0x95, op == 0x91, op>>4 == 0xd, op == 0xe5, op == 0xe7, op == 0x15, op == 0x19, op == 0x55, op == 0x59:
	case op == 0x00:
		return n, flow{kind: stop}
	default:
		m.set(r1, value{})
		if op == 0xec && b[5]&0xf0 == 0x50 {
			m.set(r2, value{})
		}
	}
	return n, flow{}
}

// zFloat is a floating-point register by its number; the table has them behind pc.
func zFloat(n byte) cpu.Reg { return cpu.S390X.PC + 1 + cpu.Reg(n&15) }
