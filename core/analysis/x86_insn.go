package analysis

import (
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/crashpane/crashpane/core/disasm"
)

// x86Insn is a decoded instruction of x86 or amd64.
type x86Insn struct {
	disasm.X86
	mems   []x86asm.Mem // memory operands in order
	memArg []int        // index of each among the operands
	size   int          // size of each in bytes, or 0 if unknown
}

// decodeX86 decodes one instruction of 32- or 64-bit code, by mode. It returns nil if the bytes are
// incomplete or not a known instruction.
func decodeX86(p []byte, mode int) *x86Insn {
	i, ok := disasm.DecodeX86(p, mode)
	if !ok {
		return nil
	}
	x := &x86Insn{X86: i, size: x86MemSize(&i.Inst)}
	for n, a := range i.Args {
		if m, ok := a.(x86asm.Mem); ok {
			x.mems, x.memArg = append(x.mems, m), append(x.memArg, n)
		}
	}
	return x
}

// x86 decodes the instruction at pc and its effects.
//
// The order of the accesses matters: operands first, then the stack. x86Jump relies on it.
func (m *machine) x86(p []byte, mode int) *decoded {
	x := decodeX86(p, mode)
	if x == nil {
		return nil
	}
	in := &decoded{text: x.Text(m.pc), len: x.Len, x86: x}
	word := mode / 8
	for n, mem := range x.mems {
		kind := x.kind(n)
		if kind == noAccess {
			continue
		}
		in.add(m.x86Access(x, mem, kind))
	}
	m.x86Stack(x, in, word)
	m.x86Jump(x, in, word)
	op := x.Op
	in.division = op == x86asm.DIV || op == x86asm.IDIV
	in.privileged, in.refused = x.privileged(), x.refused()
	in.trap = op == x86asm.UD2 || op == x86asm.UD1 || op == x86asm.INT || op == x86asm.ICEBP || op == x86asm.HLT
	if in.division {
		switch a := x.Args[0].(type) {
		case x86asm.Reg:
			in.divisorName = regText(a)
			in.divisor, in.divisorKnown = m.x86Reg(a)
		case x86asm.Mem:
			if len(in.accesses) > 0 && in.accesses[0].AddressKnown {
				in.divisor, in.divisorKnown = m.d.Memory.Word(in.accesses[0].Address, x.size)
			}
		}
	}
	return in
}

// noAccess is the kind of a memory operand that the instruction does not access, such as that of
// lea.
const noAccess Kind = 0xff

// kind returns how the instruction accesses its n-th memory operand.
func (x *x86Insn) kind(n int) Kind {
	op := x.Op
	switch op {
	case x86asm.LEA, x86asm.NOP, x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHW,
		x86asm.INVLPG:
		return noAccess
	case x86asm.XCHG, x86asm.XADD:
		return ReadWrite
	}
	switch {
	case x.memArg[n] > 0 || op == x86asm.VLDMXCSR:
		return Read
	case x.Vector: // with three operands, none is read and written
		return Write
	}
	// Most instructions read and write their first operand. These only read it.
	switch op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.CALL, x86asm.JMP, x86asm.LCALL, x86asm.LJMP,
		x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.IMUL, x86asm.UCOMISS, x86asm.UCOMISD, x86asm.COMISS, x86asm.COMISD, x86asm.PTEST,
		x86asm.LDMXCSR, x86asm.FXRSTOR, x86asm.FXRSTOR64, x86asm.XRSTOR, x86asm.XRSTOR64, x86asm.LGDT, x86asm.LIDT, x86asm.LLDT, x86asm.LTR,
		x86asm.LMSW, x86asm.VERR, x86asm.VERW, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ, x86asm.XLATB, x86asm.CLFLUSH,
		x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ, x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ:
		return Read
	case x86asm.POP, x86asm.STMXCSR, x86asm.FXSAVE, x86asm.FXSAVE64, x86asm.SGDT, x86asm.SIDT, x86asm.SLDT, x86asm.STR, x86asm.SMSW,
		x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ, x86asm.INSB, x86asm.INSW, x86asm.INSD,
		x86asm.FST, x86asm.FSTP, x86asm.FIST, x86asm.FISTP, x86asm.FISTTP, x86asm.FBSTP, x86asm.FNSAVE, x86asm.FNSTENV, x86asm.FNSTCW, x86asm.FNSTSW,
		x86asm.EXTRACTPS, x86asm.PEXTRB, x86asm.PEXTRD, x86asm.PEXTRQ, x86asm.PEXTRW:
		return Write
	}
	s := op.String()
	switch {
	case strings.HasPrefix(s, "MOV"), strings.HasPrefix(s, "SET"), strings.HasPrefix(s, "XSAVE"):
		return Write
	// x87 instructions read their operand; those that store it are listed above.
	case s[0] == 'F':
		return Read
	}
	return ReadWrite
}

// x86Access computes the address of a memory operand.
//
//	address = segment base + (base + index · scale + displacement), the sum in brackets cut to the size of the registers
//
// Example: "mov rax, [rip + 0x2000]" of 7 bytes at 0x401000 reads at 0x403007.
func (m *machine) x86Access(x *x86Insn, mem x86asm.Mem, kind Kind) Access {
	a := Access{Size: x.size, Kind: kind, AddressKnown: true, Scale: mem.Scale, Offset: mem.Disp}
	mask := ^uint64(0)
	if x.Mode == 32 {
		mask = 0xffffffff
	}
	addrMask := mask // mask of the offset in the segment
	part := func(r x86asm.Reg) Register {
		if r == 0 {
			return Register{}
		}
		v, known := m.x86Reg(r)
		a.AddressKnown = a.AddressKnown && known
		if x86asm.EAX <= r && r <= x86asm.R15L || r == x86asm.EIP {
			addrMask = 0xffffffff
		}
		if x86asm.AX <= r && r <= x86asm.R15W {
			addrMask = 0xffff
		}
		return Register{regText(r), v}
	}
	a.Base, a.Index = part(mem.Base), part(mem.Index)
	a.Address = a.Base.Value + a.Index.Value*uint64(max(1, mem.Scale)) + uint64(mem.Disp)
	if mem.Base == x86asm.RIP || mem.Base == x86asm.EIP {
		a.Address += uint64(x.Len) // relative to the next instruction
	}
	a.Address &= addrMask
	if mem.Segment != 0 {
		base, known := m.segmentBase(x.Mode, mem.Segment)
		a.Address += base
		a.AddressKnown = a.AddressKnown && known
	}
	a.Address &= mask
	return a
}

// segmentBase returns the base of a segment, or false if it is unknown. Only fs and gs have another
// base than 0. A dump has it on Windows only, where one of them is the thread's TEB.
func (m *machine) segmentBase(mode int, s x86asm.Reg) (uint64, bool) {
	switch {
	case s != x86asm.FS && s != x86asm.GS:
		return 0, true
	case m.teb != 0 && (mode == 64) == (s == x86asm.GS):
		return m.teb, true
	}
	return 0, false
}

// x86Reg reads a general register or a part of one, or the program counter.
func (m *machine) x86Reg(r x86asm.Reg) (uint64, bool) {
	switch r {
	case x86asm.RIP:
		return m.pc, true
	case x86asm.EIP:
		return m.pc & 0xffffffff, true
	}
	o, ok := disasm.PartX86(m.arch, r)
	if !ok {
		return 0, false
	}
	v, ok := m.regs.Get(o.Reg)
	return o.Value(v), ok
}

// x86Stack adds the implicit accesses to the stack.
//
//	push rax        writes 8 bytes at rsp - 8
//	call f          writes the return address at rsp - 8
//	pop rax, ret    reads 8 bytes at rsp
//	leave           reads 8 bytes at rbp
func (m *machine) x86Stack(x *x86Insn, in *decoded, word int) {
	name, frame := "rsp", "rbp"
	if word == 4 {
		name, frame = "esp", "ebp"
	}
	size := word
	if x.DataSize == 16 {
		size = 2
	}
	implicit := func(kind Kind, reg string, offset int64) {
		v, ok := m.reg(reg)
		in.add(Access{Address: m.arch.Mask(v + uint64(offset)), AddressKnown: ok, Size: size, Kind: kind, Implicit: true,
			Base: Register{reg, v}, Offset: offset})
	}
	switch x.Op {
	case x86asm.PUSH, x86asm.CALL, x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ, x86asm.LCALL, x86asm.ENTER:
		if x.Op == x86asm.CALL {
			size = word
		}
		implicit(Write, name, -int64(size))
	case x86asm.PUSHA, x86asm.PUSHAD:
		size *= 8
		implicit(Write, name, -int64(size))
	case x86asm.POP, x86asm.RET, x86asm.LRET, x86asm.POPF, x86asm.POPFD, x86asm.POPFQ, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ:
		if x.Op == x86asm.RET {
			size = word
		}
		implicit(Read, name, 0)
	case x86asm.POPA, x86asm.POPAD:
		size *= 8
		implicit(Read, name, 0)
	case x86asm.LEAVE:
		implicit(Read, frame, 0)
	}
}

// x86Jump sets the target of a branch. It ignores conditional branches, because they depend on the
// flags.
func (m *machine) x86Jump(x *x86Insn, in *decoded, word int) {
	var j Jump
	switch x.Op {
	case x86asm.CALL:
		j.How = "call"
	case x86asm.JMP:
		j.How = "jump"
	case x86asm.RET, x86asm.IRETQ:
		j.How = "return"
	default:
		return
	}
	switch a := x.Args[0].(type) {
	case x86asm.Rel:
		j.Target = m.arch.Mask(m.pc + uint64(x.Len) + uint64(a))
		in.jump = &j
		return
	case x86asm.Reg:
		v, ok := m.x86Reg(a)
		if j.Register = (Register{regText(a), v}); ok {
			in.use(j.Register)
			j.Target = v
			in.jump = &j
		}
		return
	}
	// A return reads the top of the stack, which is the last access; calls and jumps read their
	// operand, which is the first.
	if len(in.accesses) == 0 || !in.accesses[0].AddressKnown {
		return
	}
	j.Slot, j.InMemory = in.accesses[0].Address, true
	if v, ok := m.d.Memory.Word(j.Slot, word); ok {
		j.Target = v
		in.jump = &j
	}
}
