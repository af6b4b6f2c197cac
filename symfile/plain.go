package symfile

import (
	"bytes"
	"math/bits"
	"runtime"
)

// The records between the runs that sweep reads, FUNC, INLINE_ORIGIN and STACK CFI, are read eight bytes at a time too, as far as the
// pass needs them. What is not as every writer writes it is left to the parsers.

// The keywords, as eight finds them.
const (
	wordFunc    = 'F' | 'U'<<8 | 'N'<<16 | 'C'<<24 | ' '<<32
	wordInlineO = 'I' | 'N'<<8 | 'L'<<16 | 'I'<<24 | 'N'<<32 | 'E'<<40 | '_'<<48 | 'O'<<56
	wordRigin   = 'R' | 'I'<<8 | 'G'<<16 | 'I'<<24 | 'N'<<32 | ' '<<40
	wordStackCF = 'S' | 'T'<<8 | 'A'<<16 | 'C'<<24 | 'K'<<32 | ' '<<40 | 'C'<<48 | 'F'<<56
	wordInit    = 'I' | ' '<<8 | 'I'<<16 | 'N'<<24 | 'I'<<32 | 'T'<<40 | ' '<<48
)

// plainRoom is what is looked at of a record at most, besides its name or rules: a keyword of 15 bytes and three numbers of 8.
const plainRoom = 40

// hexField reads a hexadecimal number of up to seven digits before a blank at b[i:]. It gives the index behind the blank, or 0
// if there is none. b has eight bytes there.
func hexField(b []byte, i int) (v uint64, next int) {
	w := eight(b, i)
	n := fieldLen(w)
	if n == 0 || n == 8 || b[i+n] != ' ' {
		return 0, 0
	}
	digits, _, bad := nibbles(w, n)
	if bad != 0 {
		return 0, 0
	}
	return hexNumber(digits), i + n + 1
}

// lineEnd is the index of the next newline from i on; b ends with one.
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

// plain reads the record at b[i:], and gives the index behind it; 0 if it is none of those that are read here, or not plain.
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

// plainFunc is plain for FUNC records.
func (s *scanner) plainFunc(b []byte, i int) int {
	rva, j := hexField(b, i+5)
	if j == 0 {
		return 0
	}
	size, j := hexField(b, j)
	if j == 0 {
		return 0
	}
	if _, j = hexField(b, j); j == 0 || b[j] <= ' ' { // it has a name
		return 0
	}
	end := lineEnd(b, j) + 1
	s.newFunc()
	s.hasFunc(rva, size, s.base+int64(i), s.base+int64(end))
	return end
}

// plainCFI is plain for STACK CFI INIT records, and for STACK CFI records that follow one, or each other, inside of its range.
func (s *scanner) plainCFI(b []byte, i int) int {
	w := eight(b, i+8)
	if w&(1<<56-1) == wordInit {
		rva, j := hexField(b, i+15)
		if j == 0 {
			return 0
		}
		size, j := hexField(b, j)
		if j == 0 {
			return 0
		}
		end := lineEnd(b, j) + 1
		s.newInit()
		s.hasInit(rva, size, s.base+int64(i), s.base+int64(end))
		return end
	}
	if s.cfi == nil || *s.cfiEnd != s.base+int64(i) || w&0xffff != 'I'|' '<<8 {
		return 0
	}
	rva, j := hexField(b, i+10)
	if j == 0 || !s.cfi.has(rva) || rva < s.lastDelta {
		return 0
	}
	end := lineEnd(b, j) + 1
	s.f.Counts.CFIDeltas++
	s.lastDelta = rva
	*s.cfiEnd = s.base + int64(end)
	return end
}
