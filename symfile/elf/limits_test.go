package elf

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// TestSharedName: symbols that have one long name cost what reading it each time does.
func TestSharedName(t *testing.T) {
	const symbols, long = 20_000, 1 << 16
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: text(0x100), Align: 16})
	f.Symbols(".symtab", make([]elftest.Sym, symbols))
	for i := range f.Sections {
		switch s := &f.Sections[i]; s.Name {
		case ".symtab":
			for at := 24; at < len(s.Data); at += 24 {
				s.Data[at] = 1
			}
		case ".strtab":
			s.Data = append([]byte{0}, bytes.Repeat([]byte{'a'}, long)...)
		}
	}
	src := input.FromBytes("a.so", f.Bytes())
	src.Budget = &input.Budget{}
	src.Budget.Give(src.Size)
	e, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	before := src.Left(input.Work)
	if err := e.Symbols(func(s Sym) error {
		if len(s.Name) != long {
			t.Errorf("a name of %d bytes", len(s.Name))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if work := before - src.Left(input.Work); work < symbols*long/16 {
		t.Errorf("%d steps of work for %d names of %d bytes", work, symbols, long)
	}
}

// TestManyNotes: notes that many section headers share take no memory for each header.
func TestManyNotes(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	var notes []byte
	for i := range 5000 {
		notes = append(notes, f.Note("Xen", 3, fmt.Appendf(nil, "%08d", i))...)
	}
	f.Add(elftest.Section{Name: ".note.gnu.build-id", Type: 7, Flags: 2, Align: 4, Data: notes})
	e := open(t, f.Bytes())
	if len(e.OtherIDs) != maxOtherIDs {
		t.Errorf("%d ids", len(e.OtherIDs))
	}
	shared := e.Sections[1]
	for range 100 {
		e.Sections = append(e.Sections, shared)
	}
	if other := e.readNotes(); len(other) > maxOtherIDs {
		t.Errorf("%d ids are kept", len(other))
	}
}

// TestEndOfMemory: a section or a name that claims memory beyond the last address does not make a name
// end before it begins.
func TestEndOfMemory(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 8, Flags: 6, Address: 0x1000, NoBits: ^uint64(0) - 0x800})
	f.Symbols(".symtab", []elftest.Sym{{Name: "label", Bind: 1, Value: 0x1000, Section: ".text"},
		{Name: "last", Type: 2, Bind: 1, Value: ^uint64(0) - 0x10, Size: 0x100, Section: ".text"}})
	p, err := open(t, f.Bytes()).Publics()
	if err != nil || p.Len() != 2 {
		t.Fatal(p.Len(), err)
	}
	for _, at := range []uint64{0x1000, 0x2000, ^uint64(0) - 0x10, ^uint64(0) - 1} {
		if n, start, end := p.Piece(at); n < 0 || start > at || end <= at {
			t.Errorf("%#x: name %d, %#x to %#x", at, n, start, end)
		}
	}
}

// TestSlotsNeed: symbols that are not loaded yet are asked for, and their stubs are not left without
// names.
func TestSlotsNeed(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Symbols(".dynsym", []elftest.Sym{{Name: "puts", Type: 2, Bind: 1}})
	f.Relocs(".plt", ".dynsym", true, []elftest.Reloc{{Off: 0x4018, Sym: 1, Type: 7}})
	f.Add(elftest.Section{Name: ".plt", Type: 1, Flags: 6, Address: 0x1000, Data: make([]byte, 32)})
	e := open(t, f.Bytes())
	table := e.table(secDynsym)
	if known, _, err := e.slots(table); err != nil || len(known) != 1 {
		t.Fatalf("%d slots (%v)", len(known), err)
	}
	table.entries = input.New("late", partial{}, table.entries.Size)
	var need *input.NeedError
	if known, _, err := e.slots(table); !errors.As(err, &need) {
		t.Errorf("%d slots (%v)", len(known), err)
	}
}
