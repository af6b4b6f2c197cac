package unpack

import "errors"

// errLZMA says no more than that the data are not LZMA2; where, the reader around them knows.
var errLZMA = errors.New("the LZMA2 data are invalid")

// lzma unpacks chunks of LZMA (7-Zip's "LZMA specification", xz's doc/xz-file-format.txt 5.3.1). A chunk's packed bytes are in memory as a
// whole, 64 KiB at most, and what comes out goes into one buffer with what a match may refer to before it: so its loop tests little, and
// calls nothing for a bit, which in wasm takes many times as long as the bit itself.
type lzma struct {
	in   []byte // the chunk, with inSlack behind it
	pos  int    // in it
	rng  uint32 // the range coder's
	code uint32

	out   []byte // unpacked bytes, those that matches may refer to among them
	w     int    // up to where
	total uint64 // bytes since the dictionary was reset
	dict  int    // how far back a match may reach, bytes

	lc         uint
	lpMask     uint32
	pbMask     uint32
	state      uint32
	rep        [4]uint32
	isMatch    [12 << 4]uint16
	isRep      [12]uint16
	isRepG0    [12]uint16
	isRepG1    [12]uint16
	isRepG2    [12]uint16
	isRep0Long [12 << 4]uint16
	slot       [4][64]uint16
	special    [115 + 1]uint16
	align      [16]uint16
	matchLen   lengths
	repLen     lengths
	literal    [0x300 << 4]uint16
}

type lengths struct {
	choice, choice2 uint16
	low, mid        [16][8]uint16
	high            [256]uint16
}

const (
	// inSlack is more than a symbol can take of the packed bytes.
	inSlack = 128
	even    = 1 << 10 // the probability that a bit is 0 at the beginning, of 1 << 11
	least   = 1 << 24 // of the range
)

// setProps takes the byte with lc, lp and pb.
func (d *lzma) setProps(b byte) error {
	if b >= 9*5*5 {
		return errLZMA
	}
	lc, lp, pb := uint(b%9), uint(b/9%5), uint(b/45)
	if lc+lp > 4 {
		return errLZMA
	}
	d.lc, d.lpMask, d.pbMask = lc, 1<<lp-1, 1<<pb-1
	return nil
}

// resetState is what most chunks do not begin with.
func (d *lzma) resetState() {
	d.state, d.rep = 0, [4]uint32{}
	for _, probs := range [][]uint16{d.isMatch[:], d.isRep[:], d.isRepG0[:], d.isRepG1[:], d.isRepG2[:], d.isRep0Long[:], d.special[:], d.align[:],
		d.literal[:], d.slot[0][:], d.slot[1][:], d.slot[2][:], d.slot[3][:]} {
		fill(probs)
	}
	for _, l := range []*lengths{&d.matchLen, &d.repLen} {
		l.choice, l.choice2 = even, even
		for i := range l.low {
			fill(l.low[i][:])
			fill(l.mid[i][:])
		}
		fill(l.high[:])
	}
}

func fill(probs []uint16) {
	for i := range probs {
		probs[i] = even
	}
}

// bit is one bit by its probability, for what is not asked for often.
func (d *lzma) bit(p *uint16) uint32 {
	if d.rng < least {
		d.rng <<= 8
		d.code = d.code<<8 | uint32(d.in[d.pos])
		d.pos++
	}
	bound := d.rng >> 11 * uint32(*p)
	if d.code < bound {
		d.rng = bound
		*p += (1<<11 - *p) >> 5
		return 0
	}
	d.rng -= bound
	d.code -= bound
	*p -= *p >> 5
	return 1
}

// tree is a number of so many bits, the highest first.
func (d *lzma) tree(probs []uint16, bits uint) uint32 {
	in, pos, rng, code := d.in, d.pos, d.rng, d.code
	m := uint32(1)
	for range bits {
		if rng < least {
			rng <<= 8
			code = code<<8 | uint32(in[pos])
			pos++
		}
		p := uint32(probs[m])
		bound := rng >> 11 * p
		if code < bound {
			rng = bound
			probs[m] = uint16(p + (1<<11-p)>>5)
			m <<= 1
		} else {
			rng -= bound
			code -= bound
			probs[m] = uint16(p - p>>5)
			m = m<<1 | 1
		}
	}
	d.pos, d.rng, d.code = pos, rng, code
	return m - 1<<bits
}

// reverse is a number of so many bits, the lowest first.
func (d *lzma) reverse(probs []uint16, bits uint) (v uint32) {
	m := uint32(1)
	for i := range bits {
		b := d.bit(&probs[m])
		m = m<<1 | b
		v |= b << i
	}
	return v
}

// direct are bits that are as often 0 as 1.
func (d *lzma) direct(bits uint32) (v uint32) {
	for range bits {
		if d.rng < least {
			d.rng <<= 8
			d.code = d.code<<8 | uint32(d.in[d.pos])
			d.pos++
		}
		d.rng >>= 1
		v <<= 1
		if d.code >= d.rng {
			d.code -= d.rng
			v |= 1
		}
	}
	return v
}

// length of a match.
func (d *lzma) length(l *lengths, posState uint32) int {
	if d.bit(&l.choice) == 0 {
		return 2 + int(d.tree(l.low[posState][:], 3))
	}
	if d.bit(&l.choice2) == 0 {
		return 10 + int(d.tree(l.mid[posState][:], 3))
	}
	return 18 + int(d.tree(l.high[:], 8))
}

// distance of a match of a length, less 1.
func (d *lzma) distance(n int) uint32 {
	slot := d.tree(d.slot[min(n-2, 3)][:], 6)
	if slot < 4 {
		return slot
	}
	bits := slot>>1 - 1
	dist := (2 | slot&1) << bits
	if slot < 14 {
		return dist + d.reverse(d.special[dist-slot:], uint(bits))
	}
	return dist + d.direct(bits-4)<<4 + d.reverse(d.align[:], 4)
}

// chunk unpacks n bytes out of packed, which has inSlack bytes behind its length. There is room for them in out.
func (d *lzma) chunk(packed []byte, n int) error {
	if len(packed) < 5 || packed[0] != 0 {
		return errLZMA
	}
	d.in = packed[:len(packed)+inSlack]
	d.rng, d.pos = 1<<32-1, 5
	d.code = uint32(packed[1])<<24 | uint32(packed[2])<<16 | uint32(packed[3])<<8 | uint32(packed[4])
	limit := d.w + n
	if err := d.symbols(limit, len(packed)); err != nil {
		return err
	}
	if d.rng < least {
		d.code = d.code<<8 | uint32(d.in[d.pos])
		d.pos++
	}
	if d.code != 0 || d.pos != len(packed) {
		return errLZMA
	}
	return nil
}

// symbols unpacks up to limit in out. A symbol that is read beyond the packed bytes is noticed behind it.
func (d *lzma) symbols(limit, end int) error {
	in, out, w, state, rep0 := d.in, d.out[:limit], d.w, d.state, d.rep[0]
	since := uint32(d.total) - uint32(w)
	far := min(d.total, uint64(d.dict)) // how far back a match may reach now
	pos, rng, code := d.pos, d.rng, d.code
	for begun := w; w < limit; {
		if pos > end {
			return errLZMA
		}
		at := uint32(w) + since
		posState := at & d.pbMask & 15
		if rng < least {
			rng <<= 8
			code = code<<8 | uint32(in[pos])
			pos++
		}
		prob := &d.isMatch[(state<<4+posState)%(12<<4)]
		if bound := rng >> 11 * uint32(*prob); code < bound {
			rng = bound
			*prob += (1<<11 - *prob) >> 5
			before := uint32(0)
			if far > 0 || w > begun {
				before = uint32(out[w-1])
			}
			which := (at&d.lpMask)<<d.lc + before>>(8-d.lc)
			probs := (*[0x300]uint16)(d.literal[0x300*(which&15):])
			symbol := uint32(1)
			if state >= 7 {
				match := uint32(out[w-int(rep0)-1])
				for offs := uint32(0x100); symbol < 0x100; {
					match <<= 1
					b := match & offs
					if rng < least {
						rng <<= 8
						code = code<<8 | uint32(in[pos])
						pos++
					}
					i := (offs + b + symbol) % 0x300
					p := uint32(probs[i])
					bound := rng >> 11 * p
					if code < bound {
						rng = bound
						probs[i] = uint16(p + (1<<11-p)>>5)
						symbol <<= 1
						offs &^= b
					} else {
						rng -= bound
						code -= bound
						probs[i] = uint16(p - p>>5)
						symbol = symbol<<1 | 1
						offs &= b
					}
				}
			}
			for symbol < 0x100 {
				if rng < least {
					rng <<= 8
					code = code<<8 | uint32(in[pos])
					pos++
				}
				p := uint32(probs[symbol])
				bound := rng >> 11 * p
				if code < bound {
					rng = bound
					probs[symbol] = uint16(p + (1<<11-p)>>5)
					symbol <<= 1
				} else {
					rng -= bound
					code -= bound
					probs[symbol] = uint16(p - p>>5)
					symbol = symbol<<1 | 1
				}
			}
			out[w] = byte(symbol)
			w++
			switch {
			case state < 4:
				state = 0
			case state < 10:
				state -= 3
			default:
				state -= 6
			}
			continue
		} else {
			rng -= bound
			code -= bound
			*prob -= *prob >> 5
		}
		d.pos, d.rng, d.code = pos, rng, code
		n := 1
		switch {
		case d.bit(&d.isRep[state]) == 0:
			d.rep[3], d.rep[2], d.rep[1] = d.rep[2], d.rep[1], rep0
			n = d.length(&d.matchLen, posState)
			rep0 = d.distance(n)
			state = after(state, 7, 10)
		case d.bit(&d.isRepG0[state]) == 0:
			if d.bit(&d.isRep0Long[state<<4+posState]) == 0 {
				state = after(state, 9, 11)
				break
			}
			n = d.length(&d.repLen, posState)
			state = after(state, 8, 11)
		default:
			dist := d.rep[1]
			if d.bit(&d.isRepG1[state]) != 0 {
				dist = d.rep[2]
				if d.bit(&d.isRepG2[state]) != 0 {
					dist = d.rep[3]
					d.rep[3] = d.rep[2]
				}
				d.rep[2] = d.rep[1]
			}
			d.rep[1] = rep0
			rep0 = dist
			n = d.length(&d.repLen, posState)
			state = after(state, 8, 11)
		}
		pos, rng, code = d.pos, d.rng, d.code
		if back := uint64(rep0); back >= min(far+uint64(w-begun), uint64(d.dict)) || n > limit-w {
			return errLZMA
		}
		for from := w - int(rep0) - 1; n > 0; {
			k := copy(out[w:w+n], out[from:w])
			w += k
			n -= k
		}
	}
	d.total += uint64(w - d.w)
	d.w, d.state, d.rep[0] = w, state, rep0
	d.pos, d.rng, d.code = pos, rng, code
	if pos > end {
		return errLZMA
	}
	return nil
}

// after is the state after a match, by whether the last symbol but that was a literal.
func after(state, literal, match uint32) uint32 {
	if state < 7 {
		return literal
	}
	return match
}
