package symfile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// generate writes a symbol file of n functions, shaped like those of large programs: per function
// about 36 lines, 16 inlined calls and four unwind records.
func generate(n int) []byte {
	var b bytes.Buffer
	b.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 big\nINFO CODE_ID 0123456789 big\n")
	for i := range n / 4 {
		fmt.Fprintf(&b, "FILE %d /build/src/component%d/file_%d.cpp\n", i, i%17, i)
	}
	for i := range n {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d std::inlined<int, %d>::call(unsigned long)\n", i, i)
	}
	addr := 0x1000
	for i := range n {
		fmt.Fprintf(&b, "FUNC %x %x 0 component::Class%d::method(std::vector<int> const&, int) const\n", addr, 36*12, i)
		for j := range 16 {
			fmt.Fprintf(&b, "INLINE %d %d %d %d %x %x\n", j%3, 100+j, (i+j)%(n/4), (i*7+j)%n, addr+j*24, 20-j%3)
		}
		for j := range 36 {
			fmt.Fprintf(&b, "%x %x %d %d\n", addr+j*12, 12, 10+j, (i+j)%(n/4))
		}
		addr += 36*12 + 16
	}
	for i := range n / 8 {
		fmt.Fprintf(&b, "PUBLIC %x 0 exported_%d\n", addr+i*16, i)
	}
	for i := range n {
		a := 0x1000 + i*(36*12+16)
		fmt.Fprintf(&b, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI %x .cfa: $rsp 16 +\n"+
			"STACK CFI %x $rbp: .cfa -16 + ^\nSTACK CFI %x .cfa: $rbp 16 +\n", a, 36*12, a+1, a+1, a+4)
	}
	return b.Bytes()
}

func benchOpen(b *testing.B, text []byte) { benchShared(b, text, 1) }

func benchShared(b *testing.B, text []byte, workers int) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	records := 0
	for b.Loop() {
		// Through a reader, as a file is, so that the chunks are really read.
		f, err := Open(input.New("big.sym", bytes.NewReader(text), int64(len(text))), Options{Workers: workers})
		if err != nil {
			b.Fatal(err)
		}
		records = f.Counts.Lines
	}
	b.ReportMetric(float64(records), "records")
}

func BenchmarkOpen(b *testing.B) {
	b.Run("generated", func(b *testing.B) { benchOpen(b, generate(10000)) })
	for _, name := range []string{"bigcrash.mozilla.sym.gz", "bigcrash.breakpad.sym.gz"} {
		b.Run(strings.TrimSuffix(name, ".sym.gz"), func(b *testing.B) { benchOpen(b, unpack(b, name)) })
	}
}

// unpack reads one of the corpus' large files.
func unpack(b testing.TB, name string) []byte {
	file, err := os.Open(filepath.Join(corpusRoot, "large", name))
	if err != nil {
		b.Skip("SKIPPED: no corpus: ", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkOpenShared makes the pass with a goroutine a core.
func BenchmarkOpenShared(b *testing.B) {
	workers := runtime.GOMAXPROCS(0)
	b.Run("generated", func(b *testing.B) { benchShared(b, generate(60000), workers) })
	b.Run("bigcrash.mozilla", func(b *testing.B) { benchShared(b, unpack(b, "bigcrash.mozilla.sym.gz"), workers) })
}

// reads counts the reads of a file and their bytes.
type reads struct {
	*bytes.Reader
	count, bytes int
}

func (r *reads) ReadAt(p []byte, off int64) (int, error) {
	r.count++
	r.bytes += len(p)
	return r.Reader.ReadAt(p, off)
}

// BenchmarkOnDemand searches files of growing size without an index: what it
// costs to open one, and to find what a frame needs (its function, lines, inlined calls, and unwind
// rules) each time in another part of the file.
func BenchmarkOnDemand(b *testing.B) {
	for _, n := range []int{5000, 50000} {
		text := generate(n)
		for _, slice := range []int64{4 << 10, 64 << 10} {
			var read reads
			src := func() *input.Source {
				read = reads{Reader: bytes.NewReader(text)}
				return input.New("big.sym", &read, int64(len(text)))
			}
			name := fmt.Sprintf("%dMB-by-%dKiB", len(text)>>20, slice>>10)
			b.Run("open/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := openOnDemand(src(), Options{Slice: slice}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(read.count), "blocks/op")
				b.ReportMetric(float64(read.bytes), "read-B/op")
			})
			b.Run("frame/"+name, func(b *testing.B) {
				b.ReportAllocs()
				f, err := openOnDemand(src(), Options{Slice: slice})
				if err != nil {
					b.Fatal(err)
				}
				before := read
				frames := 0
				for b.Loop() {
					rva := 0x1000 + uint64(frames*7919%n)*(36*12+16) + 100
					if s, _, err := f.Lookup(rva); err != nil || s.Name == "" {
						b.Fatal(s, err)
					}
					if _, _, err := f.Row(cpu.AMD64, rva); err != nil {
						b.Fatal(err)
					}
					frames++
				}
				b.ReportMetric(float64(read.count-before.count)/float64(frames), "blocks/op")
				b.ReportMetric(float64(read.bytes-before.bytes)/float64(frames), "read-B/op")
			})
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	const n = 10000
	f := open(b, "big.sym", generate(n))
	at := func(i int) uint64 { return 0x1000 + uint64(i%n)*(36*12+16) + uint64(i%400) }
	b.Run("recursion", func(b *testing.B) { // the same few functions again and again
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			f.Lookup(at(i % 8 * 997))
		}
	})
	b.Run("spread", func(b *testing.B) { // each function for the first time
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			f.Lookup(at(i * 997))
		}
	})
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		arch := cpu.AMD64
		for i := 0; b.Loop(); i++ {
			f.Row(arch, at(i*997))
		}
	})
}
