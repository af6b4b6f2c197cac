package symfile

import "encoding/binary"

// packer writes numbers and texts one after the other, for unpacker to read.
type packer struct{ b []byte }

func (p *packer) unsigned(v uint64) { p.b = binary.AppendUvarint(p.b, v) }

func (p *packer) flag(v bool) {
	if v {
		p.unsigned(1)
	} else {
		p.unsigned(0)
	}
}

func (p *packer) bytes(b []byte) {
	p.unsigned(uint64(len(b)))
	p.b = append(p.b, b...)
}

func (p *packer) text(s string) { p.bytes([]byte(s)) }

// unpacker reads what a packer wrote. What does not fit sticks in bad, and everything after it is zero.
type unpacker struct {
	b   []byte
	bad bool
}

func (u *unpacker) unsigned() uint64 {
	if len(u.b) > 0 && u.b[0] < 0x80 {
		v := u.b[0]
		u.b = u.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(u.b)
	if n <= 0 {
		u.b, u.bad = nil, true
		return 0
	}
	u.b = u.b[n:]
	return v
}

func (u *unpacker) signed() int64 {
	v := u.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

// upTo is a number that must not be above a limit.
func (u *unpacker) upTo(most uint64) uint64 {
	v := u.unsigned()
	if v > most {
		u.b, u.bad = nil, true
		return 0
	}
	return v
}

// count is a number of things that follow, each of at least so many bytes.
func (u *unpacker) count(each int) int {
	v := u.unsigned()
	if v > uint64(len(u.b)/each) {
		u.b, u.bad = nil, true
		return 0
	}
	return int(v)
}

func (u *unpacker) flag() bool { return u.upTo(1) == 1 }

// bytes are a part of what is read, not a copy.
func (u *unpacker) bytes() []byte {
	n := u.count(1)
	b := u.b[:n:n]
	u.b = u.b[n:]
	return b
}

func (u *unpacker) text() string { return string(u.bytes()) }
