package x86code

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// MaxEntry bounds the code of a function's beginning.
// Prologues of compilers take a dozen bytes; long ones that push and allocate take a few more.
const MaxEntry = 64

// entry is what the beginning of a function has done.
type entry struct {
	down  int32 // how far below the caller's stack pointer esp is
	inReg bool  // whether the return address was taken from the stack, into the register ra
	ra    byte
	grown bool // whether the value of the register by was taken from esp, too
	by    byte
	// saved are the registers that were pushed, at how far below the caller's stack pointer.
	saved []pushed
}

// pushed is a register that was pushed.
type pushed struct {
	reg  byte
	down int32
}

// Entry returns a STACK WIN program for the instruction at an offset of a function's code, if the
// code runs straight to it from the function's first byte on; "" if it may not. saved is how many
// bytes of preserved registers were pushed. odd says that no frame data of its kind could say the
// same: the return address is in a register, as in functions that move the stack pointer of their
// caller (_chkstk), or the frame's size is.
//
// Example: 55 8b ec is "push ebp; mov ebp, esp". At offset 1, esp is 8 below the caller's stack
// pointer, and the program is
//
//	$T0 $esp 8 + = $eip $T0 4 - ^ = $esp $T0 = $ebp $T0 8 - ^ =
func Entry(code []byte, offset int) (program string, saved uint32, odd bool) {
	// The call pushed the return address.
	e := entry{down: 4}
	for at := 0; at < offset; {
		n := e.step(code[at:])
		if n == 0 || at+n > offset {
			return "", 0, false
		}
		at += n
	}
	return e.program(), uint32(4 * len(e.saved)), e.inReg || e.grown
}

// step does one instruction and says how long it is; 0 for what is not part of a beginning.
//
//	5r push, pop · 6a n, 68 n push n · 83 ec, 81 ec sub esp, n · 29, 2b sub esp, reg · 8b ec, 89 e5 mov ebp, esp · 8b ff mov edi, edi
func (e *entry) step(code []byte) int {
	if len(code) == 0 {
		return 0
	}
	two := func(a, b byte) bool { return len(code) >= 2 && code[0] == a && code[1] == b }
	switch c := code[0]; {
	case c&0xf8 == 0x50 && c&7 != esp && !e.grown:
		e.down += 4
		if preserved(c&7) && !e.isSaved(c&7) {
			e.saved = append(e.saved, pushed{c & 7, e.down})
		}
		return 1
	// A pop at the very start takes the return address.
	case c&0xf8 == 0x58 && e.down == 4 && !e.inReg && !e.grown && !preserved(c&7) && c&7 != esp:
		e.ra, e.inReg, e.down = c&7, true, 0
		return 1
	case c == 0x6a && len(code) >= 2 && !e.grown:
		e.down += 4
		return 2
	case c == 0x68 && len(code) >= 5 && !e.grown:
		e.down += 4
		return 5
	case two(0x83, 0xec) && len(code) >= 3 && int8(code[2]) > 0:
		e.down += int32(code[2])
		return 3
	case two(0x81, 0xec) && len(code) >= 6 && code[5] == 0:
		e.down += int32(binary.LittleEndian.Uint32(code[2:]))
		return 6
	case len(code) >= 2 && !e.grown && (c == 0x29 && code[1]&0xc7 == 0xc4 || c == 0x2b && code[1]&0xf8 == 0xe0):
		reg := code[1] & 7
		if c == 0x29 {
			reg = code[1] >> 3 & 7
		}
		if reg == esp || e.inReg && reg == e.ra {
			return 0
		}
		e.by, e.grown = reg, true
		return 2
	// "mov ebp, esp" is only accepted after ebp was pushed, so that the caller's value is known.
	case (two(0x8b, 0xec) || two(0x89, 0xe5)) && e.isSaved(ebp) && e.by != ebp:
		return 2
	case two(0x8b, 0xff):
		return 2
	}
	return 0
}

// isSaved reports whether a register was pushed. The first push has the caller's value.
func (e *entry) isSaved(reg byte) bool {
	for _, p := range e.saved {
		if p.reg == reg {
			return true
		}
	}
	return false
}

// program writes the program: $T0 is the caller's stack pointer.
func (e *entry) program() string {
	var b strings.Builder
	fmt.Fprintf(&b, "$T0 $esp %d +", e.down)
	if e.grown {
		b.WriteString(" " + names[e.by] + " +")
	}
	b.WriteString(" = $eip ")
	if e.inReg {
		b.WriteString(names[e.ra] + " =")
	} else {
		b.WriteString("$T0 4 - ^ =")
	}
	b.WriteString(" $esp $T0 =")
	for _, p := range e.saved {
		fmt.Fprintf(&b, " %s $T0 %d - ^ =", names[p.reg], p.down)
	}
	return b.String()
}
