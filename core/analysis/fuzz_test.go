package analysis

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/disasm"
	"github.com/crashpane/crashpane/core/dumptest"
)

// FuzzInstruction gives any bytes to the crash, as code, with registers and a map made of them as
// well: nothing panics, and the answers are consistent.
func FuzzInstruction(f *testing.F) {
	table, err := os.ReadFile("testdata/x86.tsv")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range strings.Split(string(table), "\n") {
		if code, err := hex.DecodeString(strings.Split(line, "\t")[0]); err == nil && i%16 == 0 {
			f.Add(code, uint64(i)<<40, uint8(i))
		}
	}
	for i := range scenes {
		code, _ := hex.DecodeString(scenes[i].insn)
		f.Add(code, scenes[i].addr, uint8(i))
	}
	f.Fuzz(func(t *testing.T, code []byte, addr uint64, kind uint8) {
		if len(code) > 4096 {
			return
		}
		regs := map[string]uint64{"rax": addr, "rcx": addr ^ 1<<kind, "rsp": addr - 8, "rip": 0x400010}
		ctx := dumptest.AMD64(regs)
		processor := uint16(dumptest.CPUAMD64)
		switch kind % 3 {
		case 1:
			processor, ctx = dumptest.CPUX86, dumptest.X86(map[string]uint64{"eax": addr & 0xffffffff, "esp": addr >> 32, "eip": 0x400010})
		case 2:
			processor, ctx = dumptest.CPUARM64, dumptest.ARM64(map[string]uint64{"x0": addr, "x1": addr >> 8, "sp": addr - 16, "pc": 0x400010})
		}
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: processor, Platform: []uint32{dumptest.OSLinux, dumptest.OSWindows, dumptest.OSMac}[kind/3%3]}).
			Thread(7, ctx, addr&^0xfff, make([]byte, 64)).Memory(0x400010, code).MemoryInfo(addr&^0xfff, addr>>20, uint32(addr), uint32(kind), 0).
			Exception(7, []uint32{11, 0xc0000005, 8, 1}[kind%4], uint32(kind), addr, ctx, uint64(kind), addr)
		r := Analyze(openBytes(d.Bytes()))
		if r.Event.Did == "" || r.Cause >= len(r.Accesses) {
			t.Errorf("sentence %q, cause %d of %d", r.Event.String(), r.Cause, len(r.Accesses))
		}
		if r.Instruction != nil && len(r.Instruction.Bytes) > disasm.Longest {
			t.Errorf("%d bytes", len(r.Instruction.Bytes))
		}
	})
}

// FuzzDump gives any file to the reader and what it opens to the analysis.
func FuzzDump(f *testing.F) {
	for i := range scenes {
		s := scenes[i]
		f.Add(s.bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if d := openBytes(raw); d != nil {
			Analyze(d)
		}
	})
}

// TestDamaged cuts every scene short and breaks every word of it: nothing panics.
func TestDamaged(t *testing.T) {
	for i := range scenes {
		s := scenes[i]
		whole := s.bytes()
		for cut := 0; cut < len(whole); cut += 64 {
			if d := openBytes(whole[:cut]); d != nil {
				Analyze(d)
			}
		}
		if i%8 != 0 {
			continue
		}
		for at := 0; at+4 <= len(whole); at += 4 {
			for _, v := range []uint32{0, 1, 0x7fffffff, 0xffffffff} {
				broken := append([]byte(nil), whole...)
				binary.LittleEndian.PutUint32(broken[at:], v)
				if d := openBytes(broken); d != nil {
					Analyze(d)
				}
			}
		}
	}
}
