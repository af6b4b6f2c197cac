package demangle

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// decodePunycode decodes an identifier in Rust's form of Punycode, which has "_" where RFC 3492 has
// "-": "gdel_5qa" is gödel. Names and numbers are those of RFC 3492, sections 5 and 6.2.
func decodePunycode(s string, ascii uint64) (string, bool) {
	const (
		base, tMin, tMax = 36, 1, 26
		skew, damp       = 38, 700
		initialBias      = 72
		initialN         = 0x80
		maxDelta         = utf8.MaxRune * maxIn // a larger number is not a character of a name
	)
	var out []rune
	if at := strings.LastIndexByte(s, '_'); at >= 0 {
		out, s = []rune(s[:at]), s[at+1:]
	}
	n, i, bias := uint64(initialN), uint64(0), uint64(initialBias)
	for first := true; s != ""; first = false {
		before, weight := i, uint64(1)
		for k := uint64(base); ; k += base {
			if s == "" {
				return "", false
			}
			digit, ok := punycodeDigit(s[0])
			s = s[1:]
			if i += digit * weight; !ok || i > maxDelta {
				return "", false
			}
			threshold := uint64(tMin)
			if k > bias {
				threshold = min(k-bias, tMax)
			}
			if digit < threshold {
				break
			}
			if weight *= base - threshold; weight > maxDelta {
				return "", false
			}
		}
		length := uint64(len(out)) + 1
		// Section 6.1, bias adaptation.
		delta := (i - before) / 2
		if first {
			delta = (i - before) / damp
		}
		delta += delta / length
		bias = 0
		for ; delta > (base-tMin)*tMax/2; bias += base {
			delta /= base - tMin
		}
		bias += (base - tMin + 1) * delta / (delta + skew)

		n += i / length
		i %= length
		char := n
		if ascii > 0 && n >= ascii && n < ascii+0x80 {
			char = n - ascii
		}
		if n > utf8.MaxRune || !utf8.ValidRune(rune(char)) {
			return "", false
		}
		out = slices.Insert(out, int(i), rune(char))
		i++
	}
	return string(out), true
}

// punycodeDigit returns the value of a digit: a-z are 0 to 25, 0-9 are 26 to 35. Rust writes no
// upper-case letters there.
func punycodeDigit(c byte) (uint64, bool) {
	switch {
	case c >= 'a' && c <= 'z':
		return uint64(c - 'a'), true
	case c >= '0' && c <= '9':
		return uint64(c-'0') + 26, true
	}
	return 0, false
}
