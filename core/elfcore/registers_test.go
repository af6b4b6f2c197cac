package elfcore_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/elfcore"
	"github.com/crashpane/crashpane/core/input"
)

// sets has registers in the notes of each processor: where and how long they are.
var sets = []struct {
	arch, owner string
	note        uint32
	name        string
	at, size    int
}{
	{"amd64", "CORE", 2, "st2", 64, 10}, {"amd64", "CORE", 2, "xmm3", 208, 16}, {"amd64", "CORE", 2, "mxcsr", 24, 4},
	{"x86", "CORE", 2, "st1", 38, 10}, {"x86", "LINUX", 0x46e62b7f, "xmm7", 272, 16},
	{"arm", "LINUX", 0x400, "d31", 248, 8}, {"arm", "LINUX", 0x400, "fpscr", 256, 4},
	{"arm64", "CORE", 2, "v5", 80, 16}, {"arm64", "CORE", 2, "fpcr", 516, 4},
	{"mips", "CORE", 2, "f3", 24, 8}, {"mips64", "CORE", 2, "fpcsr", 256, 4},
	{"ppc", "CORE", 2, "f31", 248, 8}, {"ppc", "LINUX", 0x100, "v2", 32, 16}, {"ppc64", "LINUX", 0x100, "vrsave", 528, 4}, {"ppc64", "LINUX", 0x102, "vs3h", 24, 8},
	{"riscv", "CORE", 2, "f1", 8, 8}, {"riscv64", "CORE", 2, "fcsr", 256, 4},
	{"s390x", "CORE", 2, "f0", 8, 8}, {"s390x", "LINUX", 0x309, "v1l", 8, 8}, {"s390x", "LINUX", 0x30a, "v17", 16, 16},
	{"loongarch64", "CORE", 2, "fcsr", 264, 4}, {"loongarch64", "LINUX", 0xa02, "vr1", 16, 16}, {"loongarch64", "LINUX", 0xa03, "xr1", 32, 32},
	{"sparc", "CORE", 2, "d2", 8, 8}, {"sparc", "CORE", 2, "fsr", 132, 4},
}

// contexts reads the registers of the threads of a core.
func contexts(t *testing.T, c *dumptest.Core) (out []*core.Context) {
	t.Helper()
	d, err := elfcore.Read(input.FromBytes("core", c.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Threads {
		context, err := d.ThreadContext(i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, context)
	}
	return out
}

func register(c *core.Context, name string) []byte {
	for i := range c.Extra {
		if c.Extra[i].Name == name {
			return c.Extra[i].Bytes
		}
	}
	return nil
}

// TestFloatRegisters: the notes that follow a thread's status have its floating-point and vector registers,
// and not those of another thread; a second one of a kind and one that is cut off do no harm.
func TestFloatRegisters(t *testing.T) {
	covered := map[string]bool{}
	for _, s := range sets {
		a := cpu.ByName(s.arch)
		order := dumptest.LittleEndian
		if a.Name == "sparc" || a.Name == "s390x" || a.Name == "ppc" {
			order = dumptest.BigEndian
		}
		covered[a.Name] = true
		note := make([]byte, 1100)
		for i := range note {
			note[i] = byte(i*7 + i>>8)
		}
		want := slices.Clone(note[s.at : s.at+s.size])
		if order == dumptest.BigEndian {
			slices.Reverse(want)
		}
		regs := gregset(a, order, 0x401010, 0x7ff00100)
		c := dumptest.NewCore(order, a.WordSize == 8, a.ELFMachines[0]).Thread(1, 0, regs).Thread(2, 0, regs).Note(s.owner, s.note, note).
			Note(s.owner, s.note, make([]byte, 1100)).Thread(3, 0, regs).Note(s.owner, s.note, note[:s.at+s.size-1])
		all := contexts(t, c)
		for i, want := range [][]byte{nil, want, nil} {
			if got := register(all[i], s.name); !bytes.Equal(got, want) {
				t.Errorf("%s: %s of thread %d: % x, want % x", s.arch, s.name, i, got, want)
			}
		}
	}
	for _, a := range cpu.All() {
		if !covered[a.Name] {
			t.Errorf("%s has no registers here", a.Name)
		}
	}
}

// TestXState: where the processor puts the high halves of vector registers, and what follows them. Intel's and AMD's
// have other places for the second; since Linux 6.12 the core says them.
func TestXState(t *testing.T) {
	a, order := cpu.AMD64, dumptest.LittleEndian
	regs := gregset(a, order, 0x401010, 0x7ff00100)
	layout := func(features ...uint32) (b []byte) {
		for _, v := range features {
			b = order.AppendUint32(b, v)
		}
		return b
	}
	for _, c := range []struct {
		what       string
		size, pkru int // where the last feature is
		mask       uint64
		layout     []byte
		known      bool
	}{
		{"Intel", 2696, 2688, 1<<9 | 0xff, nil, true},
		{"AMD with AVX-512", 2440, 2432, 1<<9 | 0xe7, nil, true},
		{"AMD", 840, 832, 1<<9 | 7, nil, true},
		{"neither", 1000, 900, 1<<9 | 7, nil, false},
		{"by its note", 1000, 900, 1<<9 | 7, layout(2, 256, 576, 0, 9, 4, 900, 0), true},
		{"by a wrong note", 1000, 900, 1<<9 | 7, layout(2, 256, 576, 0, 9, 4, 90000, 0, 99, 1, 1, 1), false},
	} {
		area := make([]byte, c.size)
		binary.LittleEndian.PutUint64(area[464:], c.mask)
		binary.LittleEndian.PutUint64(area[512:], c.mask)
		area[576+16] = 0x11
		binary.LittleEndian.PutUint32(area[c.pkru:], 0x55555554)
		made := dumptest.NewCore(order, true, 62).Thread(1, 11, regs).Note("LINUX", 0x202, area)
		if c.layout != nil {
			made.Note("LINUX", 0x205, c.layout)
		}
		context := contexts(t, made)[0]
		if got := register(context, "ymm1h"); len(got) != 16 || got[0] != 0x11 {
			t.Errorf("%s: ymm1h % x", c.what, got)
		}
		if got := register(context, "pkru"); c.known != (len(got) == 4 && got[0] == 0x54) {
			t.Errorf("%s: pkru % x", c.what, got)
		}
	}
	for _, n := range []int{0, 1, 511, 575, 576, 577, 600} { // what is cut off
		contexts(t, dumptest.NewCore(order, true, 62).Thread(1, 11, regs).Note("LINUX", 0x202, bytes.Repeat([]byte{0xff}, n)))
	}
}
