package walker

import (
	"github.com/crashpane/crashpane/core/cpu"
)

// Code reads the program's instructions from the dump, or from a binary.
type Code interface {
	// Read fills p from addr upwards and returns how many bytes it read.
	Read(addr uint64, p []byte) int
}

// afterCall reports whether the instruction before an address is a call. known is false if the
// bytes are missing, or if the policy does not check calls.
//
// A return address always follows a call; a word on the stack that points elsewhere into code (a
// function's address in a table, a jump target, a stale pointer) does not. rust-minidump 738 asks
// for this check.
func (s *walk) afterCall(addr uint64) (call, known bool) {
	if !s.Policy.Scan.AfterCall {
		return false, false
	}
	return s.callBefore(addr)
}

// callBefore is afterCall under any policy.
//
// It reads as many bytes as the longest call of the CPU has: on x86 calls have 2 to 7 bytes, and
// several lengths are tried.
func (s *walk) callBefore(addr uint64) (call, known bool) {
	var room [cpu.MaxCallBytes]byte
	b := s.bytesBefore(addr, &room)
	if b == nil {
		return false, false
	}
	return s.arch.IsCall(b, addr, s.order()), true
}

// bytesBefore reads the bytes in which the longest call before a return address is.
func (s *walk) bytesBefore(addr uint64, b *[cpu.MaxCallBytes]byte) []byte {
	n, at := uint64(s.arch.CallBytes), s.arch.CodeAddress(addr)
	if s.Code == nil || n == 0 || at < n || s.Code.Read(at-n, b[:n]) != int(n) {
		return nil
	}
	return b[:n]
}

// readCode reads instructions that are followed, from whatever has them.
func (s *walk) readCode(addr uint64, p []byte) (n int, assigned bool) {
	if s.Code != nil {
		n = s.Code.Read(addr, p)
	}
	if n == 0 && s.Assigned != nil {
		n = s.Assigned.Read(addr, p)
		return n, n > 0
	}
	return n, false
}

// calledBefore returns the address that the instruction before a return address calls. ok is false
// if the bytes are missing, or if the instruction is not a call of a constant address.
func (s *walk) calledBefore(addr uint64) (target uint64, ok bool) {
	var room [cpu.MaxCallBytes]byte
	b := s.bytesBefore(addr, &room)
	if b == nil || s.arch.Target == nil || !s.arch.IsCall(b, addr, s.order()) {
		return 0, false
	}
	to, ok := s.arch.Target(b, addr, s.order())
	return s.arch.Mask(to), ok
}
