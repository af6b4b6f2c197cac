package symfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"runtime"
)

// Lines and INLINE records are most of a file, so a run of them is read eight bytes at a time. A
// field is found, checked and turned into a number by arithmetic on all its digits at once, without
// a step for each of them. That makes a pass half again as fast in wasm, where each step of a loop
// is a jump through a table. What is not as every writer writes it ends the run, and the parsers
// judge it.

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
	zeros = '0' * ones
)

// eight returns the bytes at b[i:] as one number, the first in the lowest bits. There must be so
// many.
//
// Example, a field of the two bytes "1a" and a blank: fieldLen returns 2. nibbles shifts the field
// to the highest bytes, puts '0' in the others and makes values of the digits. hexNumber combines
// them. The lowest byte is written first:
//
//	bytes, lowest first    '0' '0' '0' '0' '0' '0' '1' 'a'
//	values                  0   0   0   0   0   0   1   10
//	hexNumber              0x00    0x00    0x00    0x1a      pairs of digits
//	                       0x0000          0x001a            pairs of those
//	                       0x0000001a
func eight(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// fieldLen returns how many of 8 bytes precede the first blank or line end. Other
// bytes below a blank count as blanks.
func fieldLen(w uint64) int { return bits.TrailingZeros64((w-0x21*ones)&^w&highs) >> 3 }

// nibbles turns the first n bytes of w, 1 to 8 hexadecimal digits, into their values, the last
// digit in the highest byte. bad is 0 if they are digits.
//
// Letters of either case have bit 6 set, digits have not: letters has a 1 in each byte that is a
// letter. Any other byte gives a value that is negative, above 9 for a digit, or above 5 for a
// letter counted from 'a'. Then the value has bit 7 set, or gets it when 0x76 (for a letter 0x7a)
// is added.
func nibbles(w uint64, n int) (v, bad uint64) {
	w = w<<(64-8*uint(n)) | zeros>>(8*uint(n)) // zeros in front
	letters := w >> 6 & ones
	v = (w | letters<<5) - zeros - letters*('a'-'0')
	bad = (v | (v + 0x76*ones + letters*4)) & highs // a digit is below 10, a letter below 6
	return v + letters*10, bad
}

// decimals is nibbles for decimal digits; bad is 0 if they are.
func decimals(w uint64, n int) (v, bad uint64) {
	v = w<<(64-8*uint(n)) | zeros>>(8*uint(n)) ^ zeros
	return v, (v | (v + 0x76*ones)) & highs
}

// hexNumber and decNumber combine the values of eight digits into a number: neighbors into pairs,
// pairs into fours, fours into eight. decNumber multiplies by 10, 100 and 10000 where hexNumber
// shifts.
func hexNumber(v uint64) uint64 {
	v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
	v = (v<<8 | v>>16) & 0x0000ffff0000ffff
	return uint64(uint32(v<<16 | v>>32))
}

func decNumber(v uint64) uint32 {
	v = (v*10 + v>>8) & 0x00ff00ff00ff00ff
	v = (v*100 + v>>16) & 0x0000ffff0000ffff
	return uint32(v*10000 + v>>32)
}

// sweepRoom is what is looked at of a record at most: of a line four fields of 8 bytes, of an
// INLINE record the keyword and four fields.
const sweepRoom = 40

// wordInline is the keyword of INLINE records, as eight finds it.
const wordInline = 'I' | 'N'<<8 | 'L'<<16 | 'I'<<24 | 'N'<<32 | 'E'<<40 | ' '<<48

// sweep reads a run of line and INLINE records of the current FUNC from b[i:] on, and returns the
// index after the run. The run ends before the first record that is not plain: one with a field of
// 8 digits or more, other blanks than one between fields, or an address outside of the FUNC. The
// caller gives that record to the parsers, which write the warnings.
func (s *scanner) sweep(b []byte, i int) int {
	if s.fn == nil || *s.fnEnd != s.base+int64(i) {
		return i
	}
	if s.fn.size == 0 {
		return i // every address is inside of it
	}
	from := i
	lines, inlines := 0, 0
	for i+sweepRoom <= len(b) {
		w := eight(b, i)
		if w&(1<<56-1) == wordInline {
			next := plainInline(b, i+7)
			if next == 0 {
				break
			}
			inlines++
			i = next
			continue
		}
		rva, size, next := plainLine(b, i, w)
		if at := rva - s.fn.rva; next == 0 || at > s.fn.size || at+size > s.fn.size {
			break
		}
		lines++
		i = next
	}
	if i > from {
		*s.fnEnd = s.base + int64(i)
		s.line += lines + inlines
		s.lineCount += lines
		s.f.Counts.Inlines += inlines
	}
	return i
}

// plainInline reads an INLINE record after its keyword: four decimal numbers (nesting level, line
// of the call, file of the call, origin), and pairs of hexadecimal ones (address, size) up to the
// end of the line. next is the index after it, or 0 if it is not plain.
func plainInline(b []byte, i int) (next int) {
	for range 4 {
		w := eight(b, i)
		n := fieldLen(w)
		if n == 0 || n == 8 {
			return 0
		}
		if _, bad := decimals(w, n); bad != 0 || b[i+n] != ' ' {
			return 0
		}
		i += n + 1
	}
	for fields := 1; i+8 <= len(b); fields++ {
		w := eight(b, i)
		n := fieldLen(w)
		if n == 0 || n == 8 {
			break
		}
		if _, bad := nibbles(w, n); bad != 0 {
			break
		}
		i += n + 1
		end := b[i-1]
		if end == '\r' && i < len(b) && b[i] == '\n' {
			end = '\n'
			i++
		}
		if end == '\n' && fields&1 == 0 {
			return i
		}
		if end != ' ' {
			break
		}
	}
	return 0
}

// plainLine reads a line record: address and size in hexadecimal, line and file in decimal digits.
// w is eight(b, i). next is the index after it, or 0 if it is not plain. What is wrong is collected
// in bits (bad, gap) and asked for once, as branches cost more than the arithmetic.
func plainLine(b []byte, i int, w uint64) (rva, size uint64, next int) {
	n := fieldLen(w)
	if n == 0 || n == 8 {
		return 0, 0, 0
	}
	v, bad := nibbles(w, n)
	rva = hexNumber(v)
	i += n
	gap := b[i] ^ ' '

	w = eight(b, i+1)
	if n = fieldLen(w); n == 0 || n == 8 {
		return 0, 0, 0
	}
	v, not := nibbles(w, n)
	size = hexNumber(v)
	bad |= not
	i += n + 1

	for range 2 { // line and file
		gap |= b[i] ^ ' '
		w = eight(b, i+1)
		if n = fieldLen(w); n == 0 || n == 8 {
			return 0, 0, 0
		}
		_, not = decimals(w, n)
		bad |= not
		i += n + 1
	}
	if b[i] == '\r' {
		i++
	}
	if bad != 0 || gap != 0 || b[i] != '\n' {
		return 0, 0, 0
	}
	return rva, size, i + 1
}

// The records between the runs that sweep reads, FUNC, INLINE_ORIGIN and STACK CFI, are read eight
// bytes at a time too, as far as the pass needs them. What is not as every writer writes it is left
// to the parsers.

// The keywords, as eight finds them.
const (
	wordFunc    = 'F' | 'U'<<8 | 'N'<<16 | 'C'<<24 | ' '<<32
	wordInlineO = 'I' | 'N'<<8 | 'L'<<16 | 'I'<<24 | 'N'<<32 | 'E'<<40 | '_'<<48 | 'O'<<56
	wordRigin   = 'R' | 'I'<<8 | 'G'<<16 | 'I'<<24 | 'N'<<32 | ' '<<40
	wordStackCF = 'S' | 'T'<<8 | 'A'<<16 | 'C'<<24 | 'K'<<32 | ' '<<40 | 'C'<<48 | 'F'<<56
	wordInit    = 'I' | ' '<<8 | 'I'<<16 | 'N'<<24 | 'I'<<32 | 'T'<<40 | ' '<<48
)

// plainRoom is the most that is read of a record, besides its name or rules: a keyword of 15 bytes
// and three numbers of 8.
const plainRoom = 40

// hexField reads a hexadecimal number of up to eight digits before a blank or a line end at b[i:].
// It returns the number and the index after the blank, or an index of 0 without a number. b must
// have nine bytes from i on.
func hexField(b []byte, i int) (v uint64, next int) {
	w := eight(b, i)
	n := fieldLen(w)
	if n == 0 || b[i+n] > ' ' {
		return 0, 0
	}
	digits, bad := nibbles(w, n)
	if bad != 0 {
		return 0, 0
	}
	return hexNumber(digits), i + n + 1
}

// slack is how many bytes after a line hexField may read.
const slack = 9

// lineEnd returns the index of the next newline from i on; b ends with one.
func lineEnd(b []byte, i int) int {
	if runtime.GOARCH != "wasm" {
		return i + bytes.IndexByte(b[i:], '\n')
	}
	for ; i+8 <= len(b); i += 8 { // in wasm IndexByte takes byte after byte
		w := eight(b, i) ^ '\n'*ones
		if m := (w - ones) &^ w & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for b[i] != '\n' {
		i++
	}
	return i
}

// plain reads the record at b[i:] and returns the index after it, or 0 if it is of another kind or
// not plain.
func (s *scanner) plain(b []byte, i int) int {
	if i+plainRoom > len(b) {
		return 0
	}
	switch w := eight(b, i); {
	case w&(1<<40-1) == wordFunc:
		return s.plainFunc(b, i)
	case w == wordStackCF:
		return s.plainCFI(b, i)
	case w == wordInlineO && eight(b, i+8)&(1<<48-1) == wordRigin:
		w = eight(b, i+14)
		n := fieldLen(w)
		if n == 0 || n == 8 || b[i+14+n] != ' ' {
			return 0
		}
		num, bad := decimals(w, n)
		if bad != 0 {
			return 0
		}
		s.f.Counts.Origins++
		s.gotNumber(tableOrigins, decNumber(num), true, s.base+int64(i))
		return lineEnd(b, i+14+n) + 1
	}
	return 0
}

// plainFunc is plain for FUNC records. One with an "m", without a name, or with a number of more
// than 8 digits is left to gotFunc.
func (s *scanner) plainFunc(b []byte, i int) int {
	rva, j := hexField(b, i+5)
	if j == 0 || b[j-1] != ' ' {
		return 0
	}
	size, j := hexField(b, j)
	if j == 0 || b[j-1] != ' ' {
		return 0
	}
	if _, j = hexField(b, j); j == 0 || b[j-1] != ' ' || b[j] <= ' ' { // it has a name
		return 0
	}
	end := lineEnd(b, j) + 1
	s.newFunc()
	s.hasFunc(rva, size, s.base+int64(i), s.base+int64(end))
	return end
}

// plainCFI is plain for STACK CFI INIT records, and for STACK CFI records that follow one, or each
// other, inside of its range.
func (s *scanner) plainCFI(b []byte, i int) int {
	w := eight(b, i+8)
	if w&(1<<56-1) == wordInit {
		rva, j := hexField(b, i+15)
		if j == 0 || b[j-1] != ' ' {
			return 0
		}
		size, j := hexField(b, j)
		if j == 0 || b[j-1] != ' ' {
			return 0
		}
		end := lineEnd(b, j) + 1
		s.newInit()
		s.hasInit(rva, size, s.base+int64(i), s.base+int64(end))
		return end
	}
	if s.cfi == nil || *s.cfiEnd != s.base+int64(i) {
		return 0
	}
	from, lines, low, size, last := i, 0, s.cfi.rva, s.cfi.size, s.lastDelta
	for i+plainRoom <= len(b) && eight(b, i) == wordStackCF && eight(b, i+8)&0xffff == 'I'|' '<<8 {
		w = eight(b, i+10)
		n := fieldLen(w)
		if n == 0 || n == 8 || b[i+10+n] != ' ' {
			break
		}
		digits, bad := nibbles(w, n)
		rva := hexNumber(digits)
		if bad != 0 || rva-low >= size || rva < last {
			break
		}
		last = rva
		i += 11 + n
		for {
			w := eight(b, i) ^ '\n'*ones
			if m := (w - ones) &^ w & highs; m != 0 {
				i += bits.TrailingZeros64(m)>>3 + 1
				break
			}
			if i += 8; i+8 > len(b) {
				i = lineEnd(b, i) + 1
				break
			}
		}
		lines++
	}
	if i == from {
		return 0
	}
	s.line += lines - 1 // the first is counted
	s.f.Counts.CFIDeltas += lines
	s.lastDelta = last
	*s.cfiEnd = s.base + int64(i)
	return i
}
