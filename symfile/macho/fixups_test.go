package macho

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// fixupsFile is a file with a segment of two pages of data, and with chains of a format, which begin
// at starts.
func fixupsFile(base, segment uint64, format uint16, maxPointer uint32, data []byte, starts ...uint16) *File {
	le := binary.LittleEndian
	table := []byte{}
	table = le.AppendUint32(table, 0)
	table = le.AppendUint32(table, 28) // the table of segments follows the header
	table = append(table, make([]byte, 20)...)
	table = le.AppendUint32(table, 2)
	table = le.AppendUint32(table, 0)
	table = le.AppendUint32(table, 12)
	table = le.AppendUint32(table, 22)
	table = le.AppendUint16(table, 0x1000)
	table = le.AppendUint16(table, format)
	table = le.AppendUint64(table, segment-base)
	table = le.AppendUint32(table, maxPointer)
	table = le.AppendUint16(table, 2)
	for _, s := range starts {
		table = le.AppendUint16(table, s)
	}
	size := uint64(len(data))
	return &File{Src: input.FromBytes("made", append(data, table...)), Order: le, Class: 64, Base: base,
		Segments: []Segment{{Name: "__TEXT", Address: base}, {Name: "__DATA", Address: segment, Size: size, FileSize: size}},
		fixups:   part{uint32(size), uint32(len(table))}}
}

// TestFixups: in each format a pointer in the second page, one that is bound to a symbol after it, and
// one that is signed.
func TestFixups(t *testing.T) {
	const base, segment = 0x1_0000_0000, 0x1_0000_4000
	for _, c := range []struct {
		format uint16
		words  []uint64 // at 0x1010, 0x1018, 0x1020
		want   string
	}{
		{1, []uint64{1<<51 | 0xab<<43 | 0x1_0000_1230, 1<<62 | 1<<51 | 7, 1<<63 | 3<<49 | 0xbeef<<32 | 0x4560}, "ab00000100001230 0 100004560"},
		{2, []uint64{2<<51 | 0xab<<36 | 0x1_0000_1230, 1<<63 | 2<<51 | 7, 0x1_0000_4560}, "ab00000100001230 0 100004560"},
		{6, []uint64{2<<51 | 0xab<<36 | 0x1230, 1<<63 | 2<<51 | 7, 0x4560}, "ab00000100001230 0 100004560"},
		{7, []uint64{2<<51 | 0x1230, 1<<62 | 2<<51 | 7, 1<<63 | 0xbeef<<32 | 0x4560}, "100001230 0 100004560"},
		{9, []uint64{1<<51 | 0x1230, 1<<62 | 1<<51 | 7, 1<<63 | 0xbeef<<32 | 0x4560}, "100001230 0 100004560"},
		{10, []uint64{2<<51 | 0x1_0000_1230, 1<<62 | 2<<51 | 7, 1<<63 | 0xbeef<<32 | 0x4560}, "100001230 0 100004560"},
		{12, []uint64{1<<51 | 0x1230, 1<<62 | 1<<51 | 1<<23, 1<<63 | 0xbeef<<32 | 0x4560}, "100001230 0 100004560"},
	} {
		data := make([]byte, 0x1100)
		for i, w := range c.words {
			binary.LittleEndian.PutUint64(data[0x1010+8*i:], w)
		}
		x, err := fixupsFile(base, segment, c.format, 0, data, noChain, 0x10).Fixups()
		if err != nil {
			t.Fatal(err)
		}
		checkFixups(t, fmt.Sprint("format ", c.format), x, c.want, segment+0x1010, segment+0x1018, segment+0x1020)
		if _, ok, err := x.At(segment + 0x1028); ok || err != nil {
			t.Errorf("format %d: a pointer after the last one, %v", c.format, err)
		}
	}
}

// TestFixups32: addresses of 32 bits reach 124 bytes far, so that a page has several chains, in which
// numbers that are no pointers may be.
func TestFixups32(t *testing.T) {
	const base, segment = 0x4000, 0x8000
	le := binary.LittleEndian
	data := make([]byte, 0x2000)
	le.PutUint32(data[0x1010:], 2<<26|0x4123)
	le.PutUint32(data[0x1018:], 1<<31|3)
	le.PutUint32(data[0x1800:], 1<<26|(1<<26+0x10000)/2+7)
	le.PutUint32(data[0x1804:], 0x5000)
	x, err := fixupsFile(base, segment, 3, 0x10000, data, noChain, manyChains|2, 0x10, lastChain|0x800).Fixups()
	if err != nil {
		t.Fatal(err)
	}
	checkFixups(t, "several chains", x, "4123 0 7 5000", segment+0x1010, segment+0x1018, segment+0x1800, segment+0x1804)

	x, err = fixupsFile(base, segment, 3, 0x10000, data, noChain, manyChains|2, 0x10, 0x10, lastChain|0x10).Fixups()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Each(func(at, value uint64) error { return nil }); err == nil || !strings.Contains(err.Error(), "0x10 after 0x1c") {
		t.Errorf("chains that are one: %v", err)
	}
	// A start behind the page's end is no way back to its beginning.
	x, err = fixupsFile(base, segment, 3, 0x10000, data, noChain, manyChains|2, 0x10, 0x1800, lastChain|0x10).Fixups()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Each(func(at, value uint64) error { return nil }); err == nil || !strings.Contains(err.Error(), "0x10 after 0x1800") {
		t.Errorf("a chain beyond the page: %v", err)
	}
}

func checkFixups(t *testing.T, what string, x *Fixups, want string, at ...uint64) {
	t.Helper()
	var values, one []string
	err := x.Each(func(address, value uint64) error {
		if len(values) == len(at) || address != at[len(values)] {
			t.Errorf("%s: a pointer at 0x%x", what, address)
		}
		values = append(values, fmt.Sprintf("%x", value))
		return nil
	})
	for _, address := range at {
		v, ok, e := x.At(address)
		one = append(one, fmt.Sprintf("%x", v))
		if !ok || e != nil {
			t.Errorf("%s: nothing at 0x%x: %v", what, address, e)
		}
	}
	if err != nil || strings.Join(values, " ") != want || strings.Join(one, " ") != want {
		t.Errorf("%s: all %q, one by one %q, want %q: %v", what, values, one, want, err)
	}
}

// TestFixupsDamaged: damage is reported with the command and the offset.
func TestFixupsDamaged(t *testing.T) {
	data := make([]byte, 0x2000)
	f := fixupsFile(0, 0x4000, 14, 0, data, 0, 0)
	if x, err := f.Fixups(); err != nil || len(x.chains) > 0 || !strings.Contains(fmt.Sprint(f.Warnings()), "LC_DYLD_CHAINED_FIXUPS at offset 0x202c: expected pages of pointers in a format of programs, found format 14") {
		t.Errorf("a format of other files: %v, %q", err, f.Warnings())
	}
	f = fixupsFile(0, 0x4000, 2, 0, data)
	if x, err := f.Fixups(); err != nil {
		t.Error(err)
	} else if err := x.Each(func(at, value uint64) error { return nil }); err == nil {
		t.Error("no error without starts")
	}
	f.fixups.size = 30
	if _, err := f.Fixups(); err == nil || !strings.Contains(err.Error(), "LC_DYLD_CHAINED_FIXUPS") {
		t.Errorf("cut off: %v", err)
	}
}
