package cpu

import "encoding/binary"

// SignalReturn is code to which the handler of a signal returns on Linux: it calls the kernel, which
// then restores the registers that it saved above the stack pointer. The C library has it, or the
// program (Go), the kernel's own page (the vdso), or on older systems the stack. That code has no
// caller: its "return address" is its own first instruction.
type SignalReturn struct {
	// Code are its instructions, as numbers of Unit bytes.
	Code []uint32
	Unit int
	// At is where the saved registers are, in bytes above the stack pointer at the first
	// instruction: the uc_mcontext of the ucontext in an rt_sigframe, or the sigcontext in a
	// sigframe, of handlers that were set without SA_SIGINFO. Lines are the registers, as in
	// ContextLayout.
	At    int
	Lines string
	// Plain: it is for handlers that were set without SA_SIGINFO.
	Plain bool
	// Self, if not 0, is where a pointer to At is, above the stack pointer. It tells apart frames
	// that have the same code.
	Self int
	// Info is where the siginfo is, in bytes above the stack pointer, if not Plain; -1 where that is
	// not the same in all frames. Pointers are then where pointers to the siginfo and to the ucontext,
	// which is at Context, may be; the siginfo follows them. Swapped: si_code comes before si_errno.
	Info     int
	Pointers []int
	Context  int
	Swapped  bool
	// Trap and Fault, if not 0, are where the number of the processor's exception is, and the
	// address of a page fault. Handlers that were set without SA_SIGINFO have no siginfo.
	Trap, Fault int
	// Record, if not 0, is how far above the stack pointer the kernel makes a record of the
	// interrupted function's frame pointer and link register, to which it sets the frame pointer. It
	// is a multiple of 16 bytes more where the kernel saves more of the thread.
	Record int
}

// MaxSignalBytes is the most bytes that the code of a SignalReturn has.
const MaxSignalBytes = 12

// IsSignalReturn reports whether code begins with that of r. order is the byte order of the dump's
// data.
func (a *Arch) IsSignalReturn(r *SignalReturn, code []byte, order binary.ByteOrder) bool {
	if a.LittleCode {
		order = binary.LittleEndian
	}
	if len(code) < len(r.Code)*r.Unit {
		return false
	}
	for i, want := range r.Code {
		unit := code[i*r.Unit:]
		have := uint32(unit[0])
		switch r.Unit {
		case 2:
			have = uint32(order.Uint16(unit))
		case 4:
			have = order.Uint32(unit)
		}
		if have != want {
			return false
		}
	}
	return true
}

// Registers returns the registers that the kernel saved, each with its offset above the stack
// pointer. big says that the dump's data is big-endian: a register in a place that is wider than it
// is then at its end.
func (r *SignalReturn) Registers(a *Arch, big bool) []Field {
	var out []Field
	for _, f := range Fields(r.Lines) {
		reg, ok := a.Lookup(f.Name)
		if !ok || f.Name == "_" {
			continue
		}
		f.Reg, f.Off = reg, f.Off+r.At
		if big {
			f.Off += f.Size - a.WordSize
		}
		out = append(out, f)
	}
	return out
}

// Place is where a register is above the stack pointer, in memory that is not big-endian.
func (r *SignalReturn) Place(a *Arch, reg Reg) int {
	for _, f := range r.Registers(a, false) {
		if f.Reg == reg {
			return f.Off
		}
	}
	return -1
}
