package elf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/crc64"

	"github.com/ulikunitz/xz/lzma"
)

const (
	// maxUnxz limits the uncompressed size of an xz file, maxXZDict the size of its dictionary, in
	// bytes.
	maxUnxz   = 256 << 20
	maxXZDict = 64 << 20
)

// unxz uncompresses an xz file of LZMA2 blocks. It parses the container itself: a block's header
// has the size of a dictionary, which the library would allocate unchecked. The index at the end of
// the file locates the blocks. wrong describes what is wrong with the container. Specification:
// "The .xz File Format" 1.1.0, sections 2 to 4.
//
//	header 12 | blocks … | index: 0, count, {size, uncompressed size} … , padding, CRC | footer 12: CRC 4, size of the index 4, …, "YZ"
func unxz(p []byte) (out []byte, wrong string, err error) {
	const header, footer = 12, 12
	if len(p) < header+footer || string(p[:6]) != "\xfd7zXZ\x00" {
		return nil, "no xz header", nil
	}
	for len(p) > header+footer && len(p)%4 == 0 && bytes.Equal(p[len(p)-4:], []byte{0, 0, 0, 0}) {
		p = p[:len(p)-4] // padding
	}
	if len(p)%4 != 0 || string(p[len(p)-2:]) != "YZ" {
		return nil, "no xz footer", nil
	}
	check := p[7] & 15
	indexAt := int64(len(p)) - footer - (int64(binary.LittleEndian.Uint32(p[len(p)-8:]))+1)*4
	if indexAt < header || p[indexAt] != 0 {
		return nil, "no index", nil
	}
	index := p[indexAt+1 : len(p)-footer]
	count, index, ok := xzNumber(index)
	at := int64(header)
	for ; ok && count > 0; count-- {
		var size, becomes uint64
		if size, index, ok = xzNumber(index); !ok {
			break
		}
		if becomes, index, ok = xzNumber(index); !ok {
			break
		}
		whole := (size + 3) &^ 3 // the checksum follows padding to 4 bytes
		if size < 8 || at >= indexAt || size > uint64(indexAt-at) || whole > uint64(indexAt-at) {
			return nil, "a block beyond the index", nil
		}
		if becomes > maxUnxz-uint64(len(out)) {
			return nil, fmt.Sprintf("more than %d bytes unpacked", maxUnxz), nil
		}
		block := p[at : at+int64(whole)]
		body, dict := xzBlock(block)
		if body == nil {
			return nil, fmt.Sprintf("at 0x%x a block that is not LZMA2 with a dictionary of at most %d bytes", at, maxXZDict), nil
		}
		// A match cannot reach back further than the block's start, so a dictionary of the block's
		// size suffices.
		dict = max(min(dict, int(becomes)), lzma.MinDictCap)
		r, err := lzma.Reader2Config{DictCap: dict}.NewReader2(bytes.NewReader(body))
		if err != nil {
			return nil, "an error", err
		}
		plain, err := readAtMost(r, int64(becomes), int64(whole))
		if err != nil {
			return nil, "an error", err
		}
		if uint64(len(plain)) != becomes || !xzCheckOK(check, block, plain) {
			return nil, fmt.Sprintf("at 0x%x a damaged block", at), nil
		}
		if out == nil {
			out = plain
		} else {
			out = append(out, plain...)
		}
		at += int64(whole)
	}
	if !ok || at != indexAt {
		return nil, "an index that does not fit its blocks", nil
	}
	return out, "", nil
}

// xzBlock parses a block's header: its size in words less one, flags, the compressed and
// uncompressed sizes if flagged, the filters. It returns the bytes after it and the dictionary's
// size, or nil if the block has other filters than LZMA2.
func xzBlock(p []byte) (body []byte, dict int) {
	size := (int(p[0]) + 1) * 4
	if p[0] == 0 || size > len(p) {
		return nil, 0
	}
	flags, rest := p[1], p[2:size-4]
	ok := true
	for _, flag := range []byte{0x40, 0x80} {
		if flags&flag != 0 {
			if _, rest, ok = xzNumber(rest); !ok {
				return nil, 0
			}
		}
	}
	// One filter, LZMA2 (0x21), with one byte of properties: the dictionary's size is (2 | bits&1)
	// << (bits/2 + 11).
	if flags&3 != 0 || len(rest) < 3 || rest[0] != 0x21 || rest[1] != 1 || rest[2] >= 40 {
		return nil, 0
	}
	bits := rest[2]
	wants := (2 | uint64(bits&1)) << (bits/2 + 11)
	if wants > maxXZDict {
		return nil, 0
	}
	return p[size:], int(wants)
}

// xzCheckOK verifies a block's checksum, which is its last bytes: CRC-32 (1) or CRC-64 (4). It does
// not verify SHA-256 and unknown ones, and returns true for them.
func xzCheckOK(check byte, block, plain []byte) bool {
	switch check {
	case 1:
		return binary.LittleEndian.Uint32(block[len(block)-4:]) == crc32.ChecksumIEEE(plain)
	case 4:
		return binary.LittleEndian.Uint64(block[len(block)-8:]) == crc64.Checksum(plain, crc64.MakeTable(crc64.ECMA))
	}
	return true
}

// xzNumber reads a variable-length number: 7 bits in each byte, the lowest first, bit 7 set if more
// follow.
//
// A number has at most 9 bytes, 63 bits. Example: e5 8e 26 is 624485.
func xzNumber(p []byte) (v uint64, rest []byte, ok bool) {
	for i, b := range p {
		if i == 9 {
			break
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			return v, p[i+1:], true
		}
	}
	return 0, nil, false
}
