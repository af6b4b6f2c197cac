package symfile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
)

// An index as bytes: of a chunk of a file, to be joined where others are, or of all of it, to be
// kept for another time or to be next to the file on a server.
//
//	"symindex" version
//	the length of all that is before the tables, 4 bytes, little-endian
//	from, to, size of the file, fingerprint (of a chunk 0)
//	lines, line records, and how large the tables are: blocks and bytes of each
//	MODULE, INFO, counts, warnings, runs of lines apart from their records
//	of each table whether it is in another order than the file, where the code of its last record ends, and of each of its blocks:
//	what its first record is relative to, its length, its CRC-32
//	CRC-32 of all that
//	the tables' blocks, one after the other
//
// Numbers are varints, texts have their length in front. A lookup reads single blocks of a
// file's index.
const (
	storedMagic   = "symindex"
	storedVersion = 5
	storedStart   = len(storedMagic) + 1 + 4
	// mostStart bounds what is read of an index at once, in bytes: 1 GB of symbols takes 800 KB.
	mostStart = 64 << 20
)

// again returns a File without an index that uses the memory of f's tables. f must not be used any
// more; it may be nil.
func (f *File) again(src *input.Source) *File {
	n := newFile(src, Options{})
	if f != nil {
		n.extras = f.extras[:0]
		for k := range n.tables {
			t := &f.tables[k]
			n.tables[k].data, n.tables[k].heads, n.tables[k].sums, n.tables[k].recs = t.data[:0], t.heads[:0], t.sums[:0], t.recs[:0]
		}
	}
	return n
}

// joinAll joins the indexes of all chunks from one offset of the file to another, in their order.
// The error is a *input.FormatError that says what is wrong with an index.
//
// In order: the sizes of all tables are added up and the memory allocated; each index is unpacked,
// checked and appended, and its bytes dropped.
func (s *scanner) joinAll(indexes [][]byte, from, to int64) error {
	f := s.f
	// The tables are made as large as they will be: growing them would leave several times as
	// much behind.
	var sizes [numTables]struct{ heads, bytes int }
	for _, b := range indexes {
		h, err := f.unpackStart(&unpacker{b: b}, int64(len(b)))
		if err != nil {
			return err
		}
		for k := range sizes {
			sizes[k].heads += h.sizes[k].heads
			sizes[k].bytes += h.sizes[k].bytes
		}
	}
	for k, r := range sizes {
		f.tables[k].heads = make([]head, 0, r.heads)
		f.tables[k].data = make([]byte, 0, r.bytes)
	}
	at := from
	p := &scanner{}
	for i, b := range indexes {
		p = &scanner{f: p.f.again(f.src)}
		h, err := p.unpack(b, int64(len(b)))
		if err == nil && h.from != at {
			err = f.badIndex(fmt.Sprintf("the chunk from offset %d", at), fmt.Sprintf("that from %d", h.from))
		}
		b = b[min(int(h.length), len(b)):]
		for k := range p.f.tables {
			if err == nil {
				t := &p.f.tables[k]
				t.data, b = b[:t.far], b[t.far:]
				if !t.check() {
					err = f.badIndex("an index", "a block that does not match its checksum")
				}
			}
		}
		if err != nil {
			return err
		}
		at, indexes[i] = h.to, nil
		s.join(p)
	}
	if at != to {
		return f.badIndex(fmt.Sprintf("an index to offset %d", to), fmt.Sprintf("one to %d", at))
	}
	f.Counts.Lines, f.Counts.LineRecords = max(s.line, 0), s.lineCount
	return nil
}

// OpenIndexed opens a file with a stored index, which Index or a ChunkIndexer made. Lookups read
// the blocks of the index that they need.
//
// OpenIndexed reads some slices of the file to see that it is the same one. If a lookup finds that
// it is not after all, or that the index is damaged, the file is searched or read anew, and Revised
// reports that. Errors are the reader's, or a *input.FormatError that says what is wrong with the
// index, or which other file it is of.
func OpenIndexed(src, index *input.Source, opt Options) (*File, error) {
	f := newFile(src, opt)
	f.reset()
	// A block takes some hundred bytes and its head 20, so that this is mostly all that is before the blocks.
	b, err := index.Bytes(0, min(max(64<<10, index.Size/16), index.Size, mostStart))
	if err != nil {
		return nil, err
	}
	h, err := f.unpackStart(&unpacker{b: b}, index.Size)
	if err != nil {
		return nil, err
	}
	if start := min(h.length, index.Size, mostStart); int64(len(b)) < start {
		if b, err = index.Bytes(0, start); err != nil {
			return nil, err
		}
	}
	s := &scanner{f: f}
	if h, err = s.unpack(b, index.Size); err != nil {
		return nil, err
	}
	print, err := Fingerprint(src)
	if err != nil {
		return nil, err
	}
	if print != h.print || h.from != 0 || h.to != src.Size {
		return nil, f.badIndex("an index of this file", "one of other content")
	}
	at := h.length
	for k := range f.tables {
		t := &f.tables[k]
		if int64(len(b)) == index.Size {
			t.data = b[at : at+int64(t.far)]
		} else if f.text.Beside == nil {
			f.text.Beside = lazy.NewText(index, cmp.Or(opt.Slice, exactBlock))
		}
		t.text, t.base = f.text.Beside, at
		at += int64(t.far)
	}
	f.index = index
	f.Counts.Lines, f.Counts.LineRecords = int(h.line), int(h.lineCount)
	return f, nil
}

// Index returns the index of a FullyIndexed file, for OpenIndexed at another time, or nil if the
// file is not. An error is the reader's. "crashpane index" writes the bytes to a file, the page
// stores them in the browser.
func (f *File) Index() ([]byte, error) {
	if f.lazy != nil {
		return nil, nil
	}
	if f.index != nil {
		return f.index.Bytes(0, f.index.Size)
	}
	print, err := Fingerprint(f.src)
	if err != nil {
		return nil, err
	}
	s := &scanner{f: f, line: f.Counts.Lines, lineCount: f.Counts.LineRecords}
	return s.pack(0, f.src.Size, print), nil
}

// sum is a checksum that is being computed.
type sum uint64

func (h *sum) add(v uint64) { *h = (*h ^ sum(v)) * 0x9e3779b97f4a7c15; *h ^= *h >> 29 }

// Fingerprint tells files of one module and size apart without reading them: a checksum over 16
// slices of 4 KiB, evenly spread, the first and the last of the file among them. It is never 0. An
// error is the reader's.
func Fingerprint(src *input.Source) (uint64, error) {
	const slices = 16
	n := min(4<<10, src.Size)
	parts := make([]input.Part, slices)
	for i := range parts {
		parts[i] = input.Part{Off: (src.Size - n) / (slices - 1) * int64(i), Data: make([]byte, n)}
	}
	if err := input.ReadMany(src, parts); err != nil {
		return 0, src.Wrap("symbol file", 0, err)
	}
	h := sum(src.Size)
	for _, p := range parts {
		for b := p.Data; len(b) >= 8; b = b[8:] {
			h.add(binary.LittleEndian.Uint64(b))
		}
	}
	return uint64(h) | 1, nil
}

func (f *File) badIndex(want, have string) error {
	return &input.FormatError{File: f.src.Name, Part: "index of the symbol file", Offset: -1, Want: want, Have: have}
}

// storedHead is the beginning of a stored index: everything before the MODULE record.
type storedHead struct {
	length                    int64 // of all that is before the tables
	from, to, line, lineCount int64
	print                     uint64
	sizes                     [numTables]struct{ heads, bytes int }
}

// numbers returns the counts in the order in which they are stored.
func (c *Counts) numbers() []*int {
	return []*int{&c.Files, &c.Origins, &c.Funcs, &c.Publics, &c.Inlines, &c.CFIInits, &c.CFIDeltas,
		&c.WinFrameData, &c.WinFPO, &c.WinOther, &c.Infos, &c.Unknown}
}

// pack returns the index of the chunk [from, to); the layout is at storedMagic. print is the file's
// fingerprint, 0 for a chunk.
func (s *scanner) pack(from, to int64, print uint64) []byte {
	f := s.f
	size := 4096
	for k := range f.tables {
		size += len(f.tables[k].data) + 20*len(f.tables[k].heads)
	}
	p := &packer{b: append(make([]byte, 0, size), storedMagic...)}
	p.unsigned(storedVersion)
	p.b = append(p.b, 0, 0, 0, 0)
	for _, v := range []int64{from, to, f.src.Size, int64(print), int64(max(s.line, 0)), int64(s.lineCount)} {
		p.unsigned(uint64(v))
	}
	for k := range f.tables {
		p.unsigned(uint64(len(f.tables[k].heads)))
		p.unsigned(uint64(len(f.tables[k].data)))
	}
	p.flag(f.HasModule)
	for _, t := range f.texts() {
		p.text(*t)
	}
	for _, n := range f.Counts.numbers() {
		p.unsigned(uint64(*n))
	}
	p.unsigned(uint64(f.WarningCount))
	for _, n := range f.warned {
		p.unsigned(uint64(n))
	}
	p.unsigned(uint64(len(f.Warnings)))
	for i := range f.Warnings {
		w := &f.Warnings[i]
		p.unsigned(uint64(w.kind))
		p.unsigned(uint64(w.Line))
		p.unsigned(uint64(w.of))
		p.text(w.Text)
	}
	p.unsigned(uint64(len(f.extras)))
	for _, e := range f.extras {
		for _, v := range []int64{e.owner, e.off, e.end, int64(e.line)} {
			p.unsigned(uint64(v))
		}
	}
	for k := range f.tables {
		t := &f.tables[k]
		end, _ := t.end() // in memory nothing can fail
		p.flag(t.moved)
		p.unsigned(end)
		t.packHeads(p)
	}
	binary.LittleEndian.PutUint32(p.b[storedStart-4:], uint32(len(p.b)+4))
	p.b = binary.LittleEndian.AppendUint32(p.b, crc32.ChecksumIEEE(p.b))
	for k := range f.tables {
		p.b = append(p.b, f.tables[k].data...)
	}
	return p.b
}

// texts returns the texts of a file's MODULE and INFO records in the order in which they are
// stored.
func (f *File) texts() []*string {
	m := &f.Module
	return []*string{&m.OS, &m.Arch, &m.ID, &m.Name, &f.CodeID, &f.CodeFile, &f.URL}
}

// unpackStart reads the beginning of an index of size bytes. It compares the magic, the version and
// the size of the symbol file.
func (f *File) unpackStart(u *unpacker, size int64) (h storedHead, err error) {
	if len(u.b) < storedStart || string(u.b[:len(storedMagic)]) != storedMagic {
		return h, f.badIndex("an index", fmt.Sprintf("%d bytes that are not an index", len(u.b)))
	}
	u.at = len(storedMagic)
	if v := u.unsigned(); v != storedVersion {
		return h, f.badIndex(fmt.Sprintf("version %d", storedVersion), fmt.Sprintf("version %d", v))
	}
	h.length = int64(u.fixed())
	h.from, h.to = int64(u.unsigned()), int64(u.unsigned())
	if of := u.unsigned(); of != uint64(f.src.Size) {
		return h, f.badIndex(fmt.Sprintf("the index of a file of %d bytes", f.src.Size), fmt.Sprintf("that of one of %d", of))
	}
	h.print = u.unsigned()
	const most = 1<<31 - 1
	h.line, h.lineCount = int64(u.upTo(most)), int64(u.upTo(most))
	for k := range h.sizes {
		h.sizes[k].heads, h.sizes[k].bytes = int(u.upTo(uint64(size))), int(u.upTo(min(most, uint64(size))))
	}
	return h, nil
}

// unpack reads an index of size bytes up to its tables, into a scanner that is ready to be joined.
// b has at least these bytes of it. The index may come from any file or server: each number is
// compared with a limit before it is used.
func (s *scanner) unpack(b []byte, size int64) (h storedHead, err error) {
	f := s.f
	u := &unpacker{b: b}
	if h, err = f.unpackStart(u, size); err != nil {
		return h, err
	}
	body := h.length - 4
	if body < int64(u.at) || h.length > int64(len(b)) || crc32.ChecksumIEEE(b[:body]) != binary.LittleEndian.Uint32(b[body:]) {
		return h, f.badIndex("an index that is whole", "a checksum that does not match")
	}
	u.b = b[:body:body]
	rest := size - h.length
	for k := range h.sizes {
		rest -= int64(h.sizes[k].bytes)
		if h.sizes[k].heads > u.left()/8 { // no block's head is shorter
			u.fail()
		}
	}
	switch {
	case u.bad: // before memory is taken for the heads
		return h, f.badIndex("an index", "one with more blocks than it has bytes for")
	case rest != 0:
		return h, f.badIndex(fmt.Sprintf("an index of %d bytes", size-rest), fmt.Sprintf("one of %d", size))
	}
	const most = 1<<31 - 1
	s.line, s.lineCount = int(h.line), int(h.lineCount)
	f.HasModule = u.flag()
	for _, t := range f.texts() {
		*t = u.text()
	}
	for _, n := range f.Counts.numbers() {
		*n = int(u.upTo(most))
	}
	f.WarningCount = int(u.upTo(most))
	for k := range f.warned {
		f.warned[k] = int(u.upTo(most))
	}
	for range u.count(4) {
		f.Warnings = append(f.Warnings, Warning{kind: kind(u.upTo(uint64(numKinds) - 1)), Line: int(u.upTo(most)), of: int32(u.upTo(most)), Text: u.text()})
	}
	end := uint64(f.src.Size) + 1 // a last line without an end was indexed as if it had one
	for range u.count(4) {
		e := extra{owner: int64(u.upTo(end)), off: int64(u.upTo(end)), end: int64(u.upTo(end)), line: int32(u.upTo(most))}
		u.bad = u.bad || e.end < e.off
		f.extras = append(f.extras, e)
	}
	for k := range f.tables {
		f.tables[k].moved, f.tables[k].ended = u.flag(), u.unsigned()
		f.tables[k].unpackHeads(u, h.sizes[k].heads, h.sizes[k].bytes, f.src.Size)
	}
	if u.bad || u.left() > 0 || h.from < 0 || h.to < h.from {
		return h, f.badIndex("an index", "one whose parts do not fit together")
	}
	return h, nil
}
