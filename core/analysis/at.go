package analysis

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/disasm"
)

// At returns the instruction that a frame is at: the one at the program counter, or for a caller,
// whose program counter is a return address, the call before it. If it is a call whose bytes have
// the target, calls is the target and known is true. function is the address at which the frame's
// function begins, 0 if that is not known.
//
// At returns nil if neither the dump nor the program's files have the code, for processors other
// than x86, amd64 and arm64, and if no call ends at the return address.
func At(d *core.Dump, regs *cpu.Regs, caller bool, function uint64) (in *Instruction, calls uint64, known bool) {
	m := &machine{d: d, arch: regs.Arch, regs: regs}
	at := regs.PC()
	var found *decoded
	if caller {
		at, found = m.callBefore(at, function)
	} else {
		found = m.decodeAt(at)
	}
	if found == nil {
		return nil, 0, false
	}
	in = &Instruction{Address: at, Text: found.text, Bytes: []byte{}, Registers: []Register{}}
	if in.Module, _ = d.ModuleAt(at); in.Module >= 0 { // elsewhere they may be any data
		in.Bytes = m.code(at, found.len)
	}
	if j := found.jump; j != nil && j.How == "call" && j.Register.Name == "" && !j.InMemory {
		calls, known = j.Target, true
	}
	return in, calls, known
}

// decodeAt decodes the instruction at an address. It returns nil if the bytes are missing or the
// instruction is unknown.
func (m *machine) decodeAt(at uint64) *decoded {
	var buf [disasm.Longest]byte
	p := buf[:m.d.Code(at, buf[:])]
	m.pc = at
	var in *decoded
	switch m.arch.Instructions {
	case cpu.DecodedX86:
		in = m.x86(p, 8*m.arch.WordSize)
	case cpu.DecodedA64:
		if len(p) >= 4 {
			in = m.a64(p[:4])
		}
	}
	if in == nil || in.len > len(p) {
		return nil
	}
	return in
}

// code returns n bytes of code at an address, fewer if there are not so many.
func (m *machine) code(at uint64, n int) []byte {
	p := make([]byte, n)
	return p[:m.d.Code(at, p)]
}

// minCall and maxCall are the lengths that calls of x86 have: FF with a register; FF with a REX
// prefix, ModRM, SIB and 32 bits.
const (
	minCall = 2
	maxCall = 8
)

// callBefore returns the call that ends at a return address. On x86, where instructions have no
// fixed size, several may seem to; whichCall then chooses.
//
// Example: the bytes before the return address are e8 fb ff ff ff, a call of 5 bytes. In "… 41 ff
// d0" both "call r8" (41 ff d0) and "call rax" (ff d0) end there.
func (m *machine) callBefore(ret, function uint64) (at uint64, call *decoded) {
	if m.arch.Instructions == cpu.DecodedA64 {
		if in := m.decodeAt(ret - 4); in.isCall() {
			return ret - 4, in
		}
		return 0, nil
	}
	var ends []*decoded
	for n := maxCall; n >= minCall; n-- {
		if in := m.decodeAt(ret - uint64(n)); in.isCall() && in.len == n {
			ends = append(ends, in)
		}
	}
	if len(ends) == 0 {
		return 0, nil
	}
	call = ends[0]
	if len(ends) > 1 {
		call = m.whichCall(ends, ret, function)
	}
	return ret - uint64(call.len), call
}

// maxFunction limits the bytes of a function that whichCall decodes: a symbol file may give a
// function any size.
const maxFunction = 64 << 10

// whichCall chooses between calls that seem to end at a return address.
//
// It decodes the function from its beginning, whose instructions lead to the true call. If the
// beginning is unknown or an instruction cannot be decoded, it takes the longest call that does not
// lead out of all modules.
func (m *machine) whichCall(ends []*decoded, ret, function uint64) *decoded {
	for at := function; at != 0 && at < ret && ret-function <= maxFunction; {
		in := m.decodeAt(at)
		if in == nil {
			break
		}
		for _, call := range ends {
			if at+uint64(call.len) == ret {
				return call
			}
		}
		at += uint64(in.len)
	}
	// A call into no module is the middle of another instruction.
	inside := func(call *decoded) bool {
		j := call.jump
		return j == nil || j.Register.Name != "" || j.InMemory || m.inModule(j.Target)
	}
	if i := slices.IndexFunc(ends, inside); i >= 0 {
		return ends[i]
	}
	return ends[0]
}

// inModule reports whether an address is in a module.
func (m *machine) inModule(address uint64) bool {
	module, _ := m.d.ModuleAt(address)
	return module >= 0
}

// isCall reports whether an instruction is a call, on any of the processors.
func (in *decoded) isCall() bool {
	switch {
	case in == nil:
		return false
	case in.x86 != nil:
		return in.x86.Op == x86asm.CALL
	}
	return in.jump != nil && in.jump.How == "call"
}
