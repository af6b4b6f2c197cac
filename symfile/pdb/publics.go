package pdb

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/ordered"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// publics are the linker's names. The stream that leads to them has a table of them by address:
// offsets in the stream of symbol records.
//
// Source: LLVM, docs/PDB/PublicStream.rst.
type publics struct {
	stream, number int // the numbers of the two streams
	opened         bool
	table, records *stream
	base           int64
	ordered        ordered.Table
	x86            bool
}

// publicHeader: 0 size of the table by name, 4 of that by address, 8 thunks; the table by name
// follows, then that by address.
const publicHeader = 28

// openPublics opens them once.
func (f *File) openPublics() (*publics, error) {
	p := f.publics
	if p == nil {
		p = &publics{stream: noStream, number: noStream}
		f.publics = p
	}
	if p.opened {
		return p, nil
	}
	table, records := f.msf.stream(p.stream, "public names"), f.msf.stream(p.number, "symbol records")
	if table == nil || records == nil || table.Size < publicHeader {
		p.opened = true
		return p, nil
	}
	c := cursor(table, 0, table.Size)
	names, size := int64(c.U32()), int64(c.U32())
	c.Skip(publicHeader - 8 + names)
	if c.Err() == nil && size > c.Left() {
		c.FailAt(4, fmt.Sprintf("a table of no more than %d bytes", c.Left()), fmt.Sprint(size))
	}
	if err := f.pass(c.Err()); err != nil {
		return nil, err
	}
	p.opened = true
	// A damaged table costs the public names only: the two streams stay nil, and searches find nothing.
	if c.Err() != nil {
		return p, nil
	}
	p.table, p.records, p.base = table, records, c.Off()
	p.ordered = ordered.Table{N: int(size / 4), Key: func(i int) (uint64, error) {
		at, _, err := p.at(i)
		return at, err
	}}
	return p, nil
}

// at is the address of a name (see sectionOffset), and where its record is: 4 flags, 8 offset, 12
// section, 14 name.
func (p *publics) at(i int) (at uint64, off int64, err error) {
	b, err := p.table.record(p.base+int64(i)*4, 4)
	if err != nil {
		return 0, 0, err
	}
	off = int64(u32(b, 0))
	rec, err := p.records.record(off, 14)
	if err != nil {
		return 0, 0, err
	}
	if kind := u16(rec, 2); kind != symPublic && kind != symPublicST {
		return 0, 0, &input.FormatError{File: p.records.Name, Offset: off, Want: "the record of a public name", Have: fmt.Sprintf("a record of kind 0x%x", kind)}
	}
	return sectionOffset(u16(rec, 12), u32(rec, 8)), off, nil
}

// name is the name of the record at an offset, without what x86's compilers put before names of C.
func (p *publics) name(off int64) (string, error) {
	head, err := p.records.record(off, 4)
	if err != nil {
		return "", err
	}
	size := int64(u16(head, 0)) + 2
	rec, err := p.records.Bytes(off, min(size, p.records.Size-off))
	text := name(u16(head, 2), rec, 14)
	if p.x86 {
		text = symbol.WithoutUnderscore(text)
	}
	return text, err
}

// PublicNames calls fn with the public names of code whose records are in size bytes from off on of
// the stream of symbol records, in their order: by address they would be read at random. It returns
// where the next record is, or -1.
func (f *File) PublicNames(off, size int64, fn func(rva uint64, name string)) (next int64, err error) {
	p, err := f.openPublics()
	if err != nil || p.records == nil {
		return -1, err
	}
	for end := off + size; off < end; {
		if off+4 > p.records.Size {
			return -1, nil
		}
		head, err := p.records.record(off, 4)
		if err != nil {
			return -1, err
		}
		length, kind := int64(u16(head, 0))+2, u16(head, 2)
		if length < 4 {
			return -1, &input.FormatError{File: p.records.Name, Offset: off, Want: "a symbol record", Have: "one of no bytes"}
		}
		if kind == symPublic || kind == symPublicST {
			rec, err := p.records.record(off, 14)
			if err != nil {
				return -1, err
			}
			rva, text, err := f.publicCode(sectionOffset(u16(rec, 12), u32(rec, 8)), off)
			if err != nil {
				return -1, err
			}
			if text != "" {
				fn(rva, text)
			}
		}
		off += length
	}
	return off, nil
}

// publicCode is where a public name is in the module, by its address and the offset of its record. text
// is "" for a name of data, such as a vtable, and for code that is no longer in the module.
func (f *File) publicCode(at uint64, off int64) (rva uint64, text string, err error) {
	if number := at >> 32; number == 0 || number > uint64(len(f.sections)) || !f.sections[number-1].code {
		return 0, "", nil
	}
	parts, err := f.appendMoved(nil, at, 1)
	if err != nil || len(parts) == 0 {
		return 0, "", err
	}
	text, err = f.publics.name(off)
	return parts[0].Start, text, err
}

// find is the last name at or before a section's byte.
func (p *publics) find(key uint64) (text string, at uint64, ok bool, err error) {
	pos, err := p.ordered.Search(key)
	if err != nil || pos < 0 {
		return "", 0, false, err
	}
	at, off, err := p.at(p.ordered.Record(pos))
	// The last name up to the address may be of the section before, which says nothing of this one.
	if err != nil || at>>32 != key>>32 {
		return "", 0, false, err
	}
	// Of several names at one address the first counts. The linker may give thousands of functions with
	// the same code one address.
	before, err := p.ordered.Search(at - 1)
	if err != nil {
		return "", 0, false, err
	}
	first, firstOff, err := p.at(p.ordered.Record(before + 1))
	if err != nil {
		return "", 0, false, err
	}
	if first == at { // it is not in a table that is not sorted
		off = firstOff
	}
	text, err = p.name(off)
	return text, at, err == nil, err
}
