package dwarfcfi_test

import (
	"debug/elf"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// large opens the largest .eh_frame that the machine is likely to have, from the disk as a user's
// file would be.
func large(b *testing.B) (src, hdr *input.Source, eh, hd *elf.Section, cfg dwarfcfi.Config) {
	best, most := "", uint64(0)
	for _, path := range []string{"/usr/lib/chromium/chromium", "/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1", "/usr/bin/node", "/lib/x86_64-linux-gnu/libc.so.6"} {
		if f, err := elf.Open(path); err == nil {
			if s := f.Section(".eh_frame"); s != nil && s.Size > most {
				best, most = path, s.Size
			}
			f.Close()
		}
	}
	if path := best; path != "" {
		f, c := openELF(b, path)
		file, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { file.Close() })
		st, _ := file.Stat()
		whole := input.New(path, file, st.Size())
		eh, hd = f.Section(".eh_frame"), f.Section(".eh_frame_hdr")
		b.Logf("%s: .eh_frame of %d bytes", path, eh.Size)
		return whole.Sub(path, int64(eh.Offset), int64(eh.Size)), whole.Sub(path, int64(hd.Offset), int64(hd.Size)), eh, hd, c
	}
	b.Skip("*** SKIPPED: no large file here")
	return
}

func starts(b *testing.B, tab unwind.Table) []uint64 {
	var out []uint64
	if err := tab.Each(func(start, end uint64, row unwind.Row) error {
		out = append(out, start)
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// BenchmarkIndex is one pass over the section without its search table.
func BenchmarkIndex(b *testing.B) {
	src, _, eh, _, cfg := large(b)
	b.SetBytes(int64(eh.Size))
	for b.Loop() {
		tab, err := dwarfcfi.EHFrame(src, eh.Addr, nil, 0, cfg)
		if err != nil {
			b.Fatal(err)
		}
		tab.Row(0)
	}
}

// BenchmarkEach makes every row of the section.
func BenchmarkEach(b *testing.B) {
	src, _, eh, _, cfg := large(b)
	b.SetBytes(int64(eh.Size))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		tab, err := dwarfcfi.EHFrame(src, eh.Addr, nil, 0, cfg)
		if err != nil {
			b.Fatal(err)
		}
		n = 0
		if err := tab.Each(func(uint64, uint64, unwind.Row) error { n++; return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n), "rows")
}

func lookups(b *testing.B, tab unwind.Table, at []uint64) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, ok, err := tab.Row(at[i%len(at)]); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// BenchmarkRow looks up random addresses: with the search table, and with the index made of the
// section.
func BenchmarkRow(b *testing.B) {
	src, hdr, eh, hd, cfg := large(b)
	scanned, err := dwarfcfi.EHFrame(src, eh.Addr, nil, 0, cfg)
	if err != nil {
		b.Fatal(err)
	}
	at := starts(b, scanned)
	b.Run("index", func(b *testing.B) { lookups(b, scanned, at) })
	b.Run("header", func(b *testing.B) {
		tab, err := dwarfcfi.EHFrame(src, eh.Addr, hdr, hd.Addr, cfg)
		if err != nil {
			b.Fatal(err)
		}
		lookups(b, tab, at)
	})
	// A stack has few functions, and they are asked for again and again.
	b.Run("few", func(b *testing.B) { lookups(b, scanned, at[:40]) })
}
