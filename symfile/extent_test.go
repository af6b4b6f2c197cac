package symfile

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestExtents: a PUBLIC record names an address up to where an unwind record shows that another
// function begins, or that its own has ended.
func TestExtents(t *testing.T) {
	const covers, nearest, passed = symbol.Covers, symbol.Nearest, symbol.Passed
	cfi := "PUBLIC 1000 0 a\nPUBLIC 1200 0 b\nPUBLIC 5000 0 c\n" +
		"STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" +
		"STACK CFI INIT 1040 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" + // touches the one before
		"STACK CFI INIT 1100 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" +
		"STACK CFI INIT 11f0 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	win := "PUBLIC 1000 0 a\nPUBLIC 1100 0 b\nPUBLIC 1200 0 c\n" +
		"STACK WIN 4 1000 40 3 0 0 0 0 0 1 $eip $esp ^ =\n" +
		"STACK WIN 4 1010 30 3 0 0 0 0 0 1 $eip $esp ^ =\n" + // a part of the one before
		"STACK WIN 0 1080 20 3 0 0 0 0 0 0 0\n"
	for _, c := range []struct {
		os, text string
		at       uint64
		name     string
		want     symbol.Extent
	}{
		{"Linux", cfi, 0x103f, "a", covers},
		{"Linux", cfi, 0x1040, "a", passed},
		{"Linux", cfi, 0x1108, "a", passed},
		{"Linux", cfi, 0x1110, "a", passed},
		{"Linux", cfi, 0x1200, "b", covers},
		{"Linux", cfi, 0x1210, "b", nearest}, // its record begins before it
		{"Linux", cfi, 0x1230, "b", passed},
		{"Linux", cfi, 0x5010, "c", nearest}, // no record is near
		{"windows", cfi, 0x103f, "a", covers},
		{"windows", cfi, 0x1050, "a", nearest}, // its second part, or another function
		{"windows", cfi, 0x1060, "a", passed},
		{"windows", cfi, 0x1108, "a", passed},
		{"windows", win, 0x100f, "a", covers},
		{"windows", win, 0x1020, "a", covers},
		{"windows", win, 0x1040, "a", passed},
		{"windows", win, 0x1088, "a", passed},
		{"windows", win, 0x1110, "b", nearest},
		{"windows", win, 0x1200, "c", covers},
	} {
		text := "MODULE " + c.os + " x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n" + c.text
		for how, open := range map[string]func(*input.Source, Options) (*File, error){"index": Open, "on demand": OpenOnDemand} {
			f, err := open(input.FromBytes("a.sym", []byte(text+strings.Repeat("INFO GENERATOR x\n", 1<<14))), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s, _, err := f.Lookup(c.at); err != nil || s.Name != c.name || s.Extent != c.want {
				t.Errorf("%s, by %s, 0x%x: %q, extent %d, %v", c.os, how, c.at, s.Name, s.Extent, err)
			}
		}
	}
}

// TestFunction: a STACK CFI INIT record says where a function begins and ends, but on Windows.
func TestFunction(t *testing.T) {
	text := " x86_64 0123456789ABCDEF0123456789ABCDEF0 a\nSTACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for at, want := range map[uint64]symbol.Range{0xfff: {}, 0x103f: {Start: 0x1000, Size: 0x40}, 0x1040: {}} {
		for os, known := range map[string]bool{"Linux": want.Size > 0, "windows": false} {
			f, err := Open(input.FromBytes("a.sym", []byte("MODULE "+os+text)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if code, ok, err := f.Function(at); err != nil || ok != known || ok && code != want {
				t.Errorf("%s, 0x%x: %x, %v, %v", os, at, code, ok, err)
			}
		}
	}
}
