package session

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	symfilebinary "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// The report "Exploring DWARF CFI" of 2015: a macOS i386 program, its dump walked with and without
// its symbols. With the .sym that dump_syms made, whose esp and ebp are swapped, Breakpad found one
// frame; without it a dozen, by ebp. These are the report's figures: eip, esp and ebp of every
// frame (an ebp is where the next frame's esp less 8 lies).
var swappedFrames = []struct{ eip, esp, ebp uint32 }{
	{0x2b96d, 0xbffd5f30, 0xbffd5f58},
	{0x2bf55, 0xbffd5f60, 0xbffd5fa8},
	{0x99ca8853, 0xbffd5fb0, 0xbffd5fc8},
	{0x98179328, 0xbffd5fd0, 0xbffd5fe8},
	{0x97918c03, 0xbffd5ff0, 0xbffd6018},
	{0x97feca11, 0xbffd6020, 0xbffd60d8},
	{0x97fec7ad, 0xbffd60e0, 0xbffd6108},
	{0x981e5c96, 0xbffd6110, 0xbffd6138},
	{0x97918c03, 0xbffd6140, 0xbffd6168},
	{0x980388f5, 0xbffd6170, 0xbffd61c8},
	{0x981c984a, 0xbffd61d0, 0xbffd61e8},
	{0x981e75b6, 0xbffd61f0, 0xbffd6208},
	{0x97918c03, 0xbffd6210, 0xbffd6238},
}

const (
	swappedRules = `STACK CFI INIT 1930 55 .cfa: $ebp 4 + .ra: .cfa -4 + ^
STACK CFI 1931 $esp: .cfa -8 + ^ .cfa: $ebp 8 +
STACK CFI 1933 .cfa: $esp 8 +
STACK CFI 1937 $esi: .cfa -12 + ^
`
	rightRules = `STACK CFI INIT 1930 55 .cfa: $esp 4 + .ra: .cfa -4 + ^
STACK CFI 1931 $ebp: .cfa -8 + ^ .cfa: $esp 8 +
STACK CFI 1933 .cfa: $ebp 8 +
STACK CFI 1937 $esi: .cfa -12 + ^
`
)

func swappedSession(t *testing.T, rules string, p walker.Policy) *Files {
	t.Helper()
	// A little below esp is in the dump too, so that the wrong rules read zeros, as they must have
	// there.
	const base = 0xbffd5f20
	stack := make([]byte, 0x400)
	put := func(at, v uint32) { binary.LittleEndian.PutUint32(stack[at-base:], v) }
	for i, f := range swappedFrames[:len(swappedFrames)-1] {
		put(f.ebp, swappedFrames[i+1].ebp)
		put(f.ebp+4, swappedFrames[i+1].eip)
	}
	first := swappedFrames[0]
	ctx := dumptest.X86(map[string]uint64{"eip": uint64(first.eip), "esp": uint64(first.esp), "ebp": uint64(first.ebp),
		"ebx": 0x7b8aec50, "esi": 0x0002d06c, "edi": 0x7b89e6a0, "eax": 0x0002b93c, "ecx": 0x0002d07c})
	id := dumptest.RSDS(0x11223344, 0x5566, 0x7788, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, 0, "BreakpadTest")
	d := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 0, Platform: 0x8101}).
		Module(0x2a000, 0x5000, "/Applications/BreakpadTest", id).
		Module(0x99ca0000, 0x20000, "/usr/lib/libobjc.A.dylib", nil).
		Module(0x97ddf000, 0x800000, "/System/AppKit", nil).
		Module(0x97918000, 0x8000, "/usr/lib/system/libsystem_trace.dylib", nil).
		Thread(1, ctx, base, stack).
		Exception(1, 1, 1, 0x45, ctx).
		Bytes()
	s := NewFiles(Options{Policy: p})
	s.Add(source("x.dmp", d))
	s.Add(source("BreakpadTest.sym", []byte(`MODULE mac x86 112233445566778801020304050607080 BreakpadTest
FILE 0 /src/Controller.m
FUNC 1930 55 0 -[Controller causeCrash]
1930 55 43 0
FUNC 1f00 100 0 -[Controller crash:]
1f00 100 80 0
`+rules)))
	return s
}

func addresses(s *Files) string {
	var b strings.Builder
	for _, f := range s.Report(0).Threads[0].Frames {
		ebp, _ := f.Regs.Get(f.Regs.Arch.FP)
		fmt.Fprintf(&b, "%x %x %x %s %s\n", f.PC, f.Regs.SP(), ebp, f.Trust, f.Function.Raw)
	}
	return b.String()
}

func TestSwappedESPAndEBP(t *testing.T) {
	var want strings.Builder
	for i, f := range swappedFrames {
		trust, name := "frame_pointer", ""
		switch i {
		case 0:
			trust, name = "context", "-[Controller causeCrash]"
		case 1:
			trust, name = "cfi", "-[Controller crash:]"
		}
		fmt.Fprintf(&want, "%x %x %x %s %s\n", f.eip, f.esp, f.ebp, trust, name)
	}
	unswapped := swappedSession(t, swappedRules, walker.Best)
	if got := addresses(unswapped); got != want.String() {
		t.Errorf("with the swapped records:\n%swant\n%s", got, want.String())
	}
	if o := unswapped.Report(0).Threads[0].Frames[1].Origin; !strings.Contains(o, "esp and ebp swapped") {
		t.Errorf("what was done is not said: %s", o)
	}
	right := swappedSession(t, rightRules, walker.Best)
	if got := addresses(right); got != want.String() {
		t.Errorf("with right records:\n%s", got)
	}
	if o := right.Report(0).Threads[0].Frames[1].Origin; strings.Contains(o, "swapped") {
		t.Errorf("a right record was touched: %s", o)
	}
	// The report's symptom, by the tool that it speaks of.
	if n := len(swappedSession(t, swappedRules, walker.Breakpad).Report(0).Threads[0].Frames); n != 1 {
		t.Errorf("as Breakpad walks it: %d frames, the report has 1", n)
	}
}

// TestSwappedDSYM walks the same stack with a program and its dSYM, whose .debug_frame has the numbers
// of esp and ebp exchanged, and with one that has them right (symfile/macho/testdata/i386).
func TestSwappedDSYM(t *testing.T) {
	for _, name := range []string{"right", "swapped"} {
		s := swappedSession(t, "", walker.Best)
		const dir = "../../symfile/macho/testdata/i386/"
		opt := Options{OpenBinary: func(src *input.Source) (symbols.Binary, error) { return symfilebinary.Open(src) }}
		files := NewFiles(opt)
		files.Add(s.Session(0).Src)
		for _, f := range []string{"BreakpadTest", name + ".dwarf"} {
			for _, it := range files.Add(source(f, testfile.Read(t, dir+f+".gz"))) {
				if !it.Usable || it.Message != "" {
					t.Errorf("%s: %+v", f, it)
				}
			}
		}
		frames := files.Report(0).Threads[0].Frames
		for i, want := range swappedFrames {
			if i >= len(frames) {
				t.Fatalf("%s: %d frames", name, len(frames))
			}
			f := &frames[i]
			ebp, _ := f.Regs.Get(f.Regs.Arch.FP)
			if f.PC != uint64(want.eip) || f.Regs.SP() != uint64(want.esp) || ebp != uint64(want.ebp) {
				t.Errorf("%s, frame %d: %x %x %x, want %x", name, i, f.PC, f.Regs.SP(), ebp, want)
			}
		}
		if f := &frames[1]; f.Source != "cfi" || f.Function.Raw != "crash" || f.Line != 18 || frames[0].Function.Raw != "causeCrash" || !strings.Contains(f.Origin, ".debug_frame") {
			t.Errorf("%s: %s %s:%d, %s, in %s", name, f.Source, f.Function.Raw, f.Line, f.Origin, frames[0].Function.Raw)
		}
		said := strings.Contains(frames[1].Origin, "esp and ebp swapped")
		found := slices.ContainsFunc(files.Report(0).Findings, func(f report.Finding) bool {
			return f.Kind == report.FindingSwapped && f.Module == 0 && strings.HasPrefix(f.Text, "BreakpadTest has esp and ebp swapped")
		})
		if want := name == "swapped"; said != want || found != want {
			t.Errorf("%s: said %v, found %v: %s", name, said, found, frames[1].Origin)
		}
	}
}
