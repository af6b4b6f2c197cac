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
	// maxUnxz bounds what an xz file may become, maxXZDict the memory that it may ask for at once.
	maxUnxz   = 256 << 20
	maxXZDict = 64 << 20
)

// unxz unpacks an xz file of LZMA2 blocks. The container is read here, because a block's header names the size of a
// dictionary, which the decompressor would allocate whatever it is; blocks are found by the index at the file's end. What is
// wrong is said in words. Source: "The .xz File Format" 1.1.0, sections 2 to 4.
func unxz(p []byte) (out []byte, wrong string, err error) {
	const header, footer = 12, 12
	if len(p) < header+footer || string(p[:6]) != "\xfd7zXZ\x00" {
		return nil, "another start", nil
	}
	for len(p) > header+footer && len(p)%4 == 0 && bytes.Equal(p[len(p)-4:], []byte{0, 0, 0, 0}) {
		p = p[:len(p)-4] // padding
	}
	if len(p)%4 != 0 || string(p[len(p)-2:]) != "YZ" {
		return nil, "another end", nil
	}
	check := p[7] & 15
	indexAt := int64(len(p)) - footer - (int64(binary.LittleEndian.Uint32(p[len(p)-8:]))+1)*4
	if indexAt < header || p[indexAt] != 0 {
		return nil, "no index of its blocks", nil
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
		whole := (size + 3) &^ 3 // padding comes before the check sum
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
		// Nothing refers to more than there has been.
		dict = max(min(dict, int(becomes)), lzma.MinDictCap)
		r, err := lzma.Reader2Config{DictCap: dict}.NewReader2(bytes.NewReader(body))
		if err != nil {
			return nil, "an error", err
		}
		plain, err := readAtMost(r, int64(becomes), int64(whole))
		if err != nil {
			return nil, "an error", err
		}
		if uint64(len(plain)) != becomes || !xzSound(check, block, plain) {
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

// xzBlock reads a block's header: its size in words, flags, the sizes if flagged, then the filters. It answers what is
// behind it, nil if the block is not one that can be read, and the dictionary's size.
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
	// One filter, LZMA2 (0x21), with one byte of properties: bits of the dictionary's size.
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

// xzSound compares a block's check sum, its last bytes, with what came out. SHA-256, which nobody needs for this, and
// unknown ones count as sound.
func xzSound(check byte, block, plain []byte) bool {
	switch check {
	case 1:
		return binary.LittleEndian.Uint32(block[len(block)-4:]) == crc32.ChecksumIEEE(plain)
	case 4:
		return binary.LittleEndian.Uint64(block[len(block)-8:]) == crc64.Checksum(plain, crc64.MakeTable(crc64.ECMA))
	}
	return true
}

// xzNumber reads a number of 7 bits a byte, the lowest first.
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
