package session_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/session"
)

// deepStacks is a dump of threads whose frames are each 64 bytes of the stack, in functions all
// over a program, and the program's symbols, over 4 MB. stale is how many of ten words of a frame
// point to code that was called before.
func deepStacks(threads, frames, stale int) (dump, syms []byte) {
	const base, functions = 0x555500000000, 40_000
	id := []byte("0123456789abcdef")
	var text strings.Builder
	fmt.Fprintf(&text, "MODULE Linux x86_64 333231303534373638396162636465660 deep\nFILE 0 /src/deep.cc\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "INLINE_ORIGIN %d helper_%d(int, char const*)\n", i, i)
	}
	for i := range functions {
		at := 0x1000 + i*0x40
		fmt.Fprintf(&text, "FUNC %x 40 0 function_%d(unsigned long)\nINLINE 0 %d 0 %d %x 20\n%x 40 %d 0\n", at, i, i%90+1, i%3000, at, at, i%500+1)
	}
	for i := range functions {
		fmt.Fprintf(&text, "STACK CFI INIT %x 40 .cfa: $rsp 64 + .ra: .cfa -8 + ^\n", 0x1000+i*0x40)
	}
	rng := rand.New(rand.NewPCG(1, 9))
	code := func() uint64 { return base + 0x1000 + uint64(rng.IntN(functions))*0x40 + uint64(4+rng.IntN(0x38)) }
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(base, 0x1000+functions*0x40+0x10000, "/opt/deep", dumptest.ELF(id))
	for t := range threads {
		sp := uint64(0x7f0000000000) + uint64(t)<<24
		var mem []byte
		for frame := range frames {
			for word := range 8 {
				v := uint64(0)
				switch {
				case word == 7 && frame+1 < frames:
					v = code()
				case rng.IntN(10) < stale:
					v = code()
				case rng.IntN(4) == 0: // after the code: data
					v = base + 0x1000 + functions*0x40 + uint64(rng.IntN(0x8000))
				}
				if word == 7 && frame+1 == frames {
					v = 0
				}
				mem = binary.LittleEndian.AppendUint64(mem, v)
			}
		}
		ctx := dumptest.AMD64(map[string]uint64{"rip": code(), "rsp": sp})
		d.Thread(uint32(100+t), ctx, sp, append(mem, make([]byte, 64)...))
		if t == 0 {
			d.Exception(100, 11, 1, 0x10, ctx)
		}
	}
	return d.Bytes(), []byte(text.String())
}

// TestForesight: the unwind rules of a stack are read together, though where a frame's caller is,
// is known only when its rules are; words of the stack that are not return addresses change nothing
// but what is read.
func TestForesight(t *testing.T) {
	const frames = 100
	for _, stale := range []int{0, 3} {
		dump, syms := deepStacks(12, frames, stale)
		open := func(r *many) *session.Files {
			s := session.NewFiles(session.Options{IndexOnDemand: true})
			s.Add(input.FromBytes("deep.dmp", dump))
			if r == nil {
				s.Add(input.FromBytes("deep.sym", syms))
			} else {
				s.Add(input.New("deep.sym", r, int64(len(syms))))
			}
			return s
		}
		alone := open(nil).Report(0)
		r := &many{r: bytes.NewReader(syms)}
		s := open(r)
		got := s.Session(0).PartialReport(-1)
		if th := got.Threads[got.FirstThread]; len(th.Frames) < frames || th.Frames[frames-1].Function.Raw == "" {
			t.Fatalf("%d of ten words stale: %d frames", stale, len(th.Frames))
		}
		if r.many == 0 {
			t.Error("nothing was read together")
		}
		for s.Session(0).WalkOn() > 0 {
		}
		for i, th := range s.Report(0).Threads {
			if !reflect.DeepEqual(frameNames(th), frameNames(alone.Threads[i])) {
				t.Errorf("%d of ten words stale, thread %d:\n%q\nalone:\n%q", stale, i, frameNames(th), frameNames(alone.Threads[i]))
			}
		}
	}
}

// TestForesightOfServers: a file on a server gives the same stack.
func TestForesightOfServers(t *testing.T) {
	for _, stale := range []int{0, 5} {
		dump, syms := deepStacks(1, 60, stale)
		var got [2][]string
		for i, slice := range []int64{0, 4 << 10} {
			src := input.New("deep.sym", &many{r: bytes.NewReader(syms)}, int64(len(syms)))
			src.Slice = slice
			s := session.NewFiles(session.Options{IndexOnDemand: true})
			s.Add(input.FromBytes("deep.dmp", dump))
			s.Add(src)
			r := s.Session(0).PartialReport(-1)
			got[i] = frameNames(r.Threads[r.FirstThread])
		}
		if len(got[0]) < 60 || !reflect.DeepEqual(got[0], got[1]) {
			t.Errorf("%d of ten words stale: %q, and on a server %q", stale, got[0], got[1])
		}
	}
}
