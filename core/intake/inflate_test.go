package intake

import (
	"bytes"
	"compress/flate"
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

func deflate(data []byte, level int) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, level)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func inflaterOf(packed []byte, zipped bool) *inflater {
	return newInflater(input.New("x", bytes.NewReader(packed), int64(len(packed))), zipped)
}

// TestInflate: what every level of the standard library packs comes out as it went in, in reads of any size, and from every block on.
func TestInflate(t *testing.T) {
	rng := rand.New(rand.NewSource(8))
	for name, data := range map[string][]byte{"text": symLike(700000), "noise": []byte(noise(200000)), "zeros": make([]byte, 300000),
		"mixed": append(append(symLike(100000), noise(100000)...), symLike(50000)...), "one": {7}, "none": {}} {
		for level := -2; level <= 9; level++ {
			packed := deflate(data, level)
			z := inflaterOf(packed, false)
			var points []point
			z.onBlock = func(now []byte) { points = append(points, z.here(now)) }
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
			if z.consumed() != int64(len(packed)) && z.consumed() < int64(len(packed))-8 {
				t.Errorf("%s, level %d: %d of %d bytes were read", name, level, z.consumed(), len(packed))
			}
			for _, p := range points {
				if err := z.begin(p); err != nil {
					t.Fatal(err)
				}
				rest, err := io.ReadAll(z)
				if err != nil || !bytes.Equal(rest, data[p.out:]) {
					t.Fatalf("%s, level %d, from %d: %v, %d bytes", name, level, p.out, err, len(rest))
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

// TestUnpackedLarge: of a large file little is in memory, reads anywhere give what went in, and none begins at the start again.
func TestUnpackedLarge(t *testing.T) {
	const size = 12 << 20
	text := append([]byte(symText), symLike(size)...)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text)
	w.Close()
	limits := Limits{keepWhole: 2 << 20, MaxTotal: 12 << 20}
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
		// All of it in order, as a pass reads it.
		p := make([]byte, 1<<20)
		for at := int64(0); at < out[0].Size; at += int64(len(p)) {
			n, err := out[0].ReadDirect(p, at)
			if err != nil && err != io.EOF || !bytes.Equal(p[:n], text[at:at+int64(n)]) {
				t.Fatalf("%s at %d: %v", src.Name, at, err)
			}
		}
	}
	// What is held, and how far back it begins.
	u := &unpacked{packed: int64(packed.Len()), size: -1, limits: limits.orDefault(), budget: &budget{12 << 20, 12 << 20}}
	u.deflated(src, true)
	for u.err == nil {
		u.step()
	}
	if u.err != io.EOF || u.n != int64(len(text)) || u.held > (keepChunks+1)*chunkSize || len(u.points) < size/pointEvery/2 {
		t.Fatalf("%v: %d bytes, %d of them held, %d points", u.err, u.n, u.held, len(u.points))
	}
	u.settle()
	for range 50 {
		at := rand.Int63n(u.n - 100)
		there := u.chunks[at/chunkSize] != nil
		if _, err := u.ReadAt(make([]byte, 100), at); err != nil {
			t.Fatal(err)
		}
		if p := u.points[len(u.points)/2]; !there && at > p.out+chunkSize && u.z.consumed() < p.at {
			t.Fatalf("for offset %d the data were read from %d on", at, u.z.consumed())
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

// FuzzInflate: whatever the data, the standard library thinks the same of them.
func FuzzInflate(f *testing.F) {
	for level := -2; level <= 9; level += 3 {
		f.Add(deflate(symLike(500), level), false)
	}
	f.Add([]byte(gz("hello")+gz("world")), true)
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
