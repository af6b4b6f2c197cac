package sframe

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// entry is a frame row entry (2.4): the rules from its start to that of the next entry.
//
//	start 1, 2 or 4 | info 1 | words: count × 1, 2 or 4
type entry struct {
	// at is its offset in the section.
	at int64
	// start is relative to the function's start, or to that of a repeated block.
	start uint32
	// info is the info word:
	//
	//	bit 0     the CFA is relative to sp, else to fp
	//	bits 1–4  number of words
	//	bits 5–6  their size: 1 << n bytes, n up to 2
	//	bit 7     arm64: the return address is signed
	info uint8
	// words are the count() words, not sign-extended: offsets, or for a flexible function also
	// control words.
	words [15]uint32
}

// maxRow is the size in bytes of the largest row: address, info, 15 words of 4 bytes.
const maxRow = 4 + 1 + 15*4

const (
	rowFromSP = 1 << 0
	rowSigned = 1 << 7
)

// count and wordSize are the number of words and their size in bytes.
func (e *entry) count() int    { return int(e.info >> 1 & 15) }
func (e *entry) wordSize() int { return 1 << (e.info >> 5 & 3) }

// signed returns word i as a signed number.
func (e *entry) signed(i int) int64 {
	// The shifts copy the sign of the word's upper bit.
	shift := 32 - 8*e.wordSize()
	return int64(int32(e.words[i]<<shift) >> shift)
}

// read reads the entry at an offset, without its words, and returns the offset after it.
func (t *table) read(fn *function, at int64, e *entry) (int64, error) {
	address := 1 << (fn.info & 15)
	b, err := t.bytes(at, address+1, t.rowsEnd)
	if err != nil {
		return 0, err
	}
	e.at = at
	switch address {
	case 1:
		e.start = uint32(b[0])
	case 2:
		e.start = uint32(t.Order.Uint16(b))
	case 4:
		e.start = t.Order.Uint32(b)
	}
	e.info = b[address]
	if e.info>>5&3 == 3 {
		return 0, t.formatError(at+int64(address), "words of 1, 2 or 4 bytes", "size 3, which is reserved")
	}
	at += int64(address) + 1
	return at + int64(e.count()*e.wordSize()), nil
}

// fill reads the words of an entry.
func (t *table) fill(fn *function, e *entry) error {
	n, size := e.count(), e.wordSize()
	b, err := t.bytes(e.at+int64(1<<(fn.info&15))+1, n*size, t.rowsEnd)
	if err != nil {
		return err
	}
	for i := range n {
		switch size {
		case 1:
			e.words[i] = uint32(b[i])
		case 2:
			e.words[i] = uint32(t.Order.Uint16(b[2*i:]))
		case 4:
			e.words[i] = t.Order.Uint32(b[4*i:])
		}
	}
	return nil
}

// stepsPerRow is the work of reading a row, as a lookup has to read those before the one that it needs.
const stepsPerRow = 4

// entry returns the last of a function's rows that starts at or before an offset in the function.
func (t *table) entry(fn *function, off uint32) (found entry, ok bool, err error) {
	at := fn.rowsAt
	var e entry
	// Rows have no fixed size, so they are read from the first one on. Their words are read of the
	// one that counts alone.
	i := uint32(0)
	for ; i < fn.rows; i++ {
		next, err := t.read(fn, at, &e)
		if err != nil {
			return found, false, err
		}
		if ok && e.start < found.start {
			return found, false, t.descends(&e, found.start)
		}
		if e.start > off {
			break
		}
		found.at, found.start, found.info, ok = e.at, e.start, e.info, true
		at = next
	}
	if err := t.src.Draw(input.Work, stepsPerRow*int64(i)); err != nil {
		return found, false, t.src.Wrap(SectionName, fn.rowsAt, err)
	}
	if ok {
		err = t.fill(fn, &found)
	}
	return found, ok && err == nil, err
}

// descends returns the error for a row that starts before the previous one.
func (t *table) descends(e *entry, before uint32) error {
	return t.formatError(e.at, fmt.Sprintf("a row that starts at 0x%x or after", before), fmt.Sprintf("one that starts at 0x%x", e.start))
}
