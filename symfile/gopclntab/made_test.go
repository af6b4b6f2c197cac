package gopclntab

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// made is a program with two functions, built without the reader's layouts:
//
//	main.outer  0x1000 to 0x1040, in which line 7 has the inlined main.inner, line 21
//	main.last   0x1040 to 0x1080
//
// outer moves sp by 24 from its fourth byte on.
type made struct {
	magic   uint32
	release int // of Go: 9, 13, 16, 18, 20, 26
	word    int
	order   order
	parts   []uint64 // the sections of the text, if there are several
	// words are the pointers, if they are 0 in the file.
	words relocated
}

// relocated are words that a loader computes, by their addresses.
type relocated map[uint64]uint64

func (r relocated) At(address uint64) (value uint64, ok bool, err error) {
	value, ok = r[address]
	return value, ok, nil
}

func (r relocated) Each(fn func(at, value uint64) error) error {
	for at, value := range r {
		if err := fn(at, value); err != nil {
			return err
		}
	}
	return nil
}

// order reads and writes numbers.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

const (
	madeTable  = 0x4000
	madeModule = 0x8000
	madeTree   = 0x9000
	madeParts  = 0xa000
)

// bytes makes the table.
func (m made) bytes() []byte {
	var b []byte
	u32 := func(v uint64) { b = m.order.AppendUint32(b, uint32(v)) }
	ptr := func(v uint64) {
		if m.word == 4 {
			u32(v)
		} else {
			b = m.order.AppendUint64(b, v)
		}
	}
	// addr is a word that the loader computes, if there are any.
	addr := func(v uint64) {
		if m.words != nil {
			m.words[madeTable+uint64(len(b))] = v
			v = 0
		}
		ptr(v)
	}
	// Strings and pc-value tables, at fixed offsets from where they begin.
	names := []byte("\x00main.outer\x00main.inner\x00main.last\x00")
	const outer, inner, last = 1, 12, 23
	files := []byte("/src/a.go\x00/src/b.go\x00")
	tables := []byte{0,
		2, 4, 48, 60, 0, // 1: sp: 0 for 4 bytes, 24 for 60
		2, 64, 0, // 6: file: 0
		16, 8, 28, 8, 29, 48, 0, // 9: lines 7, 21, 6
		1, 8, 2, 8, 1, 48, 0, // 16: calls -1, 0, -1 (see below: the first value counts from -1)
		4, 64, 0, // 23: file: 1
	}
	tables[16] = 0 // a first change of 0 does not end a table
	if m.release < 16 {
		tables[6], tables[23] = 4, 6 // files count from 1
	}
	head := func(offsets ...int) {
		b = m.order.AppendUint32(nil, m.magic)
		quantum := byte(1)
		b = append(b, 0, 0, quantum, byte(m.word))
		ptr(2)
		if m.release < 16 {
			return
		}
		ptr(2)
		switch m.release {
		case 18, 20:
			addr(0x1000)
		case 26:
			ptr(0)
		}
		for _, o := range offsets {
			ptr(uint64(o))
		}
	}
	// record makes a function's record, at an offset of the table.
	record := func(entry uint64, name, file, line, inline uint64, tree bool) {
		if m.release >= 18 {
			u32(entry - 0x1000)
		} else {
			addr(entry)
		}
		u32(name)
		u32(0)
		u32(0)
		u32(1 + m.tablesAt())
		u32(file + m.tablesAt())
		u32(line + m.tablesAt())
		u32(3)
		if m.release >= 16 {
			u32(0)
		}
		if m.release >= 20 {
			u32(1)
		}
		n, place := byte(4), 2
		switch m.release {
		case 9:
			n, place = 3, 1
			u32(uint64(n))
		case 13:
			n = 5
			fallthrough
		default:
			b = append(b, 0, 0, 0, n)
		}
		for i := range 3 {
			if i == place && tree {
				u32(inline + m.tablesAt())
			} else {
				u32(0)
			}
		}
		for m.release < 18 && len(b)%m.word != 0 {
			b = append(b, 0)
		}
		for i := byte(0); i < n; i++ {
			switch here := i == n-1 && tree; {
			case m.release >= 18 && here:
				u32(0x100)
			case m.release >= 18:
				u32(0xffffffff)
			case here:
				addr(madeTree)
			default:
				ptr(0)
			}
		}
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
	}
	// field is an entry of functab.
	field := func(v uint64) {
		if m.release >= 18 {
			u32(v)
		} else {
			ptr(v)
		}
	}
	text, start := uint64(0x1000), addr
	if m.release >= 18 {
		text, start = 0, field
	}
	const strings = 0x400 // where what is not functab begins
	put := func(at int, p []byte) {
		for len(b) < at {
			b = append(b, 0)
		}
		b = append(b, p...)
	}
	base := 0
	if m.release < 16 {
		head()
	} else {
		head(strings, strings+0x100, strings+0x200, strings+0x300, 0x80)
		put(0x80, nil)
		base = 0x80
	}
	start(text)
	field(0x100)
	start(text + 0x40)
	field(0x200)
	start(text + 0x80)
	if m.release < 16 {
		u32(strings + 0x200)
	}
	nameAt := uint64(0)
	if m.release < 16 {
		nameAt = strings
	}
	put(base+0x100, nil)
	record(0x1000, nameAt+outer, 6, 9, 16, true)
	put(base+0x200, nil)
	record(0x1040, nameAt+last, 23, 9, 0, false)
	put(strings, names)
	put(strings+0x100, m.order.AppendUint32(m.order.AppendUint32(nil, 0), 10)) // cutab
	if m.release < 16 {
		put(strings+0x200, nil)
		u32(3)
		u32(strings + 0x240)
		u32(strings + 0x24a)
		put(strings+0x240, files)
	} else {
		put(strings+0x200, files)
	}
	put(strings+0x300, tables)
	return b
}

// tablesAt is what offsets of pc-value tables count from, in the whole table or in pctab.
func (m made) tablesAt() uint64 {
	if m.release < 16 {
		return 0x700
	}
	return 0
}

// open opens the table in its program.
func (m made) open(table []byte) (*Table, error) {
	nameAt := uint64(12)
	if m.release < 16 {
		nameAt += 0x400
	}
	var tree []byte
	u32 := func(v uint64) { tree = m.order.AppendUint32(tree, uint32(v)) }
	file := uint64(0)
	if m.release < 16 {
		file = 1
	}
	switch {
	case m.release == 9:
		u32(0xffffffff)
		u32(file)
		u32(7)
		u32(nameAt)
	case m.release < 20:
		tree = append(tree, 0xff, 0xff, 0, 0)
		u32(file)
		u32(7)
		u32(nameAt)
		u32(0)
	default:
		u32(0)
		u32(nameAt)
		u32(0)
		u32(20)
	}
	words := make([]uint64, 45)
	words[0], words[1], words[16], words[22] = madeTable, madeTable+0x400, madeTable+0x80, 0x1000
	gofunc := 40
	if m.release == 18 {
		gofunc = 38
	}
	words[78-gofunc], words[gofunc] = 0x5555, madeTree-0x100
	parts := gofunc + 1
	if m.release == 26 {
		parts++
	}
	words[parts], words[parts+1] = madeParts, 1
	if m.parts != nil {
		words[parts+1] = uint64(len(m.parts) / 3)
	}
	memory := map[uint64][]byte{madeTable: table, madeTree: tree}
	put := func(at uint64, words ...uint64) {
		for _, w := range words {
			if m.words != nil && w >= 0x1000 && w != 0x5555 { // an address
				m.words[at+uint64(len(memory[at]))] = w
				w = 0
			}
			if m.word == 4 {
				memory[at] = m.order.AppendUint32(memory[at], uint32(w))
			} else {
				memory[at] = m.order.AppendUint64(memory[at], w)
			}
		}
	}
	put(madeModule, append([]uint64{12345678}, words...)...) // moduledata is somewhere in the data
	put(madeParts, m.parts...)
	arch := cpu.AMD64
	if m.word == 4 {
		arch = cpu.ARM
	}
	cfg := Config{Arch: arch, File: "made", Code: [][2]uint64{{0x1000, 0x2000}}, At: readMemory(memory),
		Data: []Part{{madeModule, input.FromBytes("made", memory[madeModule])}}}
	if m.words != nil {
		cfg.Relocated = m.words
	}
	return Open(input.FromBytes("made", table), madeTable, cfg)
}

// readMemory returns a reader of some parts of a program. Its code is 0.
func readMemory(parts map[uint64][]byte) func(address uint64, n int64) ([]byte, error) {
	return func(address uint64, n int64) ([]byte, error) {
		for at, p := range parts {
			if address-at < uint64(len(p)) {
				return input.FromBytes("made", p).Bytes(int64(address-at), n)
			}
		}
		if address < madeTree {
			return make([]byte, n), nil
		}
		return nil, io.ErrUnexpectedEOF
	}
}

// divided is a text with main.last in a second part, at 0x1100.
var divided = []uint64{0, 0x40, 0x1000, 0x40, 0x80, 0x1100}

// layouts are all kinds of tables.
func layouts() (out []made) {
	for _, word := range []int{4, 8} {
		for _, order := range []order{binary.LittleEndian, binary.BigEndian} {
			for _, v := range []struct {
				magic   uint32
				release int
			}{{0xfffffffb, 9}, {0xfffffffb, 13}, {0xfffffffa, 16}, {0xfffffff0, 18}, {0xfffffff1, 20}, {0xfffffff1, 26}} {
				out = append(out, made{magic: v.magic, release: v.release, word: word, order: order},
					made{magic: v.magic, release: v.release, word: word, order: order, words: relocated{}})
				if v.release >= 18 {
					out = append(out, made{magic: v.magic, release: v.release, word: word, order: order, parts: divided},
						made{magic: v.magic, release: v.release, word: word, order: order, parts: divided, words: relocated{}})
				}
			}
		}
	}
	return out
}

// TestLayouts reads a table of each layout, byte order and size of pointers.
func TestLayouts(t *testing.T) {
	for _, m := range layouts() {
		t.Run(fmt.Sprintf("%d/%d/%v/divided=%v/relocated=%v", m.release, m.word, m.order, m.parts != nil, m.words != nil), func(t *testing.T) {
			last := uint64(0x1040)
			if m.parts != nil {
				last = 0x1100
			}
			tab, err := m.open(m.bytes())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				rva  uint64
				want string
			}{
				{0xfff, ""}, {last + 0x40, ""},
				{0x1000, "main.outer 0x1000+0x40 /src/a.go:7"},
				{0x100f, "main.outer 0x1000+0x40 /src/a.go:7; main.inner /src/a.go:21"},
				{0x1010, "main.outer 0x1000+0x40 /src/a.go:6"},
				{last + 8, fmt.Sprintf("main.last 0x%x+0x40 /src/b.go:21", last)},
			} {
				s, ans, err := tab.Lookup(c.rva)
				have := ""
				if ans == symbol.Yes {
					have = fmt.Sprintf("%s 0x%x+0x%x %s:%d", s.Name, s.Start, s.Size, s.File, s.Line)
					for _, i := range s.Inlines {
						have += fmt.Sprintf("; %s %s:%d", i.Name, i.File, i.Line)
					}
				}
				if have != c.want || err != nil {
					t.Errorf("0x%x: %q (%v), want %q", c.rva, have, err, c.want)
				}
			}
			all := ""
			tab.Each(func(f symbol.Function) error {
				all += fmt.Sprintf("%s %x", f.Name, f.Ranges)
				for _, l := range f.Lines {
					all += fmt.Sprintf(" %x-%x:%s:%d", l.Start, l.Start+l.Size, l.File, l.Line)
				}
				for _, i := range f.Inlines {
					all += fmt.Sprintf(" %s@%s:%d %x", i.Name, i.CallFile, i.CallLine, i.Ranges)
				}
				all += "\n"
				return nil
			})
			want := "main.outer [{1000 40}] 1000-1008:/src/a.go:7 1008-1010:/src/a.go:21 1010-1040:/src/a.go:6 main.inner@/src/a.go:7 [{1008 8}]\n" +
				fmt.Sprintf("main.last [{%x 40}] %x-%x:/src/b.go:7 %x-%x:/src/b.go:21 %x-%x:/src/b.go:6\n", last, last, last+8, last+8, last+16, last+16, last+64)
			if all != want || len(tab.Warnings()) > 0 {
				t.Errorf("%s%v\nwant\n%s", all, tab.Warnings(), want)
			}
			rules := map[uint64]string{0x1003: "cfa = $rsp + 8, ra = [cfa − 8]", 0x1004: "cfa = $rsp + 32, ra = [cfa − 8]"}
			if m.word == 4 {
				rules = map[uint64]string{0x1003: "cfa = $sp, ra = $lr (topmost frame only)", 0x1004: "cfa = $sp + 24, ra = [cfa − 24]"}
			}
			for rva, want := range rules {
				row, ok, err := tab.Rules().Row(rva)
				if have := row.Describe(tab.cfg.Arch); !ok || err != nil || have != want {
					t.Errorf("0x%x: %s (%v), want %s", rva, have, err, want)
				}
			}
			found := append([]byte("\xff\xff\xff\xff\xf1\xff\xff\xff some words before it   "), m.bytes()...)
			if at, err := Find(Part{0, input.FromBytes("made", found)}, m.order, m.word); err != nil || at != 32 {
				t.Errorf("found at %d (%v)", at, err)
			}
		})
	}
}

// TestDamagedSections: sections of the text that overlap are an error. More sections than functions are
// another thing.
func TestDamagedSections(t *testing.T) {
	m := made{magic: 0xfffffff1, release: 20, word: 8, order: binary.LittleEndian, parts: []uint64{0, 0x41, 0x1000, 0x40, 0x80, 0x1100}}
	if _, err := m.open(m.bytes()); err == nil || !strings.Contains(err.Error(), "sections of the text in ascending order") {
		t.Error(err)
	}
	m.parts = append(m.parts, 0, 0, 0)
	if tab, err := m.open(m.bytes()); err != nil || tab.module.sections != nil {
		t.Errorf("%v", err)
	}
}

// TestDamagedTables: whatever a table says, reading it ends, and it ends soon.
func TestDamagedTables(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, m := range layouts() {
		whole := m.bytes()
		for n := range 120 {
			b := append([]byte(nil), whole...)
			if n%4 == 0 {
				b = b[:random.Intn(len(b))]
			} else {
				for range 1 + n%5 {
					b[random.Intn(len(b))] = byte(random.Int())
				}
			}
			tab, err := m.open(b)
			if err != nil {
				continue
			}
			for rva := uint64(0xff0); rva < 0x1090; rva += 3 {
				tab.Lookup(rva)
				tab.Rules().Row(rva)
			}
			lines := 0
			tab.Each(func(f symbol.Function) error {
				lines += len(f.Lines)
				if len(f.Inlines) > 64 {
					t.Errorf("%d inlined calls", len(f.Inlines))
				}
				return nil
			})
			tab.Rules().Each(func(start, end uint64, row unwind.Row) error { return nil })
			if lines > 0x1000 {
				t.Errorf("%d lines in 0x1000 bytes of code", lines)
			}
		}
	}
}
