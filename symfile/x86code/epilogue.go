// Package x86code finds out from 32-bit x86 code itself how a frame is left, where no other data
// shows it: x86 has no function tables, and frame data (STACK WIN) describes prologues and bodies
// but no epilogues.
//
// It returns only what is certain. From an instruction of an epilogue the code runs straight to its
// return, with nothing but changes of the stack pointer and restored registers on the way. And from
// a function's first instruction it runs straight to the next ones.
//
// Source: Intel, Software Developer's Manual, volume 2 (opcodes of 32-bit code).
package x86code

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// MaxEpilogue is more bytes than an epilogue takes.
const MaxEpilogue = 40

// The registers that calls preserve, by their number in opcodes.
const (
	ebx = 3
	esp = 4
	ebp = 5
	esi = 6
	edi = 7
)

var names = [8]string{"$eax", "$ecx", "$edx", "$ebx", "$esp", "$ebp", "$esi", "$edi"}

// preserved reports whether calls preserve a register.
func preserved(reg byte) bool { return reg == ebx || reg >= ebp }

// slot is an address on the stack: a distance from esp or ebp, as they are at the instruction.
type slot struct {
	byEBP bool
	off   int32
}

// Epilogue returns a STACK WIN program for the instruction with which the code begins, if an
// epilogue goes on from there to its return; "" if none does. restored is how many bytes of
// preserved registers it still has to take from the stack.
//
// leaves reports whether a jump to an address, which counts from the first byte of the code, leaves
// the function: then it is a call of another one that returns in its place. A jump through a
// pointer leaves it if the stack pointer has been moved before, one through a variable always:
// those of a switch have an index.
//
//	5r pop · c9 leave · 83 c4, 81 c4 add esp, n · 8d 65, 8d a5 lea esp, [ebp + n] · 8b e5, 89 ec mov esp, ebp · c3, c2 n, f3 c3 ret ·
//	e9, eb, ff 25, ff er jmp
//
// Example: 5f 5e 8b e5 5d c3 is "pop edi; pop esi; mov esp, ebp; pop ebp; ret". It gives, with 12
// bytes restored:
//
//	$T0 $ebp 4 + = $T1 $esp = $eip $T0 ^ = $esp $T0 4 + =
//	$ebp $T0 4 - ^ =  $esi $T1 4 + ^ =  $edi $T1 0 + ^ =
//
// Each round decodes one instruction and moves sp, the place of the stack pointer after it.
// Anything that is not in the list ends it without an answer.
func Epilogue(code []byte, leaves func(to int64) bool) (program string, restored uint32) {
	at := int64(0)
	var sp slot
	var saved [8]*slot
	// A register has one saved value. A second pop of it is refused.
	pop := func(reg byte) bool {
		if reg == esp || saved[reg] != nil {
			return false
		}
		at := sp
		saved[reg] = &at
		sp.off += 4
		return true
	}
	for len(code) > 0 {
		n := 0
		switch c := code[0]; {
		case c == 0xc3, c == 0xc2 && len(code) >= 3, c == 0xf3 && len(code) >= 2 && code[1] == 0xc3:
			return leave(sp, &saved)
		case c == 0xeb && len(code) >= 2:
			if !leaves(at + 2 + int64(int8(code[1]))) {
				return "", 0
			}
			return leave(sp, &saved)
		case c == 0xe9 && len(code) >= 5:
			if !leaves(at + 5 + int64(int32(binary.LittleEndian.Uint32(code[1:])))) {
				return "", 0
			}
			return leave(sp, &saved)
		case c == 0xff && len(code) >= 2 && (code[1] == 0x25 || code[1]&0xf8 == 0xe0 && at > 0):
			return leave(sp, &saved)
		case c&0xf8 == 0x58 && pop(c&7):
			n = 1
		// leave is "mov esp, ebp; pop ebp". With ebp popped already, it would no longer be the
		// frame's.
		case c == 0xc9 && saved[ebp] == nil:
			sp, n = slot{byEBP: true}, 1
			pop(ebp)
		case len(code) >= 2 && (c == 0x8b && code[1] == 0xe5 || c == 0x89 && code[1] == 0xec) && saved[ebp] == nil:
			sp, n = slot{byEBP: true}, 2
		case len(code) >= 3 && c == 0x83 && code[1] == 0xc4 && int8(code[2]) > 0:
			sp.off += int32(int8(code[2]))
			n = 3
		// With the upper bit set it would be a subtraction, which no epilogue has.
		case len(code) >= 6 && c == 0x81 && code[1] == 0xc4 && code[5]&0x80 == 0:
			sp.off += int32(binary.LittleEndian.Uint32(code[2:]))
			n = 6
		case len(code) >= 3 && c == 0x8d && code[1] == 0x65 && saved[ebp] == nil:
			sp, n = slot{true, int32(int8(code[2]))}, 3
		case len(code) >= 6 && c == 0x8d && code[1] == 0xa5 && saved[ebp] == nil:
			sp, n = slot{true, int32(binary.LittleEndian.Uint32(code[2:]))}, 6
		default:
			return "", 0
		}
		code, at = code[n:], at+int64(n)
	}
	return "", 0
}

// leave writes the program: $T0 is where the return address is, $T1 what esp was.
// Registers that calls may overwrite are left out: compilers pop them (pop ecx) to drop four bytes.
func leave(ra slot, saved *[8]*slot) (program string, restored uint32) {
	base := func(s slot) string {
		if s.byEBP {
			return "$ebp"
		}
		return "$esp"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "$T0 %s %d + = $T1 $esp =", base(ra), ra.off)
	fmt.Fprint(&b, " $eip $T0 ^ = $esp $T0 4 + =")
	for reg, s := range saved {
		if s == nil || !preserved(byte(reg)) {
			continue
		}
		restored += 4
		// From the same base the distance is certain; else $T1 keeps esp, since the program assigns
		// $esp before.
		if s.byEBP == ra.byEBP {
			fmt.Fprintf(&b, " %s $T0 %d - ^ =", names[reg], ra.off-s.off)
		} else {
			fmt.Fprintf(&b, " %s $T1 %d + ^ =", names[reg], s.off)
		}
	}
	return b.String(), restored
}

// AfterCall reports whether bytes that end with a given one may be a call that ends there: a lookup
// for a return address is for that byte, which may look like an instruction of an epilogue. before
// are the bytes up to and with it, seven of them if there are so many; isCode says whether there is
// code at a distance from the byte after the call.
//
//	e8 n · ff /2 with its ModRM, SIB and displacement
//
// Example: ff 51 58 is "call [ecx + 58h]", as virtual methods are called. Its last byte alone is
// "pop eax".
func AfterCall(before []byte, isCode func(distance int64) bool) bool {
	n := len(before)
	if n >= 5 && before[n-5] == 0xe8 && isCode(int64(int32(binary.LittleEndian.Uint32(before[n-4:])))) {
		return true
	}
	// ff /2 is an indirect call of 2 (call eax) to 7 bytes (call [eax + ecx*4 + n]).
	for size := 2; size <= 7 && size <= n; size++ {
		if p := before[n-size:]; p[0] == 0xff && p[1]>>3&7 == 2 && operand(p[1:]) == size-1 {
			return true
		}
	}
	return false
}

// operand returns the length of a ModRM byte with its SIB byte and displacement.
// mod 3 is a register; rm 4 has a SIB byte; rm 5 with mod 0, and base 5 with mod 0, have a
// displacement of four bytes and no register.
func operand(p []byte) int {
	mod, rm := p[0]>>6, p[0]&7
	n := 1
	if mod != 3 && rm == 4 {
		if len(p) < 2 {
			return n
		}
		if n++; mod == 0 && p[1]&7 == 5 {
			n += 4
		}
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}
