package session

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/report/view"
)

// codeStory is a dump of a processor with code at 0x401000, and its pc there.
func codeStory(processor uint16, module string, ctx []byte, code string, syms ...string) story {
	raw, _ := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	return story{syms: syms, dump: dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: processor, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/"+module, appELF).
		Thread(7, ctx, 0x7ffe0000, words64(1, 2, 3, 4)).
		Memory(0x401000, raw).
		Exception(7, 11, 1, 0x45, ctx).
		Bytes()}
}

// TestFrameCode: instructions, lines, targets and values. The function of amd64 is
//
//	push rbp; mov rbp, rsp; mov eax, [rax]; call main; cmp eax, 1; je 0x400ffe; pop rbp; ret
func TestFrameCode(t *testing.T) {
	const code = "55 4889e5 8b00 e8f50f0000 83f801 74ee 5d c3"
	sym := "MODULE Linux x86_64 " + appID + " app\nFILE 0 /src/app/main.c\nFUNC 1000 12 0 crash_me\n1000 4 11 0\n1004 7 12 0\n100b 7 13 0\nFUNC 2000 100 0 main\n"
	amd64 := dumptest.AMD64(map[string]uint64{"rip": 0x401004, "rsp": 0x7ffe0000, "rax": 0x45})
	arm64 := dumptest.ARM64(map[string]uint64{"pc": 0x401004, "sp": 0x7ffe0000, "x0": 0x45})
	arm := dumptest.ARM(map[string]uint64{"pc": 0x401004, "sp": 0x7ffe0000, "cpsr": 0x20})
	for _, c := range []struct {
		name  string
		story story
		wish  CodeWish
		want  string
	}{
		{"with symbols", codeStory(9, "app", amd64, code, sym), CodeWish{Before: 8, After: 8}, `crash_me + 0x4, code of the dump's memory

main.c:11
     0x401000  55                      push rbp
     0x401001  48 89 e5                mov rbp, rsp

main.c:12
 ->  0x401004  8b 00                   mov eax, dword ptr [rax]        ; rax 0x45
     0x401006  e8 f5 0f 00 00          call 0x402000                   ; main + 0x0

main.c:13
     0x40100b  83 f8 01                cmp eax, 0x1
     0x40100e  74 ee                   jz 0x400ffe                     ; app + 0xffe
     0x401010  5d                      pop rbp
     0x401011  c3                      ret
`},
		{"a part", codeStory(9, "app", amd64, code, sym), CodeWish{Before: 1, After: 1}, `crash_me + 0x4, code of the dump's memory

main.c:11
     0x401001  48 89 e5                mov rbp, rsp

main.c:12
 ->  0x401004  8b 00                   mov eax, dword ptr [rax]        ; rax 0x45
`},
		// Decoding from 0x401000 leads to pc, too.
		{"without symbols", codeStory(9, "app", amd64, code), CodeWish{Before: 8, After: 1},
			`app + 0x1004, code of the dump's memory; the beginning of a function is not there, so the first instructions may be wrong

     0x401000  55                      push rbp
     0x401001  48 89 e5                mov rbp, rsp
 ->  0x401004  8b 00                   mov eax, dword ptr [rax]        ; rax 0x45
`},
		{"arm64", codeStory(0x8003, "app", arm64, "fd7bbfa9 000040f9 ff030094 ffffffff"), CodeWish{Before: 4, After: 9},
			`app + 0x1004, code of the dump's memory; the beginning of a function is not there, so the first instructions may be wrong

     0x401000  fd 7b bf a9             stp x29, x30, [sp, #-16]!
 ->  0x401004  00 00 40 f9             ldr x0, [x0]                    ; x0 0x45
     0x401008  ff 03 00 94             bl 0x402004                     ; app + 0x2004
     0x40100c  ff ff ff ff             (not an instruction that is known)
`},
		{"thumb", codeStory(5, "app", arm, "00bf00bf 00687047"), CodeWish{Before: 4, After: 1}, `app + 0x1004, code of the dump's memory; it may be Thumb code, which is not decoded

     0x401000  00 bf
     0x401002  00 bf
 ->  0x401004  00 68
`},
	} {
		s := c.story.open(t)
		got, err := s.Session(0).FrameCode(0, 0, c.wish)
		if err != nil {
			t.Fatal(err)
		}
		if out := codeText(t, s, got); out != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, out, c.want)
		}
	}
}

func codeText(t *testing.T, s *Files, c *report.Code) string {
	t.Helper()
	var b bytes.Buffer
	if err := text.WriteCode(&b, s.Session(0).Report(), c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCodeAt: an address without code, one whose function has any size, and no frame.
func TestCodeAt(t *testing.T) {
	amd64 := dumptest.AMD64(map[string]uint64{"rip": 0x401004, "rsp": 0x7ffe0000})
	sym := "MODULE Linux x86_64 " + appID + " app\nFUNC 1000 ffffffff 0 crash_me\n"
	st := codeStory(9, "app", amd64, strings.Repeat("90", 1<<20), sym)
	s := st.open(t)
	dump := s.Session(0)
	if c, err := dump.CodeAt(0x10, CodeWish{After: 4}); err != nil || len(c.Rows) != 0 || c.Unread == "" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := dump.CodeAt(0x401000, CodeWish{Whole: true}); err != nil || len(c.Rows) > maxCode {
		t.Errorf("%d rows, %v", len(c.Rows), err)
	}
	if c, err := dump.CodeAt(0x500000, CodeWish{Before: 1 << 30, After: 4}); err != nil || len(c.Rows) > maxCode {
		t.Errorf("%d rows, %v", len(c.Rows), err)
	}
	if _, err := dump.FrameCode(0, 999, CodeWish{After: 4}); err == nil {
		t.Error("a frame that is not there")
	}
}

// TestUndecoded: of processors without a decoder the bytes are listed, with a message in the text and on the page.
func TestUndecoded(t *testing.T) {
	for processor, name := range map[uint16]string{1: "mips", 0x8001: "sparc", 0x8004: "mips64"} {
		ctx := dumptest.Context(dumptest.LittleEndian, name, map[string]uint64{"pc": 0x401004, "sp": 0x7ffe0000})
		st := codeStory(processor, "app", ctx, "27bdffd0 afbf002c afb30028")
		files := st.open(t)
		s := files.Session(0)
		c, err := s.FrameCode(0, 0, CodeWish{Before: 4, After: 1})
		if err != nil {
			t.Fatal(err)
		}
		says := name + " instructions are not decoded"
		if out := codeText(t, files, c); !strings.Contains(out, says) || !strings.Contains(out, " ->  0x401004  af") {
			t.Errorf("%s:\n%s", name, out)
		}
		page := view.New(s.Report(), func(s string) string { return s }).CodeList(c, func(string) view.SourceText { return nil }).Page(-4, 9)
		if page.Note != strings.ToUpper(says[:1])+says[1:]+"." || len(page.Rows) == 0 || page.Rows[0].Text == "" || page.Rows[0].Text != page.Rows[0].Bytes {
			t.Errorf("%s: %q, %+v", name, page.Note, page.Rows)
		}
	}
}

// TestFrameCodeFacts: whether a jump at an exception is taken, which call led to a frame, code that begins
// in the middle of a function, functions that follow each other, and what redact hides.
func TestFrameCodeFacts(t *testing.T) {
	const sym = "MODULE Linux x86_64 " + appID + " app\nFUNC 1000 5 0 first\nFUNC 1006 4 0 second\nSTACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"
	show := func(st story, frame int, wish CodeWish) string {
		t.Helper()
		s := st.open(t)
		c, err := s.Session(0).FrameCode(0, frame, wish)
		if err != nil {
			t.Fatal(err)
		}
		return codeText(t, s, c)
	}
	contains := func(what, out, want string) {
		t.Helper()
		if !strings.Contains(out, want) {
			t.Errorf("%s: no %q in\n%s", what, want, out)
		}
	}
	// xor eax, eax; je 0x401000; nop · hlt, between functions · nop; nop; nop; ret
	const code = "31c0 74fc 90 66 909090 c3"
	ctx := func(rip, flags uint64) []byte {
		return dumptest.AMD64(map[string]uint64{"rip": rip, "rsp": 0x7ffe0000, "rax": 0x45, "eflags": flags})
	}
	wish := CodeWish{Before: 8, After: 8}
	contains("taken", show(codeStory(9, "app", ctx(0x401002, 0x40), code, sym), 0, wish), "; first + 0x0, taken: ZF is 1\n")
	contains("not taken", show(codeStory(9, "app", ctx(0x401002, 0x1), code, sym), 0, wish), "; first + 0x0, not taken: ZF is 0\n")
	contains("functions", show(codeStory(9, "app", ctx(0x401002, 0x1), code, sym), 0, wish), "  66                      (not an instruction that is known)\nsecond:\n     0x401006  90  ")
	if out := show(codeStory(9, "app", ctx(0x401002, 0x40), code, sym), 0, CodeWish{Before: 8, After: 8, Redact: true}); strings.Contains(out, "ZF") || !strings.Contains(out, "-> ") {
		t.Errorf("redacted:\n%s", out)
	}
	if out := show(codeStory(9, "app", ctx(0x401002, 0x40), code), 0, CodeWish{Before: 8, After: 8, Redact: true}); strings.Contains(out, "31 c0") || !strings.Contains(out, "may be data") {
		t.Errorf("memory that no symbol says to be code is shown:\n%s", out)
	}
	// The dump has the end of a function alone.
	if out := show(codeStory(9, "app", ctx(0x401002, 0x40), code, strings.Replace(sym, "FUNC 1000 5", "FUNC f00 105", 1)), 0, wish); !strings.Contains(out, "0x401000  31 c0") || !strings.Contains(out, "may be wrong") {
		t.Errorf("the beginning is not there:\n%s", out)
	}
	// call 0x401006; nop: its return address is on the stack.
	called := story{syms: []string{strings.ReplaceAll(sym, "FUNC 1000 5", "FUNC 1000 6")}, dump: dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/app", appELF).
		Thread(7, ctx(0x401006, 0), 0x7ffe0000, words64(0x401005, 0, 0)).
		Memory(0x401000, []byte("\xe8\x01\x00\x00\x00\x90\x90\x90\x90\xc3")).
		Exception(7, 11, 1, 0x45, ctx(0x401006, 0)).Bytes()}
	contains("a caller", show(called, 1, wish), " ->  0x401000  e8 01 00 00 00          call 0x401006                   ; second + 0x0, called frame 0\n")
}
