package walker

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// codeImage is the module's code.
type codeImage struct{ bytes []byte }

// newImage makes code in which the first function loads its stack pointer from a register, so that it
// does not show where it returns.
func newImage() *codeImage {
	c := &codeImage{bytes.Repeat([]byte{0xcc}, codeSize)}
	copy(c.bytes[0x1000:], []byte{0x48, 0x89, 0xc4}) // mov %rax, %rsp
	return c
}

func (c *codeImage) Read(addr uint64, p []byte) int {
	if addr < codeBase || addr >= codeBase+uint64(len(c.bytes)) {
		return 0
	}
	return copy(p, c.bytes[addr-codeBase:])
}

// put writes an instruction of amd64 with a 32-bit distance, so that it ends at end and leads to to.
func (c *codeImage) put(end, to uint64, opcode ...byte) {
	copy(c.bytes[end-4-uint64(len(opcode)):], opcode)
	binary.LittleEndian.PutUint32(c.bytes[end-4:], uint32(to-end))
}

// A function's first address is not a return address where no code shows a call before it: of a function
// with a size, of one with a name alone, of one that unwind rules know, and right behind another one. A
// signal's handler returns to such an address. Nor is a module's right behind another one.
func TestScanOfFunctionPointers(t *testing.T) {
	funcs := map[uint64]string{0x1000: "f", 0x1f00: "g", 0x2000: "main", 0x3000: "h", 0x4f00: "k", 0x5000: "__restore_rt"}
	syms := &fakeSymbols{loaded: true, funcs: funcs, passed: map[uint64]string{0x4000: "stub@plt"}, tables: []symbol.Range{{Start: 0x4080, Size: 0x40}}}
	for pointer, want := range map[uint64]string{
		0x2000: "1010 context, 3030 scan, nothing-found",
		0x3000: "1010 context, 3030 scan, nothing-found",
		0x4080: "1010 context, 3030 scan, nothing-found",
		0x4084: "1010 context, 4084 scan, 3030 scan, nothing-found",
		0x5000: "1010 context, 5000 scan, 3030 scan, nothing-found",
	} {
		words := []uint64{1, code(pointer), code(0x3030), 2}
		expect(t, (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), syms: syms, words: words}).walk(t), want)
	}
	w := New(Best, core.OSLinux, twoModules(), &fakeSymbols{})
	expect(t, w.Walk(atWords(code(0x1010)), &fakeMemory{base: stackBase, word: 8, words: []uint64{1, elsewhere, code(0x3030), 2}}), "1010 context, 3030 scan, nothing-found")
	// With the code it is one if there is a call before it.
	image := newImage()
	copy(image.bytes[0x1ffe:], []byte{0xff, 0xd0})
	copy(image.bytes[0x302e:], []byte{0xff, 0xd0})
	words := []uint64{1, code(0x2000), code(0x3030), 2}
	s := (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), syms: syms, words: words, code: image}).walk(t)
	expect(t, s, "1010 context, 2000 scan, 3030 frame_pointer, nothing-found")
	// That call never returns: it is the last instruction of the function before.
	if caller := s.Frames[1].Symbol.Name; caller != "g" {
		t.Errorf("the caller is %s", caller)
	}
}

// Unwind rules say where functions without names begin and end: a direct call of another one is refused,
// and one that jumps on is a tail call.
func TestScanReachesNameless(t *testing.T) {
	range3000 := symbol.Range{Start: 0x3000, Size: 0x100}
	for _, tc := range []struct {
		name   string
		tables []symbol.Range
		code   func(c *codeImage)
		found  bool
		tail   bool
	}{
		{name: "another function", tables: []symbol.Range{range3000}, code: func(*codeImage) {}},
		{name: "one whose end is not known", code: func(*codeImage) {}, found: true},
		{name: "one that jumps on", tables: []symbol.Range{{Start: 0x1000, Size: 0x100}, range3000}, code: func(c *codeImage) { c.put(0x3050, 0x1000, 0xe9) }, found: true, tail: true},
		{name: "one that jumps on by a register", tables: []symbol.Range{range3000}, code: func(c *codeImage) { copy(c.bytes[0x30fe:], []byte{0xff, 0xe0}) }, found: true},
		{name: "one that jumps to what may be the frame's function", tables: []symbol.Range{range3000}, code: func(c *codeImage) { c.put(0x3050, 0x1008, 0xe9) }, found: true},
		{name: "one that jumps behind it", tables: []symbol.Range{range3000}, code: func(c *codeImage) { c.put(0x3050, 0x1018, 0xe9) }},
		{name: "the frame's, by rules that several functions share", tables: []symbol.Range{{Start: 0xf00, Size: 0x3000}}, code: func(c *codeImage) { c.put(0x2020, 0x1008, 0xe8) }, found: true},
	} {
		image := newImage()
		image.put(0x2020, 0x3000, 0xe8)
		tc.code(image)
		syms := &fakeSymbols{loaded: true, funcs: map[uint64]string{0x2000: "caller"}, tables: tc.tables}
		s := (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), syms: syms, words: []uint64{1, code(0x2020), 2}, code: image}).walk(t)
		if found := len(s.Frames) == 2; found != tc.found || found && (s.Frames[1].Tail != nil) != tc.tail {
			t.Errorf("%s: %s", tc.name, shape(s))
		}
		if tc.tail && s.Frames[1].Tail.RVA != 0x3000 {
			t.Errorf("%s: the tail call is of 0x%x", tc.name, s.Frames[1].Tail.RVA)
		}
	}
}

// A name without a size ends where the next one begins: a direct call of another function is refused by
// it, too.
func TestScanReachesNames(t *testing.T) {
	for _, tc := range []struct {
		name        string
		code        func(c *codeImage)
		found, tail bool
	}{
		{name: "another function", code: func(*codeImage) {}},
		{name: "one that jumps on", code: func(c *codeImage) { c.put(0x3050, 0x1000, 0xe9) }, found: true, tail: true},
		{name: "one that jumps on by a register", code: func(c *codeImage) { copy(c.bytes[0x3040:], []byte{0xff, 0xe0}) }, found: true},
		{name: "the next one jumps on", code: func(c *codeImage) { c.put(0x3150, 0x1000, 0xe9) }},
	} {
		image := newImage()
		image.put(0x2020, 0x3000, 0xe8)
		tc.code(image)
		syms := &fakeSymbols{loaded: true, unsized: true, funcs: map[uint64]string{0x1000: "f", 0x2000: "caller", 0x3000: "other", 0x3100: "next"}}
		s := (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), syms: syms, words: []uint64{1, code(0x2020), 2}, code: image}).walk(t)
		if found := len(s.Frames) == 2; found != tc.found || found && (s.Frames[1].Tail != nil) != tc.tail {
			t.Errorf("%s: %s", tc.name, shape(s))
		}
	}
}

// Rules of a frame that a scan guessed lead to code, or they count for nothing.
func TestRulesBehindAGuess(t *testing.T) {
	row := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.AMD64.SP, Offset: 8}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}}
	syms := &fakeSymbols{loaded: true, funcs: map[uint64]string{0x2000: "g", 0x3000: "h"}, row: &row}
	words := []uint64{1, code(0x2020), 0x123456789, code(0x3030), 0x123456789}
	expect(t, (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), syms: syms, words: words}).walk(t), "1010 context, 2020 scan, 3030 scan, nothing-found")
}

// A return address behind a direct call counts if the call leads to the frame below: at once, through
// stubs, or by a function that jumps on.
func TestScanReaches(t *testing.T) {
	const slot = 0x7000
	call := func(c *codeImage, to uint64) { c.put(0x2020, to, 0xe8) }
	for _, tc := range []struct {
		name, shape, tail string
		code              func(c *codeImage)
		slot              uint64 // what is in the slot; 0: the dump does not have it
	}{
		{name: "the function", shape: "2020 scan", code: func(c *codeImage) { call(c, 0x1000) }},
		{name: "another function", shape: "", code: func(c *codeImage) { call(c, 0x3000) }},
		{name: "by a register", shape: "2020 scan", code: func(c *codeImage) { copy(c.bytes[0x201e:], []byte{0xff, 0xd0}) }},
		{name: "a function that jumps on", shape: "2020 scan", tail: "x", code: func(c *codeImage) { call(c, 0x3000); c.put(0x3050, 0x1000, 0xe9) }},
		{name: "a function that may jump on", shape: "2020 scan", tail: "x", code: func(c *codeImage) { call(c, 0x3000); c.put(0x3050, 0x1000, 0x0f, 0x84) }},
		{name: "a function that jumps elsewhere", shape: "", code: func(c *codeImage) { call(c, 0x3000); c.put(0x3050, 0x4000, 0xe9) }},
		{name: "a function that jumps on by a register", shape: "2020 scan", code: func(c *codeImage) { call(c, 0x3000); copy(c.bytes[0x30fe:], []byte{0xff, 0xe0}) }},
		{name: "one that jumps to such a function", shape: "2020 scan", code: func(c *codeImage) {
			call(c, 0x3000)
			c.put(0x3050, 0x4000, 0xe9)
			copy(c.bytes[0x40fe:], []byte{0xff, 0xe0})
		}},
		{name: "a thunk", shape: "2020 scan", code: func(c *codeImage) { call(c, 0x6000); c.put(0x6005, 0x1000, 0xe9) }},
		{name: "a stub", shape: "2020 scan", slot: code(0x1000), code: func(c *codeImage) { call(c, 0x6000); c.put(0x6006, slot, 0xff, 0x25) }},
		{name: "a stub whose slot is unknown", shape: "2020 scan", code: func(c *codeImage) { call(c, 0x6000); c.put(0x6006, slot, 0xff, 0x25) }},
		{name: "a stub of a function that no symbol knows", shape: "2020 scan", slot: elsewhere + 0x10, code: func(c *codeImage) { call(c, 0x6000); c.put(0x6006, slot, 0xff, 0x25) }},
		{name: "a named stub of another function", shape: "", code: func(c *codeImage) { call(c, 0x5000); c.put(0x5006, slot, 0xff, 0x25) }},
		{name: "a function that jumps to a stub", shape: "2020 scan", tail: "x", slot: code(0x1000), code: func(c *codeImage) {
			call(c, 0x3000)
			c.put(0x3050, 0x6000, 0xe9)
			c.put(0x6006, slot, 0xff, 0x25)
		}},
	} {
		image := newImage()
		tc.code(image)
		space := &fakeSpace{held: code(slot)}
		if tc.slot != 0 {
			space.words = []uint64{tc.slot}
		}
		s := scanned(Best, image, space, []uint64{1, code(0x2020), 2})
		want := "1010 context, nothing-found"
		if tc.shape != "" {
			want = "1010 context, " + tc.shape + ", nothing-found"
		}
		if got := shape(s); got != want {
			t.Errorf("%s: have %s, want %s", tc.name, got, want)
		}
		tail := ""
		if f := &s.Frames[len(s.Frames)-1]; f.Tail != nil {
			tail = f.Tail.Symbol.Name
		}
		if tail != tc.tail {
			t.Errorf("%s: the tail call is of %q, want %q", tc.name, tail, tc.tail)
		}
		if s := scanned(Breakpad, image, space, []uint64{1, code(0x2020), 2}); len(s.Frames) != 2 || s.Frames[1].Tail != nil {
			t.Errorf("%s, as Breakpad: %s", tc.name, shape(s))
		}
	}
}

// elsewhere is where another module is.
const elsewhere = codeBase + 0x8000

// A function that jumps to an import may reach any function of another module: what musl's
// __libc_start_main jumps to is called by _start, which calls a function that jumps to an import.
func TestScanReachesImport(t *testing.T) {
	image := newImage()
	image.put(0x2020, 0x3000, 0xe8)
	image.put(0x3050, 0x5000, 0xe9)
	image.put(0x5006, 0x7000, 0xff, 0x25)
	space, words := &fakeSpace{held: code(0x7000)}, []uint64{1, code(0x2020), 2}
	if got := shape(scannedAt(elsewhere+0x10, Best, image, space, words)); got != "8010 context, 2020 scan, nothing-found" {
		t.Error(got)
	}
	if got := shape(scanned(Best, image, space, words)); got != "1010 context, nothing-found" {
		t.Errorf("in the module that imports: %s", got)
	}
	// As compilers write a call as the last act without a stub, in the middle of a function.
	image = newImage()
	image.put(0x2020, 0x3000, 0xe8)
	image.put(0x3056, 0x7000, 0xff, 0x25)
	stack := scannedAt(elsewhere+0x10, Best, image, space, words)
	if got := shape(stack); got != "8010 context, 2020 scan, nothing-found" {
		t.Error(got)
	} else if tail := stack.Frames[1].Tail; tail == nil || tail.Symbol.Name != "x" {
		t.Errorf("the function that jumps: %+v", tail)
	}
	if got := shape(scanned(Best, image, space, words)); got != "1010 context, nothing-found" {
		t.Errorf("in the module that jumps: %s", got)
	}
}

// scanned walks a thread in y, whose stack has words.
func scanned(p Policy, c Code, space Space, words []uint64) Stack {
	return scannedAt(code(0x1010), p, c, space, words)
}

// scannedAt is scanned where the thread is elsewhere.
func scannedAt(pc uint64, p Policy, c Code, space Space, words []uint64) Stack {
	w := New(p, core.OSLinux, twoModules(), &fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "y", 0x2000: "caller", 0x3000: "x", 0x4000: "z", 0x5000: "import@plt"}})
	w.Space, w.Code = space, c
	return w.Walk(atWords(pc), &fakeMemory{base: stackBase, word: 8, words: words})
}

func twoModules() *core.ModuleMap {
	return core.NewModuleMap([]core.ModuleMapping{{Start: codeBase, Size: 0x8000, Module: 0}, {Start: elsewhere, Size: 0x1000, Module: 1}}, core.OverlapTruncate)
}

func atWords(pc uint64) cpu.Regs {
	regs := cpu.Regs{Arch: cpu.AMD64}
	regs.Set(cpu.AMD64.PC, pc)
	regs.Set(cpu.AMD64.SP, stackBase)
	return regs
}

// Beyond its first words a scan takes a return address that is known to lead to the frame, up to the
// end of the stack's mapping, and nothing else.
func TestScanToTheEnd(t *testing.T) {
	direct := func(c *codeImage) { c.put(0x2020, 0x1000, 0xe8) }
	register := func(c *codeImage) { copy(c.bytes[0x201e:], []byte{0xff, 0xd0}) }
	tail := func(c *codeImage) { c.put(0x2020, 0x3000, 0xe8); c.put(0x3050, 0x1000, 0xe9) }
	const far = 443
	for _, tc := range []struct {
		name  string
		code  func(c *codeImage)
		ra    uint64
		at    int
		maps  map[uint64]Mapping
		found bool
	}{
		{name: "a call of the function", code: direct, ra: 0x2020, at: far, found: true},
		{name: "a call by a register", code: register, ra: 0x2020, at: far, found: true},
		{name: "a tail call is too uncertain", code: tail, ra: 0x2020, at: far},
		{name: "but not near the frame", code: tail, ra: 0x2020, at: 100, found: true},
		{name: "no call", code: func(*codeImage) {}, ra: 0x2020, at: far},
		{name: "code that no symbol knows", code: func(c *codeImage) { copy(c.bytes[0x701e:], []byte{0xff, 0xd0}) }, ra: 0x7020, at: far},
		{name: "on the mapping", code: direct, ra: 0x2020, at: far, maps: map[uint64]Mapping{stackBase: {End: stackBase + 8*(far+1)}}, found: true},
		{name: "beyond the mapping", code: direct, ra: 0x2020, at: far, maps: map[uint64]Mapping{stackBase: {End: stackBase + 8*far}}},
		{name: "beyond the mapping and near", code: direct, ra: 0x2020, at: 10, maps: map[uint64]Mapping{stackBase: {End: stackBase + 8*10}}},
		{name: "without a map", code: direct, ra: 0x2020, at: far, maps: map[uint64]Mapping{}},
		{name: "a stack on the heap", code: direct, ra: 0x2020, at: far, maps: map[uint64]Mapping{stackBase: {End: stackBase + 1<<20, Name: "[heap]"}}},
		{name: "a stack in a file", code: direct, ra: 0x2020, at: far, maps: map[uint64]Mapping{stackBase: {End: stackBase + 1<<20, Name: "/opt/app"}}},
	} {
		if tc.maps == nil {
			tc.maps = map[uint64]Mapping{stackBase: {End: stackBase + 1<<20}}
		}
		image := newImage()
		tc.code(image)
		words := make([]uint64, 600)
		words[tc.at] = code(tc.ra)
		s := scanned(Best, image, &fakeSpace{maps: tc.maps}, words)
		if found := len(s.Frames) == 2 && s.Frames[1].PC == code(tc.ra); found != tc.found {
			t.Errorf("%s: %s", tc.name, shape(s))
		}
	}
	words := make([]uint64, 600)
	words[far] = code(0x2020)
	if s := scanned(Best, nil, nil, words); len(s.Frames) != 1 {
		t.Errorf("without code: %s", shape(s))
	}
}

// junk is a stack of words that all point behind calls, in code that the image has, of a function
// that is not below; with to 0 there are no calls.
func junk(n int, to uint64) (*codeImage, *fakeSpace, []uint64) {
	image := newImage()
	if to != 0 {
		for at := uint64(0x2005); at < 0x2100; at += 5 {
			image.put(at, to, 0xe8)
		}
	}
	words := make([]uint64, n)
	for i := range words {
		words[i] = code(0x2005 + 5*uint64(i%50))
	}
	return image, &fakeSpace{maps: map[uint64]Mapping{stackBase: {End: stackBase + 16*uint64(n)}}}, words
}

// TestScanGrowth: a stack of junk costs in proportion to its size.
func TestScanGrowth(t *testing.T) {
	for name, to := range map[string]uint64{"no calls": 0, "calls of another function": 0x3000, "calls that lead to the frame": 0x1000} {
		t.Run(name, func(t *testing.T) {
			testfile.Growth(t, 1<<14, func(n int) func() {
				image, space, words := junk(n, to)
				return func() { scanned(Best, image, space, words) }
			})
		})
	}
}

func BenchmarkScan(b *testing.B) {
	for name, to := range map[string]uint64{"no calls": 0, "calls of another function": 0x3000} {
		b.Run(name, func(b *testing.B) {
			image, space, words := junk(1<<17, to)
			b.SetBytes(int64(8 * len(words)))
			for b.Loop() {
				if s := scanned(Best, image, space, words); len(s.Frames) != 1 {
					b.Fatal(shape(s))
				}
			}
		})
	}
}
