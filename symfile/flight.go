package symfile

import (
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// What lookups lack (see Preparation) is read in flights: many places at once, which are at hand when the flight has landed. While one is
// under way, others are prepared, and no slice of it is read for them again.

// flight is what is being read.
type flight struct {
	blocks []*block
	wait   func() error
}

// sliceSet has a bit for each slice of a file.
type sliceSet []uint64

func (b sliceSet) has(n int64) bool { return b[n>>6]>>(n&63)&1 != 0 }

func (b sliceSet) set(from, to int64, on bool) {
	for n := from; n < to; n++ {
		if on {
			b[n>>6] |= 1 << (n & 63)
		} else {
			b[n>>6] &^= 1 << (n & 63)
		}
	}
}

// forget is for spans that will not be read.
func (s *sparse) forget(spans [][2]int64) {
	for _, span := range spans {
		s.coming.set(span[0], span[1], false)
	}
}

// start begins to read spans of slices at once; nil if there are none. They come to lie in memory as they do in the file. Apart, whoever asks goes
// on until they are at hand.
func (s *sparse) start(spans [][2]int64, apart bool) *flight {
	if len(spans) == 0 {
		return nil
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i][0] < spans[j][0] })
	need := int64(0)
	places := make([]input.Range, len(spans))
	for i, span := range spans {
		places[i] = input.Range{Offset: s.startOf(span[0]), Size: s.bytesOf(span[0], span[1])}
		need += places[i].Size
	}
	s.room(need)
	f := &flight{}
	if wait := s.src.KeepMany(places, apart); wait != nil {
		s.keeps = true
		f.blocks = s.shelf.blocksFor(spans, s.bytesOf, true)
		f.wait = func() error { return f.keep(wait()) }
	} else {
		f.blocks = s.shelf.blocksFor(spans, s.bytesOf, false) // what is read meanwhile finds its own room
		parts := make([]input.Part, 0, len(spans))
		for st := range f.stretches {
			parts = append(parts, input.Part{Off: s.startOf(st.from), Data: st.data})
		}
		err := s.src.ReadMany(parts)
		f.wait = func() error { return err }
	}
	s.flights = append(s.flights, f)
	return f
}

// keep has the blocks of a flight be what was kept for them.
func (f *flight) keep(in input.Kept, err error) error {
	if err != nil {
		return err
	}
	k := &kept{in, len(f.blocks)}
	for _, b := range f.blocks {
		b.kept = k
	}
	i := 0
	for st := range f.stretches {
		st.place, i = i, i+1
	}
	return nil
}

// stretches calls yield for each of those that are being read.
func (f *flight) stretches(yield func(*stretch) bool) {
	for _, b := range f.blocks {
		for i := range b.stretches {
			if !yield(&b.stretches[i]) {
				return
			}
		}
	}
}

// land waits until what was begun to be read is at hand, unless it is.
func (s *sparse) land(f *flight) error {
	at := slices.Index(s.flights, f)
	if at < 0 {
		return nil
	}
	s.flights = slices.Delete(s.flights, at, at+1)
	err := f.wait()
	for st := range f.stretches {
		s.coming.set(st.from, st.end(), false)
	}
	if err != nil {
		s.shelf.drop(f.blocks)
		return err
	}
	s.reads++
	for _, b := range f.blocks {
		s.bytes += b.size
	}
	s.shelf.put(f.blocks)
	return nil
}

// landAll is land for all that is under way: who wanted it may have gone, and who has not meets an error again.
func (s *sparse) landAll() {
	for len(s.flights) > 0 {
		s.land(s.flights[0])
	}
}
