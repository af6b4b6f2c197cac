// Package sevenzip reads 7z archives: the list of members, and those that are stored or compressed by
// LZMA, LZMA2, deflate, bzip2 or Zstandard, also behind the filters for machine code and numbers.
//
// Members of a folder (a "solid block") are one stream that begins nowhere else, so they are read from
// front to back, one after the other.
//
// Format: 7zFormat.txt and Methods.txt of the LZMA SDK.
package sevenzip

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math/bits"
	"unicode/utf16"
)

// Archive is an opened archive.
type Archive struct {
	// Members in the order in which they are read.
	Members []Member

	src     io.ReaderAt
	size    int64
	memory  func() int64 // what dictionaries may take, in bytes
	zstd    func(packed io.Reader, memory int64) (io.Reader, error)
	folders []folder
	open    *stream // of the folder that was read last
	opened  int     // that folder's number
	skipped int64   // bytes that were unpacked and passed over
}

// Member is a file in an archive.
type Member struct {
	Name     string
	Size     int64
	Modified int64 // seconds since 1970, or 0

	folder int   // -1 for an empty file
	offset int64 // in the folder's unpacked bytes
	sum    uint32
	summed bool // sum is the CRC-32
}

// FormatError says what is wrong with an archive, and where.
type FormatError struct {
	Offset int64
	Want   string
	Err    error
}

func (e *FormatError) Error() string {
	text := e.Want
	if e.Offset >= 0 {
		text = fmt.Sprintf("at offset 0x%x: %s", e.Offset, text)
	}
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", text, e.Err)
	}
	return text
}

func (e *FormatError) Unwrap() error { return e.Err }

// wrong is an error of the list of members, whose offset says nothing where it was compressed.
func wrong(format string, args ...any) error {
	return &FormatError{-1, fmt.Sprintf(format, args...), nil}
}

// Magic begins an archive.
const Magic = "7z\xbc\xaf\x27\x1c"

const (
	startSize = 32
	// maxList is how large a list of members may be, unpacked: about 100 bytes for each.
	maxList = 16 << 20
	// maxItems is how many folders, streams or members a list may have: each takes more memory than it
	// may take bytes of the list, and 7-Zip writes more than these for each.
	maxItems = maxList / 64
	// maxSkipped is how many bytes are unpacked and passed over, besides four times the archive's size: the
	// content of members that are not read, on the way to others. A small archive may claim any number.
	maxSkipped = 16 << 20
	// maxApproach is how many bytes Approach unpacks.
	maxApproach = 1 << 20
	// maxCoders is how many coders a folder may have; 7-Zip makes five at most.
	maxCoders = 8
)

// Open reads the header and the list of members. memory returns how much memory the dictionaries of
// LZMA may take; zstd opens Zstandard data, which may take as much.
//
//	0 magic 6 · 6 version u8 u8 · 8 CRC-32 of what follows u32 · 12 offset of the list, from here 32 on, u64 · 20 its size u64 · 28 its CRC-32 u32
func Open(src io.ReaderAt, size int64, memory func() int64, zstd func(packed io.Reader, memory int64) (io.Reader, error)) (*Archive, error) {
	a := &Archive{src: src, size: size, memory: memory, zstd: zstd, opened: -1}
	start, err := a.bytes(0, startSize, "a header")
	if err != nil {
		return nil, err
	}
	little := binary.LittleEndian
	if string(start[:6]) != Magic || crc32.ChecksumIEEE(start[12:]) != little.Uint32(start[8:]) {
		return nil, &FormatError{0, "a damaged header", nil}
	}
	at, n := little.Uint64(start[12:]), little.Uint64(start[20:])
	if n == 0 {
		return a, nil
	}
	if n > maxList {
		return nil, &FormatError{20, fmt.Sprintf("a list of members of %d bytes", n), nil}
	}
	list, err := a.bytes(int64(min(at, uint64(1)<<62))+startSize, int(n), "a list of members")
	if err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(list) != little.Uint32(start[28:]) {
		return nil, &FormatError{int64(at) + startSize, "a damaged list of members", nil}
	}
	// The list may be compressed itself, more than once.
	for range 4 {
		p := &parser{Reader: *bytes.NewReader(list)}
		switch id := p.number(); {
		case id == idHeader:
			return a, a.header(p)
		case id != idEncodedHeader:
			return nil, wrong("no list of members, but %d", id)
		}
		if list, err = a.packedList(p); err != nil {
			return nil, err
		}
	}
	return nil, wrong("a list of members that is compressed too often")
}

// bytes reads n bytes at an offset.
func (a *Archive) bytes(at int64, n int, what string) ([]byte, error) {
	if at < 0 || at > a.size-int64(n) {
		return nil, &FormatError{at, fmt.Sprintf("%s of %d bytes, behind the end of the file at 0x%x", what, n, a.size), io.ErrUnexpectedEOF}
	}
	b := make([]byte, n)
	if k, err := a.src.ReadAt(b, at); k < n {
		return nil, &FormatError{at, what, err}
	}
	return b, nil
}

// packedList unpacks a list of members, which is the first folder of the streams that p has.
func (a *Archive) packedList(p *parser) ([]byte, error) {
	s := p.streams()
	if p.err != nil {
		return nil, p.err
	}
	if len(s.folders) == 0 || s.folders[0].size() > maxList {
		return nil, wrong("a compressed list of members without a folder, or of too many bytes")
	}
	r, err := a.folder(&s.folders[0])
	if err != nil {
		return nil, err
	}
	var list bytes.Buffer // grows by what is there, and not by the claimed size
	if _, err := io.CopyN(&list, r, s.folders[0].size()); err != nil {
		return nil, &FormatError{-1, "a damaged list of members", err}
	}
	return list.Bytes(), nil
}

// header reads the list of members.
func (a *Archive) header(p *parser) error {
	var s streams
	listed := false
	for {
		switch id := p.number(); id {
		case idArchiveProperties:
			for p.number() != idEnd && p.err == nil {
				p.skip(p.number())
			}
		case idAdditionalStreams:
			p.streams()
		case idMainStreams:
			s = p.streams()
		case idFiles:
			if listed { // the members before are of other folders
				p.fail("two lists of members")
				break
			}
			a.folders, listed = s.folders, true
			a.files(p, &s)
		case idEnd:
			return p.err
		default:
			p.fail("a part %d of the list of members", id)
		}
		if p.err != nil {
			return p.err
		}
	}
}

// files reads the properties of the members.
func (a *Archive) files(p *parser, s *streams) {
	count := p.count()
	var names []string
	var empty, notFolder []bool
	var times []int64
	for p.err == nil {
		id := p.number()
		if id == idEnd {
			break
		}
		size := p.number()
		part := p.part(size)
		switch id {
		case idEmptyStream:
			empty = part.bits(count)
		case idEmptyFile:
			notFolder = part.bits(trues(empty))
		case idNames:
			names = part.names(count)
		case idModified:
			times = part.times(count)
		}
		p.err = cmp.Or(p.err, part.err)
	}
	if len(names) != count {
		p.fail("names of %d members, where there are %d", len(names), count)
	}
	if notFolder != nil && len(notFolder) != trues(empty) {
		p.fail("%d members without bytes, and %d that are files or not", trues(empty), len(notFolder))
	}
	if p.err != nil {
		return
	}
	next, without := 0, 0
	for i, name := range names {
		m := Member{Name: name, folder: -1}
		if times != nil {
			m.Modified = times[i]
		}
		if empty != nil && empty[i] {
			without++
			if notFolder != nil && notFolder[without-1] {
				a.Members = append(a.Members, m)
			}
			continue
		}
		if next == len(s.members) {
			p.fail("more members with bytes than the %d that there are", next)
			return
		}
		m.Size, m.folder, m.offset, m.sum, m.summed = s.members[next].size, s.members[next].folder, s.members[next].offset, s.members[next].sum, s.members[next].summed
		a.Members = append(a.Members, m)
		next++
	}
}

// Approach unpacks what is before a member in its folder, or the next maxApproach bytes of it, and reports
// whether the member is next.
func (a *Archive) Approach(m *Member) (there bool, err error) {
	if m.folder < 0 {
		return true, nil
	}
	if a.open == nil || a.opened != m.folder || a.open.at > m.offset {
		r, err := a.folder(&a.folders[m.folder])
		if err != nil {
			return false, err
		}
		a.open, a.opened = &stream{r: r}, m.folder
	}
	n := min(m.offset-a.open.at, maxApproach)
	if a.skipped += n; a.skipped > maxSkipped+4*a.size {
		return false, wrong("too much of the archive has been passed over for its members")
	}
	if _, err := io.CopyN(io.Discard, a.open, n); err != nil {
		a.open = nil
		return false, &FormatError{-1, "the members before it, from which it follows, cannot be read", err}
	}
	return a.open.at == m.offset, nil
}

// Reader reads a member from its start. It goes on where the folder was read to, if that is not after
// the member; the reader that was given before cannot be used any more.
func (a *Archive) Reader(m *Member) (io.Reader, error) {
	for there := false; !there; {
		var err error
		if there, err = a.Approach(m); err != nil {
			return nil, err
		}
	}
	if m.folder < 0 {
		return bytes.NewReader(nil), nil
	}
	return &content{r: io.LimitReader(a.open, m.Size), left: m.Size, sum: crc32.NewIEEE(), member: m}, nil
}

// Release frees the memory of the folder that is being read. What was read of it does not count as
// passed over when it is read again.
func (a *Archive) Release() {
	if a.open != nil {
		a.skipped -= a.open.at
		a.open = nil
	}
}

// Block numbers the folder of a member: members of different folders do not follow from each other. It
// is -1 for an empty file.
func (m *Member) Block() int { return m.folder }

// stream is a folder's content, with the number of bytes that were read.
type stream struct {
	r  io.Reader
	at int64
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.at += int64(n)
	return n, err
}

// content reads a member, and verifies its CRC-32 at its last byte.
type content struct {
	r      io.Reader
	left   int64
	sum    hash.Hash32
	member *Member
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	c.left -= int64(n)
	switch {
	case c.left == 0 && n > 0 && c.member.summed && c.sum.Sum32() != c.member.sum:
		return n - 1, &FormatError{-1, "the checksum does not match", nil}
	case err == io.EOF && c.left > 0:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// trues counts the bits that are set.
func trues(all []bool) (n int) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// parser reads the list of members. Its first error stays.
type parser struct {
	bytes.Reader
	err error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = wrong(format, args...)
	}
}

// next reads a byte.
func (p *parser) next() byte {
	b, err := p.ReadByte()
	if err != nil {
		p.fail("a list of members that ends too early")
	}
	return b
}

// number reads a number: the high bits of its first byte say how many bytes follow, little-endian, and
// its low bits are above these.
func (p *parser) number() (v uint64) {
	first := p.next()
	more := bits.LeadingZeros8(^first)
	for i := range more {
		v |= uint64(p.next()) << (8 * i)
	}
	if more < 7 {
		v |= uint64(first&(0x7f>>more)) << (8 * more)
	}
	if p.err != nil {
		return 0
	}
	return v
}

// count reads the length of a list whose items take a byte, or at least a bit, each.
func (p *parser) count() int {
	n := p.number()
	if n > uint64(min(p.Len()*8, maxItems)) {
		p.fail("%d parts in a list of %d bytes", n, p.Size())
		return 0
	}
	return int(n)
}

func (p *parser) skip(n uint64) { p.part(n) }

// part returns the next n bytes as a list of their own.
func (p *parser) part(n uint64) *parser {
	if n > uint64(p.Len()) {
		p.fail("a part of %d bytes at the end of the list of members", n)
		n = 0
	}
	b := make([]byte, n)
	io.ReadFull(&p.Reader, b)
	return &parser{Reader: *bytes.NewReader(b)}
}

func (p *parser) u32() uint32 {
	var v uint32
	for i := range 4 {
		v |= uint32(p.next()) << (8 * i)
	}
	return v
}

// bits reads a vector of n bits, the highest of a byte first.
func (p *parser) bits(n int) []bool {
	if (n+7)/8 > p.Len() {
		p.fail("%d bits at the end of the list of members", n)
		return nil
	}
	out := make([]bool, n)
	var b byte
	for i := range out {
		if i%8 == 0 {
			b = p.next()
		}
		out[i] = b&(0x80>>(i%8)) != 0
	}
	return out
}

// defined reads a vector that a first byte of 1 says to be all ones.
func (p *parser) defined(n int) []bool {
	if p.next() == 0 {
		return p.bits(n)
	}
	if n > p.Len() { // what follows has more than a byte for each
		p.fail("%d values at the end of the list of members", n)
		return nil
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// names reads names in UTF-16 that end with 0.
func (p *parser) names(n int) (out []string) {
	if p.next() != 0 {
		p.fail("names in another part of the archive")
		return nil
	}
	var name []uint16
	for len(out) < n && p.err == nil {
		c := uint16(p.next()) | uint16(p.next())<<8
		if c == 0 {
			out = append(out, string(utf16.Decode(name)))
			name = name[:0]
			continue
		}
		name = append(name, c)
	}
	return out
}

// times reads times in units of 100 ns since 1601.
func (p *parser) times(n int) []int64 {
	defined := p.defined(n)
	if p.next() != 0 {
		p.fail("times in another part of the archive")
		return nil
	}
	out := make([]int64, len(defined))
	for i, is := range defined {
		if is {
			if v := uint64(p.u32()) | uint64(p.u32())<<32; v > epoch*10_000_000 {
				out[i] = int64(v/10_000_000 - epoch)
			}
		}
	}
	return out
}

// epoch is 1970 in seconds since 1601.
const epoch = 11_644_473_600
