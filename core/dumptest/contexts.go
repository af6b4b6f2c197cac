package dumptest

import (
	"encoding/binary"
	"fmt"
)

// The context builders write whole records, little-endian, with the registers that are given and zeros elsewhere. A name that
// the CPU does not have panics: that is a mistake in a test. Context writes the same for either byte order.

// X86 is a 716-byte record: eip esp ebp ebx esi edi eax ecx edx eflags.
func X86(regs map[string]uint64) []byte { return Context(LittleEndian, "x86", regs) }

// AMD64 is a 1232-byte record: rax … r15 rip eflags.
func AMD64(regs map[string]uint64) []byte { return Context(LittleEndian, "amd64", regs) }

// ARM is a 368-byte record: r0 … r15 (or fp sp lr pc) cpsr.
func ARM(regs map[string]uint64) []byte { return Context(LittleEndian, "arm", regs) }

// ARM64 is a 912-byte record as Windows and Crashpad write it: x0 … x28 fp lr sp pc cpsr.
func ARM64(regs map[string]uint64) []byte { return Context(LittleEndian, "arm64", regs) }

// ARM64Old is Breakpad's 796-byte record with the same registers.
func ARM64Old(regs map[string]uint64) []byte { return Context(LittleEndian, "arm64-old", regs) }

// Context writes a record of "x86", "amd64", "arm", "arm64" or "arm64-old" in a byte order.
func Context(order binary.AppendByteOrder, kind string, regs map[string]uint64) []byte {
	used := map[string]bool{}
	get := func(names ...string) uint64 {
		var v uint64
		for _, n := range names {
			if x, ok := regs[n]; ok {
				v = x
			}
			used[n] = true
		}
		return v
	}
	r := &w{AppendByteOrder: order}
	u32s := func(names ...string) {
		for _, n := range names {
			r.u32(uint32(get(n)))
		}
	}
	u64s := func(names ...string) {
		for _, n := range names {
			r.u64(get(n))
		}
	}
	size := 0
	switch kind {
	case "x86":
		size = 716
		r.u32(0x1003f)
		u32s("dr0", "dr1", "dr2", "dr3", "dr6", "dr7")
		r.zero(7*4 + 80 + 4) // FLOATING_SAVE_AREA
		u32s("gs", "fs", "es", "ds", "edi", "esi", "ebx", "edx", "ecx", "eax", "ebp", "eip", "cs", "eflags", "esp", "ss")
		r.zero(512) // ExtendedRegisters
	case "amd64":
		size = 1232
		r.zero(6 * 8) // P1Home to P6Home
		r.u32(0x10000f).u32(uint32(get("mxcsr")))
		for _, n := range []string{"cs", "ds", "es", "fs", "gs", "ss"} {
			r.u16(uint16(get(n)))
		}
		u32s("eflags")
		u64s("dr0", "dr1", "dr2", "dr3", "dr6", "dr7")
		u64s("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip")
		r.zero(512)     // FltSave
		r.zero(26 * 16) // VectorRegister
		r.zero(6 * 8)   // VectorControl to LastExceptionFromRip
	case "arm":
		size = 368
		r.u32(0x40000006)
		role := map[int]string{11: "fp", 13: "sp", 14: "lr", 15: "pc"}
		for i := range 16 {
			n := fmt.Sprintf("r%d", i)
			if role[i] != "" {
				r.u32(uint32(get(n, role[i])))
			} else {
				r.u32(uint32(get(n)))
			}
		}
		u32s("cpsr")
		r.zero(8 + 32*8 + 8*4) // fpscr, regs, extra
	case "arm64":
		size = 912
		r.u32(0x400007)
		u32s("cpsr")
		arm64Integers(r, get)
		r.zero(32*16 + 4 + 4)        // V, Fpcr, Fpsr
		r.zero(8*4 + 8*8 + 2*4 + 16) // breakpoint and watchpoint registers
	case "arm64-old":
		size = 796
		r.u64(0x80000006)
		arm64Integers(r, get)
		u32s("cpsr")
		r.zero(4 + 4 + 32*16) // fpsr, fpcr, regs
	default:
		panic("dumptest: no context of " + kind)
	}
	for n := range regs {
		if !used[n] {
			panic("dumptest: " + kind + " has no register " + n)
		}
	}
	if len(r.b) != size {
		panic(fmt.Sprintf("dumptest: a context of %s has %d bytes, not %d", kind, size, len(r.b)))
	}
	return r.b
}

// arm64Integers writes x0 to x28, fp, lr, sp, pc.
func arm64Integers(r *w, get func(...string) uint64) {
	for i := range 29 {
		r.u64(get(fmt.Sprintf("x%d", i)))
	}
	r.u64(get("x29", "fp")).u64(get("x30", "lr")).u64(get("sp")).u64(get("pc"))
}

// AMD64XState is an AMD64 record with what Windows appends for a CPU with extended state, in compacted form: the high halves
// of ymm0 to ymm15 (nil for none) and the user shadow stack pointer.
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
