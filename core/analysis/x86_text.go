package analysis

import (
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// x86Text formats an instruction like yaxpeax-x86 (long_mode/display.rs), whose text rust-minidump
// prints as "instruction": operands in Intel's order, "$+0x5" for branches, each index with its
// scale, signed immediates.
//
//	mov dword [rax + rcx * 1 - 0x8], -0x1
func x86Text(i *x86asm.Inst) string {
	name, args := x86Name(i), x86Args(i)
	if hasPrefix(i, x86asm.PrefixLOCK) {
		name = "lock " + name
	}
	if isString(i.Op) {
		switch {
		case hasPrefix(i, x86asm.PrefixREP):
			name = "rep " + name
		case hasPrefix(i, x86asm.PrefixREPN):
			name = "repnz " + name
		}
	}
	if len(args) == 0 {
		return name
	}
	return name + " " + strings.Join(args, ", ")
}

// x86Args returns the operands in yaxpeax's order, with those that x86asm omits.
func x86Args(i *x86asm.Inst) []string {
	var out []string
	mem := false
	for _, a := range i.Args {
		switch a := a.(type) {
		case x86asm.Reg:
			if i.Op == x86asm.MOVSXD && len(out) == 0 && x86asm.EAX <= a && a <= x86asm.R15L {
				a += x86asm.RAX - x86asm.EAX // without REX.W too
			}
			if i.Op == x86asm.MOVD && x86Name(i) == "movq" && x86asm.EAX <= a && a <= x86asm.R15L {
				a += x86asm.RAX - x86asm.EAX
			}
			if i.Op == x86asm.MOV && i.Opcode>>24 == 0x8e && len(out) == 1 {
				a = x86asm.AX + (a-x86asm.EAX)%(x86asm.RAX-x86asm.EAX) // a segment register has 16 bits
			}
			out = append(out, regText(i, a))
		case x86asm.Imm:
			out = append(out, immText(i, int64(a)))
		case x86asm.Rel:
			out = append(out, "$"+signed(int64(a), "+", "-"))
		case x86asm.Mem:
			mem = true
			out = append(out, sizeLabel(x86MemSize(i))+" "+memText(i, a))
		}
	}
	switch op := i.Opcode >> 24; {
	case i.Op == x86asm.NOP && !mem:
		return nil
	case i.Op == x86asm.XCHG && op > 0x90 && op <= 0x97 && len(out) == 2, // eax first
		i.Op >= x86asm.SCASB && i.Op <= x86asm.SCASW && len(out) == 2: // memory first
		out[0], out[1] = out[1], out[0]
	case isCompareString(i.Op) && len(out) == 2:
		// yaxpeax swaps the two registers, not the segments.
		out[0], out[1] = strings.Replace(out[0], "si]", "di]", 1), strings.Replace(out[1], "di]", "si]", 1)
	case op >= 0xd8 && op <= 0xdf && mem && len(out) == 1:
		switch s := i.Op.String(); {
		case s == "FST", s == "FSTP", s == "FIST", s == "FISTP", s == "FISTTP":
			return append(out, "st(0)")
		case s == "FLD", !strings.HasPrefix(s, "FLD") && s[0] == 'F' && !strings.HasPrefix(s, "FN") && !strings.Contains(s, "STOR") && !strings.Contains(s, "BLD") && !strings.Contains(s, "BSTP"):
			return []string{"st(0)", out[0]}
		}
	case op == 0xd9 && i.Op == x86asm.FLD && len(out) == 1:
		return []string{"st(0)", out[0]}
	}
	return out
}

func isCompareString(op x86asm.Op) bool {
	return op == x86asm.CMPSB || op == x86asm.CMPSW || op == x86asm.CMPSD || op == x86asm.CMPSQ
}

// conditions has the condition codes for which yaxpeax uses Intel's other name. SETcc has an
// exception of its own.
var conditions = map[string]string{"AE": "nb", "BE": "na", "E": "z", "NE": "nz"}

// x86Names has the other mnemonics that differ.
var x86Names = map[x86asm.Op]string{
	x86asm.LCALL: "callf", x86asm.LJMP: "jmpf", x86asm.LRET: "retf",
	x86asm.PUSHFQ: "pushf", x86asm.PUSHFD: "pushf", x86asm.POPFQ: "popf", x86asm.POPFD: "popf",
	x86asm.FWAIT: "wait", x86asm.PAUSE: "nop", x86asm.XLATB: "xlat",
	x86asm.MOVSD_XMM: "movsd", x86asm.CMPSD_XMM: "cmpsd",
	x86asm.LOOPE: "loopz", x86asm.LOOPNE: "loopnz",
	x86asm.FXSAVE64: "fxsave", x86asm.FXRSTOR64: "fxrstor",
	x86asm.XSAVE64: "xsave", x86asm.XRSTOR64: "xrstor", x86asm.XSAVEOPT64: "xsaveopt",
	x86asm.SYSRET: "sysret",
}

// x86Name returns the mnemonic.
func x86Name(i *x86asm.Inst) string {
	if n := x86Names[i.Op]; n != "" {
		return n
	}
	s := i.Op.String()
	if isString(i.Op) {
		return strings.ToLower(s[:len(s)-1]) // the operands show the size
	}
	for _, stem := range []string{"J", "CMOV"} {
		if c, ok := strings.CutPrefix(s, stem); ok && conditions[c] != "" {
			return strings.ToLower(stem) + conditions[c]
		}
	}
	switch i.Op {
	case x86asm.SETE:
		return "setz"
	case x86asm.SETNE:
		return "setnz"
	case x86asm.MOVD:
		if i.Opcode>>16 == 0x0f6e && hasPrefix(i, x86asm.PrefixDataSize) {
			return "movq" // yaxpeax reads 8 bytes here, the processor 4
		}
	}
	return strings.ToLower(s)
}

// isString reports whether an instruction is a string instruction, which works on [rsi] and [rdi]
// and may be repeated.
func isString(op x86asm.Op) bool {
	switch op {
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ,
		x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ, x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ,
		x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ, x86asm.INSB, x86asm.INSW, x86asm.INSD,
		x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD:
		return true
	}
	return false
}

// hasPrefix reports whether an instruction has a prefix, also one that it implies.
func hasPrefix(i *x86asm.Inst, want x86asm.Prefix) bool {
	for _, p := range i.Prefix {
		if p == 0 {
			break
		}
		if p&^x86asm.PrefixImplicit == want {
			return true
		}
	}
	return false
}

// regText returns a register's name. x86asm has 128-bit registers in the few 256-bit moves that it
// knows.
func regText(i *x86asm.Inst, r x86asm.Reg) string {
	switch {
	case x86asm.X0 <= r && r <= x86asm.X15:
		if x86MemSize(i) == 32 {
			return "ymm" + strconv.Itoa(int(r-x86asm.X0))
		}
		return "xmm" + strconv.Itoa(int(r-x86asm.X0))
	case x86asm.M0 <= r && r <= x86asm.M7:
		return "mm" + strconv.Itoa(int(r-x86asm.M0))
	case x86asm.F0 <= r && r <= x86asm.F7:
		return "st(" + strconv.Itoa(int(r-x86asm.F0)) + ")"
	case x86asm.R8L <= r && r <= x86asm.R15L:
		return "r" + strconv.Itoa(8+int(r-x86asm.R8L)) + "d"
	case x86asm.SPB <= r && r <= x86asm.DIB:
		return []string{"spl", "bpl", "sil", "dil"}[r-x86asm.SPB]
	}
	return strings.ToLower(r.String())
}

// sizeLabel returns yaxpeax's name of a memory size in bytes.
func sizeLabel(n int) string {
	switch n {
	case 1:
		return "byte"
	case 2:
		return "word"
	case 4:
		return "dword"
	case 6:
		return "far"
	case 8:
		return "qword"
	case 10:
		return "mword"
	case 16:
		return "xmmword"
	case 32:
		return "ymmword"
	case 64:
		return "zmmword"
	}
	return "ptr"
}

// memText returns a memory operand with its segment: "fs:[rax + rcx * 8 + 0x10]".
//
//	mov rax, qword fs:[0x28]                          64 48 8b 04 25 28 00 00 00
//	rep movs qword es:[rdi], qword ds:[rsi]           f3 48 a5
//	mov dword [rax + rcx * 1 - 0x8], -0x1             c7 44 08 f8 ff ff ff ff
func memText(i *x86asm.Inst, m x86asm.Mem) string {
	var b strings.Builder
	if s := segment(i, m); s != 0 {
		b.WriteString(strings.ToLower(s.String()))
		b.WriteByte(':')
	}
	b.WriteByte('[')
	if m.Base == 0 && m.Index == 0 {
		v := uint64(m.Disp)
		if i.Opcode>>24&^3 != 0xa0 { // all but the moves with a 64-bit address
			v = uint64(uint32(v))
		}
		b.WriteString("0x" + strconv.FormatUint(v, 16) + "]")
		return b.String()
	}
	if m.Base != 0 {
		b.WriteString(regText(i, m.Base))
	}
	if m.Index != 0 {
		if m.Base != 0 {
			b.WriteString(" + ")
		}
		b.WriteString(regText(i, m.Index) + " * " + strconv.Itoa(max(1, int(m.Scale))))
	}
	if d := disp(i, m); d != 0 {
		b.WriteByte(' ')
		b.WriteString(signed(d, "+ ", "- "))
	}
	b.WriteByte(']')
	return b.String()
}

// disp returns the displacement, sign-extended from 32 bits, which x86asm does not do. Only moves
// with a 64-bit absolute address have more bits.
func disp(i *x86asm.Inst, m x86asm.Mem) int64 {
	if i.Opcode>>24&^3 == 0xa0 && m.Base == 0 && m.Index == 0 && i.AddrSize == 64 {
		return m.Disp
	}
	return int64(int32(m.Disp))
}

// segment returns the segment register to show: fs and gs, in 32-bit code any, and those of string
// instructions.
func segment(i *x86asm.Inst, m x86asm.Mem) x86asm.Reg {
	lods := x86asm.LODSB <= i.Op && i.Op <= x86asm.LODSW
	if i.Mode == 64 && m.Segment != x86asm.FS && m.Segment != x86asm.GS && (!isString(i.Op) || lods) {
		return 0
	}
	return m.Segment
}

// signed returns a number in hexadecimal with a text for its sign: "+ 0x8", "-0x1".
func signed(v int64, plus, minus string) string {
	if v < 0 {
		return minus + "0x" + strconv.FormatUint(uint64(-v), 16)
	}
	return plus + "0x" + strconv.FormatUint(uint64(v), 16)
}

// immText returns an immediate. It is signed, except interrupt numbers, ports and stack
// adjustments.
func immText(i *x86asm.Inst, v int64) string {
	switch i.Op {
	case x86asm.INT, x86asm.IN, x86asm.OUT, x86asm.RET, x86asm.LRET, x86asm.ENTER:
		return "0x" + strconv.FormatUint(uint64(v)&0xffff, 16)
	}
	// Sign-extend an 8-bit immediate. x86asm does not extend those that are bits or counts.
	if v >= 0x80 && v <= 0xff && byteImm(i) {
		v = int64(int8(v))
	}
	return signed(v, "", "-")
}

// byteImm reports whether an immediate is encoded in one byte and x86asm has not extended it.
// Moves, arithmetic and pushes also have wider immediates.
func byteImm(i *x86asm.Inst) bool {
	r, reg := i.Args[0].(x86asm.Reg)
	switch i.Op {
	case x86asm.MOV:
		return !reg && i.MemBytes == 1
	case x86asm.ADD, x86asm.OR, x86asm.ADC, x86asm.SBB, x86asm.AND, x86asm.SUB, x86asm.XOR, x86asm.CMP, x86asm.TEST:
		return reg && x86asm.AL <= r && r <= x86asm.R15B || !reg && i.MemBytes == 1
	case x86asm.IMUL, x86asm.PUSH:
		return false
	}
	return true
}

// x86MemSize returns the size of a memory operand in bytes, or 0 if the instruction alone does not
// determine it.
func x86MemSize(i *x86asm.Inst) int {
	switch i.Op {
	case x86asm.LEA, x86asm.NOP:
		return i.DataSize / 8
	case x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHW, x86asm.CLFLUSH:
		return 64 // a line of the cache
	case x86asm.LCALL, x86asm.LJMP:
		return 10
	case x86asm.MOVD:
		if x86Name(i) == "movq" {
			return 8
		}
	}
	if isString(i.Op) {
		switch s := i.Op.String(); s[len(s)-1] {
		case 'B':
			return 1
		case 'W':
			return 2
		case 'D':
			return 4
		}
		return 8
	}
	switch i.Op {
	case x86asm.FLDENV, x86asm.FNSTENV, x86asm.FNSAVE, x86asm.FRSTOR:
		return 0
	}
	if op := i.Opcode >> 16; i.MemBytes == 0 && op >= 0xd800 && op <= 0xdfff {
		return 10
	}
	if i.MemBytes > 64 {
		return 0
	}
	return i.MemBytes
}
