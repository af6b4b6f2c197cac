package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// emulatedFrame is a frame of a program that an emulator ran, as the calls made it and not as
// anybody unwound it.
type emulatedFrame struct {
	PC, SP uint64
	Regs   map[string]uint64
}

// emulatedDump is a dump that was taken at an instruction, with its callers.
type emulatedDump struct {
	Dump    string
	Callers []emulatedFrame
}

// differs says in what a frame differs from the truth: its pc, its sp, or one of the registers that
// a call preserves; "" for nothing. Addresses of Thumb code are compared without bit 0.
func (want *emulatedFrame) differs(have *report.Frame) string {
	arch := have.Regs.Arch
	if !samePC(arch, have.PC, want.PC) {
		return fmt.Sprintf("pc 0x%x, not 0x%x", have.PC, want.PC)
	}
	if sp := have.Regs.SP(); sp != want.SP {
		return fmt.Sprintf("sp 0x%x, not 0x%x", sp, want.SP)
	}
	for name, v := range want.Regs {
		r, ok := arch.Lookup(name)
		if !ok {
			return "there is no register " + name
		}
		if is, known := have.Regs.Get(r); !known || is != v {
			return fmt.Sprintf("%s 0x%x (known: %v), not 0x%x", name, is, known, v)
		}
	}
	return ""
}

// walkedWith is the report of a dump, walked with the files alone.
func walkedWith(t *testing.T, dump string, files ...string) *report.Report {
	t.Helper()
	s := session.NewFiles(session.Options{OpenBinary: readers.Open})
	for _, path := range append([]string{dump}, files...) {
		for _, it := range s.Add(fileSource(t, path)) {
			if !it.Usable {
				t.Fatalf("%s: %s", path, it.Message)
			}
		}
	}
	r := s.Report(0)
	if r == nil {
		t.Fatalf("%s: no report", dump)
	}
	return r
}

// Whole stacks of programs that an emulator stopped at every 37th instruction, in prologues and
// epilogues too: pc, sp and all registers that calls preserve, from the binary alone.
func TestUnwindEmulatedPE(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "winapple/emulated")
	for _, c := range []struct {
		name string
		// least is how many dumps there are, lest the test compare nothing.
		least int
		// wrong is how many stacks no unwinder can get right: arm's __chkstk hands its result back
		// in r4, which calls preserve otherwise.
		wrong int
	}{{"deep-x86_64-O0", 36, 0}, {"deep-x86_64-O2", 26, 0}, {"deep-aarch64-O0", 43, 0}, {"deep-aarch64-O2", 26, 0}, {"deep-thumbv7-O2", 26, 1}} {
		b, err := os.ReadFile(filepath.Join(root, c.name, c.name+".dll.truth.json"))
		if err != nil {
			t.Fatal(err)
		}
		var dumps []emulatedDump
		if err := json.Unmarshal(b, &dumps); err != nil {
			t.Fatal(err)
		}
		right, frames := 0, 0
		for _, d := range dumps {
			r := walkedWith(t, filepath.Join(root, c.name, d.Dump), filepath.Join(root, c.name+".dll"))
			why := compareEmulated(r, d.Callers)
			if frames += len(d.Callers); why == "" {
				right++
			} else if c.wrong > 0 && strings.Contains(why, ": r4 ") && strings.Contains(r.Threads[r.FirstThread].Frames[1].Origin, "leaf function") {
				c.wrong--
			} else {
				t.Errorf("%s: %s", d.Dump, why)
			}
		}
		t.Logf("%s: %d of %d stacks right, %d callers", c.name, right, len(dumps), frames)
		if len(dumps) < c.least {
			t.Errorf("%s: %d dumps, there were %d", c.name, len(dumps), c.least)
		}
	}
}

// compareEmulated says in what a stack differs from the truth. The outermost caller is an address
// where nothing is; beyond it there are no frames.
func compareEmulated(r *report.Report, callers []emulatedFrame) string {
	th := &r.Threads[r.FirstThread]
	for i := range callers {
		if i+1 >= len(th.Frames) {
			return fmt.Sprintf("frame %d is missing: %s %s", i+1, th.Stop.Kind, th.Stop.Detail)
		}
		f := &th.Frames[i+1]
		if why := callers[i].differs(f); why != "" {
			return fmt.Sprintf("frame %d, found by %s (%s): %s", i+1, f.Source, f.Rule, why)
		}
		if f.Source != "cfi" && f.Source != "stack-win" {
			return fmt.Sprintf("frame %d was found by %s", i+1, f.Source)
		}
	}
	if len(th.Frames) > len(callers)+1 {
		return fmt.Sprintf("%d frames too many", len(th.Frames)-len(callers)-1)
	}
	return ""
}

// A crash under Wine, whose program wrote down the return address of each of its calls and where on
// the stack it was.
func TestUnwindWineChain(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "winapple/wine")
	b, err := os.ReadFile(filepath.Join(root, "chain64-O2.oracle.txt"))
	if err != nil {
		t.Fatal(err)
	}
	dump, exe, moz := filepath.Join(root, "chain64-O2.cv.dmp"), filepath.Join(root, "chain64-O2.exe"), filepath.Join(root, "chain64-O2.moz.sym")
	for what, files := range map[string][]string{"the program alone": {exe}, "with a symbol file, which knows less of unwinding": {moz, exe}} {
		r := walkedWith(t, dump, files...)
		th := &r.Threads[r.FirstThread]
		slots := map[uint64]uint64{} // address of the word, its value
		for i := range th.Frames {
			if f := &th.Frames[i]; i > 0 {
				slots[f.Regs.SP()-8] = f.PC
				if f.Source == "cfi" && !strings.Contains(f.Origin, "chain64-O2.exe") {
					t.Errorf("%s: frame %d was found by %s", what, i, f.Origin)
				}
			}
		}
		found := 0
		for line := range strings.Lines(string(b)) {
			var name string
			var ra, slot uint64
			if n, _ := fmt.Sscanf(line, "%s returns to %x, slot %x", &name, &ra, &slot); n != 3 {
				continue
			}
			if found++; slots[slot] != ra {
				t.Errorf("%s: %s: the word at 0x%x is 0x%x, we have 0x%x", what, name, slot, ra, slots[slot])
			}
		}
		if found != 12 {
			t.Errorf("%d return addresses in the oracle", found)
		}
	}
}

// A crash whose frames the system's own RtlVirtualUnwind told, from the binary alone: those
// of its own code, before the system's libraries begin.
func TestUnwindWineCrash(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "other/made-here/wine")
	r := walkedWith(t, filepath.Join(root, "crash64c-cv.dmp"), filepath.Join(root, "crash64c.exe"))
	th := &r.Threads[r.FirstThread]
	want := windowsFrames(t, filepath.Join(root, "crash64c.oracle.txt"))
	const own = 7 // what the rules of crash64c.exe lead to; the rest is the system's, whose binaries are not here
	for i, w := range want[:own] {
		if i >= len(th.Frames) {
			t.Fatalf("frame %d of %d is missing: %s", i, own, th.Stop.Detail)
		}
		f := &th.Frames[i]
		if f.PC != w.pc || f.Regs.SP() != w.sp || i > 0 && f.Source != "cfi" {
			t.Errorf("frame %d: pc 0x%x sp 0x%x by %s, the truth is pc 0x%x sp 0x%x (%s)", i, f.PC, f.Regs.SP(), f.Source, w.pc, w.sp, w.name)
		}
	}
}

// A dump with all memory holds its programs: their function tables unwind them, and their exports
// name them, without any file.
func TestUnwindFromMemory(t *testing.T) {
	const base, stackAt = 0x180000000, 0x10000
	file, err := os.ReadFile("../../symfile/pe/testdata/x64.dll")
	if err != nil {
		t.Fatal(err)
	}
	f, err := pe.Open(input.FromBytes("x64.dll", file))
	if err != nil {
		t.Fatal(err)
	}
	img := make([]byte, f.ImageSize)
	copy(img, file[:0x400])
	for _, s := range f.Sections {
		copy(img[s.RVA:], file[s.Offset:s.Offset+min(s.Size, s.FileSize)])
	}
	p, err := f.Publics()
	if err != nil || p.At(1).Name != "run" {
		t.Fatal(err)
	}
	// In the middle of many, which pushed registers and was called by run: both frames are those
	// that the function table describes.
	many, run := p.At(0).Start, p.At(1).Start
	dump := func(memory []byte) []byte {
		stack := make([]byte, 0x1000)
		b, err := binary.Open(input.FromBytes("x64.dll", file))
		if err != nil {
			t.Fatal(err)
		}
		sp := uint64(stackAt)
		for _, rva := range []uint64{many + 0x30, run + 0x80} {
			row, _, err := b.Row(rva)
			if err != nil {
				t.Fatal(err)
			}
			sp += uint64(row.CFA.Offset)
			next := uint64(0x12345)
			if rva == many+0x30 {
				next = base + run + 0x81
			}
			for i := range 8 {
				stack[sp-stackAt-8+uint64(i)] = byte(next >> (8 * i))
			}
		}
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
			Module(base, f.ImageSize, `C:\x64.dll`, nil).Thread(1, dumptest.AMD64(map[string]uint64{"rip": base + many + 0x30, "rsp": stackAt, "rbp": 0}), stackAt, stack)
		if memory != nil {
			d.Memory64(base, memory)
		}
		return d.Bytes()
	}
	walk := func(data []byte) *report.Thread {
		s := session.NewFiles(session.Options{OpenBinary: readers.Open, OpenImage: readers.Image})
		s.Add(input.FromBytes("full.dmp", data))
		return &s.Report(0).Threads[0]
	}
	th := walk(dump(img))
	if len(th.Frames) < 3 || th.Frames[1].Source != "cfi" || th.Frames[1].Function.Raw != "run" || th.Frames[2].PC != 0x12345 || !strings.Contains(th.Frames[1].Origin, "memory of x64.dll") {
		t.Errorf("%+v", th.Frames)
	}
	// Headers alone are nothing to unwind with.
	if th := walk(dump(img[:0x1000])); len(th.Frames) > 1 && th.Frames[1].Source == "cfi" {
		t.Errorf("%+v", th.Frames)
	}
}
