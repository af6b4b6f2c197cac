package elf

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// kinds are bytes that compress in different ways.
func kinds(n int) map[string][]byte {
	rnd := rand.New(rand.NewSource(1))
	noise, words, runs, skewed := make([]byte, n), make([]byte, 0, n+20), make([]byte, 0, n+1000), make([]byte, n)
	rnd.Read(noise)
	for len(words) < n {
		words = fmt.Appendf(words, "word%d ", rnd.Intn(3000))
	}
	for len(runs) < n {
		runs = append(runs, bytes.Repeat([]byte{byte(rnd.Intn(256))}, rnd.Intn(900))...)
	}
	for i := range skewed { // codes of all lengths
		for skewed[i] < 200 && rnd.Intn(2) == 0 {
			skewed[i]++
		}
	}
	return map[string][]byte{"noise": noise, "words": words[:n], "runs": runs[:n], "skewed": skewed, "zeros": make([]byte, n)}
}

func packed(t testing.TB, level int, plain []byte, flush int) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for len(plain) > 0 {
		n := min(len(plain), flush)
		w.Write(plain[:n])
		plain = plain[n:]
		w.Flush()
	}
	w.Close()
	return b.Bytes()
}

// TestSeekable reads streams of all levels and kinds front to back, back to front and at random.
func TestSeekable(t *testing.T) {
	size := max(probes(2<<20), 300000) + 777
	rnd := rand.New(rand.NewSource(2))
	for name, plain := range kinds(size) {
		for _, level := range []int{flate.HuffmanOnly, 0, 6} {
			p := packed(t, level, plain, []int{size, 70000}[rnd.Intn(2)])
			// From a file, so that blocks end anywhere.
			whole := input.New("f", bytes.NewReader(append([]byte("head"), p...)), int64(len(p)+4))
			src, err := newSeekable(whole, name, 4, int64(size))
			if err != nil {
				t.Fatalf("%s, level %d: %v", name, level, err)
			}
			check := func(off, n int) {
				t.Helper()
				b, err := src.Bytes(int64(off), int64(n))
				if err != nil || !bytes.Equal(b, plain[off:off+n]) {
					t.Fatalf("%s, level %d: %d bytes at %d: %v", name, level, n, off, err)
				}
			}
			check(0, size)
			for off := size - 100; off > 0; off -= size / 9 {
				check(off, 100)
			}
			for range 8 {
				off := rnd.Intn(size)
				check(off, rnd.Intn(min(size-off, 300000)))
			}
		}
	}
}

// TestSeekableMemory: a section that becomes very large is read with the memory of its marks and the last chunks, and one that lies
// about its size is found out.
func TestSeekableMemory(t *testing.T) {
	size := 40 << 20
	p := elftest.Zlib(make([]byte, size))
	src, err := newSeekable(input.FromBytes("zeros", p), "zeros", 0, int64(size)+10)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := src.Bytes(int64(size)-5, 5); err != nil || !bytes.Equal(b, make([]byte, 5)) {
		t.Errorf("% x, %v", b, err)
	}
	if _, err := src.Bytes(int64(size)-5, 10); err == nil || !strings.Contains(err.Error(), "ends here") {
		t.Errorf("behind the end: %v", err)
	}
	if _, err := newSeekable(input.FromBytes("zeros", p), "zeros", 0, 1<<40); err == nil {
		t.Error("a claim of a terabyte")
	}
	if _, err := newSeekable(input.FromBytes("zeros", p[1:]), "zeros", 0, 1<<25); err == nil {
		t.Error("another start")
	}
}

// TestLargeSection: such a section of a file, whose other users see nothing of it.
func TestLargeSection(t *testing.T) {
	var plain []byte
	for i := range 17 << 10 { // each KiB has its own number
		plain = append(plain, bytes.Repeat(binary.LittleEndian.AppendUint64(nil, uint64(i)), 128)...)
	}
	f := &elftest.File{Class: 64, Machine: 62, Type: 2}
	f.Add(elftest.Section{Name: ".debug_info", Type: 1, Data: plain, Compress: "zlib"})
	f.Add(elftest.Section{Name: ".zdebug_str", Type: 1, Data: plain, Compress: "gnu"})
	e := open(t, f.Bytes())
	for _, name := range []string{".debug_info", ".debug_str"} {
		d, err := e.Data(e.Section(name))
		if err != nil || d.Size != int64(len(plain)) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, i := range []int64{17000, 5, 1 << 14, 0, 17<<10 - 1} {
			b, err := d.Bytes(i<<10+8, 8)
			if err != nil || binary.LittleEndian.Uint64(b) != uint64(i) {
				t.Errorf("%s: % x, %v, want %#x", name, b, err, i)
			}
		}
	}
}
