package session

import (
	"bytes"
	"fmt"
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
0x7ffe0018  0x0000000000500000  memory in the dump
0x7ffe0020  0x0000000000900000
0x7ffe0028  0x0000000000000000
`},
		{0x7ffe0018, 8, true, true, "0x7ffe0018  0x0000000000500000  memory in the dump, \"secret-text\"\n"},
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
		memory, err := s.WholeMemory()
		if err != nil {
			t.Fatal(err)
		}
		f, err := memory.Search([]Pattern{{Bytes: []byte(what)}})
		for err == nil && !f.Ended {
			err = f.Step(1)
		}
		if err != nil {
			t.Fatal(err)
		}
		var hits []uint64
		for _, h := range f.Hits {
			hits = append(hits, h.Address)
		}
		if f.More || !slices.Equal(hits, want) || f.Done != f.Total {
			t.Errorf("%.20q: %x, %t, %d of %d; want %x", what, hits, f.More, f.Done, f.Total, want)
		}
	}
	memory, _ := s.WholeMemory()
	if _, err := memory.Search([]Pattern{{}}); err == nil {
		t.Error("nothing was found")
	}
	if p := s.Pointee(0x402020, false); p.Place.Module != 0 || p.Words(s.Report(), func(n report.Name) string { return n.Raw }) != "main + 0x20" {
		t.Errorf("%+v", p)
	}
}

// TestMemoryRows: each address is in a row, with its bytes or in a gap, and the list goes on where the
// window ends.
func TestMemoryRows(t *testing.T) {
	st := memoryStory()
	memory, err := st.open(t).Session(0).WholeMemory()
	if err != nil {
		t.Fatal(err)
	}
	show := func(address uint64, unit, from, count int) string {
		part, err := memory.Part(address, unit, unit == 8, true, from, count)
		if err != nil {
			t.Fatal(err)
		}
		out := fmt.Sprintf("%d of %d:", part.Selected, part.Total)
		for _, r := range part.Rows {
			switch {
			case r.Gap > 0:
				out += fmt.Sprintf(" %x…%x", r.Address, r.Gap)
			case len(r.Words) > 0:
				out += fmt.Sprintf(" %x=%x", r.Address, r.Words[0].Value)
			default:
				out += fmt.Sprintf(" %x+%d:%q", r.Address, r.Skip, r.Bytes)
			}
		}
		return out
	}
	for _, c := range []struct {
		address           uint64
		unit, from, count int
		want              string
	}{
		{0x500010, 16, 0, 4, `2 of 9: 0…500000 500000+0:"secret-text\x00need" 500010+0:"le…needle w\x00o\x00" 500020+0:"r\x00d\x00"`},
		{0x500027, 16, 4, 1, "4 of 9: 500024…7fadffdc"},
		{0x7ffe0018, 8, -1, 2, "10 of 14: 7ffe0010=7ffe0000 7ffe0018=500000"},
		{1 << 63, 16, -1, 1, "8 of 9: 7ffe0030…ffffffff8001ffd0"},
		{0, 64, 0, 1, "0 of 5: 0…500000"},
	} {
		if got := show(c.address, c.unit, c.from, c.count); got != c.want {
			t.Errorf("%x: %s\nwant %s", c.address, got, c.want)
		}
	}
}

// TestStackTexts: a text of two bytes a character is listed once, however its end lies among the words, and a text after
// it is, too.
func TestStackTexts(t *testing.T) {
	const sp = 0x7ffe0000
	wide := func(text string) (b []byte) {
		for _, c := range []byte(text) {
			b = append(b, c, 0)
		}
		return b
	}
	stack := wide("C:\\tiles\\palette.bin\x00")
	stack = append(stack, make([]byte, 8-len(stack)%8)...)
	stack = append(append(stack, "plain text\x00\x00\x00\x00\x00\x00"...), wide("a second one")...)
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": sp, "rbp": 0})
	st := story{dump: dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 2}).
		Thread(7, ctx, sp, stack).Exception(7, 0xc0000005, 0, 0x45, ctx).Bytes()}
	memory, err := st.open(t).Session(0).WholeMemory()
	if err != nil {
		t.Fatal(err)
	}
	found, err := memory.StackTexts(0)
	var texts []string
	for _, f := range found {
		texts = append(texts, f.Text)
	}
	if want := []string{`C:\tiles\palette.bin`, "plain text", "a second one"}; err != nil || !slices.Equal(texts, want) {
		t.Errorf("%q, %v, want %q", texts, err, want)
	}
}

// TestFindNowhere: a search of memory that a program only says it has ends by the work that it may take.
func TestFindNowhere(t *testing.T) {
	st := memoryStory()
	s := st.open(t).Session(0)
	memory, err := s.WholeMemory()
	if err != nil {
		t.Fatal(err)
	}
	memory.spans = []memorySpan{{0x400000, 1 << 62, 0}}
	f, err := memory.Search([]Pattern{{Bytes: []byte("x")}})
	for i := 0; err == nil && !f.Ended; i++ {
		if i == 1<<14 {
			t.Fatalf("%d steps, %d of %d bytes", i, f.Done, f.Total)
		}
		err = f.Step(searchBlock * 16)
	}
	if err == nil {
		t.Error("all is searched")
	}
}
