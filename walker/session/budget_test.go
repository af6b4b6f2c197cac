package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
)

// deepDump has threads whose stacks are chains of frame pointers. Calls from two addresses follow each other without a
// period (Thue and Morse), so that all frames are kept.
func deepDump(threads, frames int) []byte { return deepDumps(threads, frames, frames) }

// deepDumps is deepDump with another number of frames of the crashed thread, the last.
func deepDumps(threads, frames, crashed int) []byte {
	const base = 0x400000
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).Module(base, 0x10000, "/opt/app", nil)
	for id := range threads {
		stack := uint64(0x7f0000000000 + id<<24)
		if id == threads-1 {
			frames = crashed
		}
		var mem []byte
		for i := range frames {
			mem = binary.LittleEndian.AppendUint64(mem, stack+uint64(i+1)*16)
			mem = binary.LittleEndian.AppendUint64(mem, base+0x1020+0x100*uint64(bits.OnesCount(uint(i))%2))
		}
		ctx := dumptest.AMD64(map[string]uint64{"rip": base + 0x1010, "rsp": stack, "rbp": stack})
		d.Thread(uint32(id+1), ctx, stack, mem)
		if id == threads-1 {
			d.Exception(uint32(id+1), 11, 1, 0x45, ctx)
		}
	}
	return d.Bytes()
}

// Stacks that would take more memory than the dump may take are cut, the crashed thread's last, and
// the report says so. What a walk took is there again for the next one.
func TestStacksWithinBudget(t *testing.T) {
	const threads, frames = 200, 300
	dump := deepDump(threads, frames)
	fs := NewFiles(Options{Policy: walker.FPOnly})
	fs.Add(input.FromBytes("deep.dmp", dump))
	walked := func() (total int) {
		r := fs.Report(0)
		cut, said := 0, false
		for i := range r.Threads {
			total += len(r.Threads[i].Frames)
			if stop := r.Threads[i].Stop; stop.Kind == string(walker.StopLimit) && strings.Contains(stop.Detail, "bytes of memory") {
				cut++
			}
		}
		for _, f := range r.Findings {
			said = said || f.Kind == "frame-limit" && strings.Contains(f.Text, "bytes of memory")
		}
		if cut == 0 || cut == threads || !said || fs.Budget().Err() == nil {
			t.Errorf("%d stacks are cut; a finding: %v; %v", cut, said, fs.Budget().Err())
		}
		if n := len(r.Threads[r.FirstThread].Frames); n < frames {
			t.Errorf("the crashed thread has %d frames", n)
		}
		if most := fs.Budget().Limit(input.Memory); int64(total-threads)*walker.FrameCost > most {
			t.Errorf("%d frames take more than %d bytes", total, most)
		}
		return total
	}
	first := walked()
	fs.SetPolicy(walker.FPOnly)
	if again := walked(); again != first {
		t.Errorf("%d frames, and %d when the stacks were walked again", first, again)
	}
	if _, err := fs.Session(0).Compare(0); err != nil {
		t.Error(err)
	}
	fs.SetPolicy(walker.FPOnly)
	if again := walked(); again != first {
		t.Errorf("%d frames, and %d after a comparison", first, again)
	}
}

// A stack that takes much memory leaves some for the others, and both leave some for a comparison,
// in which each policy has its part.
func TestMemoryIsShared(t *testing.T) {
	const threads, frames = 6, 900
	fs := NewFiles(Options{Policy: walker.FPOnly})
	fs.Add(input.FromBytes("deep.dmp", deepDumps(threads+1, frames, 60_000)))
	r := fs.Report(0)
	for i := range r.Threads {
		n, stop := len(r.Threads[i].Frames), r.Threads[i].Stop
		if i == r.FirstThread {
			if n < 12_000 || n > 60_000 || !strings.Contains(stop.Detail, "frames were walked") {
				t.Errorf("the crashed thread has %d frames: %s", n, stop.Detail)
			}
		} else if n < frames {
			t.Errorf("thread %d has %d frames: %s", i, n, stop.Detail)
		}
	}
	c, err := fs.Session(0).Compare(r.FirstThread)
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range c.Walks {
		if n := len(column.Frames); n < walker.LeastFrames && column.Policy != walker.CFIOnly.Name {
			t.Errorf("%s has %d frames: %s", column.Policy, n, column.Stop.Detail)
		}
	}
}

// When the context of a caller is done, a report ends at once, with the reason.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	fs := NewFiles(Options{Policy: walker.FPOnly})
	fs.Add(input.FromBytes("deep.dmp", deepDump(30, 500)))
	fs.Budget().Until(ctx)
	s := fs.Session(0)
	if s.WalkOn() == 0 {
		t.Fatal("all is walked at once")
	}
	cancel()
	for fs.Budget().Err() == nil { // the context's function is called in a goroutine
		time.Sleep(time.Millisecond)
	}
	r := s.Report()
	for i := range r.Threads {
		if n := len(r.Threads[i].Frames); i != r.FirstThread && n > 0 {
			t.Errorf("thread %d has %d frames", i, n)
		}
	}
	if err := fs.Budget().Err(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// jumpingDump is a dump of amd64, whose stack has return addresses behind calls of functions that jump on a thousand
// times a kilobyte, and its symbols. A scan follows each jump, in vain, and finds every fortieth word.
func jumpingDump(frames int) (dump []byte, symbols string) {
	const base, kinds, size, caller = 0x400000, 8, 0x10000, 0x1000
	code := bytes.Repeat([]byte{0xf4}, caller+kinds*size) // hlt
	jump := func(opcode byte, at, to int) {
		code[at] = opcode
		binary.LittleEndian.PutUint32(code[at+1:], uint32(to-(at+5)))
	}
	symbols = fmt.Sprintf("MODULE Linux x86_64 %s app\nFUNC 1000 %x 0 caller\n", appID, caller)
	var words []uint64
	for k := range kinds {
		call, function := 16+5*k, caller+k*size
		jump(0xe8, call, function)
		words = append(words, base+0x1000+uint64(call)+5)
		symbols += fmt.Sprintf("FUNC %x %x 0 f%d\n", 0x1000+function, size, k)
		for at := function; at+5 <= function+size; at += 5 {
			jump(0xe9, at, 0xf00+at%7)
		}
	}
	jump(0xe8, 0x800, 0)
	var stack []byte
	for i := range frames * 40 {
		word := words[i%kinds]
		if i%40 == 39 {
			word = base + 0x1805
		}
		stack = binary.LittleEndian.AppendUint64(stack, word)
	}
	ctx := dumptest.AMD64(map[string]uint64{"rip": base + 0x1700, "rsp": 0x7ffe0000, "rbp": 0})
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).Module(base, 0x100000, "/opt/app", appELF).
		Thread(7, ctx, 0x7ffe0000, stack).Memory(base+0x1000, code).Exception(7, 11, 1, 0x45, ctx).Bytes(), symbols
}

// Jumps that walks follow to find callers cost work, which ends.
func TestJumpsWithinBudget(t *testing.T) {
	dump, symbols := jumpingDump(100)
	fs := NewFiles(Options{})
	fs.Add(input.FromBytes("a.dmp", dump))
	fs.Add(input.FromBytes("a.sym", []byte(symbols)))
	b := fs.Budget()
	b.Draw(input.Work, b.Left(input.Work)-20<<20)
	fs.Report(0)
	if !errors.As(b.Err(), new(*input.BudgetError)) {
		t.Errorf("%v, %d steps are left", b.Err(), b.Left(input.Work))
	}
}

// What frames took that a walk found and then left out, above a stack's first function, is there again.
func TestLeftOutFrames(t *testing.T) {
	const base, sp = 0x400000, 0x7ffe0000
	ctx := dumptest.AMD64(map[string]uint64{"rip": base + 0x1010, "rsp": sp, "rbp": 0})
	dump := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).Module(base, 0x10000, "/opt/app", appELF).
		Thread(7, ctx, sp, words64(base+0x1020, base+0x2020, base+0x3020, base+0x3040, base+0x3060, 0)).Exception(7, 11, 1, 0x45, ctx).Bytes()
	fs := NewFiles(Options{})
	fs.Add(input.FromBytes("a.dmp", dump))
	fs.Add(input.FromBytes("a.sym", []byte("MODULE Linux x86_64 "+appID+" app\nFUNC 1000 100 0 main\nFUNC 2000 100 0 _start\nFUNC 3000 100 0 other\n"+
		"STACK CFI INIT 1000 3000 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n")))
	before := fs.Budget().Left(input.Memory)
	if frames := fs.Report(0).Threads[0].Frames; len(frames) != 3 || frames[2].Function.Raw != "_start" {
		t.Fatalf("%+v", frames)
	}
	fs.Session(0).Close()
	if lost := before - fs.Budget().Left(input.Memory); lost != 0 {
		t.Errorf("%d bytes stay drawn", lost)
	}
}

// goLoopDump is a dump of a Go program, and its symbols, in which systemstack's caller on the goroutine's stack is
// systemstack itself.
func goLoopDump() (dump []byte, symbols string) {
	const base, g0, g, m, sp = 0x400000, 0x10000, 0x11000, 0x12000, 0x7ffe0000
	goroutine := words64(sp, sp+0x1000, 0, 0, 0, 0, m, sp+0x10, base+0x3010, 0, 0, 0, 0)
	ctx := dumptest.AMD64(map[string]uint64{"rip": base + 0x1010, "rsp": sp, "rbx": g})
	var stack []uint64
	for range 16 {
		stack = append(stack, 0, base+0x2020)
	}
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).Module(base, 0x10000, "/opt/app", appELF).
			Thread(7, ctx, sp, words64(stack...)).Memory(g0, goroutine).Memory(g, goroutine).Memory(m, words64(g0, 0, g, 0, 0)).Exception(7, 11, 1, 0x45, ctx).Bytes(),
		"MODULE Linux x86_64 " + appID + " app\nFUNC 1000 100 0 main.f\nFUNC 2000 100 0 runtime.systemstack\nFUNC 3000 100 0 runtime.systemstack_switch\n" +
			"STACK CFI INIT 1000 3000 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
}

// A stack pointer that Go's runtime saved does not lead round in a circle.
func TestGoLoop(t *testing.T) {
	dump, symbols := goLoopDump()
	fs := NewFiles(Options{})
	fs.Add(input.FromBytes("a.dmp", dump))
	fs.Add(input.FromBytes("a.sym", []byte(symbols)))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	fs.Budget().Until(ctx)
	th := &fs.Report(0).Threads[0]
	if len(th.Frames) != 3 || th.Stop.Kind != string(walker.StopNoProgress) || !strings.Contains(th.Stop.Detail, "leads back to a frame before (pc 0x402020, sp 0x7ffe0020)") {
		t.Errorf("%d frames, %+v", len(th.Frames), th.Stop)
	}
}

// Threads may share a large stack, and a large shadow stack. Looking for the beginning of the one, and reading the
// other, costs work.
func TestSharedStack(t *testing.T) {
	const base, sp, threads = 0x400000, 0x7ff00000, 400
	stack := append(words64(base+0x1020), make([]byte, 1<<20-8)...)
	regs := map[string]uint64{"rip": base + 0x1010, "rsp": sp, "rbp": 0}
	for what, c := range map[string]struct{ context, stack, memory []byte }{
		"stack":        {dumptest.AMD64(regs), stack, []byte{0}},
		"shadow stack": {dumptest.AMD64XState(regs, nil, 0x60000000), make([]byte, 64), bytes.Repeat(words64(base+0x1020), 1<<16)},
	} {
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 2}).Module(base, 0x10000, "app.exe", nil).Memory(0x60000000, c.memory)
		contextOff, stackOff := d.Put(c.context), d.Put(c.stack)
		for id := range threads {
			d.ThreadAt(uint32(id+1), contextOff, len(c.context), sp, stackOff, len(c.stack))
		}
		fs := NewFiles(Options{})
		fs.Add(input.FromBytes("a.dmp", d.Bytes()))
		b := fs.Budget()
		b.Draw(input.Work, b.Left(input.Work)-20<<20)
		fs.Report(0)
		if !errors.As(b.Err(), new(*input.BudgetError)) || !strings.Contains(b.Err().Error(), "steps of work") {
			t.Errorf("%s: %v, %d steps are left", what, b.Err(), b.Left(input.Work))
		}
	}
}

// A list of an outline draws what its rows take.
func TestOutlineMemory(t *testing.T) {
	if size := unsafe.Sizeof(outlineEntry{}); size != entryMemory {
		t.Errorf("a row takes %d bytes, and draws %d", size, entryMemory)
	}
}
