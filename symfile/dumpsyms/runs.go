package dumpsyms

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
)

// storedRun is a range of the stored bytes: records by address, each as its start, size and 1 for
// several names, the length of its text, and that.
type storedRun struct{ off, end int64 }

const (
	// storeBuffer is how many bytes are written at a time, readBuffer how many of each run are
	// read.
	storeBuffer = 1 << 20
	readBuffer  = 256 << 10
	// recordHeader is the most bytes before a record's text.
	recordHeader = 4 * binary.MaxVarintLen64
)

// store writes the records in memory as a run.
// A run is sorted by itself; each then merges the runs, which reads all of them side by side.
func (s *sorter) store() error {
	if s.stored == nil {
		to, err := s.open()
		if err != nil {
			return fmt.Errorf("no place for what is more than memory should hold: %w", err)
		}
		s.stored = to
	}
	s.sort()
	run := storedRun{off: s.end}
	var b []byte
	write := func() error {
		n, err := s.stored.WriteAt(b, s.end)
		s.end += int64(n)
		b = b[:0]
		return err
	}
	for i := range s.recs {
		r := &s.recs[i]
		b = binary.AppendUvarint(b, r.start)
		b = binary.AppendUvarint(b, r.size)
		several := byte(0)
		if r.multiple {
			several = 1
		}
		b = binary.AppendUvarint(append(b, several), uint64(r.length))
		if b = append(b, s.at(r)...); len(b) >= storeBuffer {
			if err := write(); err != nil {
				return err
			}
		}
	}
	if err := write(); err != nil {
		return err
	}
	run.end = s.end
	s.runs = append(s.runs, run)
	s.recs, s.used, s.size = s.recs[:0], 0, 0
	return nil
}

// close closes the Spool.
func (s *sorter) close() {
	if c, ok := s.stored.(io.Closer); ok {
		c.Close()
	}
}

// run is one run while it is read: its current record and that record's text.
type run struct {
	record
	text unpacker
	// next goes to the next record; ok=false is the end.
	next  func(*run) (ok bool, err error)
	order int
}

// runs is a heap of the runs that have a record left: the lowest address first, and of equal
// addresses the run that was written first.
type runs []*run

func (h runs) Len() int { return len(h) }
func (h runs) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].start, h[j].start), cmp.Compare(h[i].order, h[j].order)) < 0
}
func (h runs) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runs) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runs) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// each calls fn for all records by address. The text is valid only during the call.
//
// The heap has the next record of each run, and of what is still in memory. Each round hands on the
// lowest one and takes the next of its run, so that only one buffer a run is in memory.
func (s *sorter) each(fn func(r *record, text unpacker) error) error {
	s.sort()
	i := -1
	inMemory := func(r *run) (bool, error) {
		if i++; i == len(s.recs) {
			return false, nil
		}
		r.record, r.text = s.recs[i], s.at(&s.recs[i])
		return true, nil
	}
	var open runs
	add := func(next func(*run) (bool, error)) error {
		r := &run{next: next, order: len(open)}
		ok, err := next(r)
		if ok {
			open = append(open, r)
		}
		return err
	}
	for _, r := range s.runs {
		if err := add(s.reader(r)); err != nil {
			return err
		}
	}
	if err := add(inMemory); err != nil {
		return err
	}
	heap.Init(&open)
	for len(open) > 0 {
		r := open[0]
		if err := fn(&r.record, r.text); err != nil {
			return err
		}
		ok, err := r.next(r)
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(&open, 0)
		default:
			heap.Pop(&open)
		}
	}
	return nil
}

// reader reads a run, which this package has written.
func (s *sorter) reader(of storedRun) func(*run) (bool, error) {
	var buf, left []byte // left is what is not read of buf
	// have reads ahead until so many bytes are in the buffer, or the run ends.
	have := func(n int) error {
		if len(left) >= n || of.off == of.end {
			return nil
		}
		kept := len(left)
		size := min(int64(max(readBuffer, n)-kept), of.end-of.off)
		if need := kept + int(size); cap(buf) < need {
			buf = append(make([]byte, 0, need), left...)
		} else {
			buf = append(buf[:0], left...)
		}
		buf = buf[:kept+int(size)]
		if _, err := s.stored.ReadAt(buf[kept:], of.off); err != nil && err != io.EOF {
			return err
		}
		left, of.off = buf, of.off+size
		return nil
	}
	return func(r *run) (bool, error) {
		if err := have(recordHeader); err != nil || len(left) == 0 {
			return false, err
		}
		// Go makes these calls from left to right, which is the order of store.
		u := unpacker(left)
		r.record = record{start: u.num(), size: u.num(), multiple: u.num() == 1, length: uint32(u.num())}
		left = u
		if err := have(int(r.length)); err != nil {
			return false, err
		}
		r.text, left = unpacker(left[:r.length]), left[r.length:]
		return true, nil
	}
}
