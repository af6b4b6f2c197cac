package symfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

func sourceOf(text []byte) *input.Source {
	return input.New("x.sym", bytes.NewReader(text), int64(len(text)))
}

// piecesOf indexes a text in pieces of a size, as workers do that share nothing.
func piecesOf(t testing.TB, text []byte, size int64) ([][]byte, error) {
	t.Helper()
	bounds, err := Cuts(sourceOf(text), size)
	if err != nil {
		t.Fatal(err)
	}
	var pieces [][]byte
	for i := range len(bounds) - 1 {
		p, err := IndexPiece(sourceOf(text), bounds[i], bounds[i+1], nil)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, p)
	}
	return pieces, nil
}

// TestPieces: a file whose pieces were indexed apart is the file that one pass reads, to the last warning; and so it is from an index
// that was kept.
func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	texts := [][]byte{generate(4000), {}, []byte("nothing\n")}
	for i := range probes(12) {
		texts = append(texts, append(mixed(rng, 1500, []string{"before", "after", "among"}[i%3]), "FILE 1500 last\nINLINE_ORIGIN 1500 last"...))
	}
	for i, text := range texts {
		whole := open(t, "x.sym", text)
		pieces, err := piecesOf(t, text, 300<<10)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && len(pieces) < 3 {
			t.Fatalf("%d pieces of %d bytes", len(pieces), len(text))
		}
		f := onDemandOf(t, "x.sym", text, 4<<10)
		if changed, err := f.Adopt(pieces...); changed || err != nil || !f.Exact() {
			t.Fatalf("text %d: %v %v", i, changed, err)
		}
		sameIndex(t, "pieces", f, whole)
		kept, err := f.Index()
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) > len(text)/4+1000 {
			t.Errorf("an index of %d bytes for a text of %d", len(kept), len(text))
		}
		g, err := OpenIndexed(sourceOf(text), kept, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sameIndex(t, "kept", g, whole)
		xs := borders(whole, rng)
		for _, x := range xs[:min(len(xs), 500)] {
			if d := differs(g, whole, x); d != "" {
				t.Fatal(d)
			}
		}
		if g.Revised() {
			t.Error("an index of the very file was found wrong")
		}
	}
}

// TestPiecesApart: pieces that need each other are refused, and so are some that are missing, in disorder, or of another file.
func TestPiecesApart(t *testing.T) {
	text := []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\nFUNC 0 ffffff 0 f\n" + manyLines(40000) +
		strings.Repeat("PUBLIC 10 0 p\n", 60000) + manyLines(40000))
	if _, err := piecesOf(t, text, 300<<10); err != ErrApart {
		t.Errorf("lines of a FUNC in another piece: %v", err)
	}
	text = append(generate(3000), "FUNC fffff0 10 0 f\nfffff0 10 1 9999999\n"...)
	pieces, err := piecesOf(t, text, 300<<10)
	if err != nil {
		t.Fatal(err)
	}
	f := onDemandOf(t, "x.sym", text, 4<<10)
	if _, err := f.Adopt(pieces...); err != ErrApart {
		t.Errorf("a number without a record: %v", err)
	}
	text = generate(3000)
	if pieces, err = piecesOf(t, text, 300<<10); err != nil {
		t.Fatal(err)
	}
	f = onDemandOf(t, "x.sym", text, 4<<10)
	for name, bad := range map[string][][]byte{"none": nil, "missing": pieces[1:], "not all": pieces[:1], "exchanged": {pieces[1], pieces[0]},
		"twice": {pieces[0], pieces[0]}, "an empty one": append([][]byte{nil}, pieces...)} {
		var fe *input.FormatError
		if _, err := f.Adopt(bad...); !errors.As(err, &fe) || f.Exact() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := open(t, "x.sym", text[:len(text)-1]).Adopt(pieces...); err == nil {
		t.Error("pieces of a longer file")
	}
	// An answer that was wrong is told of.
	unsorted := append(slices.Clone(text), "FUNC 1010 8 0 other\n"...)
	if pieces, err = piecesOf(t, unsorted, 300<<10); err != nil {
		t.Fatal(err)
	}
	f = onDemandOf(t, "x.sym", text, 4<<10)
	g := onDemandOf(t, "x.sym", unsorted, 4<<10)
	for _, x := range []*File{f, g} {
		x.Lookup(0x1000 + 36*12 + 4)
	}
	if _, err := g.Adopt(pieces...); err != nil {
		t.Error(err)
	}
}

// smallIndex is a file with records of every kind, and its index.
func smallIndex(t testing.TB) (text, index []byte) {
	text = []byte(sample + "garbage\nFUNC zz\n10 10 1 1\n")
	index, err := open(t, "x.sym", text).Index()
	if err != nil {
		t.Fatal(err)
	}
	return text, index
}

// TestIndexDamaged: an index that is cut or changed anywhere is an error that says so.
func TestIndexDamaged(t *testing.T) {
	text, index := smallIndex(t)
	for n := range index {
		var fe *input.FormatError
		if _, err := OpenIndexed(sourceOf(text), index[:n], Options{}); !errors.As(err, &fe) {
			t.Fatalf("cut at %d of %d: %v", n, len(index), err)
		}
		bad := slices.Clone(index)
		bad[n] ^= 1 << (n % 8)
		if _, err := OpenIndexed(sourceOf(text), bad, Options{}); !errors.As(err, &fe) {
			t.Fatalf("changed at %d of %d: %v", n, len(index), err)
		}
	}
	other := bytes.Clone(text)
	other[len(other)/2] ^= 1
	if _, err := OpenIndexed(sourceOf(other), index, Options{}); err == nil || !strings.Contains(err.Error(), "x.sym: index of the symbol file: expected an index of this file, found one of other content") {
		t.Errorf("another file: %v", err)
	}
	if _, err := OpenIndexed(input.New("x.sym", &flaky{err: errors.New("broken")}, int64(len(text))), index, Options{}); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a broken reader: %v", err)
	}
	if b, err := onDemandOf(t, "x.sym", generate(200), 4<<10).Index(); b != nil || err != nil {
		t.Errorf("an index of a file that was not read: %d bytes, %v", len(b), err)
	}
}

// TestIndexOld: a file that was changed where its fingerprint does not see it is read anew as soon as a lookup meets the place.
func TestIndexOld(t *testing.T) {
	text := generate(3000)
	index, err := open(t, "x.sym", text).Index()
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte("FUNC 3cd40 "))
	if at < 0 {
		t.Fatal("there is no such function")
	}
	copy(text[at:], "FUNC 3cd30 ")
	f, err := OpenIndexed(sourceOf(text), index, Options{})
	if err != nil {
		t.Skip("*** SKIPPED: the fingerprint sees the change: ", err)
	}
	want := open(t, "x.sym", text)
	if d := differs(f, want, 0x3cd38); d != "" && !f.Revised() {
		// The function before still ends where it ended: only an address of the one that was changed tells.
		t.Log(d)
	}
	if d := differs(f, want, 0x3cd48); d != "" || !f.Revised() || f.Revised() {
		t.Errorf("not read anew: %s", d)
	}
	sameIndex(t, "anew", f, want)
}

// withSum gives an index the checksum that it should have, so that what stands in it is read.
func withSum(index []byte) []byte {
	if len(index) < 4 {
		return index
	}
	body := index[: len(index)-4 : len(index)-4]
	return binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE(body))
}

// TestUnpackBeyond: what claims to be longer than what is left, be it by a byte, is bad.
func TestUnpackBeyond(t *testing.T) {
	for _, claimed := range []int{0, 1, 127, 128, 300, 20_000} {
		for left := max(0, claimed-4); left < claimed+2; left++ {
			var p packer
			p.unsigned(uint64(claimed))
			u := unpacker{b: append(p.b, make([]byte, left)...)}
			if got := u.bytes(); u.bad != (claimed > left) || !u.bad && len(got) != claimed || u.at > len(u.b) {
				t.Errorf("%d bytes, %d are left: bad %v, %d bytes", claimed, left, u.bad, len(got))
			}
		}
	}
}

// FuzzIndex: whatever an index says, nothing panics or hangs, and lookups stay inside the file.
func FuzzIndex(f *testing.F) {
	text, index := smallIndex(f)
	f.Add(index)
	if pieces, err := piecesOf(f, text, 1<<20); err == nil {
		f.Add(pieces[0])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		bad := slices.Clone(index)
		for range 1 + rng.IntN(4) {
			bad[9+rng.IntN(len(bad)-9)] = byte(rng.Uint32())
		}
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		g, err := OpenIndexed(sourceOf(text), withSum(index), Options{})
		if err != nil {
			var fe *input.FormatError
			if !errors.As(err, &fe) && err != ErrApart {
				t.Fatal(err)
			}
			return
		}
		for _, x := range []uint64{0, 0x1000, 0x1020, 0x2000, 0x3000, 1 << 40} {
			probe(g, x)
			g.Row(cpu.AMD64, x)
		}
		if _, err := g.Index(); err != nil {
			t.Fatal(err)
		}
	})
}
