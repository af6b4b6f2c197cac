package sframe

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// large is a section of n functions of seven rows each, as a large program has them.
func large(n int, flags byte) *madeSection {
	s := &madeSection{order: little, version: 2, flags: flags, abi: 3, ra: -8, address: 0x10000000}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		f := madeFunc{start: 0x1000 + uint64(i)*0x100, size: 0xf0, addr: 1}
		for r := range 7 {
			f.rows = append(f.rows, madeRow{at: uint32(r * 32), sp: true, words: []int64{int64(8 + 8*r), -16}})
		}
		s.funcs = append(s.funcs, f)
	}
	if flags&1 == 0 {
		rnd.Shuffle(n, func(i, j int) { s.funcs[i], s.funcs[j] = s.funcs[j], s.funcs[i] })
	}
	return s
}

const largeFunctions = 50000

func lookups(b *testing.B, table unwind.Table, low, size uint64) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pcs := make([]uint64, 4096)
	for i := range pcs {
		pcs[i] = low + rnd.Uint64N(size)
	}
	b.ReportAllocs()
	b.ResetTimer()
	found := 0
	for i := 0; i < b.N; i++ {
		if _, ok, err := table.Row(pcs[i%len(pcs)]); err != nil {
			b.Fatal(err)
		} else if ok {
			found++
		}
	}
	if found == 0 && b.N > 100 {
		b.Error("nothing found")
	}
}

// BenchmarkRow looks random addresses up: in memory, in a file that is read in blocks, and where
// functions are not sorted.
func BenchmarkRow(b *testing.B) {
	for _, tc := range []struct {
		name  string
		flags byte
		file  bool
	}{{"memory", 5, false}, {"file", 5, true}, {"unsorted", 4, false}} {
		b.Run(tc.name, func(b *testing.B) {
			s := large(largeFunctions, tc.flags)
			data := s.bytes()
			src := input.FromBytes("large.so", data)
			if tc.file {
				src = input.New("large.so", bytes.NewReader(data), int64(len(data)))
			}
			table, err := Open(src, s.address, Config{})
			if err != nil {
				b.Fatal(err)
			}
			lookups(b, table, 0x1000, largeFunctions*0x100)
		})
	}
}

// BenchmarkEach lists a large section.
func BenchmarkEach(b *testing.B) {
	s := large(largeFunctions, 5)
	data := s.bytes()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		table, err := Open(input.FromBytes("large.so", data), s.address, Config{})
		if err != nil {
			b.Fatal(err)
		}
		table.Each(func(uint64, uint64, unwind.Row) error { return nil })
	}
}

// BenchmarkSameCode looks addresses of one program up in its .sframe and in its .eh_frame.
func BenchmarkSameCode(b *testing.B) {
	path := filepath.Join("testdata", "oracle", "amd64.elf")
	f, err := elf.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	section := func(name string) (*input.Source, uint64) {
		s := f.Section(name)
		if s == nil {
			return nil, 0
		}
		data, err := s.Data()
		if err != nil {
			b.Fatal(err)
		}
		return input.FromBytes(name, data), s.Addr
	}
	b.Run("sframe", func(b *testing.B) {
		src, addr := section(SectionName)
		table, err := Open(src, addr, Config{})
		if err != nil {
			b.Fatal(err)
		}
		lookups(b, table, text.Addr, text.Size)
	})
	b.Run("eh_frame", func(b *testing.B) {
		src, addr := section(".eh_frame")
		hdr, hdrAddr := section(".eh_frame_hdr")
		table, err := dwarfcfi.EHFrame(src, addr, hdr, hdrAddr, dwarfcfi.Config{Arch: archOf(3), Order: little, AddressSize: 8})
		if err != nil {
			b.Fatal(err)
		}
		lookups(b, table, text.Addr, text.Size)
	})
}
