package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand"
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

func noise(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(6)).Read(b)
	return b
}

func deflate(data []byte, level int) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, level)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func inflaterOf(packed []byte, zipped bool) *Reader {
	return New(input.New("x", bytes.NewReader(packed), int64(len(packed))), zipped)
}

// TestInflate: what every level of the standard library packs comes out as it went in, in reads of any size, and from every block on.
func TestInflate(t *testing.T) {
	rng := rand.New(rand.NewSource(8))
	for name, data := range map[string][]byte{"text": symLike(700000), "noise": noise(200000), "zeros": make([]byte, 300000),
		"mixed": append(append(symLike(100000), noise(100000)...), symLike(50000)...), "one": {7}, "none": {}} {
		for level := -2; level <= 9; level++ {
			packed := deflate(data, level)
			z := inflaterOf(packed, false)
			var points []Point
			z.OnBlock = func(now []byte) { points = append(points, z.Here(now)) }
			var out []byte
			var err error
			for err == nil {
				p := make([]byte, 1+rng.Intn([]int{3, 1000, 100000}[rng.Intn(3)]))
				var n int
				n, err = z.Read(p)
				out = append(out, p[:n]...)
			}
			if err != io.EOF || !bytes.Equal(out, data) {
				t.Fatalf("%s, level %d: %v, %d of %d bytes", name, level, err, len(out), len(data))
			}
			if z.Consumed() != int64(len(packed)) && z.Consumed() < int64(len(packed))-8 {
				t.Errorf("%s, level %d: %d of %d bytes were read", name, level, z.Consumed(), len(packed))
			}
			z.OnBlock = nil
			for _, p := range points {
				if err := z.Begin(p); err != nil {
					t.Fatal(err)
				}
				rest, err := io.ReadAll(z)
				if err != nil || !bytes.Equal(rest, data[p.Out:]) {
					t.Fatalf("%s, level %d, from %d: %v, %d bytes", name, level, p.Out, err, len(rest))
				}
			}
		}
	}
}

// TestInflateDamaged cuts data after each byte, and changes each: the standard library's opinion counts.
func TestInflateDamaged(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Name, w.Comment, w.Extra = "name", "comment", []byte("extra")
	w.Write(symLike(3000))
	w.Close()
	w.Reset(&packed)
	w.Write([]byte("second member"))
	w.Close()
	for n := range packed.Len() {
		sameAs(t, packed.Bytes()[:n], true)
		bad := bytes.Clone(packed.Bytes())
		bad[n] ^= 1 << (n % 8)
		sameAs(t, bad, true)
		bad[n] = byte(n * 37)
		sameAs(t, bad, true)
	}
}

// sameAs compares with the standard library: what comes out, and whether it is all.
func sameAs(t *testing.T, packed []byte, zipped bool) {
	t.Helper()
	const most = 4 << 20
	got, err := io.ReadAll(io.LimitReader(inflaterOf(packed, zipped), most))
	var want []byte
	var wantErr error
	if zipped {
		var r *gzip.Reader
		if r, wantErr = gzip.NewReader(bytes.NewReader(packed)); wantErr == nil {
			want, wantErr = io.ReadAll(io.LimitReader(r, most))
		} else if wantErr == io.EOF {
			wantErr = io.ErrUnexpectedEOF
		}
	} else {
		want, wantErr = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), most))
	}
	// A header with a checksum of its own is not checked here, and a size that is wrong only has the sum against it.
	if errors.Is(wantErr, gzip.ErrHeader) && err == nil || errors.Is(wantErr, gzip.ErrChecksum) && err == nil {
		return
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%x:\n%v, %d bytes\nwant %v, %d bytes", packed, err, len(got), wantErr, len(want))
	}
	// At damage the standard library may keep some bytes back that came out before it.
	if err == nil && !bytes.Equal(got, want) || err != nil && !bytes.HasPrefix(got, want[:min(len(want), len(got))]) {
		t.Fatalf("%x: %d bytes, want %d", packed, len(got), len(want))
	}
}

// FuzzInflate: whatever the data, the standard library thinks the same of them.
func FuzzInflate(f *testing.F) {
	for level := -2; level <= 9; level += 3 {
		f.Add(deflate(symLike(500), level), false)
	}
	var two bytes.Buffer
	for _, text := range []string{"hello", "world"} {
		w := gzip.NewWriter(&two)
		w.Write([]byte(text))
		w.Close()
	}
	f.Add(two.Bytes(), true)
	f.Fuzz(func(t *testing.T, packed []byte, zipped bool) { sameAs(t, packed, zipped) })
}

func BenchmarkInflate(b *testing.B) {
	text := symLike(8 << 20)
	packed := deflate(text, 6)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			io.Copy(io.Discard, inflaterOf(packed, false))
		}
	})
	b.Run("standard", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			io.Copy(io.Discard, flate.NewReader(bytes.NewReader(packed)))
		}
	})
}
