package input

import (
	"cmp"
	"slices"
	"sort"
)

// Rounds makes several lookups in files whose readers are ManyReaders, and reads together what they
// lack. Each round runs the lookups that are left. A read of bytes that are not in memory fails with
// a *NeedError, which ends the lookup; at the end of the round the bytes of all of them are read by
// one call.
//
//	round   frame 1                  frame 2
//	1       lacks 0x1000             lacks 0x8000
//	        one read of both
//	2       lacks 0x5200             is done
//	…
//
// What was read stays until Close, so that what is done after a round finds it.
type Rounds struct {
	files []*Source
	// collecting: a read of what is not in memory is noted in the file's missing, and fails.
	collecting bool
	lacking    int64 // bytes of all missing of the round
	held       int64 // bytes in memory
}

const (
	// maxRounds limits the rounds of one call of Run: lookups go down trees and follow references.
	maxRounds = 32
	// roundBytes is how many bytes a round collects at most; lookups that come later wait for the
	// next. roundsBytes is how many stay in memory; the bytes of older rounds go first.
	roundBytes, roundsBytes = 8 << 20, 32 << 20
)

// prefetched is what a Source has of Rounds.
type prefetched struct {
	rounds  *Rounds
	source  *Source
	read    [][]Part // by round, each sorted and without overlaps
	missing []Range
}

// NewRounds prepares Rounds for those files whose readers gain by it, or returns nil. files are whole
// Sources.
func NewRounds(files []*Source) *Rounds {
	t := &Rounds{}
	for _, s := range files {
		if whole, _ := s.Within(); ReadsMany(whole) && whole.prefetched == nil {
			whole.prefetched = &prefetched{rounds: t, source: whole}
			t.files = append(t.files, whole)
		}
	}
	if len(t.files) == 0 {
		return nil
	}
	return t
}

// Close forgets what was read.
func (t *Rounds) Close() {
	for _, s := range t.files {
		for len(s.prefetched.read) > 0 {
			s.prefetched.drop()
		}
		s.prefetched = nil
	}
}

// drop forgets what the oldest round read.
func (a *prefetched) drop() {
	for _, p := range a.read[0] {
		a.rounds.held -= int64(len(p.Data))
		a.source.Return(int64(len(p.Data)))
	}
	a.read = a.read[1:]
}

// Run runs n lookups in rounds, until each has found all bytes that it read; then it calls done for
// it, which may be nil. What lookups return or keep before that must not be used. A nil Rounds runs
// nothing.
func (t *Rounds) Run(n int, lookup, done func(i int)) {
	if t == nil {
		return
	}
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for round := 0; len(left) > 0 && round < maxRounds; round++ {
		t.collecting, t.lacking = true, 0
		again := left[:0]
		for _, i := range left {
			before := t.lacking
			if before < roundBytes {
				lookup(i)
			}
			if before >= roundBytes || t.lacking > before {
				again = append(again, i)
			} else if done != nil {
				done(i)
			}
		}
		t.collecting = false
		for _, s := range t.files {
			if s.readMissing() != nil {
				return
			}
		}
		left = again
	}
}

// Want notes that later reads need n bytes at off, while Rounds collect. It returns a *NeedError if
// they are not in memory.
func (s *Source) Want(off, n int64) error {
	whole, base := s.Within()
	if a := whole.prefetched; a != nil && off >= 0 && n > 0 && n <= s.Size-off && a.has(base+off, n) == nil {
		return a.note(base+off, n)
	}
	return nil
}

// Prefetched returns the bytes from off on, at least n, that Rounds have read, or nil. The caller must not
// change them.
func (s *Source) Prefetched(off, n int64) []byte {
	whole, base := s.Within()
	if whole.prefetched == nil || off < 0 || n > s.Size-off {
		return nil
	}
	b := whole.prefetched.has(base+off, n)
	return b[:min(int64(len(b)), s.Size-off)]
}

// readMissing reads what the round has noted in the file.
func (s *Source) readMissing() error {
	a := s.prefetched
	list := a.missing
	a.missing = nil
	slices.SortFunc(list, func(x, y Range) int { return cmp.Compare(x.Offset, y.Offset) })
	var parts []Part
	var sizes []int64
	for _, r := range list {
		if n := len(parts) - 1; n >= 0 && r.Offset <= parts[n].Off+sizes[n] {
			sizes[n] = max(sizes[n], r.Offset+r.Size-parts[n].Off)
			continue
		}
		parts, sizes = append(parts, Part{Off: r.Offset}), append(sizes, r.Size)
	}
	if len(parts) == 0 {
		return nil
	}
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	if err := s.Draw(Memory, total); err != nil {
		return err
	}
	for i := range parts {
		parts[i].Data = make([]byte, sizes[i])
	}
	if err := ReadMany(s, parts); err != nil {
		s.Return(total)
		return err
	}
	a.rounds.held += total
	a.read = append(a.read, parts)
	for len(a.read) > 1 && a.rounds.held > roundsBytes {
		a.drop()
	}
	return nil
}

// has returns the bytes from off on, at least n, if they were read, else nil.
func (a *prefetched) has(off, n int64) []byte {
	for k := len(a.read) - 1; k >= 0; k-- {
		parts := a.read[k]
		i := sort.Search(len(parts), func(i int) bool { return parts[i].Off > off }) - 1
		if i >= 0 && off+n <= parts[i].Off+int64(len(parts[i].Data)) {
			return parts[i].Data[off-parts[i].Off:]
		}
	}
	return nil
}

// note notes what is missing, while Rounds collect, and returns a *NeedError.
func (a *prefetched) note(off, n int64) error {
	if !a.rounds.collecting {
		return nil
	}
	need := Range{Offset: off, Size: n}
	a.missing = append(a.missing, need)
	a.rounds.lacking += n
	return &NeedError{Name: a.source.Name, Ranges: []Range{need}}
}

// fill copies bytes that were read in rounds. While Rounds collect, other bytes are noted as missing,
// and the error is a *NeedError. Nil has nothing.
func (a *prefetched) fill(p []byte, off int64) (ok bool, err error) {
	if a == nil {
		return false, nil
	}
	if b := a.has(off, int64(len(p))); b != nil {
		copy(p, b)
		return true, nil
	}
	return false, a.note(off, int64(len(p)))
}
