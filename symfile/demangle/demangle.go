// Package demangle makes function names readable: those of the Itanium C++ ABI (Linux, macOS,
// Android, MinGW), of Rust, in its legacy and v0 manglings, of D, and of Swift 4 and later. Name
// returns other names as they are. Microsoft's names are the package msvc's.
//
// A library reads the names of C++. It reads those of Rust wrongly: in v0 where an empty identifier
// precedes a digit, as in a closure of a closure, and in the legacy mangling where an identifier begins
// with an underscore. So rust_v0.go and rust_legacy.go read them.
//
// Names come from untrusted files. Name limits the length of its input and output, and returns a
// name mangled if the library below panics on it.
package demangle

import (
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
)

const (
	// maxIn is the length in bytes of the longest name that Name demangles. On a crafted name the
	// library's time grows with the square of the length (65 ms at this limit natively, about 13
	// times that in wasm), and its recursion with the length. The longest names of real symbol
	// files are about half as long.
	maxIn = 8 << 10
	// maxOutPower limits the result to 2^maxOutPower bytes. With substitutions a result can be
	// exponential in the input. The longest names of rustc's own libraries have 10,119 bytes.
	maxOutPower = 14
	// MaxLen is the length in bytes of the longest result of Name. A longer name is cut and ends in
	// "…".
	MaxLen = 1<<maxOutPower + len(cutMark) + maxSuffix
	// maxSuffix limits the suffix after a demangled name.
	maxSuffix = 256
	cutMark   = "…"
)

// Name returns the readable form of a function's name. It shows compilers' suffixes as "[clone
// .cold]", those of Rust's v0 names as llvm-cxxfilt does, keeps a symbol's version and "@plt", and
// drops the hash of a legacy Rust name:
//
//	_ZN3foo3barEi.cold                       foo::bar(int) [clone .cold]
//	_RNvC3foo3bar.llvm.77                    foo::bar (.llvm.77)
//	_ZN3foo3bar17h0123456789abcdefE          foo::bar
//	$s3foo3baryySiF                          foo.bar(Swift.Int) -> ()
func Name(raw string) string {
	if len(raw) > maxIn || !looksMangled(raw) {
		return dropRustHash(cut(raw))
	}
	name, rest := raw, ""
	if at := strings.IndexByte(raw, '@'); at > 0 {
		// "name@plt", "name@@GLIBCXX_3.4": the linker's additions are not part of the mangled name.
		name, rest = raw[:at], raw[at:]
	}
	name = dropUnderscore(name)
	var readable, suffix string
	var ok bool
	switch {
	case strings.HasPrefix(name, "_R"):
		readable, suffix, ok = rustV0(name)
	case strings.HasPrefix(name, "_D"):
		readable, suffix, ok = dName(name)
	case isSwift(name):
		readable, ok = swiftName(name)
	default:
		if readable, suffix, ok = legacyRust(name); !ok {
			readable, ok = toString(name)
		}
	}
	if !ok {
		return cut(raw)
	}
	switch {
	case suffix == "":
	case strings.HasPrefix(name, "_R"):
		suffix = " (" + suffix + ")"
	default:
		suffix = " [clone " + suffix + "]"
	}
	if suffix += rest; len(suffix) > maxSuffix {
		suffix = ""
	}
	return cut(readable) + suffix
}

// looksMangled rejects most names that are not mangled, quickly: a mangled one begins with _Z, _R
// or _D, and up to three underscores more, or as Swift's.
func looksMangled(s string) bool {
	if len(s) < 3 || s[0] != '_' && s[0] != '$' && s[0] != '@' {
		return false
	}
	if isSwift(s) {
		return true
	}
	s = strings.TrimLeft(s, "_")
	return s != "" && (s[0] == 'Z' || s[0] == 'R' || s[0] == 'D')
}

// dropUnderscore removes the underscore that macOS puts before every symbol: "__ZN…" is the mangled
// name "_ZN…", and "____ZN…" is "___ZN…", the name of a block. Without that underscore a mangled
// name begins with one underscore, a block's with three.
func dropUnderscore(s string) string {
	if strings.HasPrefix(s, "__Z") || strings.HasPrefix(s, "____Z") || strings.HasPrefix(s, "__R") || strings.HasPrefix(s, "__D") {
		return s[1:]
	}
	return s
}

// toString demangles a name of C++. ok is false if the name is not mangled or broken, or the library
// fails.
func toString(name string) (s string, ok bool) {
	defer func() {
		if recover() != nil {
			s, ok = "", false
		}
	}()
	s, err := demangle.ToString(name, demangle.NoRust, demangle.MaxLength(maxOutPower))
	return s, err == nil && s != ""
}

// cut shortens a name to the limit, at the border of a character.
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
