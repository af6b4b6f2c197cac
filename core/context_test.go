package core

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
)

// kinds are the records that are read: the builder's name, the CPU, the processor word of SystemInfo.
var kinds = []struct {
	kind string
	arch *cpu.Arch
	proc uint16
}{
	{"x86", cpu.X86, dumptest.CPUX86},
	{"amd64", cpu.AMD64, dumptest.CPUAMD64},
	{"arm", cpu.ARM, dumptest.CPUARM},
	{"arm64", cpu.ARM64, dumptest.CPUARM64},
	{"arm64-old", cpu.ARM64, dumptest.CPUARM64Old},
}

// TestContexts gives every register of every CPU a value of its own, in both byte orders, with and without SystemInfo.
func TestContexts(t *testing.T) {
	for _, k := range kinds {
		for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
			for _, system := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/system=%v", k.kind, order, system), func(t *testing.T) {
					regs := map[string]uint64{}
					for i, n := range k.arch.Names {
						if n == "efl" {
							n = "eflags"
						}
						regs[n] = k.arch.Mask(0x1122334455667700 + uint64(i)*0x100000001 + 1)
					}
					b := dumptest.New(order).Thread(7, dumptest.Context(order, k.kind, regs), 0, nil)
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

// TestContextLayouts: every register of the CPU is in the layout once, inside the record, and the Extra registers have names of
// their own.
func TestContextLayouts(t *testing.T) {
	for _, l := range contextLayouts {
		seen := map[cpu.Reg]bool{}
		names := map[string]bool{}
		for _, f := range l.Regs {
			r, ok := l.Arch.Lookup(f.Name)
			if !ok || seen[r] || f.Size != l.Arch.WordSize {
				t.Errorf("%s: register %+v is unknown, there twice or of the wrong size", l.What, f)
			}
			seen[r] = true
		}
		if len(seen) != len(l.Arch.Names) {
			t.Errorf("%s: %d of %d registers", l.What, len(seen), len(l.Arch.Names))
		}
		for _, f := range append(append([]field(nil), l.Regs...), l.Extra...) {
			if names[f.Name] || f.Off < 0 || f.Off+f.Size > l.Size {
				t.Errorf("%s: %+v is there twice or outside of the record", l.What, f)
			}
			names[f.Name] = true
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
	d := open(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUMIPS}).Thread(1, make([]byte, 600), 0, nil).Bytes())
	if _, err := d.ThreadContext(0); err == nil || !strings.Contains(err.Error(), "mips, which this version does not read") {
		t.Errorf("error %v", err)
	}
	if d.Arch() != nil {
		t.Error("mips has a table")
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

// TestXState: what Windows appends for AVX and for shadow stacks, in compacted form, with and without MiscInfo's table.
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
