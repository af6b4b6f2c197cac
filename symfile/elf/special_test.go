package elf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// TestWithoutSections: a file that is stripped of its section headers still has its id, its name,
// and the names that the loader uses, however long their table is.
func TestWithoutSections(t *testing.T) {
	forms(t, func(t *testing.T, class int, big bool) {
		for _, hash := range []string{"hash", "gnu", "none"} {
			f := &elftest.File{Class: class, Big: big, Machine: 62, Type: 3, Bare: true}
			if class == 32 {
				f.Machine = 40
			}
			f.BuildID([]byte("0123456789abcdefghij"))
			f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: text(0x100), Align: 16})
			f.Symbols(".dynsym", []elftest.Sym{{Name: "imported", Type: 2, Bind: 1},
				{Name: "exported", Type: 2, Bind: 1, Value: 0x1010, Size: 16, Section: ".text"},
				{Name: "libname.so.1"}})
			order := f.Order()
			var table []byte
			words := []uint32{1, 4, 1, 0, 0, 0, 0}
			if hash == "gnu" { // one bucket, symbols from 2 on, one word of the filter, a chain of two
				words = []uint32{1, 2, 1, 0, 0, 0, 2, 10, 11}
				if class == 32 {
					words = []uint32{1, 2, 1, 0, 0, 2, 10, 11}
				}
			}
			for _, w := range words {
				table = append(table, 0, 0, 0, 0)
				order.PutUint32(table[len(table)-4:], w)
			}
			f.Add(elftest.Section{Name: ".hash", Type: 5, Flags: 2, Address: 0x5000, Data: table, Align: 8})
			for i := range f.Sections {
				switch s := &f.Sections[i]; s.Name {
				case ".dynsym":
					s.Address = 0x3000
				case ".dynstr":
					s.Address = 0x3800
				}
			}
			names := map[string]uint64{"hash": 4, "gnu": 0x6ffffef5, "none": 0x6ffffff0}
			f.Dynamic(0x6000, 5, 0x3800, 6, 0x3000, 10, 32, 14, 19, names[hash], 0x5000, 1, 1, 1, 10)
			f.Segments = []elftest.Segment{{Type: 4, First: ".note.gnu.build-id"}, {Type: 2, First: ".dynamic"}}
			for _, name := range []string{".text", ".dynsym", ".dynstr", ".hash"} {
				f.Segments = append(f.Segments, elftest.Segment{Type: 1, Flags: 5, First: name})
			}
			e := open(t, f.Bytes())
			if len(e.Sections) != 0 || len(e.Warnings()) != 0 {
				t.Errorf("%d sections, %q", len(e.Sections), e.Warnings())
			}
			if e.CodeID() != fmt.Sprintf("%x", "0123456789abcdefghij") || e.SoName != "libname.so.1" {
				t.Errorf("code id %s, name %q", e.CodeID(), e.SoName)
			}
			if b, err := e.At(0x1010, 16); err != nil || !bytes.Equal(b, text(0x100)[16:32]) {
				t.Errorf("% x, %v", b, err)
			}
			p, err := e.Publics()
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := p.Lookup(0x1018 - e.Base); !ok || s.Name != "exported" {
				t.Errorf("%s: %+v of %d", hash, s, p.Len())
			}
			count := 0
			e.Symbols(func(s Sym) error { count++; return nil })
			if count < 3 || hash != "none" && count != 3 {
				t.Errorf("%s: %d symbols", hash, count)
			}
		}
	})
}

// TestCutOff: a truncated file has a warning with the size that it should have, and a complete one
// has none.
func TestCutOff(t *testing.T) {
	forms(t, func(t *testing.T, class int, big bool) {
		data := program(class, big).Bytes()
		for _, n := range []int{64, len(data) / 2, len(data) - 1} {
			f := open(t, data[:n])
			if w := f.Warnings(); len(w) == 0 || !strings.Contains(w[0], fmt.Sprintf("a file of at least %d bytes", len(data))) || !strings.Contains(w[0], "truncated") {
				t.Errorf("%d of %d bytes: %q", n, len(data), w)
			}
		}
	})
}

// TestManySections: counts and numbers that do not fit into 16 bits stand elsewhere.
func TestManySections(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 1}
	for i := range 0xff20 {
		f.Sections = append(f.Sections, elftest.Section{Name: ".text", Type: 1, Flags: 6, Data: []byte{byte(i)}})
	}
	f.Add(elftest.Section{Name: ".text.last", Type: 1, Flags: 6, Data: text(8)})
	f.Symbols(".symtab", []elftest.Sym{{Name: "absolute", Type: 2, Bind: 1, Value: 5, Section: "*ABS*"},
		{Name: "last", Type: 2, Bind: 1, Value: 2, Size: 4, Section: ".text.last"}})
	e := open(t, f.Bytes())
	if len(e.Sections) != 0xff20+6 || e.Section(".strtab") == nil {
		t.Fatalf("%d sections; %q", len(e.Sections), e.Warnings())
	}
	p, err := e.Publics()
	if s, ok := p.Lookup(0xff20 + 3); err != nil || !ok || s.Name != "last" || p.Len() != 1 {
		t.Errorf("%+v, %v, %d names", s, err, p.Len())
	}
}

// TestDebugFile: a separate debug file's program headers may describe the program's file; its own
// bytes are not those.
func TestDebugFile(t *testing.T) {
	f := program(64, false)
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Name == ".text" {
			s.Type, s.NoBits, s.Data = 8, 0x100, nil
		}
	}
	f.Segments = []elftest.Segment{{Type: 1, Flags: 5, Address: 0, Offset: 0, FileSize: 0x2000, MemSize: 0x2000}}
	e := open(t, f.Bytes())
	if b, err := e.At(0x1010, 4); err == nil {
		t.Errorf("bytes that are not in the file: % x", b)
	}
	if s := e.Section(".text"); s != nil {
		t.Errorf("%+v", s)
	}
	p, err := e.Publics()
	if s, ok := p.Lookup(0x1011); err != nil || !ok || s.Name != "main" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestThumb: ARM's symbols have the instruction set in bit 0, and marks between them.
func TestThumb(t *testing.T) {
	f := &elftest.File{Class: 32, Machine: 40, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: text(0x100), Align: 16})
	f.Symbols(".symtab", []elftest.Sym{{Name: "$t", Value: 0x1000, Section: ".text"}, {Name: "thumb", Type: 2, Bind: 1, Value: 0x1001, Size: 0x10, Section: ".text"},
		{Name: "$d.1", Value: 0x1010, Section: ".text"}, {Name: "$a", Value: 0x1020, Section: ".text"},
		{Name: "arm", Type: 2, Bind: 1, Value: 0x1020, Size: 0x10, Section: ".text"}, {Name: "$xother", Bind: 1, Value: 0x1040, Section: ".text"}})
	p, err := open(t, f.Bytes()).Publics()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range p.Len() {
		s := p.At(i)
		all = append(all, fmt.Sprintf("%s %x+%x", s.Name, s.Start, s.Size))
	}
	if got := strings.Join(all, ", "); got != "thumb 1000+10, arm 1020+10, $xother 1040+0" {
		t.Error(got)
	}
}

// TestDescriptors: functions of ppc64's first ABI are named by descriptors, whose first word is the
// code.
func TestDescriptors(t *testing.T) {
	f := &elftest.File{Class: 64, Big: true, Machine: 21, Type: 3, Flags: 1}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: text(0x100), Align: 16})
	opd := make([]byte, 48)
	f.Order().PutUint64(opd, 0x1020)
	f.Order().PutUint64(opd[24:], 0x1060)
	f.Add(elftest.Section{Name: ".opd", Type: 1, Flags: 3, Address: 0x2000, Data: opd, Align: 8})
	f.Symbols(".symtab", []elftest.Sym{{Name: "one", Type: 2, Bind: 1, Value: 0x2000, Size: 0x18, Section: ".opd"},
		{Name: "two", Type: 2, Bind: 1, Value: 0x2018, Size: 0x30, Section: ".opd"}, {Name: ".three", Type: 2, Bind: 1, Value: 0x10a0, Size: 8, Section: ".text"}})
	e := open(t, f.Bytes())
	p, err := e.Publics()
	if err != nil {
		t.Fatal(err)
	}
	for rva, want := range map[uint64]string{0x1020: "one", 0x1037: "one", 0x1038: "", 0x1061: "two", 0x10a4: ".three", 0x2000: ""} {
		if s, _ := p.Lookup(rva); s.Name != want {
			t.Errorf("%#x: %q, want %q", rva, s.Name, want)
		}
	}
	if e.CodeAddress(0x2018) != 0x1060 || e.CodeAddress(0x1060) != 0x1060 {
		t.Errorf("%#x", e.CodeAddress(0x2018))
	}
}

// TestArch: the table of the processor that the header names.
func TestArch(t *testing.T) {
	for _, c := range []struct {
		machine uint16
		class   int
		flags   uint32
		want    string
	}{{3, 32, 0, "x86"}, {62, 64, 0, "amd64"}, {62, 32, 0, ""}, {40, 32, 0x5000400, "arm"}, {183, 64, 0, "arm64"}, {8, 32, 0x70001005, "mips"},
		{8, 32, 0x20, ""}, {8, 64, 0x80000007, "mips64"}, {20, 32, 0, "ppc"}, {21, 64, 2, "ppc64"}, {2, 32, 0, "sparc"}, {18, 32, 0, "sparc"}, {43, 64, 0, ""},
		{243, 32, 0, "riscv"}, {243, 64, 5, "riscv64"}, {22, 64, 0, "s390x"}, {22, 32, 0, ""}, {258, 64, 0x43, "loongarch64"}, {258, 32, 0x41, ""}, {259, 64, 0, ""}} {
		a := open(t, (&elftest.File{Class: c.class, Machine: c.machine, Flags: c.flags}).Bytes()).Arch
		if got := ""; a != nil {
			got = a.Name
			if got != c.want {
				t.Errorf("machine %d of %d bits: %s, want %s", c.machine, c.class, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("machine %d of %d bits: none, want %s", c.machine, c.class, c.want)
		}
	}
}

// partial has only the start of a file yet.
type partial struct {
	data []byte
	have int64
}

func (p partial) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > p.have {
		return 0, &input.NeedError{Name: "p", Ranges: []input.Range{{Offset: off, Size: int64(len(b))}}}
	}
	n := copy(b, p.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// TestNeeds: bytes that are still to come are asked for, and not taken for a damage.
func TestNeeds(t *testing.T) {
	data := append(make([]byte, 0, 1<<20), program(64, false).Bytes()...)
	data = data[:cap(data)] // so that the headers' block is not the whole file
	for _, have := range []int64{0, 1 << 16, 1 << 20} {
		f, err := Open(input.New("p", partial{data, have}, int64(len(data))))
		var need *input.NeedError
		if have == 0 && !errors.As(err, &need) || have > 0 && (err != nil || len(f.Warnings()) > 0) {
			t.Errorf("%d bytes: %v", have, err)
		}
	}
	far := bytes.Clone(data)
	copy(far[40:48], []byte{0, 0, 8, 0, 0, 0, 0, 0}) // the section headers at 0x80000
	var need *input.NeedError
	if f, err := Open(input.New("p", partial{far, 1 << 16}, int64(len(far)))); !errors.As(err, &need) {
		t.Errorf("%v, %v", f, err)
	}
}

// TestOverlappingRelocations: a hundred thousand headers for the same records cost no more than a file
// of that size may.
func TestOverlappingRelocations(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 1}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Data: text(0x20)})
	f.Add(elftest.Section{Name: ".debug_info", Type: 1, Data: make([]byte, 16)})
	f.Symbols(".symtab", []elftest.Sym{{Name: "fn", Type: 2, Bind: 1, Value: 4, Section: ".text"}})
	f.Relocs(".debug_info", ".symtab", true, make([]elftest.Reloc, 1000))
	src := input.FromBytes("a.o", f.Bytes())
	src.Budget = &input.Budget{}
	src.Budget.Draw(input.Work, src.Budget.Left(input.Work)-1<<20)
	e, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	again := *e.Section(".rela.debug_info")
	for range 100_000 {
		e.Sections = append(e.Sections, again)
	}
	var over *input.BudgetError
	if _, err := e.Data(e.Section(".debug_info")); !errors.As(err, &over) || over.Resource != input.Work {
		t.Error(err)
	}
}
