package engine

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestOutlineCode: the code of a program without a dump, a symbol file without its program, and of that when the program comes.
func TestOutlineCode(t *testing.T) {
	opt := Options{Session: session.Options{}}
	readers.Add(&opt.Session)
	k := newTalkWith(t, opt)
	code := func(item int, at uint64) *protocol.CodePage {
		t.Helper()
		r := k.look(protocol.Query{Selection: protocol.Selection{Thread: -1, Inline: -1}, Code: &protocol.CodeQuery{Item: item, At: at, Before: 8, After: 16, Span: protocol.Span{From: -4, Count: 40}}})
		if r.Code == nil || r.Code.Around != at {
			t.Fatalf("%+v", r.Code)
		}
		return r.Code
	}
	program := testfile.Read(t, "../../symfile/elf/testdata/x86_64-linux-gnu.elf")
	k.add("x.so.sym", []byte("MODULE Linux x86_64 8721EE21E60CD12400C4DC494C7D91D60 x.so\nFILE 0 /src/x.c\nFUNC 47c 20 0 started\n47c 20 7 0\n"))
	if c := code(0, 0x47c); len(c.Rows) > 0 || !strings.Contains(c.Note, "A symbol file has no code") || !strings.HasPrefix(c.Wanted, "x.so with ") {
		t.Errorf("a symbol file alone: %+v", c)
	}
	k.add("x.so", program)
	has := func(c *protocol.CodePage, kind, text string) bool {
		for _, r := range c.Rows {
			if r.Kind == kind && strings.Contains(r.Text, text) {
				return true
			}
		}
		return false
	}
	if c := code(0, 0x47c); c.Source != "x.so" || !has(c, rows.CodeFunction, "started") || !has(c, rows.CodeLine, "x.c:7") || !has(c, rows.CodeInstruction, "push rbx") || c.Path != "/src/x.c" || c.Line != 7 {
		t.Errorf("with its program: %+v", c)
	}
	c := code(1, 0x40047c)
	if !has(c, rows.CodeFunction, "run") || !has(c, rows.CodeInstruction, "push rbx") || !has(c, rows.CodeNote, "rule: cfa rsp+16") || has(c, rows.CodeFunction, "started") {
		t.Errorf("the program: %+v", c)
	}
	target := ""
	for _, r := range c.Rows {
		if r.At && r.Address != "0x000000000040047c" {
			t.Errorf("marked: %+v", r)
		}
		if r.Goal == "first@plt" {
			target = r.Target
		}
	}
	if target != "0x400450" {
		t.Errorf("the call leads to %q", target)
	}
	if r := k.look(protocol.Query{Selection: protocol.Selection{Thread: -1}, Code: &protocol.CodeQuery{Item: 9, At: 0x40047c, After: 4, Span: protocol.Span{Count: 4}}}); r.Code != nil {
		t.Errorf("no such file: %+v", r.Code)
	}
}

// TestFatOutline: the parts of a Mach-O file for several processors are chosen by names that differ, and each shows its own code.
func TestFatOutline(t *testing.T) {
	opt := Options{Session: session.Options{}}
	readers.Add(&opt.Session)
	k := newTalkWith(t, opt)
	var parts [2][]byte
	for i, name := range []string{"m-x86_64-fp.dylib.gz", "m-arm64-fp.dylib.gz"} {
		parts[i] = testfile.Read(t, "../../symfile/macho/testdata/"+name)
	}
	// The header of mach-o/fat.h: magic, number; of each part cputype, subtype, offset, size, alignment.
	const page = 1 << 14
	fat, at := []byte{}, uint32(page)
	for _, n := range []uint32{0xcafebabe, 2, 0x01000007, 3, at, uint32(len(parts[0])), 14, 0x0100000c, 0, at + (uint32(len(parts[0]))+page-1)/page*page, uint32(len(parts[1])), 14} {
		fat = binary.BigEndian.AppendUint32(fat, n)
	}
	for _, part := range parts {
		fat = append(append(fat, make([]byte, (page-len(fat)%page)%page)...), part...)
	}
	k.add("m", fat)
	choices := k.look(protocol.Query{Selection: protocol.Selection{Thread: -1}, Files: &protocol.Span{Count: 9}}).Files.Symbols
	if len(choices) != 2 || choices[0].Name != "amd64/m" || choices[1].Name != "arm64/m" {
		t.Fatalf("%+v", choices)
	}
	for i, want := range []string{"push rbp", "stp x"} {
		o := &protocol.OutlineQuery{Item: choices[i].Item, List: true, Text: "recurse", Span: protocol.Span{Count: 4}}
		r := k.look(protocol.Query{Selection: protocol.Selection{Thread: -1}, Overview: protocol.OverviewQuery{Outline: o}}).Overview.Outline
		if len(r.Rows) == 0 || r.Rows[0].Name != "recurse" {
			t.Fatalf("%+v", r)
		}
		at, err := strconv.ParseUint(r.Rows[0].Address[2:], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		c := k.look(protocol.Query{Selection: protocol.Selection{Thread: -1}, Code: &protocol.CodeQuery{Item: choices[i].Item, At: at, After: 1, Span: protocol.Span{Count: 9}}}).Code
		if c == nil || !slices.ContainsFunc(c.Rows, func(r rows.CodeRow) bool { return r.At && strings.HasPrefix(r.Text, want) }) {
			t.Errorf("%s: %+v", choices[i].Name, c)
		}
	}
}

// TestFindInProgram: "go to" finds a function that is on no stack in the symbol table of a program without a symbol file, and says
// what was searched.
func TestFindInProgram(t *testing.T) {
	opt := Options{Session: session.Options{}}
	readers.Add(&opt.Session)
	k := newTalkWith(t, opt)
	ctx := dumptest.Context(dumptest.LittleEndian, "amd64", map[string]uint64{"rip": 0x7f0000000480, "rsp": 0x7ffe0000})
	id, _ := hex.DecodeString("21ee21870ce624d100c4dc494c7d91d6def844c7")
	k.add("t.dmp", dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: 0x8201}).
		Module(0x7f0000000000, 0x10000, "/lib/x.so", dumptest.ELF(id)).Thread(7, ctx, 0x7ffe0000, make([]byte, 8)).Exception(7, 11, 0, 0x45, ctx).Bytes())
	k.add("x.so", testfile.Read(t, "../../symfile/elf/testdata/x86_64-linux-gnu.elf"))
	find := func(text string) *protocol.SymbolsPage {
		for range 100 {
			if s := k.look(protocol.Query{Selection: protocol.Selection{Inline: -1}, Memory: protocol.MemoryQuery{Symbols: &protocol.SymbolsQuery{Text: text}}}).Memory.Symbols; s.Ended {
				return s
			}
		}
		t.Fatal("it does not end")
		return nil
	}
	if s := find("run"); len(s.Rows) != 1 || s.Rows[0].Title != "run" || s.Rows[0].Address != "0x00007f000000047c" || s.Rows[0].Note != "x.so" || s.Files != 0 || s.Tables != 1 {
		t.Errorf("%+v", s)
	}
	if s := find("nothing"); len(s.Rows) != 0 || s.Tables != 1 {
		t.Errorf("%+v", s)
	}
}
