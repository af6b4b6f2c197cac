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
	"github.com/crashpane/crashpane/symfile/lazy"
)

func sourceOf(text []byte) *input.Source {
	return input.New("x.sym", bytes.NewReader(text), int64(len(text)))
}

// adopt has a file take the indexes of its chunks.
func adopt(f *File, chunks [][]byte) error {
	if len(chunks) == 1 {
		g, err := OpenIndexed(f.src, input.FromBytes(f.src.Name, chunks[0]), f.opt)
		if err != nil {
			return err
		}
		f.Adopt(g)
		return nil
	}
	s := &scanner{f: newFile(f.src, f.opt)}
	if err := s.joinAll(slices.Clone(chunks), 0, f.src.Size); err != nil {
		return err
	}
	s.f.finish()
	f.Adopt(s.f)
	return nil
}

// chunksOf indexes a text in chunks of a size, as workers do that share nothing.
func chunksOf(t testing.TB, text []byte, size int64) ([][]byte, error) {
	t.Helper()
	bounds, err := newFile(sourceOf(text), Options{}).cuts(0, int64(len(text)), size)
	if err != nil {
		t.Fatal(err)
	}
	var chunks [][]byte
	for i := range len(bounds) - 1 {
		p, err := new(Indexer).Index(Chunk{Src: sourceOf(text), From: bounds[i], To: bounds[i+1]})
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, p)
	}
	return chunks, nil
}

// TestIndexInChunks: a file whose chunks were indexed separately is the file that one pass reads,
// to the last warning; and so it is from an index that was kept.
func TestIndexInChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	texts := [][]byte{generate(4000), {}, []byte("nothing\n")}
	for i := range probes(12) {
		texts = append(texts, append(mixed(rng, 1500, []string{"before", "after", "among"}[i%3]), "FILE 1500 last\nINLINE_ORIGIN 1500 last"...))
	}
	for i, text := range texts {
		whole := open(t, "x.sym", text)
		chunks, err := chunksOf(t, text, 300<<10)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 && len(chunks) < 3 {
			t.Fatalf("%d chunks of %d bytes", len(chunks), len(text))
		}
		f := onDemandOf(t, "x.sym", text, 4<<10)
		if err := adopt(f, chunks); err != nil || !f.FullyIndexed() {
			t.Fatalf("text %d: %v", i, err)
		}
		sameIndex(t, "chunks", f, whole)
		kept, err := f.Index()
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) > len(text)/4+1000 {
			t.Errorf("an index of %d bytes for a text of %d", len(kept), len(text))
		}
		g, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", kept), Options{})
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

// TestIndivisible: chunks that need each other are refused, and so are some that are missing, in
// disorder, or of another file.
func TestIndivisible(t *testing.T) {
	text := []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\nFUNC 0 ffffff 0 f\n" + manyLines(40000) +
		strings.Repeat("PUBLIC 10 0 p\n", 60000) + manyLines(40000))
	if _, err := chunksOf(t, text, 300<<10); err != ErrIndivisible {
		t.Errorf("lines of a FUNC in another chunk: %v", err)
	}
	text = generate(3000)
	chunks, err := chunksOf(t, text, 300<<10)
	if err != nil {
		t.Fatal(err)
	}
	f := onDemandOf(t, "x.sym", text, 4<<10)
	for name, bad := range map[string][][]byte{"none": nil, "missing": chunks[1:], "not all": chunks[:1], "exchanged": {chunks[1], chunks[0]},
		"twice": {chunks[0], chunks[0]}, "an empty one": append([][]byte{nil}, chunks...)} {
		var fe *input.FormatError
		if err := adopt(f, bad); !errors.As(err, &fe) || f.FullyIndexed() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := adopt(open(t, "x.sym", text[:len(text)-1]), chunks); err == nil {
		t.Error("chunks of a longer file")
	}
	// A file that gave a wrong answer adopts the index too.
	unsorted := append(slices.Clone(text), "FUNC 1010 8 0 other\n"...)
	if chunks, err = chunksOf(t, unsorted, 300<<10); err != nil {
		t.Fatal(err)
	}
	f = onDemandOf(t, "x.sym", text, 4<<10)
	g := onDemandOf(t, "x.sym", unsorted, 4<<10)
	for _, x := range []*File{f, g} {
		x.Lookup(0x1000 + 36*12 + 4)
	}
	if err := adopt(g, chunks); err != nil {
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

// TestIndexDamaged: an index that is cut anywhere, or changed in what is read at once, is an error
// that says so. If a block is changed, the file is read without the index as soon as a lookup
// meets it.
func TestIndexDamaged(t *testing.T) {
	text, index := smallIndex(t)
	whole := open(t, "x.sym", text)
	revised := 0
	for n := range index {
		var fe *input.FormatError
		if _, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", index[:n]), Options{}); !errors.As(err, &fe) {
			t.Fatalf("cut at %d of %d: %v", n, len(index), err)
		}
		bad := slices.Clone(index)
		bad[n] ^= 1 << (n % 8)
		f, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", bad), Options{})
		if errors.As(err, &fe) {
			continue
		}
		if err != nil || n < int(binary.LittleEndian.Uint32(index[storedStart-4:])) {
			t.Fatalf("changed at %d of %d: %v", n, len(index), err)
		}
		for _, x := range borders(whole, rand.New(rand.NewPCG(1, 2))) {
			if d := differs(f, whole, x); d != "" {
				t.Fatalf("changed at %d of %d: %s", n, len(index), d)
			}
		}
		if f.Revised() {
			revised++
		}
	}
	if revised == 0 {
		t.Error("no block that was changed was noticed")
	}
	other := bytes.Clone(text)
	other[len(other)/2] ^= 1
	if _, err := OpenIndexed(sourceOf(other), input.FromBytes("x.sym.index", index), Options{}); err == nil || !strings.Contains(err.Error(), "x.sym: index of the symbol file: expected an index of this file, found one of other content") {
		t.Errorf("another file: %v", err)
	}
	for name, src := range map[string][2]*input.Source{
		"the file":  {input.New("x.sym", &flaky{err: errors.New("broken")}, int64(len(text))), input.FromBytes("x.sym.index", index)},
		"the index": {sourceOf(text), input.New("x.sym.index", &flaky{err: errors.New("broken")}, int64(len(index)))},
	} {
		if _, err := OpenIndexed(src[0], src[1], Options{}); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("a broken reader of %s: %v", name, err)
		}
	}
	if b, err := onDemandOf(t, "x.sym", generate(200), 4<<10).Index(); b != nil || err != nil {
		t.Errorf("an index of a file that was not read: %d bytes, %v", len(b), err)
	}
}

// linked is a file with its STACK CFI records in another order, some FILE numbers twice and in
// disorder if they are, and records of all kinds.
func linked(rng *rand.Rand, n int, numbers bool) []byte {
	var heads, files, funcs []string
	for _, line := range strings.SplitAfter(string(mixed(rng, n, "after")), "\n") {
		switch {
		case strings.HasPrefix(line, "FILE "):
			files = append(files, line)
		case strings.HasPrefix(line, "STACK CFI INIT "):
			heads = append(heads, line)
		case strings.HasPrefix(line, "STACK CFI "):
			heads[len(heads)-1] += line
		default:
			funcs = append(funcs, line)
		}
	}
	rng.Shuffle(len(heads), func(i, j int) { heads[i], heads[j] = heads[j], heads[i] })
	if numbers {
		rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		files = append(files, "FILE 7 another of this number\n")
	}
	return []byte(funcs[0] + strings.Join(files, "") + strings.Join(funcs[1:], "") + strings.Join(heads, ""))
}

// indexBeside is a file with its index in another one, each by a reader of the kind that is wanted.
func indexBeside(text, index []byte, many bool) *input.Source {
	of := func(name string, b []byte) *input.Source {
		if many {
			return input.New(name, &manyReader{bytes.NewReader(b)}, int64(len(b)))
		}
		return input.New(name, bytes.NewReader(b), int64(len(b)))
	}
	src := of("x.sym", text)
	src.Index = of("x.sym.index", index)
	return src
}

// TestIndexBeside: what is looked up by single blocks of an index is what the whole index
// in memory says, and what the full index does, one by one and prefetched.
func TestIndexBeside(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 82))
	texts := [][]byte{generate(9000), linked(rng, 9000, false), linked(rng, 9000, true)}
	for i, text := range texts {
		whole := open(t, "x.sym", text)
		index, err := whole.Index()
		if err != nil || len(index) < 100<<10 {
			t.Fatalf("an index of %d bytes, %v", len(index), err)
		}
		for _, many := range []bool{false, true} {
			f, err := openOnDemand(indexBeside(text, index, many), Options{Slice: 4 << 10})
			if err != nil || !f.FullyIndexed() || f.text.Beside == nil {
				t.Fatalf("text %d: %v, the index is in memory", i, err)
			}
			xs := borders(whole, rng)
			for n := range min(len(xs), probes(3000)) {
				if many && n%200 == 0 {
					f.Prefetch(xs[n:min(n+200, len(xs))], xs[n:min(n+200, len(xs))])
				}
				if d := differs(f, whole, xs[n]); d != "" {
					t.Fatalf("text %d: %s", i, d)
				}
			}
			if f.Revised() || f.WarningCount != whole.WarningCount {
				t.Errorf("text %d: revised, or %d warnings for %d", i, f.WarningCount, whole.WarningCount)
			}
			if again, err := f.Index(); err != nil || !bytes.Equal(again, index) {
				t.Errorf("text %d: the index of a file with one is another: %v", i, err)
			}
			if err := f.Complete(nil); err != nil {
				t.Fatal(err)
			}
			sameIndex(t, "completed", f, whole)
		}
	}
}

// TestIndexBesideWrong: an index that is of another file, of another version, cut, or damaged where
// only a lookup sees it is not used, a warning says so, and what is looked up is right all the
// same.
func TestIndexBesideWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 84))
	text := linked(rng, 9000, false)
	whole := open(t, "x.sym", text)
	index, err := whole.Index()
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(text)
	changed[bytes.LastIndex(changed, []byte(".cfa"))+1] = 'd' // near the end, where the fingerprint sees it
	stale, err := open(t, "x.sym", changed).Index()
	if err != nil {
		t.Fatal(err)
	}
	at := func(n int, b byte) []byte {
		out := slices.Clone(index)
		out[n] ^= b
		return out
	}
	damaged := slices.Clone(index) // in all blocks
	for n := int(binary.LittleEndian.Uint32(index[storedStart-4:])); n < len(damaged); n += 200 {
		damaged[n] ^= 0x55
	}
	start := int(binary.LittleEndian.Uint32(index[storedStart-4:]))
	for name, c := range map[string]struct {
		index []byte
		says  string
	}{
		"empty":           {nil, "not used"},
		"something else":  {[]byte("<!doctype html><title>Everything is here</title>"), "48 bytes that are not an index"},
		"another version": {at(len(storedMagic), storedVersion^9), "version 9"},
		"stale":           {stale, "one of other content"},
		"cut":             {index[:len(index)-1], "one of"},
		"longer":          {append(slices.Clone(index), 0), "one of"},
		"damaged start":   {at(start/2, 1), "a checksum that does not match"},
		"endless start":   {at(storedStart-1, 0x7f), "a checksum that does not match"},
		"damaged blocks":  {damaged, "does not match its checksum"},
	} {
		f, err := openOnDemand(indexBeside(text, c.index, true), Options{Slice: 4 << 10})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		xs := borders(whole, rng)
		for n := range min(len(xs), probes(500)) {
			if n%100 == 0 {
				f.Prefetch(xs[n:n+100], xs[n:n+100])
			}
			if d := differs(f, whole, xs[n]); d != "" {
				t.Fatalf("%s: %s", name, d)
			}
		}
		if w := f.Warnings; len(w) == 0 || !strings.HasPrefix(w[0].String(), "the index next to the file is not used: ") || !strings.Contains(w[0].String(), c.says) {
			t.Errorf("%s: no word of it: %.300v", name, w)
		}
		if strings.HasPrefix(name, "damaged b") && !f.Revised() {
			t.Errorf("%s: answers of the index were not taken back", name)
		}
	}
}

// TestIndexOld: a file that was changed where its fingerprint does not see it is read again as soon
// as a lookup meets the place.
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
	f, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", index), Options{})
	if err != nil {
		t.Skip("*** SKIPPED: the fingerprint sees the change: ", err)
	}
	want := open(t, "x.sym", text)
	if d := differs(f, want, 0x3cd38); d != "" && !f.Revised() {
		// The function before still ends where it ended: only an address of the one that was
		// changed tells.
		t.Log(d)
	}
	if d := differs(f, want, 0x3cd48); d != "" || !f.Revised() || f.Revised() {
		t.Errorf("not read again: %s", d)
	}
	sameIndex(t, "anew", f, want)
}

// withSum gives an index the checksum that it should have, so that what stands in it is read.
func withSum(index []byte) []byte {
	if len(index) < storedStart {
		return index
	}
	index = slices.Clone(index)
	if n := int(binary.LittleEndian.Uint32(index[storedStart-4:])); n >= 4 && n <= len(index) {
		binary.LittleEndian.PutUint32(index[n-4:], crc32.ChecksumIEEE(index[:n-4]))
	}
	return index
}

// trusted gives the blocks of an index the checksums that they should have, too; read has them read
// where they are.
func trusted(f *File, read bool) {
	if read {
		f.text.Beside = lazy.NewText(f.index, 1<<10)
	}
	for k := range f.tables {
		t := &f.tables[k]
		for b := range t.heads {
			from, to := t.span(b)
			t.sums[b] = crc32.ChecksumIEEE(t.data[from:to])
		}
		if read {
			t.text, t.data = f.text.Beside, nil
		}
	}
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
	if chunks, err := chunksOf(f, text, 1<<20); err == nil {
		f.Add(chunks[0])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		bad := slices.Clone(index)
		for range 1 + rng.IntN(4) {
			bad[storedStart+rng.IntN(len(bad)-storedStart)] = byte(rng.Uint32())
		}
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		g, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", withSum(index)), Options{})
		if err != nil {
			var fe *input.FormatError
			if !errors.As(err, &fe) && err != ErrIndivisible {
				t.Fatal(err)
			}
			return
		}
		if g.index != nil {
			trusted(g, len(index)%2 == 0)
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

// TestIndexEnds: a record whose text ends before it begins, or beyond the file, is not believed,
// although the checksums are right.
func TestIndexEnds(t *testing.T) {
	text := generate(300)
	for _, end := range []int64{-5, 0, int64(len(text)) + 2} {
		f := open(t, "x.sym", text)
		recs := f.tables[tableFuncs].all()
		for i := range recs {
			recs[i].end = end
		}
		f.tables[tableFuncs].fill(recs)
		index, err := f.Index()
		if err != nil {
			t.Fatal(err)
		}
		g, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", index), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := differs(g, open(t, "x.sym", text), recs[100].rva); d != "" || g.wrong == nil && g.index != nil {
			t.Errorf("an end of %d: %s", end, d)
		}
	}
}
