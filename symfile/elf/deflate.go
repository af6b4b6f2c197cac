package elf

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/crashpane/crashpane/core/input"
)

// inflater unpacks a DEFLATE stream (RFC 1951) and can be stopped and started anywhere: its state is small and can be copied,
// which the standard library's cannot. This is what random access to a compressed section needs (see seekable).
type inflater struct {
	src   *input.Source
	at    int64  // offset of the next byte that is not in bits
	block []byte // a piece of src, from blockAt on
	begin int64
	bits  uint64 // the next bits, the lowest first
	count uint   // how many of them there are

	place position
	tree  *trees // those of the current block; nil if they have to be built from place.lengths

	history []byte // what was unpacked last, at most windowSize bytes and one chunk
}

// position is where in a stream the inflater is, between any two bytes of its output.
type position struct {
	out     int64 // bytes unpacked so far
	kind    blockKind
	final   bool // the current block is the last
	left    int  // bytes of a stored block still to come
	copyLen int  // of a repetition that is not finished
	copyAt  int  // its distance
	// lengths are the code lengths of the current block: literals[nLit], then distances[nDist].
	lengths     [320]uint8
	nLit, nDist int
}

type blockKind uint8

const (
	betweenBlocks blockKind = iota
	storedBlock
	codedBlock
	streamEnd
)

const windowSize = 32 << 10

var errDeflate = errors.New("damaged compressed data")

// fill makes sure of n bits, at most 48; fewer at the end of the stream, where zeros follow.
func (d *inflater) fill(n uint) error {
	for d.count < n {
		i := d.at - d.begin
		if i < 0 || i >= int64(len(d.block)) {
			if d.at >= d.src.Size {
				return io.ErrUnexpectedEOF
			}
			var err error
			if d.block, d.begin, err = d.src.Block(d.at); err != nil {
				return err
			}
			i = d.at - d.begin
		}
		if i+8 <= int64(len(d.block)) {
			d.bits |= binary.LittleEndian.Uint64(d.block[i:]) << d.count
			whole := (63 - d.count) / 8
			d.at += int64(whole)
			d.count += whole * 8
			d.bits &= 1<<d.count - 1
			continue
		}
		d.bits |= uint64(d.block[i]) << d.count
		d.at++
		d.count += 8
	}
	return nil
}

// take reads n bits.
func (d *inflater) take(n uint) (int, error) {
	if d.count < n {
		if err := d.fill(n); err != nil {
			return 0, err
		}
	}
	v := int(d.bits & (1<<n - 1))
	d.bits >>= n
	d.count -= n
	return v, nil
}

// step unpacks up to n bytes and appends them to history, which it cuts to the window first. It gives back the new bytes, which are
// good until the next step; fewer than n only at the stream's end.
func (d *inflater) step(n int) ([]byte, error) {
	if len(d.history) > windowSize {
		d.history = append(d.history[:0], d.history[len(d.history)-windowSize:]...)
	}
	start := len(d.history)
	end := start + n
	for len(d.history) < end {
		var err error
		switch p := &d.place; p.kind {
		case betweenBlocks:
			err = d.blockHeader()
		case storedBlock:
			err = d.stored(end)
		case codedBlock:
			err = d.coded(end)
		case streamEnd:
			end = len(d.history)
		}
		if err != nil {
			return nil, err
		}
	}
	d.place.out += int64(len(d.history) - start)
	return d.history[start:], nil
}

func (d *inflater) blockHeader() error {
	p := &d.place
	if p.final {
		p.kind = streamEnd
		return nil
	}
	v, err := d.take(3)
	if err != nil {
		return err
	}
	p.final = v&1 != 0
	switch v >> 1 {
	case 0:
		if _, err := d.take(d.count % 8); err != nil { // to the next byte
			return err
		}
		size, err := d.take(16)
		if err != nil {
			return err
		}
		not, err := d.take(16)
		if err != nil {
			return err
		}
		if size^not != 0xffff {
			return errDeflate
		}
		p.kind, p.left = storedBlock, size
	case 1:
		for i := range 288 {
			switch {
			case i < 144:
				p.lengths[i] = 8
			case i < 256:
				p.lengths[i] = 9
			case i < 280:
				p.lengths[i] = 7
			default:
				p.lengths[i] = 8
			}
		}
		for i := range 32 { // the last two of which stand for nothing
			p.lengths[288+i] = 5
		}
		p.nLit, p.nDist, p.kind, d.tree = 288, 32, codedBlock, nil
	case 2:
		if err := d.codes(); err != nil {
			return err
		}
		p.kind, d.tree = codedBlock, nil
	default:
		return errDeflate
	}
	return nil
}

// codes reads the code lengths of a block: they are coded themselves.
func (d *inflater) codes() error {
	p := &d.place
	v, err := d.take(14)
	if err != nil {
		return err
	}
	p.nLit, p.nDist = v&31+257, v>>5&31+1
	n := v>>10 + 4
	if p.nLit > 286 || p.nDist > 30 {
		return errDeflate
	}
	var lengths [19]uint8
	for i := range n {
		v, err := d.take(3)
		if err != nil {
			return err
		}
		lengths["\x10\x11\x12\x00\x08\x07\x09\x06\x0a\x05\x0b\x04\x0c\x03\x0d\x02\x0e\x01\x0f"[i]] = uint8(v)
	}
	var t tree
	if !t.build(lengths[:]) {
		return errDeflate
	}
	for i := 0; i < p.nLit+p.nDist; {
		v, err := d.symbol(&t)
		if err != nil {
			return err
		}
		if v < 16 {
			p.lengths[i] = uint8(v)
			i++
			continue
		}
		base, extra, value := 3, uint(2), uint8(0)
		switch v {
		case 16:
			if i == 0 {
				return errDeflate
			}
			value = p.lengths[i-1]
		case 17:
			extra = 3
		default:
			base, extra = 11, 7
		}
		more, err := d.take(extra)
		if err != nil {
			return err
		}
		if i+base+more > p.nLit+p.nDist {
			return errDeflate
		}
		for range base + more {
			p.lengths[i] = value
			i++
		}
	}
	return nil
}

func (d *inflater) stored(end int) error {
	p := &d.place
	for p.left > 0 && len(d.history) < end {
		if d.count >= 8 {
			v, _ := d.take(8)
			d.history = append(d.history, byte(v))
			p.left--
			continue
		}
		block, begin, err := d.src.Block(d.at)
		if err != nil {
			return err
		}
		b := block[d.at-begin:]
		b = b[:min(len(b), p.left, end-len(d.history))]
		d.history = append(d.history, b...)
		d.at += int64(len(b))
		p.left -= len(b)
	}
	if p.left == 0 {
		p.kind = betweenBlocks
	}
	return nil
}

var (
	lengthBase  = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258}
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distBase    = [30]uint16{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193,
		12289, 16385, 24577}
)

// coded unpacks bytes and repetitions until the block or the room is at its end.
func (d *inflater) coded(end int) error {
	p := &d.place
	if d.tree == nil {
		d.tree = &trees{}
		if !d.tree.literals.build(p.lengths[:p.nLit]) || !d.tree.distances.build(p.lengths[p.nLit:p.nLit+p.nDist]) {
			return errDeflate
		}
	}
	t := d.tree
	for {
		if p.copyLen > 0 {
			d.repeat(end)
		}
		if len(d.history) >= end {
			return nil
		}
		v, err := d.symbol(&t.literals)
		if err != nil {
			return err
		}
		switch {
		case v < 256:
			d.history = append(d.history, byte(v))
		case v == 256:
			p.kind = betweenBlocks
			return nil
		case v > 285:
			return errDeflate
		default:
			more, err := d.take(uint(lengthExtra[v-257]))
			if err != nil {
				return err
			}
			length := int(lengthBase[v-257]) + more
			if v, err = d.symbol(&t.distances); err != nil {
				return err
			}
			if v >= 30 {
				return errDeflate
			}
			if more, err = d.take(uint(max(v/2-1, 0))); err != nil {
				return err
			}
			distance := int(distBase[v]) + more
			if distance > len(d.history) {
				return errDeflate
			}
			p.copyLen, p.copyAt = length, distance
		}
	}
}

// repeat copies what is left of a repetition, as far as there is room. It may overlap itself.
func (d *inflater) repeat(end int) {
	p := &d.place
	for p.copyLen > 0 && len(d.history) < end {
		from := len(d.history) - p.copyAt
		n := min(p.copyLen, end-len(d.history), p.copyAt)
		d.history = append(d.history, d.history[from:from+n]...)
		p.copyLen -= n
	}
}

// trees are the two codes of a block.
type trees struct{ literals, distances tree }

// tree is a canonical Huffman code: a table for the short codes, and counts for the long ones.
type tree struct {
	short   [1 << shortBits]uint16 // symbol<<4 | length; 0 is a longer code
	counts  [16]uint16             // codes of each length
	symbols [320]uint16            // by code
}

const shortBits = 10

// build makes a code from the lengths of its symbols. Codes that leave something out are allowed if they have no symbol, or one of
// one bit, as RFC 1951 has it for distances.
func (t *tree) build(lengths []uint8) bool {
	used := 0
	for _, l := range lengths {
		t.counts[l]++
		if l != 0 {
			used++
		}
	}
	t.counts[0] = 0
	left := 1
	var starts, codes [17]uint16
	for l := 1; l < 16; l++ {
		left = left<<1 - int(t.counts[l])
		if left < 0 {
			return false
		}
		starts[l+1] = starts[l] + t.counts[l]
		codes[l+1] = (codes[l] + t.counts[l]) << 1
	}
	if left > 0 && used > 0 && (used > 1 || t.counts[1] != 1) {
		return false
	}
	for s, l := range lengths {
		if l == 0 {
			continue
		}
		t.symbols[starts[l]] = uint16(s)
		starts[l]++
		code := codes[l]
		codes[l]++
		if l > shortBits {
			continue
		}
		turned := 0 // codes come with their highest bit first
		for i := range int(l) {
			turned |= int(code>>i&1) << (int(l) - 1 - i)
		}
		for ; turned < 1<<shortBits; turned += 1 << l {
			t.short[turned] = uint16(s)<<4 | uint16(l)
		}
	}
	return true
}

// symbol reads one symbol.
func (d *inflater) symbol(t *tree) (int, error) {
	if d.count < 15 {
		// Near the end there may be fewer bits than the longest code has.
		if err := d.fill(15); err != nil && (err != io.ErrUnexpectedEOF || d.count == 0) {
			return 0, err
		}
	}
	if e := t.short[d.bits&(1<<shortBits-1)]; e != 0 {
		n := uint(e & 15)
		if n > d.count {
			return 0, io.ErrUnexpectedEOF
		}
		d.bits >>= n
		d.count -= n
		return int(e >> 4), nil
	}
	code, first, index := 0, 0, 0
	for l := uint(1); l < 16; l++ {
		code |= int(d.bits >> (l - 1) & 1)
		n := int(t.counts[l])
		if code-n < first {
			if l > d.count {
				return 0, io.ErrUnexpectedEOF
			}
			d.bits >>= l
			d.count -= l
			return int(t.symbols[index+code-first]), nil
		}
		index += n
		first = (first + n) << 1
		code <<= 1
	}
	return 0, errDeflate
}
