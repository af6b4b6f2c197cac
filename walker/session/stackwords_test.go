package session

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker/report/text"
)

// TestStackWords: a return address and a saved register that a rule found, a frame that a scan found, a word
// that it passed by, and the canary of the C library.
func TestStackWords(t *testing.T) {
	const sp, canary = 0x7ffe0000, 0x1122334455667700
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": sp, "rbp": 0})
	st := story{syms: []string{"MODULE Linux x86_64 " + appID + " app\nFUNC 1000 100 0 leaf\nFUNC 2000 100 0 middle\nFUNC 2100 100 0 outer\n" +
		"STACK CFI INIT 1000 100 .cfa: $rsp 32 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^\n"}, dump: dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x3000, "/opt/app", appELF).
		Thread(7, ctx, sp, words64(1, canary, 0x5555, 0x402020, 0x402100, 0x402124, 0, 0)).
		Memory(0x9000, words64(canary|0x42)).
		Auxv(8, [2]uint64{25, 0x9000}).
		Exception(7, 11, 1, 0x45, ctx).
		Bytes()}
	s := st.open(t).Session(0)
	memory, err := s.WholeMemory()
	if err != nil {
		t.Fatal(err)
	}
	words, err := memory.StackWords(0, 1, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := text.WriteStackWords(&b, s.Report(), words); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"frame 0  leaf in app\n", "0x7ffe0008  0x1122334455667700  canary of the stack protector\n",
		"0x7ffe0010  0x0000000000005555  rbx of frame 1, saved by frame 0\n", "0x7ffe0018  0x0000000000402020  return address of frame 1; middle + 0x20\n",
		"frame 1  middle in app\n0x7ffe0020  0x0000000000402100  passed by the scan: ", "0x7ffe0028  0x0000000000402124  return address of frame 2; outer + 0x24\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if words.Total != 8 || words.Selected != 4 {
		t.Errorf("%d words, the first of frame 1 is %d", words.Total, words.Selected)
	}
	if part, err := memory.StackWords(0, 1, 5, 2); err != nil || len(part.Rows) != 2 || len(part.Rows[0].Roles) != 1 {
		t.Errorf("a window: %+v, %v", part, err)
	}
	if part, err := memory.StackWords(9, 0, 0, 9); err != nil || part.Total != 0 {
		t.Errorf("another thread: %+v, %v", part, err)
	}
}

// TestOverflownStackWords: where the stack pointer has left the stack, as when it overflows, the words above are shown
// and explained, and so are the texts in them.
func TestOverflownStackWords(t *testing.T) {
	const base = 0x7ffe0000
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": base - 0x40, "rbp": base + 16})
	st := story{syms: []string{"MODULE Linux x86_64 " + appID + " app\nFUNC 1000 100 0 leaf\nFUNC 2000 100 0 middle\n"}, dump: dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x3000, "/opt/app", appELF).
		Thread(7, ctx, base, append([]byte("some text here.\x00"), words64(base+48, 0x402020, 1, 2, 0, 0)...)).
		Exception(7, 11, 1, base-0x48, ctx).
		Bytes()}
	s := st.open(t).Session(0)
	memory, err := s.WholeMemory()
	if err != nil {
		t.Fatal(err)
	}
	words, err := memory.StackWords(0, 0, -1, 100)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := text.WriteStackWords(&b, s.Report(), words); err != nil {
		t.Fatal(err)
	}
	if want := "0x7ffe0018  0x0000000000402020  return address of frame 1; middle + 0x20\n"; words.Total != 8 || !strings.Contains(b.String(), want) {
		t.Errorf("%d words, no %q in\n%s", words.Total, want, b.String())
	}
	if texts, err := memory.StackTexts(0); err != nil || len(texts) != 1 || texts[0].Text != "some text here." {
		t.Errorf("texts: %+v, %v", texts, err)
	}
}

// TestNamesThatEnd: what a stack does not give as an address' name, since another function's begins or the
// name is too far, is not its name elsewhere.
func TestNamesThatEnd(t *testing.T) {
	const sp = 0x7ffe0000
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401f00, "rsp": sp, "rbp": 0})
	st := story{syms: []string{"MODULE Linux x86_64 " + appID + " app\nPUBLIC 1000 0 malloc\nSTACK CFI INIT 1800 800 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"},
		dump: dumptest.New(dumptest.LittleEndian).
			System(dumptest.System{Processor: 9, Platform: 0x8201}).
			Module(0x400000, 0x40000, "/opt/app", appELF).
			Thread(7, ctx, sp, words64(0x401010, 0x401f00, 0x421000, 0)).
			Memory(0x401f00, []byte{0xc3}).
			Exception(7, 11, 1, 0x45, ctx).
			Bytes()}
	s := st.open(t).Session(0)
	view, err := s.MemoryView(sp, 24, false)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := text.WriteWords(&b, s.Report(), view); err != nil {
		t.Fatal(err)
	}
	want := "0x7ffe0000  0x0000000000401010  malloc + 0x10\n0x7ffe0008  0x0000000000401f00  app + 0x1f00\n0x7ffe0010  0x0000000000421000  app + 0x21000\n"
	if b.String() != want {
		t.Errorf("words:\n%s\nwant\n%s", b.String(), want)
	}
	code, err := s.CodeAt(0x401f00, CodeWish{After: 1})
	if err != nil || len(code.Rows) != 1 || code.Rows[0].In.Function.Raw != "" {
		t.Errorf("code: %+v, %v", code, err)
	}
}

// TestArguments: the words of a call's arguments are named where symbols say their size, and as a guess where only the
// calling convention does.
func TestArguments(t *testing.T) {
	const sp = 0x1000000
	x86 := func(platform uint32) *dumptest.Dump {
		ctx := dumptest.X86(map[string]uint64{"eip": 0x401010, "esp": sp, "ebp": 0})
		return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUX86, Platform: platform}).Module(0x400000, 0x3000, "/opt/app", appELF).
			Thread(7, ctx, sp, words32(1, 0x402020, 11, 12, 13, 0x402124, 21, 22, 0, 0)).Exception(7, 11, 1, 0x45, ctx)
	}
	amd64 := func(platform uint32) *dumptest.Dump {
		ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": sp, "rbp": 0})
		return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: platform}).Module(0x400000, 0x3000, "/opt/app", appELF).
			Thread(7, ctx, sp, words64(1, 0x402020, 11, 12, 13, 14, 15, 16, 0x402124, 0, 0)).Exception(7, 11, 1, 0x45, ctx)
	}
	const cfi86 = "STACK CFI INIT 1000 100 .cfa: $esp 8 + .ra: .cfa -4 + ^\nSTACK CFI INIT 2000 100 .cfa: $esp 16 + .ra: .cfa -4 + ^\n"
	const cfi64 = "STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\nSTACK CFI INIT 2000 100 .cfa: $rsp 56 + .ra: .cfa -8 + ^\n"
	for _, c := range []struct {
		name       string
		dump       *dumptest.Dump
		sym        string
		want, none []string
	}{
		{"STACK WIN", x86(dumptest.OSWindows), "x86 " + appID + " app\nFUNC 1000 100 8 leaf\nFUNC 2000 100 0 middle\nFUNC 2100 100 0 outer\n" + cfi86 +
			"STACK WIN 0 1000 100 0 0 8 0 4 0 0 0\n",
			[]string{"0x0000000b  argument word 1 of 2 of frame 0\n", "0x0000000c  argument word 2 of 2 of frame 0\n"}, []string{"0x0000000d  arg"}},
		{"size of a function", x86(dumptest.OSWindows), "x86 " + appID + " app\nFUNC 1000 100 4 leaf\nFUNC 2000 100 0 middle\nFUNC 2100 100 0 outer\n" + cfi86,
			[]string{"0x0000000b  argument word 1 of 1 of frame 0\n"}, []string{"0x0000000c  arg"}},
		{"signature", x86(0x8201), "x86 " + appID + " app\nFUNC 1000 100 0 leaf(int, std::pair<int, int>*)\nFUNC 2000 100 0 middle()\nFUNC 2100 100 0 outer\n" + cfi86,
			[]string{"0x0000000b  argument area of frame 0 (guess)\n", "0x0000000c  argument area of frame 0 (guess)\n", "0x00402124  return address of frame 2"}, []string{"0x0000000d  arg", "of frame 1 (guess)"}},
		{"nothing known", x86(0x8201), "x86 " + appID + " app\nFUNC 1000 100 0 leaf\nFUNC 2000 100 0 middle\nFUNC 2100 100 0 outer\n" + cfi86,
			[]string{"0x0000000d  argument area of frame 0 (guess)\n", "0x00402124  return address of frame 2; outer"}, nil},
		{"homes", amd64(dumptest.OSWindows), "x86_64 " + appID + " app\nFUNC 1000 100 0 leaf(int, int, int, int, int)\nFUNC 2000 100 0 middle\nFUNC 2100 100 0 outer\n" + cfi64,
			[]string{"b  space for rcx, argument 1 of frame 0, if it was stored (guess)\n", "e  space for r9, argument 4", "f  argument area of frame 0 (guess)\n"}, []string{"0x0000000000000010  arg"}},
		{"registers", amd64(0x8201), "x86_64 " + appID + " app\nFUNC 1000 100 0 leaf(int, int, int, int, int, int, int)\nFUNC 2000 100 0 middle\nFUNC 2100 100 0 outer\n" + cfi64,
			[]string{"b  argument area of frame 0 (guess)\n"}, []string{"c  arg", "space"}},
	} {
		st := story{syms: []string{"MODULE Linux " + c.sym}, dump: c.dump.Bytes()}
		s := st.open(t).Session(0)
		memory, err := s.WholeMemory()
		if err != nil {
			t.Fatal(err)
		}
		words, err := memory.StackWords(0, 1, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := text.WriteStackWords(&b, s.Report(), words); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, b.String())
			}
		}
		for _, none := range c.none {
			if strings.Contains(b.String(), none) {
				t.Errorf("%s: %q in\n%s", c.name, none, b.String())
			}
		}
	}
}

// TestParameters counts what is between the parentheses of a readable name.
func TestParameters(t *testing.T) {
	for name, want := range map[string]int{"f()": 0, "f(void)": 0, "std::map<int, int>::at(int const&) const": 1, "f(std::function<void (int, int)>, char)": 2, "operator()(int)": 1, "main": -1, "": -1, ")": -1} {
		if n, ok := parameters(name); n != max(want, 0) || ok != (want >= 0) {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
}
