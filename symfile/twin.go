package symfile

import (
	"maps"
	"slices"
)

// Twin is the same file for another goroutine: it knows what this one knows by now of where records lie, and neither hears of what the
// other learns later. They share nothing that changes. Nil if the Source can have no twin.
func (f *File) Twin() *File {
	t := *f
	if t.src = f.src.Twin(); t.src == nil {
		return nil
	}
	t.opt.Progress = nil
	t.Warnings = slices.Clip(f.Warnings)
	for k := range t.tables {
		t.tables[k].open, t.tables[k].recs = 0, nil // the block that is unpacked
	}
	t.extras = slices.Clip(f.extras)
	t.given = maps.Clone(f.given)
	t.buf, t.decoded = nil, decoded{}
	t.rowArch = nil
	t.reset()
	if f.sparse != nil {
		t.sparse = f.sparse.twin(&t)
	}
	return &t
}

func (s *sparse) twin(f *File) *sparse {
	t := *s
	t.src = f.src
	t.shelf = shelf{}
	t.coming, t.flights = make(sliceSet, len(s.coming)), nil
	t.edges = slices.Clone(s.edges)
	for k := range t.knots {
		t.knots[k] = slices.Clone(s.knots[k])
		t.notes[k], t.seen[k] = nil, slices.Clone(s.seen[k])
	}
	t.line, t.ahead, t.borders = nil, nil, false
	t.streaming, t.piece = nil, nil
	return &t
}

// Join takes in what a Twin was asked, so that Complete checks that too, and says whether both know the same of the file's order:
// whether what either answered since they parted is what the other would have answered.
func (f *File) Join(t *File) bool {
	if f.revised || t.revised || (f.sparse == nil) != (t.sparse == nil) || f.sparse != nil && f.sparse.exact != t.sparse.exact {
		return false
	}
	for q, place := range t.given {
		if _, has := f.given[q]; has {
			continue
		}
		if len(f.given) >= maxGiven {
			t.lost = true
			break
		}
		f.given[q] = place
	}
	f.lost = f.lost || t.lost
	return true
}
