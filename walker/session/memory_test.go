package session

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
)

// memoryStory is a dump with a stack, whose words point to code, to the stack, to a text and to
// nothing, and with memory in two regions that touch.
func memoryStory() story {
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7ffe0000, "rbp": 0})
	return story{syms: []string{appSym(appID)}, dump: dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/app", appELF).
		Thread(7, ctx, 0x7ffe0000, words64(1, 0x402020, 0x7ffe0000, 0x500000, 0x900000, 0)).
		Memory(0x500000, []byte("secret-text\x00needle…nee")).
		Memory(0x500000+24, []byte("dle w\x00o\x00r\x00d\x00")).
		Exception(7, 11, 1, 0x45, ctx).
		Bytes()}
}

func TestMemoryView(t *testing.T) {
	st := memoryStory()
	s := st.open(t)
	for _, c := range []struct {
		start        uint64
		size         int
		words, texts bool
		want         string
	}{
		{0x7ffe0000, 24, false, false, "0x7ffe0000  01 00 00 00 00 00 00 00  20 20 40 00 00 00 00 00  ........  @.....\n" +
			"0x7ffe0010  00 00 fe 7f 00 00 00 00                           ........\n"},
		{0x7ffe0000, 48, true, false, `0x7ffe0000  0x0000000000000001
0x7ffe0008  0x0000000000402020  main + 0x20
0x7ffe0010  0x000000007ffe0000  stack of thread 0, frame 0
0x7ffe0018  0x0000000000500000  in the dump memory
0x7ffe0020  0x0000000000900000
0x7ffe0028  0x0000000000000000
`},
		{0x7ffe0018, 8, true, true, "0x7ffe0018  0x0000000000500000  in the dump memory, \"secret-text\"\n"},
		{0x900000, 64, false, false, "0x900000  neither the dump nor a program that was added has this memory\n"},
	} {
		view, err := s.Session(0).MemoryView(c.start, c.size, c.texts)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		write := text.WriteMemory
		if c.words {
			write = text.WriteWords
		}
		if err := write(&b, s.Session(0).Report(), view); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("0x%x:\n%s\nwant\n%s", c.start, b.String(), c.want)
		}
	}
}

// TestFind: what is in one region, what two regions have parts of, what is there twice, and what is
// not there.
func TestFind(t *testing.T) {
	st := memoryStory()
	s := st.open(t).Session(0)
	for what, want := range map[string][]uint64{
		"secret":                               {0x500000},
		"needle":                               {0x50000c, 0x500015},
		"w\x00o\x00r\x00d\x00":                 {0x50001c},
		string(words64(0x402020)):              {0x7ffe0008},
		"absent":                               nil,
		strings.Repeat("e", 1<<21):             nil,
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00": {0x7ffe0023, 0x7ffe0024, 0x7ffe0025, 0x7ffe0026, 0x7ffe0027},
	} {
		hits, more, err := s.Find([]byte(what))
		if err != nil || more || !slices.Equal(hits, want) {
			t.Errorf("%.20q: %x, %t, %v; want %x", what, hits, more, err, want)
		}
	}
	if _, _, err := s.Find(nil); err == nil {
		t.Error("nothing was found")
	}
	if p := s.Pointee(0x402020, false); p.Place.Module != 0 || p.Words(s.Report(), func(n report.Name) string { return n.Raw }) != "main + 0x20" {
		t.Errorf("%+v", p)
	}
}
