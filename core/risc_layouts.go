package core

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
)

// riscLayouts are the records that only Breakpad (and for riscv64 Crashpad, with the same layout) defines. Above each is where: the
// structure of Breakpad's header (src/google_breakpad/common, as of 2024), and the line of minidump-common 0.26.1's format.rs,
// which has none for RISC-V.
var riscLayouts = []contextLayout{
	// minidump_cpu_mips.h MDRawContextMIPS, MDFloatingSaveAreaMIPS; format.rs 1200 and 1189
	mipsLayout(cpu.MIPS, ProcMIPS, 0x00040000),
	mipsLayout(cpu.MIPS64, ProcMIPS64, 0x00080000),
	// minidump_cpu_ppc.h MDRawContextPPC, packed to 4 bytes, MDFloatingSaveAreaPPC, MDVectorSaveAreaPPC; format.rs 1279, 1257, 1266
	{Arch: cpu.PPC, What: "ppc", Procs: []uint16{ProcPPC}, Flag: 0x20000000, Size: 1004,
		Regs:  join([]field{{"srr0", 4, 4}}, series("r%d", 32, 12, 4, 4), []field{{"cr", 140, 4}, {"xer", 144, 4}, {"lr", 148, 4}, {"ctr", 152, 4}}),
		Extra: join([]field{{"srr1", 8, 4}, {"mq", 156, 4}, {"vrsave", 160, 4}}, ppcVectors(164)),
		Pad:   ppcPad(164)},
	// minidump_cpu_ppc64.h MDRawContextPPC64; format.rs 1306
	{Arch: cpu.PPC64, What: "ppc64", Procs: []uint16{ProcPPC64}, Flag: 0x01000000, WideFlags: true, Size: 1160,
		Regs:  join([]field{{"srr0", 8, 8}}, series("r%d", 32, 24, 8, 8), []field{{"cr", 280, 8}, {"xer", 288, 8}, {"lr", 296, 8}, {"ctr", 304, 8}}),
		Extra: join([]field{{"srr1", 16, 8}, {"vrsave", 312, 8}}, ppcVectors(320)),
		Pad:   ppcPad(320)},
	// minidump_cpu_sparc.h MDRawContextSPARC, MDFloatingSaveAreaSPARC; format.rs 1341 and 1330.
	// The registers have 64 bits in the record also where the CPU has 32; on a 64-bit one, the lower halves are what Breakpad reads.
	{Arch: cpu.SPARC, What: "sparc", Procs: []uint16{ProcSPARC}, Flag: 0x10000000, Size: 584,
		Regs: join(series("g%d", 8, 8, 8, 8), series("o%d", 6, 72, 8, 8), []field{{"sp", 120, 8}, {"o7", 128, 8}},
			series("l%d", 8, 136, 8, 8), series("i%d", 6, 200, 8, 8), []field{{"fp", 248, 8}, {"i7", 256, 8}, {"pc", 272, 8}, {"npc", 280, 8}}),
		// ccr, asi and fprs are psr, wim and tbr on SPARC V7 and V8.
		Extra: join([]field{{"ccr", 264, 8}, {"y", 288, 8}, {"asi", 296, 8}, {"fprs", 304, 8}},
			evenDoubles(312), []field{{"fsr", 576, 8}}),
		Pad: []field{{"flag_pad", 4, 4}, {"filler", 568, 8}}},
	// minidump_cpu_riscv.h MDRawContextRISCV and MDRawContextRISCV64. The header of 2022 had no version, and floating-point registers
	// as wide as those of the machine that wrote the record. That of 2023 has a version, and 4 bytes for 32-bit machines, 8 for
	// 64-bit ones. The longest form that fits is the one.
	riscvForm{cpu.RISCV, 16, false}.layout(), riscvForm{cpu.RISCV, 8, false}.layout(),
	riscvForm{cpu.RISCV, 4, true}.layout(), riscvForm{cpu.RISCV, 4, false}.layout(),
	riscvForm{cpu.RISCV64, 16, false}.layout(), riscvForm{cpu.RISCV64, 8, true}.layout(), riscvForm{cpu.RISCV64, 4, false}.layout(),
}

// mipsLayout is the record of both kinds of MIPS, with registers of 64 bits.
//
//	0 flags u32 · 8 iregs 32 × u64 · 264 mdhi u64 · 272 mdlo u64 · 280 hi 3 × u32 · 292 lo 3 × u32 · 304 dsp_control u32
//	312 epc u64 · 320 badvaddr u64 · 328 status u32 · 332 cause u32 · 336 f 32 × u64 · 592 fpcsr u32 · 596 fir u32
func mipsLayout(arch *cpu.Arch, proc uint16, flag uint32) contextLayout {
	l := contextLayout{Arch: arch, What: arch.Name, Procs: []uint16{proc}, Flag: flag, Size: 600,
		Extra: join([]field{{"mdhi", 264, 8}, {"mdlo", 272, 8}}, series("hi%d", 3, 280, 4, 4), series("lo%d", 3, 292, 4, 4),
			[]field{{"dsp_control", 304, 4}, {"badvaddr", 320, 8}, {"status", 328, 4}, {"cause", 332, 4}},
			series("f%d", 32, 336, 8, 8), []field{{"fpcsr", 592, 4}, {"fir", 596, 4}}),
		Pad: []field{{"pad", 4, 4}, {"pad", 308, 4}}}
	for i, name := range arch.Names[:32] {
		l.Regs = append(l.Regs, field{name, 8 + 8*i, 8})
	}
	l.Regs = append(l.Regs, field{"pc", 312, 8})
	return l
}

// ppcVectors are the floating-point and vector registers, which both kinds of PowerPC have alike.
//
//	+0 f 32 × u64 · +256 padding u32 · +260 fpscr u32 · +264 v 32 × 16 · +776 vscr 16 · +792 padding 16 · +808 vrvalid u32 ·
//	+812 padding 28
func ppcVectors(at int) []field {
	return join(series("f%d", 32, at, 8, 8), []field{{"fpscr", at + 260, 4}}, series("v%d", 32, at+264, 16, 16),
		[]field{{"vscr", at + 776, 16}, {"vrvalid", at + 808, 4}})
}

func ppcPad(at int) []field {
	return []field{{"fpscr_pad", at + 256, 4}, {"pad5", at + 792, 16}, {"pad6", at + 812, 28}}
}

// evenDoubles are sparc's 32 double registers, which have the even numbers from 0 to 62.
func evenDoubles(at int) []field {
	f := series("d%d", 32, at, 8, 8)
	for i := range f {
		f[i].Name = fmt.Sprintf("d%d", 2*i)
	}
	return f
}

// riscvForm is one form of a RISC-V record.
type riscvForm struct {
	arch *cpu.Arch
	// fpr is the size of a floating-point register in bytes. versioned: a version follows the flags.
	fpr       int
	versioned bool
}

// layout is the record of that form.
//
//	0 flags u32 · version u32, if there is one · pc and x1 to x31, a word each · 32 floating-point registers · fcsr u32
//
// Each number is aligned to its size, one of 16 bytes to 8. So where words have 8 bytes, a version takes the place of padding.
func (r riscvForm) layout() contextLayout {
	w, flag, proc := r.arch.WordSize, uint32(0x00800000), uint16(ProcRISCV)
	if w == 8 {
		flag, proc = 0x08000000, ProcRISCV64
	}
	l := contextLayout{Arch: r.arch, What: r.arch.Name, Procs: []uint16{proc}, Flag: flag}
	at := w
	if r.versioned || w == 8 {
		l.Pad = append(l.Pad, field{"version", 4, 4})
		at = 8
	}
	for _, name := range r.arch.Names {
		l.Regs = append(l.Regs, field{name, at, w})
		at += w
	}
	if r.fpr > 4 && at%8 != 0 {
		l.Pad = append(l.Pad, field{"pad", at, 4})
		at += 4
	}
	fcsr := at + 32*r.fpr
	l.Extra = append(series("f%d", 32, at, r.fpr, r.fpr), field{"fcsr", fcsr, 4})
	l.Size = fcsr + 4
	return l
}
