package analysis

import (
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

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
