// Package compact reads Apple's compact unwind information, the section __unwind_info, as an
// unwind.Table: a word for each function says how its frame looks, in its body.
//
//	index          first function and page of each second level, sorted
//	regular page   function and word, sorted
//	compressed     distance from the page's first function and the number of a word, sorted
//
// Open opens the section. table.Row finds an entry by two binary searches; encoding.go makes a Row
// of its word. A word may also say that the function is described in __eh_frame; its Row has no
// rules then.
//
// Source: mach-o/compact_unwind_encoding.h of Apple's libunwind.
package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// SectionName is the name of the section, in the segment __TEXT.
const SectionName = "__unwind_info"

// Config is what a reader must know and the section does not contain.
type Config struct {
	Arch  *cpu.Arch
	Order binary.ByteOrder
	// File is the binary's name, for origins and errors.
	File string
	// Bounds returns the code of the function at an RVA, by where functions start; nil if that is not
	// known. Linkers join neighbouring functions with the same word.
	Bounds func(rva uint64) (start, end uint64, ok bool)
	// Code reads n bytes of code at an RVA, for frames whose size is in an instruction. It may be nil.
	Code func(rva uint64, n int64) ([]byte, error)
}

// table is an opened section.
type table struct {
	src         *input.Source
	cfg         Config
	decode      decoder
	commonAt    int64 // the words that all compressed pages share
	commonCount uint32
	indexAt     int64
	indexCount  uint32
	page        page // the one read last
	warnings    input.Warnings
}

// Sizes in bytes, and kinds of pages.
const (
	headerSize = 28
	indexSize  = 12

	regularPage    = 2
	compressedPage = 3
)

// stepsPerEntry is the work of reading an entry.
const stepsPerEntry = 4

// Open opens a section. Its addresses count from the program's header: they are RVAs.
//
//	0 version u32 · 4 common words: offset u32, count u32 · 12 personalities: offset u32, count u32 · 20 index: offset u32, count u32
//
// The last entry of the index is the end of the code.
func Open(src *input.Source, cfg Config) (unwind.Table, error) {
	if cfg.Arch == nil || cfg.Order == nil {
		return nil, errors.New("compact: no CPU or byte order is given")
	}
	t := &table{src: src, cfg: cfg, decode: decoders[cfg.Arch]}
	if t.decode == nil {
		return nil, fmt.Errorf("%s: %s: the words of %s are not known", cfg.File, SectionName, cfg.Arch.Name)
	}
	c := input.NewCursor(src, SectionName, 0, min(headerSize, src.Size), cfg.Order)
	version := c.U32()
	t.commonAt, t.commonCount = int64(c.U32()), c.U32()
	c.Skip(8)
	t.indexAt, t.indexCount = int64(c.U32()), c.U32()
	switch {
	case c.Err() != nil:
		return nil, c.Err()
	case version != 1:
		return nil, t.bad(0, "version 1", fmt.Sprint(version))
	}
	if room := max(0, src.Size-t.indexAt) / indexSize; int64(t.indexCount) > room {
		t.warnings.Add(t.bad(20, fmt.Sprintf("at most %d entries of the index", room), fmt.Sprint(t.indexCount)))
		t.indexCount = uint32(room)
	}
	if room := max(0, src.Size-t.commonAt) / 4; int64(t.commonCount) > room {
		t.warnings.Add(t.bad(4, fmt.Sprintf("at most %d common words", room), fmt.Sprint(t.commonCount)))
		t.commonCount = uint32(room)
	}
	return t, nil
}

// bad returns an error about the section at an offset.
func (t *table) bad(off int64, want, have string) error {
	return &input.FormatError{File: t.cfg.File, Part: SectionName, Offset: off, Want: want, Have: have}
}

// Warnings implements unwind.Table.
func (t *table) Warnings() []string { return t.warnings.List(t.cfg.File + ": " + SectionName) }

func (t *table) u32(off int64) (uint32, error) {
	var p [4]byte
	if _, err := t.src.ReadAt(p[:], off); err != nil {
		return 0, t.src.Wrap(SectionName, off, err)
	}
	return t.cfg.Order.Uint32(p[:]), nil
}

// page is a page of the second level: the RVA of its first function, where the next page begins, and
// its entries.
type page struct {
	at         int64 // offset in the section; 0 for none
	start, end uint32
	compressed bool
	entries    int64
	count      uint32
	words      int64 // its own words
	wordCount  uint32
}

// open reads the header of page n.
//
//	regular:     0 kind u32 · 4 entries: offset u16, count u16
//	compressed:  the same · 8 words: offset u16, count u16
//
// Offsets count from the page.
func (t *table) open(n uint32) (page, error) {
	off := t.indexAt + int64(n)*indexSize
	c := input.NewCursor(t.src, SectionName, off, 2*indexSize, t.cfg.Order)
	p := page{start: c.U32(), at: int64(c.U32())}
	c.Skip(4)
	p.end = c.U32()
	if c.Err() != nil || p.at == 0 {
		return p, c.Err()
	}
	if p.at == t.page.at && p.start == t.page.start && p.end == t.page.end {
		return t.page, nil
	}
	c = input.NewCursor(t.src, SectionName, p.at, min(12, max(0, t.src.Size-p.at)), t.cfg.Order)
	kind := c.U32()
	p.entries, p.count = p.at+int64(c.U16()), uint32(c.U16())
	switch kind {
	case regularPage:
	case compressedPage:
		p.compressed = true
		p.words, p.wordCount = p.at+int64(c.U16()), uint32(c.U16())
	default:
		if c.Err() == nil {
			return p, t.bad(p.at, "a page of kind 2 or 3", fmt.Sprint(kind))
		}
	}
	if c.Err() != nil {
		return p, c.Err()
	}
	if room := max(0, t.src.Size-p.entries) / p.entrySize(); int64(p.count) > room {
		t.warnings.AddKind("entries", t.bad(p.at, fmt.Sprintf("at most %d entries", room), fmt.Sprint(p.count)))
		p.count = uint32(room)
	}
	t.page = p
	return p, nil
}

func (p *page) entrySize() int64 {
	if p.compressed {
		return 4
	}
	return 8
}

// start returns the RVA of the function of entry i of a page.
func (t *table) start(p *page, i uint32) (uint32, error) {
	x, err := t.u32(p.entries + int64(i)*p.entrySize())
	if p.compressed {
		x = p.start + x&0xffffff
	}
	return x, err
}

// word returns the word of entry i of a page, and its offset in the section.
func (t *table) word(p *page, i uint32) (word uint32, at int64, err error) {
	at = p.entries + int64(i)*p.entrySize()
	if !p.compressed {
		at += 4
		word, err = t.u32(at)
		return word, at, err
	}
	x, err := t.u32(at)
	if err != nil {
		return 0, at, err
	}
	switch n := x >> 24; {
	case n < t.commonCount:
		at = t.commonAt + 4*int64(n)
	case n-t.commonCount < p.wordCount:
		at = p.words + 4*int64(n-t.commonCount)
	default:
		return 0, at, t.bad(at, fmt.Sprintf("one of %d words", t.commonCount+p.wordCount), fmt.Sprint(n))
	}
	word, err = t.u32(at)
	return word, at, err
}

// entry is an entry: a word and the code [start, end) that it describes.
type entry struct {
	start, end uint64
	word       uint32
	at         int64
}

// find returns the entry that covers an RVA. ok is false if no entry does.
func (t *table) find(rva uint64) (e entry, ok bool, err error) {
	if rva > math.MaxUint32 || t.indexCount < 2 {
		return e, false, nil
	}
	at := func(n int, first func(i uint32) (uint32, error)) (int, error) {
		var broken error
		i := sort.Search(n, func(i int) bool {
			s, err := first(uint32(i))
			if err != nil && broken == nil {
				broken = err
			}
			return err != nil || uint64(s) > rva
		})
		return i - 1, broken
	}
	n, err := at(int(t.indexCount), func(i uint32) (uint32, error) { return t.u32(t.indexAt + int64(i)*indexSize) })
	if err != nil || n < 0 || n == int(t.indexCount)-1 {
		return e, false, err
	}
	p, err := t.open(uint32(n))
	if err != nil || p.at == 0 {
		return e, false, err
	}
	i, err := at(int(p.count), func(i uint32) (uint32, error) { return t.start(&p, i) })
	if err != nil || i < 0 {
		return e, false, err
	}
	e, err = t.entry(&p, uint32(i))
	return e, err == nil && rva >= e.start && rva < e.end, err
}

// entry returns entry i of a page. It ends where the next begins.
func (t *table) entry(p *page, i uint32) (e entry, err error) {
	start, err := t.start(p, i)
	if err != nil {
		return e, err
	}
	end := p.end
	if i+1 < p.count {
		if end, err = t.start(p, i+1); err != nil {
			return e, err
		}
	}
	e.start, e.end = uint64(start), uint64(end)
	e.word, e.at, err = t.word(p, i)
	return e, err
}

// Row implements unwind.Table. It returns false for a function that __eh_frame describes, and for one
// whose word is 0: the table says nothing about it.
func (t *table) Row(rva uint64) (unwind.Row, bool, error) {
	e, ok, err := t.find(rva)
	if !ok || err != nil {
		return unwind.Row{}, false, err
	}
	e = t.bounded(e, rva)
	return t.row(e)
}

// bounded narrows an entry to the function at an RVA: the size of some frames is in an instruction
// of the function.
func (t *table) bounded(e entry, rva uint64) entry {
	if t.cfg.Bounds != nil {
		if start, end, ok := t.cfg.Bounds(rva); ok && start >= e.start && start <= rva {
			e.start, e.end = start, min(e.end, end)
		}
	}
	return e
}

func (t *table) row(e entry) (unwind.Row, bool, error) {
	row := unwind.Row{Start: e.start, WholeFunction: true, Origin: unwind.Origin{File: t.cfg.File, Part: SectionName, Offset: e.at}}
	if e.word&modeMask == 0 {
		return row, false, nil
	}
	note, err := t.decode(t, e, &row)
	if t.src.Interrupted(err) {
		return unwind.Row{}, false, err
	}
	if err != nil {
		note = err.Error()
	}
	if note != "" {
		row = unwind.Row{Origin: row.Origin}
		row.Origin.Note = note
		return row, false, nil
	}
	return row, true, nil
}

// Each implements unwind.Table.
func (t *table) Each(f func(start, end uint64, row unwind.Row) error) error {
	for n := uint32(0); n+1 < t.indexCount; n++ {
		p, err := t.open(n)
		if input.Needs(err) {
			return err
		}
		if err != nil {
			t.warnings.AddKind("page", err)
			continue
		}
		if p.at == 0 {
			continue
		}
		// Pages may be the same, or lie over each other.
		if err := t.src.Draw(input.Work, stepsPerEntry*int64(p.count)); err != nil {
			return t.src.Wrap(SectionName, p.at, err)
		}
		for i := uint32(0); i < p.count; i++ {
			e, err := t.entry(&p, i)
			if input.Needs(err) {
				return err
			}
			if err != nil {
				t.warnings.AddKind("entry", err)
				continue
			}
			if err := t.functions(e, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// functions calls f for the functions of an entry.
func (t *table) functions(e entry, f func(start, end uint64, row unwind.Row) error) error {
	for at := e.start; at < e.end; {
		one := t.bounded(e, at)
		if one.start < at || one.end <= at {
			one.start, one.end = at, e.end
		}
		row, ok, err := t.row(one)
		if err != nil {
			return err
		}
		if ok {
			if err := f(one.start, one.end, row); err != nil {
				return err
			}
		}
		at = one.end
	}
	return nil
}

// Function implements unwind.Functions: the code of an entry, as far as function starts divide it.
func (t *table) Function(rva uint64) (start, end uint64, ok bool, err error) {
	e, ok, err := t.find(rva)
	if !ok || err != nil {
		return 0, 0, false, err
	}
	e = t.bounded(e, rva)
	return e.start, e.end, true, nil
}
