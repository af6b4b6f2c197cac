package pdata_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pdata"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// made is an image with a function table, written by the tables of the specification and without
// the reader's code. Records are from 0x100 on, code from 0x1000 on.
type made struct {
	arch  *cpu.Arch
	table []byte
	image []byte
}

const (
	records = 0x100
	codeAt  = 0x1000
	imageAt = 0x3000 // its end
)

func image(arch *cpu.Arch) *made { return &made{arch: arch, image: make([]byte, imageAt)} }

// put writes bytes at an RVA.
func (m *made) put(rva int, b ...byte) *made {
	copy(m.image[rva:], b)
	return m
}

// words writes words at an RVA.
func (m *made) words(rva int, ws ...uint32) *made {
	for i, w := range ws {
		binary.LittleEndian.PutUint32(m.image[rva+4*i:], w)
	}
	return m
}

// entry adds an entry of the table.
func (m *made) entry(ws ...uint32) *made {
	for _, w := range ws {
		m.table = binary.LittleEndian.AppendUint32(m.table, w)
	}
	return m
}

func (m *made) config() pdata.Config {
	return pdata.Config{Arch: m.arch, File: "a.dll", Code: [][2]uint64{{codeAt, uint64(len(m.image))}},
		At: func(rva uint64, n int64) ([]byte, error) {
			if n < 0 || rva > uint64(len(m.image)) || uint64(n) > uint64(len(m.image))-rva {
				return nil, &input.FormatError{File: "a.dll", Offset: int64(rva), Want: fmt.Sprintf("%d bytes", n)}
			}
			return m.image[rva : rva+uint64(n)], nil
		},
		Place: func(rva uint64) (string, int64) { return ".xdata", int64(rva) - records }}
}

func (m *made) open(t testing.TB) *pdata.Table {
	t.Helper()
	tab, err := pdata.Open(input.FromBytes(".pdata", m.table), m.config())
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// says is what a table answers for an address.
func says(tab unwind.Table, arch *cpu.Arch, rva uint64) string {
	row, ok, err := tab.Row(rva)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case !ok && row.Origin.Note != "":
		return "none: " + row.Origin.Note
	case !ok:
		return "none"
	}
	return row.Describe(arch)
}

// want is what an address is to answer; a text that ends with "…" is only the beginning.
type want struct {
	rva  uint64
	says string
}

func (m *made) check(t *testing.T, what string, wants ...want) {
	t.Helper()
	tab := m.open(t)
	for _, w := range wants {
		have := says(tab, m.arch, w.rva)
		if begin, ok := strings.CutSuffix(w.says, "…"); have != w.says && !(ok && strings.HasPrefix(have, begin)) {
			t.Errorf("%s, 0x%x:\n\t%s\nnot\t%s", what, w.rva, have, w.says)
		}
	}
	// All of the table says the same.
	err := tab.Each(func(start, end uint64, row unwind.Row) error {
		for _, rva := range []uint64{start, end - 1} {
			if have := says(tab, m.arch, rva); have != row.Describe(m.arch) {
				t.Errorf("%s, 0x%x: %s, of all rows %s", what, rva, have, row.Describe(m.arch))
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// x64 codes: offset after the instruction, operation and information.
func code(after, op, info byte) []byte { return []byte{after, op | info<<4} }

func record(version, flags, prologue byte, fp byte, codes ...[]byte) []byte {
	all := []byte{}
	for _, c := range codes {
		all = append(all, c...)
	}
	out := append([]byte{version | flags<<3, prologue, byte(len(all) / 2), fp}, all...)
	if len(all)/2%2 == 1 {
		out = append(out, 0, 0)
	}
	return out
}

func TestX64Codes(t *testing.T) {
	const keep = ", $rsi = unchanged, $rdi = unchanged"
	one := func(rec []byte) *made {
		return image(cpu.AMD64).put(records, rec...).entry(codeAt, codeAt+0x100, records)
	}
	one(record(1, 0, 20, 0, code(20, 1, 0), []byte{0x00, 0x10}, code(10, 1, 1), []byte{0, 0, 2, 0}, code(4, 2, 2), code(2, 0, 5))).check(t, "allocations",
		want{codeAt, "cfa = $rsp + 8, ra = [cfa − 8]" + keep},
		want{codeAt + 2, "cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]" + keep},
		want{codeAt + 3, "cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16]" + keep},
		want{codeAt + 4, "cfa = $rsp + 40, ra = [cfa − 8], $rbp = [cfa − 16]" + keep},
		want{codeAt + 10, "cfa = $rsp + 131112, ra = [cfa − 8], $rbp = [cfa − 16]" + keep},
		want{codeAt + 20, "cfa = $rsp + 163880, ra = [cfa − 8], $rbp = [cfa − 16]" + keep},
		want{codeAt + 0x100, "none"}, want{codeAt - 1, "none"})
	one(record(1, 0, 12, 5|2<<4, code(12, 4, 6), []byte{9, 0}, code(10, 5, 15), []byte{0x30, 0, 0, 0}, code(8, 8, 6), []byte{1, 0}, code(8, 3, 0), code(4, 2, 9), code(1, 0, 5))).check(t, "frame pointer",
		want{codeAt + 4, "cfa = $rsp + 96, ra = [cfa − 8], $rbp = [cfa − 16]" + keep},
		// rbp = rsp + 32: the frame is at rbp − 32.
		want{codeAt + 10, "cfa = $rbp + 64, ra = [cfa − 8], $r15 = [cfa − 48], $rbp = [cfa − 16]" + keep},
		want{codeAt + 12, "cfa = $rbp + 64, ra = [cfa − 8], $rsi = [cfa − 24], $r15 = [cfa − 48], $rbp = [cfa − 16], $rdi = unchanged"})
	one(record(1, 0, 2, 0, code(2, 2, 3), code(0, 10, 1))).check(t, "machine frame",
		want{codeAt + 4, "cfa = [$rsp + 64], ra = [$rsp + 40]" + keep + " (signal frame)"})
	one(record(1, 0, 0, 0, code(0, 6, 2), []byte{0, 0}, code(0, 7, 2), []byte{0, 0, 0, 0})).check(t, "vector registers of version 1", want{codeAt, "cfa = $rsp + 8, ra = [cfa − 8]" + keep})
	one(record(3, 0, 0, 0)).check(t, "version 3", want{codeAt, "error: a.dll: unwind record in .xdata at offset 0x0: expected version 1 or 2 of unwind information, found 3"})
	one(record(1, 0, 0, 0, code(0, 11, 0))).check(t, "unknown code", want{codeAt, "error: a.dll: unwind record in .xdata at offset 0x4: expected an unwind code that is known…"})
	one(record(1, 0, 0, 0, code(0, 1, 1))).check(t, "cut off code", want{codeAt, "error: a.dll: unwind record in .xdata at offset 0x4: expected an unwind code of 3 slots, found the end of the codes"})
	image(cpu.AMD64).entry(codeAt, codeAt+16, imageAt).check(t, "no record", want{codeAt, "error: a.dll at offset 0x3000…"})
}

func TestX64Epilogues(t *testing.T) {
	const keep = ", $rsi = unchanged, $rdi = unchanged"
	rec := record(1, 0, 7, 0, code(7, 2, 3), code(3, 0, 12), code(1, 0, 3)) // push rbx, push r12, sub rsp 32
	body := "cfa = $rsp + 56, ra = [cfa − 8], $r12 = [cfa − 24], $rbx = [cfa − 16]" + keep
	two, last, none := "cfa = $rsp + 24, ra = [cfa − 8], $r12 = [cfa − 24], $rbx = [cfa − 16]"+keep, "cfa = $rsp + 16, ra = [cfa − 8], $rbx = [cfa − 16]"+keep, "cfa = $rsp + 8, ra = [cfa − 8]"+keep
	for _, c := range []struct {
		what string
		code []byte
		want []string // by byte
	}{
		{"ret", []byte{0x48, 0x83, 0xc4, 0x20, 0x41, 0x5c, 0x5b, 0xc3}, []string{body, body, body, body, two, body, last, none}},
		{"ret n", []byte{0x41, 0x5c, 0x5b, 0xc2, 8, 0}, []string{two, body, last, none}},
		{"rep ret", []byte{0x41, 0x5c, 0x5b, 0xf3, 0xc3}, []string{two, body, last, none}},
		{"other registers", []byte{0x41, 0x5d, 0x5b, 0xc3}, []string{body, body, last, none}},
		{"no end", []byte{0x41, 0x5c, 0x5b, 0x90}, []string{body, body, body, body}},
		{"jump to a function", []byte{0x41, 0x5c, 0x5b, 0xe9, 0xf8, 0, 0, 0}, []string{two, body, last, none}},
		{"jump into a function", []byte{0x41, 0x5c, 0x5b, 0xe9, 0xf9, 0, 0, 0}, []string{body, body, body, body}},
		{"jump within", []byte{0x5b, 0xeb, 0x10}, []string{body, body}},
		{"jump to a part that was moved away", []byte{0x5b, 0xe9, 0xfa, 0x01, 0, 0}, []string{body, body}},
		{"jump to a leaf function", []byte{0x5b, 0xe9, 0xfa, 0x02, 0, 0}, []string{last, none}},
		{"jump out of the code", []byte{0x5b, 0xe9, 0, 0, 0, 0x10}, []string{body, body}},
		{"jump by a register", []byte{0x41, 0x5c, 0x5b, 0x48, 0xff, 0xe0}, []string{two, body, last, none}},
		{"jump by memory", []byte{0x41, 0x5c, 0x5b, 0x48, 0xff, 0x25, 0, 0, 0, 0}, []string{two, body, last, none}},
		{"jump by a table of functions", []byte{0x41, 0x5c, 0x5b, 0x48, 0xff, 0x62, 8}, []string{two, body, last, none}},
		{"jump to an import", []byte{0x41, 0x5c, 0x5b, 0xff, 0x25, 0, 0, 0, 0}, []string{two, body, last, none}},
		{"bnd jump to a function", []byte{0x5b, 0xf2, 0xe9, 0xf9, 0, 0, 0}, []string{last, none, none}},
		{"switch", []byte{0x5b, 0xff, 0xe0}, []string{body, body}},
		{"call [rbx+rax*8]", []byte{0xff, 0x14, 0xc3}, []string{body, body, body}},
		{"call [rax+0x58]", []byte{0xff, 0x50, 0x5b, 0xc3}, []string{body, body, body, none}},
	} {
		m := image(cpu.AMD64).put(records, rec...).put(records+0x40, record(1, 0, 0, 0, code(0, 2, 3))...).
			entry(codeAt, codeAt+0x100, records).entry(codeAt+0x140, codeAt+0x150, records).entry(codeAt+0x240, codeAt+0x250, records+0x40)
		at := codeAt + 0x40
		m.put(at, c.code...)
		// The jumps' distances are from their ends, which differ.
		var wants []want
		for i, s := range c.want {
			wants = append(wants, want{uint64(at + i), s})
		}
		m.check(t, c.what, wants...)
	}
	// An epilogue that ends after the entry.
	m := image(cpu.AMD64).put(records, rec...).entry(codeAt, codeAt+0x13, records).put(codeAt+0x10, 0x41, 0x5c, 0x5b, 0xc3)
	m.check(t, "across entries", want{codeAt + 0x10, two}, want{codeAt + 0x12, last})
	// A register that is of no use makes room.
	m = image(cpu.AMD64).put(records, record(1, 0, 1, 0, code(1, 2, 0))...).entry(codeAt, codeAt+0x20, records).put(codeAt, 0x50, 0x90, 0x59, 0xc3)
	m.check(t, "push rax", want{codeAt, none}, want{codeAt + 1, "cfa = $rsp + 16, ra = [cfa − 8]" + keep}, want{codeAt + 2, "cfa = $rsp + 16, ra = [cfa − 8]" + keep}, want{codeAt + 3, none})
	// A way out of the function before the prologue's end.
	m = image(cpu.AMD64).put(records, record(1, 0, 0x20, 0, code(0x20, 4, 7), []byte{8, 0}, code(5, 2, 3), code(1, 0, 3))...).entry(codeAt, codeAt+0x40, records).put(codeAt+0xa, 0x5b, 0xc3)
	m.check(t, "in the prologue", want{codeAt + 9, "cfa = $rsp + 48, ra = [cfa − 8], $rbx = [cfa − 16]" + keep}, want{codeAt + 0xa, last}, want{codeAt + 0xb, none})
}

// Go's linker leaves entries out of order. Each function is found, also by the first lookup, and all
// are in the table.
func TestUnsorted(t *testing.T) {
	m := image(cpu.AMD64).put(records, record(1, 0, 1, 0, code(1, 0, 3))...)
	starts := []uint32{0, 1, 2, 3, 4, 14, 15, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	for i := range starts {
		starts[i] = codeAt + starts[i]*0x100
		m.entry(starts[i], starts[i]+0x20, records)
	}
	for _, at := range starts {
		const pushed = "cfa = $rsp + 16, ra = [cfa − 8], $rbx = [cfa − 16], $rsi = unchanged, $rdi = unchanged"
		m.check(t, "unsorted", want{uint64(at) + 8, pushed}, want{uint64(at) + 0x20, "none"})
		if apart, err := m.open(t).DifferentFunctions(uint64(at)-0x80, uint64(at)+8); !apart || err != nil {
			t.Errorf("0x%x is in the function before (%v)", at, err)
		}
	}
	found := map[uint64]bool{}
	err := m.open(t).Each(func(start, _ uint64, _ unwind.Row) error {
		found[start&^0xff] = true
		return nil
	})
	if err != nil || len(found) != len(starts) {
		t.Errorf("rules of %d functions of %d (%v)", len(found), len(starts), err)
	}
}

// TestEpilogueInterrupted: while bytes that tell an epilogue are not there, or may not be read, no rules are made: those of
// the function's body would be wrong.
func TestEpilogueInterrupted(t *testing.T) {
	const other = codeAt + 0x100
	rec := record(1, 0, 1, 0, code(1, 0, 3))
	m := image(cpu.AMD64).put(records, rec...).put(records+0x40, rec...).entry(codeAt, codeAt+16, records).entry(other, other+16, records+0x40).
		put(codeAt, 0x53, 0x90, 0x5b, 0xe9, 0xf8, 0, 0, 0) // push rbx; nop; pop rbx; jmp to the other function
	const want = "cfa = $rsp + 8, ra = [cfa − 8], $rsi = unchanged, $rdi = unchanged"
	if got := says(m.open(t), m.arch, codeAt+3); got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	for name, c := range map[string]struct {
		from, to uint64
		err      error
	}{
		"the other record": {records + 0x40, records + 0x80, &input.NeedError{Name: "a.dll"}},
		"the code":         {codeAt, imageAt, &input.FormatError{File: "a.dll", Err: &input.BudgetError{}}},
	} {
		lack, cfg := true, m.config()
		at := cfg.At
		cfg.At = func(rva uint64, n int64) ([]byte, error) {
			if lack && rva >= c.from && rva < c.to {
				return nil, c.err
			}
			return at(rva, n)
		}
		tab, err := pdata.Open(input.FromBytes(".pdata", m.table), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := tab.Row(codeAt + 3); ok || err != c.err {
			t.Errorf("%s: %v %v", name, ok, err)
		}
		lack = false
		if got := says(tab, m.arch, codeAt+3); got != want {
			t.Errorf("%s, later: %s, want %s", name, got, want)
		}
	}
}

// Version 2 lists its epilogues. The first code has the size of all and says whether one is at the
// end.
func TestX64Listed(t *testing.T) {
	const keep = ", $rsi = unchanged, $rdi = unchanged"
	rec := record(2, 0, 6, 0, code(4, 6, 1), code(0x34, 6, 0), code(6, 2, 3), code(2, 0, 12), code(0, 0, 3))
	m := image(cpu.AMD64).put(records, rec...).entry(codeAt, codeAt+0x100, records)
	body := "cfa = $rsp + 56, ra = [cfa − 8], $r12 = [cfa − 24], $rbx = [cfa − 16]" + keep
	two, last, none := "cfa = $rsp + 24, ra = [cfa − 8], $r12 = [cfa − 24], $rbx = [cfa − 16]"+keep, "cfa = $rsp + 16, ra = [cfa − 8], $rbx = [cfa − 16]"+keep, "cfa = $rsp + 8, ra = [cfa − 8]"+keep
	m.check(t, "two epilogues", want{codeAt + 0xcb, body}, want{codeAt + 0xcc, two}, want{codeAt + 0xce, last}, want{codeAt + 0xcf, none}, want{codeAt + 0xd0, body},
		want{codeAt + 0xfc, two}, want{codeAt + 0xfe, last}, want{codeAt + 0xff, none})
}

// Records that lead to others, and entries that stand for others.
func TestX64Chains(t *testing.T) {
	const keep = ", $rdi = unchanged"
	parent := record(1, 0, 6, 0, code(6, 2, 3), code(2, 0, 3))
	child := append(record(1, 4, 4, 0, code(4, 4, 6), []byte{6, 0}), make([]byte, 12)...)
	put := func(m *made, at int, ws ...uint32) *made { return m.words(at, ws...) }
	m := image(cpu.AMD64).put(records, parent...).put(records+0x40, child...).entry(codeAt, codeAt+0x20, records).entry(codeAt+0x20, codeAt+0x40, records+0x40)
	put(m, records+0x40+8, codeAt, codeAt+0x20, records)
	m.entry(codeAt+0x40, codeAt+0x60, 0x200|1)
	put(m, 0x200, codeAt, codeAt+0x20, records)
	m.check(t, "chain",
		want{codeAt + 0x20, "cfa = $rsp + 48, ra = [cfa − 8], $rbx = [cfa − 16], $rsi = unchanged" + keep},
		want{codeAt + 0x24, "cfa = $rsp + 48, ra = [cfa − 8], $rsi = [cfa], $rbx = [cfa − 16]" + keep},
		want{codeAt + 0x40, "cfa = $rsp + 48, ra = [cfa − 8], $rbx = [cfa − 16], $rsi = unchanged" + keep})
	m.entry(codeAt+0x60, codeAt+0x80, records)
	for _, c := range []struct {
		from, to uint64
		apart    bool
	}{{codeAt, codeAt + 0x1f, false}, {codeAt, codeAt + 0x2f, false}, {codeAt, codeAt + 0x60, true}, {codeAt + 0x70, codeAt + 0x7f, false},
		{codeAt + 0x60, codeAt + 0x80, true}, {codeAt + 0x80, codeAt + 0x90, false}, {1, 2, false}} {
		if apart, err := m.open(t).DifferentFunctions(c.from, c.to); apart != c.apart || err != nil {
			t.Errorf("0x%x and 0x%x: %v (%v)", c.from, c.to, apart, err)
		}
	}
	circle := image(cpu.AMD64).put(records, child...).entry(codeAt, codeAt+0x20, records)
	put(circle, records+8, codeAt, codeAt+0x20, records)
	circle.check(t, "circle of records", want{codeAt, "error: a.dll: unwind record in .xdata at offset 0x0: expected at most 32 records that lead to each other…"})
	circle = image(cpu.AMD64).entry(codeAt, codeAt+0x20, 0x200|1)
	put(circle, 0x200, codeAt, codeAt+0x20, 0x200|1)
	circle.check(t, "circle of entries", want{codeAt, "error: a.dll: .pdata at offset 0x0: expected at most 32 entries that lead to each other…"}, want{codeAt + 1, "error…"})
}
