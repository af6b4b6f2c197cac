package pdb

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/ordered"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// omapSize is the size of an OMAP entry: two addresses.
const omapSize = 8

// omap maps addresses of an image whose code was moved after it was linked to those as it was
// linked, or back.
//
// A table has entries of two addresses, 0 from, 4 to, sorted by from. An entry holds up to the next
// one: an address that is n bytes after its from is n bytes after its to.
type omap struct {
	s       *stream
	ordered ordered.Table
}

// openOMAP prepares a table for searches; nothing is read yet.
func openOMAP(s *stream) *omap {
	m := &omap{s: s}
	m.ordered = ordered.Table{N: int(s.Size / omapSize), Key: func(i int) (uint64, error) {
		from, _, err := m.at(i)
		return from, err
	}}
	return m
}

// at is the entry number i.
func (m *omap) at(i int) (from, to uint64, err error) {
	if err := m.s.Draw(input.Work, recordWork); err != nil {
		return 0, 0, m.s.Wrap("", int64(i)*omapSize, err)
	}
	b, err := m.s.record(int64(i)*omapSize, omapSize)
	if err != nil {
		return 0, 0, err
	}
	return uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:])), nil
}

// find is the range that an address is in: its first address, what that is mapped to (see mapped),
// and where the next range begins.
func (m *omap) find(rva uint64) (from, to, next uint64, err error) {
	pos, err := m.ordered.Search(rva)
	if err != nil {
		return 0, 0, 0, err
	}
	next = 1 << 32
	if pos+1 < m.ordered.N {
		if next, _, err = m.at(m.ordered.Record(pos + 1)); err != nil {
			return 0, 0, 0, err
		}
	}
	if pos < 0 {
		return 0, 0, next, nil
	}
	from, to, err = m.at(m.ordered.Record(pos))
	return from, to, max(next, from), err
}

// mapped reports whether an OMAP's target is an address: what has no counterpart on the other side
// is mapped to 0 or beyond all images.
func mapped(to uint64) bool { return to != 0 && to < 1<<31 }

// linked is the address that an address of the module had when it was linked. Code that was put in
// afterwards has none; it is given that of the byte before it, and exact is false.
func (f *File) linked(rva uint64) (linked uint64, exact, ok bool, err error) {
	if f.toSource == nil {
		return rva, true, true, nil
	}
	from, to, _, err := f.toSource.find(rva)
	if err != nil || mapped(to) {
		return to + (rva - from), true, err == nil, err
	}
	// There is nothing before the first address that could stand for it.
	if from == 0 {
		return 0, false, false, nil
	}
	before, to, _, err := f.toSource.find(from - 1)
	return to + (from - 1 - before), false, err == nil && mapped(to), err
}

// piece is a part of a range of addresses in the module.
type piece struct {
	symbol.Range
	left uint64 // bytes of the range, as it was linked, after it
}

// moved is where a range of addresses, as they were linked, is in the module: with an OMAP it may
// be in several pieces, or nowhere. Lookups in one function ask for the same ranges.
func (f *File) moved(rva, size uint64) ([]symbol.Range, error) {
	r := symbol.Range{Start: rva, Size: size}
	if f.fromSource == nil {
		return []symbol.Range{r}, nil
	}
	if out, ok := f.moves[r]; ok {
		return out, nil
	}
	out, err := f.findMoved(r)
	if err != nil {
		return nil, err
	}
	if f.movesKept += 1 + len(out); f.moves == nil || f.movesKept > maxKept {
		f.moves, f.movesKept = map[symbol.Range][]symbol.Range{}, 1+len(out)
	}
	f.moves[r] = out
	return out, nil
}

// findMoved is moved without what is known.
//
// What was put in between two pieces belongs to the range, unless it is longer than what follows of
// the range. This is what Breakpad does (src/common/windows/omap.cc), whose symbol files are the
// measure.
func (f *File) findMoved(r symbol.Range) ([]symbol.Range, error) {
	const pieceSize = 24
	var pieces []piece
	defer func() { f.fromSource.s.Return(pieceSize * int64(len(pieces))) }()
	rva := r.Start
	// Addresses have 32 bits.
	// Each round of the outer loop takes one entry of the table from linked addresses, the inner
	// one the entries of the other table from there on.
	begin, end := rva, min(rva+r.Size, 1<<32)
	seenFrom, seenTo := uint64(0), uint64(0) // a range of the module that was gone through
	for rva < end {
		from, to, next, err := f.fromSource.find(rva)
		if err != nil {
			return nil, err
		}
		at := to + (rva - from)
		rva = max(min(next, end), rva+1)
		if !mapped(to) || at >= seenFrom && at < seenTo {
			continue
		}
		// What follows there may be of the range too: one instruction may have become several, or a
		// longer one. The other table says so.
		for seenFrom, seenTo = at, at; ; {
			start, back, until, err := f.toSource.find(seenTo)
			if err != nil {
				return nil, err
			}
			source := back + (seenTo - start)
			if !mapped(back) || source < begin || source >= end || until <= seenTo {
				break
			}
			size := min(until-seenTo, end-source)
			if err := f.fromSource.s.Draw(input.Memory, pieceSize); err != nil {
				return nil, f.fromSource.s.Wrap("", 0, err)
			}
			pieces = append(pieces, piece{symbol.Range{Start: seenTo, Size: size}, end - (source + size)})
			seenTo = until
		}
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.Start, b.Start) })
	var out []symbol.Range
	// Pieces that touch, or with only new code between them that is not longer than what is left,
	// become one range.
	left := uint64(0)
	for _, p := range pieces {
		if n := len(out); n > 0 {
			last := &out[n-1]
			end := last.Start + last.Size
			joined := p.Start <= end
			if !joined && p.Start-end <= left {
				_, to, next, err := f.toSource.find(end)
				if err != nil {
					return nil, err
				}
				joined = !mapped(to) && next >= p.Start
			}
			if joined {
				last.Size = max(end, p.Start+p.Size) - last.Start
				left = p.left
				continue
			}
		}
		out = append(out, p.Range)
		left = p.left
	}
	return out, nil
}
