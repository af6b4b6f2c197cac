package symfile

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/crashpane/crashpane/core/input"
)

// The pass over a large file is shared among cores: each reads pieces of it (see Cuts), and their indexes are joined in their
// order.

const (
	// sharedFrom is the size in bytes from which a pass is shared.
	sharedFrom = 4 << 20
	// segmentSize is the size of a piece, in bytes. What is in memory besides the index is a piece's index for each worker.
	segmentSize = 8 << 20
)

// runAhead is runAll for a file of which other places were read before. The scanner begins a byte before from, to see whether a line does.
func (s *scanner) runAhead(src *input.Source, from, to int64, workers int, progress func(done, total int64)) error {
	stretch, end := src.Stretch(max(0, from-1), to)
	defer end()
	return s.runAll(stretch, from, to, workers, progress)
}

// runAll is run by as many goroutines as are wanted and worth it.
func (s *scanner) runAll(src *input.Source, from, to int64, workers int, progress func(done, total int64)) error {
	s.shorten(to - from)
	// wasm has one thread. That is known when the page's program is built, which so leaves the sharing out.
	if runtime.GOARCH != "wasm" && workers > 1 && to-from >= sharedFrom {
		size := min(segmentSize, (to-from)/int64(2*workers))
		joined, err := s.runShared(src, from, to, workers, size, progress)
		if err != nil || joined {
			return err
		}
		*s.f = *newFile(src, s.f.opt)
		*s = scanner{f: s.f, step: s.step}
	}
	return s.run(src, from, to, progress)
}

// runShared reads the pieces of a file at once. It reports false if they do not fit together.
func (s *scanner) runShared(src *input.Source, from, to int64, workers int, size int64, progress func(done, total int64)) (bool, error) {
	bounds, err := cuts(src, from, to, size)
	if err != nil {
		return false, err
	}
	type result struct {
		i   int
		s   *scanner
		err error
	}
	results := make(chan result)
	var next atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	used := make([][2]bitset, workers)
	for w := range workers {
		wg.Go(func() {
			var buf []byte
			for !stop.Load() {
				i := int(next.Add(1)) - 1
				if i+1 >= len(bounds) {
					return
				}
				piece := &scanner{f: newFile(src, Options{}), step: s.step, buf: buf, seg: &segment{first: i == 0}, known: used[w]}
				err := piece.run(src, bounds[i], bounds[i+1], nil)
				used[w], buf = piece.known, piece.buf
				results <- result{i, piece, err}
			}
		})
	}
	go func() {
		wg.Wait()
		close(results)
	}()
	ready := make([]*scanner, len(bounds))
	joined := 0
	for r := range results {
		switch {
		case r.err != nil:
			err = r.err
			stop.Store(true)
		case r.s.seg.odd:
			stop.Store(true)
		}
		if stop.Load() {
			continue
		}
		for ready[r.i] = r.s; ready[joined] != nil; joined++ {
			s.join(ready[joined])
			ready[joined] = nil
			if progress != nil {
				progress(bounds[joined+1], src.Size)
			}
		}
	}
	if err != nil || stop.Load() {
		return false, err
	}
	for i := range used {
		for k := range used[i] {
			s.known[k].join(&used[i][k])
		}
	}
	return s.joined(from), nil
}
