package demangle

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rustHash is the last identifier of a name in Rust's legacy mangling, but for its hexadecimal digits:
// "h" and a hash.
const rustHash = "17h"

// legacyRust returns the readable form of a name in Rust's legacy mangling without the hash and the
// compiler's suffix, and that suffix (".llvm.123"). ok is false for another name.
//
//	_ZN4core3fmt5write17h0123456789abcdefE                       core::fmt::write
//	_ZN3std2io5stdio6_print17h0123456789abcdefE                  std::io::stdio::_print
//	_ZN24_$LT$T$u20$as$u20$a..B$GT$3fmt17h0123456789abcdefE      <T as a::B>::fmt
//
// The package demangle takes the underscore at the beginning of an identifier for a part of its length.
//
// Source: rustc-demangle, the demangler of Rust's own library.
func legacyRust(name string) (readable, suffix string, ok bool) {
	suffix = legacyRustSuffix(name)
	name = strings.TrimSuffix(name, suffix)
	path, ok := strings.CutPrefix(name, "_ZN")
	if !ok || !isLegacyRust(name) {
		return "", "", false
	}
	var out strings.Builder
	for path = path[:len(path)-len(rustHash)-hashDigits-len("E")]; path != ""; {
		digits := len(path) - len(strings.TrimLeft(path, "0123456789"))
		n, err := strconv.Atoi(path[:digits])
		if path = path[digits:]; err != nil || n == 0 || n > len(path) {
			return "", "", false
		}
		if out.Len() > 0 {
			out.WriteString("::")
		}
		writeLegacyRust(&out, path[:n])
		path = path[n:]
	}
	return out.String(), suffix, out.Len() > 0
}

// rustEscapes are the characters that identifiers have escaped, and "u7b" for others: their number.
var rustEscapes = map[string]string{"SP": "@", "BP": "*", "RF": "&", "LT": "<", "GT": ">", "LP": "(", "RP": ")", "C": ","}

// writeLegacyRust writes an identifier. "$LT$" is an escape, ".." stands for "::", and an underscore
// precedes an escape at the beginning. From an unknown escape on the rest is as it is.
func writeLegacyRust(out *strings.Builder, id string) {
	if strings.HasPrefix(id, "_$") {
		id = id[1:]
	}
	for {
		at := strings.IndexAny(id, "$.")
		if at < 0 {
			break
		}
		out.WriteString(id[:at])
		if id = id[at:]; id[0] == '.' {
			text, rest := ".", id[1:]
			if strings.HasPrefix(rest, ".") {
				text, rest = "::", rest[1:]
			}
			out.WriteString(text)
			id = rest
			continue
		}
		escape, rest, closed := strings.Cut(id[1:], "$")
		text := rustEscapes[escape]
		if digits, ok := strings.CutPrefix(escape, "u"); ok && strings.Trim(digits, "0123456789abcdef") == "" {
			if c, err := strconv.ParseUint(digits, 16, 32); err == nil && c <= utf8.MaxRune && utf8.ValidRune(rune(c)) && !unicode.IsControl(rune(c)) {
				text = string(rune(c))
			}
		}
		if !closed || text == "" {
			break
		}
		out.WriteString(text)
		id = rest
	}
	out.WriteString(id)
}

// legacyRustSuffix returns the compiler's suffix of a name in Rust's legacy mangling: ".llvm.123".
func legacyRustSuffix(name string) string {
	if end := strings.LastIndex(name, "E."); end >= 0 && isLegacyRust(name[:end+1]) {
		return name[end+1:]
	}
	return ""
}

// isLegacyRust reports whether a mangled name is one of Rust's legacy mangling: its last part is a
// hash, "17h0123456789abcdefE".
func isLegacyRust(name string) bool {
	name, ok := strings.CutSuffix(name, "E")
	at := len(name) - len(rustHash) - hashDigits
	return ok && at > 0 && name[at:at+len(rustHash)] == rustHash && isHash(name[at+len(rustHash):])
}

// hashDigits is how many digits Rust's hashes have.
const hashDigits = 16

// isHash reports whether a text has only the digits of Rust's hashes.
func isHash(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// dropRustHash removes "::h0123456789abcdef" from a name that was demangled before it was written
// to the symbol file.
func dropRustHash(s string) string {
	const before = "::h"
	at := len(s) - len(before) - hashDigits
	if at <= 0 || s[at:at+len(before)] != before || !isHash(s[at+len(before):]) {
		return s
	}
	return s[:at]
}
