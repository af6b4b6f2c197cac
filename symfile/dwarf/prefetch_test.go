package dwarf

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/input/inputtest"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Prefetch changes no answer: not at a function, between functions, or in a unit that no section
// lists.
func TestPrefetch(t *testing.T) {
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			path := filepath.Join("testdata", v.name+".elf")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			plain := v.open(t)
			rvas := []uint64{0, 1 << 40}
			if err := plain.Each(func(f symbol.Function) error {
				for _, r := range f.Ranges {
					rvas = append(rvas, r.Start, r.Start+r.Size-1, r.Start+r.Size)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			reader := inputtest.NewTogether(data)
			s, file := sectionsOf(t, path, reader, int64(len(data)))
			d, err := Open(s, v.options(t))
			if err != nil {
				t.Fatal(err)
			}
			rounds := input.NewRounds([]*input.Source{file})
			defer rounds.Close()
			d.Prefetch(rvas, rounds)
			if reader.Many == 0 && v.alt == "" {
				t.Error("nothing was read together")
			}
			for _, rva := range rvas {
				want, wantAnswer, _ := plain.Lookup(rva)
				got, answer, err := d.Lookup(rva)
				if !reflect.DeepEqual(got, want) || answer != wantAnswer || err != nil {
					t.Errorf("0x%x: %+v (%v, %v), want %+v (%v)", rva, got, answer, err, want, wantAnswer)
				}
			}
			if got, want := fmt.Sprint(d.Warnings()), fmt.Sprint(plain.Warnings()); got != want {
				t.Errorf("warnings %s, want %s", got, want)
			}
		})
	}
}

// The units of one prefetch are read together, however many they are, and whether a section says
// which of them have the addresses, lists them, or neither.
func TestPrefetchReads(t *testing.T) {
	for _, c := range []struct {
		section string
		rounds  int // at most
	}{{".debug_aranges", 8}, {".gdb_index", 8}, {".debug_names", 10}} {
		t.Run(c.section, func(t *testing.T) {
			for _, units := range []int{20, 200} {
				data, s, file := manyUnits(units, c.section)
				d, err := Open(s, Options{})
				if err != nil {
					t.Fatal(err)
				}
				var rvas []uint64
				for i := range uint64(units) {
					rvas = append(rvas, i*0x100+8)
				}
				rounds := input.NewRounds([]*input.Source{file})
				defer rounds.Close()
				before := data.Single
				d.Prefetch(rvas, rounds)
				for i, rva := range rvas {
					if s, _, err := d.Lookup(rva); s.Name != fmt.Sprintf("f%d", i) {
						t.Fatalf("0x%x is in %q: %v", rva, s.Name, err)
					}
				}
				if data.Many > c.rounds || data.Single-before > 16 {
					t.Errorf("%d units: %d reads of many places and %d of one", units, data.Many, data.Single-before)
				}
			}
		})
	}
}

// manyUnits makes debug information of units of one function each, far from each other in the file,
// and the section that says where they are. Function i has 0x100 bytes of code.
func manyUnits(units int, section string) (*inputtest.Together, Sections, *input.Source) {
	var abbrev, info, list bits
	abbrev.decl(1, 0x11, 1, 0x25, 8, 0x11, 1, 0x12, 7)
	abbrev.decl(2, 0x2e, 0, 3, 8, 0x11, 1, 0x12, 7)
	abbrev.leb(0)
	var at []uint64
	for i := range uint64(units) {
		var b bits
		b.leb(1)
		b.text("clang")
		b.u(8, 0x400000+i*0x100)
		b.u(8, 0x100)
		b.leb(2)
		b.text(fmt.Sprintf("f%d", i))
		b.u(8, 0x400000+i*0x100)
		b.u(8, 0x100)
		b = append(b, make([]byte, 20_000)...)
		at = append(at, uint64(len(info)))
		info = append(info, unit4(0, b)...)
	}
	switch section {
	case ".debug_aranges":
		for i, off := range at {
			list.u(4, 44)
			list.u(2, 2)
			list.u(4, off)
			list.u(1, 8)
			list.u(1, 0)
			list.u(4, 0)
			list.u(8, 0x400000+uint64(i)*0x100)
			list.u(8, 0x100)
			list.u(8, 0)
			list.u(8, 0)
		}
	case ".gdb_index":
		ranges := 24 + 16*uint64(units)
		for _, v := range []uint64{8, 24, ranges, ranges, ranges + 20*uint64(units), ranges + 20*uint64(units)} {
			list.u(4, v)
		}
		for _, off := range at {
			list.u(8, off)
			list.u(8, 0)
		}
		for i := range uint64(units) {
			list.u(8, 0x400000+i*0x100)
			list.u(8, 0x400000+i*0x100+0x100)
			list.u(4, i)
		}
	case ".debug_names":
		list.u(4, 32+4*uint64(units))
		list.u(2, 5)
		list.u(2, 0)
		for _, v := range []int{units, 0, 0, 0, 0, 0, 0} {
			list.u(4, uint64(v))
		}
		for _, off := range at {
			list.u(4, off)
		}
	}
	data := append(append(append([]byte{}, abbrev...), info...), list...)
	reader := inputtest.NewTogether(data)
	file := input.New("made", reader, int64(len(data)))
	n, m := int64(len(abbrev)), int64(len(abbrev)+len(info))
	parts := map[string]*input.Source{".debug_abbrev": file.Sub(".debug_abbrev", 0, n), ".debug_info": file.Sub(".debug_info", n, m-n), section: file.Sub(section, m, int64(len(list)))}
	return reader, Sections{Order: binary.LittleEndian, AddressSize: 8, Base: 0x400000, File: "made", Get: func(name string) (*input.Source, error) { return parts[name], nil }}, file
}
