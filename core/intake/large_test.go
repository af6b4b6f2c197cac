package intake

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// symLike is text as symbol files have it.
func symLike(n int) []byte {
	rng := rand.New(rand.NewSource(7))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "FUNC %x %x 0 ns%d::Class%d::method(int)\n", b.Len(), rng.Intn(400), rng.Intn(9), rng.Intn(5000))
		for i := range rng.Intn(30) {
			fmt.Fprintf(&b, "%x %x %d %d\n", b.Len()+i, rng.Intn(20), rng.Intn(3000), rng.Intn(300))
		}
	}
	return b.Bytes()[:n]
}

// TestUnpackedLarge: reads anywhere in a large file, by one and by several, give what went in, and
// a spool holds what was unpacked.
func TestUnpackedLarge(t *testing.T) {
	const size = 12 << 20
	text := append([]byte(symText), symLike(size)...)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text)
	w.Close()
	// With the memory that is allowed, it goes only with a spool.
	limits := Limits{KeepWhole: 2 << 20}
	short := withMemory(input.FromBytes("big.sym.gz", packed.Bytes()), 5<<20)
	if out, err := Expand(short, limits, nil); !tooMuch(err) || Refused(err) || len(out) > 0 {
		t.Errorf("without a spool: %v %v", out, err)
	}
	limits.Spool = func() (Spool, error) { return &memorySpool{}, nil }
	src := input.New("big.sym.gz", bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	zipped := input.FromBytes("big.zip", []byte(zipOf(member{"big.sym", string(text), 8})))
	for _, src := range []*input.Source{src, zipped} {
		reads := int64(0)
		out, err := Expand(src, limits, nil)
		if err != nil || len(out) != 1 || out[0].Size != int64(len(text)) {
			t.Fatal(err, out)
		}
		rng := rand.New(rand.NewSource(9))
		for i := range 60 {
			p := make([]byte, 1+rng.Intn(70000))
			at := rng.Int63n(int64(len(text)))
			n, err := out[0].ReadDirect(p, at)
			if err != nil && err != io.EOF || !bytes.Equal(p[:n], text[at:at+int64(n)]) {
				t.Fatalf("%s: read %d at %d: %v", src.Name, i, at, err)
			}
			reads += int64(n)
		}
		// By several goroutines, as those that share a pass read it.
		wrong := make(chan string, 3)
		for g := range 3 {
			go func() {
				p := make([]byte, 300<<10)
				for at := int64(g) * 100 << 10; at < out[0].Size; at += 3 << 20 {
					if n, err := out[0].ReadDirect(p, at); err != nil && err != io.EOF || !bytes.Equal(p[:n], text[at:at+int64(n)]) {
						wrong <- fmt.Sprintf("goroutine %d at %d: %v", g, at, err)
						return
					}
				}
				wrong <- ""
			}()
		}
		for range 3 {
			if w := <-wrong; w != "" {
				t.Error(w)
			}
		}
		// All of it in order, as a pass reads it.
		p := make([]byte, 1<<20)
		for at := int64(0); at < out[0].Size; at += int64(len(p)) {
			n, err := out[0].ReadDirect(p, at)
			if err != nil && err != io.EOF || !bytes.Equal(p[:n], text[at:at+int64(n)]) {
				t.Fatalf("%s at %d: %v", src.Name, at, err)
			}
		}
	}
	small := limits
	small.RatioFloor = 1 << 20
	if out, err := expand(strings.Repeat(gz(string(make([]byte, 8<<20))), 4), small); !errors.Is(err, ErrRatio) {
		t.Errorf("a bomb: %v %v", out, err)
	}
	small.MaxStream = 10 << 20
	if _, err := Expand(src, small, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more than is allowed: %v", err)
	}
	if out, err := Expand(input.FromBytes("cut.sym.gz", packed.Bytes()[:packed.Len()/2]), limits, nil); err == nil || len(out) != 1 {
		t.Errorf("cut: %v %v", err, out)
	} else if p, err := out[0].Bytes(out[0].Size-5000, 5000); err != nil || !bytes.Equal(p, text[out[0].Size-5000:out[0].Size]) {
		t.Errorf("what came out before the cut: %v", err)
	}
}
