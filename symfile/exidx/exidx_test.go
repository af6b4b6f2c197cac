package exidx_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/exidx"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Where the sections of these tests are linked.
const (
	indexAt = 0x20000
	extabAt = 0x30000
	codeAt  = 0x1000
)

// made writes an index and its long entries, by the tables of the specification and without the
// reader's code.
type made struct {
	order        binary.ByteOrder
	index, extab []byte
}

func (m *made) prel(to, place uint32) uint32 { return (to - place) & 0x7fffffff }

func (m *made) word(b *[]byte, w uint32) {
	p := make([]byte, 4)
	m.order.PutUint32(p, w)
	*b = append(*b, p...)
}

// short adds an entry whose second word is given.
func (m *made) short(start, second uint32) {
	m.word(&m.index, m.prel(start, indexAt+uint32(len(m.index))))
	m.word(&m.index, second)
}

// long adds an entry to .ARM.extab.
func (m *made) long(start uint32, words ...uint32) {
	m.short(start, m.prel(extabAt+uint32(len(m.extab)), indexAt+uint32(len(m.index))+4))
	for _, w := range words {
		m.word(&m.extab, w)
	}
}

func (m *made) open(t testing.TB) unwind.Table {
	t.Helper()
	tab, err := exidx.Open(input.FromBytes("lib.so", m.index), indexAt, m.at, exidx.Config{Order: m.order, File: "lib.so", End: 0x8000})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func (m *made) at(address uint64, n int64) ([]byte, error) {
	if address < extabAt || address-extabAt+uint64(n) > uint64(len(m.extab)) {
		return nil, errors.New("nothing is there")
	}
	return m.extab[address-extabAt:][:n], nil
}

func says(tab unwind.Table, rva uint64) string {
	row, ok, err := tab.Row(rva)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case !ok:
		return "none"
	}
	return row.Describe(cpu.ARM)
}

// packed puts up to three instructions' bytes into an entry's word; what is left is filled with
// "finish".
func packed(code ...byte) uint32 {
	for len(code) < 3 {
		code = append(code, 0xb0)
	}
	return 0x80000000 | uint32(code[0])<<16 | uint32(code[1])<<8 | uint32(code[2])
}

func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		code []byte
		want string
	}{
		{[]byte{0xb0}, "cfa = $sp, ra = $lr (topmost frame only)"},
		{[]byte{0x00}, "cfa = $sp + 4, ra = $lr (topmost frame only)"},
		{[]byte{0x3f}, "cfa = $sp + 256, ra = $lr (topmost frame only)"},
		{[]byte{0x9b, 0x41}, "cfa = $fp − 8, ra = $lr (topmost frame only)"},
		{[]byte{0xa8}, "cfa = $sp + 8, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xaf}, "cfa = $sp + 36, ra = [cfa − 4], $r4 = [cfa − 36], $r5 = [cfa − 32], $r6 = [cfa − 28], $r7 = [cfa − 24], $r8 = [cfa − 20], $r9 = [cfa − 16], $r10 = [cfa − 12], $fp = [cfa − 8]"},
		{[]byte{0xa1}, "cfa = $sp + 8, ra = $lr, $r4 = [cfa − 8], $r5 = [cfa − 4] (topmost frame only)"},
		{[]byte{0x84, 0x08}, "cfa = $sp + 8, ra = [cfa − 4], $r7 = [cfa − 8]"},
		{[]byte{0x88, 0x00}, "cfa = $sp + 4, ra = [cfa − 4]"},
		{[]byte{0x8c, 0x00}, "cfa = $sp + 8, ra = [cfa − 4], $lr = [cfa − 8]"},
		{[]byte{0x81, 0x00}, "cfa = $sp + 4, ra = $lr, $r12 = [cfa − 4] (topmost frame only)"},
		{[]byte{0xb1, 0x09}, "cfa = $sp + 8, ra = $lr, $r0 = [cfa − 8], $r3 = [cfa − 4] (topmost frame only)"},
		{[]byte{0xa8, 0xb1, 0x0f}, "cfa = $sp + 24, ra = [cfa − 20], $r4 = [cfa − 24], $r0 = [cfa − 16], $r1 = [cfa − 12], $r2 = [cfa − 8], $r3 = [cfa − 4]"},
		{[]byte{0xb2, 0x81, 0x01}, "cfa = $sp + 1032, ra = $lr (topmost frame only)"},
		{[]byte{0xb3, 0x83, 0xa8}, "cfa = $sp + 44, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xb9, 0xa8}, "cfa = $sp + 28, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xd1, 0xa8}, "cfa = $sp + 24, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xc8, 0x01, 0xa8}, "cfa = $sp + 24, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xc9, 0x83, 0xa8}, "cfa = $sp + 40, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xc5, 0xa8}, "cfa = $sp + 56, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xc6, 0x02, 0xa8}, "cfa = $sp + 32, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xc7, 0x05, 0xa8}, "cfa = $sp + 16, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xb4, 0xb5, 0xa8}, "cfa = $sp + 12, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0xa8, 0x97}, "cfa = $r7, ra = [$sp + 4], $r4 = [$sp]"},
		{[]byte{0xa8, 0x94, 0x00}, "cfa = [$sp] + 4, ra = [$sp + 4], $r4 = [$sp]"},
		{[]byte{0x82, 0x00, 0xa8}, "cfa = [$sp] + 8, ra = [cfa − 4], $r4 = [cfa − 8]"},
		{[]byte{0x80, 0x00}, "cfa = $sp, ra = lost"},
		{[]byte{0x9d}, "error: lib.so: .ARM.exidx at offset 0x5: expected a known frame unwinding instruction, found 0x9d, which is reserved"},
		{[]byte{0xb1, 0x10}, "0xb1 0x10"}, {[]byte{0xb1, 0x00}, "0xb1 0x00"}, {[]byte{0xb6, 0}, "0xb6 0x00"}, {[]byte{0xc7, 0x10}, "0xc7 0x10"}, {[]byte{0xca, 0}, "0xca 0x00"},
		{[]byte{0xd8, 0}, "0xd8 0x00"}, {[]byte{0xff, 0}, "0xff 0x00"},
		{[]byte{0xb0, 0xb0, 0x9f}, "cfa = $sp, ra = $lr (topmost frame only)"},
		{[]byte{0x00, 0x00, 0xc8}, "the end of the entry after 0xc8"}, {[]byte{0xb2, 0xff, 0xff}, "a distance of at most 32 bits"},
	} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			// Alone in the index, and in all three kinds of long entries.
			m := &made{order: order}
			m.short(codeAt, packed(c.code...))
			long := append(append([]byte(nil), c.code...), 0xb0, 0xb0, 0xb0, 0xb0, 0xb0, 0xb0, 0xb0)
			at := func(i int) uint32 { return uint32(long[i]) }
			m.long(codeAt+0x100, packed(c.code...))
			m.long(codeAt+0x200, 0x81010000|at(0)<<8|at(1), at(2)<<24|0xb0b0b0)
			m.long(codeAt+0x300, 0x82010000|at(0)<<8|at(1), at(2)<<24|0xb0b0b0)
			m.long(codeAt+0x400, 0x7fff0000, at(0)<<16|at(1)<<8|at(2))
			m.long(codeAt+0x500, 0x7fff0000, 0x01000000|0xb0<<16|0xb0<<8|0xb0, 0xb0b0b0b0)
			tab := m.open(t)
			got := says(tab, codeAt+0x40)
			if got != c.want && !(strings.HasPrefix(got, "error: lib.so: .ARM.exidx") && strings.Contains(got, c.want)) {
				t.Errorf("% x: %s\nwant %s", c.code, got, c.want)
			}
			for _, off := range []uint64{0x140, 0x240, 0x340, 0x440} {
				also := says(tab, codeAt+off)
				if also != got && !(strings.HasPrefix(got, "error") && (strings.HasPrefix(also, "error: lib.so: .ARM.extab") || off == 0x240 || off == 0x340)) {
					t.Errorf("% x at +0x%x: %s, in the index: %s", c.code, off, also, got)
				}
			}
		}
	}
}

func TestEntries(t *testing.T) {
	m := &made{order: binary.LittleEndian}
	m.short(codeAt, 1)
	m.short(codeAt+0x100, packed(0xa8))
	m.short(codeAt+0x200, 0x81000000)
	m.long(codeAt+0x300, 0x83000000)
	m.short(codeAt+0x400, m.prel(extabAt+0x1000, indexAt+0x24))
	m.short(codeAt+0x500, packed(0x00))
	tab := m.open(t)
	for rva, want := range map[uint64]string{
		codeAt - 1: "none", codeAt: "cfa = $sp, ra = lost", codeAt + 0xff: "cfa = $sp, ra = lost", codeAt + 0x1ff: "cfa = $sp + 8, ra = [cfa − 4], $r4 = [cfa − 8]",
		codeAt + 0x200: "error: lib.so: .ARM.exidx at offset 0x14: expected instructions for personality routine 0, found 0x81000000",
		codeAt + 0x300: "error: lib.so: .ARM.extab at offset 0x30000: expected a personality routine from 0 to 2, found 0x83000000 (entry at .ARM.exidx+0x18; offsets are addresses)",
		codeAt + 0x400: "error: lib.so: .ARM.extab at offset 0x31000: expected a word at this address, found none: nothing is there",
		codeAt + 0x500: "cfa = $sp + 4, ra = $lr (topmost frame only)", 0x7fff: "cfa = $sp + 4, ra = $lr (topmost frame only)", 0x8000: "none",
	} {
		if got := says(tab, rva); got != want {
			t.Errorf("0x%x: %s\nwant %s", rva, got, want)
		}
	}
	row, _, _ := tab.Row(codeAt + 0x104)
	if got, want := row.Origin.String(), "lib.so .ARM.exidx+0x8, which describes the function's body: near its entry the registers may not be saved yet"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if row, _, _ := tab.Row(codeAt + 0x4); !row.Outermost || row.Origin.Note != "which says that the function cannot be unwound" {
		t.Errorf("%v, %q", row.Outermost, row.Origin.Note)
	}
	var got []string
	if err := tab.Each(func(start, end uint64, row unwind.Row) error {
		got = append(got, fmt.Sprintf("%x-%x %x", start, end, row.Start))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := "1000-1100 1000 1100-1200 1100 1500-8000 1500"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if w := tab.Warnings(); len(w) != 3 {
		t.Errorf("warnings %q", w)
	}
	stop := errors.New("enough")
	if err := tab.Each(func(uint64, uint64, unwind.Row) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
}

// The reader sorts an index that is out of order or has bad entries, and answers for the good ones.
func TestUnsorted(t *testing.T) {
	for name, edit := range map[string]func(m *made){
		"two changed places": func(m *made) {
			a, b := uint32(codeAt+50*16), uint32(codeAt+51*16)
			m.order.PutUint32(m.index[50*8:], m.prel(b, indexAt+50*8))
			m.order.PutUint32(m.index[51*8:], m.prel(a, indexAt+51*8))
			m.index[50*8+6], m.index[51*8+6] = m.index[51*8+6], m.index[50*8+6]
		},
		"an entry that leads nowhere": func(m *made) { m.order.PutUint32(m.index[60*8:], 0x80000000) },
		"cut":                         func(m *made) { m.index = m.index[:len(m.index)-3] },
	} {
		for _, each := range []bool{false, true} {
			m := &made{order: binary.LittleEndian}
			for i := range uint32(100) {
				m.short(codeAt+i*16, packed(byte(i%8)))
			}
			edit(m)
			tab := m.open(t)
			if each {
				last := uint64(0)
				if err := tab.Each(func(start, end uint64, row unwind.Row) error {
					if start < last {
						t.Errorf("%s: 0x%x after 0x%x", name, start, last)
					}
					last = end
					return nil
				}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			for i := range uint64(98) {
				if i == 59 || i == 60 {
					continue
				}
				if got, want := says(tab, codeAt+i*16+8), fmt.Sprintf("cfa = $sp + %d,", i%8*4+4); !strings.HasPrefix(got, want) {
					t.Errorf("%s, function %d: %s, want %s", name, i, got, want)
				}
			}
			if len(tab.Warnings()) == 0 {
				t.Errorf("%s: no warning", name)
			}
		}
	}
}

// lacking is a reader whose bytes are not there for a while.
type lacking struct {
	r   io.ReaderAt
	err error
}

func (l *lacking) ReadAt(p []byte, off int64) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	return l.r.ReadAt(p, off)
}

// TestUnsortedLater: if bytes are not there yet, or the work is cancelled, when the index is to be sorted, it is sorted by
// a later lookup, with all its entries.
func TestUnsortedLater(t *testing.T) {
	const n = 30000 // more than some blocks of the Source
	m := &made{order: binary.LittleEndian}
	for i := range uint32(n) {
		m.short(codeAt+i*16, packed(byte(i%8)))
	}
	a, b := uint32(codeAt+50*16), uint32(codeAt+51*16)
	m.order.PutUint32(m.index[50*8:], m.prel(b, indexAt+50*8))
	m.order.PutUint32(m.index[51*8:], m.prel(a, indexAt+51*8))
	m.index[50*8+6], m.index[51*8+6] = m.index[51*8+6], m.index[50*8+6]
	for _, needs := range []bool{true, false} {
		r := &lacking{r: bytes.NewReader(m.index)}
		src := input.New("lib.so", r, int64(len(m.index)))
		src.Budget = &input.Budget{}
		tab, err := exidx.Open(src, indexAt, nil, exidx.Config{Order: m.order, File: "lib.so"})
		if err != nil {
			t.Fatal(err)
		}
		says(tab, codeAt+10*16)
		if needs {
			r.err = &input.NeedError{Name: "lib.so", Ranges: []input.Range{{Offset: 1 << 17, Size: 1}}}
		} else {
			src.Budget.Cancel(errors.New("cancelled"))
		}
		if got := says(tab, codeAt+50*16+8); !strings.HasPrefix(got, "error: ") {
			t.Errorf("without bytes: %s", got)
		}
		r.err = nil
		src.Budget.Resume()
		for _, i := range []uint64{10, 49, 50, 51, 52, n - 100} {
			if got, want := says(tab, codeAt+i*16+8), fmt.Sprintf("cfa = $sp + %d,", i%8*4+4); !strings.HasPrefix(got, want) {
				t.Errorf("needs %v, function %d: %s, want %s", needs, i, got, want)
			}
		}
	}
}

func TestTruncated(t *testing.T) {
	m := &made{order: binary.BigEndian}
	m.short(codeAt, packed(0xa8))
	m.long(codeAt+0x100, 0x81020000|0xa8<<8|0x84, 0x0bb0b0b0, 0xb0b0b0b0)
	m.long(codeAt+0x200, 0x7fff0000, 0x01000000|0xa8<<16|0xb0<<8|0xb0, 0xb0b0b0b0)
	m.short(codeAt+0x300, 1)
	for n := range m.index {
		check(t, &made{order: m.order, index: m.index[:n], extab: m.extab})
	}
	for n := range m.extab {
		check(t, &made{order: m.order, index: m.index, extab: m.extab[:n]})
	}
	if _, err := exidx.Open(input.FromBytes("lib.so", nil), 0, nil, exidx.Config{}); err == nil {
		t.Error("opened without a byte order")
	}
}

func check(t *testing.T, m *made) {
	tab := m.open(t)
	for _, rva := range []uint64{0, codeAt, codeAt + 0x120, codeAt + 0x220, codeAt + 0x310, 1 << 33, ^uint64(0)} {
		row, _, err := tab.Row(rva)
		var format *input.FormatError
		if err != nil && (!errors.As(err, &format) || format.File != "lib.so" || !strings.HasPrefix(format.Part, ".ARM.ex")) {
			t.Fatalf("an error without file and section: %v", err)
		}
		_ = row.Describe(cpu.ARM)
	}
	if err := tab.Each(func(start, end uint64, row unwind.Row) error {
		if end <= start {
			t.Fatalf("0x%x to 0x%x", start, end)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	tab.Warnings()
}

func FuzzExidx(f *testing.F) {
	m := &made{order: binary.LittleEndian}
	m.short(codeAt, packed(0xa8, 0x97, 0xb1))
	m.long(codeAt+0x100, 0x81020000|0xa8<<8|0x84, 0x0bb0b0b0, 0xb0b0b0b0)
	m.long(codeAt+0x200, 0x7fff0000, 0x01000000|0xa8<<16|0xb0<<8|0xb0, 0xb0b0b0b0)
	f.Add(m.index, m.extab, false)
	f.Fuzz(func(t *testing.T, index, extab []byte, big bool) {
		m := &made{order: binary.LittleEndian, index: index, extab: extab}
		if big {
			m.order = binary.BigEndian
		}
		check(t, m)
	})
}
