package analysis

import (
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// text returns the instruction in Intel's assembler, as it is at address pc.
//
//	mov dword ptr [rax+rcx*1-0x8], 0xffffffff
func (x *x86Insn) text(pc uint64) string {
	switch {
	case x.endbr && x.Opcode == 0xfa:
		return "endbr64"
	case x.endbr:
		return "endbr32"
	case x.vec != nil:
		return x.vec.text
	}
	i := x.Inst
	for n, arg := range x.memArg {
		i.Args[arg] = x.mems[n] // whose displacements have their sign
	}
	// A status code in a 32-bit move is what a reader looks for: 0xc000000d, and no negative number.
	if v, ok := i.Args[1].(x86asm.Imm); ok && i.Op == x86asm.MOV && v < 0 {
		if r, reg := i.Args[0].(x86asm.Reg); i.MemBytes == 4 || reg && r >= x86asm.EAX && r <= x86asm.R15L {
			i.Args[1] = x86asm.Imm(uint32(v))
		}
	}
	return x86asm.IntelSyntax(i, pc, nil)
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

// regText returns a general register's name.
func regText(r x86asm.Reg) string {
	switch {
	case x86asm.R8L <= r && r <= x86asm.R15L:
		return "r" + strconv.Itoa(8+int(r-x86asm.R8L)) + "d"
	case x86asm.SPB <= r && r <= x86asm.DIB:
		return []string{"spl", "bpl", "sil", "dil"}[r-x86asm.SPB]
	}
	return strings.ToLower(r.String())
}

// memSizes are the names of memory sizes in bytes.
var memSizes = map[int]string{1: "byte ", 2: "word ", 4: "dword ", 8: "qword ", 16: "xmmword ", 32: "ymmword ", 64: "zmmword "}

// vectorMemText returns the memory operand of a vector instruction: "ymmword ptr fs:[rax+rcx*8+0x10]".
func vectorMemText(size int, m x86asm.Mem) string {
	var parts []string
	if m.Base != 0 {
		parts = append(parts, regText(m.Base))
	}
	if m.Index != 0 {
		parts = append(parts, regText(m.Index)+"*"+strconv.Itoa(int(m.Scale)))
	}
	s := strings.Join(parts, "+")
	switch {
	case s == "":
		s = hexWord(uint64(uint32(m.Disp)))
	case m.Disp < 0:
		s += "-" + hexWord(uint64(-m.Disp))
	case m.Disp > 0:
		s += "+" + hexWord(uint64(m.Disp))
	}
	if m.Segment != 0 {
		return memSizes[size] + "ptr " + strings.ToLower(m.Segment.String()) + ":[" + s + "]"
	}
	return memSizes[size] + "ptr [" + s + "]"
}

// disp returns the displacement, sign-extended from 32 bits, which x86asm does not do. Only moves
// with a 64-bit absolute address have more bits.
func disp(i *x86asm.Inst, m x86asm.Mem) int64 {
	if i.Opcode>>24&^3 == 0xa0 && m.Base == 0 && m.Index == 0 && i.AddrSize == 64 {
		return m.Disp
	}
	return int64(int32(m.Disp))
}

// segment returns the segment register of an operand: in 64-bit code fs and gs alone have a base.
func segment(i *x86asm.Inst, m x86asm.Mem) x86asm.Reg {
	if i.Mode == 64 && m.Segment != x86asm.FS && m.Segment != x86asm.GS {
		return 0
	}
	return m.Segment
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
	case x86asm.FLDENV, x86asm.FNSTENV, x86asm.FNSAVE, x86asm.FRSTOR:
		return 0
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
	if op := i.Opcode >> 16; i.MemBytes == 0 && op >= 0xd800 && op <= 0xdfff {
		return 10
	}
	if i.MemBytes > 64 {
		return 0
	}
	return i.MemBytes
}
