package session

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/text"
)

// recursions are the rules that lead from frame to frame in the dumps of recursion.
const (
	byCFI          = "STACK CFI"
	byFramePointer = "frame pointer"
	byWin          = "STACK WIN"
)

// recursion makes a dump of n frames below main: of each round of 3 functions, and where odd is not 0, a call of another
// function at that frame. Frames have 32 bytes on amd64, and 16 on x86, which byWin is.
func recursion(rules string, n, odd int) (dump, sym []byte) {
	word, sp, platform, processor := 8, uint64(recursionAMD64), uint32(0x8201), uint16(dumptest.CPUAMD64)
	if rules == byWin {
		word, sp, platform, processor = 4, recursionX86, dumptest.OSWindows, dumptest.CPUX86
	}
	size := 4 * word
	stack := make([]byte, (n+2)*size)
	write := func(at int, v uint64) {
		if word == 4 {
			binary.LittleEndian.PutUint32(stack[at:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(stack[at:], v)
		}
	}
	put := func(i int, ra uint64) {
		write(i*size+size/2, sp+uint64((i+1)*size+size/2))
		write(i*size+size/2+word, ra)
	}
	for i := range n {
		ra := uint64(0x401020 + 0x100*(i%3))
		if odd != 0 && i == odd {
			ra = 0x401420
		}
		put(i, ra)
	}
	put(n, 0x401320) // main
	write(n*size+size/2, sp+uint64((n+1)*size+size/2))
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": sp, "rbp": sp + uint64(size/2)})
	if word == 4 {
		ctx = dumptest.X86(map[string]uint64{"eip": 0x401010, "esp": sp, "ebp": sp + uint64(size/2)})
	}
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: processor, Platform: platform}).Module(0x400000, 0x3000, "/opt/app", appELF).
		Thread(7, ctx, sp, stack).Exception(7, 11, 1, sp-8, ctx)
	text := "FUNC 1000 100 0 value\nFUNC 1100 100 0 list\nFUNC 1200 100 0 item\nFUNC 1300 100 0 main\nFUNC 1400 100 0 odd\n"
	switch rules {
	case byCFI:
		text += "STACK CFI INIT 1000 300 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\nSTACK CFI INIT 1400 100 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\n" +
			"STACK CFI INIT 1300 100 .cfa: $rbp 16 + .ra: undefined\n"
	case byWin:
		text += "STACK WIN 4 1000 500 1 0 0 0 0 0 1 $T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =\n"
	}
	return d.Bytes(), []byte("MODULE Linux x86_64 " + appID + " app\n" + text)
}

// Stacks of recursion begin here.
const recursionAMD64, recursionX86 = 0x7ffe00000000, 0x10000000

// TestDeepRecursions: whatever rules lead to the callers, a deep recursion is walked to main in the memory of some
// thousand frames.
func TestDeepRecursions(t *testing.T) {
	const n = 50_000
	for rules, trust := range map[string]string{byCFI: "cfi", byFramePointer: "frame_pointer", byWin: "cfi"} {
		dump, sym := recursion(rules, n, n/2)
		fs := NewFiles(Options{})
		fs.Add(input.FromBytes("a.dmp", dump))
		fs.Add(input.FromBytes("app.sym", sym))
		th := &fs.Session(0).Report().Threads[0]
		skipped := 0
		for i := range th.Frames {
			skipped += th.Frames[i].Skipped
		}
		last := &th.Frames[len(th.Frames)-1]
		if last.Function.Raw != "main" || last.Trust != trust || len(th.Frames)+skipped != n+2 || len(th.Frames) > 2500 {
			t.Errorf("%s: the last of %d frames is %s by %s, %d are left out", rules, len(th.Frames), last.Function.Raw, last.Trust, skipped)
		}
	}
}

// TestMillionFrames: a recursion of a million frames is walked to main in the memory of some thousand frames; what is
// left out is counted, the frames after it are the true ones, and each can be explained.
func TestMillionFrames(t *testing.T) {
	n := 1_000_000
	if runtime.GOOS == "js" { // it is ten times as slow
		n = 100_000
	}
	at := n / 10 * 7
	dump, sym := recursion(byCFI, n, at)
	fs := NewFiles(Options{})
	fs.Add(input.FromBytes("a.dmp", dump))
	fs.Add(input.FromBytes("app.sym", sym))
	s := fs.Session(0)
	r := s.Report()
	th := &r.Threads[0]
	skipped, odd := 0, -1
	for i := range th.Frames {
		f := &th.Frames[i]
		skipped += f.Skipped
		if f.Function.Raw == "odd" {
			odd = i
			if got := (f.Regs.SP() - recursionAMD64) / 32; got != uint64(at+1) {
				t.Errorf("odd is frame %d of the stack", got)
			}
		}
		if f.Skipped > 0 {
			x, err := s.Explain(0, i)
			if err != nil || x == nil {
				t.Errorf("frame %d: %v", i, err)
			}
		}
	}
	if last := th.Frames[len(th.Frames)-1].Function.Raw; last != "main" || len(th.Frames)+skipped != n+2 || odd < 0 || len(th.Frames) > 2500 {
		t.Fatalf("the last of %d frames is %s, %d are left out, odd is %d", len(th.Frames), last, skipped, odd)
	}
	// The frames have the numbers that they have in the whole stack.
	if got, odd := th.Number(odd), th.FrameAt(at+1); got != at+1 || th.Frames[odd].Function.Raw != "odd" || th.Total() != n+2 {
		t.Errorf("odd is number %d of %d, frame %d has its number", got, th.Total(), odd)
	}
	if want := fmt.Sprintf("frames %s to ", rows.Number(at+5)); !strings.HasPrefix(th.Repeats[1].String(), want) {
		t.Errorf("%q, want %q", th.Repeats[1].String(), want)
	}
	if len(th.Repeats) != 2 || th.Repeats[0].Skipped+th.Repeats[1].Skipped != skipped || th.Repeats[0].Period != 3 {
		t.Errorf("%+v", th.Repeats)
	}
	if r.Modules[0].Frames != n+2 {
		t.Errorf("%d frames are in the module", r.Modules[0].Frames)
	}
	var b strings.Builder
	if err := text.WriteMachine(&b, r); err != nil || strings.Count(b.String(), "LeftOut|0|") != 2 || !strings.Contains(b.String(), fmt.Sprintf("\n0|%d|app|main|", n+1)) {
		t.Errorf("%v, %d lines say what is left out", err, strings.Count(b.String(), "LeftOut|"))
	}
	b.Reset()
	if err := text.Write(&b, r); err != nil || !strings.Contains(b.String(), fmt.Sprintf("\n%d  app!main", n+1)) {
		t.Errorf("%v, the text has another number for main", err)
	}
	b.Reset()
	if err := jsonreport.Write(&b, r, jsonreport.Options{}); err != nil || !strings.Contains(b.String(), fmt.Sprintf(`"frame":%d,"function":"main"`, n+1)) {
		t.Errorf("%v, the JSON has another number for main", err)
	}
}

// TestSkippedFramesAreTheSame: with and without skipping, the frames that are kept are the same.
func TestSkippedFramesAreTheSame(t *testing.T) {
	for _, c := range []struct {
		n, odd int
		rules  string
	}{{999, 0, byCFI}, {1500, 0, byCFI}, {5000, 0, byCFI}, {5001, 2000, byCFI}, {5002, 1023, byCFI}, {5003, 1024, byCFI}, {5004, 1025, byCFI}, {9000, 4444, byCFI},
		{5000, 0, byFramePointer}, {9001, 4444, byFramePointer}, {5000, 0, byWin}, {9002, 4445, byWin}} {
		dump, sym := recursion(c.rules, c.n, c.odd)
		var all, kept []walker.Frame
		for _, policy := range []walker.Policy{walker.Best, walker.Best} {
			if all == nil {
				policy.KeptFrames = 0
			}
			fs := NewFiles(Options{Policy: policy})
			fs.Add(input.FromBytes("a.dmp", dump))
			fs.Add(input.FromBytes("app.sym", sym))
			fs.Session(0).Report()
			if frames := fs.Session(0).walked.stacks[0].Frames; all == nil {
				all = frames
			} else {
				kept = frames
			}
		}
		if len(all) != c.n+2 {
			t.Fatalf("%d frames of %d", len(all), c.n+2)
		}
		at := 0
		for i := range kept {
			f := &kept[i]
			if f.Skipped != nil {
				at += f.Skipped.Count
			}
			g := &all[at]
			if f.PC != g.PC || f.Lookup != g.Lookup || f.CFA != g.CFA || f.HasCFA != g.HasCFA || f.Regs != g.Regs || f.Source != g.Source || f.Symbol.Name != g.Symbol.Name {
				t.Fatalf("%+v: frame %d, of all %d: %x %x, want %x %x", c, i, at, f.PC, f.CFA, g.PC, g.CFA)
			}
			at++
		}
		if at != len(all) {
			t.Errorf("%+v: %d frames with those left out, want %d", c, at, len(all))
		}
	}
}
