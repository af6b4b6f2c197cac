package symfile

import (
	"errors"
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Where one read costs as much as the work on what it gives, and many at once cost less, lookups whose addresses are known
// beforehand are prepared: each is begun, and where it lacks a slice, the slice is noted instead of read. What all of them lack is then
// read at once, and they are begun again, until none lacks anything. The lookups themselves then find every slice at hand.

// errAhead says that a slice is not at hand and was noted. It does not leave the package.
var errAhead = errors.New("to be read ahead")

const (
	// maxAheadRounds bounds how often lookups are begun: a search by proportion takes two or three slices, a function of many
	// lines lies in several, and names come last.
	maxAheadRounds = 24
	// aheadBatch is how many lookups are prepared at a time, and aheadParts how many places are read at once: what is read for
	// them has to fit beside each other.
	aheadBatch, aheadParts = 64, 96
	// aheadSlices is how many slices are read of each place: of many places that are read at once the bytes count, too.
	aheadSlices = 4
)

// ahead is what lookups lack.
type ahead struct {
	spans  [][2]int64     // slices from and up to
	wanted map[int64]bool // the slices of all spans
	missed bool           // the lookup that was begun last lacks something
}

// unlessAhead has a lookup that is only prepared go on without a name, so that all names that it lacks are noted.
func unlessAhead(err error) error {
	if err == errAhead {
		return nil
	}
	return err
}

// want notes a span of slices for the sake of slice n, unless that is noted already.
func (a *ahead) want(n, from, to int64) {
	a.missed = true
	if a.wanted[n] {
		return
	}
	a.spans = append(a.spans, [2]int64{from, to})
	for i := from; i < to; i++ {
		a.wanted[i] = true
	}
}

// Prepare fetches what CFI and Row will read for the addresses in rules, and Lookup for those in functions, if the Source reads many
// places at once (input.Source.ReadsMany) and the file is searched where it lies. No answer is another one for it. It fails in
// silence: the lookups will meet the same error and tell.
func (f *File) Prepare(rules, functions []uint64) {
	if f.sparse == nil || !f.src.ReadsMany() {
		return
	}
	win := f.sparse.has(phaseWin) || f.sparse.has(phaseWinNext)
	f.prepare(rules, func(rva uint64) error {
		if _, _, err := f.cfi(rva); err != nil && err != errAhead || !win {
			return err
		}
		_, _, err := f.frameData(rva)
		return err
	})
	f.prepare(functions, func(rva uint64) error {
		if _, ok := f.symbols[rva]; ok {
			return nil
		}
		s, ans, err := f.lookup(rva)
		if f.sparse.ahead.missed || err != nil || ans != symbol.Yes {
			return err
		}
		remember(f.symbols, rva, s)
		return nil
	})
}

func (f *File) prepare(rvas []uint64, begin func(rva uint64) error) {
	for batch := range slices.Chunk(rvas, aheadBatch) {
		if len(batch) > 1 && !f.sparse.readAhead(slices.Clone(batch), begin) {
			return
		}
	}
}

// readAhead begins the lookups of some arguments until all that they read is at hand. It reports whether that went well.
func (s *sparse) readAhead(args []uint64, begin func(uint64) error) bool {
	for range maxAheadRounds {
		s.ahead = &ahead{wanted: map[int64]bool{}}
		left := args[:0]
		var failed error
		for _, arg := range args {
			s.ahead.missed = false
			err := begin(arg)
			switch {
			case s.ahead.missed:
				left = append(left, arg)
			case err != nil:
				failed = err
			}
		}
		spans := s.ahead.spans
		s.ahead = nil
		if failed != nil {
			return false
		}
		if args = left; len(args) == 0 {
			return true
		}
		for some := range slices.Chunk(spans, aheadParts) {
			if s.fetch(some) != nil {
				return false
			}
		}
	}
	return true
}

// fetch reads spans of slices at once.
func (s *sparse) fetch(spans [][2]int64) error {
	need := int64(0)
	for _, span := range spans {
		need += s.bytesOf(span[0], span[1])
	}
	s.room(need)
	parts := make([]input.Part, len(spans))
	read := make([]*stretch, len(spans))
	for i, span := range spans {
		read[i] = s.stretchOf(span[0], span[1])
		parts[i] = input.Part{Off: s.startOf(span[0]), Data: read[i].data}
	}
	if err := s.src.ReadMany(parts); err != nil {
		return err
	}
	s.reads++
	for _, st := range read {
		st.used = true
		s.take(st)
	}
	return nil
}
