package framecode

import (
	"encoding/binary"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/disasm"
)

// x86Reg is the general register that an operand is a part of. whole: it is all of it.
func (m *machine) x86Reg(arg x86asm.Arg) (r cpu.Reg, whole bool) {
	reg, _ := arg.(x86asm.Reg)
	o, ok := disasm.PartX86(m.arch, reg)
	if !ok {
		return cpu.NoReg, false
	}
	return o.Reg, o.Bits == 8*m.arch.WordSize
}

// x86Address is the address of a memory operand, if it is a register and a distance.
func (m *machine) x86Address(mem x86asm.Mem) value {
	r, whole := m.x86Reg(mem.Base)
	if !whole || mem.Index != 0 || mem.Segment == x86asm.FS || mem.Segment == x86asm.GS {
		return value{}
	}
	return m.get(r).plus(mem.Disp)
}

// x86Value is the value of an operand of a word's size.
func (m *machine) x86Value(arg x86asm.Arg, size int) value {
	if mem, ok := arg.(x86asm.Mem); ok && size == m.arch.WordSize {
		return m.load(m.x86Address(mem))
	}
	if r, whole := m.x86Reg(arg); whole {
		return m.get(r)
	}
	return value{}
}

// x86Write writes to an operand.
func (m *machine) x86Write(arg x86asm.Arg, v value) {
	if mem, ok := arg.(x86asm.Mem); ok {
		m.store(m.x86Address(mem), v)
		return
	}
	r, whole := m.x86Reg(arg)
	if !whole {
		v = value{}
	}
	m.set(r, v)
}

// x86Plain are common instructions that write their first operand and nothing else.
var x86Plain = map[x86asm.Op]bool{x86asm.NEG: true, x86asm.NOT: true, x86asm.OR: true, x86asm.XOR: true, x86asm.SHL: true, x86asm.SHR: true, x86asm.SAR: true,
	x86asm.ROL: true, x86asm.ROR: true, x86asm.ADC: true, x86asm.SBB: true, x86asm.IMUL: true, x86asm.MOVZX: true, x86asm.MOVSX: true, x86asm.MOVSXD: true}

// decodeX86 does one instruction of amd64 or x86.
//
// Source: Intel, Software Developer's Manual, volume 2.
func decodeX86(m *machine, at uint64, code []byte) (int, flow) {
	i, ok := disasm.DecodeX86(code, 8*m.arch.WordSize)
	switch {
	case !ok:
		return 0, flow{}
	case i.Vector: // its first operand may be a general register, and mulx' second
		m.x86Write(i.Args[0], value{})
		if i.Op == x86asm.MULX {
			m.x86Write(i.Args[1], value{})
		}
		return i.Len, flow{}
	}
	w := int64(m.arch.WordSize)
	size := i.MemBytes
	if size == 0 {
		size = i.DataSize / 8
	}
	target := func() (uint64, bool) {
		rel, ok := i.Args[0].(x86asm.Rel)
		return m.arch.Mask(at + uint64(i.Len) + uint64(int64(rel))), ok
	}
	regs := disasm.RegistersX86[m.arch]
	switch i.Op {
	case x86asm.PUSH:
		if i.DataSize == 16 {
			m.move(-2)
			break
		}
		m.push(m.x86Value(i.Args[0], int(w)))
	case x86asm.POP:
		if v := m.pop(); i.DataSize != 16 {
			m.x86Write(i.Args[0], v)
		} else {
			m.set(m.arch.SP, value{})
		}
	case x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ:
		m.push(value{})
	case x86asm.POPF, x86asm.POPFD, x86asm.POPFQ:
		m.pop()
	case x86asm.PUSHA, x86asm.PUSHAD, x86asm.POPA, x86asm.POPAD, x86asm.ENTER:
		m.set(m.arch.SP, value{})
	case x86asm.MOV:
		m.x86Write(i.Args[0], m.x86Value(i.Args[1], size))
	case x86asm.LEA:
		v := value{}
		if mem, ok := i.Args[1].(x86asm.Mem); ok {
			v = m.x86Address(mem)
		}
		m.x86Write(i.Args[0], v)
	case x86asm.ADD, x86asm.SUB:
		v := m.x86Value(i.Args[0], size)
		n, ok := i.Args[1].(x86asm.Imm)
		switch {
		case !ok:
			v = value{}
		case i.Op == x86asm.SUB:
			v = v.plus(-int64(int32(n)))
		default:
			v = v.plus(int64(int32(n)))
		}
		m.x86Write(i.Args[0], v)
	case x86asm.INC, x86asm.DEC:
		m.x86Write(i.Args[0], value{})
	case x86asm.AND:
		v := value{}
		if n, ok := i.Args[1].(x86asm.Imm); ok && int32(n) < 0 {
			if r, whole := m.x86Reg(i.Args[0]); whole && r == m.arch.SP {
				v = m.align(m.get(r))
			}
		}
		m.x86Write(i.Args[0], v)
	case x86asm.LEAVE:
		m.set(m.arch.SP, m.get(m.arch.FP))
		m.set(m.arch.FP, m.pop())
	case x86asm.RET:
		m.set(m.arch.PC, m.pop())
		if n, ok := i.Args[0].(x86asm.Imm); ok {
			m.move(int64(n))
		}
		return i.Len, flow{kind: ret}
	case x86asm.CALL:
		to, direct := target()
		if direct && to == at+uint64(i.Len) { // call 1f; 1: pop
			m.push(value{})
			return i.Len, flow{}
		}
		if r, ok := m.pcThunk(to, direct); ok {
			m.set(r, value{})
			return i.Len, flow{}
		}
		for _, r := range regs {
			if r != cpu.NoReg && r != m.arch.SP && m.scratch(r) {
				m.set(r, value{})
			}
		}
		m.x86Called(at+uint64(i.Len), to, direct)
		return i.Len, flow{kind: call}
	case x86asm.JMP:
		if to, ok := target(); ok {
			return i.Len, flow{jump, to}
		}
		return i.Len, flow{kind: indirect}
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JCXZ, x86asm.JE, x86asm.JECXZ, x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE, x86asm.JNE,
		x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP, x86asm.JRCXZ, x86asm.JS, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		to, ok := target()
		if !ok {
			return 0, flow{}
		}
		return i.Len, flow{branch, to}
	case x86asm.UD1, x86asm.UD2, x86asm.HLT, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LRET, x86asm.LJMP, x86asm.SYSRET, x86asm.SYSEXIT:
		return i.Len, flow{kind: stop}
	case x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.BT, x86asm.UCOMISS, x86asm.UCOMISD, x86asm.COMISS, x86asm.COMISD, x86asm.PREFETCHT0, x86asm.PREFETCHNTA:
	case x86asm.BTS, x86asm.BTR:
		// Swift's async functions mark the frame pointer that they save, by bit 60.
		if n, ok := i.Args[1].(x86asm.Imm); !ok || n != 60 || i.Args[0] != x86asm.RBP {
			m.x86Write(i.Args[0], value{})
		}
	case x86asm.XCHG, x86asm.XADD:
		m.x86Write(i.Args[0], value{})
		m.x86Write(i.Args[1], value{})
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ, x86asm.LODSB, x86asm.LODSW, x86asm.LODSD,
		x86asm.LODSQ, x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ:
		for _, n := range [...]int{0, 1, 6, 7} {
			m.set(regs[n], value{})
		}
	default:
		m.x86Write(i.Args[0], value{})
		if r, ok := i.Args[0].(x86asm.Reg); ok && r >= x86asm.F0 && r <= x86asm.X15 {
			m.set(regs[1], value{}) // of pcmpistri; no other writes a general register
			break
		}
		if x86Plain[i.Op] && (i.Op != x86asm.IMUL || i.Args[1] != nil) {
			break
		}
		// rax, rdx, and rbx of cpuid: what instructions write without naming it.
		for _, n := range [...]int{0, 1, 2} {
			m.set(regs[n], value{})
		}
		if i.Op == x86asm.CPUID {
			m.set(regs[3], value{})
		}
	}
	return i.Len, flow{}
}

// pcThunk returns the register to which a callee of 32-bit x86 copies its return address, where that
// is all it does, and a register that other calls may change has an address in the frame. GCC keeps
// the caller's stack pointer in ecx while it aligns the stack, also over such a call.
func (m *machine) pcThunk(callee uint64, direct bool) (cpu.Reg, bool) {
	regs := disasm.RegistersX86[m.arch]
	if !direct || m.get(regs[0]).kind != sum && m.get(regs[1]).kind != sum && m.get(regs[2]).kind != sum {
		return cpu.NoReg, false
	}
	f, ok := m.callee(callee)
	if !ok || !IsPCThunk(m.arch, f.Code) {
		return cpu.NoReg, false
	}
	return regs[f.Code[1]>>3], true
}

// IsPCThunk reports whether a function of 32-bit x86 copies its return address to a register and does
// nothing else. 32-bit programs that run at any address ask for their own that way.
//
//	8b 1c 24   mov (%esp), %ebx, or another register
//	c3         ret
func IsPCThunk(arch *cpu.Arch, c []byte) bool {
	return arch == cpu.X86 && len(c) >= 4 && c[0] == 0x8b && c[1]&0xc7 == 4 && c[2] == 0x24 && c[3] == 0xc3
}

// x86Called is what a call has done to the stack pointer, at its return address. On 32-bit x86 the
// callee may have taken its arguments from the stack. A caller's frame is as it is before that.
func (m *machine) x86Called(to, callee uint64, direct bool) {
	sp := m.get(m.arch.SP)
	n, known := m.taken[to]
	if m.drifts && m.asks && direct {
		if n, known = m.takes(callee); known {
			m.taken[to] = n
		}
	}
	switch {
	case m.arch.WordSize == 8, m.returned && to == m.pc:
	case known:
		m.move(n)
	case m.drifts && sp.kind == sum && (sp.base == m.arch.SP || sp.base == drifted):
		m.set(m.arch.SP, value{sum, drifted, sp.off})
	default:
		m.set(m.arch.SP, value{})
	}
}

// takes is how many bytes of the stack a function takes when it returns: c3 is "ret", c2 "ret n".
func (m *machine) takes(callee uint64) (n int64, known bool) {
	f, ok := m.callee(callee)
	if !ok {
		return 0, false
	}
	c := machine{arch: m.arch, order: m.order, decode: m.decode}
	c.follow(&f, m.steps, func(p *place) bool {
		if !f.has(p.at) {
			return true
		}
		code := f.Code[p.at-f.Start:]
		if len(code) >= 2 && code[0]&0xfe == 0xf2 { // a prefix
			code = code[1:]
		}
		switch {
		case code[0] == 0xc3:
			known = true
		case code[0] == 0xc2 && len(code) >= 3:
			n, known = int64(binary.LittleEndian.Uint16(code[1:])), true
		}
		return !known
	})
	return n, known
}

// scratch reports whether calls may change a register.
func (m *machine) scratch(r cpu.Reg) bool {
	return !slices.Contains(m.arch.CalleeSaved, r)
}
