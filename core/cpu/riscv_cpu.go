package cpu

import (
	"encoding/binary"
	"strconv"
)

// RISCV and RISCV64 are the 32-bit and 64-bit RISC-V architectures. The order is that of Breakpad's
// context record: pc, then x1 to x31 by their names in the calling convention. x0 is always 0 and
// no register of a frame. DWARF numbers are those of the RISC-V ELF psABI, section 8.1: 1 to 31
// are x1 to x31.
//
// A call has 4 bytes, or 2 where it is compressed; 2 bytes before the return address is inside
// either. (Breakpad takes 4, which is the instruction before a compressed call.)
//
// The frame pointer holds the CFA itself (psABI, section "Frame Pointer Convention"). Breakpad's
// walker reads the pair above it, at arm64's place, where no compiler puts it.
//
//	caller: sp = s0, pc = [s0 - word], s0 = [s0 - 2 words]
var (
	RISCV = newRISCV("riscv", 4, "", isRISCV32Call, 0x8005, 0x00800000, 0,
		riscvForm{16, false}, riscvForm{8, false}, riscvForm{4, true}, riscvForm{4, false})
	RISCV64 = newRISCV("riscv64", 8, "riscv", isRISCV64Call, 0x8006, 0x08000000, 0x5064,
		riscvForm{16, false}, riscvForm{8, true}, riscvForm{4, false})
)

const riscvGeneral = "ra sp gp tp t0-2 s0-1 a0-7 s2-11 t3-6"

func newRISCV(name string, word int, family string, call func([]byte, uint64, binary.ByteOrder) bool, proc uint16, flag uint32, pe uint16, forms ...riscvForm) *Arch {
	w := int64(word)
	a := &Arch{
		Name:        name,
		WordSize:    word,
		CallSize:    2,
		Frame:       FrameLayout{Style: FrameRecord, RAOffset: -w, FPOffset: -2 * w},
		Conventions: Conventions{EqualSP: EqualSPNever, FPCheck: FPUnchecked, ScanFP: ScanFPUnknown, GoReserved: 1},
		Formats: Formats{Processors: []uint16{proc}, Family: family, PlainCFI: true,
			ELFMachines: [3]uint16{243}, PEMachines: [3]uint16{pe}, CoreLines: "0 " + strconv.Itoa(word) + " pc " + riscvGeneral,
			CoreSets: []CoreSet{{Type: noteFloat, Lines: "0 8 f0-31\n256 4 fcsr"}}}, // struct __riscv_d_ext_state
		// li a7, 139; ecall. The rt_sigframe is a siginfo of 128 bytes and a ucontext: flags, link,
		// stack, a signal mask of 128 bytes, and aligned to 16 the registers
		// (arch/riscv/kernel/signal.c, include/uapi/asm/ucontext.h).
		Code: Code{SignalsInVDSO: true, IsCall: call, CallBytes: 4, Target: riscvTarget, Jump: riscvJump, JumpAlign: 2, Stubs: riscvStubs, Instructions: NotDecoded, Signals: []SignalReturn{
			{Unit: 4, Code: []uint32{0x08b00893, 0x73}, At: 128 + (5*word+128+15)&^15, Lines: "0 " + strconv.Itoa(word) + " pc " + riscvGeneral},
		}},
	}
	for _, form := range forms {
		a.Contexts = append(a.Contexts, form.layout(word, flag))
	}
	a.regs = registers{
		names:   "pc " + riscvGeneral,
		aliases: "fp=s0 x1=ra x2=sp x3=gp x4=tp x5-7=t0-2 x8-9=s0-1 x10-17=a0-7 x18-27=s2-11 x28-31=t3-6",
		pc:      "pc", sp: "sp", fp: "s0", lr: "ra",
		saved: "s0-11",
		dwarf: "1=" + riscvGeneral,
	}
	return newArch(a)
}

// riscvForm is one form of a RISC-V record: the size of a floating-point register in bytes, and
// whether a version follows the flags. Breakpad's header of 2022 (minidump_cpu_riscv.h
// MDRawContextRISCV and MDRawContextRISCV64) had no version, and floating-point registers as wide
// as those of the machine that wrote the record. That of 2023 has a version, and 4 bytes for 32-bit
// machines, 8 for 64-bit ones. Crashpad's for riscv64 has the same layout, rust-minidump none.
type riscvForm struct {
	fpr       int
	versioned bool
}

// layout returns the record of that form.
//
//	0 flags u32 · version u32, if there is one · pc and x1 to x31, a word each · 32 floating-point registers · fcsr u32
//
// Each number is aligned to its size, one of 16 bytes to 8. So where words have 8 bytes, a version
// takes the place of padding.
func (r riscvForm) layout(word int, flag uint32) *ContextLayout {
	l := &ContextLayout{Flag: flag}
	at := 4
	add := func(size int, names string, n int) {
		l.Lines += strconv.Itoa(at) + " " + strconv.Itoa(size) + " " + names + "\n"
		at += n * size
	}
	if r.versioned || word == 8 {
		add(4, "_", 1)
	}
	add(word, "pc "+riscvGeneral, 32)
	if r.fpr > 4 && at%8 != 0 {
		add(4, "_", 1)
	}
	add(r.fpr, "f0-31", 32)
	add(4, "fcsr", 1)
	l.Size = at
	return l
}

// isRISCV64Call: JAL and JALR that keep their address in a link register, ra or t0 (RISC-V
// unprivileged ISA, 2.5.1), and the short C.JALR (27.5).
func isRISCV64Call(b []byte, _ uint64, _ binary.ByteOrder) bool {
	w := le32(b)
	half := w >> 16
	return w&0xdff == 0xef || w&0x7dff == 0xe7 || half&0xf07f == 0x9002 && half&0xf80 != 0
}

// isRISCV32Call: there is C.JAL too, whose code is another instruction where words have 64 bits.
func isRISCV32Call(b []byte, next uint64, order binary.ByteOrder) bool {
	return isRISCV64Call(b, next, order) || le32(b)>>16&0xe003 == 0x2001
}

// riscvTarget is where JAL goes with ra, riscvJump where it goes with x0 (RISC-V unprivileged ISA,
// 2.5.1). Far calls and jumps are AUIPC and JALR, by a register.
func riscvTarget(b []byte, next uint64, _ binary.ByteOrder) (uint64, bool) {
	w := le32(b)
	// The last half of a longer instruction may be C.JALR.
	return next - 4 + uint64(riscvOffset(w)), w&0xfff == 0xef && w>>16&0xf07f != 0x9002
}

func riscvJump(b []byte, at uint64, _ binary.ByteOrder) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	w := le32(b)
	return at + uint64(riscvOffset(w)), w&0xfff == 0x6f
}

// riscvOffset puts the bits of a J-type offset in order: 20, 10 to 1, 11, 19 to 12.
func riscvOffset(w uint32) int64 {
	return signed(w>>31<<20|w>>21&0x3ff<<1|w>>20&1<<11|w>>12&0xff<<12, 21)
}

var riscvELF = ELF{
	CPU: "riscv",
	Relocations: []Relocation{{1, Absolute, 4}, {2, Absolute, 8}, {33, AddTo, 1}, {34, AddTo, 2}, {35, AddTo, 4}, {36, AddTo, 8}, {37, SubFrom, 1}, {38, SubFrom, 2},
		{39, SubFrom, 4}, {40, SubFrom, 8}, {52, SubFrom6, 1}, {53, Set6, 1}, {54, Absolute, 1}, {55, Absolute, 2}, {56, Absolute, 4},
		{57, Relative, 4}, {60, SetULEB, 0}, {61, SubULEB, 0}},
	Slots:          []uint32{1, 2, 5}, // plain words in the place of GLOB_DAT
	Stubs:          riscvStubs,
	MappingSymbols: true,
}

// riscvStubs: auipc t3, high; ld (lw) t3, low(t3); jalr t1, t3; nop.
func riscvStubs(p *PLT, found func(Stub)) {
	code := p.Code
	for i := 0; i+12 <= len(code); i += 4 {
		auipc, load, jalr := le32(code[i:]), le32(code[i+4:]), le32(code[i+8:])
		if auipc&0xfff != 0xe17 || load&0xfffff != 0xe3e03 && load&0xfffff != 0xe2e03 || jalr != 0x000e0367 {
			continue
		}
		slot := p.Address + uint64(i) + uint64(int64(int32(auipc&^0xfff))) + uint64(int64(int32(load)>>20))
		found(Stub{At: p.Address + uint64(i), Size: 16, Slot: slot})
	}
}
