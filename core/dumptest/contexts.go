package dumptest

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The context builders write whole little-endian records with the given registers and zeros
// elsewhere. They panic on a register name that the CPU lacks, which is a mistake of the test.
// Context does the same for any byte order.

// X86 returns a 716-byte record: eip esp ebp ebx esi edi eax ecx edx eflags.
func X86(regs map[string]uint64) []byte { return Context(LittleEndian, "x86", regs) }

// AMD64 returns a 1232-byte record: rax … r15 rip eflags.
func AMD64(regs map[string]uint64) []byte { return Context(LittleEndian, "amd64", regs) }

// ARM returns a 368-byte record: r0 … r15 (or fp sp lr pc) cpsr.
func ARM(regs map[string]uint64) []byte { return Context(LittleEndian, "arm", regs) }

// ARM64 returns a 912-byte record as Windows and Crashpad write it: x0 … x28 fp lr sp pc cpsr.
func ARM64(regs map[string]uint64) []byte { return Context(LittleEndian, "arm64", regs) }

// ARM64Old returns Breakpad's 796-byte record with the same registers.
func ARM64Old(regs map[string]uint64) []byte { return Context(LittleEndian, "arm64-old", regs) }

// Context writes a record of a kind in a byte order: "x86", "amd64", "arm", "arm64", "arm64-old",
// "mips", "mips64", "ppc", "ppc64", "arm-windows", "sparc", "riscv", "riscv64", "loongarch64". The
// older records of riscv and riscv64, without a version, have the size of a floating-point register
// in bits as a suffix ("riscv64-128"), and the first one of loongarch64 its size in bytes
// ("loongarch64-528"). "amd64-lldb" is LLDB's, which ends early, and "amd64-lldb16" that of LLDB 16. Registers of more than 8 bytes get the value in their lower ones.
func Context(order binary.AppendByteOrder, kind string, regs map[string]uint64) []byte {
	r := &record{w: w{AppendByteOrder: order}, regs: regs, used: map[string]bool{}}
	size := 0
	switch kind {
	case "x86":
		size = 716
		r.x86()
	case "amd64":
		size = 1232
		r.amd64()
	case "amd64-lldb", "amd64-lldb16":
		size = map[string]int{"amd64-lldb": 736, "amd64-lldb16": 720}[kind]
		r.amd64()
		r.b = r.b[:size]
	case "arm":
		size = 368
		r.u32(0x40000006)
		r.armIntegers()
		r.put(4, "cpsr").put(8, "fpscr").run(8, "d", 0, 32).run(4, "fpextra", 0, 8)
	case "arm-windows":
		size = 416
		r.u32(0x20000f)
		r.armIntegers()
		r.put(4, "cpsr", "fpscr").gap(4).run(8, "d", 0, 32).run(4, "bvr", 0, 8).run(4, "bcr", 0, 8).put(4, "wvr0", "wcr0").gap(8)
	case "arm64":
		size = 912
		r.u32(0x400007)
		r.put(4, "cpsr").run(8, "x", 0, 29).put(8, "fp", "lr", "sp", "pc").run(16, "v", 0, 32).put(4, "fpcr", "fpsr")
		r.run(4, "bcr", 0, 8).run(8, "bvr", 0, 8).run(4, "wcr", 0, 2).run(8, "wvr", 0, 2)
	case "arm64-old":
		size = 796
		r.u64(0x80000006)
		r.run(8, "x", 0, 29).put(8, "fp", "lr", "sp", "pc").put(4, "cpsr", "fpsr", "fpcr").run(16, "v", 0, 32)
	case "mips", "mips64":
		size = 600
		r.u32(map[string]uint32{"mips": 0x4000e, "mips64": 0x8000e}[kind]).u32(0)
		r.put(8, "zero", "at", "v0", "v1").run(8, "a", 0, 4).run(8, "t", 0, 8).run(8, "s", 0, 8).put(8, "t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra")
		r.put(8, "mdhi", "mdlo").run(4, "hi", 0, 3).run(4, "lo", 0, 3).put(4, "dsp_control").gap(4)
		r.put(8, "pc", "badvaddr").put(4, "status", "cause").run(8, "f", 0, 32).put(4, "fpcsr", "fir")
	case "ppc":
		size = 1004
		r.u32(0x20000029)
		r.put(4, "srr0", "srr1").run(4, "r", 0, 32).put(4, "cr", "xer", "lr", "ctr", "mq", "vrsave")
		r.ppcVectors()
	case "ppc64":
		size = 1160
		r.u64(0x1000029)
		r.put(8, "srr0", "srr1").run(8, "r", 0, 32).put(8, "cr", "xer", "lr", "ctr", "vrsave")
		r.ppcVectors()
	case "sparc":
		size = 584
		r.u32(0x1000000f).u32(0)
		r.run(8, "g", 0, 8).run(8, "o", 0, 6).put(8, "sp", "o7").run(8, "l", 0, 8).run(8, "i", 0, 6).put(8, "fp", "i7")
		r.put(8, "ccr", "pc", "npc", "y", "asi", "fprs")
		for i := range 32 {
			r.put(8, fmt.Sprintf("d%d", 2*i))
		}
		r.gap(8).put(8, "fsr")
	case "riscv", "riscv64", "riscv-32", "riscv-64", "riscv-128", "riscv64-32", "riscv64-64", "riscv64-128":
		size = map[string]int{"riscv": 268, "riscv64": 528, "riscv-32": 264, "riscv-64": 400, "riscv-128": 656, "riscv64-32": 400, "riscv64-64": 528,
			"riscv64-128": 784}[kind]
		r.riscv(kind, size)
	case "loongarch64", "loongarch64-528":
		size = map[string]int{"loongarch64": 544, "loongarch64-528": 528}[kind]
		r.u32(0x800006).u32(0)
		r.put(8, "zero", "ra", "tp", "sp").run(8, "a", 0, 8).run(8, "t", 0, 9).put(8, "x", "fp").run(8, "s", 0, 9).put(8, "pc").run(8, "f", 0, 32)
		if size == 544 {
			r.put(8, "fcc").put(4, "fcsr").gap(4)
		}
	default:
		panic("dumptest: no context of " + kind)
	}
	for n := range regs {
		if !r.used[n] {
			panic("dumptest: " + kind + " has no register " + n)
		}
	}
	if len(r.b) != size {
		panic(fmt.Sprintf("dumptest: a context of %s has %d bytes, not %d", kind, size, len(r.b)))
	}
	return r.b
}

// record is a context record that is being written.
type record struct {
	w
	regs map[string]uint64
	used map[string]bool
}

// value returns the value of a register, which may have several names.
func (r *record) value(names ...string) uint64 {
	var v uint64
	for _, n := range names {
		if x, ok := r.regs[n]; ok {
			v = x
		}
		r.used[n] = true
	}
	return v
}

// word appends a value of size bytes in the record's byte order.
//
// In a register with more than 8 bytes the others are 0.
func (r *record) word(size int, v uint64) {
	for i := range size {
		if r.AppendByteOrder == BigEndian {
			i = size - 1 - i
		}
		r.u8(byte(v >> (8 * i))) // 0 from 64 bits on
	}
}

// put appends registers of size bytes each.
func (r *record) put(size int, names ...string) *record {
	for _, n := range names {
		r.word(size, r.value(n))
	}
	return r
}

// run appends the registers name+from, name+(from+1) and so on.
func (r *record) run(size int, name string, from, n int) *record {
	for i := range n {
		r.put(size, fmt.Sprintf("%s%d", name, from+i))
	}
	return r
}

func (r *record) gap(n int) *record { r.zero(n); return r }

func (r *record) x86() {
	r.u32(0x1003f)
	r.put(4, "dr0", "dr1", "dr2", "dr3", "dr6", "dr7")
	r.put(4, "fctrl", "fstat", "ftag", "fioff", "fiseg", "fooff", "foseg").run(10, "st", 0, 8).put(4, "cr0_npx") // FLOATING_SAVE_AREA
	r.put(4, "gs", "fs", "es", "ds", "edi", "esi", "ebx", "edx", "ecx", "eax", "ebp", "eip", "cs")
	r.word(4, r.value("eflags", "efl"))
	r.put(4, "esp", "ss")
	r.fxsave("fx_", 8)
	r.gap(8*16 + 96)
}

// fxsave appends the area that the FXSAVE instruction writes, up to its last xmm register.
//
//	control 2 | status 2 | tag 1 | reserved 1 | opcode 2 | instruction pointer 4 + 2 + 2 |
//	  data pointer 4 + 2 + 2
//	mxcsr 4 | mask 4 | st0 to st7, 16 each | xmm registers, 16 each
//
// Source: Intel, Software Developer's Manual, volume 1, section 10.5.1.
func (r *record) fxsave(prefix string, xmm int) {
	r.put(2, prefix+"fctrl", prefix+"fstat").put(1, prefix+"ftag").gap(1).put(2, prefix+"fop")
	r.put(4, prefix+"fioff").put(2, prefix+"fiseg").gap(2).put(4, prefix+"fooff").put(2, prefix+"foseg").gap(2).put(4, "mxcsr", "mxcsr_mask")
	for i := range 8 {
		r.put(10, fmt.Sprintf("%sst%d", prefix, i)).gap(6)
	}
	r.run(16, "xmm", 0, xmm)
}

func (r *record) amd64() {
	for i := range 6 {
		r.put(8, fmt.Sprintf("p%d_home", i+1))
	}
	r.u32(0x10000f)
	r.put(4, "mx_csr").put(2, "cs", "ds", "es", "fs", "gs", "ss").put(4, "eflags")
	r.put(8, "dr0", "dr1", "dr2", "dr3", "dr6", "dr7")
	r.put(8, "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi").run(8, "r", 8, 8).put(8, "rip")
	r.fxsave("", 16)
	r.gap(96).run(16, "v", 0, 26)
	r.put(8, "vector_control", "debug_control", "last_branch_to_rip", "last_branch_from_rip", "last_exception_to_rip", "last_exception_from_rip")
}

func (r *record) armIntegers() {
	role := map[int]string{11: "fp", 13: "sp", 14: "lr", 15: "pc"}
	for i := range 16 {
		n := fmt.Sprintf("r%d", i)
		if role[i] != "" {
			r.word(4, r.value(n, role[i]))
		} else {
			r.put(4, n)
		}
	}
}

func (r *record) ppcVectors() {
	r.run(8, "f", 0, 32).gap(4).put(4, "fpscr").run(16, "v", 0, 32).put(16, "vscr").gap(16).put(4, "vrvalid").gap(28)
}

func (r *record) riscv(kind string, size int) {
	machine, bits, old := strings.Cut(kind, "-")
	word, fpr := 4, 4
	flags := uint32(0x800000 | 1 | 2)
	if machine == "riscv64" {
		word, fpr, flags = 8, 8, 0x8000000|1|2
	}
	if old {
		fpr = map[string]int{"32": 4, "64": 8, "128": 16}[bits]
		flags = flags&^2 | 4
	}
	r.u32(flags)
	if !old {
		r.u32(1) // the version
	} else if word == 8 {
		r.gap(4)
	}
	r.put(word, "pc", "ra", "sp", "gp", "tp").run(word, "t", 0, 3).run(word, "s", 0, 2).run(word, "a", 0, 8).run(word, "s", 2, 10).run(word, "t", 3, 4)
	for fpr > 4 && len(r.b)%8 != 0 {
		r.gap(4)
	}
	r.run(fpr, "f", 0, 32).put(4, "fcsr")
	r.gap(size - len(r.b)) // compilers round up
}

// X86XState returns an X86 record with the extended state that Windows appends, not compacted: the
// high halves of ymm0 to ymm7.
//
// The record is followed by a CONTEXT_EX and the XSAVE area without its legacy part. Offsets count
// from the CONTEXT_EX, so that of the whole is negative:
//
//	CONTEXT_EX    all: offset 4, length 4 | legacy: offset 4, length 4 | state: offset 4, length 4
//	XSAVE header  present features 8 | compaction 8 | reserved 48
//	areas         of each present feature: 2 is AVX, 11 user-mode CET
func X86XState(regs map[string]uint64, ymmHigh []byte) []byte {
	rec := X86(regs)
	binary.LittleEndian.PutUint32(rec, 0x1007f)
	area := (&w{AppendByteOrder: LittleEndian}).u64(1 << 2).u64(0).zero(48).raw(ymmHigh)
	area.zero(256 - len(ymmHigh))
	ex := &w{AppendByteOrder: LittleEndian}
	back := uint32(0xfffffd34) // -716
	ex.u32(back).u32(uint32(716 + 24 + len(area.b))).u32(back).u32(716).u32(24).u32(uint32(len(area.b)))
	return append(append(rec, ex.b...), area.b...)
}

// AMD64XState returns an AMD64 record with the extended state that Windows appends, in compacted
// form: the high halves of ymm0 to ymm15 (nil for none) and the user shadow stack pointer.
func AMD64XState(regs map[string]uint64, ymmHigh []byte, ssp uint64) []byte {
	rec := AMD64(regs)
	binary.LittleEndian.PutUint32(rec[48:], 0x10005f) // with CONTEXT_XSTATE
	var mask uint64 = 1 << 11
	if ymmHigh != nil {
		mask |= 1 << 2
	}
	area := &w{AppendByteOrder: LittleEndian}
	area.u64(mask).u64(mask | 1<<63).zero(48).raw(ymmHigh)
	area.u64(1).u64(ssp) // IA32_U_CET, IA32_PL3_SSP
	ex := &w{AppendByteOrder: LittleEndian}
	const exSize, gap = 24, 56 // Windows aligns the area to 64 bytes
	back := uint32(0xfffffb30) // -1232
	ex.u32(back).u32(uint32(1232 + exSize + gap + len(area.b)))
	ex.u32(back).u32(1232)
	ex.u32(exSize + gap).u32(uint32(len(area.b)))
	return append(append(rec, ex.zero(gap).b...), area.b...)
}
