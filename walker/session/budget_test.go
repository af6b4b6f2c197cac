package session

import (
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"strings"
	"testing"
	"time"

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
