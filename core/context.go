package core

import "github.com/crashpane/crashpane/core/cpu"

// Context is a thread's registers at one moment.
type Context struct {
	Arch  *cpu.Arch
	Flags uint32
	// Regs are the general registers, all of them known.
	Regs cpu.Regs
	// Extra are the flag, segment, floating-point and vector registers by name, in the order of the context record.
	Extra []ExtraReg
	Loc   Location
}

// ExtraReg is a register that plays no part in unwinding.
type ExtraReg struct {
	Name  string
	Bytes []byte // little-endian, as wide as the register
}
