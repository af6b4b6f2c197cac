package symfile

import (
	"io"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// Where many lookups lie in a part of a section, it costs less to read that part from its start to its end than place by place, and nothing
// has to be guessed: it is read by streams side by side (input.Streamer), and each piece of it is asked, while it is at hand, for the lookups
// whose keys lie between its first record and its last. Of a piece only those slices are copied that they come to.

const (
	// placeCosts and streamCosts are how many bytes a stream brings in the time in which a place is read alone, and a stream begun.
	placeCosts, streamCosts = 768 << 10, 3 << 20
	// streamMargin is by how much the places between which a stream runs may be guessed wrong; lookups beyond are prepared in batches.
	streamMargin = 512 << 10
	// streamOverlap is how much of a piece is in the next one, too: a slice of its end, and most functions that begin there.
	streamOverlap = 16 << 10
	// streams is how many run side by side, in stretches of leastStream bytes at least. With three, each megabyte takes a tenth more CPU time,
	// since threads wake each other more often.
	streams, leastStream = 6, 4 << 20
	// pieceGroup is how many slices are copied at a time: each call costs as much as the bytes of two.
	pieceGroup = 4
	// piecesAStep is how many pieces are asked in one step: that others have their turn costs as much as half of one.
	piecesAStep = 4
)

// streaming are lookups of one kind that are prepared by streams.
type streaming struct {
	kind  markKind
	begin func(uint64) error
	args  []uint64 // sorted
	done  []bool   // for each: it had all that it reads
	ended bool
	piece piece
	ends  map[int64]uint64 // where a piece will begin → up to which key those before it were asked
}

// piece is a piece that is at hand. Nothing of it is kept: its memory is that of the next.
type piece struct {
	in         input.Stream
	first, end int64 // where it lies in the file
	from, upTo int64 // the slices that lie inside it
	data       []byte
	copied     []bool   // those of which data has the bytes, pieceGroup at a time
	slices     []*slice // nil where not looked at yet
}

// stream begins to read for those lookups of a sorted list that lie close together, and takes them off it; nil if there are too few.
func (s *sparse) stream(list *[]uint64, k markKind, begin func(uint64) error) *streaming {
	if s.exact[groupOf[k]] {
		return nil
	}
	args, rest, runs := s.dense(*list, k)
	if len(runs) == 0 {
		return nil
	}
	in := s.src.Stream(divided(runs), streamOverlap)
	if in == nil {
		return nil
	}
	s.reads += int64(len(runs))
	*list = rest
	s.streaming = &streaming{kind: k, begin: begin, args: args, done: make([]bool, len(args)), piece: piece{in: in}, ends: map[int64]uint64{}}
	return s.streaming
}

// dense are those lookups of a sorted list that lie so close together that it costs less to read all between them, the others, and where
// that is: from and up to.
func (s *sparse) dense(list []uint64, k markKind) (args, rest []uint64, runs [][2]int64) {
	region := [2]int64{s.regions[k][0] * s.step, min(s.src.Size, (s.regions[k][1]+1)*s.step+sliceTail)}
	for len(list) > 0 {
		n := 0
		var from, to int64
		for ; n < len(list); n++ {
			off, ok := s.near(k, list[n])
			off = min(max(off, region[0]), region[1])
			if !ok || n > 0 && off-streamMargin > to+streamCosts {
				break
			}
			if n == 0 {
				from = max(region[0], off-streamMargin)
			}
			to = min(region[1], max(to, off+streamMargin))
		}
		if int64(n)*placeCosts > to-from+streamCosts {
			args, runs = append(args, list[:n]...), append(runs, [2]int64{from, to})
		} else {
			n = max(n, 1)
			rest = append(rest, list[:n]...)
		}
		list = list[n:]
	}
	return args, rest, runs
}

// divided are stretches that make up runs, one for each stream, or more.
func divided(runs [][2]int64) (stretches [][2]int64) {
	total := int64(0)
	for _, r := range runs {
		total += r[1] - r[0]
	}
	each := max(leastStream, (total+streams-1)/streams)
	for _, r := range runs {
		for from := r[0]; from < r[1]; from += each {
			stretches = append(stretches, [2]int64{from, min(r[1], from+each+streamOverlap)})
		}
	}
	return stretches
}

// near is about where the record for a key begins.
func (s *sparse) near(k markKind, x uint64) (off int64, ok bool) {
	ks := s.knots[k]
	at := firstBehind(ks, x)
	if at == 0 || at == len(ks) {
		n, ok := s.beyond(k, x)
		return n * s.step, ok
	}
	a, b := ks[at-1], ks[at]
	if x <= a.last || b.first <= a.last {
		return a.lastOff, true
	}
	return a.lastOff + int64(float64(x-a.last)/float64(b.first-a.last)*float64(b.firstOff-a.lastOff)), true
}

// some has lookups go on by the next few pieces. more is false when all have come.
func (st *streaming) some(s *sparse) (more bool, err error) {
	for range piecesAStep {
		if st.ended {
			return false, nil
		}
		if more, err = st.next(s); !more {
			return false, err
		}
	}
	return true, nil
}

// next has those lookups go on of which the next piece has all.
func (st *streaming) next(s *sparse) (more bool, err error) {
	p := &st.piece
	if p.first, p.end, err = p.in.Next(); err != nil {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	p.from = (p.first + s.step) / s.step
	if p.first == 0 {
		p.from = 0
	}
	p.upTo = (p.end - sliceTail) / s.step
	if p.end == s.src.Size {
		p.upTo = s.count
	}
	n := max(0, p.upTo-p.from)
	p.slices, p.copied = make([]*slice, n), make([]bool, n)
	if size := p.end - p.first; int64(len(p.data)) < size {
		p.data = make([]byte, size)
	}
	s.bytes += p.end - p.first
	s.piece, s.ahead = p, &ahead{slices: 1}
	err = st.ask(s)
	s.forget(s.ahead.spans) // what lies elsewhere
	s.piece, s.ahead = nil, nil
	return err == nil, err
}

// ask begins the lookups that the piece has: those up to the last record in it, of which more may stand in the next piece.
func (st *streaming) ask(s *sparse) error {
	from, known := st.ends[s.piece.first]
	if !known {
		first, err := s.edgeOf(st.kind, s.piece.from, s.piece.upTo, 1)
		if first == nil {
			return err
		}
		from = first.marks[st.kind][0].key
	}
	last, err := s.edgeOf(st.kind, s.piece.upTo-1, s.piece.from-1, -1)
	if last == nil {
		return err
	}
	end := last.marks[st.kind][len(last.marks[st.kind])-1].key
	st.ends[s.piece.end-streamOverlap] = end
	i, _ := slices.BinarySearch(st.args, from)
	for ; i < len(st.args) && st.args[i] < end; i++ {
		if st.done[i] {
			continue
		}
		s.ahead.missed = false
		err := st.begin(st.args[i])
		if s.ahead.missed {
			continue
		}
		if err != nil {
			return err
		}
		st.done[i] = true
	}
	return nil
}

// edgeOf is a slice with a record of a kind near the one end of the piece: of the slices from one on, up to another, further and further
// apart, the first that has one. Nil if none has.
func (s *sparse) edgeOf(k markKind, from, upTo, dir int64) (*slice, error) {
	for n, step := from, dir; (upTo-n)*dir > 0; n, step = n+step, 2*step {
		sl, err := s.load(n)
		if err != nil {
			return nil, err
		}
		if len(sl.marks[k]) > 0 {
			return sl, nil
		}
	}
	return nil, nil
}

// end ends the streams, and answers the lookups that are left.
func (st *streaming) end() (left []uint64) {
	if !st.ended {
		st.ended = true
		st.piece.in.End()
	}
	for i, done := range st.done {
		if !done {
			left = append(left, st.args[i])
		}
	}
	return left
}

// load gives a slice that lies in the piece, copied with those beside it.
func (p *piece) load(s *sparse, n int64) (*slice, error) {
	if sl := p.slices[n-p.from]; sl != nil {
		return sl, nil
	}
	if group := (n - p.from) / pieceGroup; !p.copied[group] {
		from := p.from + group*pieceGroup
		if err := p.in.Copy(input.Part{Off: s.startOf(from), Data: p.bytes(s, from, min(p.upTo, from+pieceGroup))}); err != nil {
			return nil, err
		}
		p.copied[group] = true
	}
	sl, err := s.looked(n, p.bytes(s, n, n+1))
	if err == nil {
		p.slices[n-p.from] = sl
	}
	return sl, err
}

// bytes are those of data for slices from and up to.
func (p *piece) bytes(s *sparse, from, upTo int64) []byte {
	return p.data[s.startOf(from)-p.first:][:s.bytesOf(from, upTo)]
}
