package pdb

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// origin is an inlined function: where it begins in its source.
type origin struct{ id, file, line uint32 }

// origin is where an inlined function begins.
//
// A subsection: 0 signature, then for each function 0 id, 4 file, 8 line; with signature 1 further files follow: their count, and
// an entry each.
func (m *moduleData) origin(id uint32) (origin, error) {
	if !m.read {
		var all []origin
		for _, p := range m.inlinees {
			c := cursor(m.s, p.off, p.size)
			more := c.U32() == 1
			for c.Left() >= 12 {
				all = append(all, origin{c.U32(), c.U32(), c.U32()})
				if more {
					c.Skip(int64(c.U32()) * 4)
				}
			}
			if err := c.Err(); err != nil {
				if input.Needs(err) {
					return origin{}, err
				}
				m.f.note(err.Error())
			}
		}
		slices.SortStableFunc(all, func(a, b origin) int { return cmp.Compare(a.id, b.id) })
		m.origins, m.read = all, true
	}
	i := sort.Search(len(m.origins), func(i int) bool { return m.origins[i].id >= id })
	if i < len(m.origins) && m.origins[i].id == id {
		return m.origins[i], nil
	}
	return origin{id: id}, nil
}

// site is one call that was inlined into a function.
type site struct {
	parent int // the site that it is in, -1 for the function itself
	depth  int
	id     uint32
	lines  []span // by address, none over another; all of them are in the parent's
	ranges []span // the same without the lines, what touches joined
}

// maxDepth bounds how deep calls are in each other.
const maxDepth = 1 << 10

// inlineSites are the inlined calls of a function, each behind the one that it is in. start is the offset in its section from
// which they count.
func (m *moduleData) inlineSites(fn *function) ([]site, error) {
	off, limit := int64(fn.off), int64(fn.limit)
	head, err := m.record(off)
	if err != nil {
		return nil, err
	}
	off += int64(len(head))
	var sites []site
	var open []int // the sites around, -1 for other scopes
	spans := int64(0)
	for off+4 <= limit {
		head, err := m.bytes(off, 4)
		if err != nil {
			return nil, err
		}
		size, kind := int64(u16(head, 0))+2, u16(head, 2)
		if size < 4 || size > limit-off {
			return sites, &input.FormatError{File: m.s.Name, Part: "symbols", Offset: off, Want: fmt.Sprintf("a record of 4 to %d bytes", limit-off), Have: fmt.Sprint(size)}
		}
		switch {
		case kind == symInlineSite || kind == symInlineSite2: // 4 parent, 8 end, 12 id, 16 annotations, or 16 count and 20 annotations
			rec, err := m.bytes(off, size)
			if err != nil {
				return nil, err
			}
			s := site{parent: -1, id: u32(rec, 12)}
			for i := len(open) - 1; i >= 0 && s.parent < 0; i-- {
				s.parent = open[i]
			}
			if s.parent >= 0 {
				s.depth = sites[s.parent].depth + 1
			}
			from, err := m.origin(s.id)
			if err != nil {
				return nil, err
			}
			text := rec[min(16, len(rec)):]
			if kind == symInlineSite2 {
				text = rec[min(20, len(rec)):]
			}
			s.lines = annotated(text, uint32(fn.at), from)
			if s.parent >= 0 {
				s.lines = within(s.lines, sites[s.parent].ranges)
			}
			s.ranges = joined(s.lines)
			// A span takes two bytes of annotations; calls in each other could share theirs without end.
			if spans += int64(len(s.lines)); spans > limit-int64(fn.off) {
				return sites, &input.FormatError{File: m.s.Name, Part: "symbols", Offset: off, Want: "inlined calls inside of those that they are in"}
			}
			if len(open) == maxDepth {
				return sites, &input.FormatError{File: m.s.Name, Part: "symbols", Offset: off, Want: fmt.Sprintf("scopes no deeper than %d", maxDepth)}
			}
			open = append(open, len(sites))
			sites = append(sites, s)
		case kind == symInlineEnd || kind == symEnd || kind == symProcIDEnd:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case scopes[kind]:
			if len(open) < maxDepth {
				open = append(open, -1)
			}
		}
		off += size
	}
	return sites, nil
}

// Binary annotations: a program whose steps change an address, a line or a file; those that change the address start a line.
//
// Source: microsoft-pdb, include/cvinfo.h (BinaryAnnotationOpcode).
const (
	noteCodeOffset          = 1
	noteCodeOffsetBase      = 2
	noteAddCodeOffset       = 3
	noteCodeLength          = 4
	noteFile                = 5
	noteAddLine             = 6
	noteLineEnd             = 7
	noteRangeKind           = 8
	noteColumnStart         = 9
	noteAddColumnEnd        = 10
	noteAddCodeOffsetLine   = 11
	noteLengthAddCodeOffset = 12
	noteColumnEnd           = 13
)

// annotated runs the annotations of an inlined call. start is the function's offset in its section.
func annotated(text []byte, start uint32, from origin) []span {
	var out []span
	// ends says of which spans the end is known.
	var ended bool
	file, line, off, base := from.file, from.line, uint32(0), uint32(0)
	emit := func(length uint32, known bool) {
		at := start + base + off
		if n := len(out); n > 0 && !ended {
			out[n-1].end = at
		}
		out = append(out, span{start: at, end: at + length, file: file, line: line})
		ended = known
	}
	for len(text) > 0 {
		var op, arg uint32
		if op, text = number(text); op == 0 {
			break
		}
		arg, text = number(text)
		switch op {
		case noteCodeOffset:
			off = arg
		case noteCodeOffsetBase:
			base = arg
		case noteAddCodeOffset:
			off += arg
			emit(0, false)
		case noteCodeLength:
			if n := len(out); n > 0 && !ended {
				out[n-1].end, ended = out[n-1].start+arg, true
			}
			off += arg
		case noteFile:
			file = arg
		case noteAddLine:
			line += signed(arg)
		case noteAddCodeOffsetLine:
			line += signed(arg >> 4)
			off += arg & 15
			emit(0, false)
		case noteLengthAddCodeOffset:
			var add uint32
			add, text = number(text)
			off += add
			emit(arg, true)
		case noteLineEnd, noteRangeKind, noteColumnStart, noteAddColumnEnd, noteColumnEnd:
		default:
			return tidy(out)
		}
	}
	return tidy(out)
}

// number is the next number of annotations: of 1, 2 or 4 bytes, which its high bits say. The end of the text is a 0.
func number(b []byte) (uint32, []byte) {
	switch {
	case len(b) >= 1 && b[0] < 0x80:
		return uint32(b[0]), b[1:]
	case len(b) >= 2 && b[0]&0xc0 == 0x80:
		return uint32(b[0]&0x3f)<<8 | uint32(b[1]), b[2:]
	case len(b) >= 4 && b[0]&0xe0 == 0xc0:
		return uint32(b[0]&0x1f)<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]), b[4:]
	}
	return 0, nil
}

// signed is a number whose lowest bit is its sign.
func signed(v uint32) uint32 {
	if v&1 != 0 {
		return -(v >> 1)
	}
	return v >> 1
}

// tidy sorts spans by address and takes out what is empty or is over another one: the earlier start counts, up to the next.
func tidy(list []span) []span {
	byStart := func(a, b span) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(list, byStart) {
		slices.SortStableFunc(list, byStart)
	}
	out := list[:0]
	for i, s := range list {
		if i+1 < len(list) {
			s.end = min(s.end, list[i+1].start)
		}
		if s.start < s.end {
			out = append(out, s)
		}
	}
	return out
}

// joined are the ranges of spans, those that touch as one.
func joined(list []span) []span {
	var out []span
	for _, s := range list {
		if n := len(out); n > 0 && out[n-1].end == s.start {
			out[n-1].end = s.end
			continue
		}
		out = append(out, span{start: s.start, end: s.end})
	}
	return out
}

// within cuts spans to ranges.
func within(list, ranges []span) []span {
	var out []span
	for _, s := range list {
		i := max(lastUpTo(ranges, uint64(s.start), func(r *span) uint64 { return uint64(r.start) }), 0)
		for ; i < len(ranges) && ranges[i].start < s.end; i++ {
			if cut := (span{max(s.start, ranges[i].start), min(s.end, ranges[i].end), s.file, s.line}); cut.start < cut.end {
				out = append(out, cut)
			}
		}
	}
	return out
}
