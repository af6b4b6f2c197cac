// Package cab reads cabinets (.cab, and .pd_, .dl_ and .ex_ of symbol servers): the list of
// members, and those that are stored or compressed by MSZIP. Sections are those of [MS-CAB],
// Microsoft Cabinet Format, and of [MS-MCI], the compression in it.
//
// A member is read from its start to its end, the members of a folder one after the other: their
// bytes are one stream that begins nowhere else.
package cab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// Cabinet is an opened cabinet.
type Cabinet struct {
	// Members in the order in which they are read: folder by folder, by their offset.
	Members []Member

	src      io.ReaderAt
	size     int64
	folders  []folder
	reserved int64   // bytes in each block's header for the application that wrote the file
	open     *stream // of the folder that was read last
	opened   int     // that folder's number
	skipped  int64   // bytes that were unpacked and skipped, see maxSkipped
}

// Member is a file in a cabinet.
type Member struct {
	// Name as stored, with "\" between folders.
	Name string
	Size int64

	folder int
	offset int64 // in the folder's unpacked bytes
}

// folder is a run of blocks that are compressed as one stream. Its files follow each other in that
// stream.
type folder struct {
	offset int64 // of its first block
	blocks int
	method uint16
}

// little reads numbers: all are little-endian.
var little = binary.LittleEndian

// FormatError says what is wrong with a cabinet, and where.
type FormatError struct {
	Offset int64
	Want   string
	Err    error
}

func (e *FormatError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("at offset 0x%x: %s: %v", e.Offset, e.Want, e.Err)
	}
	return fmt.Sprintf("at offset 0x%x: %s", e.Offset, e.Want)
}

func (e *FormatError) Unwrap() error { return e.Err }

// MethodError is of a member that is compressed in a way that is not unpacked here.
type MethodError struct{ Method string }

func (e *MethodError) Error() string {
	return "compressed by " + e.Method + ", which is not supported; unpack it with expand on Windows or cabextract elsewhere, and add its files"
}

// ErrSplit: a member, or the block of data that it needs, is continued in another cabinet of a set.
var ErrSplit = errors.New("it goes on in another cabinet of a set; unpack the set with expand or cabextract")

const (
	headerSize, folderSize, fileSize, blockSize = 36, 8, 16, 8
	// maxName is the most bytes that a name may have (2.3), with the zero that ends it.
	maxName = 257
	// maxBlock is how many bytes a block unpacks to at most (2.4).
	maxBlock = 32 << 10
	// maxSkipped is how many bytes all readers of a cabinet together may pass over on their way to
	// a member: as many as the largest folder has. Folders may share their blocks and members may
	// overlap, so that a small crafted cabinet could ask for any number.
	maxSkipped = 0xffff * maxBlock
	// flags of the header (2.1)
	hasPrevious, hasNext, hasReserve = 1, 2, 4
	// isUTF8 is the bit of a member's attributes that says how its name is written (2.3).
	isUTF8 = 0x80
	// fromPrevious is the first of the folder numbers of members that are not wholly in this
	// cabinet (2.3).
	fromPrevious = 0xfffd
)

// Open reads the header and the list of members. If the list is damaged, the members before the
// damage come with the error.
//
//	CFHEADER  0 "MSCF" · 8 size u32 · 16 offset of the first CFFILE u32 · 24 version u8 u8 · 26 folders u16 · 28 files u16 · 30 flags u16
//	          36 with hasReserve: bytes of it u16, in each CFFOLDER u8, in each CFDATA u8, the bytes
//	             with hasPrevious, hasNext: two names each, that end with 0
//	CFFOLDER  0 offset of the first CFDATA u32 · 4 blocks u16 · 6 method u16
//	CFFILE    0 size u32 · 4 offset in the folder u32 · 8 folder u16 · 10 date, time u16 u16 · 14 attributes u16 · 16 name, ends with 0
func Open(src io.ReaderAt, size int64) (*Cabinet, error) {
	c := &Cabinet{src: src, size: size, opened: -1}
	h, err := c.bytes(0, headerSize, "a header")
	if err != nil {
		return nil, err
	}
	if string(h[:4]) != "MSCF" {
		return nil, &FormatError{0, "no cabinet begins so", nil}
	}
	if h[25] != 1 {
		return nil, &FormatError{24, fmt.Sprintf("version %d.%d of the format, which is not known", h[25], h[24]), nil}
	}
	folders, files, flags := int(little.Uint16(h[26:])), int(little.Uint16(h[28:])), little.Uint16(h[30:])
	at, skip := int64(headerSize), int64(0)
	if flags&hasReserve != 0 {
		r, err := c.bytes(at, 4, "the sizes of reserved parts")
		if err != nil {
			return nil, err
		}
		at += 4 + int64(little.Uint16(r))
		skip, c.reserved = int64(r[2]), int64(r[3])
	}
	for _, bit := range []uint16{hasPrevious, hasPrevious, hasNext, hasNext} {
		if flags&bit != 0 {
			name, err := c.name(at)
			if err != nil {
				return nil, err
			}
			at += int64(len(name)) + 1
		}
	}
	for range folders {
		f, err := c.bytes(at, folderSize, "a folder")
		if err != nil {
			return nil, err
		}
		c.folders = append(c.folders, folder{int64(little.Uint32(f)), int(little.Uint16(f[4:])), little.Uint16(f[6:])})
		at += folderSize + skip
	}
	at = int64(little.Uint32(h[16:]))
	for range files {
		f, err := c.bytes(at, fileSize, "a member")
		if err != nil {
			return c, err
		}
		name, err := c.name(at + fileSize)
		if err != nil {
			return c, err
		}
		m := Member{Name: name, Size: int64(little.Uint32(f)), offset: int64(little.Uint32(f[4:])), folder: int(little.Uint16(f[8:]))}
		if little.Uint16(f[14:])&isUTF8 == 0 {
			m.Name = latin(name)
		}
		if m.folder < fromPrevious && m.folder >= len(c.folders) {
			return c, &FormatError{at + 8, fmt.Sprintf("a member of folder %d, of %d", m.folder, len(c.folders)), nil}
		}
		c.Members = append(c.Members, m)
		at += fileSize + int64(len(name)) + 1
	}
	sort.SliceStable(c.Members, func(i, j int) bool {
		a, b := &c.Members[i], &c.Members[j]
		return a.folder < b.folder || a.folder == b.folder && a.offset < b.offset
	})
	return c, nil
}

// latin returns a name of one byte a character: nothing says which characters those above 0x7f are.
func latin(name string) string {
	var b strings.Builder
	for i := range len(name) {
		b.WriteRune(rune(name[i]))
	}
	return b.String()
}

// bytes reads n bytes at an offset.
func (c *Cabinet) bytes(at int64, n int, what string) ([]byte, error) {
	if at < 0 || at+int64(n) > c.size {
		return nil, &FormatError{at, fmt.Sprintf("%s of %d bytes, behind the end of the file at 0x%x", what, n, c.size), io.ErrUnexpectedEOF}
	}
	b := make([]byte, n)
	if k, err := c.src.ReadAt(b, at); k < n {
		return nil, &FormatError{at, what, err}
	}
	return b, nil
}

// name reads a text that ends with 0.
func (c *Cabinet) name(at int64) (string, error) {
	b, err := c.bytes(at, int(max(0, min(maxName, c.size-at))), "a name")
	if err != nil {
		return "", err
	}
	s, _, ok := strings.Cut(string(b), "\x00")
	if !ok {
		return "", &FormatError{at, "a name without an end", nil}
	}
	return s, nil
}

// Reader reads a member from its start. It goes on where the folder was read to, if that is not
// after the member, so that reading all members in their order unpacks each folder once; the
// reader that was given before cannot be used any more.
func (c *Cabinet) Reader(m *Member) (io.Reader, error) {
	if m.folder >= fromPrevious {
		return nil, ErrSplit
	}
	if c.open == nil || c.opened != m.folder || c.open.out > m.offset || c.open.err != nil {
		s, err := c.stream(c.folders[m.folder])
		if err != nil {
			return nil, err
		}
		c.open, c.opened = s, m.folder
	}
	s := c.open
	if c.skipped += m.offset - s.out; c.skipped > maxSkipped {
		return nil, &FormatError{s.at, fmt.Sprintf("a member at %d of its folder: too much of the cabinet has been passed over for such members", m.offset), nil}
	}
	if _, err := io.CopyN(io.Discard, s, m.offset-s.out); err != nil {
		if err == io.EOF {
			err = &FormatError{s.at, fmt.Sprintf("a folder that ends after %d bytes, before the member at %d", s.out, m.offset), io.ErrUnexpectedEOF}
		}
		return nil, err
	}
	return io.LimitReader(s, m.Size), nil
}
