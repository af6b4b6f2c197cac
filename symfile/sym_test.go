package symfile

import (
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

const sample = `MODULE Linux x86_64 D3096ED481217FD4C16B29CD9BC208BA0 my program
INFO CODE_ID ABCDEF0123 my program.exe
INFO URL https://symbols.example/a b.sym
INFO GENERATOR somebody 1.0
FILE 0 /src/main.cc
FILE 1 /src/dir with space/a.h
FILE 7 /src/b.h
INLINE_ORIGIN 0 outer inlined(int)
INLINE_ORIGIN 1 inner inlined()
FUNC m 1000 100 8 ns::f(int, char const*) const
INLINE 1 21 1 1 1020 8 1040 8
INLINE 0 10 0 0 1018 18 1040 10
1000 18 9 0
1018 8 20 1
1020 8 30 7
1028 8 22 1
1040 8 31 7
1048 8 0 1
FUNC 2000 10 0 g
2000 8 5 99
PUBLIC m 3000 c exported name
PUBLIC 1050 0 inside f
STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 +
STACK CFI 1004 $rbp: .cfa -16 + ^
STACK WIN 4 2000 10 1 2 3 4 5 6 1 $T0 $ebp = $eip $T0 4 + ^ = $esp $T0 8 + =
STACK WIN 0 2000 10 0 0 8 4 5 6 0 1
STACK WIN 0 2010 10 0 0 8 4 5 6 0 0
STACK WIN 0 2020 10 0 0 8 4 5 6 1 $eip 1 =
STACK WIN 4 2030 10 0 0 8 4 5 6 0 1
STACK WIN 3 2040 10 0 0 8 4 5 6 0 1
`

func TestRecords(t *testing.T) {
	for name, text := range map[string]string{
		"LF": sample, "CRLF": strings.ReplaceAll(sample, "\n", "\r\n"), "CRCRLF": strings.ReplaceAll(sample, "\n", "\r\r\n"),
		"no final newline": strings.TrimSuffix(sample, "\n"), "blank lines": strings.ReplaceAll(sample, "\n", "\n\n"),
		"byte order mark": "\xef\xbb\xbf" + sample, "tabs and blanks": strings.ReplaceAll(sample, "\n", "  \t\n"),
	} {
		t.Run(name, func(t *testing.T) { checkSample(t, open(t, "my.sym", []byte(text))) })
	}
}

func checkSample(t *testing.T, f *File) {
	if want := (Module{"Linux", "x86_64", "D3096ED481217FD4C16B29CD9BC208BA0", "my program"}); f.Module != want || !f.HasModule {
		t.Errorf("module %+v", f.Module)
	}
	if f.CodeID != "ABCDEF0123" || f.CodeFile != "my program.exe" || f.URL != "https://symbols.example/a b.sym" {
		t.Errorf("INFO: %q %q %q", f.CodeID, f.CodeFile, f.URL)
	}
	want := Counts{Files: 3, Origins: 2, Funcs: 2, Publics: 2, LineRecords: 7, Inlines: 2, CFIInits: 1, CFIDeltas: 2,
		WinFrameData: 2, WinFPO: 3, WinOther: 1, Infos: 3}
	got := f.Counts
	got.Lines = 0
	if got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	const a, b, m = "/src/dir with space/a.h", "/src/b.h", "/src/main.cc"
	fn := func(line uint32, file string, start uint64, in ...symbol.Inline) symbol.Symbol {
		return symbol.Symbol{Name: "ns::f(int, char const*) const", Start: 0x1000, Size: 0x100, ParamSize: 8, Multiple: true,
			File: file, Line: line, HasLine: true, LineStart: start, Inlines: in}
	}
	outer := func(line uint32, file string, start uint64) symbol.Inline {
		return symbol.Inline{Name: "outer inlined(int)", File: file, Line: line, HasLine: true, Start: start}
	}
	inner := func(line uint32, start uint64) symbol.Inline {
		return symbol.Inline{Name: "inner inlined()", File: b, Line: line, HasLine: true, Start: start}
	}
	none := fn(0, "", 0)
	none.HasLine = false
	g := symbol.Symbol{Name: "g", Start: 0x2000, Size: 0x10, Line: 5, HasLine: true, LineStart: 0x2000}
	gNoLine := symbol.Symbol{Name: "g", Start: 0x2000, Size: 0x10}
	pub := symbol.Symbol{Name: "exported name", Start: 0x3000, ParamSize: 12, Public: true, Multiple: true}
	farPub := pub
	farPub.Extent = symbol.Nearest
	for _, c := range []struct {
		rva  uint64
		want symbol.Symbol
	}{
		{0xfff, symbol.Symbol{}},
		{0x1000, fn(9, m, 0x1000)},
		{0x1017, fn(9, m, 0x1000)},
		{0x1018, fn(10, m, 0x1018, outer(20, a, 0x1018))},
		{0x1020, fn(10, m, 0x1020, inner(30, 0x1020), outer(21, a, 0x1018))},
		{0x1027, fn(10, m, 0x1020, inner(30, 0x1020), outer(21, a, 0x1018))},
		{0x1028, fn(10, m, 0x1028, outer(22, a, 0x1018))},
		{0x1030, none},
		{0x1040, fn(10, m, 0x1040, inner(31, 0x1040), outer(21, a, 0x1040))},
		{0x1048, fn(10, m, 0x1048, outer(0, a, 0x1040))}, // a line number of 0 is a line record
		{0x1050, none}, // FUNC wins over PUBLIC
		{0x10ff, none},
		{0x1100, symbol.Symbol{Name: "inside f", Start: 0x1050, Public: true, Extent: symbol.Passed}},
		{0x1fff, symbol.Symbol{Name: "inside f", Start: 0x1050, Public: true, Extent: symbol.Passed}},
		{0x2000, g}, // its FILE does not exist
		{0x2008, gNoLine},
		{0x2010, symbol.Symbol{}}, // the PUBLIC ends where the FUNC starts
		{0x2fff, symbol.Symbol{}},
		{0x3000, pub},
		{1 << 63, farPub},
	} {
		got, ans, err := f.Lookup(c.rva)
		if err != nil || !reflect.DeepEqual(got, c.want) || (ans == symbol.Yes) != (c.want.Name != "") || ans == symbol.Needs {
			t.Errorf("Lookup(0x%x):\n got %+v %v %v\nwant %+v", c.rva, got, ans, err, c.want)
		}
	}

	for _, c := range []struct {
		rva  uint64
		row  string
		off  int // lines after the INIT record
		from uint64
	}{
		{0x1000, "cfa = $rsp + 8, ra = [cfa − 8]", 0, 0x1000},
		{0x1001, "cfa = $rsp + 16, ra = [cfa − 8]", 1, 0x1001},
		{0x1003, "cfa = $rsp + 16, ra = [cfa − 8]", 1, 0x1001},
		{0x10ff, "cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]", 2, 0x1004},
	} {
		for range 2 { // the second time from the cache
			row, ans, err := f.Row(cpu.AMD64, c.rva)
			if err != nil || ans != symbol.Yes || row.Describe(cpu.AMD64) != c.row || row.Start != c.from {
				t.Errorf("Row(0x%x) = %s from 0x%x, %v %v; want %s", c.rva, row.Describe(cpu.AMD64), row.Start, ans, err, c.row)
			}
			if row.Origin.File != "my.sym" || row.Origin.Part != "STACK CFI" || row.Origin.Line < 20+c.off {
				t.Errorf("origin %+v", row.Origin)
			}
		}
	}
	if _, ans, err := f.Row(cpu.AMD64, 0x1100); ans != symbol.No || err != nil {
		t.Errorf("Row outside: %v %v", ans, err)
	}

	d, ans, err := f.FrameData(0x2004)
	d.Origin.Line = 0
	if w := (unwind.FrameData{Type: 4, Start: 0x2000, Size: 0x10, Prolog: 1, Epilog: 2, Params: 3, SavedRegs: 4, Locals: 5, MaxStack: 6,
		Program: "$T0 $ebp = $eip $T0 4 + ^ = $esp $T0 8 + =", HasProgram: true,
		Origin: unwind.Origin{File: "my.sym", Part: "STACK WIN 4"}}); d != w || ans != symbol.Yes || err != nil {
		t.Errorf("FrameData: %+v %v %v", d, ans, err)
	}
	for rva, want := range map[uint64]string{0x2010: "0 false false ", 0x2020: "0 false true $eip 1 =", 0x2030: "4 true false "} {
		d, _, _ := f.FrameData(rva)
		if got := strings.Join([]string{string(rune('0' + d.Type)), tf(d.AllocatesBP), tf(d.HasProgram), d.Program}, " "); got != want {
			t.Errorf("FrameData(0x%x): %s, want %s", rva, got, want)
		}
	}
	if _, ans, _ := f.FrameData(0x2040); ans != symbol.No {
		t.Error("STACK WIN of type 3 is used")
	}
	var said []string
	for _, w := range f.Warnings {
		said = append(said, w.Text)
		if w.Line == 0 {
			t.Errorf("no line: %v", w)
		}
	}
	if s := strings.Join(said, "; "); s != "STACK WIN record of type 3 is not used" || f.WarningCount != 1 {
		t.Errorf("warnings: %s", s)
	}
}

func tf(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// TestOddities: each text is read, gives exactly these warnings (text of the first, in order), and
// some answers.
func TestOddities(t *testing.T) {
	const mod = "MODULE Linux x86 ABC x\n"
	for _, c := range []struct {
		name, text string
		warnings   []string
		at         uint64
		want       string // name file:line of Lookup(at)
	}{
		{"empty", "", []string{"the file has no MODULE record"}, 0, ""},
		{"no module", "FUNC 10 10 0 f\n", []string{"the file has no MODULE record"}, 0x10, "f"},
		{"two modules", mod + mod, []string{"line 2: another MODULE record; the first counts"}, 0, ""},
		{"short module", "MODULE Linux x86\n", []string{"the file has no MODULE record", "line 1: malformed MODULE record"}, 0, ""},
		{"module without a name", "MODULE Linux x86 ABC\n", nil, 0, ""},
		{"binary", "\x7fELF\x02\x00\x00\n\xff\xfe", []string{"the file has no MODULE record", "line 1: unknown record", "line 2: unknown record"}, 0, ""},
		{"line before any FUNC", mod + "1000 4 44 1\n", []string{"line 2: line record before any FUNC"}, 0x1000, ""},
		{"INLINE before any FUNC", mod + "INLINE 0 1 1 1 1000 4\n", []string{"line 2: INLINE record before any FUNC"}, 0, ""},
		{"delta before any INIT", mod + "STACK CFI 10 .cfa: $esp\n", []string{"line 2: STACK CFI record before any STACK CFI INIT"}, 0, ""},
		{"line outside its FUNC", mod + "FILE 1 a\nFUNC 2000 c 4 f\n1000 4 54 1\n2008 8 3 1\n",
			[]string{"line 4: line record at 0x1000 lies outside its FUNC, that of line 3", "line 5: line record at 0x2008 lies outside its FUNC, that of line 3"}, 0x2008, "f a:3"},
		{"FUNC of size 0", mod + "FUNC 2000 0 0 f\n2000 4 1 1\n", []string{"line 2: FUNC of size 0 at 0x2000 is not used"}, 0x2000, ""},
		{"line of size 0", mod + "FILE 1 a\nFUNC 2000 8 0 f\n2000 0 1 1\n2000 8 2 1\n", nil, 0x2000, "f a:2"},
		{"FUNC beyond the end", mod + "FUNC fffffffffffffff0 11 0 f\n", []string{"line 2: FUNC at 0xfffffffffffffff0 reaches beyond the last address and is not used"}, 0xfffffffffffffff1, ""},
		{"FUNC up to the end", mod + "FUNC fffffffffffffff0 f 0 f\n", nil, 0xfffffffffffffffe, "f"},
		{"short FUNC", mod + "FUNC 1000\n", []string{"line 2: malformed FUNC record"}, 0x1000, ""},
		{"FUNC without a name", mod + "FUNC 1000 10 0\n", []string{"line 2: malformed FUNC (no name) record"}, 0x1000, "<name omitted>"},
		{"negative and huge numbers", mod + "FUNC -10 10 0 f\nFUNC 12345678901234567 1 0 f\nFUNC 10 10 123456789 f\nFILE -1 a\nFILE 4294967296 a\nPUBLIC 0x10 0 p\n",
			[]string{"line 2: malformed FUNC record", "line 3: malformed FUNC record", "line 4: malformed FUNC record", "line 5: malformed FILE record", "line 6: malformed FILE record", "line 7: malformed PUBLIC record"}, 0x10, ""},
		{"broken lines", mod + "FILE 1 a\nFUNC 10 10 0 f\n10 1 x 1\n10 1 1\n10\n10 1 1 1 1\n10 1 99999999999 1\n11 4 2 1\n",
			[]string{"line 4: malformed line record", "line 5: malformed line record", "line 6: malformed line record", "line 7: malformed line record", "line 8: malformed line record"}, 0x11, "f a:2"},
		{"upper case", mod + "FILE 1 a\nFUNC FF0 FF 0 f\nFF0 10 7 1\n", nil, 0xff0, "f a:7"},
		{"file -1", mod + "FUNC 10 10 0 f\n10 10 7 -1\n", nil, 0x10, "f :7"},
		{"spaces in runs", mod + "FILE  1  a b\nFUNC  10  10  0  f g\n10  10  7  1\n", nil, 0x10, "f g a b:7"},
		{"same FILE twice", mod + "FILE 1 a\nFILE 1 b\nFUNC 10 10 0 f\n10 10 7 1\n", []string{"line 3: FILE number 1 again; the first counts"}, 0x10, "f a:7"},
		{"FILE with a huge number, FILE last", mod + "FUNC 10 10 0 f\n10 10 7 4000000000\nFILE 4000000000 a\n", nil, 0x10, "f a:7"},
		{"FUNCs that overlap", mod + "FUNC 10 10 0 f\nFUNC 18 10 0 g\nFUNC 20 8 0 h\n", []string{"line 3: FUNC at 0x18 overlaps that of line 2 and is not used"}, 0x20, "h"},
		{"FUNCs of one start", mod + "FUNC 10 10 0 f\nFUNC 10 8 0 g\n", []string{"line 2: FUNC at 0x10 overlaps that of line 3 and is not used"}, 0x10, "g"},
		{"lines that overlap", mod + "FILE 1 a\nFUNC 10 10 0 f\n10 8 1 1\n14 8 2 1\n18 8 3 1\n", nil, 0x18, "f a:3"},
		{"PUBLICs of one address", mod + "PUBLIC 10 0 first\nPUBLIC 10 0 second\n", nil, 0x18, "first"},
		{"PUBLIC at 0", mod + "PUBLIC 0 0 header\n", []string{"line 2: PUBLIC at address 0 is not used"}, 8, ""},
		{"PUBLIC where a FUNC starts", mod + "PUBLIC 10 0 p\nFUNC 10 8 0 f\n", nil, 0x18, ""},
		{"gap after a FUNC", mod + "PUBLIC 8 0 p\nFUNC 10 8 0 f\n", nil, 0x18, ""},
		{"unsorted", mod + "FUNC 30 8 0 h\nPUBLIC 20 0 q\nFUNC 10 8 0 f\nPUBLIC 18 0 p\n", nil, 0x1f, "p"},
		{"line after other records", mod + "FUNC 10 10 0 f\nPUBLIC 40 0 p\nFILE 1 a\n10 10 7 1\nINFO x\n", nil, 0x10, "f a:7"},
		{"lines of a broken FUNC", mod + "FILE 1 a\nFUNC 10 10 0 f\nFUNC x 10 0 g\n10 10 7 1\n",
			[]string{"line 4: malformed FUNC record", "line 5: line record before any FUNC"}, 0x10, "f"},
		{"broken INLINEs", mod + "FUNC 10 10 0 f\nINLINE 0 1 1 10\nINLINE 0 1 1 1 10 4 x y\nINLINE x 1 1 1 10 4\nINLINE 0 1\n",
			[]string{"line 3: malformed INLINE record", "line 4: malformed INLINE record", "line 5: malformed INLINE record", "line 6: malformed INLINE record"}, 0x10, "f"},
		{"delta outside and out of order", mod + "STACK CFI INIT 10 10 .cfa: $esp 4 + .ra: .cfa -4 + ^\nSTACK CFI 18 .cfa: $esp 8 +\nSTACK CFI 12 .cfa: $esp 6 +\nSTACK CFI 20 .cfa: $esp 99 +\nSTACK CFI f .cfa: $esp 99 +\n",
			[]string{"line 4: STACK CFI record at 0x12 comes after one at 0x18", "line 5: STACK CFI record at 0x20 lies outside its STACK CFI INIT, that of line 2", "line 6: STACK CFI record at 0xf lies outside its STACK CFI INIT, that of line 2"}, 0, ""},
		{"broken STACK records", mod + "STACK\nSTACK CFI\nSTACK CFI INIT 10\nSTACK CFI x\nSTACK WIN 4 10\nSTACK FOO 1\nSTACK WIN 4 10 0 0 0 0 0 0 0 1 $eip\n",
			[]string{"line 2: unknown record", "line 3: unknown record", "line 4: malformed STACK CFI INIT record", "line 5: malformed STACK CFI record", "line 6: malformed STACK WIN record", "line 7: unknown record", "line 8: STACK WIN of size 0 at 0x10 is not used"}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, "x.sym", []byte(c.text))
			var said []string
			for _, w := range f.Warnings {
				said = append(said, w.String())
			}
			if !reflect.DeepEqual(said, c.warnings) || f.WarningCount != len(said) {
				t.Errorf("warnings\n got %q\nwant %q", said, c.warnings)
			}
			s, _, err := f.Lookup(c.at)
			got := s.Name
			if s.HasLine {
				got += " " + s.File + ":" + string(rune('0'+s.Line))
			}
			if err != nil || got != c.want {
				t.Errorf("Lookup(0x%x) = %q %v, want %q", c.at, got, err, c.want)
			}
			f.Row(cpu.X86, c.at)
			f.FrameData(c.at)
		})
	}
}

func TestDeltaOrder(t *testing.T) {
	f := open(t, "x.sym", []byte("STACK CFI INIT 10 10 .cfa: $esp 4 + .ra: .cfa -4 + ^\nSTACK CFI 18 .cfa: $esp 8 +\nFILE 1 a\nSTACK CFI 12 .cfa: $esp 6 +\n"+
		"STACK CFI f .cfa: $esp 99 +\nSTACK CFI 20 .cfa: $esp 99 +\nSTACK CFI INIT 40 8 .cfa: $esp 4 +\n"))
	for rva, want := range map[uint64]int64{0x10: 4, 0x11: 4, 0x12: 6, 0x17: 6, 0x18: 8, 0x1f: 8} {
		if row, _, err := f.Row(cpu.X86, rva); err != nil || row.CFA.Offset != want {
			t.Errorf("0x%x: %v %v, want %d", rva, row, err, want)
		}
	}
	if row, ans, err := f.Row(cpu.X86, 0x40); ans != symbol.Yes || err != nil || !row.Outermost {
		t.Errorf("without .ra: %v %v %v", row, ans, err)
	}
	if c, ok, _ := f.CFI(0x18); !ok || c.Line != 1 || len(c.Deltas) != 2 || c.Deltas[0] != (CFIDelta{0x12, 4, ".cfa: $esp 6 +"}) || c.Deltas[1].Line != 2 {
		t.Errorf("%+v", c)
	}
}

// TestWinNesting: the record that starts last wins, and what it does not cover belongs to the one
// around it.
func TestWinNesting(t *testing.T) {
	f := open(t, "x.sym", []byte(strings.ReplaceAll(`STACK WIN 4 1000 100 0 0 A 0 0 0 1 a
STACK WIN 4 1010 10 0 0 B 0 0 0 1 b
STACK WIN 4 1018 88 0 0 C 0 0 0 1 c
STACK WIN 4 1000 100 0 0 D 0 0 0 1 d
STACK WIN 4 1000 8 0 0 E 0 0 0 1 e
STACK WIN 0 1000 200 0 0 F 0 0 0 0 1
`, " 1 ", " 1 ")))
	for rva, want := range map[uint64]uint32{0x1000: 0xe, 0x1007: 0xe, 0x1008: 0xa, 0x1010: 0xb, 0x1018: 0xc, 0x1020: 0xc, 0x10a0: 0xa, 0x10ff: 0xa, 0x1100: 0xf} {
		if d, _, err := f.FrameData(rva); err != nil || d.Params != want {
			t.Errorf("0x%x: %+v %v, want %x", rva, d, err, want)
		}
	}
}

// TestInlineForms: the form before 2021 has no call-site file and a file number in INLINE_ORIGIN.
func TestInlineForms(t *testing.T) {
	f := open(t, "x.sym", []byte("FILE 0 a.cc\nFILE 3 b.cc\nINLINE_ORIGIN 0 3 old name\nINLINE_ORIGIN 1 -1 no file\nINLINE_ORIGIN 2 42\nINLINE_ORIGIN 5 new name\n"+
		"FUNC 10 40 0 f\nINLINE 0 7 0 10 10\nINLINE 0 8 -1 5 20 8 28 8\nINLINE 0 9 77 1 30 8\nINLINE 0 9 3 2 38 8\nINLINE 0 9 3 9 40 8\n10 30 1 0\n"))
	for rva, want := range map[uint64]string{
		0x10: "f a.cc:7 > old name a.cc:1", 0x28: "f a.cc:8 > new name a.cc:1", 0x30: "f :9 > no file a.cc:1", 0x38: "f b.cc:9 > 42 a.cc:1",
		0x40: "f b.cc:9 > <name omitted> :0",
	} {
		s, _, err := f.Lookup(rva)
		if err != nil || len(s.Inlines) != 1 {
			t.Fatalf("0x%x: %+v %v", rva, s, err)
		}
		in := s.Inlines[0]
		got := s.Name + " " + s.File + ":" + string(rune('0'+s.Line)) + " > " + in.Name + " " + in.File + ":" + string(rune('0'+in.Line))
		if got != want {
			t.Errorf("0x%x: %s, want %s", rva, got, want)
		}
	}
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string]Module{
		"MODULE mac arm64 ABC0 lib x.dylib\nINFO":        {"mac", "arm64", "ABC0", "lib x.dylib"},
		"\r\n\xef\xbb\xbfMODULE mac arm64 ABC0 x":        {},
		"\xef\xbb\xbf\r\nMODULE mac arm64 ABC0 x\r\nFUN": {"mac", "arm64", "ABC0", "x"},
		"MODULE windows x86 ABC":                         {"windows", "x86", "ABC", ""},
		"MODULE windows x86  app.pdb":                    {"windows", "x86", "", "app.pdb"},
		"MODULE windows x86":                             {},
		"FUNC 1 1 1 f\nMODULE mac arm64 ABC0 x":          {},
		"MODULES a b c d":                                {},
		"":                                               {},
	} {
		if got := Identify([]byte(text)); got.HasModule != (want.OS != "") || got.HasModule && got.Module != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, module := range []string{"MODULE Linux x86_64 ABC0 x\r\n", ""} {
		got := Identify([]byte(module + "INFO CODE_ID AB12 x\r\nINFO GENERATOR me\nINFO OTHER_ID CD0\nINFO OTHER_ID EF0\nFUNC 1 1 1 f\nINFO OTHER_ID 10\n"))
		if got.CodeID != "AB12" || strings.Join(got.OtherIDs, " ") != "CD0 EF0" {
			t.Errorf("%q: %+v", module, got)
		}
	}
}

// The bounds of code are those of functions and unwind records, whichever reach farther.
func TestCodeBounds(t *testing.T) {
	const module = "MODULE Linux x86_64 000 app\n"
	for _, c := range []struct {
		sym      string
		from, to uint64
	}{
		{"FUNC 2000 10 0 b\nFUNC 1000 20 0 a\nPUBLIC 500 0 data\nPUBLIC 9000 0 end\n", 0x1000, 0x2010},
		{"FUNC 2000 10 0 b\nSTACK CFI INIT 3000 40 .cfa: $rsp 8 +\nSTACK CFI INIT 1800 40 .cfa: $rsp 8 +\n", 0x1800, 0x3040},
		{"PUBLIC 500 0 data\n", 0, 0},
	} {
		f, err := Open(input.FromBytes("app.sym", []byte(module+c.sym)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if from, to := f.CodeBounds(); from != c.from || to != c.to {
			t.Errorf("%q: 0x%x to 0x%x, not 0x%x to 0x%x", c.sym, from, to, c.from, c.to)
		}
	}
}
