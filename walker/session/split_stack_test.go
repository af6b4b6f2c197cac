package session

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker"
)

// memoryRange is a part of a made stack, by offsets from its start, and the stream that has it: 5,
// 9, or 3 for the thread's own descriptor.
type memoryRange struct {
	from, to uint64
	stream   int
}

// splitCPU is a CPU whose stacks are made: its context record, its registers, and the rules of a
// frame of some size.
type splitCPU struct {
	kind      string
	processor uint16
	order     binary.AppendByteOrder
	word      int
	pc, sp    string // in the context record
	symSP     string // in STACK CFI
}

var splitCPUs = []splitCPU{
	{"amd64", 9, dumptest.LittleEndian, 8, "rip", "rsp", "$rsp"},
	{"x86", 0, dumptest.LittleEndian, 4, "eip", "esp", "$esp"},
	{"ppc64", 0x8002, dumptest.BigEndian, 8, "srr0", "r1", "r1"},
	{"ppc", 3, dumptest.BigEndian, 4, "srr0", "r1", "r1"},
}

const (
	splitStart = 0x90000 // of the stack
	splitSize  = 0x3000
	splitSP    = splitStart + 0x800
	splitFrame = 0x1000 // of f; g's has 64 bytes
)

// session makes a program that is in f, called by g, called by main, with its stack in some ranges.
func (c splitCPU) session(p walker.Policy, ranges []memoryRange) *Files {
	const base = 0x400000
	stack := make([]byte, splitSize)
	put := func(at, v uint64) {
		if p := stack[at-splitStart:]; c.word == 8 {
			copy(p, c.order.AppendUint64(nil, v))
		} else {
			copy(p, c.order.AppendUint32(nil, uint32(v)))
		}
	}
	put(splitSP+splitFrame-8, base+0x1120)
	put(splitSP+splitFrame+64-8, base+0x1220)
	ctx := dumptest.Context(c.order, c.kind, map[string]uint64{c.pc: base + 0x1010, c.sp: splitSP})
	d := dumptest.New(c.order).System(dumptest.System{Processor: c.processor, Platform: dumptest.OSLinux}).
		Module(base, 0x10000, "/bin/app", dumptest.ELF([]byte("0123456789abcdef0123")))
	own := memoryRange{}
	for _, r := range ranges {
		at, bytes := splitStart+r.from, stack[r.from:r.to]
		switch r.stream {
		case 3:
			own = r
		case 5:
			d.Memory(at, bytes)
		case 9:
			d.Memory64(at, bytes)
		}
	}
	if own.stream == 0 {
		d.Thread(1, ctx, 0, nil)
	} else {
		d.Thread(1, ctx, splitStart+own.from, stack[own.from:own.to])
	}
	s := NewFiles(Options{Policy: p})
	s.Add(source("x.dmp", d.Exception(1, 11, 1, 0x10, ctx).Bytes()))
	s.Add(source("app.sym", fmt.Appendf(nil, `MODULE Linux x %s app
FUNC 1000 100 0 f
FUNC 1100 100 0 g
FUNC 1200 100 0 main
STACK CFI INIT 1000 100 .cfa: %s %d + .ra: .cfa -8 + ^
STACK CFI INIT 1100 100 .cfa: %[2]s 64 + .ra: .cfa -8 + ^
`, s.Report(0).Modules[0].DebugID, c.symSP, splitFrame)))
	return s
}

// A stack is all the memory that the dump has of it, whatever ranges and streams the writer put it
// into.
func TestStackInSeveralRanges(t *testing.T) {
	const sp, ra = splitSP - splitStart, splitSP - splitStart + splitFrame - 8
	for name, ranges := range map[string][]memoryRange{
		"one":                       {{0, splitSize, 3}},
		"two":                       {{0, 0x1000, 5}, {0x1000, splitSize, 5}},
		"three, descending":         {{0x1900, splitSize, 5}, {0x1000, 0x1900, 5}, {0, 0x1000, 5}},
		"a word in two":             {{0, ra + 3, 5}, {ra + 3, splitSize, 5}},
		"a word in three":           {{0, ra + 1, 5}, {ra + 2, splitSize, 5}, {ra + 1, ra + 2, 9}},
		"both lists":                {{0, 0x1000, 9}, {0x1000, splitSize, 5}},
		"the thread has the first":  {{0, 0x1000, 3}, {0x1000, splitSize, 5}},
		"the thread has the last":   {{0, 0x1000, 5}, {0x1000, splitSize, 3}},
		"a word in list and thread": {{0, ra + 3, 3}, {ra + 3, splitSize, 9}},
		"the thread's ends at sp":   {{0, sp, 3}, {sp, splitSize, 5}},
		"the thread's begins above": {{ra, splitSize, 3}, {sp, ra, 5}},
		"overlapping":               {{0, 0x1400, 5}, {0x1000, 0x1900, 5}, {0x1200, splitSize, 9}, {0x800, 0x1100, 3}},
		"a gap inside f's frame":    {{0, 0x1000, 3}, {0x1400, splitSize, 5}},
	} {
		for _, c := range splitCPUs {
			s := c.session(walker.Best, ranges)
			r := s.Report(0)
			if got := functions(r); got != "f g main" {
				t.Errorf("%s, %s: %s", name, c.kind, got)
			}
			for _, f := range r.Threads[0].Frames {
				for _, a := range f.Attempts {
					if strings.Contains(a.Reason, "is not in the dump") {
						t.Errorf("%s, %s: %s", name, c.kind, a.Reason)
					}
				}
			}
		}
	}
}

// The peers read one range. What they do not read is not said to be missing in the dump.
func TestPeersReadOneRange(t *testing.T) {
	ranges := []memoryRange{{0, 0x1000, 3}, {0x1000, splitSize, 5}}
	for _, p := range []walker.Policy{walker.Breakpad, walker.RustMinidump} {
		r := splitCPUs[0].session(p, ranges).Report(0)
		if got := functions(r); got != "f" {
			t.Errorf("%s: %s", p.Name, got)
		}
		if text := fmt.Sprint(r.Threads[0].Stop.Attempts); !strings.Contains(text, "0x917f8 is not in the stack's memory") {
			t.Errorf("%s: %s", p.Name, text)
		}
	}
	// With a part cut out, it is.
	cut := splitCPUs[0].session(walker.Best, []memoryRange{{0, 0x1000, 3}}).Report(0)
	if text := fmt.Sprint(cut.Threads[0].Stop.Attempts); functions(cut) != "f" || !strings.Contains(text, "0x917f8 is not in the dump") {
		t.Errorf("%s: %s", functions(cut), text)
	}
}
