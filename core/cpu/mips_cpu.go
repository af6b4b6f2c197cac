package cpu

import "encoding/binary"

// MIPS and MIPS64 are the 32-bit (o32) and 64-bit (n64) MIPS architectures. Both have the same
// registers; their names are those of o32, which Breakpad's symbol files use for both ("$to" is its
// spelling of t0). DWARF numbers are those of the MIPS processor supplement: 0 to 31 are the
// general registers.
//
// A call is followed by its delay slot, so the return address is two instructions after it. There
// is no chain of frame pointers: the return address is where the compiler saw fit.
var (
	MIPS = newMIPS("mips", 4, "", 1, 0x00040000,
		// li v0, 4193; syscall, and 4119 for handlers without SA_SIGINFO. Frames begin with space for
		// four arguments and 8 bytes of padding. A siginfo of 128 bytes and the head of a ucontext,
		// 24 bytes, follow, or at once the sigcontext (arch/mips/kernel/signal.c; for o32
		// include/uapi/asm/sigcontext.h: masks, pc, registers, of 64 bits each).
		SignalReturn{Unit: 4, Code: []uint32{0x24021061, 0xc}, At: 24 + 128 + 24, Info: 24, Swapped: true, Lines: "8 8 pc " + mipsGeneral},
		SignalReturn{Unit: 4, Code: []uint32{0x24021017, 0xc}, At: 24, Lines: "8 8 pc " + mipsGeneral, Plain: true})
	MIPS64 = newMIPS("mips64", 8, " gp", 0x8004, 0x00080000,
		// li v0, 5211; syscall. The ucontext's head has 40 bytes, pc is behind the floating-point
		// registers and mdhi, mdlo and their like.
		SignalReturn{Unit: 4, Code: []uint32{0x2402145b, 0xc}, At: 24 + 128 + 40, Info: 24, Swapped: true, Lines: "0 8 " + mipsGeneral + "\n576 8 pc"})
)

const mipsGeneral = "zero at v0-1 a0-3 t0-7 s0-7 t8-9 k0-1 gp sp fp ra"

// newMIPS makes the table of one of them. saved are callee-saved registers of its own: n64 lets the
// callee keep its caller's gp, o32 does not.
func newMIPS(name string, word int, saved string, number uint16, flag uint32, signals ...SignalReturn) *Arch {
	f := Formats{Processors: []uint16{number}, ELFMachines: [3]uint16{8, 10},
		CoreSets: []CoreSet{{Type: noteFloat, Lines: "0 8 f0-31\n256 4 fpcsr fir"}}} // elf_fpregset_t
	if word == 8 {
		f.Family = "mips"
		f.CoreLines = "0 8 " + mipsGeneral + " mdlo mdhi pc"
	} else {
		f.NotELFFlags = 0x20 // EF_MIPS_ABI2, the n32 convention
		f.CoreLines = "24 4 " + mipsGeneral + " mdlo mdhi pc"
	}
	return newArch(&Arch{regs: registers{
		names:   mipsGeneral + " pc",
		aliases: "to=t0 s8=fp",
		pc:      "pc", sp: "sp", fp: "fp", lr: "ra",
		saved: "s0-7 fp" + saved,
		dwarf: mipsGeneral,
	},
		Name:        name,
		WordSize:    word,
		CallSize:    8,
		Conventions: Conventions{EqualSP: EqualSPNever, FPCheck: FPUnchecked, ScanFP: ScanFPUnknown, GoReserved: 1},
		Formats:     f,
		Code:        Code{SignalsInVDSO: true, IsCall: isMIPSCall, CallBytes: 8, Target: mipsTarget, Jump: mipsJump, JumpAlign: 4, Instructions: NotDecoded, Signals: signals},
		Contexts: []*ContextLayout{
			// minidump_cpu_mips.h MDRawContextMIPS, MDFloatingSaveAreaMIPS; format.rs 1200 and
			// 1189. Registers have 64 bits on both.
			{Flag: flag, Size: 600, Lines: `
			4	4	_
			8	8	` + mipsGeneral + ` mdhi mdlo
			280	4	hi0-2 lo0-2 dsp_control _
			312	8	pc badvaddr
			328	4	status cause
			336	8	f0-31
			592	4	fpcsr fir
			`},
		},
	})
}

// isMIPSCall: JAL, JALX, JALR and the branches that link (BLTZAL, BGEZAL and their likely forms),
// which precede their delay slot (MIPS32 Architecture, volume II); BALC and JIALC of release 6,
// which have no delay slot.
func isMIPSCall(b []byte, _ uint64, order binary.ByteOrder) bool {
	if w := order.Uint32(b[4:]); w>>26 == 0x3a || w>>21 == 0x3e<<5 {
		return true
	}
	w := order.Uint32(b)
	switch w >> 26 {
	case 3, 0x1d:
		return true
	case 0:
		return w&0x3f == 9 && w>>11&31 != 0
	case 1:
		return w>>18&7 == 4
	}
	return false
}

// mipsTarget is where jal and bal go, which are followed by their delay slot, mipsJump where j and b
// go (MIPS32 ISA: the address after the jump with its lowest 28 bits replaced, or a distance from it).
func mipsTarget(b []byte, next uint64, order binary.ByteOrder) (uint64, bool) {
	w := order.Uint32(b)
	switch {
	case w>>26 == 3:
		return mipsRegion(w, next-4), true
	case w>>16 == 0x0411:
		return next - 4 + uint64(signed(w, 16)*4), true
	}
	return 0, false
}

func mipsJump(b []byte, at uint64, order binary.ByteOrder) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	switch w := order.Uint32(b); {
	case w>>26 == 2:
		return mipsRegion(w, at+4), true
	case w>>16 == 0x1000:
		return at + 4 + uint64(signed(w, 16)*4), true
	}
	return 0, false
}

func mipsRegion(w uint32, after uint64) uint64 { return after&^0xfffffff | uint64(w&0x3ffffff)<<2 }

var mipsELF = ELF{
	CPU:            "mips",
	Relocations:    []Relocation{{2, Absolute, 4}, {18, Absolute, 8}, {38, Absolute, 4}, {39, Absolute, 4}, {41, Absolute, 8}, {248, Relative, 4}},
	Slots:          []uint32{127},
	Stubs:          mipsStubs,
	TripleTypes:    true,
	OtherISA:       true,
	MappingSymbols: true,
}

// mipsStubs: lui $15, high; lw (ld) $25, low($15); …; jr $25 in 16 bytes.
func mipsStubs(p *PLT, found func(Stub)) {
	code := p.Code
	for i := 0; i+16 <= len(code); i += 4 {
		lui, load := p.Order.Uint32(code[i:]), p.Order.Uint32(code[i+4:])
		if lui>>16 != 0x3c0f || load>>16 != 0x8df9 && load>>16 != 0xddf9 {
			continue
		}
		slot := uint64(int64(int32(lui<<16)) + int64(int16(load)))
		found(Stub{At: p.Address + uint64(i), Size: 16, Slot: slot})
	}
}
