package framecode

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Stub returns the rules in a stub of lazy binding, through which a program calls a function that
// the loader has not found yet (psABI of each processor, "Procedure Linkage Table"). The stub of a
// function leads to the first one of the table, which jumps to the loader. No symbol has the first
// one. Their instructions are exact, so that the rules hold wherever they are.
func Stub(arch *cpu.Arch, read func(at uint64, p []byte) int, pc uint64) (row unwind.Row, ok bool) {
	switch arch {
	case cpu.AMD64, cpu.X86:
		pushed, ok := x86Stub(arch, read, pc)
		word := int64(arch.WordSize)
		row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: arch.SP, Offset: (pushed + 1) * word}
		row.RA = unwind.Rule{Kind: unwind.AtCFA, Offset: -word}
		return row, ok
	case cpu.ARM64:
		return a64Stub(arch, read, pc)
	}
	return row, false
}

// x86Stub returns how many words a stub has pushed before an instruction. The linker may write bnd
// before jumps, and endbr64 in place of the jump or before it.
//
//	first stub      push 1*word(table) | jmp *2*word(table)
//	of a function   jmp *slot | push $index | jmp first
func x86Stub(arch *cpu.Arch, read func(at uint64, p []byte) int, pc uint64) (pushed int64, ok bool) {
	const push, jumpNear, bnd = 0x68, 0xe9, 0xf2
	number := func(p []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(p))) }
	first := func(at uint64) bool {
		var room [13]byte
		code := room[:read(at, room[:])]
		if len(code) < 12 || code[0] != 0xff {
			return false
		}
		jump := code[6:]
		if jump[0] == bnd {
			jump = jump[1:]
		}
		if len(jump) < 6 || jump[0] != 0xff {
			return false
		}
		distance, word := number(jump[2:])-number(code[2:]), int64(arch.WordSize)
		switch {
		case code[1] == 0x35 && jump[1] == 0x25 && word == 8: // relative to rip
			return distance+int64(len(code)-len(jump)) == word
		case code[1] == 0x35 && jump[1] == 0x25, code[1] == 0xb3 && jump[1] == 0xa3 && number(code[2:]) == word: // by ebx
			return distance == word
		}
		return false
	}
	ofFunction := func(at uint64) bool {
		var room [11]byte
		code := room[:read(at, room[:])]
		if len(code) < 10 || code[0] != push {
			return false
		}
		if code = code[5:]; code[0] == bnd {
			code, at = code[1:], at+1
		}
		return len(code) >= 5 && code[0] == jumpNear && first(arch.Mask(at+10+uint64(number(code[1:]))))
	}
	var room [12]byte
	code := room[:read(pc, room[:])]
	at := pc
	if len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3]&0xfe == 0xfa { // endbr64, endbr32
		code, at = code[4:], at+4
	}
	if len(code) >= 1 && code[0] == bnd {
		code, at = code[1:], at+1
	}
	if len(code) >= 2 && code[0] == 0xff && (code[1] == 0x25 || code[1] == 0xa3) {
		at += 6
	}
	switch {
	case ofFunction(at):
		return 0, true
	case first(pc), ofFunction(pc - 5):
		return 1, true
	}
	return 2, first(pc - 6)
}

// a64Stub returns the rules in a stub. That of a function lacks the first instruction; bti c may be
// before either.
//
//	stp x16, x30, [sp, -16]! | adrp x16 | ldr x17, [x16, …] | add x16, x16, … | br x17
func a64Stub(arch *cpu.Arch, read func(at uint64, p []byte) int, pc uint64) (row unwind.Row, ok bool) {
	const btiC = 0xd503245f
	stub := [...]struct{ bits, mask uint32 }{{0xa9bf7bf0, 1<<32 - 1}, {0x90000010, 0x9f00001f}, {0xf9400211, 0xffc003ff}, {0x91000210, 0xffc003ff}, {0xd61f0220, 1<<32 - 1}}
	word := func(at uint64) uint32 {
		var b [4]byte
		read(at, b[:])
		return binary.LittleEndian.Uint32(b[:])
	}
	if word(pc) == btiC {
		pc += 4
	}
	for n := range stub { // the number of the instruction at pc
		start := pc - 4*uint64(n)
		same := 0
		for i := len(stub) - 1; i >= 0 && word(start+4*uint64(i))&stub[i].mask == stub[i].bits; i-- {
			same++
		}
		switch {
		case same == len(stub) && n > 0:
			row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: arch.SP, Offset: 16}
			row.RA = unwind.Rule{Kind: unwind.AtCFA, Offset: -8}
			return row, true
		case same == len(stub), same == len(stub)-1 && n > 0:
			row.CFA, row.Topmost = unwind.Rule{Kind: unwind.FromReg, Reg: arch.SP}, true
			row.RA = unwind.Rule{Kind: unwind.FromReg, Reg: arch.LR}
			return row, true
		}
	}
	return row, false
}
