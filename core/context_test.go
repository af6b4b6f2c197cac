package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// kinds are the records that are read: the builder's name, the CPU, the processor word of
// SystemInfo.
var kinds = []struct {
	kind string
	arch *cpu.Arch
	proc uint16
}{
	{"x86", cpu.X86, dumptest.CPUX86},
	{"amd64", cpu.AMD64, dumptest.CPUAMD64},
	{"amd64-lldb", cpu.AMD64, dumptest.CPUAMD64},
	{"amd64-lldb16", cpu.AMD64, dumptest.CPUAMD64},
	{"arm", cpu.ARM, dumptest.CPUARM},
	{"arm64", cpu.ARM64, dumptest.CPUARM64},
	{"arm64-old", cpu.ARM64, dumptest.CPUARM64Old},
	{"mips", cpu.MIPS, dumptest.CPUMIPS},
	{"mips64", cpu.MIPS64, ProcMIPS64},
	{"ppc", cpu.PPC, ProcPPC},
	{"ppc64", cpu.PPC64, ProcPPC64},
	{"sparc", cpu.SPARC, ProcSPARC},
	{"arm-windows", cpu.ARM, dumptest.CPUARM},
	{"riscv", cpu.RISCV, ProcRISCV},
	{"riscv64", cpu.RISCV64, ProcRISCV64},
	{"riscv-32", cpu.RISCV, ProcRISCV},
	{"riscv-64", cpu.RISCV, ProcRISCV},
	{"riscv-128", cpu.RISCV, ProcRISCV},
	{"riscv64-32", cpu.RISCV64, ProcRISCV64},
	{"riscv64-64", cpu.RISCV64, ProcRISCV64},
	{"riscv64-128", cpu.RISCV64, ProcRISCV64},
	{"loongarch64", cpu.LoongArch64, ProcRISCV}, // two CPUs have this number
	{"loongarch64-528", cpu.LoongArch64, ProcRISCV},
}

// TestContexts gives every register of every CPU a value of its own, in both byte orders, with and
// without SystemInfo.
func TestContexts(t *testing.T) {
	for _, k := range kinds {
		for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
			for _, system := range []bool{true, false} {
				if k.kind == "amd64-lldb16" && !system {
					continue // 720 bytes are also those of x86's record, rounded up; LLDB always writes the processor
				}
				t.Run(fmt.Sprintf("%s/%s/system=%v", k.kind, order, system), func(t *testing.T) {
					regs := map[string]uint64{}
					for i, n := range k.arch.Names {
						if n == "efl" {
							n = "eflags"
						}
						regs[n] = k.arch.Mask(0x1122334455667700 + uint64(i)*0x100000001 + 1)
					}
					// And one for each of the others, as wide as it is.
					extras, all := map[string]uint64{}, maps.Clone(regs)
					for _, f := range layoutOf(k.kind).Fields() {
						if f.Reg != cpu.NoReg || f.Name == "_" {
							continue
						}
						v := 0x8899aabbccddee00 + uint64(len(extras))*0x0101010101 + 1
						extras[f.Name] = v & (^uint64(0) >> (64 - 8*min(f.Size, 8)))
						all[f.Name] = extras[f.Name]
					}
					b := dumptest.New(order).Thread(7, dumptest.Context(order, k.kind, all), 0, nil)
					if system {
						b.System(dumptest.System{Processor: k.proc})
					}
					d := open(t, b.Bytes())
					c, err := d.ThreadContext(0)
					if err != nil {
						t.Fatal(err)
					}
					if c.Arch != k.arch || d.Arch() != k.arch {
						t.Fatalf("read as %s, dump is of %v", c.Arch.Name, d.Arch())
					}
					if !c.Regs.AllKnown() {
						t.Error("not all registers are known")
					}
					if len(c.Extra) < 10 {
						t.Errorf("only %d registers besides the general ones", len(c.Extra))
					}
					for _, x := range c.Extra {
						got := make([]byte, max(8, len(x.Bytes)))
						copy(got, x.Bytes)
						v, wide := binary.LittleEndian.Uint64(got), make([]byte, len(got)-8)
						if want := extras[x.Name]; v != want || want == 0 || !bytes.Equal(got[8:], wide) {
							t.Errorf("%s = % x, want %#x", x.Name, x.Bytes, want)
						}
					}
					for n, want := range regs {
						r, ok := c.Arch.Lookup(n)
						if got, _ := c.Regs.Get(r); !ok || got != want {
							t.Errorf("%s = %#x, want %#x", n, got, want)
						}
					}
				})
			}
		}
	}
}

// contexts are the records of all CPUs.
func contexts() []*cpu.ContextLayout {
	var out []*cpu.ContextLayout
	for _, a := range cpu.All() {
		out = append(out, a.Contexts...)
	}
	return out
}

// layoutOf finds the layout of a builder's kind.
func layoutOf(kind string) *cpu.ContextLayout {
	size := len(dumptest.Context(dumptest.LittleEndian, kind, nil))
	name := strings.Split(kind, "-")[0]
	for _, l := range contexts() {
		if l.Size <= size && l.Size+8 > size && l.Arch.Name == name {
			return l
		}
	}
	return nil
}

// TestContextLayouts: every register of the CPU is in the layout once, inside the record, the Extra
// registers have names of their own, and every byte of the record is somebody's.
func TestContextLayouts(t *testing.T) {
	written := map[*cpu.ContextLayout]bool{}
	for _, k := range kinds {
		written[layoutOf(k.kind)] = true
	}
	for _, l := range contexts() {
		if !written[l] {
			t.Errorf("%s of %d bytes: no test writes such a record", l.What, l.Size)
		}
		seen := map[cpu.Reg]bool{}
		names := map[string]bool{}
		for _, f := range l.Fields() {
			if f.Name == "_" {
				continue
			}
			if names[f.Name] || f.Off < 0 || f.Off+f.Size > l.Size {
				t.Errorf("%s: %+v is there twice or outside of the record", l.What, f)
			}
			names[f.Name] = true
			if r, general := l.Arch.Lookup(f.Name); general {
				if f.Reg != r || f.Size < l.Arch.WordSize || f.Size > 8 {
					t.Errorf("%s: register %+v has another number or the wrong size", l.What, f)
				}
				seen[r] = true
			}
		}
		if len(seen) != len(l.Arch.Names) {
			t.Errorf("%s: %d of %d registers", l.What, len(seen), len(l.Arch.Names))
		}
		owner := make([]string, l.Size)
		for _, f := range slices.Concat([]cpu.Field{{Name: "context_flags", Off: l.FlagsAt, Size: l.FlagsSize()}}, l.Fields()) {
			for i := range f.Size {
				if owner[f.Off+i] != "" {
					t.Errorf("%s: byte %d belongs to %s and %s", l.What, f.Off+i, owner[f.Off+i], f.Name)
				}
				owner[f.Off+i] = f.Name
			}
		}
		if i := slices.Index(owner, ""); i >= 0 {
			t.Errorf("%s: byte %d belongs to nobody", l.What, i)
		}
	}
}

func TestBadContexts(t *testing.T) {
	amd64 := dumptest.AMD64(nil)
	for _, c := range []struct {
		name string
		make func(d *dumptest.Dump) *dumptest.Dump
		want string
	}{
		{"none", func(d *dumptest.Dump) *dumptest.Dump { return d.Thread(1, nil, 0, nil) }, "an empty one"},
		{"outside", func(d *dumptest.Dump) *dumptest.Dump { return d.ThreadAt(1, 1<<30, 1232, 0, 0, 0) }, "1232 bytes"},
		{"short", func(d *dumptest.Dump) *dumptest.Dump { return d.Thread(1, amd64[:1000], 0, nil) }, "1232 bytes of amd64 context"},
		{"other cpu", func(d *dumptest.Dump) *dumptest.Dump { return d.Thread(1, dumptest.X86(nil), 0, nil) }, "1232 bytes of amd64 context"},
		{"wrong flags", func(d *dumptest.Dump) *dumptest.Dump {
			p := append([]byte(nil), amd64...)
			p[48+2] = 0x01 // the flag of x86
			return d.Thread(1, p, 0, nil)
		}, "context flags with 0x100000 (amd64)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, c.make(dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64})).Bytes())
			if _, err := d.ThreadContext(0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	// Processors that are named but not read say so.
	d := open(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: ProcIA64}).Thread(1, make([]byte, 600), 0, nil).Bytes())
	if _, err := d.ThreadContext(0); err == nil || !strings.Contains(err.Error(), "one of ia64") {
		t.Errorf("error %v", err)
	}
	if d.Arch() != nil {
		t.Error("ia64 has a table")
	}
	if _, err := d.ThreadContext(1); err == nil {
		t.Error("thread 1 does not exist")
	}
	if _, err := d.ExceptionContext(); err == nil {
		t.Error("there is no exception")
	}
}

// TestNoFlags: a record of RtlCaptureContext has no CPU flag; SystemInfo's word is taken.
func TestNoFlags(t *testing.T) {
	p := dumptest.AMD64(map[string]uint64{"rip": 5})
	binary.LittleEndian.PutUint32(p[48:], 0)
	d := open(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64}).Thread(1, p, 0, nil).Bytes())
	if c, err := d.ThreadContext(0); err != nil || c.Regs.PC() != 5 {
		t.Errorf("%v, %v", c, err)
	}
}

// TestXState: what Windows appends for AVX and for shadow stacks, in compacted form, with and
// without MiscInfo's table.
func TestXState(t *testing.T) {
	ymm := make([]byte, 256)
	for i := range ymm {
		ymm[i] = byte(i)
	}
	for _, c := range []struct {
		name string
		ymm  []byte
		misc bool
	}{{"both", ymm, true}, {"both, no table", ymm, false}, {"ssp only", nil, true}} {
		t.Run(c.name, func(t *testing.T) {
			b := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64}).
				Thread(1, dumptest.AMD64XState(map[string]uint64{"rip": 0x1234}, c.ymm, 0xcb0000), 0, nil)
			if c.misc {
				b.Misc5(1, 2, "", "", dumptest.XState{Index: 2, Offset: 576, Size: 256}, dumptest.XState{Index: 11, Offset: 832, Size: 16})
			}
			ctx, err := open(t, b.Bytes()).ThreadContext(0)
			if err != nil || ctx.Regs.PC() != 0x1234 {
				t.Fatal(ctx, err)
			}
			if got := extraReg(ctx, "ssp"); len(got) != 8 || binary.LittleEndian.Uint64(got) != 0xcb0000 {
				t.Errorf("ssp = % x", got)
			}
			if got := extraReg(ctx, "ymm1h"); (c.ymm == nil) != (got == nil) || c.ymm != nil && got[0] != 16 {
				t.Errorf("ymm1h = % x", got)
			}
		})
	}
}

// TestXStateX86: 32-bit code has eight vector registers; the record's base is another, the form the
// standard one.
func TestXStateX86(t *testing.T) {
	ymm := make([]byte, 128)
	for i := range ymm {
		ymm[i] = byte(i)
	}
	b := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUX86}).
		Thread(1, dumptest.X86XState(map[string]uint64{"eip": 7}, ymm), 0, nil)
	c, err := open(t, b.Bytes()).ThreadContext(0)
	if err != nil || c.Regs.PC() != 7 {
		t.Fatal(c, err)
	}
	if got := extraReg(c, "ymm7h"); len(got) != 16 || got[0] != 112 || extraReg(c, "ymm8h") != nil {
		t.Errorf("ymm7h = % x, ymm8h = % x", got, extraReg(c, "ymm8h"))
	}
}

// TestXStateUnknownFeature: in compacted form a feature without known size hides those after it,
// and one that MiscInfo has a size for does not.
func TestXStateUnknownFeature(t *testing.T) {
	for _, sized := range []bool{false, true} {
		b := dumptest.New(dumptest.LittleEndian)
		if sized {
			b.Misc5(1, 1, "", "", dumptest.XState{Index: 40, Offset: 576, Size: 8})
		}
		got := map[uint32]int{}
		var known []XStateFeature
		if m := open(t, b.Bytes()).Misc; m != nil {
			known = m.XStateFeatures
		}
		for _, p := range placeFeatures(1<<63|1<<40|1<<11, known) {
			got[p.Index] = p.Off
		}
		if got[11] != 576 || sized && got[40] != 592 || !sized && got[40] != 0 {
			t.Errorf("sized %v: %v", sized, got)
		}
	}
}

// TestContextMode: the context of an arm thread says which instruction set it was in.
func TestContextMode(t *testing.T) {
	for cpsr, want := range map[uint64]cpu.Mode{0x30: cpu.ThumbMode, 0x10: cpu.ARMMode, 0: cpu.AnyMode} {
		ctx := dumptest.ARM(map[string]uint64{"pc": 0x401010, "sp": 0x7ffe0000, "cpsr": cpsr})
		d, err := Open(input.FromBytes("x.dmp", dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUARM, Platform: dumptest.OSLinux}).Thread(7, ctx, 0x7ffe0000, make([]byte, 8)).Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.ThreadContext(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Regs.Mode; got != want {
			t.Errorf("cpsr 0x%x: %d, want %d", cpsr, got, want)
		}
	}
}
