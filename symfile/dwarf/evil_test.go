package dwarf

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// bits writes little-endian bytes.
type bits []byte

func (b *bits) u(size int, v uint64) {
	for range size {
		*b = append(*b, byte(v))
		v >>= 8
	}
}

func (b *bits) leb(v uint64) { *b = putUint(*b, v) }

func (b *bits) text(s string) { *b = append(append(*b, s...), 0) }

// decl writes a declaration of .debug_abbrev: code, tag, children, and pairs of attribute and form.
func (b *bits) decl(code, tag uint64, children byte, pairs ...uint64) {
	b.leb(code)
	b.leb(tag)
	*b = append(*b, children)
	for _, p := range pairs {
		b.leb(p)
	}
	*b = append(*b, 0, 0)
}

// unit4 is a compilation unit of DWARF 4 around entries.
func unit4(abbrev uint64, entries []byte) []byte {
	var b bits
	b.u(4, uint64(len(entries)+7))
	b.u(2, 4)
	b.u(4, abbrev)
	b.u(1, 8)
	return append(b, entries...)
}

// evil are the declarations that the tests use. 1 is a unit with low and high, 2 a function with
// name, 3 a function that refers, 4 an inlined call with children, 5 a function with ranges. 6 is a
// lexical block, 7 a partial unit, 8 an import, 9 a unit with a line program, 10 a namespace that
// extends another.
func evil() bits {
	var b bits
	b.decl(1, 0x11, 1, 0x11, 1, 0x12, 7, 0x13, 0x0b)
	b.decl(2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7)
	b.decl(3, 0x2e, 0, 0x31, 0x10, 0x11, 1, 0x12, 7)
	b.decl(4, 0x1d, 1, 0x31, 0x10, 0x11, 1, 0x12, 7)
	b.decl(5, 0x2e, 0, 3, 8, 0x55, 0x17)
	b.decl(6, 0x0b, 1)
	b.decl(7, 0x3c, 1)
	b.decl(8, 0x3d, 0, 0x18, 0x10)
	b.decl(9, 0x11, 1, 0x11, 1, 0x12, 7, 0x10, 0x17)
	b.decl(10, 0x39, 1, 0x54, 0x10)
	b.leb(0)
	return b
}

// root begins a unit of C++ at 0x1000 with so much code.
func root(size uint64) bits {
	var b bits
	b.leb(1)
	b.u(8, 0x1000)
	b.u(8, size)
	b.u(1, 4)
	return b
}

func (b *bits) function(code uint64, ref, low, size uint64) {
	b.leb(code)
	b.u(4, ref)
	b.u(8, low)
	b.u(8, size)
}

// names are the names of all functions, in the time that is allowed.
func names(t *testing.T, m made, limit time.Duration) (list []string, d *Data) {
	t.Helper()
	start := time.Now()
	d, err := Open(m.sections(binary.LittleEndian), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Each(func(f symbol.Function) error {
		list = append(list, f.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		if _, _, err := d.Lookup(0x1001); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took > limit {
		t.Errorf("took %v", took)
	}
	return list, d
}

// TestCircles: entries that refer to each other in a circle end.
func TestCircles(t *testing.T) {
	b := root(0x100)
	const header = 11
	first := uint64(header + len(b))
	second := first + 21
	b.function(3, second, 0x1000, 0x10)
	b.function(3, first, 0x1010, 0x10)
	b.function(3, second+21, 0x1020, 0x10) // itself
	space := second + 2*21
	b.leb(10)
	b.u(4, space) // a namespace that extends itself
	b.function(2, 0, 0, 0)
	b = b[:len(b)-21]
	b.leb(2)
	b.text("inside")
	b.u(8, 0x1030)
	b.u(8, 0x10)
	b = append(b, 0, 0, 0)
	list, _ := names(t, made{".debug_info": unit4(0, b), ".debug_abbrev": evil()}, 5*time.Second)
	if want := "<name omitted> <name omitted> <name omitted> inside"; strings.Join(list, " ") != want {
		t.Errorf("%q, want %q", list, want)
	}
}

// TestImports: partial units that import each other, and themselves, are not followed.
func TestImports(t *testing.T) {
	var info []byte
	for i := range 100 {
		var b bits
		b.leb(7)
		for j := range 10 {
			b.leb(8)
			b.u(4, uint64((i+j)%100*63+11))
		}
		b.leb(0)
		info = append(info, unit4(0, b)...)
	}
	b := root(0x10)
	b.leb(2)
	b.text("here")
	b.u(8, 0x1000)
	b.u(8, 0x10)
	b = append(b, 0, 0)
	info = append(info, unit4(0, b)...)
	if list, d := names(t, made{".debug_info": info, ".debug_abbrev": evil()}, 5*time.Second); len(list) != 1 || len(d.Warnings()) > 0 {
		t.Errorf("%q, warnings %q", list, d.Warnings())
	}
}

// TestDeep: entries nested a hundred thousand deep are an error with the offset, and inlined calls
// beyond maxInlined are left out.
func TestDeep(t *testing.T) {
	b := root(0x100)
	b.leb(2)
	b.text("deep")
	b.u(8, 0x1000)
	b.u(8, 0x100)
	for range 5000 {
		b.function(4, 11, 0x1000, 0x100)
	}
	for range 100000 {
		b.leb(6)
	}
	list, d := names(t, made{".debug_info": unit4(0, b), ".debug_abbrev": evil()}, 10*time.Second)
	if len(list) != 1 || len(d.Warnings()) == 0 || !strings.Contains(d.Warnings()[0], "made: .debug_info at offset 0x") {
		t.Errorf("%q, warnings %q", list, d.Warnings())
	}
	s, _, err := d.Lookup(0x1001)
	if err != nil || len(s.Inlines) != maxInlined {
		t.Errorf("%d inlined calls, %v", len(s.Inlines), err)
	}
}

// TestShared: parts that many refer to are read as often as an honest file could ask for.
func TestShared(t *testing.T) {
	var ranges bits
	for i := range uint64(20000) {
		ranges.u(8, 0x1000+2*i)
		ranges.u(8, 0x1001+2*i)
	}
	ranges.u(16, 0)
	b := root(0x10000)
	for i := range 20000 {
		b.leb(5)
		b.text(fmt.Sprint(i % 10))
		b.u(4, uint64(i%100)*16)
	}
	b.leb(0)
	list, d := names(t, made{".debug_info": unit4(0, b), ".debug_abbrev": evil(), ".debug_ranges": ranges}, 20*time.Second)
	if len(list) == 0 || len(d.Warnings()) == 0 || !strings.Contains(d.Warnings()[0], "lists of ranges that do not overlap") {
		t.Errorf("%d functions, warnings %q", len(list), d.Warnings())
	}

	// One line program of a million rows for ten thousand units.
	var prog bits
	prog.u(2, 4)
	prog.u(4, 0)
	for _, v := range []uint64{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1} {
		prog.u(1, v)
	}
	prog[2] = byte(len(prog) - 6 + 2)
	prog = append(prog, 0, 0, 0, 9, 2)
	prog.u(8, 0x1000)
	for range 1000000 {
		prog = append(prog, 0x2f)
	}
	var line bits
	line.u(4, uint64(len(prog)))
	line = append(line, prog...)
	var info []byte
	for range 10000 {
		var b bits
		b.leb(9)
		b.u(8, 0x1000)
		b.u(8, 0x100000)
		b.u(4, 0)
		b.leb(2)
		b.text("f")
		b.u(8, 0x1000)
		b.u(8, 0x100000)
		b = append(b, 0, 0)
		info = append(info, unit4(0, b)...)
	}
	list, d = names(t, made{".debug_info": info, ".debug_abbrev": evil(), ".debug_line": line}, 20*time.Second)
	if len(list) != 1 || len(d.Warnings()) == 0 || !strings.Contains(d.Warnings()[0], ".debug_line at offset 0x0: expected line programs that do not overlap") {
		t.Errorf("%q, warnings %q", list, d.Warnings())
	}
}

// TestDamage: a warning names the file, the section and the offset of the damage, and the rest is
// read.
func TestDamage(t *testing.T) {
	good := root(0x20)
	good.leb(2)
	good.text("fine")
	good.u(8, 0x1000)
	good.u(8, 0x10)
	good = append(good, 0, 0)
	bad := root(0x20)
	for name, c := range map[string]struct {
		info []byte
		want string
	}{
		"version":      {append([]byte{4, 0, 0, 0, 9, 0, 0, 0}, unit4(0, good)...), "made: .debug_info at offset 0x0: expected a unit of DWARF 2 to 5, found version 9"},
		"length":       {append(unit4(0, good), 0xff, 0, 0, 0, 4, 0), "made: .debug_info at offset 0x35: expected a unit inside the section, found one of 0xff bytes"},
		"reserved":     {append(unit4(0, good), 0xf1, 0xff, 0xff, 0xff), "expected the length of a unit, found 0xfffffff1, which is reserved"},
		"abbreviation": {append(unit4(0, good), unit4(0, append(bad, 99))...), "made: .debug_info at offset 0x52: expected an abbreviation of the unit at 0x35, found code 99"},
		"abbrevs":      {append(unit4(0, good), unit4(9999, good)...), "made: .debug_abbrev at offset 0x270f: expected an offset inside the section"},
		"address size": {append(unit4(0, good), 8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 3, 0), "expected addresses of 4 or 8 bytes, found 3"},
	} {
		list, d := names(t, made{".debug_info": c.info, ".debug_abbrev": evil()}, 5*time.Second)
		if len(list) != 1 || list[0] != "fine" {
			t.Errorf("%s: %q", name, list)
		}
		if len(d.Warnings()) == 0 || !strings.Contains(d.Warnings()[0], c.want) {
			t.Errorf("%s: %q, want %q", name, d.Warnings(), c.want)
		}
	}
}
