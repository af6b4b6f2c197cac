package symfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/symfile/lazy"
)

// rec is one record of the index: where its code is, and where its text is.
type rec struct {
	// rva and size are its code; of FILE and INLINE_ORIGIN records rva is the number.
	rva, size uint64
	off       int64 // file offset of the record's line
	// end is the file offset after the lines that belong to the record and follow it without a
	// gap: line and INLINE records of a FUNC, deltas of an INIT. In the table of STACK WIN it is
	// the highest end address of the records up to this one.
	end  int64
	line int32 // of the record in the file, counted from 1
}

// has reports whether the record's code covers an address.
func (r *rec) has(rva uint64) bool { return rva >= r.rva && rva-r.rva < r.size }

// tableKind is a kind of record that the index has.
type tableKind uint8

const (
	tableFuncs tableKind = iota
	tableInits
	tableWin4
	tableWin0
	tablePublics // from here on records have no size and no lines of their own
	tableFiles
	tableOrigins
	numTables
)

// blockLen is how many records of a table are packed relative to each other, and unpacked for a
// lookup.
const blockLen = 64

// table has the records of one kind. A gigabyte of text has millions, so each is stored as its
// differences to the one before it, about ten bytes, and a lookup unpacks one block of them. A
// table has no pointers that the garbage collector follows, and its bytes are the same in memory
// and in a stored index.
//
// A record is these numbers (putUnsigned, putSigned); the first of a block is relative to its head:
//
//	rva       signed     difference
//	off       signed     difference
//	line      signed     difference
//	size      unsigned   not in a thin table
//	end       signed     from off; not in a thin table
//
// Example: 80 01 68 06 3c f0 01 is the FUNC that starts 0x40 above the one before, 52 bytes and 3
// lines after it in the file, has 0x3c bytes of code and 120 bytes of text with its lines.
type table struct {
	thin  bool // records have no size and no end
	lined bool // the end of a record is that of its lines in the file
	data  []byte
	heads []head
	n     int
	prev  rec // what was put last
	left  int // records that the last block can still take
	// mixed: the records are not by address, or some lie over each other; settle then has work to
	// do.
	mixed bool
	// moved: the records were mixed, so that they are not in the order of the file.
	moved bool

	open int // the block that recs is of, counted from 1
	recs []rec
	err  error // why a block could not be unpacked

	// For a table that was stored: the checksums of its blocks, and the size of the file that its
	// records are in. With text its data are not in memory but in another file, far bytes from base
	// on.
	sums []uint32
	size int64
	// ended is what end returned when the table was stored.
	ended uint64
	text  *lazy.Text
	base  int64
	far   int
}

// head says where a block begins and what its first record is relative to, so that blocks are found
// by a binary search and unpacked one at a time.
type head struct {
	rva  uint64
	off  int64
	line int32
	at   uint32 // in data
}

// put appends a record.
func (t *table) put(r rec) {
	t.mixed = t.mixed || t.overlaps(r.rva) || r.size == 0 && !t.thin
	p := t.prev
	if t.left == 0 {
		t.left = blockLen
		t.heads = append(t.heads, head{rva: r.rva, off: r.off, line: r.line, at: uint32(len(t.data))})
		p = r
	}
	t.left--
	t.n++
	const most = 5 * binary.MaxVarintLen64
	if n := len(t.data); cap(t.data)-n < most { // to move a table often costs a short-lived process more than memory for as much again
		t.data = slices.Grow(t.data, min(max(n, 1<<10), 1<<18))
	}
	d := t.data[len(t.data) : len(t.data)+most]
	n := putSigned(d, 0, int64(r.rva-p.rva))
	n = putSigned(d, n, r.off-p.off)
	n = putSigned(d, n, int64(r.line-p.line))
	if !t.thin {
		n = putUnsigned(d, n, r.size)
		n = putSigned(d, n, r.end-r.off)
	}
	t.data = t.data[:len(t.data)+n]
	t.prev = r
}

// overlaps reports whether a record that starts at an address is not after the one that was put last.
func (t *table) overlaps(rva uint64) bool {
	return t.n > 0 && (rva <= t.prev.rva || rva-t.prev.rva < t.prev.size)
}

// putUnsigned and putSigned write a varint to d[n:], which must have enough bytes, and return the
// index after it. putSigned maps 0, -1, 1, -2 to 0, 1, 2, 3 first, as encoding/binary does.
func putUnsigned(d []byte, n int, v uint64) int {
	for ; v >= 0x80; n++ {
		d[n] = byte(v) | 0x80
		v >>= 7
	}
	d[n] = byte(v)
	return n + 1
}

func putSigned(d []byte, n int, v int64) int { return putUnsigned(d, n, uint64(v)<<1^uint64(v>>63)) }

// span returns where a block's bytes are in the table's data.
func (t *table) span(b int) (from, to int) {
	if to = max(len(t.data), t.far); b+1 < len(t.heads) {
		to = int(t.heads[b+1].at)
	}
	return int(t.heads[b].at), to
}

// errBlock says that a block of a stored table is not what was stored.
var errBlock = errors.New("a block of the index does not match its checksum, or belongs to another file")

// block returns a block's records, which are valid until the next call. If the block cannot be
// read, they are empty and t.err says why (see failed).
func (t *table) block(b int) []rec {
	if t.open != b+1 {
		t.open = b + 1
		if t.recs = t.decode(b, t.recs[:0]); t.err != nil {
			t.open, t.recs = 0, t.recs[:0]
		}
	}
	return t.recs
}

// decode appends a block's records to recs. For a stored table it compares the checksum and the
// bounds of each record, since the bytes may come from any file.
func (t *table) decode(b int, recs []rec) []rec {
	h := t.heads[b]
	r := rec{rva: h.rva, off: h.off, line: h.line}
	from, to := t.span(b)
	var u unpacker
	if t.text == nil {
		u.b = t.data[from:to]
	} else if u.b, t.err = t.text.Bytes(t.base+int64(from), int64(to-from)); t.err != nil {
		return recs
	}
	if t.sums != nil && crc32.ChecksumIEEE(u.b) != t.sums[b] {
		t.err = errBlock
		return recs
	}
	for n := 0; u.left() > 0 && n < blockLen; n++ {
		r.rva += uint64(u.signed())
		r.off += u.signed()
		r.line += int32(u.signed())
		r.end = r.off
		if !t.thin {
			r.size = u.unsigned()
			r.end += u.signed()
		}
		// A last line without an end was indexed as if it had one.
		if t.sums != nil && (r.off < 0 || r.off > t.size || r.line < 0 || r.rva+r.size < r.rva || t.lined && (r.end < r.off || r.end > t.size+1)) {
			u.bad = true
		}
		recs = append(recs, r)
	}
	if u.bad || u.left() > 0 || len(recs) == 0 {
		t.err = errBlock
	}
	return recs
}

// each calls fn with all records in their order.
func (t *table) each(fn func(r *rec)) {
	for b := range t.heads {
		recs := t.block(b)
		for i := range recs {
			fn(&recs[i])
		}
	}
}

// all returns all records of the table, unpacked.
func (t *table) all() []rec {
	out := make([]rec, 0, t.n)
	t.each(func(r *rec) { out = append(out, *r) })
	return out
}

// byAddress is the order of tables: by address, of equal ones the shorter first, of these the first
// in the file.
func byAddress(a, b *rec) int {
	switch { // nearly all differ here
	case a.rva < b.rva:
		return -1
	case a.rva > b.rva:
		return 1
	}
	return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.off, b.off))
}

// inOrder calls fn with all records sorted byAddress. It unpacks and sorts only keys, 16 bytes a
// record, and then unpacks the blocks again in that order: neighbors are mostly in one block.
func (t *table) inOrder(fn func(r *rec)) {
	type place struct {
		key uint64
		at  uint32 // the block and the record in it
	}
	places := make([]place, 0, t.n)
	for b := range t.heads {
		for i, r := range t.block(b) {
			places = append(places, place{r.rva, uint32(b*blockLen + i)})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		switch { // nearly all differ here
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return cmp.Compare(a.at, b.at)
	})
	var same []rec // of one key
	for i := range places {
		at := places[i].at
		same = append(same, t.block(int(at / blockLen))[at%blockLen])
		if i+1 < len(places) && places[i+1].key == places[i].key {
			continue
		}
		if len(same) > 1 {
			sortFew(same, func(a, b rec) int { return byAddress(&a, &b) })
		}
		for k := range same {
			fn(&same[k])
		}
		same = same[:0]
	}
}

// fill replaces the table's records.
func (t *table) fill(recs []rec) {
	*t = table{thin: t.thin, data: t.data[:0], heads: t.heads[:0]}
	for i := range recs {
		t.put(recs[i])
	}
}

// join appends the table of the next chunk of a file. line is the number of lines before the chunk.
// Blocks stay as they are, so no record is unpacked; the last block before a join may have fewer
// than blockLen records.
func (t *table) join(o *table, line int32) {
	if o.n == 0 {
		return
	}
	t.mixed = t.mixed || t.overlaps(o.heads[0].rva) || o.mixed
	at := uint32(len(t.data))
	for _, h := range o.heads {
		h.line += line
		h.at += at
		t.heads = append(t.heads, h)
	}
	t.data = append(t.data, o.data...)
	t.n += o.n
	t.prev, t.left, t.open = o.prev, 0, 0
	t.prev.line += line
}

// find returns the block of the last record at or below a key and the record's index in it, or -1.
// The table must be sorted.
func (t *table) find(key uint64) (b, i int) {
	b = sort.Search(len(t.heads), func(i int) bool { return t.heads[i].rva > key }) - 1
	if b < 0 {
		return -1, -1
	}
	recs := t.block(b)
	return b, sort.Search(len(recs), func(i int) bool { return recs[i].rva > key }) - 1
}

// last returns the last record at or below a key of a sorted table. It returns an error if the
// block could not be read.
func (t *table) last(key uint64) (r rec, ok bool, err error) {
	if _, i := t.find(key); i >= 0 {
		r, ok = t.recs[i], true
	}
	return r, ok, t.failed()
}

// near returns the range of the file that has the record of a key, from the first record of its
// block to that of the next; of the last block it is the first 16 KiB, which may not be all. It returns
// false if the table is not in the order of the file, or the range is not below 16 KiB.
func (t *table) near(key uint64) (from, to int64, ok bool) {
	b := sort.Search(len(t.heads), func(i int) bool { return t.heads[i].rva > key }) - 1
	if t.moved || b < 0 {
		return 0, 0, false
	}
	const most = 16 << 10
	from = t.heads[b].off
	to = min(from+most-1, t.size)
	if b+1 < len(t.heads) {
		to = t.heads[b+1].off
	}
	return from, to, to > from && to-from < most
}

// failed returns the error of the last block that could not be read, and clears it.
func (t *table) failed() (err error) {
	err, t.err = t.err, nil
	return err
}

// innermost returns the STACK WIN record that is best for an address (see nested), of those that
// start at or below from. It goes backwards from the last of these, and stops where no record before
// ends above the address. n is how many records it has compared. The error is that of last.
func (t *table) innermost(from, rva uint64) (r rec, ok bool, n int, err error) {
	b, i := t.find(from)
	for ; b >= 0 && t.err == nil; b, i = b-1, blockLen {
		recs := t.block(b)
		for i = min(i, len(recs)-1); i >= 0; i-- {
			n++
			switch r := recs[i]; {
			case uint64(r.end) <= rva:
				return rec{}, false, n, nil
			case r.has(rva):
				return r, true, n, nil
			}
		}
	}
	return rec{}, false, n, t.failed()
}

// end returns where the code of the last record ends, 0 of an empty table.
func (t *table) end() (uint64, error) {
	if t.text != nil {
		return t.ended, nil // without a read of the last block
	}
	r, _, err := t.last(^uint64(0))
	return r.rva + r.size, err
}

// packHeads writes the heads of the blocks, for unpackHeads. The blocks' bytes follow all heads
// (see storedMagic). For each block:
//
//	rva, off, line    varints
//	bytes of the block    varint
//	CRC-32 of them    4 bytes, little-endian
func (t *table) packHeads(p *packer) {
	for b, h := range t.heads {
		from, to := t.span(b)
		p.unsigned(h.rva)
		p.unsigned(uint64(h.off))
		p.unsigned(uint64(h.line))
		p.unsigned(uint64(to - from))
		p.b = binary.LittleEndian.AppendUint32(p.b, crc32.ChecksumIEEE(t.data[from:to]))
	}
}

// unpackHeads reads n heads that packHeads wrote. bytes is the sum of their blocks' bytes, size
// that of the symbol file.
func (t *table) unpackHeads(u *unpacker, n, bytes int, size int64) {
	at := uint64(0)
	t.heads, t.sums, t.size, t.far = slices.Grow(t.heads[:0], n), slices.Grow(t.sums[:0], n), size, bytes
	for range n {
		h := head{rva: u.unsigned(), off: int64(u.upTo(uint64(size))), line: int32(u.upTo(1<<31 - 1)), at: uint32(at)}
		at += u.upTo(uint64(bytes) - at)
		t.heads, t.sums = append(t.heads, h), append(t.sums, u.fixed())
	}
	u.bad = u.bad || at != uint64(bytes)
}

// check unpacks every block of a stored table, compares its checksum, and sets n, prev and mixed,
// which a stored table does not have.
func (t *table) check() (ok bool) {
	for b := range t.heads {
		recs := t.block(b)
		for i := range recs {
			r := &recs[i]
			t.mixed = t.mixed || t.overlaps(r.rva) || r.size == 0 && !t.thin
			t.prev = *r
			t.n++
		}
	}
	return t.failed() == nil
}

// packer appends numbers and texts, for unpacker to read.
type packer struct{ b []byte }

// What this calls is large for a loop of a few instructions, and there are dozens of calls.
//
//go:noinline
func (p *packer) unsigned(v uint64) { p.b = binary.AppendUvarint(p.b, v) }

func (p *packer) flag(v bool) {
	if v {
		p.unsigned(1)
	} else {
		p.unsigned(0)
	}
}

func (p *packer) bytes(b []byte) {
	p.unsigned(uint64(len(b)))
	p.b = append(p.b, b...)
}

func (p *packer) text(s string) { p.bytes([]byte(s)) }

// unpacker reads what a packer wrote. A number that does not fit sets bad, and everything after it
// is zero. It counts its position in at and leaves b alone: to move a slice's start is to write a
// pointer, which costs a write barrier for each number of an index.
type unpacker struct {
	b   []byte
	at  int
	bad bool
}

func (u *unpacker) left() int { return len(u.b) - u.at }

// fail makes everything that follows zero.
func (u *unpacker) fail() { u.at, u.bad = len(u.b), true }

func (u *unpacker) unsigned() uint64 {
	if at := u.at; at+1 < len(u.b) { // nearly all have one byte or two
		low, high := u.b[at], u.b[at+1]
		if low < 0x80 {
			u.at++
			return uint64(low)
		}
		if high < 0x80 {
			u.at += 2
			return uint64(low&0x7f) | uint64(high)<<7
		}
	}
	return u.long()
}

func (u *unpacker) long() uint64 {
	v, n := binary.Uvarint(u.b[u.at:])
	if n <= 0 {
		u.fail()
		return 0
	}
	u.at += n
	return v
}

func (u *unpacker) signed() int64 {
	v := u.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

// upTo reads a number that must not be above most.
func (u *unpacker) upTo(most uint64) uint64 {
	v := u.unsigned()
	if v > most {
		u.fail()
		return 0
	}
	return v
}

// count reads the number of elements that follow, each of at least so many bytes. A count is bad if
// there are fewer bytes than it needs, so that a caller may allocate by it.
func (u *unpacker) count(each int) int {
	v := u.unsigned()
	if v > uint64(u.left()/each) {
		u.fail()
		return 0
	}
	return int(v)
}

// fixed reads a number of four bytes, little-endian.
func (u *unpacker) fixed() uint32 {
	if u.left() < 4 {
		u.fail()
		return 0
	}
	u.at += 4
	return binary.LittleEndian.Uint32(u.b[u.at-4:])
}

func (u *unpacker) flag() bool { return u.upTo(1) == 1 }

// bytes reads a length and returns that many bytes, as a part of b, not a copy.
func (u *unpacker) bytes() []byte {
	n := u.count(1)
	u.at += n
	return u.b[u.at-n : u.at : u.at]
}

func (u *unpacker) text() string { return string(u.bytes()) }
