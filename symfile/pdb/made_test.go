package pdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// buf writes numbers in little-endian order, without the reader's layouts.
type buf []byte

func (b *buf) u8(v ...uint8) *buf { *b = append(*b, v...); return b }
func (b *buf) u16(v ...uint16) *buf {
	for _, x := range v {
		*b = binary.LittleEndian.AppendUint16(*b, x)
	}
	return b
}
func (b *buf) u32(v ...uint32) *buf {
	for _, x := range v {
		*b = binary.LittleEndian.AppendUint32(*b, x)
	}
	return b
}
func (b *buf) text(s string) *buf { *b = append(append(*b, s...), 0); return b }
func (b *buf) pad(n int) *buf {
	for len(*b)%n != 0 {
		*b = append(*b, 0)
	}
	return b
}

// record makes a symbol or type record of a kind.
func record(kind uint16, f func(*buf)) []byte {
	var body buf
	body.u16(kind)
	f(&body)
	for len(body)%4 != 2 { // with the length field records are aligned
		body.u8(0)
	}
	var out buf
	out.u16(uint16(len(body)))
	return append(out, body...)
}

// msf puts streams into pages of a size, their pages in reverse order.
func msf(page int, streams [][]byte) []byte {
	pages := [][]byte{make([]byte, page), make([]byte, page), make([]byte, page)}
	add := func(data []byte) (numbers []uint32) {
		var parts [][]byte
		for len(data) > 0 {
			p := make([]byte, page)
			data = data[copy(p, data):]
			parts = append(parts, p)
		}
		for i := range parts {
			numbers = append(numbers, uint32(len(pages)+len(parts)-1-i))
		}
		slices.Reverse(parts)
		pages = append(pages, parts...)
		return numbers
	}
	var dir, lists buf
	dir.u32(uint32(len(streams)))
	for _, s := range streams {
		dir.u32(uint32(len(s)))
	}
	for _, s := range streams {
		lists.u32(add(s)...)
	}
	dir = append(dir, lists...)
	var list, at buf
	list.u32(add(dir)...)
	at.u32(add(list)...)
	var head buf
	head = append(head, "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"...)
	head.u32(uint32(page), 1, uint32(len(pages)), uint32(len(dir)), 0)
	head = append(head, at...)
	copy(pages[0], head)
	return bytes.Join(pages, nil)
}

// madeModule is one module: symbols after the signature, and subsections of lines.
type madeModule struct {
	name           string
	symbols, lines []byte
	oldLines       []byte
	// contributions are offset and size in section 1.
	contributions [][2]uint32
}

// made is a PDB to be.
type made struct {
	page                 int
	machine              uint16
	modules              []madeModule
	publics              [][2]any // offset in section 1, name
	frames               []byte
	names                []string
	unsorted             bool // section contributions in reverse order
	toSource, fromSource [][2]uint32
	textSize             uint32            // of the code's section, at least 0x8000
	named                map[string]string // streams by name
	types                [][]byte          // records of types, from number 0x1000 on
	typeIndex            bool              // a table that leads to the first of them
}

func (m *made) bytes() []byte {
	const infoAt, typesAt, dbiAt, namesAt, sectionsAt, framesAt, publicsAt, recordsAt, toAt, fromAt, firstModule = 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12
	streams := make([][]byte, firstModule)
	var info buf
	info.u32(20000404, 1, 3).u32(0x11223344).u16(0x5566, 0x7788).u8(1, 2, 3, 4, 5, 6, 7, 8)
	texts, numbers := buf("/names\x00"), *new(buf).u32(0, namesAt)
	for i, name := range slices.Sorted(maps.Keys(m.named)) {
		numbers.u32(uint32(len(texts)), uint32(firstModule+len(m.modules)+i))
		texts.text(name)
	}
	n := uint32(1 + len(m.named))
	info.u32(uint32(len(texts)))
	info = append(info, texts...)
	info.u32(n, n, 1, 1<<n-1, 0)
	info = append(info, numbers...)
	info.u32(20140508)
	streams[infoAt] = info

	var text, names buf
	text.text("")
	for _, n := range m.names {
		text.text(n)
	}
	names.u32(0xeffeeffe, 1, uint32(len(text)))
	streams[namesAt] = append(names, text...)

	var sections buf
	for _, s := range []struct{ rva, flags uint32 }{{0x1000, 0x60000020}, {0x9000, 0x40000040}} {
		sections = append(sections, ".text\x00\x00\x00"...)
		sections.u32(max(0x8000, m.textSize), s.rva, 0x8000, 0x400, 0, 0, 0, s.flags)
	}
	streams[sectionsAt] = sections
	streams[framesAt] = m.frames

	var mods, contribs buf
	contribs.u32(0xeffe0000 + 19970605)
	var entries [][]byte
	for i, mod := range m.modules {
		var sym buf
		sym.u32(4)
		sym = append(sym, mod.symbols...)
		size := len(sym)
		sym = append(append(sym, mod.oldLines...), mod.lines...)
		streams = append(streams, sym)
		mods.u32(0)
		mods = append(mods, make([]byte, 28)...)
		mods.u16(0, uint16(firstModule+i)).u32(uint32(size), uint32(len(mod.oldLines)), uint32(len(mod.lines))).u16(0, 0).u32(0, 0, 0)
		mods.text(mod.name).text(mod.name).pad(4)
		for _, c := range mod.contributions {
			var e buf
			e.u16(1, 0).u32(c[0], c[1], 0).u16(uint16(i), 0).u32(0, 0)
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b []byte) int {
		return int(binary.LittleEndian.Uint32(a[4:])) - int(binary.LittleEndian.Uint32(b[4:]))
	})
	if m.unsorted {
		slices.Reverse(entries)
	}
	contribs = append(contribs, bytes.Join(entries, nil)...)

	var table, records buf
	for _, p := range m.publics {
		table.u32(uint32(len(records)))
		records = append(records, record(0x110e, func(b *buf) { b.u32(2, uint32(p[0].(int))).u16(1).text(p[1].(string)) })...)
	}
	var head buf
	head.u32(0, uint32(len(table)), 0, 0, 0, 0, 0)
	streams[publicsAt], streams[recordsAt] = append(head, table...), records

	for _, name := range slices.Sorted(maps.Keys(m.named)) {
		streams = append(streams, []byte(m.named[name]))
	}
	if m.types != nil {
		records, index := bytes.Join(m.types, nil), uint32(0)
		var tpi buf
		if m.typeIndex {
			index = 8
		}
		tpi.u32(20040203, 56, 0x1000, uint32(0x1000+len(m.types)), uint32(len(records))).u16(uint16(len(streams)), 0xffff).u32(4, 0x3ffff, 0, 0, 0, index, 0, 0)
		streams[typesAt] = append(tpi, records...)
		streams = append(streams, *new(buf).u32(0x1000, 0))
	}
	debug := []uint16{0xffff, 0xffff, 0xffff, 0xffff, 0xffff, sectionsAt, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff}
	if m.frames != nil {
		debug[9] = framesAt
	}
	for i, o := range [][][2]uint32{m.toSource, m.fromSource} {
		var b buf
		for _, e := range o {
			b.u32(e[0], e[1])
		}
		if streams[toAt+i] = b; o != nil {
			debug[3+i] = uint16(toAt + i)
			debug[10] = sectionsAt
		}
	}
	var dbi buf
	dbi.u32(0xffffffff, 19990903, 2).u16(0xffff, 0, publicsAt, 0, recordsAt, 0)
	dbi.u32(uint32(len(mods)), uint32(len(contribs)), 0, 0, 0, 0, uint32(2*len(debug)), 0).u16(0, m.machine).u32(0)
	dbi = append(append(dbi, mods...), contribs...)
	dbi.u16(debug...)
	streams[dbiAt] = dbi
	page := m.page
	if page == 0 {
		page = 512
	}
	return msf(page, streams)
}

func (m *made) open(t testing.TB) *pdb.File {
	t.Helper()
	f, err := pdb.Open(input.FromBytes("made.pdb", m.bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// proc is a function's record and the end of its scope; at is where the record will be in the
// stream.
func proc(at int, kind uint16, off, size uint32, name string, inner ...[]byte) []byte {
	body := bytes.Join(inner, nil)
	make := func(end uint32) []byte {
		return record(kind, func(b *buf) { b.u32(0, end, 0, size, 0, 0, 0, off).u16(1).u8(0).text(name) })
	}
	head := make(0)
	head = make(uint32(at + len(head) + len(body)))
	return append(append(head, body...), record(6, func(*buf) {})...)
}

// lines is a subsection of lines of one file, whose entry is at 0 of the checksums; each is offset
// and line.
func lines(off, size uint32, list ...[2]uint32) []byte {
	var b buf
	b.u32(0xf2, uint32(12+12+8*len(list))).u32(off).u16(1, 0).u32(size)
	b.u32(0, uint32(len(list)), uint32(12+8*len(list)))
	for _, l := range list {
		b.u32(l[0], l[1]|0x80000000)
	}
	return b
}

// checksums is the subsection of files: names by their offsets.
func checksums(names ...uint32) []byte {
	var b buf
	b.u32(0xf4, uint32(8*len(names)))
	for _, n := range names {
		b.u32(n).u8(0, 0, 0, 0)
	}
	return b
}

func simple() *made {
	asm := madeModule{name: "startup.obj", contributions: [][2]uint32{{0x100, 0x40}},
		lines: append(checksums(1), lines(0x100, 0x40, [2]uint32{0, 10}, [2]uint32{8, 11}, [2]uint32{0x20, 14})...)}
	old := madeModule{name: "old.obj", contributions: [][2]uint32{{0x200, 0x80}}, oldLines: []byte("lines of another form..."),
		symbols: slices.Concat(
			proc(4, 0x100b, 0x200, 0x10, "\x05first"),
			record(0x1102, func(b *buf) { b.u32(0, 0, 0, 0x220).u16(1, 6).u8(0).text("adjusted") }),
			record(0x0206, func(b *buf) { b.u32(0, 0, 0, 0x230).u16(1, 6).u8(0).text("\x07counted") }))}
	first := proc(4, 0x1110, 0, 0x40, "hot")
	hot := madeModule{name: "hot.obj", contributions: [][2]uint32{{0, 0x40}, {0x300, 0x20}},
		symbols: slices.Concat(first, proc(4+len(first), 0x1110, 0, 0x40, "same code"),
			record(0x1132, func(b *buf) { b.u32(0, 0, 0x20, 0, 0x300, 0).u16(1, 1) }), record(6, func(*buf) {})),
		lines: slices.Concat(checksums(1), lines(0, 0x40, [2]uint32{0, 1}, [2]uint32{4, 2}), lines(0x300, 0x20, [2]uint32{0, 7}, [2]uint32{0x12, 0xfeefee}, [2]uint32{0x14, 8}, [2]uint32{0x16, 0xf00f00}))}
	linker := madeModule{name: "* Linker *", contributions: [][2]uint32{{0x400, 0x10}},
		symbols: record(0x112c, func(b *buf) { b.u16(0, 5).u32(0x400, 0).u16(1, 1) })}
	return &made{machine: 0x8664, names: []string{"a.asm"}, modules: []madeModule{asm, old, hot, linker},
		publics: [][2]any{{0, "hot"}, {0x100, "start"}, {0x120, "start2"}, {0x200, "first"}, {0x410, "behind"}}}
}

// TestRecords asks for what fixtures do not have: assembler code with lines and no functions, names
// with their length before them, thunks, parts of functions that were put elsewhere, and code
// without a name.
func TestRecords(t *testing.T) {
	for _, page := range []int{512, 4096, 32768} {
		for _, unsorted := range []bool{false, true} {
			m := simple()
			m.page, m.unsorted = page, unsorted
			f := m.open(t)
			for _, c := range []struct {
				rva  uint64
				want string
			}{
				{0x1000, "hot 1000+40 a.asm:1"},
				{0x1024, "hot 1000+40 a.asm:2"},
				{0x1310, "hot 1300+20 a.asm:7"}, // its cold part
				{0x1312, "hot 1300+20 a.asm:7"}, // a debugger's mark, not a line
				{0x1315, "hot 1300+20 a.asm:8"},
				{0x1318, "hot 1300+20 a.asm:8"},
				{0x1100, "start 1100+0 a.asm:10 public"},
				{0x1109, "start 1100+0 a.asm:11 public"},
				{0x1125, "start2 1120+0 a.asm:14 public"},
				{0x1208, "first 1200+10 :0"},
				{0x1221, "adjusted 1220+6 :0 public"},
				{0x1233, "counted 1230+6 :0 public"},
				{0x1402, "hot 1400+5 :0 public"}, // an incremental link's jump to it
				{0x1408, "none"},                 // the name before it is in another contribution
				{0x1150, "start2 1120+0 :0 public"},
				{0xa000, "none"},
				{0x0, "none"},
			} {
				s, ans, err := f.Lookup(c.rva)
				have := "none"
				if ans == symbol.Yes {
					have = fmt.Sprintf("%s %x+%x %s:%d", s.Name, s.Start, s.Size, s.File, s.Line)
					if s.Public {
						have += " public"
					}
				}
				if have != c.want || err != nil {
					t.Errorf("page %d, unsorted %v: %x: %s (%v), want %s", page, unsorted, c.rva, have, err, c.want)
				}
			}
			var ranges []symbol.Range
			f.Each(func(fn symbol.Function) error {
				if fn.Name == "hot" {
					ranges = fn.Ranges
				}
				return nil
			})
			if want := []symbol.Range{{Start: 0x1000, Size: 0x40}, {Start: 0x1300, Size: 0x20}}; !slices.Equal(ranges, want) {
				t.Errorf("ranges %x, want %x", ranges, want)
			}
			if w := strings.Join(f.Warnings(), "\n"); !strings.Contains(w, "old.obj: its lines are in the form before Visual Studio 2005") {
				t.Errorf("warnings %q", w)
			}
			if f.DebugID != "11223344556677880102030405060708"+"2" { // the age of the linker's stream
				t.Errorf("debug id %s", f.DebugID)
			}
		}
	}
}

// TestScopes: records inside of a function that are of no use here, and such as newer compilers
// write, cost neither its lines nor the calls inlined into it.
func TestScopes(t *testing.T) {
	const heapAllocSite, inlineSite2, inlineEnd, block, end, thunk, local = 0x115e, 0x115d, 0x114e, 0x1103, 6, 0x1102, 0x113e
	notes := []byte{3, 4, 4, 8} // from byte 4 on, 8 bytes
	site := record(inlineSite2, func(b *buf) { b.u32(0, 0, 0x1000, 7).u8(notes...).pad(4) })
	m := &made{machine: 0x8664, names: []string{"a.cc"}, publics: [][2]any{{0, "f"}}, modules: []madeModule{{
		name: "a.obj", contributions: [][2]uint32{{0, 0x40}},
		symbols: slices.Concat(
			record(0x1167, func(b *buf) { b.u32(0, 0).text("of no kind that is known") }),
			proc(4+len(record(0x1167, func(b *buf) { b.u32(0, 0).text("of no kind that is known") })), 0x1110, 0, 0x40, "f",
				record(heapAllocSite, func(b *buf) { b.u32(0x10).u16(1, 5).u32(0x74) }),
				record(block, func(b *buf) { b.u32(0, 0, 0x10, 0).u16(1).text("") }),
				record(thunk, func(b *buf) { b.u32(0, 0, 0, 0x20).u16(1, 6).u8(0).text("in a block") }), record(end, func(*buf) {}),
				record(local, func(b *buf) { b.u32(0x74).u16(0).text("x") }),
				site, record(heapAllocSite, func(b *buf) { b.u32(6).u16(1, 5).u32(0x74) }), record(inlineEnd, func(*buf) {}),
				record(end, func(*buf) {}))),
		lines: slices.Concat(checksums(1), lines(0, 0x40, [2]uint32{0, 1}, [2]uint32{4, 2}, [2]uint32{0xc, 3})),
	}}}
	f := m.open(t)
	for rva, want := range map[uint64]string{0x1000: "f 1, 0 inlined", 0x1006: "f 2, 1 inlined", 0x100c: "f 3, 0 inlined", 0x103f: "f 3, 0 inlined"} {
		s, _, err := f.Lookup(rva)
		if have := fmt.Sprintf("%s %d, %d inlined", s.Name, s.Line, len(s.Inlines)); have != want || err != nil {
			t.Errorf("%x: %s (%v), want %s", rva, have, err, want)
		}
	}
	if w := f.Warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
}

// TestMovedCode: in an image whose code was moved after it was linked, addresses are those of the
// image.
func TestMovedCode(t *testing.T) {
	m := simple()
	// "hot" (0x1000) is at 0x2000 now, in two parts with eight bytes put in between; what was at
	// 0x1100 is at 0x1000.
	m.toSource = [][2]uint32{{0x1000, 0x1100}, {0x1040, 0}, {0x2000, 0x1000}, {0x2010, 0}, {0x2018, 0x1010}, {0x2048, 0}}
	m.fromSource = [][2]uint32{{0x1000, 0x2000}, {0x1010, 0x2018}, {0x1040, 0}, {0x1100, 0x1000}, {0x1140, 0}}
	f := m.open(t)
	for _, c := range []struct {
		rva  uint64
		want string
	}{
		{0x2000, "hot 2000+48 a.asm:1"}, {0x2018, "hot 2000+48 a.asm:2"}, {0x2014, "hot 2000+48 a.asm:2"}, {0x1004, "start 1000+0 a.asm:10"},
		{0x2050, "none"}, {0x1300, "none"},
	} {
		have := "none"
		if s, ans, _ := f.Lookup(c.rva); ans == symbol.Yes {
			have = fmt.Sprintf("%s %x+%x %s:%d", s.Name, s.Start, s.Size, s.File, s.Line)
		}
		if have != c.want {
			t.Errorf("%x: %s, want %s", c.rva, have, c.want)
		}
	}
}

// TestNestedFrameData: of entries in each other the innermost counts, and after it the one around;
// of two for one range the first.
func TestNestedFrameData(t *testing.T) {
	var frames buf
	add := func(start, size, saved, flags uint32) {
		frames.u32(start, size, 0, saved, 0, 1).u16(0, uint16(saved)).u32(flags)
	}
	add(0x1000, 0x40, 0, 4)
	add(0x1001, 0x3e, 4, 0)
	add(0x1003, 0x20, 8, 0)
	add(0x1080, 0x10, 12, 4)
	add(0x1080, 0x10, 16, 4)
	m := simple()
	m.machine, m.frames, m.names = 0x14c, frames, []string{"$eip $esp ^ ="}
	f := m.open(t)
	for _, c := range []struct {
		rva  uint64
		want int
	}{{0xfff, -1}, {0x1000, 0}, {0x1002, 4}, {0x1010, 8}, {0x1030, 4}, {0x103f, 0}, {0x1040, -1}, {0x1085, 12}, {0x1090, -1}} {
		d, ans, err := f.FrameData(c.rva)
		have := -1
		if ans == symbol.Yes {
			have = int(d.SavedRegs)
		}
		if have != c.want || err != nil || ans == symbol.Yes && d.Program != "$eip $esp ^ =" {
			t.Errorf("%x: %d %+v (%v), want %d", c.rva, have, d, err, c.want)
		}
	}
	n := 0
	f.EachFrameData(func(unwind.FrameData) error { n++; return nil })
	if n != 4 {
		t.Errorf("%d entries, want 4", n)
	}
}

// TestHostile: claims that would cost without end are refused or bounded.
func TestHostile(t *testing.T) {
	shared := msf(512, [][]byte{nil, make([]byte, 600), nil, nil})
	// A stream of more pages than the file has.
	at := bytes.Index(shared, binary.LittleEndian.AppendUint32(nil, 600))
	binary.LittleEndian.PutUint32(shared[at:], 512*600)
	if _, err := pdb.Open(input.FromBytes("x", shared)); err == nil || !strings.Contains(err.Error(), "no more pages") {
		t.Errorf("%v", err)
	}
	// Many inlined calls that all cover the whole function in many pieces.
	var pieces []byte
	for range 2000 {
		pieces = append(pieces, 12, 1, 2) // a byte long, two bytes on
	}
	site := func(notes []byte) []byte {
		return record(0x114d, func(b *buf) { b.u32(0, 0, 0x1000); *b = append(*b, notes...) })
	}
	inner := [][]byte{site(pieces)}
	for range 20000 {
		inner = append(inner, site([]byte{12, 0x9f, 0xff, 0}))
	}
	m := simple()
	m.modules[2].symbols = proc(4, 0x1110, 0, 0x7000, "hot", inner...)
	m.modules[2].contributions = [][2]uint32{{0, 0x7000}}
	f := m.open(t)
	if _, ans, err := f.Lookup(0x1010); ans != symbol.Yes || err != nil {
		t.Errorf("%v %v", ans, err)
	}
	if w := strings.Join(f.Warnings(), "\n"); !strings.Contains(w, "inlined calls inside") && !strings.Contains(w, "scopes no deeper") {
		t.Errorf("warnings %q", w)
	}
	// Calls next to each other that all cover the whole function, which has many lines.
	inner = nil
	for range 5000 {
		inner = append(inner, site([]byte{12, 0xc0, 0, 0x70, 0, 0}), record(0x114e, func(*buf) {}))
	}
	var many [][2]uint32
	for i := range uint32(5000) {
		many = append(many, [2]uint32{i * 4, i})
	}
	m.modules[2].symbols = proc(4, 0x1110, 0, 0x7000, "hot", inner...)
	m.modules[2].lines = append(checksums(1), lines(0, 0x7000, many...)...)
	f = m.open(t)
	records := 0
	err := f.Each(func(fn symbol.Function) error {
		for _, c := range fn.Inlines {
			records += len(c.Ranges)
		}
		return nil
	})
	if w := strings.Join(f.Warnings(), "\n"); err != nil || records == 0 || records > 500000 || !strings.Contains(w, "over each other") {
		t.Errorf("%d records, warnings %q (%v)", records, w, err)
	}
	// Functions of 4 GB in an image whose code was moved, and entries of frame data, all over all
	// of it.
	var to, from [][2]uint32
	var frames buf
	for i := range uint32(4000) {
		to, from = append(to, [2]uint32{0x1000 + i*8, 0x1000 + i*8}), append(from, [2]uint32{0x1000 + i*8, 0x1000 + i*8})
		frames.u32(0x1000+i, 0xffffffff, 0, 0, 0, 0).u16(0, 0).u32(0)
	}
	inner = nil
	for i := range 4000 {
		inner = append(inner, proc(4+i*48, 0x1110, uint32(i), 0xffffffff, "f"))
	}
	m = simple()
	m.machine, m.frames, m.toSource, m.fromSource = 0x14c, frames, to, from
	m.modules[2].symbols = bytes.Join(inner, nil)
	src := input.FromBytes("made.pdb", m.bytes())
	src.Budget = &input.Budget{}
	src.Budget.Draw(input.Work, src.Budget.Left(input.Work)-4<<20)
	if f, err = pdb.Open(src); err != nil {
		t.Fatal(err)
	}
	if s, ans, err := f.Lookup(0x1010); ans != symbol.Yes || err != nil || s.Name != "f" {
		t.Errorf("%+v, %v, %v", s, ans, err)
	}
	left := src.Budget.Left(input.Work)
	if f.Lookup(0x1010); left-src.Budget.Left(input.Work) > left/100 {
		t.Errorf("a second lookup took %d steps", left-src.Budget.Left(input.Work))
	}
	var over *input.BudgetError
	if err := f.Each(func(symbol.Function) error { return nil }); !errors.As(err, &over) {
		t.Errorf("functions: %v", err)
	}
	if err := f.EachFrameData(func(unwind.FrameData) error { return nil }); !errors.As(err, &over) {
		t.Errorf("frame data: %v", err)
	}
}

// Inlined calls that would take more memory than is left are left out, and what they are in is named.
func TestInlinesWithinBudget(t *testing.T) {
	call := record(0x114d, func(b *buf) { b.u32(0, 0, 0x1000); *b = append(*b, 12, 0x40, 0, 0) })
	m := simple()
	m.modules[2].symbols = proc(4, 0x1110, 0, 0x7000, "hot", call, record(0x114e, func(*buf) {}))
	m.modules[2].contributions = [][2]uint32{{0, 0x7000}}
	for _, left := range []int64{1 << 20, 1 << 10} {
		src := input.FromBytes("made.pdb", m.bytes())
		src.Budget = &input.Budget{}
		src.Budget.Draw(input.Memory, src.Budget.Left(input.Memory)-left)
		f, err := pdb.Open(src)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if s, ans, err := f.Lookup(0x1010); ans != symbol.Yes || err != nil || s.Name != "hot" || (len(s.Inlines) == 1) != (left == 1<<20) {
				t.Errorf("with %d bytes left: %+v, %v, %v", left, s, ans, err)
			}
		}
		said := strings.Contains(strings.Join(f.Warnings(), "\n"), "inlined calls that are left out")
		const index = 3 * 64 // bytes of memory: of three entries
		if said != (left < 1<<20) || src.Budget.Left(input.Memory) < left-index {
			t.Errorf("with %d bytes left: warnings %q, then %d are left", left, f.Warnings(), src.Budget.Left(input.Memory))
		}
	}
}

// TestCallsBesideSeparated: a function whose cold part the linker moved away still knows by which of
// its lines it calls what is inlined.
func TestCallsBesideSeparated(t *testing.T) {
	notes := []byte{3, 4, 4, 8} // from byte 4 on, 8 bytes
	m := &made{machine: 0x8664, names: []string{"a.cc"}, publics: [][2]any{{0, "f"}}, modules: []madeModule{{
		name: "a.obj", contributions: [][2]uint32{{0, 0x40}, {0x300, 0x20}},
		symbols: slices.Concat(
			proc(4, 0x1110, 0, 0x40, "f", record(0x115d, func(b *buf) { b.u32(0, 0, 0x1000, 7).u8(notes...).pad(4) }), record(0x114e, func(*buf) {}),
				record(6, func(*buf) {})),
			record(0x1132, func(b *buf) { b.u32(0, 0, 0x20, 0, 0x300, 0).u16(1, 1) }), record(6, func(*buf) {})),
		lines: slices.Concat(checksums(1), lines(0, 0x40, [2]uint32{0, 1}, [2]uint32{4, 2}, [2]uint32{0xc, 3}), lines(0x300, 0x20, [2]uint32{0, 9})),
	}}}
	var said []string
	m.open(t).Each(func(fn symbol.Function) error {
		for _, c := range fn.Inlines {
			said = append(said, fmt.Sprintf("%s:%d calls at %x", c.CallFile, c.CallLine, c.Ranges))
		}
		return nil
	})
	if want := []string{"a.cc:2 calls at [{1004 8}]"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// TestInlinedInSeparated: a call that was inlined into the part of a function that the linker moved away
// has its lines there.
func TestInlinedInSeparated(t *testing.T) {
	notes := []byte{12, 8, 0x83, 0} // 8 bytes from byte 0x300 on
	origins := *new(buf).u32(0xf6, 16, 0, 0x1000, 0, 50)
	m := &made{machine: 0x8664, names: []string{"a.cc"}, modules: []madeModule{{
		name: "a.obj", contributions: [][2]uint32{{0, 0x40}, {0x300, 0x20}},
		symbols: slices.Concat(
			proc(4, 0x1110, 0, 0x40, "f", record(0x114d, func(b *buf) { b.u32(0, 0, 0x1000).u8(notes...).pad(4) }), record(0x114e, func(*buf) {})),
			record(0x1132, func(b *buf) { b.u32(0, 0, 0x20, 0, 0x300, 0).u16(1, 1) }), record(6, func(*buf) {})),
		lines: slices.Concat(checksums(1), origins, lines(0, 0x40, [2]uint32{0, 1}), lines(0x300, 0x20, [2]uint32{0, 9})),
	}}}
	var said []string
	f := m.open(t)
	f.Each(func(fn symbol.Function) error {
		for _, l := range fn.Lines {
			said = append(said, fmt.Sprintf("%x+%x:%d", l.Start, l.Size, l.Line))
		}
		for _, c := range fn.Inlines {
			said = append(said, fmt.Sprintf("line %d calls at %x", c.CallLine, c.Ranges))
		}
		return nil
	})
	if want := []string{"1000+40:1", "1300+8:50", "1308+18:9", "line 9 calls at [{1300 8}]"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if s, _, err := f.Lookup(0x1304); err != nil || s.Line != 9 || len(s.Inlines) != 1 || s.Inlines[0].Line != 50 {
		t.Errorf("%+v, %v", s, err)
	}
}
