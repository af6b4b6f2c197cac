package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

// goType is a type of Go: its size, flags and kind, and where its name is.
func goType(size int, flags, kind byte, name int) []byte {
	return words(size, 0, uint32(0), string([]byte{flags, 8, 8, kind}), 0, 0, uint32(name), uint32(0))
}

// TestInFrames: what Go's runtime, V8 and Node have in their frames when they end the program. Words are
// in the frame of the function, which begins at 0x7100; names of Go's types are counted from 0x400900.
func TestInFrames(t *testing.T) {
	const gopanic, fatal, oom, check = "runtime.gopanic", "V8_Fatal(char const*, ...)", "v8::internal::V8::FatalProcessOutOfMemory(v8::internal::Isolate*, char const*)", "node::Assert(node::AssertionInfo const&)"
	goPanic := func(kind, data int) []byte { return words(1, kind, data, 0, 0x400008, 0x7100) }
	v8 := func(mark int) []byte {
		return append(words(mark), append(append(words("Check failed: boom\x00"), make([]byte, 493)...), words(0xdecade11)...)...)
	}
	stats := func(end uint32) []byte {
		return words(uint32(0xdecade00), uint32(0xffffffff), end, uint32(0xffffffff), 0x7100, 1, 2, 0x7140, 0x7150, 0x7108, "16 MB boom\x00     JS boom\x00")
	}
	for _, c := range []struct {
		name, function string
		frame          []byte
		memory         map[uint64][]byte
		want           []string
	}{
		{"a text", gopanic, goPanic(0x400800, 0x9000), map[uint64][]byte{0x400800: goType(16, 7, 24, 0), 0x9000: words(0x9100, 4), 0x9100: []byte("boom and more")}, []string{"Go panic: boom"}},
		{"of a type of the program", gopanic, goPanic(0x400800, 0x9000), map[uint64][]byte{0x400800: goType(16, 7, 24, 0x10), 0x400910: []byte("\x01\x07*main.E"), 0x9000: words(0x9100, 4), 0x9100: []byte("boom")}, []string{`Go panic: main.E("boom")`}},
		{"a number", gopanic, goPanic(0x400800, 0x9000), map[uint64][]byte{0x400800: goType(8, 7, 2|1<<5, 0x10), 0x400910: []byte("\x01\x04*int"), 0x9000: words(-42)}, []string{"Go panic: -42"}},
		{"a byte", gopanic, goPanic(0x400800, 0x9000), map[uint64][]byte{0x400800: goType(1, 7, 3, 0), 0x9000: []byte{0xfe}}, []string{"Go panic: -2"}},
		{"a structure", gopanic, goPanic(0x400800, 0x9000), map[uint64][]byte{0x400800: goType(8, 7, 25, 0x10), 0x400910: []byte("\x01\x07*main.S")}, []string{"Go panic: a value of the type main.S"}},
		{"two panics", gopanic, append(words(1, 0x400800, 0x9000, 0x7148, 0x400008, 0x7100, 0, 0, 0), words(0x400800, 0x9010, 0)...),
			map[uint64][]byte{0x400800: goType(16, 7, 24, 0), 0x9000: words(0x9100, 4, 0x9108, 5), 0x9100: []byte("boom    first")}, []string{"Go panic: boom", "Go panic: first"}},
		{"a loop of panics", gopanic, words(1, 0x400800, 0x9000, 0x7108, 0x400008, 0x7100), map[uint64][]byte{0x400800: goType(16, 7, 24, 0), 0x9000: words(0x9100, 4), 0x9100: []byte("boom")}, []string{"Go panic: boom"}},
		{"made in another function", gopanic, words(1, 0x400800, 0x9000, 0, 0x400208, 0x7100), map[uint64][]byte{0x400800: goType(16, 7, 24, 0), 0x9000: words(0x9100, 4), 0x9100: []byte("boom")}, nil},
		{"made in another frame", gopanic, words(1, 0x400800, 0x9000, 0, 0x400008, 0x7200), map[uint64][]byte{0x400800: goType(16, 7, 24, 0), 0x9000: words(0x9100, 4), 0x9100: []byte("boom")}, nil},
		{"a type outside of the program", gopanic, goPanic(0x9800, 0x9000), map[uint64][]byte{0x9800: goType(16, 7, 24, 0), 0x9000: words(0x9100, 4), 0x9100: []byte("boom")}, nil},
		{"not in the dump", gopanic, goPanic(0x400800, 0x9000), map[uint64][]byte{0x400800: goType(16, 7, 24, 0)}, nil},
		{"a check of V8", fatal, v8(0xdecade10), nil, []string{"V8: Check failed: boom"}},
		{"without its mark", fatal, v8(0xdecade12), nil, nil},
		{"out of memory", oom, stats(0xdecade01), nil, []string{"JavaScript stack: JS boom", "V8's garbage collector: 16 MB boom"}},
		{"out of memory, without its mark", oom, stats(0xdecade02), nil, nil},
		{"a check of Node", check, nil, map[uint64][]byte{0x400a00: words(0x400a20, 0x400a30, 0x400a40), 0x400a20: []byte("../src/a.cc:12\x00 boom\x00           void f()\x00")}, []string{"check of Node: boom in void f(), ../src/a.cc:12"}},
		{"a constant of other texts", check, nil, map[uint64][]byte{0x400a00: words(0x400a20, 0x400a30, 0x400a40), 0x400a20: []byte("../src/a.cc   \x00 boom\x00           void f()\x00")}, nil},
	} {
		ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
		stack := make([]byte, 0x600)
		copy(stack[0x100:], c.frame)
		b := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
			Thread(7, ctx, 0x7000, stack).Module(0x400000, 0x1000, "/bin/app", nil).Exception(7, 6, 0xfffffffa, 0, ctx)
		for at, bytes := range c.memory {
			b.Memory(at, bytes)
		}
		raw := b.Bytes()
		d, err := core.Open(input.New("x.dmp", bytes.NewReader(raw), int64(len(raw))))
		if err != nil {
			t.Fatal(err)
		}
		var frames []walker.Frame
		for i, name := range []string{"runtime.raise", c.function, "main"} {
			sp := []uint64{0x7000, 0x7100, 0x7500}[i]
			f := walker.Frame{PC: 0x400010, Lookup: 0x40000f, RVA: 0xf, Regs: reporttest.Regs(cpu.AMD64, map[string]uint64{"rip": 0x400010, "rsp": sp, "rbx": 0x400a00}), Trust: walker.TrustCFI,
				Answer: symbol.Yes, Symbol: symbol.Symbol{Name: name}}
			frames = append(frames, f)
		}
		r := report.Build(report.Input{Dump: d, Stacks: []walker.Stack{{Frames: frames}}, Program: &programFile{variables: map[string]uint64{"runtime.types": 0x400900}}})
		var have []string
		for _, m := range r.Messages {
			if !m.Private || !m.InMemory {
				t.Errorf("%s: %q may be exported", c.name, m.Text)
			}
			have = append(have, m.Source+": "+strings.TrimSpace(m.Text))
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
		notExported(t, r, "boom")
	}
}
