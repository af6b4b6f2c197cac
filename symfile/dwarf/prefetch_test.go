package dwarf

import (
	"bytes"
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

// TestPrefetchBytes: of a large file a stack's lookups read the sections that say which units cover the
// addresses, the entries and lines of these units, and for each address one list of ranges. The units
// have many inlined calls, whose lists of ranges are all over their section.
func TestPrefetchBytes(t *testing.T) {
	const units, functions, listSize, stack = 100, 200, 2 << 10, 40
	var abbrev, info, aranges, ranges, lines bits
	abbrev.decl(1, 0x11, 1, 0x25, 8, 0x11, 1, 0x12, 7, 0x10, 0x17) // unit: producer, low_pc, high_pc, stmt_list
	abbrev.decl(2, 0x2e, 1, 3, 8, 0x11, 1, 0x12, 7)                // function: name, low_pc, high_pc
	abbrev.decl(3, 0x1d, 0, 0x31, 0x13, 0x55, 0x17, 0x59, 0x0b)    // inlined call: origin, ranges, line
	abbrev.decl(4, 0x2e, 0, 3, 8)                                  // inlined function: name
	abbrev.leb(0)
	for i := range uint64(units) {
		low := 0x400000 + i*functions*16
		var b, program bits
		b.leb(1)
		b.text("clang")
		b.u(8, low)
		b.u(8, functions*16)
		b.u(4, uint64(len(lines)))
		inlined := uint64(11 + len(b))
		b.leb(4)
		b.text("inlined")
		for j := range uint64(functions) {
			b.leb(2)
			b.text(fmt.Sprintf("f%d_%d", i, j))
			b.u(8, low+16*j)
			b.u(8, 16)
			b.leb(3)
			b.u(4, inlined)
			b.u(4, uint64(len(ranges)))
			b.u(1, 7)
			b.leb(0)
			var list bits
			for _, v := range []uint64{16*j + 2, 16*j + 4, 16*j + 6, 16*j + 10, 0, 0} {
				list.u(8, v)
			}
			ranges = append(ranges, append(list, make([]byte, listSize-len(list))...)...)
		}
		b.leb(0)
		aranges.set(uint64(len(info)), low, functions*16)
		info = append(info, unit4(0, b)...)
		// A line program of version 4, with an opcode_base of 1: header_length, then minimum_instruction_length,
		// maximum_operations, default_is_stmt, line_base, line_range, opcode_base; no directory, one file.
		program.u(2, 4)
		program.u(4, 15)
		program = append(program, 1, 1, 1, 0, 1, 1, 0)
		program.text("a.c")
		program = append(program, 0, 0, 0, 0)
		program = append(program, 0, 9, 2)
		program.u(8, low)
		program = append(program, bytes.Repeat([]byte{2}, functions*16)...) // each is a byte of code and a line
		program = append(program, 0, 1, 1)
		lines.u(4, uint64(len(program)))
		lines = append(lines, program...)
	}
	readers := map[string]*inputtest.Together{}
	files := map[string]*input.Source{}
	var all []*input.Source
	for name, b := range map[string]bits{".debug_abbrev": abbrev, ".debug_info": info, ".debug_aranges": aranges, ".debug_ranges": ranges, ".debug_line": lines} {
		readers[name] = inputtest.NewTogether(b)
		files[name] = input.New(name, readers[name], int64(len(b)))
		all = append(all, files[name])
	}
	d, err := Open(Sections{Order: binary.LittleEndian, Base: 0x400000, File: "made",
		Get: func(name string) (*input.Source, error) { return files[name], nil }}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rvas []uint64
	for i := range uint64(stack) {
		rvas = append(rvas, (i*2*functions+i)*16+7)
	}
	for _, r := range readers {
		r.Bytes = 0
	}
	rounds := input.NewRounds(all)
	defer rounds.Close()
	d.Prefetch(rvas, rounds)
	found := 0
	rounds.Run(stack, func(i int) {
		s, _, err := d.Lookup(rvas[i])
		if err == nil && s.Name == fmt.Sprintf("f%d_%d", 2*i, i) && len(s.Inlines) == 1 && s.Inlines[0].Name == "inlined" && s.Inlines[0].HasLine {
			found++
		}
	}, nil)
	if found != stack {
		t.Errorf("%d of %d functions with lines and inlined calls; %v", found, stack, d.Warnings())
	}
	// Sections that are jumped around in are read by their least sizes (sectionKinds). To open a section is
	// to read its first block.
	const block = 16 << 10
	for name, most := range map[string]int64{".debug_aranges": int64(len(aranges)), ".debug_info": stack * (int64(len(info))/units + 512),
		".debug_line": stack * (int64(len(lines))/units + 4<<10), ".debug_ranges": block + stack*(4<<10)} {
		if read := readers[name].Bytes; read > most {
			t.Errorf("%s: %d bytes of %d were read, want at most %d", name, read, files[name].Size, most)
		}
	}
}

// set is a set of .debug_aranges: that the unit at an offset has size bytes of code at low.
func (b *bits) set(unit, low, size uint64) {
	b.u(4, 44)
	b.u(2, 2)
	b.u(4, unit)
	b.u(1, 8)
	b.u(1, 0)
	b.u(4, 0)
	b.u(8, low)
	b.u(8, size)
	b.u(8, 0)
	b.u(8, 0)
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
			list.set(off, 0x400000+uint64(i)*0x100, 0x100)
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
	return reader, Sections{Order: binary.LittleEndian, Base: 0x400000, File: "made", Get: func(name string) (*input.Source, error) { return parts[name], nil }}, file
}
