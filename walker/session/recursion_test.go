package session

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report/text"
)

// recursion makes a dump of n frames below main: of each round of 3 functions, and where odd is not 0, a call of another
// function at that frame. Frames have 32 bytes.
func recursion(n, odd int) (dump, sym []byte) {
	const sp, size = 0x7ffe00000000, 32
	stack := make([]byte, (n+2)*size)
	put := func(i int, ra uint64) {
		at := i*size + 16
		binary.LittleEndian.PutUint64(stack[at:], sp+uint64(i+1)*size+16)
		binary.LittleEndian.PutUint64(stack[at+8:], ra)
	}
	for i := range n {
		ra := uint64(0x401020 + 0x100*(i%3))
		if odd != 0 && i == odd {
			ra = 0x401420
		}
		put(i, ra)
	}
	put(n, 0x401320) // main
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": sp, "rbp": sp + 16})
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: 0x8201}).Module(0x400000, 0x3000, "/opt/app", appELF).
		Thread(7, ctx, sp, stack).Exception(7, 11, 1, sp-8, ctx)
	return d.Bytes(), []byte("MODULE Linux x86_64 " + appID + " app\nFUNC 1000 100 0 value\nFUNC 1100 100 0 list\nFUNC 1200 100 0 item\nFUNC 1300 100 0 main\nFUNC 1400 100 0 odd\n" +
		"STACK CFI INIT 1000 300 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\nSTACK CFI INIT 1400 100 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^\n" +
		"STACK CFI INIT 1300 100 .cfa: $rbp 16 + .ra: undefined\n")
}

// TestMillionFrames: a recursion of a million frames is walked to main in the memory of some thousand frames; what is
// left out is counted, the frames after it are the true ones, and each can be explained.
func TestMillionFrames(t *testing.T) {
	n := 1_000_000
	if runtime.GOOS == "js" { // it is ten times as slow
		n = 100_000
	}
	at := n / 10 * 7
	dump, sym := recursion(n, at)
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
			if got := (f.Regs.SP() - 0x7ffe00000000) / 32; got != uint64(at+1) {
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
	if len(th.Repeats) != 2 || th.Repeats[0].Skipped+th.Repeats[1].Skipped != skipped || th.Repeats[0].Period != 3 {
		t.Errorf("%+v", th.Repeats)
	}
	var b strings.Builder
	if err := text.WriteMachine(&b, r); err != nil || strings.Count(b.String(), "LeftOut|0|") != 2 {
		t.Errorf("%v, %d lines say what is left out", err, strings.Count(b.String(), "LeftOut|"))
	}
}

// TestSkippedFramesAreTheSame: with and without skipping, the frames that are kept are the same.
func TestSkippedFramesAreTheSame(t *testing.T) {
	for _, c := range []struct{ n, odd int }{{999, 0}, {1500, 0}, {5000, 0}, {5001, 2000}, {5002, 1023}, {5003, 1024}, {5004, 1025}, {9000, 4444}} {
		dump, sym := recursion(c.n, c.odd)
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
