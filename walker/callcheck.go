package walker

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/cpu"
)

// Code reads the program's instructions, as far as the dump (or a binary) has them.
type Code interface {
	// Read fills p from addr upwards and answers how many bytes there were.
	Read(addr uint64, p []byte) int
}

// afterCall says whether the instruction before an address is a call. known is false if the bytes are not there, or the
// CPU's calls are not told apart here.
//
// A return address always follows a call; a word on the stack that points elsewhere into code (a function's address in a
// table, a jump target, a stale pointer) does not. rust-minidump 738 asks for this check.
func (s *walk) afterCall(addr uint64) (call, known bool) {
	if !s.Policy.Scan.AfterCall {
		return false, false
	}
	return s.callBefore(addr)
}

// callBefore is afterCall whatever the policy.
func (s *walk) callBefore(addr uint64) (call, known bool) {
	if s.Code == nil {
		return false, false
	}
	var b [maxCall]byte
	n := uint64(callBytes(s.arch))
	at := addr
	if s.arch == cpu.ARM {
		// The lowest bit says that the caller is Thumb code.
		at &^= 1
	}
	if n == 0 || at < n || s.Code.Read(at-n, b[:n]) != int(n) {
		return false, false
	}
	switch s.arch {
	case cpu.X86, cpu.AMD64:
		return endsInX86Call(b[:n]), true
	case cpu.ARM:
		if addr&1 != 0 {
			return isThumbCall(binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:])), true
		}
		return isARMCall(binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])), true
	case cpu.RISCV, cpu.RISCV64:
		return isRISCVCall(binary.LittleEndian.Uint32(b[:]), s.arch.WordSize), true
	case cpu.S390X:
		return isZCall(b[:n]), true
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if s.BigEndian {
		order = binary.BigEndian
	}
	w := order.Uint32(b[:])
	switch s.arch {
	case cpu.ARM64:
		// Instructions are little-endian whatever the data is.
		return isARM64Call(binary.LittleEndian.Uint32(b[:])), true
	case cpu.MIPS, cpu.MIPS64:
		return isMIPSCall(w) || isMIPSCompactCall(order.Uint32(b[4:])), true
	case cpu.PPC, cpu.PPC64:
		return isPPCCall(w), true
	case cpu.SPARC:
		return isSPARCCall(w), true
	}
	return false, false
}

// calledBefore is the function that the instruction before an arm return address calls; false if that is not known or no call with an
// immediate.
func (s *walk) calledBefore(addr uint64) (target uint64, ok bool) {
	at := addr &^ 1
	var b [4]byte
	if s.Code == nil || s.Code.Read(at-4, b[:]) != 4 {
		return 0, false
	}
	if addr&1 != 0 {
		return thumbTarget(at, binary.LittleEndian.Uint16(b[:]), binary.LittleEndian.Uint16(b[2:]))
	}
	return armTarget(at, binary.LittleEndian.Uint32(b[:]))
}

// callBytes is how many bytes before a return address are looked at; 0 where calls are not told apart.
func callBytes(a *cpu.Arch) int {
	switch a {
	case cpu.X86, cpu.AMD64, cpu.MIPS, cpu.MIPS64, cpu.SPARC, cpu.ARM:
		return 8 // the longest call of x86; a call and its delay slot; a branch and the setting of lr before it
	case cpu.ARM64, cpu.PPC, cpu.PPC64, cpu.RISCV, cpu.RISCV64:
		return 4
	case cpu.S390X:
		return 6
	}
	return 0
}

// maxCall is the most bytes that callBytes answers.
const maxCall = 8
