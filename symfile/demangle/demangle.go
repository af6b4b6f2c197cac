// Package demangle makes the names of symbol files readable: Itanium C++ (all of Linux, macOS, Android, MinGW) and Rust, old
// and new. Names in other manglings (Swift, D) and names that are readable already come back as they are. So do Microsoft's, which
// the package msvc knows beside these.
//
// It is made for names out of files that nobody vouches for: what goes in and what comes out are bounded, and a panic of
// the library below is a name that stays mangled.
package demangle

import (
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

const (
	// maxIn is the longest name in bytes that is demangled. The library's time grows with the square of a crafted
	// name's length (65 ms at this limit natively, some 13 times that in wasm) and its recursion with the length. The
	// longest names seen in real symbol files are about half of it.
	maxIn = 8 << 10
	// maxOutPower bounds the result: 2 to its power bytes. Substitutions make it up to exponential in the input.
	maxOutPower = 13
	// MaxLen is the longest name in bytes that Name returns; a longer one is cut and ends in "…".
	MaxLen = 1<<maxOutPower + len(cutMark) + maxSuffix
	// maxSuffix bounds what is put behind a demangled name.
	maxSuffix = 256
	cutMark   = "…"
)

// Name gives the readable form of a function's name. Compilers' suffixes stay visible as "[clone .cold]", a symbol's
// version or "@plt" as it is; the hash of an old Rust name is dropped.
func Name(raw string) string {
	if len(raw) > maxIn || !looksMangled(raw) {
		return dropRustHash(cut(raw))
	}
	name, rest := raw, ""
	if at := strings.IndexByte(raw, '@'); at > 0 {
		// "name@plt", "name@@GLIBCXX_3.4": the linker's words, which the mangling knows nothing of.
		name, rest = raw[:at], raw[at:]
	}
	name = dropUnderscore(name)
	readable, ok := toString(name)
	if !ok {
		return cut(raw)
	}
	suffix := rustSuffix(name) + rest
	if len(suffix) > maxSuffix {
		suffix = ""
	}
	return cut(readable) + suffix
}

// looksMangled is a quick answer for the many names that are not.
func looksMangled(s string) bool {
	if len(s) < 3 || s[0] != '_' {
		return false
	}
	s = strings.TrimLeft(s, "_")
	return s != "" && (s[0] == 'Z' || s[0] == 'R')
}

// dropUnderscore takes off the underscore that macOS puts before every C name: "__ZN…" is "_ZN…", and "____ZN…", a block,
// is "___ZN…". Without it, three underscores are a block and one is an ordinary name.
func dropUnderscore(s string) string {
	if strings.HasPrefix(s, "__Z") || strings.HasPrefix(s, "____Z") || strings.HasPrefix(s, "__R") {
		return s[1:]
	}
	return s
}

// toString demangles; not ok says that the name is not mangled, broken, or too much for the library.
func toString(name string) (s string, ok bool) {
	defer func() {
		if recover() != nil {
			s, ok = "", false
		}
	}()
	s, err := demangle.ToString(name, demangle.MaxLength(maxOutPower))
	return s, err == nil && s != ""
}

// rustSuffix is the compiler's suffix of a Rust name, which the library drops where it keeps it for C++: " [clone .llvm.123]".
func rustSuffix(name string) string {
	end := -1
	if strings.HasPrefix(name, "_R") {
		end = strings.IndexByte(name, '.')
	} else if e := strings.LastIndex(name, "E."); e > 20 && name[e-19:e-16] == "17h" {
		end = e + 1
	}
	if end < 0 {
		return ""
	}
	return " [clone " + name[end:] + "]"
}

// dropRustHash takes "::h0123456789abcdef" off a name that was demangled before it came into the symbol file.
func dropRustHash(s string) string {
	const hash = len("::h0123456789abcdef")
	at := len(s) - hash
	if at <= 0 || s[at:at+3] != "::h" {
		return s
	}
	for _, c := range []byte(s[at+3:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return s
		}
	}
	return s[:at]
}

// cut shortens a name to the limit, between characters.
func cut(s string) string {
	const limit = 1 << maxOutPower
	if len(s) < limit {
		return s
	}
	end := limit
	for end > limit-utf8.UTFMax && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + cutMark
}
