package sevenzip

import (
	"bufio"
	"encoding/binary"
	"io"
)

// A filter has replaced the targets of calls and jumps, which are relative to the instruction, by
// addresses in the file: calls of one function then have equal bytes. Here they become relative again.
type filter struct {
	r       io.Reader
	left    int64 // of the output
	convert func(code []byte, at uint32) int
	buf     [64 << 10]byte
	have    []byte // of buf, not yet returned
	done    int    // bytes of have that are converted
	at      uint32 // of have[0]
	err     error
}

// Read implements io.Reader.
func (f *filter) Read(p []byte) (int, error) {
	for f.done == 0 && f.err == nil {
		n := copy(f.buf[:], f.have)
		k, err := io.ReadFull(f.r, f.buf[n:min(int64(len(f.buf)), f.left)])
		f.have = f.buf[:n+k]
		f.done = f.convert(f.have, f.at)
		if err != nil || int64(len(f.have)) == f.left {
			f.done, f.err = len(f.have), io.EOF // the last bytes are too few for an instruction
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				f.err = err
			} else if int64(len(f.have)) < f.left {
				f.err = io.ErrUnexpectedEOF
			}
		}
	}
	n := copy(p, f.have[:f.done])
	f.have, f.done, f.at, f.left = f.have[n:], f.done-n, f.at+uint32(n), f.left-int64(n)
	if n == 0 && len(p) > 0 {
		return 0, f.err
	}
	return n, nil
}

// delta is the filter of that name: each byte has been replaced by its difference to the one a distance
// before it.
type delta struct {
	r        io.Reader
	distance int
	before   [256]byte // the last bytes of the output, by their offset modulo 256
	at       int
}

// Read implements io.Reader.
func (d *delta) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	for i := range p[:n] {
		p[i] += d.before[(d.at-d.distance)&0xff]
		d.before[d.at&0xff] = p[i]
		d.at++
	}
	return n, err
}

// x86 is the filter BCJ. mask has a bit for each of the three bytes before the next one that was the
// opcode of a call or a jump: its target may overlap another's.
type x86 struct{ mask uint32 }

// isHigh reports whether a byte may be the highest of a target: the filter leaves out others.
func isHigh(b byte) bool { return b == 0 || b == 0xff }

// convert converts all but the last bytes, which may be the start of an instruction: its opcode e8 or e9
// and a target of 4 bytes. It returns how many it has converted.
func (x *x86) convert(code []byte, at uint32) int {
	// The number of the highest byte of an overlapped target, by mask, and whether such a target is
	// converted.
	bytes := [8]uint32{0, 1, 2, 2, 3, 3, 3, 3}
	allowed := [8]bool{true, true, true, false, true, false, false, false}
	last := -1 // the last opcode
	i := 0
	for ; i < len(code)-4; i++ {
		if code[i]&0xfe != 0xe8 {
			continue
		}
		if distance := i - last; distance > 3 {
			x.mask = 0
		} else if x.mask = x.mask << (distance - 1) & 7; x.mask != 0 && (!allowed[x.mask] || isHigh(code[i+4-int(bytes[x.mask])])) {
			last, x.mask = i, x.mask<<1|1
			continue
		}
		last = i
		if !isHigh(code[i+4]) {
			x.mask = x.mask<<1 | 1
			continue
		}
		target := binary.LittleEndian.Uint32(code[i+1:])
		for {
			target -= at + uint32(i) + 5
			if x.mask == 0 {
				break
			}
			shift := bytes[x.mask] * 8
			if !isHigh(byte(target >> (24 - shift))) {
				break
			}
			target ^= 1<<(32-shift) - 1
		}
		target &= 0x1ffffff
		target |= -(target & 0x1000000)
		binary.LittleEndian.PutUint32(code[i+1:], target)
		i += 4
	}
	if distance := i - last; distance > 3 {
		x.mask = 0
	} else {
		x.mask <<= distance - 1
	}
	return max(0, i)
}

// arm64 converts bl, and those adrp that reach less than 512 MiB.
func arm64(code []byte, at uint32) int {
	i := 0
	for ; i+4 <= len(code); i += 4 {
		pc, insn := at+uint32(i), binary.LittleEndian.Uint32(code[i:])
		switch {
		case insn>>26 == 0x25: // bl
			insn = 0x94000000 | (insn-pc>>2)&0x3ffffff
		case insn&0x9f000000 == 0x90000000: // adrp
			page := insn>>29&3 | insn>>3&0x1ffffc
			if (page+0x20000)&0x1c0000 != 0 {
				continue
			}
			page -= pc >> 12
			insn = insn&0x9000001f | page&3<<29 | page&0x3fffc<<3 | -(page&0x20000)&0xe00000
		}
		binary.LittleEndian.PutUint32(code[i:], insn)
	}
	return i
}

// bcj2 is the filter that has the targets of calls and of jumps in streams of their own. A fourth stream
// says by bits, coded as LZMA codes its bits, which instructions have their target there.
type bcj2 struct {
	code, calls, jumps, bits *bufio.Reader
	left                     int64
	at                       uint32 // bytes of output
	last                     byte
	pending                  []byte // of a target
	chance                   [258]uint16
	rng, value               uint32
	err                      error
}

func newBCJ2(in []io.Reader, size int64) (io.Reader, error) {
	b := &bcj2{code: bufio.NewReader(in[0]), calls: bufio.NewReader(in[1]), jumps: bufio.NewReader(in[2]), bits: bufio.NewReader(in[3]), left: size, rng: 0xffffffff}
	for i := range b.chance {
		b.chance[i] = 1 << 10
	}
	for range 5 {
		next, err := b.bits.ReadByte()
		if err != nil {
			return nil, unexpected(err)
		}
		b.value = b.value<<8 | uint32(next)
	}
	return b, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// bit decodes a bit of the fourth stream.
func (b *bcj2) bit(chance *uint16) bool {
	if b.rng < 1<<24 {
		next, err := b.bits.ReadByte()
		if err != nil {
			b.err = unexpected(err)
			return false
		}
		b.rng, b.value = b.rng<<8, b.value<<8|uint32(next)
	}
	bound := b.rng >> 11 * uint32(*chance)
	if b.value < bound {
		b.rng = bound
		*chance += (1<<11 - *chance) >> 5
		return false
	}
	b.rng, b.value = b.rng-bound, b.value-bound
	*chance -= *chance >> 5
	return true
}

// Read implements io.Reader.
func (b *bcj2) Read(p []byte) (n int, err error) {
	for n < len(p) && b.left > 0 && b.err == nil {
		if len(b.pending) > 0 {
			p[n] = b.pending[0]
			b.pending = b.pending[1:]
		} else {
			next, err := b.code.ReadByte()
			if err != nil {
				b.err = unexpected(err)
				break
			}
			p[n] = next
			b.at++
			b.opcode(next)
		}
		n++
		b.left--
	}
	if b.left == 0 && b.err == nil {
		b.err = io.EOF
	}
	if n > 0 {
		return n, nil
	}
	return 0, b.err
}

// opcode takes a byte of code. After e8 (call), e9 (jmp) and 0f 80 to 0f 8f (jumps on a condition) a
// target may follow from another stream.
func (b *bcj2) opcode(now byte) {
	before := b.last
	b.last = now
	from, chance := b.jumps, &b.chance[257]
	switch {
	case now == 0xe8:
		from, chance = b.calls, &b.chance[before]
	case now == 0xe9:
		chance = &b.chance[256]
	case before != 0x0f || now&0xf0 != 0x80:
		return
	}
	if b.left == 1 || !b.bit(chance) { // nothing follows the last byte
		return
	}
	var target [4]byte
	if _, err := io.ReadFull(from, target[:]); err != nil {
		b.err = unexpected(err)
		return
	}
	b.at += 4
	b.pending = binary.LittleEndian.AppendUint32(nil, binary.BigEndian.Uint32(target[:])-b.at)
	b.last = b.pending[3]
}
