package analysis

import (
	"encoding/hex"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// The instruction of a frame: the one at the program counter, for a caller the call that ends
// there, told from bytes that only look like one.
func TestAt(t *testing.T) {
	const base = 0x400000
	for _, c := range []struct {
		name, code string // from base+0x100 on; the module is 0x1000 bytes
		arch       *cpu.Arch
		pc         uint64 // counted from the code's beginning
		caller     bool
		function   uint64 // as pc; 0 for none
		text       string
		at         uint64 // as pc
		calls      uint64 // from base on; 0 for none
	}{
		{name: "amd64", arch: cpu.AMD64, code: "8b462c", text: "mov eax, dword ptr [rsi+0x2c]"},
		{name: "amd64, what is there is cut off", arch: cpu.AMD64, code: "8b46"},
		{name: "a call with a distance", arch: cpu.AMD64, code: "e8fb000000", pc: 5, caller: true, text: "call 0x400200", calls: 0x200},
		{name: "a call by a register", arch: cpu.AMD64, code: "9090ffd0", pc: 4, caller: true, text: "call rax", at: 2},
		{name: "a call by a table", arch: cpu.AMD64, code: "41ff542418", pc: 5, caller: true, text: "call qword ptr [r12+0x18]"},
		{name: "no call", arch: cpu.AMD64, code: "9090909090", pc: 5, caller: true},
		{name: "ff d0 in the distance, which leads into no module", arch: cpu.AMD64, code: "e8fbf0ffd0", pc: 5, caller: true, text: "call rax", at: 3},
		{name: "the same, and the function says so", arch: cpu.AMD64, code: "90e8fbf0ffd0", pc: 6, caller: true, function: base + 0x100, text: "call 0xffffffffd13ff201", at: 1},
		{name: "x86", arch: cpu.X86, code: "e8fb000000", pc: 5, caller: true, text: "call 0x400200", calls: 0x200},
		{name: "arm64", arch: cpu.ARM64, code: "200040b9", text: "ldr w0, [x1]"},
		{name: "arm64 that moves no data", arch: cpu.ARM64, code: "ff4303d1", text: "sub sp, sp, #0xd0"},
		{name: "bl", arch: cpu.ARM64, code: "40000094", pc: 4, caller: true, text: "bl 0x400200", calls: 0x200},
		{name: "blr", arch: cpu.ARM64, code: "00013fd6", pc: 4, caller: true, text: "blr x8"},
		{name: "b is no call", arch: cpu.ARM64, code: "40000014", pc: 4, caller: true},
		{name: "another processor", arch: cpu.MIPS, code: "00000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, err := hex.DecodeString(c.code)
			if err != nil {
				t.Fatal(err)
			}
			d, err := core.Open(input.FromBytes("a.dmp", dumptest.New(dumptest.LittleEndian).
				System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
				Module(base, 0x1000, "app", nil).Memory(base+0x100, code).Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			regs := cpu.Regs{Arch: c.arch}
			regs.Set(c.arch.PC, base+0x100+c.pc)
			in, calls, known := At(d, &regs, c.caller, c.function)
			if in == nil {
				if c.text != "" {
					t.Error("there is no instruction")
				}
				return
			}
			want := base + c.calls
			if c.calls == 0 {
				want = calls
			}
			if in.Text != c.text || in.Address != base+0x100+c.at || c.calls != 0 != (known && calls < base+0x1000 && calls >= base) || calls != want || len(in.Bytes) == 0 {
				t.Errorf("%q at +0x%x, % x, calls 0x%x %v", in.Text, in.Address-base-0x100, in.Bytes, calls, known)
			}
		})
	}
}
