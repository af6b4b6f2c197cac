package intake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/crashpane/crashpane/core/input"
)

// The list of a zip archive's members, by PKWARE's APPNOTE.TXT 6.3.10. The standard library's
// reader of it keeps all members, which takes several times the bytes of the list; this one reads
// them one after the other.

// zipMember is one member, as the list has it. Sizes and offsets are in bytes.
type zipMember struct {
	name          string
	flags, method uint16
	sum           uint32 // CRC-32 of what it unpacks to
	packed, size  int64
	header        int64 // offset of its local header in the archive
	modified      int64 // seconds since 1970, or 0 if unknown
}

// The methods that are unpacked here.
const (
	zipStore   = 0
	zipDeflate = 8
)

const (
	// zipEndSize is the size of the record at the end (4.3.16), which a comment of up to 64 KiB may
	// follow; of the locator and the record with wider numbers that may precede it (4.3.15,
	// 4.3.14); and of the fixed part of a member's two headers (4.3.12, 4.3.7).
	zipEndSize, zipMaxComment  = 22, 1<<16 - 1
	zipLocatorSize, zipEnd64   = 20, 56
	zipListedSize, zipHeadSize = 46, 30
	zipExtra64                 = 1      // the id of the field with numbers that do not fit (4.5.3)
	zipExtraTime               = 0x5455 // of Info-ZIP's with times (4.5.2): flags u8, modification time u32
)

var little = binary.LittleEndian

var errNoZipEnd = errors.New("there is no end of central directory record")

// zipList reads the list, member by member.
type zipList struct {
	src      *input.Source
	at, end  int64 // of the list in the archive
	base     int64 // size of what precedes the archive: offsets do not count it
	count    uint64
	listed   uint64
	unreadAt int64 // offset of the error
}

// openZip finds the list of members at the end of the archive.
func openZip(src *input.Source) (*zipList, error) {
	from := max(0, src.Size-zipEndSize-zipMaxComment)
	tail, err := src.Bytes(from, src.Size-from)
	if err != nil {
		return nil, err
	}
	at := len(tail)
	for {
		if at = bytes.LastIndex(tail[:at], []byte("PK\x05\x06")); at < 0 {
			return nil, errNoZipEnd
		}
		if r := tail[at:]; len(r) >= zipEndSize && zipEndSize+int(little.Uint16(r[20:])) <= len(r) {
			break
		}
	}
	end := tail[at:]
	ends := from + int64(at)
	count, size, off := uint64(little.Uint16(end[10:])), uint64(little.Uint32(end[12:])), uint64(little.Uint32(end[16:]))
	if count == math.MaxUint16 || size == math.MaxUint32 || off == math.MaxUint32 {
		// A record of wider numbers, if there is one.
		if p, err := src.Bytes(ends-zipLocatorSize, zipLocatorSize); err == nil && string(p[:4]) == "PK\x06\x07" {
			wide := int64(little.Uint64(p[8:]))
			r, err := src.Bytes(wide, zipEnd64)
			if err != nil {
				return nil, err
			}
			if string(r[:4]) != "PK\x06\x06" {
				return nil, errNoZipEnd
			}
			count, size, off, ends = little.Uint64(r[32:]), little.Uint64(r[40:]), little.Uint64(r[48:]), wide
		} else if input.Needs(err) {
			return nil, err
		}
	}
	if size > uint64(ends) {
		return nil, fmt.Errorf("a list with a claimed size of %d bytes ends at %d", size, ends)
	}
	// The list comes directly before its end, whatever offset it claims to begin at. If that offset
	// is smaller, something was put before the archive, and offsets do not count it, or between the
	// list and its end.
	z := &zipList{src: src, at: ends - int64(size), end: ends, count: count}
	if off >= uint64(z.at) {
		return z, nil
	}
	there := *z
	there.at, there.end = int64(off), int64(off+size)
	first := there
	switch _, ok, err := first.next(); {
	case input.Needs(err):
		return nil, err
	case ok && first.at <= src.Size:
		return &there, nil
	}
	z.base = z.at - int64(off)
	return z, nil
}

// next returns the next member, or false at the end of the list and with an error.
func (z *zipList) next() (m zipMember, ok bool, err error) {
	// Writers keep the lowest 16 bits of the number, whatever field they have for it.
	all := uint16(z.listed) == uint16(z.count)
	if (all || z.listed >= z.count) && z.at+zipListedSize > z.end { // what is left is not a member
		return m, false, nil
	}
	z.unreadAt = z.at
	h, err := z.src.Bytes(z.at, zipListedSize)
	if err != nil {
		return m, false, err
	}
	if string(h[:4]) != "PK\x01\x02" {
		if all {
			return m, false, nil // a signature (4.3.13)
		}
		return m, false, fmt.Errorf("member %d of %d is not in the list", z.listed, z.count)
	}
	name, extra := int64(little.Uint16(h[28:])), int64(little.Uint16(h[30:]))
	rest, err := z.src.Bytes(z.at+zipListedSize, name+extra)
	if err != nil {
		return m, false, err
	}
	z.at += zipListedSize + name + extra + int64(little.Uint16(h[32:]))
	z.listed++
	m = zipMember{name: string(rest[:name]), flags: little.Uint16(h[8:]), method: little.Uint16(h[10:]), sum: little.Uint32(h[16:]),
		packed: int64(little.Uint32(h[20:])), size: int64(little.Uint32(h[24:])), header: int64(little.Uint32(h[42:]))}
	m.extend(rest[name:])
	m.header += z.base
	return m, true, nil
}

// extend reads the extra fields after the name: the numbers that do not fit into 32 bits, and the
// modification time in UTC.
func (m *zipMember) extend(extra []byte) {
	widened := false
	for len(extra) >= 4 {
		id, n := little.Uint16(extra), int(little.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			return
		}
		field := extra[:n]
		extra = extra[n:]
		switch {
		case id == zipExtraTime && len(field) >= 5 && field[0]&1 != 0:
			m.modified = int64(little.Uint32(field[1:]))
		case id == zipExtra64 && !widened:
			widened = true
			for _, v := range []*int64{&m.size, &m.packed, &m.header} {
				if *v == math.MaxUint32 && len(field) >= 8 {
					*v = int64(min(little.Uint64(field), math.MaxInt64))
					field = field[8:]
				}
			}
		}
	}
}

// data returns the offset of a member's packed bytes in the archive.
func (m *zipMember) data(src *input.Source) (int64, error) {
	h, err := src.Bytes(m.header, zipHeadSize)
	if err != nil {
		return 0, err
	}
	if string(h[:4]) != "PK\x03\x04" {
		return 0, errors.New("the bytes there are not a member's header")
	}
	off := m.header + zipHeadSize + int64(little.Uint16(h[26:])) + int64(little.Uint16(h[28:]))
	if off > src.Size {
		return 0, io.ErrUnexpectedEOF
	}
	return off, nil
}
