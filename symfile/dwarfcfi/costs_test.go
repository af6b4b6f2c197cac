package dwarfcfi_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// TestRowsDrawWork: a lookup draws for the instructions that it executes, and for the rules that they copy, also when
// the entry is in memory: a stack may have thousands of frames in one function.
func TestRowsDrawWork(t *testing.T) {
	const n = 10000
	for name, c := range map[string]struct {
		code  []byte
		least int64
	}{
		"instructions": {bytes.Repeat([]byte{0}, n), n},
		"rules":        {append([]byte{0x83, 2, 0x86, 3}, bytes.Repeat([]byte{0x0a, 0x0b}, n/2)...), 3 * n},
	} {
		b := amd64Form.build()
		b.fde(0x1000, 0x10, c.code)
		src := input.FromBytes("made.so", b.b)
		src.Budget = &input.Budget{}
		tab, err := dwarfcfi.EHFrame(src, secAddr, nil, 0, b.config())
		if err != nil {
			t.Fatal(err)
		}
		for rva := range uint64(3) {
			before := src.Left(input.Work)
			if _, ok, err := tab.Row(0x1000 + rva); !ok || err != nil {
				t.Fatal(name, ok, err)
			}
			if drawn := before - src.Left(input.Work); drawn < c.least {
				t.Errorf("%s: lookup %d drew %d steps of work, want %d at least", name, rva, drawn, c.least)
			}
		}
		for i := 0; err == nil; i++ { // until the limit
			if _, _, err = tab.Row(0x1000); i > 1<<20 {
				t.Fatal("nothing ends it")
			}
		}
		if !strings.Contains(err.Error(), "steps of work") {
			t.Error(err)
		}
	}
}

// TestSignedRanges: where arm64 code has signed its return address, a new range begins, although the rules are
// otherwise the same.
func TestSignedRanges(t *testing.T) {
	f := form{arch: cpu.ARM64, order: binary.LittleEndian, version: 1, aug: "zR", augData: []byte{0x1b}, enc: 0x1b, code: 4, data: -8, ra: 30, init: []byte{0x0c, 31, 0}}
	b := f.build()
	b.fde(0x1000, 0x20, []byte{0x41, 0x2d, 0x42, 0x2d})
	var got []string
	if err := b.open(t).Each(func(start, end uint64, row unwind.Row) error {
		got = append(got, fmt.Sprintf("%x-%x %v", start, end, row.Marks()))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := "1000-1004 [topmost], 1004-100c [topmost signed-a], 100c-1020 [topmost]"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}

// lacking is a reader that has no bytes from an offset on, unless it is -1.
type lacking struct {
	r    *bytes.Reader
	from int64
}

func (l *lacking) ReadAt(p []byte, off int64) (int, error) {
	if l.from >= 0 && off+int64(len(p)) > l.from {
		return 0, &input.NeedError{Name: "made.so", Ranges: []input.Range{{Offset: off, Size: int64(len(p))}}}
	}
	return l.r.ReadAt(p, off)
}

// TestNumberingNeeds: while bytes of functions that say how an i386 section numbers its registers are not there, no rules are
// made, and later ones are right.
func TestNumberingNeeds(t *testing.T) {
	f := form{arch: cpu.X86, order: binary.LittleEndian, debug: true, version: 1, code: 1, data: -4, ra: 8, init: []byte{0x88, 1}}
	b := f.build()
	for i := range uint64(1000) {
		code := []byte{0x0c, 5, 4} // cfa = esp + 4
		if i < 500 {
			code = []byte{0x0c, 5, 8}
		}
		b.fde(0x1000+i*16, 16, code)
	}
	r := &lacking{bytes.NewReader(b.b), -1}
	tab, err := dwarfcfi.DebugFrame(input.New("made.so", r, int64(len(b.b))), b.config())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := tab.Row(0xfff); err != nil { // reads the index
		t.Fatal(err)
	}
	r.from = 8 << 10
	if _, ok, err := tab.Row(0x1000); ok || !input.Needs(err) {
		t.Errorf("without bytes: %v %v", ok, err)
	}
	r.from = -1
	if got, want := at(t, tab, cpu.X86, 0x1000), "cfa = $esp + 8, ra = [cfa − 4]"; got != want {
		t.Errorf("later: %s, want %s", got, want)
	}
}
