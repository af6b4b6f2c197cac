package symfile

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// manyReader counts single reads, and reads of many places at once with their places.
type manyReader struct {
	*bytes.Reader
	single, many, places int
	err                  error
}

func (m *manyReader) ReadAt(p []byte, off int64) (int, error) {
	m.single++
	return m.Reader.ReadAt(p, off)
}

func (m *manyReader) ReadManyAt(parts []input.Part) error {
	m.many++
	m.places += len(parts)
	for _, p := range parts {
		if _, err := m.Reader.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return m.err
}

// sparseBy opens a symbol file by a reader of many places.
func sparseBy(t *testing.T, r input.ManyReader, text []byte) *File {
	t.Helper()
	f, err := openSparse(input.New("m.sym", r, int64(len(text))), Options{Slice: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func manyOf(t *testing.T, text []byte) (*File, *manyReader) {
	t.Helper()
	r := &manyReader{Reader: bytes.NewReader(text)}
	return sparseBy(t, r, text), r
}

// TestPrepare: what was prepared is looked up without another read, in far fewer reads than there are places, and answered the same.
func TestPrepare(t *testing.T) {
	text := generate(4000)
	exact := open(t, "m.sym", text)
	f, r := manyOf(t, text)
	var rvas []uint64
	for i := range 100 {
		rvas = append(rvas, uint64(0x1000+(i*37%4000)*(36*12+16)+i%400))
	}
	for what, prepared := range map[string]struct{ prepare, ask func() }{
		"rules": {func() { f.Prepare(rvas[:40], nil).All() }, func() {
			for _, rva := range rvas[:40] {
				f.Row(cpu.AMD64, rva)
			}
		}},
		"functions": {func() { f.Prepare(nil, rvas).All() }, func() {
			for _, rva := range rvas {
				f.Lookup(rva)
			}
		}},
	} {
		r.single, r.many, r.places = 0, 0, 0
		prepared.prepare()
		if r.single > 2 || r.many == 0 || r.many > 40 || r.places < 5 {
			t.Errorf("%s: prepared by %d single reads and %d of %d places", what, r.single, r.many, r.places)
		}
		r.single, r.many = 0, 0
		if prepared.ask(); r.single+r.many > 0 {
			t.Errorf("%s: looked up by %d single reads and %d of many places", what, r.single, r.many)
		}
	}
	for _, rva := range rvas {
		if d := differs(f, exact, rva); d != "" {
			t.Fatal(d)
		}
	}
	if f.Exact() {
		t.Error("preparing has read the whole file")
	}
}

// TestPrepareMixed: nothing is answered otherwise because it was prepared, whatever the file has in it, where nothing is found, or
// where its order is broken.
func TestPrepareMixed(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 5))
		text := mixed(rng, 400, []string{"before", "after", "among"}[seed%3])
		if seed > 2 { // a function far behind its place
			i := bytes.Index(text, []byte("\nFUNC ")) + 1
			end := i + bytes.Index(text[i+5:], []byte("\nFUNC ")) + 6
			at := bytes.LastIndex(text, []byte("\nFUNC ")) + 1
			text = append(append(append([]byte{}, text[:i]...), text[end:at]...), append(append([]byte{}, text[i:end]...), text[at:]...)...)
		}
		exact := open(t, "m.sym", text)
		f, _ := manyOf(t, text)
		xs := borders(exact, rng)
		for i := 0; i < len(xs); i += 100 {
			some := xs[i:min(i+100, len(xs))]
			f.Prepare(some, some).All()
		}
		if seed > 2 {
			if _, err := f.Complete(nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range xs {
			if d := differs(f, exact, x); d != "" {
				t.Fatalf("seed %d: %s", seed, d)
			}
		}
	}
}

// TestPrepareFails: an error of the reader is left to the lookup, and bytes that came with one are not believed.
func TestPrepareFails(t *testing.T) {
	text := generate(3000)
	f, r := manyOf(t, text)
	r.err, r.many = errors.New("the file is gone"), 0
	rvas := []uint64{0x1000 + 50*448, 0x1000 + 2500*448}
	f.Prepare(rvas, rvas).All()
	if r.many != 1 {
		t.Errorf("read %d times although it failed", r.many)
	}
	for _, rva := range rvas {
		if d := differs(f, open(t, "m.sym", text), rva); d != "" {
			t.Fatal(d)
		}
	}
}

// TestPrepareNothing: where reading many places at once is no cheaper, and in a file that was read, nothing is done.
func TestPrepareNothing(t *testing.T) {
	text := generate(1000)
	f := sparseOf(t, "m.sym", text, 4<<10)
	before := f.sparse.reads
	f.Prepare([]uint64{0x1000, 0x8000}, []uint64{0x1000, 0x8000}).All()
	if f.sparse.reads != before {
		t.Error("read ahead for nothing")
	}
	open(t, "m.sym", text).Prepare([]uint64{0x1000}, nil).All()
}

// lateReader is a manyReader that keeps what it reads, reads places only when they are waited for, and notes how many readings are under way.
type lateReader struct {
	manyReader
	under, most int
	kept        int // readings that were not given back
}

func (l *lateReader) KeepManyAt(places []input.Range, _ bool) (wait func() (input.Kept, error)) {
	l.under++
	l.most = max(l.most, l.under)
	return func() (input.Kept, error) {
		l.under--
		k := &lateKept{from: l}
		for _, p := range places {
			k.parts = append(k.parts, input.Part{Off: p.Offset, Data: make([]byte, p.Size)})
		}
		if err := l.ReadManyAt(k.parts); err != nil {
			return nil, err
		}
		l.kept++
		return k, nil
	}
}

// lateKept is what was read; nothing is left of it when it was given back.
type lateKept struct {
	from  *lateReader
	parts []input.Part
}

func (k *lateKept) Copy(i int, p []byte, from int64) error {
	if n := copy(p, k.parts[i].Data[from:]); n < len(p) {
		return errors.New("there is no more of this place")
	}
	return nil
}

func (k *lateKept) Release() { k.from.kept, k.parts = k.from.kept-1, nil }

func lateOf(t *testing.T, text []byte) (*File, *lateReader) {
	t.Helper()
	r := &lateReader{manyReader: manyReader{Reader: bytes.NewReader(text)}}
	return sparseBy(t, r, text), r
}

// TestPrepareMeanwhile: while what some lookups lack is read, others go on; all is answered the same, also where somebody asks in between, or who
// began it has gone.
func TestPrepareMeanwhile(t *testing.T) {
	text := generate(6000)
	exact := open(t, "m.sym", text)
	var rvas []uint64
	for i := range 900 {
		rvas = append(rvas, uint64(0x1000+(i*37%6000)*(36*12+16)+i%400))
	}
	for what, meanwhile := range map[string]func(f *File, n int) bool{
		"nothing":        func(*File, int) bool { return true },
		"lookups":        func(f *File, n int) bool { f.Lookup(rvas[n*7%900]); f.Row(cpu.AMD64, rvas[n*11%900]); return true },
		"preparations":   func(f *File, n int) bool { f.Prepare(rvas[:n%30], rvas[n:n+40]).All(); return true },
		"it is given up": func(f *File, _ int) bool { return len(f.sparse.flights) < 2 },
	} {
		f, r := lateOf(t, text)
		p := f.Prepare(rvas, rvas)
		for n := 0; p.Step() && meanwhile(f, n); n++ {
		}
		if r.most != 2 && what != "preparations" {
			t.Errorf("%s: %d readings at most were under way together", what, r.most)
		}
		if what == "nothing" {
			r.single, r.many = 0, 0
		}
		f.Prepare(nil, rvas[:1]).All()
		for _, rva := range rvas {
			if d := differs(f, exact, rva); d != "" {
				t.Fatalf("%s: %s", what, d)
			}
		}
		if r.under != 0 || len(f.sparse.flights) > 0 || slices.ContainsFunc(f.sparse.coming, func(word uint64) bool { return word != 0 }) {
			t.Errorf("%s: %d readings were begun and not waited for", what, r.under)
		}
		held := int64(0)
		for _, b := range f.sparse.shelf.blocks {
			held += b.size
		}
		if f.sparse.shelf.held != held {
			t.Errorf("%s: %d bytes are counted where %d are kept", what, f.sparse.shelf.held, held)
		}
		if f.sparse.shelf.room(1<<40, 0); r.kept > leastKept {
			t.Errorf("%s: %d readings were not given back", what, r.kept)
		}
	}
}

// TestPrepareMeanwhileFails: a reading that fails ends it, and is left to the lookups.
func TestPrepareMeanwhileFails(t *testing.T) {
	text := generate(6000)
	exact := open(t, "m.sym", text)
	f, r := lateOf(t, text)
	var rvas []uint64
	for i := range 600 {
		rvas = append(rvas, uint64(0x1000+i*10*448))
	}
	p := f.Prepare(nil, rvas)
	for n := 0; p.Step(); n++ {
		if n == 1 {
			r.err = errors.New("the file is gone")
		}
	}
	r.err = nil
	for _, rva := range rvas {
		if d := differs(f, exact, rva); d != "" {
			t.Fatal(d)
		}
	}
}
