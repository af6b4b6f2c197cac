package dwarf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// within opens sections with a Budget whose memory is 64 MiB and 4 times their size.
func within(t *testing.T, m made) (*Data, *input.Budget) {
	t.Helper()
	budget := &input.Budget{}
	s := m.sections(binary.LittleEndian)
	get := s.Get
	s.Get = func(name string) (*input.Source, error) {
		src, err := get(name)
		if src != nil {
			src.Budget = budget
		}
		return src, err
	}
	for _, b := range m {
		budget.Give(int64(len(b)))
	}
	d, err := Open(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d, budget
}

// TestMemory: what a file has many small ones of takes no more memory than a file of that size may.
func TestMemory(t *testing.T) {
	unit := root(0x1000)
	unit.leb(3)
	unit.leb(2)
	unit.text("f")
	unit.u(8, 0x1000)
	unit.u(8, 0x1000)
	unit = append(unit, 0, 0)
	const n = 1 << 20
	var declarations, namespaces bits
	for code := range uint64(n) {
		declarations.decl(code+1, 0x34, 0)
	}
	declarations.leb(0)
	namespaces.decl(1, 0x11, 1, 0x11, 1, 0x12, 7, 0x13, 0x0b)
	namespaces.decl(2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7)
	namespaces.decl(3, 0x39, 1)
	scopes := append(slices.Clone(unit), bytes.Repeat([]byte{3, 0}, 3*n)...)
	for name, m := range map[string]made{
		"units":         {".debug_info": bytes.Repeat(unit4(0, nil), n/3), ".debug_abbrev": evil()},
		"abbreviations": {".debug_info": unit4(0, unit), ".debug_abbrev": declarations},
		"scopes":        {".debug_info": unit4(0, scopes), ".debug_abbrev": append(namespaces, 0)},
	} {
		d, _ := within(t, m)
		_, _, err := d.Lookup(0x1001)
		var over *input.BudgetError
		if !errors.As(err, &over) || over.Resource != input.Memory {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLongNames: names that lookups keep do not take more memory because they are long.
func TestLongNames(t *testing.T) {
	const n = 300
	var abbrevs bits
	abbrevs.decl(1, 0x11, 1, 0x11, 1, 0x12, 7, 0x13, 0x0b)
	abbrevs.decl(2, 0x2e, 0, 3, 0x0e, 0x11, 1, 0x12, 7)
	unit := root(16 * n)
	for i := range uint64(n) {
		unit.leb(2)
		unit.u(4, i) // all names end together
		unit.u(8, 0x1000+16*i)
		unit.u(8, 16)
	}
	text := append(bytes.Repeat([]byte("n"), maxName), 0)
	m := made{".debug_info": unit4(0, append(unit, 0)), ".debug_abbrev": append(abbrevs, 0), ".debug_str": text}
	d, err := Open(m.sections(binary.LittleEndian), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if s, _, err := d.Lookup(0x1000 + 16*uint64(i)); err != nil || len(s.Name) != maxName-i {
			t.Fatalf("%d: a name of %d bytes (%v)", i, len(s.Name), err)
		}
	}
	kept := 0
	for _, name := range d.main.names {
		kept += len(name)
	}
	if kept == 0 || kept > 16<<20 {
		t.Errorf("%d bytes of names are kept", kept)
	}
}

// TestClose: memory that lookups have drawn is returned.
func TestClose(t *testing.T) {
	d, budget := within(t, loaded(t, "gcc5.elf"))
	before := budget.Left(input.Memory)
	functions := 0
	if err := d.Each(func(f symbol.Function) error {
		functions++
		_, _, err := d.Lookup(f.Ranges[0].Start)
		return err
	}); err != nil || functions == 0 {
		t.Fatal(functions, err)
	}
	if budget.Left(input.Memory) == before {
		t.Error("no memory was drawn")
	}
	d.Close()
	if left := budget.Left(input.Memory); left != before {
		t.Errorf("%d bytes are left drawn", before-left)
	}
}

// TestManyDirectories: a line program has no more directories than files.
func TestManyDirectories(t *testing.T) {
	var prog bits
	prog.u(2, 4)
	prog.u(4, 0)
	head := len(prog)
	for _, v := range []uint64{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1} {
		prog.u(1, v)
	}
	prog = append(prog, bytes.Repeat([]byte("d\x00"), maxFiles+1)...)
	prog = append(prog, 0, 0)
	binary.LittleEndian.PutUint32(prog[head-4:], uint32(len(prog)-head))
	var line, unit bits
	line.u(4, uint64(len(prog)))
	line = append(line, prog...)
	unit.leb(9)
	unit.u(8, 0x1000)
	unit.u(8, 0x1000)
	unit.u(4, 0)
	unit.leb(2)
	unit.text("f")
	unit.u(8, 0x1000)
	unit.u(8, 0x1000)
	unit = append(unit, 0, 0)
	d, err := Open(made{".debug_info": unit4(0, unit), ".debug_abbrev": evil(), ".debug_line": line}.sections(binary.LittleEndian), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := d.Lookup(0x1001)
	if err != nil || s.Name != "f" || len(d.Warnings()) != 1 || !strings.Contains(d.Warnings()[0], "directories of a line program") {
		t.Errorf("%+v, %v, warnings %q", s, err, d.Warnings())
	}
}
