package dumpsyms_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// stored is a Spool in memory, which may be full.
type stored struct {
	data   []byte
	most   int
	closed bool
}

var errFull = errors.New("the disk is full")

func (s *stored) WriteAt(p []byte, off int64) (int, error) {
	if off != int64(len(s.data)) || s.closed {
		return 0, errors.New("written out of order")
	}
	if len(s.data)+len(p) > s.most {
		return 0, errFull
	}
	s.data = append(s.data, p...)
	return len(p), nil
}

func (s *stored) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, s.data[min(off, int64(len(s.data))):])
	if n < len(p) || s.closed {
		return n, io.EOF
	}
	return n, nil
}

func (s *stored) Close() error { s.closed = true; return nil }

// many are functions in no order, made again at each call: some at one address under other names,
// some over each other.
type many int

func (n many) Each(f func(symbol.Function) error) error {
	rng := rand.New(rand.NewSource(3))
	pad := strings.Repeat("::a_namespace", 40)
	for i := range int(n) {
		at := uint64(0x1000 + rng.Intn(int(n))*16)
		fn := symbol.Function{Name: fmt.Sprintf("f%d%s", i%(int(n)/2), pad), Ranges: []symbol.Range{{Start: at, Size: 8}, {Start: at + 8, Size: uint64(4 + 8*(i%3))}},
			Lines:   []symbol.Line{{Range: symbol.Range{Start: at, Size: 4}, File: "a.c", Line: uint32(i)}, {Range: symbol.Range{Start: at + 4, Size: 2}, File: "b.h", Line: 7}},
			Inlines: []symbol.InlineCall{{Name: fmt.Sprint("inlined", i%50), CallFile: "a.c", CallLine: 3, Ranges: []symbol.Range{{Start: at, Size: 2}}}}}
		if err := f(fn); err != nil {
			return err
		}
	}
	return nil
}

// TestSpool: with storage outside of memory the text is the same, byte for byte, and less is in
// memory. If that place is full, the error says so.
func TestSpool(t *testing.T) {
	const n = 100_000 // of half a kilobyte, in two ranges
	publics := func(f func(uint64, string) error) error {
		for i := range n {
			if err := f(uint64(0x1000+(i*7919%n)*24), fmt.Sprintf("public%d", i)); err != nil {
				return err
			}
		}
		return nil
	}
	in := dumpsyms.Input{Functions: many(n), Publics: publics}
	want, counts := write(t, in)
	if counts.Funcs < n/2 || counts.Publics < n/10 || counts.Overlapping < n/10 {
		t.Fatalf("%+v", counts)
	}
	s := &stored{most: 1 << 30}
	in.Spool = func() (input.Spool, error) { return s, nil }
	have, sameCounts := write(t, in)
	if have != want || counts != sameCounts {
		t.Errorf("%d bytes (%+v), want %d (%+v)", len(have), sameCounts, len(want), counts)
	}
	if len(s.data) < len(want)/4 || !s.closed {
		t.Errorf("%d bytes were put aside of a text of %d, closed: %v", len(s.data), len(want), s.closed)
	}

	s = &stored{most: 1 << 20}
	if _, err := dumpsyms.Write(io.Discard, in); !errors.Is(err, errFull) || !s.closed {
		t.Errorf("%v, closed: %v", err, s.closed)
	}
	in.Spool = func() (input.Spool, error) { return nil, errFull }
	if _, err := dumpsyms.Write(io.Discard, in); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	// What is small stays in memory.
	in.Functions = many(1000)
	write(t, in)
}
