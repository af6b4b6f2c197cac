package macho

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// objectWith makes an object with one section of DWARF, its relocations, and symbols at 0x1000, 0x2000 …
func objectWith(order binary.AppendByteOrder, cputype uint32, section []byte, symbols int, relocs ...[2]uint32) *input.Source {
	wide := cputype&0x01000000 != 0
	var b []byte
	u32 := func(words ...uint32) {
		for _, w := range words {
			b = order.AppendUint32(b, w)
		}
	}
	word := func(v uint64) {
		if wide {
			b = order.AppendUint64(b, v)
		} else {
			u32(uint32(v))
		}
	}
	name := func(s string) { b = append(append(b, s...), make([]byte, 16-len(s))...) }
	head, segment := 28, 56+68
	if wide {
		head, segment = 32, 72+80
	}
	data := uint32(head + segment + 24)
	relocAt := data + uint32(len(section))
	symAt := relocAt + uint32(8*len(relocs))
	magic, command := uint32(magic32), uint32(cmdSegment)
	if wide {
		magic, command = magic64, cmdSegment64
	}
	u32(magic, cputype, 0, TypeObject, 2, uint32(segment+24), 0)
	if wide {
		u32(0)
	}
	u32(command, uint32(segment))
	name("")
	for _, v := range []uint64{0, 0x3000, uint64(data), uint64(len(section))} {
		word(v)
	}
	u32(7, 7, 1, 0)
	name("__debug_info")
	name("__DWARF")
	word(0x500)
	word(uint64(len(section)))
	u32(data, 0, relocAt, uint32(len(relocs)), 0x02000000, 0, 0)
	if wide {
		u32(0)
	}
	u32(cmdSymtab, 24, symAt, uint32(symbols), symAt, 0)
	b = append(b, section...)
	for _, r := range relocs {
		u32(r[0], r[1])
	}
	for i := range symbols {
		u32(0)
		b = append(b, 0x0f, 1)
		b = order.AppendUint16(b, 0)
		word(uint64(0x1000 * (i + 1)))
	}
	return input.FromBytes("a.o", b)
}

// TestRelocations: words with external symbols become addresses, differences too; all others have their
// value in place. What is outside is reported.
func TestRelocations(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	const amd64, arm64, x86, ppc = 0x1000007, 0x100000c, 7, 18
	// symbol, pc-relative, length, external, type
	little := func(symbol, relative, length, external, kind uint32) uint32 {
		return symbol | relative<<24 | length<<25 | external<<27 | kind<<28
	}
	big := func(symbol, relative, length, external, kind uint32) uint32 {
		return symbol<<8 | relative<<7 | length<<5 | external<<4 | kind
	}
	in := func(order binary.AppendByteOrder, words ...uint64) (b []byte) {
		for _, w := range words {
			b = order.AppendUint64(b, w)
		}
		return b
	}
	for name, c := range map[string]struct {
		order     binary.AppendByteOrder
		cpu       uint32
		section   []byte
		relocs    [][2]uint32
		want      []byte
		isWarning bool
	}{
		"of sections":       {le, amd64, in(le, 0x44), [][2]uint32{{0, little(1, 0, 3, 0, 0)}}, in(le, 0x44), false},
		"of symbols":        {le, amd64, in(le, 4, 8), [][2]uint32{{8, little(1, 0, 3, 1, 0)}, {0, little(0, 0, 3, 1, 0)}}, in(le, 0x1004, 0x2008), false},
		"32 bits":           {le, x86, in(le, 4), [][2]uint32{{0, little(1, 0, 2, 1, 0)}}, in(le, 0x2004), false},
		"a difference":      {le, arm64, in(le, 4), [][2]uint32{{0, little(0, 0, 3, 1, 1)}, {0, little(1, 0, 3, 1, 0)}}, in(le, 0x1004), false},
		"of amd64":          {le, amd64, in(le, 4), [][2]uint32{{0, little(0, 0, 3, 1, 5)}, {0, little(1, 0, 3, 1, 0)}}, in(le, 0x1004), false},
		"pc-relative":       {le, amd64, in(le, 4), [][2]uint32{{0, little(0, 1, 2, 1, 1)}}, in(le, 4), false},
		"scattered":         {le, x86, in(le, 4), [][2]uint32{{0x80000000, little(0, 0, 2, 1, 0)}}, in(le, 4), false},
		"highest first":     {be, ppc, in(be, 4<<32), [][2]uint32{{0, big(1, 0, 2, 1, 0)}}, in(be, 0x2004<<32), false},
		"outside":           {le, amd64, in(le, 4), [][2]uint32{{1, little(0, 0, 3, 1, 0)}}, in(le, 4), true},
		"without a symbol":  {le, amd64, in(le, 4), [][2]uint32{{0, little(7, 0, 3, 1, 0)}}, in(le, 4), true},
		"nothing to change": {le, amd64, in(le, 4), nil, in(le, 4), false},
	} {
		f, err := Open(objectWith(c.order, c.cpu, c.section, 2, c.relocs...))
		if err != nil {
			t.Fatal(name, err)
		}
		src, err := f.Data(f.Section("__debug_info"))
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := src.Bytes(0, src.Size); err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: % x, %v; want % x", name, got, err, c.want)
		}
		if is := len(f.Warnings()) > 0; is != c.isWarning {
			t.Errorf("%s: %q", name, f.Warnings())
		}
	}
}
