package symfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// streamReader is a manyReader that streams, too: three stretches at a time, each by pieces of so many bytes.
type streamReader struct {
	*manyReader
	size   int
	begun  [][2]int64
	open   int // streams that were not ended
	fails  int // the piece that cannot be read; none if it is 0
	pieces int
}

func (r *streamReader) StreamAt(stretches [][2]int64, overlap int64) input.Stream {
	r.begun = append(r.begun, stretches...)
	r.open++
	s := &madeStream{r: r, left: stretches, overlap: overlap}
	for len(s.lanes) < min(3, len(stretches)) {
		s.lanes = append(s.lanes, lane{})
	}
	return s
}

type lane struct{ from, at, to int64 }

type madeStream struct {
	r        *streamReader
	left     [][2]int64
	lanes    []lane
	overlap  int64
	turn     int
	from, to int64 // the piece that may be copied
}

func (s *madeStream) Next() (from, to int64, err error) {
	for range s.lanes {
		l := &s.lanes[s.turn%len(s.lanes)]
		s.turn++
		if l.at == l.to && len(s.left) > 0 {
			*l = lane{s.left[0][0], s.left[0][0], s.left[0][1]}
			s.left = s.left[1:]
		}
		if l.at == l.to {
			continue
		}
		if s.r.pieces++; s.r.pieces == s.r.fails {
			return 0, 0, errors.New("the file is gone")
		}
		s.from, s.to = max(l.from, l.at-s.overlap), min(l.to, l.at+int64(s.r.size))
		l.at = s.to
		return s.from, s.to, nil
	}
	return 0, 0, io.EOF
}

func (s *madeStream) Copy(p input.Part) error {
	if p.Off < s.from || p.Off+int64(len(p.Data)) > s.to {
		return errors.New("what is copied is not of this piece")
	}
	_, err := s.r.Reader.ReadAt(p.Data, p.Off)
	return err
}

func (s *madeStream) End() { s.r.open-- }

func streamOf(t *testing.T, text []byte, size int) (*File, *streamReader) {
	t.Helper()
	r := &streamReader{manyReader: &manyReader{Reader: bytes.NewReader(text)}, size: size}
	return sparseBy(t, r, text), r
}

// steps does all of a preparation, part by part.
func steps(p *Preparation) (n int) {
	for p.Step() {
		n++
	}
	return n
}

// TestStream: where many lookups lie close together they are prepared by streams, whatever the pieces in which these come, and all is answered
// the same. Of single places only those are read that the pieces cut in two.
func TestStream(t *testing.T) {
	text := generate(6000)
	exact := open(t, "m.sym", text)
	var rvas []uint64
	for i := range 700 {
		rvas = append(rvas, uint64(0x1000+(50+i*37%5900)*(36*12+16)+i%400))
	}
	for _, size := range []int{20_000, 65_537, 1 << 20} {
		f, r := streamOf(t, text, size)
		for what, lookups := range map[string]struct {
			rules, functions []uint64
			ask              func()
			places           int
		}{
			"rules": {rvas[:300], nil, func() {
				for _, rva := range rvas[:300] {
					f.Row(cpu.AMD64, rva)
				}
			}, 12},
			"functions": {nil, rvas, func() {
				for _, rva := range rvas {
					f.Lookup(rva)
				}
			}, 60},
		} {
			r.begun, r.places = nil, 0
			steps(f.Prepare(lookups.rules, lookups.functions))
			if len(r.begun) == 0 || r.places > lookups.places {
				t.Errorf("%s by pieces of %d: %d stretches were streamed, and %d places read", what, size, len(r.begun), r.places)
			}
			r.single, r.many = 0, 0
			if lookups.ask(); r.single+r.many > 0 {
				t.Errorf("%s by pieces of %d: looked up by %d single reads and %d of many places", what, size, r.single, r.many)
			}
		}
		if r.open != 0 {
			t.Errorf("pieces of %d: %d streams are open", size, r.open)
		}
		for _, rva := range rvas {
			if d := differs(f, exact, rva); d != "" {
				t.Fatalf("pieces of %d: %s", size, d)
			}
		}
		if f.Exact() {
			t.Error("preparing has read the whole file")
		}
	}
}

// TestStreamAll: many lookups at once are streamed, too; few are read place by place.
func TestStreamAll(t *testing.T) {
	text := generate(6000)
	for _, few := range []bool{false, true} {
		f, r := streamOf(t, text, 65_537)
		var rvas []uint64
		for i := 50; i < 5900; i += 3 {
			rvas = append(rvas, uint64(0x1000+i*(36*12+16)))
		}
		if few {
			rvas = rvas[:firstFrom/2]
		}
		f.Prepare(rvas, nil).All()
		f.Prepare(nil, rvas).All()
		if begun := len(r.begun) > 0; begun == few || r.open != 0 {
			t.Errorf("%d lookups: %d stretches were streamed, %d are open", len(rvas), len(r.begun), r.open)
		}
		r.single, r.many = 0, 0
		for _, rva := range rvas {
			f.CFI(rva)
			f.Lookup(rva)
		}
		if r.single+r.many > 0 {
			t.Errorf("%d lookups: looked up by %d single reads and %d of many places", len(rvas), r.single, r.many)
		}
	}
}

// TestStreamMixed: nothing is answered otherwise because of streams, whatever the file has in it, where nothing is found, or where its order is
// broken.
func TestStreamMixed(t *testing.T) {
	streamed := 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 7))
		text := mixed(rng, 400, []string{"before", "after", "among"}[seed%3])
		if seed > 5 { // lines somewhere else
			for range 3 {
				i, j := rng.IntN(len(text)/2), len(text)/2+rng.IntN(len(text)/4)
				i, j = i+slices.Index(text[i:], '\n')+1, j+slices.Index(text[j:], '\n')+1
				line := slices.Clone(text[i : i+slices.Index(text[i:], '\n')+1])
				if string(line[:6]) == "MODULE" {
					continue
				}
				text = slices.Concat(text[:i], text[i+len(line):j], line, text[j:])
			}
		}
		exact := open(t, "m.sym", text)
		f, r := streamOf(t, text, 9000+int(seed)*7000)
		xs := borders(exact, rng)
		for some := range slices.Chunk(xs, 300) {
			steps(f.Prepare(some, nil))
			steps(f.Prepare(nil, some))
		}
		streamed += len(r.begun)
		if seed > 5 {
			if _, err := f.Complete(nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range xs {
			if d := differs(f, exact, x); d != "" {
				t.Fatalf("seed %d: %s", seed, d)
			}
		}
		if r.open != 0 {
			t.Errorf("seed %d: %d streams are open", seed, r.open)
		}
	}
	if streamed < 100 {
		t.Errorf("only %d stretches were streamed", streamed)
	}
}

// TestStreamEnds: a stream is ended when a piece cannot be read, when something else is prepared, and when the file is read as a whole; what
// was not looked up by then is, when it is asked for.
func TestStreamEnds(t *testing.T) {
	text := generate(6000)
	exact := open(t, "m.sym", text)
	var rvas []uint64
	for i := range 600 {
		rvas = append(rvas, uint64(0x1000+i*10*448))
	}
	for what, meanwhile := range map[string]func(f *File, r *streamReader){
		"a piece cannot be read":   func(_ *File, r *streamReader) { r.fails = r.pieces + 2 },
		"something else is wanted": func(f *File, _ *streamReader) { steps(f.Prepare(rvas[:9], rvas[40:60])) },
		"the file is read":         func(f *File, _ *streamReader) { f.Complete(nil) },
	} {
		f, r := streamOf(t, text, 30_000)
		p := f.Prepare(nil, rvas)
		for n := 0; p.Step(); n++ {
			if n == 2 {
				if r.open != 1 {
					t.Errorf("%s: %d streams are open before", what, r.open)
				}
				meanwhile(f, r)
			}
		}
		if r.open != 0 {
			t.Errorf("%s: %d streams are open", what, r.open)
		}
		r.fails = 0
		for _, rva := range rvas {
			if d := differs(f, exact, rva); d != "" {
				t.Fatalf("%s: %s", what, d)
			}
		}
	}
}

// TestDense: a stream is begun where that costs less than the places in it, from before the first of them until behind the last, and not for those
// that are far from the others.
func TestDense(t *testing.T) {
	const mb, end = 1 << 20, 4000
	s := &sparse{step: 4 << 10, src: &input.Source{Size: 5000 * mb}}
	s.regions[markFunc] = [2]int64{100 * mb / s.step, end * mb / s.step}
	// A key is its record's place in kilobytes.
	for at := int64(100); at < end; at += 100 {
		s.knots[markFunc] = append(s.knots[markFunc], knot{n: at * mb / s.step, first: uint64(at) << 10, last: uint64(at) << 10, firstOff: at * mb, lastOff: at * mb})
	}
	every := func(from, to, step float64) (all []uint64) {
		for ; from < to; from += step {
			all = append(all, uint64(from*1024))
		}
		return all
	}
	for _, c := range []struct {
		what    string
		list    []uint64
		runs    [][2]int64 // in MB
		outside int
	}{
		{"nothing", nil, nil, 0},
		{"one", every(500, 501, 1), nil, 1},
		{"few beside each other", every(500, 502, 1), nil, 2},
		{"many beside each other", every(500, 502, 0.1), [][2]int64{{499, 502}}, 0},
		{"one in half a megabyte", every(200, 1200, 0.5), [][2]int64{{199, 1200}}, 0},
		{"one in a megabyte", every(200, 1200, 1), nil, 1000},
		{"two parts, and one between them", slices.Concat(every(200, 300, 0.4), every(400, 401, 1), every(500, 600, 0.4)), [][2]int64{{199, 300}, {499, 600}}, 1},
		{"3 MB between them", slices.Concat(every(200, 300, 0.4), every(303.5, 400, 0.4)), [][2]int64{{199, 400}}, 0},
		{"5 MB between them", slices.Concat(every(200, 300, 0.4), every(305, 400, 0.4)), [][2]int64{{199, 300}, {304, 400}}, 0},
		{"at the borders", slices.Concat(every(100, 110, 0.1), every(end-10, end, 0.1)), [][2]int64{{100, 110}, {end - 11, end}}, 0},
		{"beyond the borders", append(every(0, 50, 0.5), every(end+5, end+55, 0.5)...), nil, 200},
	} {
		args, rest, runs := s.dense(c.list, markFunc)
		if len(args)+len(rest) != len(c.list) || len(rest) != c.outside && c.what != "beyond the borders" {
			t.Errorf("%s: %d are streamed for, and %d are not", c.what, len(args), len(rest))
		}
		var got [][2]int64
		for _, r := range runs {
			got = append(got, [2]int64{r[0] / mb, r[1] / mb})
			if r[0] < 100*mb || r[1] > (end+1)*mb {
				t.Errorf("%s: beyond the section: %v", c.what, r)
			}
		}
		if c.what != "beyond the borders" && !slices.Equal(got, c.runs) {
			t.Errorf("%s: %v", c.what, got)
		}
		next, all := int64(0), int64(0)
		for _, st := range divided(runs) {
			if st[1] <= st[0] || st[0] < next {
				t.Fatalf("%s: not in order: %v", c.what, divided(runs))
			}
			next, all = st[0], all+st[1]-st[0]
		}
		for _, r := range runs {
			all -= r[1] - r[0]
		}
		if all < 0 || all > 8*streamOverlap {
			t.Errorf("%s: %d bytes too many", c.what, all)
		}
	}
}
