package pdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// The container of a PDB, a "multi-stream file": pages of equal size, and a directory that says
// which pages each numbered stream has.
//
// Source: LLVM, docs/PDB/MsfFile.rst.

const (
	// Visual Studio 2002 and later; the format before that; and that of .NET's compilers, which has
	// other contents.
	magic7        = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"
	magic2        = "Microsoft C/C++ program database 2.00\r\n"
	magicPortable = "BSJB"

	// The super block: 0 signature (32 bytes), 32 page size, 36 page of the free page map, 40 pages
	// in the file, 44 size of the directory in bytes, 48 unused, 52 number of the page that lists
	// the directory's pages.
	superBlockSize = 56
	minPage        = 512
	maxPage        = 32 << 10
	// noStream is the number of a stream that is not there.
	noStream = 0xffff
	// noSize is the size that the directory gives to a stream which was deleted.
	noSize = 0xffffffff
)

// Numbers of streams that are the same in every file.
const (
	streamInfo = 1
	streamTPI  = 2
	streamDBI  = 3
	streamIPI  = 4
)

// container gives the streams of a file. It keeps one size for each stream of the
// directory, and reads a stream's list of pages from the directory when the stream is read.
type container struct {
	src       *input.Source
	page      int64
	directory *input.Source
	// sizes are the streams' sizes in bytes, before the numbers of pages of all streams before
	// each.
	sizes, before []uint32
}

// Is reports whether a file is a PDB, by its first 32 bytes, also if it is of a kind that Open only
// has an error for.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magic7)) || bytes.HasPrefix(head, []byte(magic2[:len(magic7)])) || bytes.HasPrefix(head, []byte(magicPortable))
}

// openContainer reads the super block and the sizes of the streams. The pages of all streams
// together are no more than the file has: otherwise a small file could claim any number of large
// streams that share their pages.
func openContainer(src *input.Source) (*container, error) {
	fail := func(off int64, want, have string) error {
		return &input.FormatError{File: src.Name, Part: "PDB header", Offset: off, Want: want, Have: have}
	}
	head, err := src.Bytes(0, min(src.Size, superBlockSize))
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte(magicPortable)):
		return nil, fail(0, "a PDB of native code", "a portable PDB, which describes .NET code; a dump of native code needs the PDB of the native program")
	case bytes.HasPrefix(head, []byte(magic2)):
		return nil, fail(0, "a PDB of Visual Studio 2002 or newer", "the format before that (program database 2.00); make a .sym file of it with Breakpad's dump_syms on Windows")
	case !bytes.HasPrefix(head, []byte(magic7)):
		return nil, fail(0, fmt.Sprintf("%q", magic7[:24]), "something else")
	case len(head) < superBlockSize:
		return nil, fail(int64(len(head)), fmt.Sprintf("%d bytes", superBlockSize), "the end of the file")
	}
	le := binary.LittleEndian
	c := &container{src: src, page: int64(le.Uint32(head[32:]))}
	pages, size := int64(le.Uint32(head[40:])), int64(le.Uint32(head[44:]))
	if c.page < minPage || c.page > maxPage || c.page&(c.page-1) != 0 {
		return nil, fail(32, "a page size of 512 to 32768, a power of two", fmt.Sprint(c.page))
	}
	whole := (src.Size + c.page - 1) / c.page
	if pages > whole {
		return nil, fail(40, fmt.Sprintf("%d pages of %d bytes", pages, c.page), fmt.Sprintf("a file of %d bytes; it is cut off", src.Size))
	}
	if size > src.Size {
		return nil, fail(44, fmt.Sprintf("a directory smaller than the file (%d bytes)", src.Size), fmt.Sprintf("one of %d bytes", size))
	}
	// The header names the pages of a list, and that names the directory's pages. The list has one
	// page unless the directory is large; writers differ in whether they call its further pages by
	// number or take those that follow it in the file, so they are the same.
	listSize := (size + c.page - 1) / c.page * 4
	name := src.Name + ": stream directory"
	// Three levels: lists has the numbers of the pages of list, list those of the directory's
	// pages.
	lists := src.Sub(name, superBlockSize-4, (listSize+c.page-1)/c.page*4)
	list := src.Derive(name, &paged{c: c, name: name, list: lists, listPart: "list of its pages' numbers", listAt: superBlockSize - 4, size: listSize}, listSize)
	c.directory = src.Derive(name, &paged{c: c, name: name, list: list, listPart: "its pages' numbers", size: size}, size)
	if err := c.readSizes(whole); err != nil {
		return nil, err
	}
	return c, nil
}

// readSizes reads the head of the directory: the number of streams and the size of each.
//
//	0 number of streams n
//	4 size of each stream in bytes, n words; 0xffffffff for a deleted one
//	  numbers of the pages of stream 0, then of stream 1, ... one word a page
//
// A stream has size/page pages, rounded up, so where its list begins follows from the sizes of all
// streams before it.
func (c *container) readSizes(whole int64) error {
	cur := input.NewCursor(c.directory, "", 0, c.directory.Size, binary.LittleEndian)
	n := int64(cur.U32())
	if cur.Err() == nil && n > cur.Left()/4 {
		cur.Fail(fmt.Sprintf("sizes of %d streams", n), fmt.Sprintf("a directory of %d bytes", c.directory.Size))
	}
	if err := cur.Err(); err != nil {
		return err
	}
	raw := cur.Bytes(n * 4)
	if err := cur.Err(); err != nil {
		return err
	}
	c.sizes, c.before = make([]uint32, n), make([]uint32, n)
	before, used := int64(0), int64(0)
	for i := range c.sizes {
		size := binary.LittleEndian.Uint32(raw[i*4:])
		if size == noSize {
			size = 0
		}
		pages := (int64(size) + c.page - 1) / c.page
		// Stream 0 is an older directory, whose pages may have been given to others.
		if i > 0 {
			used += pages
		}
		if used > whole || (n+1+before+pages)*4 > c.directory.Size {
			return &input.FormatError{File: c.directory.Name, Offset: int64(4 + i*4), Want: "streams of no more pages than the file has",
				Have: fmt.Sprintf("stream %d of %d bytes", i, size)}
		}
		c.sizes[i], c.before[i] = size, uint32(before)
		before += pages
	}
	return nil
}

// stream is a stream by its number. One that is not there is nil; what names it in errors.
func (c *container) stream(number int, what string) *stream {
	if number < 0 || number >= len(c.sizes) {
		return nil
	}
	size := int64(c.sizes[number])
	listAt := int64(len(c.sizes)+1+int(c.before[number])) * 4
	list := c.directory.Sub(c.directory.Name, listAt, (size+c.page-1)/c.page*4)
	p := &paged{c: c, name: fmt.Sprintf("%s: stream %d (%s)", c.src.Name, number, what), list: list, listPart: "its pages' numbers in the stream directory", listAt: listAt, size: size}
	return &stream{Source: c.src.Derive(p.name, p, size), pages: p}
}

// stream is one stream as a source of its own, whose cache it has; and small reads of it.
type stream struct {
	*input.Source
	pages *paged
	few   []chunk // most recently used first
}

// chunk is a small part of a stream that was read for one record.
type chunk struct {
	at   int64
	data []byte
}

const (
	// chunkSize is how much is read of a table for one record of it: searches come to a few records
	// all over it.
	chunkSize = 4 << 10
	// maxChunks bounds what is kept of a stream so.
	maxChunks = 32
)

// record reads n bytes (up to chunkSize) at off, for searches.
func (s *stream) record(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.Size || n > s.Size-off {
		return s.Bytes(off, n) // which says what is wrong
	}
	at := off &^ (chunkSize - 1)
	if off+n > at+chunkSize {
		first, err := s.record(off, at+chunkSize-off)
		if err != nil {
			return nil, err
		}
		rest, err := s.record(at+chunkSize, off+n-at-chunkSize)
		return append(slices.Clone(first), rest...), err
	}
	for i := range s.few {
		if c := s.few[i]; c.at == at {
			copy(s.few[1:i+1], s.few[:i])
			s.few[0] = c
			return c.data[off-at : off-at+n], nil
		}
	}
	data := make([]byte, min(chunkSize, s.Size-at))
	if _, err := s.pages.ReadAt(data, at); err != nil {
		return nil, s.Wrap("", at, err)
	}
	if len(s.few) < maxChunks {
		s.few = append(s.few, chunk{})
	}
	copy(s.few[1:], s.few)
	s.few[0] = chunk{at, data}
	return data[off-at : off-at+n], nil
}

// paged reads bytes that are in pages, whose numbers are a list of 32-bit words. It is an
// io.ReaderAt.
type paged struct {
	c    *container
	name string // for errors, as the next two
	list *input.Source
	// listPart says what the list is, and listAt is its offset in what it is a part of.
	listPart string
	listAt   int64
	size     int64
}

// ReadAt reads pages that follow each other in the file at once. Of parts that are not here yet it
// asks for all together.
func (p *paged) ReadAt(b []byte, off int64) (int, error) {
	page := p.c.page
	if off < 0 || int64(len(b)) > p.size-off {
		return 0, &input.FormatError{File: p.name, Offset: off, Want: fmt.Sprintf("%d bytes", len(b)), Have: fmt.Sprintf("a stream of %d bytes", p.size)}
	}
	if len(b) == 0 {
		return 0, nil
	}
	first, last := off/page, (off+int64(len(b))-1)/page
	numbers, err := p.list.Bytes(first*4, (last-first+1)*4)
	if err != nil {
		return 0, err
	}
	var missing *input.NeedError
	done := 0
	// Each round reads a run of pages whose numbers follow each other: start, start+1, ...
	// start+run-1.
	for numberAt := p.listAt + first*4; len(numbers) > 0; {
		start := int64(binary.LittleEndian.Uint32(numbers))
		run := int64(1)
		for run*4 < int64(len(numbers)) && int64(binary.LittleEndian.Uint32(numbers[run*4:])) == start+run {
			run++
		}
		numbers = numbers[run*4:]
		// The first page may be entered in its middle.
		skip := int64(0)
		if done == 0 {
			skip = off % page
		}
		n := min(run*page-skip, int64(len(b)-done))
		at := start*page + skip
		if at+n > p.c.src.Size {
			outside := max(start, p.c.src.Size/page)
			return done, &input.FormatError{File: p.name, Part: p.listPart, Offset: numberAt + (outside-start)*4,
				Want: fmt.Sprintf("pages of a file of %d bytes", p.c.src.Size), Have: fmt.Sprintf("page %d of %d bytes", outside, page)}
		}
		numberAt += run * 4
		// Bytes that are not here yet do not end the loop: the error that is returned has the
		// ranges of all runs, and the caller fetches them in one go.
		_, err := p.c.src.ReadDirect(b[done:done+int(n)], at)
		var need *input.NeedError
		switch {
		case errors.As(err, &need):
			if missing == nil {
				missing = &input.NeedError{Name: need.Name}
			}
			missing.Ranges = append(missing.Ranges, need.Ranges...)
		case err != nil:
			return done, err
		}
		done += int(n)
	}
	if missing != nil {
		return 0, missing
	}
	return done, nil
}
