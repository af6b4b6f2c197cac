//go:build linux

package main

import (
	"strings"
	"testing"
)

// stackOf makes gdb's thread of frames in file code at 0x1000 + 16 a frame; edits change it.
func stackOf(n int, reason string) *gdbThread {
	t := &gdbThread{Reason: reason}
	for i := range n {
		t.Frames = append(t.Frames, gdbFrame{PC: 0x1000 + uint64(i)*16, SP: 0x7000 + uint64(i)*32})
	}
	return t
}

// found is our thread with the same frames.
func found(g *gdbThread, stop string) *ourThread {
	t := &ourThread{stop: stop}
	for _, f := range g.Frames {
		t.frames = append(t.frames, ourFrame{pc: f.PC, sp: f.SP, trust: "cfi"})
	}
	return t
}

func testCode(pc uint64) code {
	switch {
	case pc >= 0x1000 && pc < 0x2000:
		return fileCode
	case pc >= 0x9000 && pc < 0xa000:
		return madeCode
	}
	return noCode
}

func TestCompareThread(t *testing.T) {
	const outermost = "outermost"
	tests := []struct {
		name string
		gdb  func() *gdbThread
		ours func(*gdbThread) *ourThread
		// lacks is memory that the dump does not have.
		lacks func(uint64) bool
		known int
		equal int
		want  string // part of the difference; "" for none
		moved bool
		none  int // absent frames
		// complete: the whole stack is expected.
		complete bool
	}{
		{name: "equal", known: 4, equal: 4},
		{name: "another sp", ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames[2].sp += 8
			return o
		}, known: 4, equal: 2, want: "frame 2: ours pc 0x1020 sp 0x7048"},
		{name: "another pc", ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames[3].pc++
			return o
		}, known: 4, equal: 3, want: "frame 3"},
		{name: "too short", ours: func(g *gdbThread) *ourThread {
			o := found(g, "nothing-found")
			o.frames = o.frames[:2]
			return o
		}, known: 4, equal: 2, want: "frame 2: ours nothing (nothing-found"},
		{name: "too long", ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames = append(o.frames, ourFrame{pc: 0x1fff, sp: 0x8000})
			return o
		}, known: 4, equal: 4, want: "gdb the end of the stack"},
		{name: "longer than an incomplete stack of gdb's", gdb: func() *gdbThread { return stackOf(4, "previous frame inner to this frame (corrupt stack?)") },
			ours: func(g *gdbThread) *ourThread {
				o := found(g, endOfStack)
				o.frames = append(o.frames, ourFrame{pc: 0x1fff, sp: 0x8000})
				return o
			}, known: 4, equal: 4},
		{name: "beyond JIT code gdb is not believed", gdb: func() *gdbThread {
			g := stackOf(6, outermost)
			g.Frames[3].PC, g.Frames[4].PC = 0x9000, 3
			return g
		}, ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames[4].pc = 0x1500
			return o
		}, known: 4, equal: 4},
		{name: "beyond JIT code the stack must be complete", gdb: func() *gdbThread {
			g := stackOf(6, outermost)
			g.Frames[3].PC = 0x9000
			return g
		}, ours: func(g *gdbThread) *ourThread {
			o := found(g, "nothing-found")
			o.frames = o.frames[:4]
			return o
		}, complete: true, known: 4, equal: 4, want: "a complete stack is expected"},
		{name: "code that keeps the frame pointer", gdb: func() *gdbThread {
			g := stackOf(6, outermost)
			g.Frames[3].PC, g.Frames[3].FramePointer = 0x9000, true
			return g
		}, known: 6, equal: 6},
		{name: "a number that is no address is no frame", gdb: func() *gdbThread {
			g := stackOf(4, outermost)
			g.Frames[2].PC = 7
			return g
		}, ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames[2].pc = 0x1500
			return o
		}, known: 2, equal: 2},
		{name: "what a signal interrupted is known wherever it is", gdb: func() *gdbThread {
			g := stackOf(4, outermost)
			g.Frames[1].Signal = true
			g.Frames[2].PC = 0
			return g
		}, ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames[2].pc = 0x1500
			return o
		}, known: 3, equal: 2, want: "frame 2"},
		{name: "the caller of a call to no code", gdb: func() *gdbThread {
			g := stackOf(4, outermost)
			g.Frames[1].Signal = true
			g.Frames[2].PC, g.Frames[3].SP = 0, g.Frames[2].SP+8
			return g
		}, known: 4, equal: 4},
		{name: "a thread that ran on", ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames[0].pc++
			return o
		}, moved: true},
		{name: "memory that the dump lacks", ours: func(g *gdbThread) *ourThread {
			o := found(g, "nothing-found")
			o.frames = o.frames[:2]
			return o
		}, lacks: func(at uint64) bool { return at >= 0x7038 }, known: 2, equal: 2, none: 2},
		{name: "a frame that is wrong is wrong, whatever memory the dump lacks", ours: func(g *gdbThread) *ourThread {
			o := found(g, endOfStack)
			o.frames[2].pc = 0x1f00
			return o
		}, lacks: func(uint64) bool { return true }, known: 4, equal: 2, want: "frame 2"},
		{name: "no such thread", ours: func(*gdbThread) *ourThread { return nil }, known: 4, want: "no such thread"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := stackOf(4, outermost)
			if tt.gdb != nil {
				g = tt.gdb()
			}
			o := found(g, endOfStack)
			if tt.ours != nil {
				o = tt.ours(g)
			}
			has := func(at uint64) bool { return tt.lacks == nil || !tt.lacks(at) }
			p := &process{at: testCode, word: 8, hasMemory: has, complete: tt.complete}
			r := p.compareThread(7, o, g)
			if r.known != tt.known || r.equal != tt.equal || r.moved != tt.moved || r.absent != tt.none {
				t.Errorf("known %d, equal %d, moved %v, absent %d; want %d, %d, %v, %d", r.known, r.equal, r.moved, r.absent, tt.known, tt.equal, tt.moved, tt.none)
			}
			text := ""
			if r.diff != nil {
				text = r.diff.String()
			}
			if (tt.want == "") != (text == "") || !strings.Contains(text, tt.want) {
				t.Errorf("difference %q, want %q", text, tt.want)
			}
		})
	}
}

func TestCompareProcess(t *testing.T) {
	g := map[uint32]*gdbThread{1: stackOf(3, "outermost"), 2: stackOf(5, "outermost"), 3: stackOf(2, "outermost")}
	ours := map[uint32]*ourThread{1: found(g[1], endOfStack), 2: found(g[2], endOfStack), 3: found(g[3], endOfStack)}
	ours[2].frames[4].name = "outer"
	ours[2].frames[1].name = "inner()"
	p := &process{at: testCode, word: 8, hasMemory: func(uint64) bool { return true }, landmarks: []landmarks{{"inner", "outer"}}}
	r := p.compare(ours, g)
	if r.failed() || r.threads != 3 || r.known != 10 || r.equal != 10 {
		t.Errorf("equal stacks: %+v", r)
	}
	p.landmarks = []landmarks{{"outer", "inner"}}
	if r := p.compare(ours, g); !r.failed() || len(r.missing) != 1 || r.missing[0] != "inner" {
		t.Errorf("landmarks in the wrong order: %+v", r)
	}
	p.landmarks = nil
	ours[1].frames[2].sp--
	if r := p.compare(ours, g); !r.failed() || len(r.diffs) != 1 || r.diffs[0].thread != 1 || r.equal != 9 {
		t.Errorf("one frame differs: %+v", r)
	}
	// A program without anything to compare has not passed.
	for _, o := range ours {
		o.frames[0].pc++
	}
	if r := p.compare(ours, g); !r.failed() || r.moved != 3 {
		t.Errorf("all threads ran on: %+v", r)
	}
}

func TestMaps(t *testing.T) {
	maps := parseMaps(`00400000-00401000 r-xp 00000000 fe:00 12 /usr/bin/a b
7f0000000000-7f0000001000 rw-p 00000000 00:00 0
7f0000001000-7f0000002000 rwxp 00000000 00:00 0
7f0000002000-7f0000003000 r-xp 00000000 00:00 0                          [vdso]
7f0000003000-7f0000004000 r-xp 00000000 fe:00 13                         /tmp/x (deleted)
nonsense
`)
	if len(maps) != 5 || maps[0].path != "/usr/bin/a b" || maps[4].path != "/tmp/x" || !maps[4].deleted {
		t.Fatalf("maps: %+v", maps)
	}
	for pc, want := range map[uint64]code{0x400fff: fileCode, 0x401000: noCode, 0x7f0000000000: noCode, 0x7f0000001000: madeCode, 0x7f0000002000: fileCode, 0x7f0000003000: fileCode} {
		if have := codeAt(maps, pc); have != want {
			t.Errorf("code at 0x%x: %d, want %d", pc, have, want)
		}
	}
}

func TestPeerFrames(t *testing.T) {
	frames := []gdbFrame{{PC: 0x1000}, {PC: 0x1010}, {PC: 0x1020}, {PC: 0x1030}}
	peer := []peerFrame{{Offset: "0x0000000000001000"}, {Offset: "0x000000000000100f"}, {Offset: "0x1021"}, {Offset: "0x1030"}}
	if n := equalPeer(peer, frames); n != 2 {
		t.Errorf("%d frames are equal, want 2", n)
	}
	if n := equalPeer(peer[:1], frames); n != 1 {
		t.Errorf("%d frames of a short stack are equal, want 1", n)
	}
}

// Without rules gdb's guesses prove nothing: only the innermost frame is compared, and the landmarks.
func TestContexts(t *testing.T) {
	g := stackOf(3, "outermost")
	ours := found(stackOf(1, ""), endOfStack)
	p := &process{at: testCode, word: 8, hasMemory: func(uint64) bool { return true }}
	if r := p.compareThread(1, ours, g); r.diff == nil {
		t.Error("a stack of one frame equals one of three")
	}
	if r := p.compareThread(1, ours, contexts(map[uint32]*gdbThread{1: g})[1]); r.diff != nil || r.equal != 1 {
		t.Errorf("contexts: %+v", r)
	}
}
