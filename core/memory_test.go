package core

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// TestOverlaps compares the merged regions with a simple model: each address belongs to the first
// source that has it.
func TestOverlaps(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for round := range 300 {
		b := dumptest.New(dumptest.LittleEndian)
		var want [256]byte
		order := func(addr int, p []byte) { // later sources fill only what is still free
			for i, v := range p {
				if want[addr+i] == 0 {
					want[addr+i] = v
				}
			}
		}
		type part struct {
			addr int
			p    []byte
		}
		var lists [3][]part
		next := byte(1)
		for k := range lists {
			at := 0
			for range rnd.Intn(5) { // within one list without overlap
				at += rnd.Intn(30)
				n := 1 + rnd.Intn(30)
				if at+n > 250 {
					break
				}
				lists[k] = append(lists[k], part{at, bytes.Repeat([]byte{next}, n)})
				next++
				at += n
			}
		}
		for _, m := range lists[0] {
			b.Memory64(uint64(m.addr), m.p)
			order(m.addr, m.p)
		}
		for _, m := range lists[1] {
			b.Memory(uint64(m.addr), m.p)
			order(m.addr, m.p)
		}
		for i, m := range lists[2] {
			b.Thread(uint32(i), nil, uint64(m.addr), m.p)
			order(m.addr, m.p)
		}
		d := open(t, b.Bytes())
		var last uint64
		for i, r := range d.Memory.Regions() {
			if r.Loc.Size == 0 || i > 0 && r.Start < last {
				t.Fatalf("round %d: regions overlap: %+v", round, d.Memory.Regions())
			}
			last = r.End()
		}
		for addr, w := range want {
			got, ok := d.Memory.Word(uint64(addr), 1)
			if ok != (w != 0) || byte(got) != w {
				t.Fatalf("round %d: byte at %d = %d, %v; want %d; %+v", round, addr, got, ok, w, d.Memory.Regions())
			}
		}
	}
}

// TestOverlapInsideAList: the first region in order of address keeps its bytes.
func TestOverlapInsideAList(t *testing.T) {
	d := open(t, dumptest.New(dumptest.LittleEndian).Memory(10, []byte("BBBBBBBB")).Memory(5, []byte("AAAAAAAAAA")).Memory(6, []byte("C")).Bytes())
	p := make([]byte, 20)
	if n := d.Memory.Read(5, p); string(p[:n]) != "AAAAAAAAAABBB" {
		t.Errorf("%q", p[:n])
	}
}

func TestEndOfAddressSpace(t *testing.T) {
	d := open(t, dumptest.New(dumptest.LittleEndian).Memory(^uint64(0)-3, []byte("abcdefgh")).Memory(0, []byte("zero")).Bytes())
	if v, ok := d.Memory.Word(^uint64(0), 1); !ok || v != 'd' {
		t.Errorf("last byte = %c, %v", rune(v), ok)
	}
	if _, ok := d.Memory.Word(^uint64(0)-3, 8); ok {
		t.Error("a word went around the end of the address space")
	}
	if v, ok := d.Memory.Word(0, 4); !ok || v != 0x6f72657a {
		t.Errorf("word 0 = %#x, %v", v, ok)
	}
}

// TestWords reads words at every position through files of every kind: in memory, through the block
// cache, across blocks.
func TestWords(t *testing.T) {
	stack := make([]byte, 200<<10)
	for i := range stack {
		stack[i] = byte(i * 7)
	}
	const base = 0x7000001 // not aligned, so that words lie across blocks
	data := dumptest.New(dumptest.LittleEndian).Thread(1, nil, base, stack).Bytes()
	for name, src := range map[string]*input.Source{
		"memory": input.FromBytes("x", data),
		"file":   input.New("x", bytes.NewReader(data), int64(len(data))),
	} {
		d, err := Open(src)
		if err != nil {
			t.Fatal(err)
		}
		s := d.ThreadStack(0)
		if s == nil || s.Start != base || s.End != base+uint64(len(stack)) || !s.Contains(base) || s.Contains(s.End) {
			t.Fatalf("%s: stack %+v", name, s)
		}
		for i := 0; i < len(stack); i++ {
			for _, size := range []int{4, 8} {
				var want uint64
				for k := size - 1; k >= 0 && i+size <= len(stack); k-- {
					want = want<<8 | uint64(stack[i+k])
				}
				got, ok := s.Word(base+uint64(i), size)
				got2, ok2 := d.Memory.Word(base+uint64(i), size)
				if ok != (i+size <= len(stack)) || got != want || got2 != got || ok2 != ok {
					t.Fatalf("%s: word of %d at %d = %#x, %v; %#x, %v; want %#x", name, size, i, got, ok, got2, ok2, want)
				}
			}
			if i%4096 == 64 { // not each of the 200 thousand bytes: those at the blocks' ends and starts do
				i += 4000
			}
		}
		for _, bad := range []uint64{base - 1, 0, ^uint64(0)} {
			if _, ok := s.Word(bad, 8); ok {
				t.Errorf("%s: a word at %#x", name, bad)
			}
		}
		if _, ok := s.Word(base, 3); ok {
			t.Errorf("%s: a word of 3 bytes", name)
		}
	}
}

// TestStacks: where the stack is looked for if the thread's own descriptor is of no use, or its sp
// elsewhere.
func TestStacks(t *testing.T) {
	stack, other := []byte("the thread's own stack.."), []byte("a signal stack elsewhere")
	b := dumptest.New(dumptest.LittleEndian)
	b.Thread(1, nil, 0x1000, stack).
		ThreadAt(2, 0, 0, 0x2004, 0, 24).     // offset 0: Windows' broken descriptor
		ThreadAt(3, 0, 0, 0x2000, 1<<30, 24). // outside of the file
		ThreadAt(4, 0, 0, 0x9000, 0, 0).      // nowhere
		Memory(0x2000, other)
	d := open(t, b.Bytes())
	start := func(s *StackMemory) uint64 {
		if s == nil {
			return 0
		}
		return s.Start
	}
	for i, want := range []uint64{0x1000, 0x2000, 0x2000, 0} {
		if got := start(d.ThreadStack(i)); got != want {
			t.Errorf("thread %d: stack at %#x, want %#x", i, got, want)
		}
	}
	if d.ThreadStack(-1) != nil || d.ThreadStack(4) != nil {
		t.Error("threads that do not exist have stacks")
	}
	for sp, want := range map[uint64]uint64{0x1008: 0x1000, 0x2008: 0x2000, 0x5000: 0x1000} {
		if got := start(d.StackAt(0, sp)); got != want {
			t.Errorf("the stack is at %#x for sp %#x, want %#x", got, sp, want)
		}
	}
}

func BenchmarkStackWord(b *testing.B) {
	stack := make([]byte, 1<<20)
	d, err := Open(input.FromBytes("x", dumptest.New(dumptest.LittleEndian).Thread(1, nil, 0x1000, stack).Bytes()))
	if err != nil {
		b.Fatal(err)
	}
	s := d.ThreadStack(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Word(0x1000+uint64(i*8)&0xffff0, 8)
	}
}

func BenchmarkMemoryWord(b *testing.B) {
	dump := dumptest.New(dumptest.LittleEndian)
	for i := range 1000 {
		dump.Memory(uint64(i)*0x10000, make([]byte, 256))
	}
	d, err := Open(input.FromBytes("x", dump.Bytes()))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Memory.Word(uint64(i%1000)*0x10000+uint64(i%31)*8, 8)
	}
}

// If a frame did not fit on its stack, the stack is what is right above its stack pointer. Memory
// that is farther away than the gap below a stack is another one.
func TestStackBelowItsMemory(t *testing.T) {
	d := open(t, dumptest.New(dumptest.LittleEndian).Thread(1, nil, 0, nil).Thread(2, nil, 0x900000, make([]byte, 16)).
		Memory(0x500000, make([]byte, 0x1000)).Memory(0x501000, make([]byte, 0x1000)).Bytes())
	for _, c := range []struct {
		thread       int
		sp, from, to uint64
	}{
		{0, 0x4fff00, 0x500000, 0x502000},
		{0, 0x400001, 0x500000, 0x502000},
		{0, 0x400000, 0, 0},
		{0, 0x501100, 0x500000, 0x502000},
		{0, 0x502000, 0, 0},
		{1, 0x4fff00, 0x500000, 0x502000},
		{1, 0x400000, 0x900000, 0x900010},
	} {
		var from, to uint64
		if s := d.StackAround(c.thread, c.sp); s != nil {
			if from, to = s.Start, s.End; !s.Contains(from) {
				t.Errorf("%#x is not in it", from)
			}
			if _, ok := s.Word(from, 8); !ok {
				t.Errorf("%#x cannot be read", from)
			}
		}
		if from != c.from || to != c.to {
			t.Errorf("thread %d, sp %#x: %#x to %#x, want %#x to %#x", c.thread, c.sp, from, to, c.from, c.to)
		}
	}
}

// BenchmarkManyRanges reads words up a stack in a dump of 100,000 ranges, and asks for the memory
// around each.
func BenchmarkManyRanges(b *testing.B) {
	const ranges, size = 100_000, 0x1000
	list := dumptest.LittleEndian.AppendUint64(nil, ranges)
	list = dumptest.LittleEndian.AppendUint64(list, 32)
	for i := range uint64(ranges) {
		list = dumptest.LittleEndian.AppendUint64(list, 0x10000+i*size+i/8*size) // a gap after each eighth
		list = dumptest.LittleEndian.AppendUint64(list, 16)
	}
	d, err := Open(input.FromBytes("x", dumptest.New(dumptest.LittleEndian).Stream(9, list).Bytes()))
	if err != nil {
		b.Fatal(err)
	}
	regions := d.Memory.Regions()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r := regions[i*7919%len(regions)]
		for at := r.Start; at < r.End(); at += 8 {
			if _, ok := d.Memory.Word(at, 8); !ok {
				b.Fatal(at)
			}
		}
		d.StackAround(-1, r.Start)
	}
}
