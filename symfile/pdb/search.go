package pdb

import (
	"github.com/crashpane/crashpane/core/input"
)

// A module of a large program may have megabytes of symbols and of lines, and no table of them by
// address. Compilers and linkers write them in the order of the addresses, so they are searched. A
// step of the search looks in the middle for the next record that can only be that of a function
// (or of lines). Its address says on which side to go on. What such a search finds covers the
// address that was asked for; where it finds nothing, all of the part is read.

const (
	// searchBlock is how much of a part is looked through from its start rather than searched in:
	// what is read at once.
	searchBlock = 64 << 10
	// recordAlign is to what records are aligned.
	recordAlign = 4
)

// landmark is a record that was recognized from a place in the middle of a part.
type landmark struct {
	off int64  // its start
	at  uint64 // its address, see sectionOffset
}

// narrow is the start of a record, in a part of the stream, after which that for an address
// follows, within a block if addresses are spread evenly. next finds the first landmark in a range;
// ok=false says that the range has none. found=false: landmarks are missing or out of order.
//
// Invariant: the record for key is at lo or after it and before hi, and the addresses of lo and hi
// are known or are the ends. Each round moves one of them to a block's start, so the loop ends.
// Guesses by address and halvings alternate, since addresses may be spread very unevenly.
func narrow(p part, key uint64, next func(from, to int64) (landmark, bool, error)) (from int64, found bool, err error) {
	end := p.off + p.size
	lo, ok, err := next(p.off, end)
	if err != nil || !ok || lo.at > key {
		return 0, false, err
	}
	// The record for key is at lo or after it, and before hi.
	hi := landmark{max(lo.off, (end-1)&^(searchBlock-1)), ^uint64(0)}
	l, ok, err := next(hi.off, end)
	switch {
	case err != nil:
		return 0, false, err
	case ok && l.at < lo.at:
		return 0, false, nil
	case ok && l.at <= key:
		return l.off, true, nil
	case ok:
		hi.at = l.at
	}
	for halve := hi.at == ^uint64(0); ; halve = !halve {
		mid := between(lo, hi, key)
		if mid-lo.off <= searchBlock {
			return lo.off, true, nil
		}
		if halve {
			mid = lo.off + (hi.off-lo.off)/2
		}
		if mid &^= searchBlock - 1; mid <= lo.off {
			return lo.off, true, nil
		}
		l, ok, err := next(mid, hi.off)
		switch {
		case err != nil:
			return 0, false, err
		// No landmark from mid on: what is sought is before mid.
		case !ok:
			hi.off = mid
		case l.at < lo.at || l.at > hi.at:
			return 0, false, nil
		case l.at <= key:
			lo = l
		default:
			hi = landmark{mid, l.at}
		}
	}
}

// between guesses where a key is by those around it.
func between(lo, hi landmark, key uint64) int64 {
	part := 0.5
	if hi.at > lo.at && hi.at != ^uint64(0) {
		part = float64(key-lo.at) / float64(hi.at-lo.at)
	}
	return lo.off + int64(float64(hi.off-lo.off)*part)
}

// searchFunction is the function that covers a section's byte, if it is found without the index;
// else nil.
//
// Records from there on are walked until a function begins after the address. Of those that cover
// it, the last start counts, as in function.
func (m *moduleData) searchFunction(key uint64) (*function, error) {
	if m.s == nil || m.symbols.size <= searchBlock {
		return nil, nil
	}
	from, ok, err := narrow(m.symbols, key, func(from, to int64) (landmark, bool, error) { return m.scan(from, to, m.functionAt) })
	var found *function
	if err == nil && ok {
		err = m.walkSymbols(from, func(r *symbolRecord) (bool, error) {
			if !isProc(r.kind) {
				return false, nil
			}
			fn := r.function()
			if key-fn.at < uint64(fn.size) && (found == nil || fn.at > found.at) {
				found = &fn
			}
			return fn.at > key, nil
		})
	}
	if err != nil && !input.Needs(err) { // the index says what is wrong
		return nil, nil
	}
	return found, err
}

// blocksIn are the subsections of lines that cover a range of a section, and maybe others, by
// address.
func (m *moduleData) blocksIn(at uint64, size uint32) ([]lineBlock, error) {
	if err := m.aroundLines(); err != nil {
		return nil, err
	}
	if m.around && !m.linesIndexed {
		found, err := m.searchBlocks(at, at+uint64(size))
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	err := m.indexLines()
	return m.blocks, err
}

// searchBlocks are the subsections of lines in a range, if one that covers its start is found
// without the index.
func (m *moduleData) searchBlocks(start, end uint64) ([]lineBlock, error) {
	from, ok, err := narrow(part{m.firstLines, m.c13.off + m.c13.size - m.firstLines}, start, func(from, to int64) (landmark, bool, error) { return m.scan(from, to, m.linesAt) })
	var found []lineBlock
	sorted, covered, last := true, false, uint64(0)
	if err == nil && ok {
		err = m.walkSubsections(from, func(s *subsection) (bool, error) {
			b, ok := s.lines()
			if !ok {
				return false, nil
			}
			sorted, last = b.at >= last, b.at
			if b.at < end && b.at+uint64(b.size) > start {
				found = append(found, b)
				covered = covered || b.at <= start
			}
			return !sorted || b.at >= end, nil
		})
	}
	switch {
	case input.Needs(err):
		return nil, err
	case err != nil || !sorted || !covered:
		return nil, nil
	}
	return found, nil
}

// aroundLines finds the subsections before and after those of lines: files and inlined functions.
func (m *moduleData) aroundLines() error {
	if m.around || m.linesIndexed || m.s == nil {
		return nil
	}
	if m.c13.size <= searchBlock {
		return m.indexLines()
	}
	m.inlinees, m.firstLines = nil, 0
	err := m.walkSubsections(m.c13.off, func(s *subsection) (bool, error) {
		m.keep(s)
		if s.kind == subsectionLines {
			m.firstLines = s.off - subsectionHeader
		}
		return m.firstLines > 0, nil
	})
	// The end of the last lines is not far from the end of all.
	end := m.c13.off + m.c13.size
	for size := int64(chunkSize); err == nil && m.checksums.size == 0 && size < end-m.firstLines; size *= 2 {
		var l landmark
		var ok bool
		if l, ok, err = m.scan((end-size)&^(recordAlign-1), end, m.linesAt); err == nil && ok {
			err = m.walkSubsections(l.off, func(s *subsection) (bool, error) { m.keep(s); return false, nil })
			break
		}
	}
	if input.Needs(err) {
		return err
	}
	if err != nil || m.firstLines == 0 || m.checksums.size == 0 {
		return m.indexLines()
	}
	m.around = true
	return nil
}

// scan looks for the first landmark that starts in a range, block by block: what is read around the
// landmark afterwards is mostly in the same block. at says for an offset whether there is one.
func (m *moduleData) scan(from, to int64, at func(off int64, head []byte) (landmark, bool, error)) (landmark, bool, error) {
	for off := from; off < to; {
		n := min(searchBlock-off&(searchBlock-1), to-off)
		b, err := m.bytes(off, n)
		if err != nil {
			return landmark{}, false, err
		}
		for i := int64(0); i+recordAlign <= n; i += recordAlign {
			if l, ok, err := at(off+i, b[i:i+recordAlign]); err != nil || ok {
				return l, ok, err
			}
		}
		off += n
	}
	return landmark{}, false, nil
}

// functionAt reports whether a function's record that is in no scope begins at an offset: its kind,
// its addresses and the record at its end agree. head are its first bytes.
//
// A wrong guess would need all of this by chance: a kind of function, no parent, an end record
// where the record says that it is, a prologue and epilogue inside of the function, and an address
// inside of a section.
func (m *moduleData) functionAt(off int64, head []byte) (landmark, bool, error) {
	end := m.symbols.off + m.symbols.size
	if !isProc(u16(head, 2)) || off+procName > end {
		return landmark{}, false, nil
	}
	rec, err := m.bytes(off, procName)
	if err != nil {
		return landmark{}, false, err
	}
	next, until := off+2+int64(u16(rec, 0)), int64(u32(rec, 8))
	at, size := sectionOffset(u16(rec, 36), u32(rec, 32)), u32(rec, 16)
	if u32(rec, 4) != 0 || next < off+procName || until < next || until+4 > end || u32(rec, 20) > size || u32(rec, 24) > size || !m.f.inSection(at, size) {
		return landmark{}, false, nil
	}
	b, err := m.bytes(until, 4)
	if err != nil {
		return landmark{}, false, err
	}
	kind := u16(b, 2)
	return landmark{off, at}, u16(b, 0) == 2 && (kind == symEnd || kind == symProcIDEnd), nil
}

// linesAt reports whether a subsection of lines begins at an offset: its addresses and the size of
// its first part agree.
func (m *moduleData) linesAt(off int64, head []byte) (landmark, bool, error) {
	const size = subsectionHeader + linesHeader + 12 // and the header of a part: 0 file, 4 count, 8 size
	end := m.c13.off + m.c13.size
	if u32(head, 0) != subsectionLines || off+size > end {
		return landmark{}, false, nil
	}
	rec, err := m.bytes(off, size)
	if err != nil {
		return landmark{}, false, err
	}
	s := subsection{subsectionLines, part{off + subsectionHeader, int64(u32(rec, 4))}, rec[subsectionHeader:]}
	b, _ := s.lines()
	count, partSize := int64(u32(rec, 24)), int64(u32(rec, 28))
	ok := s.off+s.size <= end && partSize == 12+count*b.each() && partSize <= b.part.size && m.f.inSection(b.at, b.size)
	return landmark{off, b.at}, ok, nil
}

// inSection reports whether a range that is not empty is in its section.
func (f *File) inSection(at uint64, size uint32) bool {
	number := at >> 32
	return size > 0 && number > 0 && number <= uint64(len(f.sections)) && uint64(uint32(at))+uint64(size) <= uint64(f.sections[number-1].size)
}
