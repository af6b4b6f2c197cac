// Package cpu describes processors as data. A CPU is one file, NAME_cpu.go. It has the names of the
// registers and their DWARF numbers, and the roles that some of them play (pc, sp, fp, lr). It says
// what a call preserves and how a standard frame is laid out. It has the context records, the CPU's
// numbers and words in file formats, and the instructions that calls and PLT stubs are made of.
// There is no code for walking stacks or reading files here, and no list of CPUs anywhere else:
// other packages read what they need from a CPU's table.
//
// Start with Arch, the table, and amd64_cpu.go, an example of one.
package cpu

import (
	"cmp"
	"encoding/binary"
)

// Reg is a register of an Arch: an index into Arch.Names. The same number means different registers
// on different CPUs.
type Reg uint8

// NoReg says that a CPU has no register of some role.
const NoReg Reg = 0xff

// MaxRegs is the largest number of general registers that a Regs can hold.
const MaxRegs = 48

// Arch is one CPU, as a table. Its registers come first; the other groups are embedded, one for
// each kind of reader.
type Arch struct {
	regs registers
	// Name is the stable lower-case name: "x86", "amd64", "arm", "arm64", …
	Name string
	// Names are the register names in the order in which Breakpad prints them, without "$".
	Names []string
	// Order are the same names in the order in which debuggers show them; nil where Names is in
	// that order.
	Order []string
	// Aliases are further names that symbol files have for a register (arm: "r13" for "sp").
	Aliases map[string]Reg
	// WordSize is the size of an address in bytes: 4 or 8.
	WordSize int
	// PC, SP, FP and LR are the registers of that role; NoReg where the processor has no such register (LR on x86).
	PC, SP, FP, LR Reg
	// IOSFramePointer is the register that has FP's role on iOS: r7 on arm, FP itself elsewhere.
	IOSFramePointer Reg
	// CalleeSaved are the registers that a function must give back unchanged, so that a caller's
	// value is the callee's if no rule says otherwise.
	CalleeSaved []Reg
	// CallSize is the distance that is taken from a return address to land inside the call
	// instruction: 1 on x86 and amd64 (an instruction has no fixed size), 2 on arm (Thumb), 4 on
	// arm64, 8 on mips (delay slot).
	CallSize uint64
	// DWARF maps DWARF register numbers to registers (NoReg where a number has no general register
	// here).
	DWARF []Reg
	// CFABias is the distance in bytes from the caller's stack pointer up to what DWARF calls the
	// CFA: 160 on s390x, whose callers reserve a register save area; 0 elsewhere.
	CFABias int64
	// Canonical reports whether an address can exist on this CPU. Nil means that every address can.
	Canonical func(addr uint64) bool
	// Frame is the layout of a frame that keeps a frame pointer.
	Frame FrameLayout
	// Contexts are the records in which dumps have its registers; of those with the same number and
	// flag the longest that fits is the one.
	Contexts []*ContextLayout

	Conventions
	Formats
	Code
}

// FrameStyle says what the frames of a CPU's standard convention hang on.
type FrameStyle uint8

const (
	// NoFrame: there is no convention that could be followed without call frame information.
	NoFrame FrameStyle = iota
	// FrameRecord: a register points into the frame; CFA = FP + CFAOffset.
	FrameRecord
	// BackChain: the stack pointer points at the caller's stack pointer; CFA = [SP]. The frame
	// pointer plays no part.
	BackChain
)

// FrameLayout is the standard frame of a CPU.
//
//	FrameRecord  CFA = FP + CFAOffset   RA = [CFA + RAOffset] + RABias   caller's FP = [CFA + FPOffset]
//	BackChain    CFA = [SP]             RA = [CFA + RAOffset] + RABias
type FrameLayout struct {
	Style                         FrameStyle
	CFAOffset, RAOffset, FPOffset int64
	// RABias is the distance from the saved word to the return address: 8 on sparc, whose calls
	// save their own address, 0 elsewhere.
	RABias int64
	// SysVRAOffset is RAOffset on systems other than macOS under a policy that tells them apart
	// (PPCByOS); 0 where it is the same.
	SysVRAOffset int64
}

// Conventions are what the walker has to know about a CPU's functions beyond the standard frame. Where
// a CPU may not be left out, the value 0 means that the table has a gap, and the package's test
// fails.
type Conventions struct {
	// EqualSP says when a caller may have its callee's stack pointer.
	EqualSP EqualSP
	// FPCheck says how to tell a frame pointer from a register that holds something else.
	FPCheck FPCheck
	// ScanFP says how a frame pointer is carried over a frame that was found by scanning.
	ScanFP ScanFP

	// FPOnlyOnIOS: no system but iOS keeps frame pointers (arm: lr and the frame register are free
	// for other uses elsewhere; rust-minidump 460).
	FPOnlyOnIOS bool
	// WindowsTables: on Windows functions without unwind data are leaves, and no compiler makes
	// frames that a chain of frame pointers would follow.
	WindowsTables bool
	// LinkInRecord: the word next to a saved frame pointer is the link register that the caller had
	// on entry, so that it can be recovered.
	LinkInRecord bool
	// LinkAlone: the link register of a thread's context is used without symbols that show whether
	// it is stale, as Breakpad does.
	LinkAlone bool
	// LinkStale: functions return by loading pc from the stack, and leave in the link register what
	// the last of their calls put there.
	LinkStale bool
	// PointerAuth: return addresses carry an authentication code in their upper bits (Arm ARM,
	// D8.10).
	PointerAuth bool
	// TopByteIgnored: the top byte of a data address means nothing (Arm ARM, D8.8).
	TopByteIgnored bool
	// AddressEnd is the first address that no program has; 0 where Canonical or nothing says it.
	AddressEnd uint64
	// RegisterWindow: DW_CFA_GNU_window_save says that the registers of the CPU's window are in the
	// frame.
	RegisterWindow bool
	// NoFaultAddress: after an access to an address that cannot exist the system does not know
	// which it was (a general protection fault).
	NoFaultAddress bool
	// StackWIN: symbol files have STACK WIN records for it, and PE files no tables of functions.
	StackWIN bool
	// GoReserved is how many words Go's functions keep free at sp, aligned as the stack is, for what
	// they call (MinFrameSize and StackAlign of internal/goarch). None where calls push.
	GoReserved int
	// SwappedDWARF: some compilers for Apple's systems swap the DWARF numbers of the stack pointer
	// and the frame pointer.
	SwappedDWARF bool
}

// EqualSP says when a caller may have its callee's stack pointer under the policies that ask the
// CPU (walker.EqualSPArm).
type EqualSP uint8

const (
	// EqualSPNever: calls push the return address, or rust-minidump, whose rule it is, makes no
	// difference for the CPU.
	EqualSPNever EqualSP = 1 + iota
	// EqualSPInterrupted: where the function did not make a call itself.
	EqualSPInterrupted
	// EqualSPMoved: where pc is another, in frame 0 or by call frame information.
	EqualSPMoved
)

// FPCheck says how to tell a frame pointer from a register that holds something else.
type FPCheck uint8

const (
	// FPUnchecked: by what is true of every caller (its pc, its sp).
	FPUnchecked FPCheck = 1 + iota
	// FPInStack: the return address is canonical, and the saved frame pointer is above the caller's
	// sp, in the stack.
	FPInStack
	// FPInRange: the return address is below AddressEnd.
	FPInRange
)

// ScanFP says how a frame pointer is carried over a frame that was found by scanning. Functions
// that keep one push their caller's right below the return address, where calls push that.
type ScanFP uint8

const (
	// ScanFPUnknown: the caller's frame pointer becomes unknown.
	ScanFPUnknown ScanFP = 1 + iota
	// ScanFPAbove: the word below the return address, if it points a little above itself.
	ScanFPAbove
	// ScanFPPointed: that word, if the callee's own frame pointer points at it too.
	ScanFPPointed
)

// Formats are the numbers and words by which files know a CPU.
type Formats struct {
	// Processors are its processor_architecture numbers in MINIDUMP_SYSTEM_INFO
	// (PROCESSOR_ARCHITECTURE_* of winnt.h; from 0x8001 on Breakpad's own), the usual one first.
	// Two CPUs may have the same number: then the context records decide.
	Processors []uint16
	// Module is the word of a symbol file's MODULE record and of a microdump, if it is not Name.
	// Source: Breakpad, src/common/linux/dump_symbols.cc (ElfArchitecture), and the words that its
	// minidump_processor has for what that function does not know; symbolic's Arch::name, which
	// Mozilla's dump_syms prints, has the same.
	Module string
	// Words are other words for it, or beginnings of such, than Name and Module.
	Words []string
	// Family is the name of another CPU whose files may belong to the same process; "" is Name.
	Family string
	// Underscore: Windows' compilers put one before the names of C functions.
	Underscore bool
	// PlainCFI: STACK CFI records name its registers without "$". Breakpad's readers look up
	// exactly the names that its dump_syms writes (RegisterNames in
	// src/common/dwarf_cfi_to_module.cc).
	PlainCFI bool
	// ELFMachines are its e_machine numbers, 0 for none; NotELFFlags are bits of e_flags that say
	// that the file is for another convention.
	ELFMachines [3]uint16
	NotELFFlags uint32
	// PEMachines are its IMAGE_FILE_MACHINE_* numbers, in PE and PDB files.
	PEMachines [3]uint16
	// CoreLines are the registers of a thread in an ELF core of Linux (elf_gregset_t in the kernel's
	// arch/*/include/uapi/asm/ptrace.h), as in ContextLayout.Lines.
	CoreLines string
	// CoreSets are the further notes with registers that an ELF core has of a thread.
	CoreSets []CoreSet
	// MachO is its cpu_type_t; 0 for none.
	MachO uint32
	// SFrameBig and SFrameLittle are its ABIs in SFrame sections; 0 for none.
	SFrameBig, SFrameLittle uint8
}

// ProcessorName is a number of MINIDUMP_SYSTEM_INFO with its name.
type ProcessorName struct {
	Number uint16
	Name   string
}

// OtherProcessors are numbers of CPUs that have no table here, so that no context record of theirs
// is read.
var OtherProcessors = []ProcessorName{{2, "alpha"}, {4, "shx"}, {6, "ia64"}, {7, "alpha64"}, {8, "msil"}}

// SecondProcessors are the names of further numbers of CPUs that have a table.
var SecondProcessors = []ProcessorName{{10, "x86 on Windows 64"}, {13, "arm on Windows 64"}, {14, "x86 on Windows for arm64"}, {0x8003, "arm64 (Breakpad's older number)"}}

// ModuleWord is Module, or Name.
func (a *Arch) ModuleWord() string { return cmp.Or(a.Module, a.Name) }

// CoreSet is a note with registers in an ELF core of Linux, by its type (include/uapi/linux/elf.h):
// a register set of the kernel (arch/*/kernel/ptrace.c). Lines are as in ContextLayout.Lines. A set
// that XSAVE wrote has none: its mask says what there is.
type CoreSet struct {
	Type  uint32
	Lines string
}

// Types of notes of CoreSets.
const (
	noteFloat     = 2          // NT_FPREGSET
	noteX86FXSave = 0x46e62b7f // NT_PRXFPREG
	NoteXState    = 0x202      // NT_X86_XSTATE
	noteARMVFP    = 0x400      // NT_ARM_VFP
	notePPCVMX    = 0x100      // NT_PPC_VMX
	notePPCVSX    = 0x102      // NT_PPC_VSX
	noteS390Low   = 0x309      // NT_S390_VXRS_LOW
	noteS390High  = 0x30a      // NT_S390_VXRS_HIGH
	noteLoongLSX  = 0xa02      // NT_LOONGARCH_LSX
	noteLoongLASX = 0xa03      // NT_LOONGARCH_LASX
)

// CoreLayout is how ELF cores have a thread's registers, which have no flags; nil if that is not known.
func (a *Arch) CoreLayout() *ContextLayout {
	fields := Fields(a.CoreLines)
	if len(fields) == 0 {
		return nil
	}
	last := fields[len(fields)-1]
	size := last.Off + last.Size
	return &ContextLayout{Arch: a, What: a.Name, FlagsAt: size, Size: size, Lines: a.CoreLines}
}

// FamilyName is Family, or Name.
func (a *Arch) FamilyName() string { return cmp.Or(a.Family, a.Name) }

// Code are the instructions that matter to a walk.
type Code struct {
	// IsCall reports whether the instruction before a return address is a call. It sees the
	// CallBytes bytes (at most MaxCallBytes) that end there, the return address, and the byte order
	// of the dump's data. Every return address follows a call; a word on the stack that points
	// elsewhere into code (a function's address in a table, a jump target, a stale pointer) does
	// not.
	IsCall    func(b []byte, next uint64, order binary.ByteOrder) bool
	CallBytes int
	// Target is where the call before a return address goes. It gets the same bytes as IsCall;
	// false if that is not a call of a constant address.
	Target func(b []byte, next uint64, order binary.ByteOrder) (uint64, bool)
	// Jump is where the first instruction of some code jumps, always or on a condition; false if
	// that is not a jump to a constant address, or the code has less than MaxJumpBytes bytes. The
	// address has the Thumb bit. JumpAlign is the distance at which instructions can begin. Both are
	// zero on a CPU on which jumps are not followed.
	Jump      func(code []byte, at uint64, order binary.ByteOrder) (uint64, bool)
	JumpAlign int
	// Leaves reports whether some code ends with a jump to where a register or memory says, and so
	// to any address; nil where that is not known.
	Leaves func(code []byte) bool
	// Stubs finds code that jumps to what a slot holds, as ELF.Stubs does; nil where it is not used.
	Stubs func(p *PLT, found func(Stub))
	// ThumbBit: the lowest bit of a code address says which instruction set it has, and is not part
	// of the address.
	ThumbBit bool
	// Signals are the forms of the code that returns from a signal's handler. SignalsInVDSO: C
	// libraries have none of their own, so that the kernel's page has it. LittleCode: instructions are
	// little-endian where data is big-endian, too.
	Signals       []SignalReturn
	SignalsInVDSO bool
	LittleCode    bool
	// Instructions says who decodes the crashing instruction for crash analysis.
	Instructions Instructions
}

// CodeAddress returns where the code at an address is: the address without its Thumb bit.
func (a *Arch) CodeAddress(addr uint64) uint64 {
	if a.ThumbBit {
		return addr &^ 1
	}
	return addr
}

// MaxCallBytes is the most that Code.CallBytes may be, MaxJumpBytes the size of the longest jump.
const MaxCallBytes, MaxJumpBytes = 8, 8

// Instructions is an instruction set for which crash analysis has a decoder.
type Instructions uint8

const (
	// NotDecoded: crash analysis has no decoder. core/disasm may have one, which lists the code.
	NotDecoded Instructions = 1 + iota
	// DecodedX86: the instructions of x86 and amd64, which differ by the word size.
	DecodedX86
	// DecodedA64: those of arm64.
	DecodedA64
)

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

// Shown returns the registers in the order in which debuggers show them. Numbers without a name are
// not among them.
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

// RegName returns the name of r, or "?" if the CPU has no such register.
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

// Regs are the general registers of one frame: a value each, and whether it is known. Absent is not
// zero.
type Regs struct {
	Arch  *Arch
	vals  [MaxRegs]uint64
	known uint64
	// Mode is the instruction set that a thread's context says it was in.
	Mode Mode
}

// Mode is an instruction set of a CPU that has several.
type Mode uint8

const (
	AnyMode Mode = iota // not known
	ARMMode
	ThumbMode
)

// ModeOf returns the instruction set by cpsr. Writers that do not have the register write 0 there,
// which is not the mode that programs run in (ARM Architecture Reference Manual, B1.3: 0x10, user;
// bit 5 is Thumb).
func ModeOf(cpsr uint64) Mode {
	switch cpsr & 0x3f {
	case 0x10:
		return ARMMode
	case 0x30:
		return ThumbMode
	}
	return AnyMode
}

// Get returns the value of r and whether it is known.
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

// PC returns the program counter, or 0 if it is not known.
func (g *Regs) PC() uint64 { v, _ := g.Get(g.Arch.PC); return v }

// SP returns the stack pointer, or 0 if it is not known.
func (g *Regs) SP() uint64 { v, _ := g.Get(g.Arch.SP); return v }
