package elf

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// BenchmarkPublics makes the table of names of a program with a million functions, a third of them
// with other names at the same place, in no order; and reports what it keeps of each.
func BenchmarkPublics(b *testing.B) {
	const count = 1_000_000
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 8, Flags: 6, Address: 0x1000, NoBits: count * 16})
	symbols := make([]elftest.Sym, count)
	for i := range symbols {
		at := uint64(i*7919%count) * 16
		if i%3 == 0 {
			at &^= 31
		}
		symbols[i] = elftest.Sym{Name: fmt.Sprintf("_ZN7chrome%dfunctionEv", i), Type: 2, Bind: 1, Value: 0x1000 + at, Size: 16, Section: ".text"}
	}
	bench(b, input.FromBytes("made.elf", f.Symbols(".symtab", symbols).Bytes()))
}

// BenchmarkPublicsFile does so with the binary that CRASHPANE_ELF names.
func BenchmarkPublicsFile(b *testing.B) {
	path := os.Getenv("CRASHPANE_ELF")
	file, err := os.Open(path)
	if err != nil {
		b.Skip("*** SKIPPED: CRASHPANE_ELF does not name a binary: ", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	bench(b, input.New(path, file, info.Size()))
}

// counter counts the bytes that are read.
type counter struct {
	src *input.Source
	n   int64
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.src.ReadDirect(p, off)
	c.n += int64(n)
	return n, err
}

func bench(b *testing.B, src *input.Source) {
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var p *Publics
	var read int64
	for b.Loop() {
		c := &counter{src: src}
		f, err := Open(input.New(src.Name, c, src.Size))
		if err != nil {
			b.Fatal(err)
		}
		if p, err = f.Publics(); err != nil {
			b.Fatal(err)
		}
		read = c.n
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(max(p.Len(), 1)), "B/name")
	b.ReportMetric(float64(read)/1e6, "MB-read")
	b.ReportMetric(float64(p.Len()), "names")
	runtime.KeepAlive(p)
}
