package report_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

// Numbers of processors (minidump_format.h).
const cpuMIPS, cpuMIPS64, cpuPPC64 = 1, 0x8004, 0x8002

// TestFirstCrash: where a handler of a signal aborted or sent the signal again, the crash is what the
// kernel sent the signal for. The stack is [libc, the code that returns from handlers, app].
func TestFirstCrash(t *testing.T) {
	type words map[int]uint64 // above the signal's frame; 4 bytes where the offset is negative
	const pc, sp = 0x400010, 0x7000100
	amd64 := func(more words) words { more[40+16*8] = pc; return more }
	x86 := func(at int, more words) words { more[-(at + 14*4)] = pc; return more }
	arm64 := func(more words) words { more[128+176+8+32*8] = pc; return more }
	mips := func(more words) words { more[24+128+24+8] = pc; return more }
	mips64 := func(more words) words { more[24+128+40+576] = pc; return more }
	ppc64 := func(pinfo int, more words) words {
		more[128+168+64+32*8], more[128+168+56], more[pinfo], more[pinfo+8] = pc, sp+128+168+64, sp+uint64(pinfo)+16, sp+128
		return more
	}
	const read = "tried to read 4 bytes at 0x10: null pointer plus 16, through "
	for _, c := range []struct {
		name        string
		cpu         uint16
		code, flags uint32
		frame       words
		trust       walker.Trust
		want        string
	}{
		{"aborted", dumptest.CPUAMD64, 6, 0xfffffffa, amd64(words{-304: 11, -312: 1, 320: 0x10}), walker.TrustCFI, read + "rax; its handler then aborted the program"},
		{"sent again", dumptest.CPUAMD64, 11, 0xfffffffa, amd64(words{-304: 11, -312: 1, 320: 0x10}), walker.TrustCFI, read + "rax; its handler then sent SIGSEGV to the program"},
		{"without siginfo", dumptest.CPUAMD64, 6, 0xfffffffa, amd64(words{200: 14, 216: 0x10}), walker.TrustCFI, read + "rax; its handler then aborted the program"},
		{"words of older calls for a siginfo", dumptest.CPUAMD64, 6, 0xfffffffa, amd64(words{-304: 32, -312: 32, 320: 8, 200: 14, 216: 0x10}), walker.TrustCFI, read + "rax; its handler then aborted the program"},
		{"x86", dumptest.CPUX86, 6, 0xfffffffa, x86(160, words{-12: 11, -20: 1, -24: 0x10}), walker.TrustCFI, read + "eax; its handler then aborted the program"},
		{"x86, without siginfo", dumptest.CPUX86, 6, 0xfffffffa, x86(4, words{-52: 14, -88: 0x10}), walker.TrustCFI, read + "eax; its handler then aborted the program"},
		{"arm64", dumptest.CPUARM64, 6, 0xfffffffa, arm64(words{0: 11, -8: 1, 16: 0x10}), walker.TrustCFI, "tried to access memory at 0x10: close to a null pointer; its handler then aborted the program"},
		{"mips", cpuMIPS, 6, 0xfffffffa, mips(words{-24: 11, -28: 1, -36: 0x10}), walker.TrustCFI, "tried to access memory at 0x10: close to a null pointer; its handler then aborted the program"},
		{"mips, SIGBUS", cpuMIPS, 6, 0xfffffffa, mips(words{-24: 10, -28: 1, -36: 0x1001}), walker.TrustCFI, "tried to access memory at 0x1001: the address is misaligned; its handler then aborted the program"},
		{"mips64", cpuMIPS64, 6, 0xfffffffa, mips64(words{-24: 11, -28: 1, 40: 0x10}), walker.TrustCFI, "tried to access memory at 0x10: close to a null pointer; its handler then aborted the program"},
		{"mips, fields in the others' order", cpuMIPS64, 6, 0xfffffffa, mips64(words{-24: 11, -32: 1, 40: 0x10}), walker.TrustCFI, "aborted itself"},
		{"ppc64", cpuPPC64, 6, 0xfffffffa, ppc64(1608, words{-1624: 11, -1632: 1, 1640: 0x10}), walker.TrustCFI, "tried to access memory at 0x10: close to a null pointer; its handler then aborted the program"},
		{"ppc64 with VSX", cpuPPC64, 6, 0xfffffffa, ppc64(1872, words{-1888: 11, -1896: 1, 1904: 0x10}), walker.TrustCFI, "tried to access memory at 0x10: close to a null pointer; its handler then aborted the program"},
		{"ppc64, elsewhere", cpuPPC64, 6, 0xfffffffa, ppc64(1700, words{-1716: 11, -1724: 1, 1732: 0x10}), walker.TrustCFI, "aborted itself"},
		{"a signal that a process sent", dumptest.CPUAMD64, 6, 0xfffffffa, amd64(words{-304: 15, -312: 0, 320: 0x10}), walker.TrustCFI, "aborted itself"},
		{"a signal that a process sent, after a page fault", dumptest.CPUAMD64, 6, 0xfffffffa, amd64(words{-304: 15, 200: 14, 216: 0x10}), walker.TrustCFI, "aborted itself"},
		{"a page fault before", dumptest.CPUAMD64, 6, 0xfffffffa, amd64(words{200: 14, 216: 0x1000}), walker.TrustCFI, "aborted itself"},
		{"another frame", dumptest.CPUAMD64, 6, 0xfffffffa, words{-304: 11, -312: 1, 320: 0x10}, walker.TrustCFI, "aborted itself"},
		{"a guessed frame", dumptest.CPUAMD64, 6, 0xfffffffa, amd64(words{-304: 11, -312: 1, 320: 0x10}), walker.TrustScan, "aborted itself"},
		{"a crash of the handler", dumptest.CPUAMD64, 11, 1, amd64(words{-304: 11, -312: 1, 320: 0x10}), walker.TrustCFI, "tried to access memory at 0x0: null pointer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stack := make([]byte, 0x1000)
			for off, v := range c.frame {
				if off <= 0 {
					binary.LittleEndian.PutUint32(stack[0x100-off:], uint32(v))
				} else {
					binary.LittleEndian.PutUint64(stack[0x100+off:], v)
				}
			}
			ctx, arch := dumptest.AMD64(map[string]uint64{"rip": 0x500000, "rsp": 0x7000000}), cpu.AMD64
			switch c.cpu {
			case dumptest.CPUX86:
				ctx, arch = dumptest.X86(map[string]uint64{"eip": 0x500000, "esp": 0x7000000}), cpu.X86
			case cpuMIPS:
				ctx, arch = dumptest.Context(dumptest.LittleEndian, "mips", map[string]uint64{"pc": 0x500000, "sp": 0x7000000}), cpu.MIPS
			case cpuMIPS64:
				ctx, arch = dumptest.Context(dumptest.LittleEndian, "mips64", map[string]uint64{"pc": 0x500000, "sp": 0x7000000}), cpu.MIPS64
			case cpuPPC64:
				ctx, arch = dumptest.Context(dumptest.LittleEndian, "ppc64", map[string]uint64{"srr0": 0x500000, "r1": 0x7000000}), cpu.PPC64
			case dumptest.CPUARM64:
				ctx, arch = dumptest.ARM64(map[string]uint64{"pc": 0x500000, "sp": 0x7000000}), cpu.ARM64
			}
			raw := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: c.cpu, Platform: dumptest.OSLinux}).
				Thread(7, ctx, 0x7000000, stack).Module(0x400000, 0x1000, "/bin/app", nil).Module(0x500000, 0x1000, "/lib/libc.so.6", nil).
				Memory(pc, []byte{0x8b, 0x40, 0x10, 0, 0, 0, 0, 0}).
				Exception(7, c.code, c.flags, 0, ctx).Bytes()
			d, err := core.Open(input.New("x.dmp", bytes.NewReader(raw), int64(len(raw))))
			if err != nil {
				t.Fatal(err)
			}
			frame := func(module int, pc, sp uint64, signal bool) walker.Frame {
				return walker.Frame{PC: pc, Lookup: pc, Regs: reporttest.AllRegs(arch, pc, sp), Trust: walker.TrustCFI, Module: module, Row: unwind.Row{Signal: signal}}
			}
			frames := []walker.Frame{frame(1, 0x500000, 0x7000000, false), frame(1, 0x500100, sp, false), frame(0, pc, 0x7000f00, true)}
			for _, r := range []string{"rax", "eax"} {
				if reg, ok := arch.Lookup(r); ok {
					frames[2].Regs.Set(reg, 0)
				}
			}
			frames[1].Trust = c.trust
			r := report.Build(report.Input{Dump: d, Stacks: []walker.Stack{{Frames: frames}}})
			place := 0
			if c.want[:5] == "tried" && c.name != "a crash of the handler" {
				place = 2
			}
			if have := r.Exceptions[0].Event.Did; place > 0 && c.code == 6 && have != "aborted itself" {
				t.Errorf("the exception %s", have)
			}
			if have := r.Crash.Event.String(); have != c.want || r.Crash.Ended != place {
				t.Errorf("%q, place %d; want %q, %d", have, r.Crash.Ended, c.want, place)
			}
		})
	}
}
