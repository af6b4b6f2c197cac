// Package inflate unpacks deflate data from the middle: what random access to a compressed file or section needs, and the standard
// library's reader cannot do.
package inflate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// Reader unpacks deflate data (RFC 1951), alone or in gzip members (RFC 1952), and can begin again at any block that it has passed:
// all that it has to remember of what came before is a window of 32 KiB and where the block begins, to the bit. The standard
// library's cannot, and a file of a gigabyte would have to be unpacked from its start for each lookup.
//
// Its errors are ErrHeader, ErrChecksum, CorruptError, io.ErrUnexpectedEOF, and the source's.
type Reader struct {
	src  *input.Source
	gzip bool
	// OnBlock, if set, is called where a block begins, with what came out of the current read so far.
	OnBlock func(now []byte)

	at   int64 // in src, behind buf
	buf  []byte
	back []byte // the array of buf
	bits uint64
	have uint // bits in bits
	out  int64

	stage  stage
	final  bool
	member int64  // the offset in what comes out at which the member began
	first  bool   // no member was read yet
	sum    uint32 // of the member so far
	anew   bool   // begun in the middle: sum is not known
	stored int    // bytes left of a stored block
	length int    // left of a match
	dist   int
	hist   []byte // the last of what came out before the current read, up to Window
	lit    huffman
	far    huffman
	bad    error
}

// Errors of gzip members. The standard library's own would bring that library into the page.
var (
	ErrHeader   = errors.New("no header of gzip data")
	ErrChecksum = errors.New("the checksum of gzip data does not match")
)

// CorruptError says how many bytes into the compressed data they are invalid.
type CorruptError int64

func (e CorruptError) Error() string {
	return fmt.Sprintf("the compressed data are invalid at byte %d of them", int64(e))
}

type stage uint8

const (
	stageHeader stage = iota // of a gzip member
	stageBlock
	stageStored
	stageCodes
	stageTrailer
)

// Window is how far back a match may reach, in bytes.
const Window = 32 << 10

// readSize is how much is read of the source at a time. In a browser a read of 64 KiB costs nearly as much as one of four times that.
const readSize = 256 << 10

// Point is a place to begin again at.
type Point struct {
	// Out is the offset in what comes out, At that of the byte with the block's first bit.
	Out, At int64
	skip    uint8 // bits of it that are not the block's
	member  int64
	hist    []byte
}

// New unpacks src from its start: deflate data, or with gzip the members of a gzip file.
func New(src *input.Source, zipped bool) *Reader {
	z := &Reader{src: src, gzip: zipped, first: true, stage: stageBlock, back: make([]byte, min(readSize, max(src.Size, 1)))}
	if zipped {
		z.stage = stageHeader
	}
	return z
}

// Begin makes a Reader go on at a Point of the same data; at the zero Point it starts anew.
func (z *Reader) Begin(p Point) error {
	onBlock := z.OnBlock
	if p.At == 0 {
		*z = *New(z.src, z.gzip)
		z.OnBlock = onBlock
		return nil
	}
	*z = Reader{src: z.src, gzip: z.gzip, OnBlock: onBlock, back: z.back, stage: stageBlock, anew: true, at: p.At, out: p.Out, member: p.member,
		hist: append(z.hist[:0], p.hist...)}
	if p.skip > 0 {
		if err := z.need(uint(p.skip)); err != nil {
			return err
		}
		z.take(uint(p.skip))
	}
	return nil
}

// Out is how many bytes came out, counted from the start of the data.
func (z *Reader) Out() int64 { return z.out }

// Err is the error that ended the data, io.EOF among them; nil as long as there may be more.
func (z *Reader) Err() error { return z.bad }

// Here is the place where a block begins, of which now is what came out of the current read before it.
func (z *Reader) Here(now []byte) Point {
	at := z.at - int64(len(z.buf)) - int64(z.have/8)
	p := Point{Out: z.out + int64(len(now)), At: at, member: z.member}
	if left := z.have % 8; left > 0 {
		p.At, p.skip = at-1, uint8(8-left)
	}
	keep := max(0, Window-len(now))
	hist := z.hist[max(0, len(z.hist)-keep):]
	p.hist = append(append(make([]byte, 0, Window), hist...), now[max(0, len(now)-Window):]...)
	return p
}

// Consumed is how far into the source it has come, in bytes.
func (z *Reader) Consumed() int64 { return z.at - int64(len(z.buf)) - int64(z.have/8) }

func (z *Reader) corrupt() error { return CorruptError(z.Consumed()) }

// need makes sure of n bits, up to 32.
func (z *Reader) need(n uint) error {
	for z.have < n {
		if len(z.buf) >= 8 && z.have < 32 {
			z.bits |= uint64(binary.LittleEndian.Uint32(z.buf)) << z.have
			z.buf = z.buf[4:]
			z.have += 32
			return nil
		}
		if len(z.buf) == 0 {
			k, err := z.src.ReadDirect(z.back, z.at)
			if k == 0 {
				if err == nil || err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return err
			}
			z.buf = z.back[:k]
			z.at += int64(k)
			continue
		}
		z.bits |= uint64(z.buf[0]) << z.have
		z.buf = z.buf[1:]
		z.have += 8
	}
	return nil
}

func (z *Reader) take(n uint) uint {
	v := uint(z.bits & (1<<n - 1))
	z.bits >>= n
	z.have -= n
	return v
}

// number is the next n bits, up to 32.
func (z *Reader) number(n uint) (uint, error) {
	if err := z.need(n); err != nil {
		return 0, err
	}
	return z.take(n), nil
}

// Read unpacks. Like the standard library's, it gives what came out before an error first.
func (z *Reader) Read(p []byte) (int, error) {
	if z.bad != nil || len(p) == 0 {
		return 0, z.bad
	}
	n := 0
	for n < len(p) && z.bad == nil {
		n, z.bad = z.step(p, n)
	}
	if z.gzip && !z.anew && z.stage != stageHeader {
		z.sum = crc32.Update(z.sum, crc32.IEEETable, p[int(max(0, z.member-z.out)):n])
	}
	z.out += int64(n)
	if n >= Window {
		z.hist = append(z.hist[:0], p[n-Window:n]...)
	} else {
		z.hist = append(z.hist, p[:n]...)
		if over := len(z.hist) - Window; over > 0 {
			z.hist = append(z.hist[:0], z.hist[over:]...)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, z.bad
}

func (z *Reader) step(p []byte, n int) (int, error) {
	switch z.stage {
	case stageHeader:
		err := z.header()
		z.member, z.sum, z.first = z.out+int64(n), 0, false
		z.stage = stageBlock
		if err != nil {
			z.stage = stageHeader
		}
		return n, err
	case stageBlock:
		if z.final {
			z.stage = stageTrailer
			if !z.gzip {
				return n, io.EOF
			}
			return n, nil
		}
		if z.OnBlock != nil {
			z.OnBlock(p[:n])
		}
		return n, z.block()
	case stageStored:
		k := min(z.stored, len(p)-n)
		for ; k > 0 && z.have > 0; k-- {
			p[n] = byte(z.take(8))
			n++
			z.stored--
		}
		for k > 0 {
			if len(z.buf) == 0 {
				if err := z.need(8); err != nil {
					return n, err
				}
				return n, nil // the byte stands in bits; once more
			}
			c := copy(p[n:n+k], z.buf)
			z.buf = z.buf[c:]
			n, k, z.stored = n+c, k-c, z.stored-c
		}
		if z.stored == 0 {
			z.stage = stageBlock
		}
		return n, nil
	case stageCodes:
		return z.codes(p, n)
	}
	// The sum of what this read gave so far belongs to the member that ends.
	if !z.anew {
		z.sum = crc32.Update(z.sum, crc32.IEEETable, p[int(max(0, z.member-z.out)):n])
	}
	err := z.trailer()
	z.member, z.sum = z.out+int64(n), 0
	z.stage, z.final = stageHeader, false
	return n, err
}

// header reads a gzip member's header: RFC 1952, section 2.3. The end of the file instead of one is io.EOF.
func (z *Reader) header() error {
	z.final = false
	var h [10]byte
	for i := range h {
		v, err := z.number(8)
		if err != nil {
			if i == 0 && err == io.ErrUnexpectedEOF && !z.first {
				err = io.EOF
			}
			return err
		}
		h[i] = byte(v)
	}
	if h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 {
		return ErrHeader
	}
	const hasCRC, hasExtra, hasName, hasComment = 2, 4, 8, 16
	if h[3]&hasExtra != 0 {
		n, err := z.number(16)
		for ; err == nil && n > 0; n-- {
			_, err = z.number(8)
		}
		if err != nil {
			return err
		}
	}
	for _, flag := range [2]byte{hasName, hasComment} {
		for h[3]&flag != 0 {
			v, err := z.number(8)
			if err != nil {
				return err
			}
			if v == 0 {
				break
			}
		}
	}
	if h[3]&hasCRC != 0 {
		if _, err := z.number(16); err != nil {
			return err
		}
	}
	return nil
}

// trailer reads what follows a gzip member's data.
func (z *Reader) trailer() error {
	z.take(z.have % 8)
	sum, err := z.number(32)
	if err != nil {
		return err
	}
	if _, err := z.number(32); err != nil { // the size, of which the sum says enough
		return err
	}
	if !z.anew && uint32(sum) != z.sum {
		return ErrChecksum
	}
	return nil
}

// block reads a block's header: RFC 1951, section 3.2.3.
func (z *Reader) block() error {
	head, err := z.number(3)
	if err != nil {
		return err
	}
	z.final = head&1 != 0
	switch head >> 1 {
	case 0:
		z.take(z.have % 8)
		v, err := z.number(32)
		if err != nil {
			return err
		}
		if v&0xffff != ^v>>16&0xffff {
			return z.corrupt()
		}
		z.stage, z.stored = stageStored, int(v&0xffff)
		if z.stored == 0 {
			z.stage = stageBlock
		}
		return nil
	case 1:
		var lens [288]uint8
		for i := range lens {
			switch {
			case i < 144 || i >= 280:
				lens[i] = 8
			case i < 256:
				lens[i] = 9
			default:
				lens[i] = 7
			}
		}
		z.lit.build(lens[:])
		z.far.build(slices.Repeat([]uint8{5}, 32))
	case 2:
		if err := z.tables(); err != nil {
			return err
		}
	default:
		return z.corrupt()
	}
	z.stage, z.length = stageCodes, 0
	return nil
}

// lengthOrder is the order in which the lengths of the code lengths' codes stand.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// tables reads the codes of a block that brings its own: RFC 1951, section 3.2.7.
func (z *Reader) tables() error {
	v, err := z.number(14)
	if err != nil {
		return err
	}
	nlit, ndist, nlen := int(v&31)+257, int(v>>5&31)+1, int(v>>10)+4
	if nlit > 286 || ndist > 30 {
		return z.corrupt()
	}
	var lens [286 + 30]uint8
	for i := range nlen {
		v, err := z.number(3)
		if err != nil {
			return err
		}
		lens[lengthOrder[i]] = uint8(v)
	}
	if !z.lit.build(lens[:19]) {
		return z.corrupt()
	}
	clear(lens[:19])
	for i := 0; i < nlit+ndist; {
		sym, err := z.symbol(&z.lit)
		if err != nil {
			return err
		}
		if sym < 16 {
			lens[i] = uint8(sym)
			i++
			continue
		}
		extra, base, is := uint(2), 3, uint8(0)
		switch sym {
		case 16:
			if i == 0 {
				return z.corrupt()
			}
			is = lens[i-1]
		case 17:
			extra = 3
		default:
			extra, base = 7, 11
		}
		v, err := z.number(extra)
		if err != nil {
			return err
		}
		n := base + int(v)
		if i+n > nlit+ndist {
			return z.corrupt()
		}
		for ; n > 0; n-- {
			lens[i] = is
			i++
		}
	}
	if !z.lit.build(lens[:nlit]) || !z.far.build(lens[nlit:nlit+ndist]) {
		return z.corrupt()
	}
	return nil
}

// The first length or distance of each code, and how many bits more say which it is: RFC 1951, section 3.2.5.
var (
	lengthBase = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthMore = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
)

// codes unpacks a block's symbols into p from n on.
func (z *Reader) codes(p []byte, n int) (int, error) {
	for n < len(p) {
		if z.length > 0 {
			for n < len(p) && z.length > 0 {
				from := n - z.dist
				var k int
				if from < 0 {
					at := len(z.hist) + from
					k = copy(p[n:min(len(p), n+z.length)], z.hist[at:])
				} else {
					k = copy(p[n:min(len(p), n+z.length, n+z.dist)], p[from:n])
				}
				n += k
				z.length -= k
			}
			continue
		}
		if n = z.quick(p, n); n == len(p) {
			break
		}
		sym, err := z.symbol(&z.lit)
		switch {
		case err != nil:
			return n, err
		case sym < 256:
			p[n] = byte(sym)
			n++
			continue
		case sym == 256:
			z.stage = stageBlock
			return n, nil
		case sym > 285:
			return n, z.corrupt()
		}
		more, err := z.number(uint(lengthMore[sym-257]))
		if err != nil {
			return n, err
		}
		length := int(lengthBase[sym-257]) + int(more)
		if sym, err = z.symbol(&z.far); err != nil {
			return n, err
		}
		if sym > 29 {
			return n, z.corrupt()
		}
		dist := sym + 1
		if sym > 3 {
			extra := uint(sym-2) >> 1
			if more, err = z.number(extra); err != nil {
				return n, err
			}
			dist = (2+sym&1)<<extra + 1 + int(more)
		}
		if int64(dist) > z.out+int64(n)-z.member || dist > len(z.hist)+n {
			return n, z.corrupt()
		}
		z.length, z.dist = length, dist
	}
	return n, nil
}

// quick is codes for as long as nothing special comes, with all that it needs at hand: there is enough of data and of room, codes
// are short ones, matches lie in p. What it does not read, it leaves where it stands.
func (z *Reader) quick(p []byte, n int) int {
	const room = 258 + 8 // a match, and what its last word writes behind it
	buf, i := z.buf, 0
	acc, have := z.bits, z.have
	lit, far := &z.lit.short, &z.far.short
	for n+room <= len(p) && i+8 <= len(buf) {
		// At least 56 bits: a match takes up to 38.
		acc |= binary.LittleEndian.Uint64(buf[i:i+8]) << have
		i += int(63-have) >> 3
		have |= 56
		e := lit[acc&(1<<shortBits-1)]
		if e>>4 < 256 {
			if e == 0 {
				break
			}
			acc >>= e & 15
			have -= uint(e & 15)
			p[n] = byte(e >> 4)
			n++
			if e = lit[acc&(1<<shortBits-1)]; e == 0 || e>>4 >= 256 {
				continue
			}
			acc >>= e & 15
			have -= uint(e & 15)
			p[n] = byte(e >> 4)
			n++
			continue
		}
		sym := int(e>>4) - 257
		if sym < 0 || sym >= len(lengthBase) {
			break
		}
		now, left := acc>>(e&15), have-uint(e&15)
		more := uint(lengthMore[sym])
		length := int(lengthBase[sym]) + int(now&(1<<more-1))
		now, left = now>>more, left-more
		e = far[now&(1<<shortBits-1)]
		now, left = now>>(e&15), left-uint(e&15)
		dist := int(e>>4) + 1
		if e == 0 || dist > 30 {
			break
		}
		if dist > 4 {
			more = uint(dist-3) >> 1
			dist = (2+(dist-1)&1)<<more + 1 + int(now&(1<<more-1))
			now, left = now>>more, left-more
		}
		if dist > n || int64(dist) > z.out+int64(n)-z.member {
			break
		}
		acc, have = now, left
		if dist >= 8 {
			for at, end := n, n+length; at < end; at += 8 {
				binary.LittleEndian.PutUint64(p[at:at+8], binary.LittleEndian.Uint64(p[at-dist:at-dist+8]))
			}
		} else {
			for at, end := n, n+length; at < end; at++ {
				p[at] = p[at-dist]
			}
		}
		n += length
	}
	z.buf = buf[i:]
	z.bits, z.have = acc&(1<<have-1), have
	return n
}

// huffman is a canonical code.
type huffman struct {
	// short has for each possible next shortBits the symbol<<4 and the length of its code; 0 where the code is longer, or none.
	short   [1 << shortBits]uint16
	count   [16]uint16
	symbols [288]uint16 // by code
}

const shortBits = 10

// build makes the code of its lengths; false if there is none of such lengths. A code that is not complete is one only if it has
// one symbol or none.
func (h *huffman) build(lens []uint8) bool {
	h.count = [16]uint16{}
	for _, n := range lens {
		h.count[n]++
	}
	h.count[0] = 0
	var next, at [16]uint16
	code, index, top := 0, uint16(0), 0
	for n := 1; n < 16; n++ {
		code <<= 1
		next[n], at[n] = uint16(code), index
		code += int(h.count[n])
		index += h.count[n]
		if h.count[n] > 0 {
			top = n
		}
		if code > 1<<n {
			return false
		}
	}
	if top > 0 && code<<1 != 1<<16 && !(top == 1 && index == 1) {
		return false
	}
	clear(h.short[:])
	for sym, n := range lens {
		if n == 0 {
			continue
		}
		h.symbols[at[n]] = uint16(sym)
		at[n]++
		c := next[n]
		next[n]++
		if n <= shortBits {
			for i := int(bits.Reverse16(c) >> (16 - n)); i < 1<<shortBits; i += 1 << n {
				h.short[i] = uint16(sym)<<4 | uint16(n)
			}
		}
	}
	return true
}

// symbol reads the next symbol of a code.
func (z *Reader) symbol(h *huffman) (int, error) {
	if z.have < 15 {
		// At the very end of the data fewer bits may be left than the longest code has.
		if err := z.need(15); err != nil && err != io.ErrUnexpectedEOF {
			return 0, err
		}
	}
	if e := h.short[z.bits&(1<<shortBits-1)]; e != 0 && uint(e&15) <= z.have {
		z.bits >>= e & 15
		z.have -= uint(e & 15)
		return int(e >> 4), nil
	}
	code, first, index := 0, 0, 0
	for n := 1; n < 16; n++ {
		if uint(n) > z.have {
			return 0, io.ErrUnexpectedEOF
		}
		code |= int(z.bits >> (n - 1) & 1)
		count := int(h.count[n])
		if code-first < count {
			z.bits >>= n
			z.have -= uint(n)
			return int(h.symbols[index+code-first]), nil
		}
		index += count
		first = (first + count) << 1
		code <<= 1
	}
	return 0, z.corrupt()
}
