package disasm

import (
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// TestDecide: which conditional jumps are taken, and that the answer is unknown where a register is not
// known or an instruction is no such jump.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		arch  *cpu.Arch
		text  string
		regs  map[string]uint64
		want  string // "" for nothing
		taken bool
	}{
		{cpu.AMD64, "jz 0x10", map[string]uint64{"eflags": 0x40}, "ZF is 1", true},
		{cpu.AMD64, "jnz 0x10", map[string]uint64{"eflags": 0x40}, "ZF is 1", false},
		{cpu.AMD64, "jnbe 0x10", map[string]uint64{"eflags": 0x1}, "CF is 1, ZF is 0", false},
		{cpu.AMD64, "jnle 0x10", map[string]uint64{"eflags": 0x880}, "ZF is 0, SF is 1, OF is 1", true},
		{cpu.AMD64, "jl 0x10", map[string]uint64{"eflags": 0x80}, "SF is 1, OF is 0", true},
		{cpu.AMD64, "jrcxz 0x10", map[string]uint64{"rcx": 0}, "rcx is 0x0", true},
		{cpu.AMD64, "jecxz 0x10", map[string]uint64{"rcx": 1 << 32}, "ecx is 0x0", true},
		{cpu.AMD64, "jmp 0x10", map[string]uint64{"eflags": 0x40}, "", false},
		{cpu.AMD64, "jz 0x10", nil, "", false},
		{cpu.AMD64, "mov eax, ebx", map[string]uint64{"eflags": 0x40}, "", false},
		{cpu.ARM64, "b.eq 0x10", map[string]uint64{"cpsr": 1 << 30}, "Z is 1", true},
		{cpu.ARM64, "b.ls 0x10", map[string]uint64{"cpsr": 1 << 29}, "C is 1, Z is 0", false},
		{cpu.ARM64, "b.gt 0x10", map[string]uint64{"cpsr": 9 << 28}, "Z is 0, N is 1, V is 1", true},
		{cpu.ARM64, "b 0x10", map[string]uint64{"cpsr": 1 << 30}, "", false},
		{cpu.ARM64, "cbz w3, 0x10", map[string]uint64{"x3": 7 << 32}, "w3 is 0x0", true},
		{cpu.ARM64, "cbnz x3, 0x10", map[string]uint64{"x3": 0}, "x3 is 0x0", false},
		{cpu.ARM64, "tbnz w8, #3, 0x10", map[string]uint64{"x8": 8}, "bit 3 of w8 is 1", true},
		{cpu.ARM64, "cbz x3, 0x10", nil, "", false},
		{cpu.ARM, "ble 0x10", map[string]uint64{"cpsr": 1 << 30}, "Z is 1, N is 0, V is 0", true},
		{cpu.ARM, "bleq 0x10", map[string]uint64{"cpsr": 1 << 30}, "Z is 1", true},
		{cpu.ARM, "bl 0x10", map[string]uint64{"cpsr": 1 << 30}, "", false},
		{cpu.RISCV64, "blt a0,a1,0x10", map[string]uint64{"a0": 1<<64 - 1, "a1": 0}, "a0 is 0xffffffffffffffff, a1 is 0x0", true},
		{cpu.RISCV64, "bltu a0,zero,0x10", map[string]uint64{"a0": 1}, "a0 is 0x1, zero is 0x0", false},
		{cpu.RISCV64, "bnez a5,0x10", map[string]uint64{"a5": 2}, "a5 is 0x2", true},
		{cpu.RISCV64, "bnez a5,0x10", nil, "", false},
	} {
		got, ok := Decide(c.arch, c.text, func(name string) (uint64, bool) { v, ok := c.regs[name]; return v, ok })
		if ok != (c.want != "") || ok && (got.Why != c.want || got.Taken != c.taken) {
			t.Errorf("%s %q with %v: %+v, %v", c.arch.Name, c.text, c.regs, got, ok)
		}
	}
}

// TestRegister: parts of registers.
func TestRegister(t *testing.T) {
	for _, c := range []struct {
		arch *cpu.Arch
		word string
		want uint64 // of 0x1122334455667788
	}{
		{cpu.AMD64, "rax", 0x1122334455667788}, {cpu.AMD64, "eax", 0x55667788}, {cpu.AMD64, "cx", 0x7788}, {cpu.AMD64, "bl", 0x88}, {cpu.AMD64, "dh", 0x77},
		{cpu.AMD64, "sil", 0x88}, {cpu.AMD64, "r9d", 0x55667788}, {cpu.AMD64, "r15b", 0x88}, {cpu.AMD64, "edi", 0x55667788}, {cpu.X86, "ax", 0x7788},
		{cpu.ARM64, "w30", 0x55667788}, {cpu.ARM64, "x19", 0x1122334455667788}, {cpu.ARM64, "wsp", 0x55667788},
	} {
		o, ok := Register(c.arch, c.word)
		if !ok || o.Value(0x1122334455667788) != c.want {
			t.Errorf("%s %s: %+v, %v", c.arch.Name, c.word, o, ok)
		}
	}
	for _, word := range []string{"mov", "ptr", "xmm0", "wzr", "e", "", "0x1"} {
		for _, arch := range []*cpu.Arch{cpu.AMD64, cpu.X86, cpu.ARM64} {
			if o, ok := Register(arch, word); ok {
				t.Errorf("%s %q: %+v", arch.Name, word, o)
			}
		}
	}
}
