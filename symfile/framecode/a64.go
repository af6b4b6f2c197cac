package framecode

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// decodeA64 does one instruction of arm64.
//
// Source: Arm Architecture Reference Manual, C4.1 (encodings), by the bits 25 to 28 that group
// them.
func decodeA64(m *machine, at uint64, code []byte) (int, flow) {
	if len(code) < 4 {
		return 0, flow{}
	}
	w := binary.LittleEndian.Uint32(code)
	switch group := w >> 25 & 0xf; {
	case group == 8, group == 9:
		m.a64Immediate(w)
	case group == 10, group == 11:
		return 4, m.a64Branch(at, w)
	case group&5 == 4:
		m.a64Memory(w)
	case group == 5, group == 13:
		m.a64Register(w)
	case group == 7, group == 15:
		// Floating point and vectors change x registers by conversions and by moves to them.
		toVector := w>>16&7 == 2 || w>>16&7 == 3 || w>>16&7 == 7
		if w&0x5f20fc00 == 0x1e200000 && !toVector || w&0x5f200000 == 0x1e000000 && !toVector || w&0xbfe0dc00 == 0x0e002c00 {
			m.set(a64Reg(w, zero), value{})
		}
	case group == 2:
		m.a64Scalable(w)
	default:
		return 4, flow{kind: stop}
	}
	return 4, flow{}
}

// a64Reg is the register in the lowest five bits. What number 31 is depends on the instruction: sp,
// or zero.
func a64Reg(n uint32, number31 cpu.Reg) cpu.Reg {
	if n &= 31; n != 31 {
		return cpu.Reg(n) // the table's order: x0 to x28, fp, lr
	}
	return number31
}

// a64Immediate: add and sub with an immediate, and with sp; and, or of other constants.
//
//	sf op 100010 sh imm12 Rn Rd
func (m *machine) a64Immediate(w uint32) {
	sp := m.arch.SP
	switch {
	case w>>23&0x3f == 0x22: // add, sub; with flags, number 31 is nothing
		n := int64(w >> 10 & 0xfff << (w >> 22 & 1 * 12))
		if w>>30&1 != 0 {
			n = -n
		}
		v := m.get(a64Reg(w>>5, sp)).plus(n)
		if w>>31 == 0 {
			v = value{}
		}
		if w>>29&1 != 0 {
			m.set(a64Reg(w, zero), value{})
		} else {
			m.set(a64Reg(w, sp), v)
		}
	case w == 0xb24403bd, w == 0x9243fbbd: // Swift's async functions mark the frame pointer that they save, by bit 60
	case w>>23&0x3f == 0x24 && w>>29&3 == 0: // and, which aligns sp
		v := value{}
		if d := a64Reg(w, sp); d == sp {
			v = m.align(m.get(a64Reg(w>>5, zero)))
		}
		m.set(a64Reg(w, sp), v)
	case w>>23&0x3f == 0x24 && w>>29&3 != 3:
		m.set(a64Reg(w, sp), value{})
	default:
		m.set(a64Reg(w, zero), value{})
	}
}

// a64Register: data processing with registers. Moves of a whole register and additions to sp are
// followed.
func (m *machine) a64Register(w uint32) {
	sp := m.arch.SP
	switch {
	case w&0xffe0ffe0 == 0xaa0003e0: // mov xd, xm
		m.set(a64Reg(w, zero), m.get(a64Reg(w>>16, zero)))
	case w&0xffffc000 == 0xdac10000, w&0xfffffbe0 == 0xdac143e0: // pacia and its like sign an address or take its signature off, as xpaci
	case w&0x1fe00000 == 0x0b200000 && w>>29&1 == 0: // add, sub with an extended register
		m.set(a64Reg(w, sp), value{})
	case w&0x3fe00c10 == 0x3a400000, w&0x3fe00c10 == 0x3a400800: // ccmn, ccmp
	default:
		m.set(a64Reg(w, zero), value{})
	}
}

// a64Scalable: of SVE's instructions those that write an x register: counts of elements and of
// predicates, multiples of the vector's size, an element of a vector.
func (m *machine) a64Scalable(w uint32) {
	bit21 := w>>21&1 != 0
	switch {
	case w>>24 == 4 && bit21 && w>>12&0xf == 5: // addvl, addpl, rdvl
		m.set(a64Reg(w, m.arch.SP), value{})
	case w>>24 == 4 && bit21 && w>>13&7 == 7, // cntb, incb and their like
		w>>24 == 0x25 && bit21 && w>>14&3 == 2, // cntp, incp
		w>>24 == 5 && bit21 && w>>13&7 == 5:    // lasta, clasta
		m.set(a64Reg(w, zero), value{})
	}
}

// a64Branch: branches, calls, returns, and the system's instructions.
func (m *machine) a64Branch(at uint64, w uint32) flow {
	to := func(bits, low int) uint64 {
		return at + uint64(int64(int32(w<<(32-bits-low)))>>(32-bits)<<2)
	}
	switch {
	case w>>26 == 5:
		return flow{jump, to(26, 0)}
	case w>>26 == 0x25, w&0xfffffc1f == 0xd63f0000, w&0xfefff800 == 0xd63f0800:
		if w>>26 == 0x25 && m.outlined(at+4, to(26, 0)) {
			return flow{}
		}
		// If nothing but such a register has the return address, the callee does not change it: it is
		// code that the compiler has outlined from functions.
		kept := m.entry.regs[m.arch.LR]
		if _, ok := m.where(m.arch.LR, 0); ok && m.get(m.arch.LR) != kept {
			kept = value{}
		}
		for r := cpu.Reg(0); r <= 18; r++ {
			if v := m.get(r); v.kind == unknown || v != kept {
				m.set(r, value{})
			}
		}
		m.set(m.arch.LR, value{})
		return flow{kind: call}
	case w>>24 == 0x54, w>>25&0x3f == 0x1a: // b.cond, cbz, cbnz
		return flow{branch, to(19, 5)}
	case w>>25&0x3f == 0x1b: // tbz, tbnz
		return flow{branch, to(14, 5)}
	case w == 0xd65f0bff, w == 0xd65f0fff, w&0xfffffc1f == 0xd65f0000: // retaa, retab, ret
		r := m.arch.LR
		if w>>10&3 == 0 {
			r = a64Reg(w>>5, zero)
		}
		m.set(m.arch.PC, m.get(r))
		return flow{kind: ret}
	case w>>25 == 0x6b: // br and its like
		return flow{kind: indirect}
	case w>>24 == 0xd4: // svc goes on, brk and hlt do not
		if w&0xffe0001f == 0xd4000001 {
			m.set(0, value{})
			return flow{}
		}
		return flow{kind: stop}
	case w == 0xd503233f: // paciasp
		m.signed = unwind.KeyA
	case w == 0xd503237f: // pacibsp
		m.signed = unwind.KeyB
	case w == 0xd50323bf, w == 0xd50323ff, w == 0xd50320ff: // autiasp, autibsp, xpaclri
		m.signed = unwind.NotSigned
	case w>>20 == 0xd53: // mrs
		m.set(a64Reg(w, zero), value{})
	}
	return flow{}
}

// outlined does the instructions of a callee that the compiler has outlined from prologues and
// epilogues: they save registers and move the stack pointer. Such a function runs straight to its
// return, and its caller keeps its own return address in a register. From a return address the rules
// are those before the call.
func (m *machine) outlined(after, callee uint64) bool {
	inRegister := false
	for r := cpu.Reg(0); r <= 18; r++ {
		inRegister = inRegister || m.get(r) == m.entry.regs[m.arch.LR]
	}
	if m.called == nil || m.inCallee || !inRegister || m.returned && after == m.pc {
		return false
	}
	f, ok := m.callee(callee)
	before := m.state
	m.inCallee = true
	defer func() { m.inCallee = false }()
	m.set(m.arch.LR, value{})
	for at := f.Start; ok && f.has(at) && at-f.Start < MaxEpilogue && *m.steps > 0; {
		*m.steps--
		n, to := m.decode(m, at, f.Code[at-f.Start:])
		if to.kind == ret {
			return true
		}
		ok = n > 0 && to.kind == next
		at += uint64(n)
	}
	m.state = before
	return false
}

// a64Memory: loads and stores. Those of 64 bits relative to an address on the stack are followed,
// and what they add to their base register.
func (m *machine) a64Memory(w uint32) {
	rt, rn := a64Reg(w, zero), a64Reg(w>>5, m.arch.SP)
	vector := w>>26&1 != 0
	base := m.get(rn)
	load := w>>22&1 != 0
	switch {
	case w>>27&7 == 5: // pairs: opc 101 V 0 mode L imm7 Rt2 Rn Rt
		size, mode := int64(4)<<(w>>31&1), w>>23&3
		if vector {
			size = 4 << (w >> 30 & 3)
		}
		n := int64(int32(w<<10)>>25) * size
		address := base.plus(n)
		if mode == 1 { // after the access
			address = base
		}
		if !vector {
			whole := w>>30 == 2
			m.access(rt, address, load, whole)
			m.access(a64Reg(w>>10, zero), address.plus(size), load, whole)
		}
		if mode == 1 || mode == 3 {
			m.set(rn, base.plus(n))
		}
	case w>>22 == 0x3e6, w>>21 == 0x7c4: // prefetch: prfm, prfum
	case w>>27&7 == 7: // one register
		load = w>>22&3 != 0
		whole := w>>30 == 3 && w>>22&3 < 2
		switch {
		case w>>24&1 != 0: // an unsigned distance
			if !vector {
				m.access(rt, base.plus(int64(w>>10&0xfff)<<(w>>30)), load, whole)
			}
		case w>>21&1 == 0: // a signed one; with bit 10 the base register changes
			n := int64(int32(w<<11) >> 23)
			address := base.plus(n)
			if w>>10&3 == 1 {
				address = base
			}
			if !vector {
				m.access(rt, address, load, whole)
			}
			if w>>10&1 != 0 {
				m.set(rn, base.plus(n))
			}
		case !vector: // a register as distance, and atomic operations
			m.set(rt, value{})
		}
	case w>>27&7 == 3: // literals, and tags
		if !vector {
			m.set(rt, value{})
		}
	case !vector: // exclusives
		m.set(rt, value{})
		m.set(a64Reg(w>>16, zero), value{})
		m.set(a64Reg(w>>10, zero), value{})
	case w>>23&1 != 0: // vectors that change their base register
		m.set(rn, value{})
	}
}
