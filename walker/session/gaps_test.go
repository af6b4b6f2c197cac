package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/report/view"
)

// gapsDump is a program of two segments with a gap between them. The second one, with the
// entry point, comes first in the list, and part of it is mapped once more far away. The program
// stopped there, in crash_me (0x1010), called by main in the segment's own place (0x2020), called
// by main in the copy.
func gapsDump(maps bool) []byte {
	const base, far, stack = 0x400000, 0x7f0000000000, 0x7ffe0000
	var mem []byte
	for _, w := range []uint64{1, base + 0x2020, 2, far + 0x1020, 3, 0} {
		mem = binary.LittleEndian.AppendUint64(mem, w)
	}
	ctx := dumptest.AMD64(map[string]uint64{"rip": far + 0x10, "rsp": stack, "rbx": base + 0x80})
	id := dumptest.ELF([]byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff})
	d := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(base+0x1000, 0x9000, "/opt/app", id).
		Module(base, 0x800, "/opt/app", id).
		Module(far, 0x4000, "/opt/app", id).
		Thread(7, ctx, stack, mem).
		Exception(7, 11, 1, 0x45, ctx)
	if maps {
		d.Stream(0x47670009, fmt.Appendf(nil, "%x-%x r--p 0 0:1 5 /opt/app\n%x-%x r-xp 800 0:1 5 /opt/app\n%x-%x r-xp 800 0:1 5 /opt/app\n",
			base, base+0x800, base+0x1000, base+0xa000, far, far+0x2000))
	}
	return d.Bytes()
}

// Frames in every part of a program have its names and rules, with a symbol file and with a binary.
func TestProgramWithGaps(t *testing.T) {
	elf := fake("00112233445566778899AABBCCDDEEFF0 app plain")
	for _, c := range []struct {
		name, file string
		content    []byte
		want       string
	}{
		{"a symbol file", "app.sym", []byte(appSym(appID)), "crash_me main main"},
		{"a binary", "app.elf", elf, "app:crash_me app:main app:main"},
	} {
		s := withFakes()
		s.Add(source("a.dmp", gapsDump(true)))
		s.Add(source(c.file, c.content))
		r := s.Report(0)
		if got := functions(r); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
		if m := &r.Modules[0]; m.Frames != 3 || len(m.Mappings) != 3 || r.Modules[1].Frames+r.Modules[2].Frames != 0 {
			t.Errorf("%s: %d frames, mappings %x", c.name, m.Frames, m.Mappings)
		}
		// 0x7f0000000010 is 0x10 after the function's start in the copy, not in the segment.
		if f := &r.Threads[0].Frames[0]; f.RVA != 0x1010 || f.FunctionStart != 0x7f0000000000 || f.Listed != 2 {
			t.Errorf("%s: %x %x %d", c.name, f.RVA, f.FunctionStart, f.Listed)
		}
		if f := &r.Threads[0].Frames[1]; f.FunctionStart != 0x402000 || f.Listed != 0 {
			t.Errorf("%s: %x %d", c.name, f.FunctionStart, f.Listed)
		}
	}
}

// Without maps the part far away stays a module of its own, and the rest is one.
func TestProgramWithGapsWithoutMaps(t *testing.T) {
	s := withFakes()
	s.Add(source("a.dmp", gapsDump(false)))
	r := s.Report(0)
	if m := r.Modules; len(m[0].Mappings) != 2 || !m[1].Merged || m[2].Merged || len(m[2].Mappings) != 0 {
		t.Errorf("%+v", m)
	}
}

// The peers have each entry as a module of its own, wrong names (main is called crash_me) included:
// their policies' output is that of a dump whose parts nobody knows to be one.
func TestPeersDoNotMerge(t *testing.T) {
	for _, p := range []walker.Policy{walker.Breakpad, walker.RustMinidump} {
		var all []string
		for _, maps := range []bool{true, false} {
			s := NewFiles(Options{Policy: p})
			s.Add(source("a.dmp", gapsDump(maps)))
			s.Add(source("app.sym", []byte(appSym(appID))))
			r := s.Report(0)
			var b bytes.Buffer
			if err := text.Write(&b, r); err != nil {
				t.Fatal(err)
			}
			for i := range r.Modules {
				if r.Modules[i].Merged || len(r.Modules[i].Mappings) > 0 {
					t.Errorf("%s: entry %d is merged", p.Name, i)
				}
			}
			all = append(all, b.String())
		}
		if all[0] != all[1] || !strings.Contains(all[0], " 0  app + 0x10\n") || !strings.Contains(all[0], " 1  app!crash_me") {
			t.Errorf("%s:\n%s\nand without maps:\n%s", p.Name, all[0], all[1])
		}
	}
}

// What prints the dump's list prints offsets from the entries of that list; our own keys and the
// page have one module, and offsets in it.
func TestGapsAsPrinted(t *testing.T) {
	s := withFakes()
	s.Add(source("a.dmp", gapsDump(true)))
	r := s.Report(0) // without symbols: no names, only offsets
	var b bytes.Buffer
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" 0  app + 0x10\n", "0x00400000 - 0x004007ff  app", "0x00401000 - 0x00409fff  app", "0x7f0000000000 - 0x7f0000003fff  app"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := jsonreport.Write(&b, r, jsonreport.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"module_rva":"0x0000000000001010"`, `"module_offset":"0x0000000000000010"`,
		`"crashpane":{"mappings":[{"module":1,"rva":"0x0000000000000000","size":2048,"start":"0x0000000000400000"},`,
		`{"module":2,"rva":"0x0000000000001000","size":8192,"start":"0x00007f0000000000"}]`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	v := view.New(r, nil)
	m := v.Modules(0, 10, 0, 0, "")
	if m.Total != 1 || v.Summary().Modules != 1 || m.Rows[0].Base != "0x0000000000400000" || m.Rows[0].End != "0x000000000040a000" || !r.Modules[m.Rows[0].Index].Main {
		t.Errorf("%+v", m)
	}
	var mappings string
	for _, f := range m.Detail.Facts {
		if f.Key == "Mappings" {
			mappings = f.Value
		}
	}
	if want := "0x0000000000400000 – 0x0000000000400800 +0x0\n0x0000000000401000 – 0x000000000040a000 +0x1000\n0x00007f0000000000 – 0x00007f0000002000 +0x1000"; mappings != want {
		t.Errorf("%q, not %q", mappings, want)
	}
	if regs := fmt.Sprint(v.Frame(0, 0, -1).Registers); !strings.Contains(regs, "app+0x80") {
		t.Error(regs)
	}
	if row := v.Stack(view.StackQuery{Thread: 0, Count: 9}).Rows[0]; row.Offset != "+0x1010" || row.ModuleIndex != 0 {
		t.Errorf("%+v", row)
	}
}

// A binary's code is read at its own addresses in every mapping: the check of calls depends on it.
func TestCodeOfGaps(t *testing.T) {
	s := NewFiles(Options{OpenBinary: openFake})
	s.Add(source("a.dmp", gapsDump(true)))
	s.Add(source("app.elf", fake("00112233445566778899AABBCCDDEEFF0 app plain")))
	var p [4]byte
	for addr, want := range map[uint64]int{0x401010: 4, 0x7f0000000010: 4, 0x400900: 0, 0x7f0000003000: 0} {
		if got := s.Session(0).Dump.Code(addr, p[:]); got != want {
			t.Errorf("0x%x: %d bytes of code, not %d", addr, got, want)
		}
	}
}

// A program whose id is on its second entry alone, or whose first is not listed, has its names by
// where the maps have its start. The peers, which take each entry for a file, find none in the
// first.
func TestProgramWithIDOnAPart(t *testing.T) {
	const base, stack = 0x400000, 0x7ffe0000
	for _, listed := range []bool{true, false} {
		var mem []byte
		for _, w := range []uint64{1, base + 0x2020, 2, 0, 3, 0} {
			mem = binary.LittleEndian.AppendUint64(mem, w)
		}
		ctx := dumptest.AMD64(map[string]uint64{"rip": base + 0x1010, "rsp": stack})
		id := dumptest.ELF([]byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff})
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201})
		if listed {
			d.Module(base, 0x800, "/opt/app", nil)
		}
		d.Module(base+0x1000, 0x9000, "/opt/app", id).Thread(7, ctx, stack, mem).Exception(7, 11, 1, 0x45, ctx)
		d.Stream(0x47670009, fmt.Appendf(nil, "%x-%x r--p 0 0:1 5 /opt/app\n%x-%x r-xp 800 0:1 5 /opt/app\n", base, base+0x800, base+0x1000, base+0xa000))
		data := d.Bytes()
		for _, c := range []struct {
			policy walker.Policy
			want   string
		}{{walker.Best, "crash_me main"}, {walker.Breakpad, "wrong"}} {
			s := NewFiles(Options{Policy: c.policy})
			s.Add(source("a.dmp", data))
			s.Add(source("app.sym", []byte(appSym(appID)+"FUNC 0 100 0 wrong\n")))
			if got := functions(s.Report(0)); !strings.HasPrefix(got, c.want) {
				t.Errorf("listed %v, %s: %s, not %s", listed, c.policy.Name, got, c.want)
			}
		}
	}
}
