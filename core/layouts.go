package core

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// field is one register of a context record: its name, where it lies, and how many bytes it has.
type field struct {
	Name string
	Off  int
	Size int
}

// contextLayout is one kind of context record.
type contextLayout struct {
	Arch *cpu.Arch
	What string // in errors
	// Procs are the SystemInfo processors whose threads have this record, the usual one first.
	Procs []uint16
	// Flag is the bit of ContextFlags that marks the CPU; FlagsOff is where ContextFlags lies.
	Flag     uint32
	FlagsOff int
	// WideFlags: ContextFlags has 64 bits.
	WideFlags bool
	Size      int
	// Larger records are fine: a CPU with extended state (XSTATE) appends it.
	Regs  []field // one for each of Arch.Names
	Extra []field
	// Pad are the bytes of the record that carry nothing: padding and what the format reserves.
	Pad []field
}

// contextLayouts are the context records this package reads: these, and those of risc_layouts.go.
var contextLayouts = append(commonLayouts, riscLayouts...)

// commonLayouts are the records of the CPUs that all writers know. Above each is where it is defined: the structure of Windows'
// winnt.h, that of Breakpad's header (src/google_breakpad/common, as of 2024), and the line of minidump-common 0.26.1's format.rs.
var commonLayouts = []contextLayout{
	// winnt.h CONTEXT; minidump_cpu_x86.h MDRawContextX86, MDFloatingSaveAreaX86; format.rs 1384 and 1366
	{Arch: cpu.X86, What: "x86", Procs: []uint16{ProcX86, ProcX86Win64}, Flag: 0x00010000, Size: x86ContextSize,
		Regs: []field{
			{"edi", 156, 4}, {"esi", 160, 4}, {"ebx", 164, 4}, {"edx", 168, 4}, {"ecx", 172, 4}, {"eax", 176, 4},
			{"ebp", 180, 4}, {"eip", 184, 4}, {"efl", 192, 4}, {"esp", 196, 4}},
		Extra: join([]field{
			{"dr0", 4, 4}, {"dr1", 8, 4}, {"dr2", 12, 4}, {"dr3", 16, 4}, {"dr6", 20, 4}, {"dr7", 24, 4},
			{"fctrl", 28, 4}, {"fstat", 32, 4}, {"ftag", 36, 4}, {"fioff", 40, 4}, {"fiseg", 44, 4}, {"fooff", 48, 4}, {"foseg", 52, 4}},
			series("st%d", 8, 56, 10, 10),
			[]field{{"cr0_npx", 136, 4}, {"gs", 140, 4}, {"fs", 144, 4}, {"es", 148, 4}, {"ds", 152, 4}, {"cs", 188, 4}, {"ss", 200, 4},
				// The last 512 bytes are an FXSAVE area (Intel SDM vol. 1, table 10-2), which repeats the x87 registers.
				{"fx_fctrl", 204, 2}, {"fx_fstat", 206, 2}, {"fx_ftag", 208, 1}, {"fx_fop", 210, 2}, {"fx_fioff", 212, 4}, {"fx_fiseg", 216, 2},
				{"fx_fooff", 220, 4}, {"fx_foseg", 224, 2}, {"mxcsr", 228, 4}, {"mxcsr_mask", 232, 4}},
			series("fx_st%d", 8, 236, 16, 10),
			series("xmm%d", 8, 204+160, 16, 16)),
		Pad: join([]field{{"fx_reserved", 209, 1}, {"fx_reserved", 218, 2}, {"fx_reserved", 226, 2}}, reserved(8, 246, 16, 6),
			[]field{{"fx_reserved", 492, 224}}),
	},
	// winnt.h CONTEXT, XMM_SAVE_AREA32; minidump_cpu_amd64.h MDRawContextAMD64, MDXmmSaveArea32AMD64; format.rs 976 and 923
	{Arch: cpu.AMD64, What: "amd64", Procs: []uint16{ProcAMD64}, Flag: 0x00100000, FlagsOff: 48, Size: amd64ContextSize,
		Regs: []field{
			{"rax", 120, 8}, {"rcx", 128, 8}, {"rdx", 136, 8}, {"rbx", 144, 8}, {"rsp", 152, 8}, {"rbp", 160, 8},
			{"rsi", 168, 8}, {"rdi", 176, 8}, {"r8", 184, 8}, {"r9", 192, 8}, {"r10", 200, 8}, {"r11", 208, 8},
			{"r12", 216, 8}, {"r13", 224, 8}, {"r14", 232, 8}, {"r15", 240, 8}, {"rip", 248, 8}},
		Extra: join(
			seriesFrom(1, "p%d_home", 6, 0, 8, 8),
			[]field{
				{"mx_csr", 52, 4}, {"cs", 56, 2}, {"ds", 58, 2}, {"es", 60, 2}, {"fs", 62, 2}, {"gs", 64, 2}, {"ss", 66, 2}, {"eflags", 68, 4},
				{"dr0", 72, 8}, {"dr1", 80, 8}, {"dr2", 88, 8}, {"dr3", 96, 8}, {"dr6", 104, 8}, {"dr7", 112, 8},
				// the FXSAVE area
				{"fctrl", 256, 2}, {"fstat", 258, 2}, {"ftag", 260, 1}, {"fop", 262, 2}, {"fioff", 264, 4}, {"fiseg", 268, 2},
				{"fooff", 272, 4}, {"foseg", 276, 2}, {"mxcsr", 280, 4}, {"mxcsr_mask", 284, 4}},
			series("st%d", 8, 288, 16, 10),
			series("xmm%d", 16, 416, 16, 16),
			series("v%d", 26, 768, 16, 16),
			[]field{{"vector_control", 1184, 8}, {"debug_control", 1192, 8}, {"last_branch_to_rip", 1200, 8},
				{"last_branch_from_rip", 1208, 8}, {"last_exception_to_rip", 1216, 8}, {"last_exception_from_rip", 1224, 8}}),
		Pad: join([]field{{"fx_reserved", 261, 1}, {"fx_reserved", 270, 2}, {"fx_reserved", 278, 2}}, reserved(8, 298, 16, 6),
			[]field{{"fx_reserved", 672, 96}}),
	},
	// winnt.h CONTEXT of 32-bit ARM, which both peers refuse. The general registers are where Breakpad has them.
	{Arch: cpu.ARM, What: "arm", Procs: []uint16{ProcARM}, Flag: 0x00200000, Size: 416,
		Regs: armRegs(),
		Extra: join([]field{{"cpsr", 68, 4}, {"fpscr", 72, 4}}, series("d%d", 32, 80, 8, 8),
			series("bvr%d", 8, 336, 4, 4), series("bcr%d", 8, 368, 4, 4), []field{{"wvr0", 400, 4}, {"wcr0", 404, 4}}),
		Pad: []field{{"padding", 76, 4}, {"padding2", 408, 8}},
	},
	// minidump_cpu_arm.h MDRawContextARM, MDFloatingSaveAreaARM; format.rs 1049 and 1037
	{Arch: cpu.ARM, What: "arm", Procs: []uint16{ProcARM}, Flag: 0x40000000, Size: 368,
		Regs: armRegs(),
		Extra: join([]field{{"cpsr", 68, 4}, {"fpscr", 72, 8}},
			series("d%d", 32, 80, 8, 8), series("fpextra%d", 8, 336, 4, 4)),
	},
	// winnt.h ARM64_NT_CONTEXT; minidump_cpu_arm64.h MDRawContextARM64, MDFloatingSaveAreaARM64; format.rs 1150
	{Arch: cpu.ARM64, What: "arm64", Procs: []uint16{ProcARM64, ProcARM64Old}, Flag: 0x00400000, Size: 912,
		Regs: join(series("x%d", 29, 8, 8, 8),
			[]field{{"fp", 240, 8}, {"lr", 248, 8}, {"sp", 256, 8}, {"pc", 264, 8}}),
		Extra: join([]field{{"cpsr", 4, 4}}, series("v%d", 32, 272, 16, 16),
			[]field{{"fpcr", 784, 4}, {"fpsr", 788, 4}},
			series("bcr%d", 8, 792, 4, 4), series("bvr%d", 8, 824, 8, 8), series("wcr%d", 2, 888, 4, 4), series("wvr%d", 2, 896, 8, 8)),
	},
	// minidump_cpu_arm64.h MDRawContextARM64_Old, packed to 4 bytes, MDFloatingSaveAreaARM64_Old; format.rs 1103
	{Arch: cpu.ARM64, What: "old arm64", Procs: []uint16{ProcARM64Old, ProcARM64}, Flag: 0x80000000, WideFlags: true, Size: 796,
		Regs: join(series("x%d", 29, 8, 8, 8),
			[]field{{"fp", 240, 8}, {"lr", 248, 8}, {"sp", 256, 8}, {"pc", 264, 8}}),
		Extra: join([]field{{"cpsr", 272, 4}, {"fpsr", 276, 4}, {"fpcr", 280, 4}}, series("v%d", 32, 284, 16, 16)),
	},
}

// armRegs are r0 to r15, which both kinds of 32-bit ARM record have alike.
func armRegs() []field {
	return join(series("r%d", 11, 4, 4, 4),
		[]field{{"fp", 48, 4}, {"r12", 52, 4}, {"sp", 56, 4}, {"lr", 60, 4}, {"pc", 64, 4}})
}

const (
	x86ContextSize   = 716
	amd64ContextSize = 1232
	// contextCPUMask are the bits of ContextFlags that tell the CPU; the lower ones say which parts are filled in.
	contextCPUMask = 0xffffff00
	// contextXState says that extended state follows the record.
	contextXState = 0x40
	// armOldFlag marked arm in dumps of Windows CE; it is contextXState's bit on the other CPUs.
	armOldFlag = 0x40
)

// series are n registers of size bytes, step bytes apart, numbered from 0. The number stands at %d in the name.
func series(name string, n, off, step, size int) []field {
	return seriesFrom(0, name, n, off, step, size)
}

// seriesFrom is series numbered from first. These tables are made at every start of a program, so they are made without fmt.
func seriesFrom(first int, name string, n, off, step, size int) []field {
	out := make([]field, n)
	before, after, numbered := strings.Cut(name, "%d")
	for i := range out {
		if numbered {
			name = before + strconv.Itoa(first+i) + after
		}
		out[i] = field{name, off + i*step, size}
	}
	return out
}

// reserved are the gaps between registers that have more room than bytes.
func reserved(n, off, step, size int) []field {
	return series("reserved", n, off, step, size)
}

func join(parts ...[]field) []field {
	var out []field
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// procNames are the processors that SystemInfo can name, in Breakpad's words.
var procNames = map[uint16]string{
	ProcX86: "x86", ProcMIPS: "mips", ProcPPC: "ppc", ProcARM: "arm", ProcAMD64: "amd64", ProcX86Win64: "x86 on Windows 64",
	ProcARM64: "arm64", ProcSPARC: "sparc", ProcPPC64: "ppc64", ProcARM64Old: "arm64", ProcMIPS64: "mips64",
	ProcRISCV: "riscv", ProcRISCV64: "riscv64",
	// No table, no context record.
	ProcAlpha: "alpha", ProcSHX: "shx", ProcIA64: "ia64", ProcAlpha64: "alpha64",
}

// flags reads a record's ContextFlags, 0 if it has none.
func (l *contextLayout) flags(raw []byte, order binary.ByteOrder) uint32 {
	switch {
	case l.WideFlags && len(raw) >= l.FlagsOff+8:
		return uint32(order.Uint64(raw[l.FlagsOff:]))
	case !l.WideFlags && len(raw) >= l.FlagsOff+4:
		return order.Uint32(raw[l.FlagsOff:])
	}
	return 0
}

// flagsSize is the size of ContextFlags in bytes.
func (l *contextLayout) flagsSize() int {
	if l.WideFlags {
		return 8
	}
	return 4
}

func (l *contextLayout) has(proc uint16) bool {
	for _, p := range l.Procs {
		if p == proc {
			return true
		}
	}
	return false
}
