package binary_test

import (
	"os"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// SFrame is found by its section's name, by the section's type where it has another name, and by
// its segment, with section headers and without. The section is testdata's, with rules at 0x1008
// and on, loaded at 0x3000.
func TestSFrameIsFound(t *testing.T) {
	data, err := os.ReadFile("../sframe/testdata/arm64.sframe")
	if err != nil {
		t.Fatal(err)
	}
	const progBits, typed = 1, 0x6ffffff4
	for _, tc := range []struct {
		name, section string
		kind          uint32
		segment, bare bool
	}{
		{"by name", ".sframe", progBits, false, false},
		{"by type", ".unwind", typed, false, false},
		{"by segment", ".unwind", progBits, true, false},
		{"without section headers", ".unwind", progBits, true, true},
	} {
		f := &elftest.File{Class: 64, Machine: 183, Type: 3, Bare: tc.bare}
		f.Add(elftest.Section{Name: ".text", Type: progBits, Flags: 6, Address: 0x1000, Data: make([]byte, 0x100), Align: 0x1000})
		f.Add(elftest.Section{Name: tc.section, Type: tc.kind, Flags: 2, Address: 0x3000, Data: data, Align: 0x1000})
		f.Segments = []elftest.Segment{{Type: 1, Flags: 5, First: ".text", Last: tc.section, Address: 0x1000, Align: 0x1000}}
		if tc.segment {
			f.Segments = append(f.Segments, elftest.Segment{Type: 0x6474e554, Flags: 4, First: tc.section, Address: 0x3000})
		}
		b, err := binary.Open(input.FromBytes("lib.so", f.Bytes()))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		// The first segment begins at 0x1000, from which RVAs count.
		row, ans, err := b.Row(0x1008 - 0x1000)
		if ans != symbol.Yes || err != nil || row.CFA.Offset != 32 {
			t.Errorf("%s: %v %v %v", tc.name, row, ans, err)
		}
	}
}
