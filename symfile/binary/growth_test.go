package binary

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// TestManySegments: a file with many sections and many segments costs in proportion to both.
func TestManySegments(t *testing.T) {
	testfile.Growth(t, 2000, func(n int) func() {
		e := &elf.File{}
		for i := range n {
			e.Sections = append(e.Sections, elf.Section{Name: ".data", Type: 1, Flags: 3, Address: uint64(i) << 12, Size: 1})
			e.Segments = append(e.Segments, elf.Segment{Type: 0x6474e552, Address: ^uint64(0), MemSize: 1})
		}
		return func() {
			for range 50 {
				if got := elfSections(e); len(got) != n {
					t.Errorf("%d sections", len(got))
				}
			}
		}
	})
}

// TestManySplitFiles: to find the .dwo file of each unit costs in proportion to the units.
func TestManySplitFiles(t *testing.T) {
	program := (&elftest.File{Class: 64, Machine: 62, Type: 3}).Add(elftest.Section{Name: ".debug_addr", Type: 1, Data: []byte{0}}).Bytes()
	unit := (&elftest.File{Class: 64, Machine: 62, Type: 1}).Add(elftest.Section{Name: ".debug_info.dwo", Type: 1, Data: []byte{0}}).Bytes()
	testfile.Growth(t, 500, func(n int) func() {
		f, err := Open(input.FromBytes("app", program))
		if err != nil {
			t.Fatal(err)
		}
		name := func(i int) string { return fmt.Sprintf("out/%d/unit%d.dwo", i%10, i) }
		for i := range n {
			if attached, err := f.Attach(input.FromBytes(name(i), unit)); !attached || err != nil {
				t.Fatal(attached, err)
			}
		}
		p := f.program.(*elfProgram)
		return func() {
			for i := range 10 * n {
				i %= n
				if s, ok := p.findSplit("/build/" + name(i)); !ok || s.File != name(i) {
					t.Fatalf("%d: %+v", i, s)
				}
			}
		}
	})
}
