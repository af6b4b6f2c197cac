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
	switch s.arch {
	case cpu.X86, cpu.AMD64:
		var b [maxCall]byte
		if addr < maxCall || s.Code.Read(addr-maxCall, b[:]) != maxCall {
			return false, false
		}
		return endsInX86Call(b[:]), true
	case cpu.ARM64:
		var b [4]byte
		if addr < 4 || s.Code.Read(addr-4, b[:]) != 4 {
			return false, false
		}
		return isARM64Call(binary.LittleEndian.Uint32(b[:])), true
	}
	return false, false
}

// maxCall is the length of the longest near call: REX, FF, ModRM, SIB, 32-bit displacement.
const maxCall = 8

// endsInX86Call says whether some call instruction ends with the last byte. Instructions have no fixed size, so every
// length that a call can have is tried (Intel SDM volume 2A, CALL):
//
//	E8 rel32          5 bytes
//	FF /2 ModRM …     2 to 7 bytes, and a REX or segment prefix before it
func endsInX86Call(b []byte) bool {
	n := len(b)
	if n >= 5 && b[n-5] == 0xe8 {
		return true
	}
	for size := 2; size <= 7 && size <= n; size++ {
		if b[n-size] == 0xff && modRMSize(b[n-size+1:]) == size-1 {
			return true
		}
	}
	return false
}

// modRMSize is the length of the ModRM byte with SIB and displacement, if its middle field is 2 (CALL); else 0.
func modRMSize(b []byte) int {
	mod, reg, rm := b[0]>>6, b[0]>>3&7, b[0]&7
	if reg != 2 {
		return 0
	}
	size := 1
	if mod == 3 {
		return size
	}
	base := rm
	if rm == 4 {
		if len(b) < 2 {
			return 0
		}
		base = b[1] & 7
		size++
	}
	switch {
	case mod == 1:
		size++
	case mod == 2, mod == 0 && base == 5:
		size += 4
	}
	return size
}

// isARM64Call: BL imm26, BLR, and BLR with pointer authentication (Arm ARM, C4.1.66 "Branches").
func isARM64Call(w uint32) bool {
	return w>>26 == 0b100101 || w&0xfffffc1f == 0xd63f0000 || w&0xfefff800 == 0xd63f0800
}
