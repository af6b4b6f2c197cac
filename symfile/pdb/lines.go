package pdb

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// Kinds of subsections of a module's line information ("C13").
//
// Source: microsoft-pdb, include/cvinfo.h (DEBUG_S_SUBSECTION_TYPE).
const (
	// Lines of a range of code: see readLines.
	subsectionLines = 0xf2
	// One entry for each source file, to whose offset lines and inlined functions refer.
	subsectionChecksums = 0xf4
	// Where the source of each inlined function begins: see origin.
	subsectionInlinees = 0xf6
	// With link-time code generation, ids of inlined functions refer to other modules: see global.
	subsectionImports = 0xf7
	subsectionExports = 0xf8
)

// Numbers that are not lines, but tell a debugger how to step over code that the compiler added.
// That code belongs to the line before it.
//
// Source: LLVM, DebugInfo/CodeView/Line.h (AlwaysStepIntoLineNumber, NeverStepIntoLineNumber).
const (
	lineHidden   = 0xfeefee
	lineStepOver = 0xf00f00
)

// lineBlock is one subsection of lines: of a function, or of a section of an object file.
type lineBlock struct {
	at      uint64
	size    uint32
	columns bool
	part    part // of the stream, after the subsection's own header
}

func (b *lineBlock) start() uint64 { return b.at }

// each is the size of a line.
func (b *lineBlock) each() int64 {
	if b.columns {
		return 12
	}
	return 8
}

// span is a range of code and the line that it comes from. The range is offsets in a section.
type span struct {
	start, end uint32
	file       uint32 // the offset of its entry in the checksums of files
	line       uint32
}

// indexLines finds the subsections, once. What is wrong with them costs those that follow.
func (m *moduleData) indexLines() error {
	if m.linesIndexed || m.s == nil {
		return nil
	}
	before := m.held
	m.blocks, m.inlinees, m.origins, m.read = nil, nil, nil, false
	err := m.walkSubsections(m.c13.off, func(s *subsection) (bool, error) {
		if b, ok := s.lines(); ok {
			m.blocks = append(m.blocks, b)
			return false, m.hold()
		}
		m.keep(s)
		return false, nil
	})
	if err := m.f.pass(err); err != nil {
		return m.release(before, err)
	}
	slices.SortStableFunc(m.blocks, func(a, b lineBlock) int { return cmp.Compare(a.at, b.at) })
	m.linesIndexed = true
	return nil
}

// subsection is one subsection of line information, with the first bytes of it.
type subsection struct {
	kind uint32
	part
	head []byte
}

// subsectionHeader is the size of a subsection's header: 0 kind, 4 size.
const subsectionHeader = 8

// linesHeader is the size of a header of lines: 0 offset, 4 section u16, 6 flags u16, 8 code size.
const linesHeader = 12

// lines is what a subsection of lines says.
func (s *subsection) lines() (lineBlock, bool) {
	if s.kind != subsectionLines || len(s.head) < linesHeader {
		return lineBlock{}, false
	}
	return lineBlock{at: sectionOffset(u16(s.head, 4), u32(s.head, 0)), size: u32(s.head, 8), columns: u16(s.head, 6)&1 != 0,
		part: part{s.off + linesHeader, s.size - linesHeader}}, true
}

// keep takes note of a subsection that is not of lines.
func (m *moduleData) keep(s *subsection) {
	switch s.kind {
	case subsectionChecksums:
		m.checksums = s.part
	case subsectionInlinees:
		m.inlinees = append(m.inlinees, s.part)
	case subsectionImports:
		m.imports = s.part
	case subsectionExports:
		m.exports = s.part
	}
}

// walkSubsections calls fn for the subsections from the one at off on, until fn says that it is
// enough.
func (m *moduleData) walkSubsections(off int64, fn func(s *subsection) (enough bool, err error)) error {
	end := m.c13.off + m.c13.size
	for off+subsectionHeader <= end {
		head, err := m.bytes(off, min(subsectionHeader+linesHeader, end-off))
		if err != nil {
			return err
		}
		s := subsection{kind: u32(head, 0), part: part{off + subsectionHeader, int64(u32(head, 4))}}
		if s.size > end-s.off {
			return &input.FormatError{File: m.s.Name, Offset: off + 4, Want: "a subsection of lines that ends in it", Have: fmt.Sprintf("one of %d bytes", s.size)}
		}
		s.head = head[subsectionHeader:min(int64(len(head)), subsectionHeader+s.size)]
		if enough, err := fn(&s); err != nil || enough {
			return err
		}
		// Subsections are aligned to 4 bytes; their sizes leave the padding out.
		off = s.off + (s.size+3)&^3
	}
	return nil
}

// lines are the lines of a block by address, the last of them up to the block's end. Of several at
// one address the last counts, since the others have no code.
//
// A block has parts for each file: 0 file, 4 count, 8 size in bytes, then for each line 0 offset, 4
// number (24 bits) and flags; then, if the block has columns, 4 bytes for each.
//
// The last block is kept: functions of assembler code share one.
func (m *moduleData) lines(b *lineBlock) ([]span, error) {
	if m.last != nil && m.last.part == b.part {
		return m.lastLines, nil
	}
	out, err := m.readLines(b)
	if err == nil {
		m.last, m.lastLines = b, out
	}
	return out, err
}

// readLines reads the lines of a block. The upper 8 bits of a line's number are flags (how many
// lines the statement has, and whether it is a statement), which are not shown.
func (m *moduleData) readLines(b *lineBlock) ([]span, error) {
	var out []span
	c := cursor(m.s, b.part.off, b.part.size)
	base := uint32(b.at)
	for c.Left() >= 12 {
		at := c.Off()
		file, count, size := c.U32(), int64(c.U32()), int64(c.U32())
		if most := c.Left() / b.each(); count > most {
			c.FailAt(at+4, fmt.Sprintf("no more than %d lines", most), fmt.Sprint(count))
			break
		}
		for range count {
			off, line := c.U32(), c.U32()&0xffffff
			if off < b.size && line != lineHidden && line != lineStepOver {
				out = append(out, span{start: base + off, file: file, line: line})
			}
		}
		if c.Err() == nil && at+size > c.Off() {
			c.Skip(min(at+size-c.Off(), c.Left()))
		}
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	byStart := func(a, b span) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(out, byStart) {
		slices.SortStableFunc(out, byStart)
	}
	// Of several lines at one address the last one stays.
	kept := out[:0]
	for _, l := range out {
		if n := len(kept); n > 0 && kept[n-1].start == l.start {
			kept[n-1] = l
			continue
		}
		kept = append(kept, l)
	}
	// Lines have no sizes: each reaches to the next, the last to the end of the block.
	for i := range kept {
		kept[i].end = base + b.size
		if i+1 < len(kept) {
			kept[i].end = kept[i+1].start
		}
	}
	return kept, nil
}

// linesIn are the lines of a range of a section, cut to it.
func (m *moduleData) linesIn(at uint64, size uint32) ([]span, error) {
	blocks, err := m.blocksIn(at, size)
	if err != nil {
		return nil, err
	}
	var out []span
	i := max(lastUpTo(blocks, at, (*lineBlock).start), 0)
	// Blocks of one address are those of several functions that became one: the first counts.
	for i > 0 && blocks[i-1].at == blocks[i].at {
		i--
	}
	// Spans have 32-bit offsets. The end is computed in 64 bits, since a damaged size may pass 4
	// GiB.
	start, end := uint32(at), uint32(min(uint64(uint32(at))+uint64(size), 1<<32-1))
	for ; i < len(blocks) && blocks[i].at < at+uint64(size); i++ {
		b := &blocks[i]
		if b.at>>32 != at>>32 || uint64(b.size) <= at-min(at, b.at) || i > 0 && blocks[i-1].at == b.at && len(out) > 0 {
			continue
		}
		lines, err := m.lines(b)
		if err := m.f.pass(err); err != nil {
			return nil, err
		}
		first := max(lastUpTo(lines, uint64(start), func(l *span) uint64 { return uint64(l.start) }), 0)
		for _, l := range lines[first:] {
			if l.start >= end {
				break
			}
			l.start, l.end = max(l.start, start), min(l.end, end)
			if n := len(out); n > 0 {
				l.start = max(l.start, out[n-1].end)
			}
			if l.start < l.end {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// spanAt is the span of a list that covers an offset, or nil.
func spanAt(list []span, off uint32) *span {
	i := lastUpTo(list, uint64(off), func(s *span) uint64 { return uint64(s.start) })
	if i < 0 || off >= list[i].end {
		return nil
	}
	return &list[i]
}

// file is the path of a file by its entry in the checksums: 0 offset of the name, 4 length of the
// checksum and its kind.
func (m *moduleData) file(entry uint32) (string, error) {
	if err := m.aroundLines(); err != nil {
		return "", err
	}
	if int64(entry) > m.checksums.size-4 {
		return "", nil
	}
	b, err := m.bytes(m.checksums.off+int64(entry), 4)
	if err != nil {
		return "", err
	}
	return m.f.text(u32(b, 0))
}
