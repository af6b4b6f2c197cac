package dumpsyms

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// ruleRange is code with the same rules.
type ruleRange struct {
	start, end uint64
	rules      uint32
	// entry numbers the entry of its table (an FDE) that the rules come from.
	entry uint32
}

// ruleRanges is a list of ranges, packed: a library of 2 GB has four million of them, and they take
// 5 bytes each instead of 24. Each is the distance of its start from the end of the one before, its
// size, its rules, and the distance of its entry, as numbers of variable length.
type ruleRanges struct {
	chunks   [][]byte
	n        int
	last     ruleRange
	unsorted bool
}

const (
	packedChunk = 64 << 10
	// maxPacked is the most bytes that a range takes.
	maxPacked = 2*binary.MaxVarintLen64 + 2*binary.MaxVarintLen32
)

// add packs a range after the last one, in a new chunk if the last one is full.
func (l *ruleRanges) add(s ruleRange) {
	k := len(l.chunks) - 1
	if k < 0 || cap(l.chunks[k])-len(l.chunks[k]) < maxPacked {
		l.chunks = append(l.chunks, make([]byte, 0, packedChunk))
		k++
	}
	b := binary.AppendVarint(l.chunks[k], int64(s.start-l.last.end))
	b = binary.AppendUvarint(b, s.end-s.start)
	b = binary.AppendUvarint(b, uint64(s.rules))
	l.chunks[k] = binary.AppendVarint(b, int64(s.entry)-int64(l.last.entry))
	l.unsorted = l.unsorted || s.start < l.last.start
	l.last = s
	l.n++
}

// sort sorts them by address; those that start together stay in their order.
func (l *ruleRanges) sort() {
	if !l.unsorted {
		return
	}
	all := make([]ruleRange, 0, l.n)
	next := l.each()
	for s, ok := next(); ok; s, ok = next() {
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b ruleRange) int { return cmp.Compare(a.start, b.start) })
	*l = ruleRanges{}
	for _, s := range all {
		l.add(s)
	}
}

// series returns the next range at each call; ok is false after the last.
type series func() (s ruleRange, ok bool)

// each returns the ranges one by one.
func (l *ruleRanges) each() series {
	var last ruleRange
	var left unpacker
	chunks := l.chunks
	return func() (ruleRange, bool) {
		if len(left) == 0 {
			if len(chunks) == 0 {
				return ruleRange{}, false
			}
			left, chunks = chunks[0], chunks[1:]
		}
		start := last.end + uint64(left.signed())
		last.start, last.end = start, start+left.num()
		last.rules = uint32(left.num())
		last.entry = uint32(int64(last.entry) + left.signed())
		return last, true
	}
}

// apart cuts from each range what one before it covers. They are by address.
func apart(all series) series {
	at := uint64(0) // all before it is decided
	return func() (ruleRange, bool) {
		for {
			s, ok := all()
			if !ok {
				return s, false
			}
			if s.start = max(s.start, at); s.start < s.end {
				at = s.end
				return s, true
			}
		}
	}
}

// join adds to ranges what others cover of the code between them. Both are by address, and within
// each none covers another.
func join(first, more series) series {
	f, haveFirst := first()
	m, haveMore := more()
	return func() (ruleRange, bool) {
		for haveMore && m.start >= m.end {
			at := m.start // all before it is decided
			m, haveMore = more()
			m.start = max(m.start, at)
		}
		switch {
		case !haveMore || haveFirst && f.start <= m.start:
			s, ok := f, haveFirst
			if ok {
				m.start = max(m.start, s.end)
				f, haveFirst = first()
			}
			return s, ok
		default:
			s := m
			if haveFirst {
				s.end = min(s.end, f.start)
			}
			m.start = s.end
			return s, true
		}
	}
}
