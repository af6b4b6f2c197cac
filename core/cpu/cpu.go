// Package cpu describes processors as data: the names of their registers, their DWARF numbers, the roles some of them
// play (pc, sp, fp, lr), what a call preserves, and how a standard frame is laid out. There is no code per CPU: whoever
// walks stacks reads these tables.
package cpu

// Reg is a register of an Arch: an index into Arch.Names. The same number means different registers on different CPUs.
type Reg uint8

// NoReg says that a CPU has no register of some role.
const NoReg Reg = 0xff

// MaxRegs is the largest number of general registers that a Regs can hold.
const MaxRegs = 48

// Arch is one CPU, as a table.
type Arch struct {
	// Name is the stable lower-case name: "x86", "amd64", "arm", "arm64", …
	Name string
	// Names are the register names in the order in which Breakpad prints them, without "$".
	Names []string
	// Order are the same names in the order in which debuggers show them; nil where Names is in that order.
	Order []string
	// Aliases are further names under which symbol files speak of a register (arm: "r13" for "sp").
	Aliases map[string]Reg
	// WordSize is the size of an address in bytes: 4 or 8.
	WordSize int
	// PC, SP, FP and LR are the registers of that role; NoReg where there is none (LR on x86).
	PC, SP, FP, LR Reg
	// CalleeSaved are the registers that a function must give back unchanged, so that a caller's value is the callee's
	// if no rule says otherwise.
	CalleeSaved []Reg
	// CallSize is the distance that is taken from a return address to land inside the call instruction: 1 on x86 and
	// amd64 (an instruction has no fixed size), 2 on arm (Thumb), 4 on arm64, 8 on mips (delay slot).
	CallSize uint64
	// DWARF maps DWARF register numbers to registers (NoReg where a number has no general register here).
	DWARF []Reg
	// CFABias is the distance in bytes from the caller's stack pointer up to what DWARF calls the CFA: 160 on s390x, whose
	// callers reserve a register save area; 0 elsewhere.
	CFABias int64
	// Frame is the layout of a frame that keeps a frame pointer.
	Frame FrameLayout
	// Canonical reports whether an address can exist on this CPU. Nil means that every address can.
	Canonical func(addr uint64) bool
}

// FrameStyle says what the frames of a CPU's standard convention hang on.
type FrameStyle uint8

const (
	// NoFrame: there is no convention that could be followed without call frame information.
	NoFrame FrameStyle = iota
	// FrameRecord: a register points into the frame; CFA = FP + CFAOffset.
	FrameRecord
	// BackChain: the stack pointer points at the caller's stack pointer; CFA = [SP]. The frame pointer plays no part.
	BackChain
)

// FrameLayout is the standard frame of a CPU.
//
//	FrameRecord  CFA = FP + CFAOffset   RA = [CFA + RAOffset] + RABias   caller's FP = [CFA + FPOffset]
//	BackChain    CFA = [SP]             RA = [CFA + RAOffset] + RABias
type FrameLayout struct {
	Style                         FrameStyle
	CFAOffset, RAOffset, FPOffset int64
	// RABias is the distance from the saved word to the return address: 8 on sparc, whose calls save their own address, 0
	// elsewhere.
	RABias int64
}

// Lookup finds a register by name, with or without a leading "$".
func (a *Arch) Lookup(name string) (Reg, bool) {
	if len(name) > 0 && name[0] == '$' {
		name = name[1:]
	}
	for i, n := range a.Names {
		if n == name {
			return Reg(i), true
		}
	}
	r, ok := a.Aliases[name]
	return r, ok
}

// Shown are the registers in the order in which debuggers show them. Numbers without a name are not among them.
func (a *Arch) Shown() []Reg {
	names := a.Order
	if names == nil {
		names = a.Names
	}
	out := make([]Reg, 0, len(names))
	for _, n := range names {
		if r, ok := a.Lookup(n); ok && n != "" {
			out = append(out, r)
		}
	}
	return out
}

// RegName is the name of r, or "?" if the CPU has no such register.
func (a *Arch) RegName(r Reg) string {
	if int(r) < len(a.Names) {
		return a.Names[r]
	}
	return "?"
}

// Mask cuts a value to the CPU's word size.
func (a *Arch) Mask(v uint64) uint64 {
	if a.WordSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// Regs are the general registers of one frame: a value each, and whether it is known. Absent is not zero.
type Regs struct {
	Arch  *Arch
	vals  [MaxRegs]uint64
	known uint64
}

// Get is the value of r and whether it is known.
func (g *Regs) Get(r Reg) (uint64, bool) {
	if r >= MaxRegs || g.known&(1<<r) == 0 {
		return 0, false
	}
	return g.vals[r], true
}

// Set makes r known, cut to the word size.
func (g *Regs) Set(r Reg, v uint64) {
	if r >= MaxRegs {
		return
	}
	g.vals[r] = g.Arch.Mask(v)
	g.known |= 1 << r
}

// Forget makes r unknown.
func (g *Regs) Forget(r Reg) {
	if r < MaxRegs {
		g.known &^= 1 << r
		g.vals[r] = 0
	}
}

// Known reports whether r has a value.
func (g *Regs) Known(r Reg) bool { return r < MaxRegs && g.known&(1<<r) != 0 }

// AllKnown reports whether every register of the CPU has a value, as in a thread's context.
func (g *Regs) AllKnown() bool {
	n := len(g.Arch.Names)
	return g.known == 1<<n-1
}

// PC is the program counter, or 0 if it is not known.
func (g *Regs) PC() uint64 { v, _ := g.Get(g.Arch.PC); return v }

// SP is the stack pointer, or 0 if it is not known.
func (g *Regs) SP() uint64 { v, _ := g.Get(g.Arch.SP); return v }
