package unpack

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"
)

// xzReader reads an .xz file from its start to its end: streams of blocks, each with a checksum of what it unpacks to (xz's
// doc/xz-file-format.txt). There is a library for it; this takes a third of its time.
type xzReader struct {
	r       *bufio.Reader
	at      int64 // how much of r was read
	lz      lzma
	packed  [1<<16 + inSlack]byte
	read    int // in lz.out, up to where it was given out
	check   byte
	sum     hash.Hash
	inBlock bool
	data    int64 // where in r the block's data begin
	head    int64 // the size of its header
	out     int64 // bytes out of it
	want    [2]int64
	fresh   bool // no chunk of the block was read
	props   bool // its chunks may go without properties
	blocks  []xzBlock
	err     error
}

// xzBlock is what a stream's index has to say of a block: its size without padding, and unpacked.
type xzBlock struct{ unpadded, size int64 }

const (
	// maxDict is the largest dictionary that is taken, in bytes: four times that of `xz -9`. Memory for it is taken as data come.
	maxDict = 256 << 20
	// xzRoom is how much more than the dictionary is in memory, and firstDict the part of it that is taken at once.
	xzRoom, firstDict = 4 << 20, 8 << 20
	// mostChunk is how much a chunk may unpack to.
	mostChunk = 2 << 20
)

// The sizes of the checks by their ids (2.1.1.2).
var xzChecks = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

var (
	errXZ    = errors.New("the xz file is damaged")
	errXZSum = errors.New("the checksum does not match")
)

func newXZ(r io.Reader) (io.Reader, error) {
	x := &xzReader{r: bufio.NewReaderSize(r, readSize)}
	return x, x.header()
}

// Read implements io.Reader.
func (x *xzReader) Read(p []byte) (int, error) {
	for x.read == x.lz.w && x.err == nil {
		if !x.inBlock {
			x.err = x.block()
		} else {
			x.err = x.chunk()
		}
	}
	n := copy(p, x.lz.out[x.read:x.lz.w])
	x.read += n
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, x.err
}

// bytes reads n bytes; the end of the file in them is io.ErrUnexpectedEOF.
func (x *xzReader) bytes(p []byte) error {
	n, err := io.ReadFull(x.r, p)
	x.at += int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (x *xzReader) byte() (byte, error) {
	var p [1]byte
	err := x.bytes(p[:])
	return p[0], err
}

// header reads a stream's header (2.1.1).
func (x *xzReader) header() error {
	var h [12]byte
	if err := x.bytes(h[:]); err != nil {
		return err
	}
	if string(h[:6]) != "\xfd7zXZ\x00" || h[6] != 0 || h[7] > 15 || crc32.ChecksumIEEE(h[6:8]) != binary.LittleEndian.Uint32(h[8:]) {
		return errXZ
	}
	x.check, x.blocks = h[7], nil
	switch x.check {
	case 1:
		x.sum = crc32.NewIEEE()
	case 4:
		x.sum = crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		x.sum = sha256.New()
	default:
		x.sum = nil // there is none, or one that nobody knows
	}
	return nil
}

// block reads a block's header (3.1), or what comes after the last one.
func (x *xzReader) block() error {
	begun := x.at
	size, err := x.byte()
	if err != nil {
		return err
	}
	if size == 0 {
		return x.index()
	}
	h := make([]byte, (int(size)+1)*4)
	h[0] = size
	if err := x.bytes(h[1:]); err != nil {
		return err
	}
	fields := h[:len(h)-4]
	if crc32.ChecksumIEEE(fields) != binary.LittleEndian.Uint32(h[len(h)-4:]) || h[1]&0x3c != 0 {
		return errXZ
	}
	fields = fields[2:]
	x.want = [2]int64{-1, -1}
	for i, bit := range []byte{0x40, 0x80} {
		if h[1]&bit != 0 {
			if x.want[i], fields, err = number(fields); err != nil {
				return err
			}
		}
	}
	id, fields, err := number(fields)
	if err != nil {
		return err
	}
	if h[1]&3 != 0 || id != 0x21 {
		return fmt.Errorf("it was filtered before it was packed (filter %#x), which is not supported; unpack it first", id)
	}
	if len(fields) < 2 || fields[0] != 1 || fields[1] > 40 {
		return errXZ
	}
	dict := int64(2|fields[1]&1) << (fields[1]/2 + 11)
	if dict > maxDict {
		return fmt.Errorf("it takes %d bytes of memory to unpack, %d are allowed", dict, maxDict)
	}
	x.lz.dict = max(int(dict), 4096)
	if x.sum != nil {
		x.sum.Reset()
	}
	x.inBlock, x.fresh, x.props, x.data, x.head, x.out = true, true, false, x.at, x.at-begun, 0
	return nil
}

// number is a multibyte integer (1.2), and what follows it.
func number(b []byte) (v int64, rest []byte, err error) {
	u, n := binary.Uvarint(b[:min(len(b), 9)])
	if n <= 0 || n > 1 && b[n-1] == 0 || u >= 1<<63 {
		return 0, nil, errXZ
	}
	return int64(u), b[n:], nil
}

// room makes sure of n bytes behind what has come out, and keeps what a match may refer to.
func (x *xzReader) room(n int) {
	d := &x.lz
	if d.w+n <= len(d.out) {
		return
	}
	keep := min(d.w, d.dict)
	to := d.out
	if most := d.dict + xzRoom; len(to) < most && keep+n > len(to)/2 {
		to = make([]byte, min(most, max(2*len(to), min(d.dict, firstDict)+xzRoom)))
	}
	copy(to, d.out[d.w-keep:d.w])
	d.out, d.w, x.read = to, keep, keep
}

// chunk unpacks a chunk of LZMA2 data (5.3.1), all of whose forerunners were given out.
func (x *xzReader) chunk() error {
	control, err := x.byte()
	if err != nil {
		return err
	}
	if control == 0 {
		return x.endBlock()
	}
	d := &x.lz
	var h [5]byte
	n := 2
	if control >= 0x80 {
		n = 4
		if control >= 0xc0 {
			n = 5
		}
	}
	if err := x.bytes(h[:n]); err != nil {
		return err
	}
	resets := control == 1 || control >= 0xe0
	if x.fresh && !resets || control > 2 && control < 0x80 {
		return errLZMA
	}
	x.fresh = false
	if resets {
		d.total = 0
	}
	size := int(h[0])<<8 | int(h[1]) + 1
	if control < 0x80 {
		x.room(size)
		if err := x.bytes(d.out[d.w : d.w+size]); err != nil {
			return err
		}
		if control == 1 {
			x.props = false
		}
		d.w, d.total = d.w+size, d.total+uint64(size)
	} else {
		size = int(control&0x1f)<<16 + int(h[0])<<8 + int(h[1]) + 1
		if control >= 0xc0 {
			if err := d.setProps(h[4]); err != nil {
				return err
			}
			x.props = true
		}
		if !x.props {
			return errLZMA
		}
		if control >= 0xa0 {
			d.resetState()
		}
		packed := x.packed[:int(h[2])<<8+int(h[3])+1]
		if err := x.bytes(packed); err != nil {
			return err
		}
		x.room(size)
		if err := d.chunk(packed, size); err != nil {
			return err
		}
	}
	x.out += int64(size)
	if x.sum != nil {
		x.sum.Write(d.out[d.w-size : d.w])
	}
	return nil
}

// endBlock reads what follows a block's data: padding and the check (3.3, 3.4).
func (x *xzReader) endBlock() error {
	x.inBlock = false
	packed := x.at - x.data
	if x.want[0] >= 0 && x.want[0] != packed || x.want[1] >= 0 && x.want[1] != x.out {
		return errXZ
	}
	if err := x.zeros(int(-packed & 3)); err != nil {
		return err
	}
	check := make([]byte, xzChecks[x.check])
	if err := x.bytes(check); err != nil {
		return err
	}
	if x.sum != nil {
		sum := x.sum.Sum(nil)
		if x.check != 10 {
			slices.Reverse(sum)
		}
		if string(sum) != string(check) {
			return errXZSum
		}
	}
	x.blocks = append(x.blocks, xzBlock{x.head + packed + int64(len(check)), x.out})
	return nil
}

func (x *xzReader) zeros(n int) error {
	for range n {
		if b, err := x.byte(); err != nil || b != 0 {
			return either(err, errXZ)
		}
	}
	return nil
}

// either is the first of two errors, or the other one.
func either(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// index reads a stream's index and footer (4, 2.1.2), and the header of the next stream, if there is one.
func (x *xzReader) index() error {
	begun := x.at - 1
	sum := crc32.NewIEEE()
	sum.Write([]byte{0})
	number := func() (v int64, err error) {
		for shift := uint(0); shift < 63; shift += 7 {
			b, err := x.byte()
			if err != nil {
				return 0, err
			}
			sum.Write([]byte{b})
			v |= int64(b&0x7f) << shift
			if b < 0x80 {
				return v, nil
			}
		}
		return 0, errXZ
	}
	n, err := number()
	if err != nil || n != int64(len(x.blocks)) {
		return either(err, errXZ)
	}
	for _, b := range x.blocks {
		for _, want := range []int64{b.unpadded, b.size} {
			if v, err := number(); err != nil || v != want {
				return either(err, errXZ)
			}
		}
	}
	pad := int((begun - x.at) & 3)
	if err := x.zeros(pad); err != nil {
		return err
	}
	sum.Write(make([]byte, pad))
	size := x.at - begun + 4
	var f [16]byte
	if err := x.bytes(f[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(f[:]) != sum.Sum32() || crc32.ChecksumIEEE(f[8:14]) != binary.LittleEndian.Uint32(f[4:]) ||
		int64(binary.LittleEndian.Uint32(f[8:])) != size/4-1 || f[12] != 0 || f[13] != x.check || string(f[14:]) != "YZ" {
		return errXZ
	}
	for { // padding between streams
		next, err := x.r.Peek(4)
		switch {
		case len(next) == 0 && err == io.EOF:
			return io.EOF
		case err != nil && err != io.EOF:
			return err
		case len(next) < 4:
			return errXZ
		case string(next) != "\x00\x00\x00\x00":
			return x.header()
		}
		if err := x.zeros(4); err != nil {
			return err
		}
	}
}
