package symfile

import "encoding/binary"

// packer writes numbers and texts one after the other, for unpacker to read.
type packer struct{ b []byte }

// What this calls is large for a loop of a few instructions, and there are dozens of calls.
//
//go:noinline
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

// unpacker reads what a packer wrote. What does not fit sticks in bad, and everything after it is zero. It counts where it is and leaves
// b alone: moving a slice's start is a write that the garbage collector looks at, at each byte of an index.
type unpacker struct {
	b   []byte
	at  int
	bad bool
}

func (u *unpacker) left() int { return len(u.b) - u.at }

// fail makes everything that follows zero.
func (u *unpacker) fail() { u.at, u.bad = len(u.b), true }

func (u *unpacker) unsigned() uint64 {
	if at := u.at; at+1 < len(u.b) { // nearly all have one byte or two
		low, high := u.b[at], u.b[at+1]
		if low < 0x80 {
			u.at++
			return uint64(low)
		}
		if high < 0x80 {
			u.at += 2
			return uint64(low&0x7f) | uint64(high)<<7
		}
	}
	return u.long()
}

func (u *unpacker) long() uint64 {
	v, n := binary.Uvarint(u.b[u.at:])
	if n <= 0 {
		u.fail()
		return 0
	}
	u.at += n
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
		u.fail()
		return 0
	}
	return v
}

// count is a number of things that follow, each of at least so many bytes: no more than there is room for behind the number itself.
func (u *unpacker) count(each int) int {
	v := u.unsigned()
	if v > uint64(u.left()/each) {
		u.fail()
		return 0
	}
	return int(v)
}

func (u *unpacker) flag() bool { return u.upTo(1) == 1 }

// bytes are a part of what is read, not a copy.
func (u *unpacker) bytes() []byte {
	n := u.count(1)
	u.at += n
	return u.b[u.at-n : u.at : u.at]
}

func (u *unpacker) text() string { return string(u.bytes()) }
