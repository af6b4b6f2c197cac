// Package msvc demangles the names that Microsoft's C++ compilers and Clang for Windows write, and
// the decorations of C names on x86.
//
//	?foo@Bar@@QEAAXH@Z      Name: Bar::foo(int)
//	                        Full: public: void __cdecl Bar::foo(int)
//
//	?     a C++ name
//	foo@Bar@@   the name, innermost first: Bar::foo
//	QEAA  a public member function (Q) with a 64-bit this (E), not const (A), __cdecl (A)
//	X H@  returns void (X), takes int (H)
//	Z     no exception specification
//
// Name is the function for stacks, Full the one to compare with llvm-undname. A parser (parse.go,
// name.go, types.go, template.go, special.go) makes a tree of nodes (node.go), which a printer
// (print.go) writes. The letters and their meanings are in tables.go. Microsoft has no
// specification of the format; LLVM's MicrosoftMangle.cpp and MicrosoftDemangle.cpp describe it
// best.
//
// Names come from untrusted files. The package limits their length, their nesting and the length of
// the result: with back references a result can be exponential in the name.
package msvc

import (
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle"
)

// maxOut limits the result of Full in bytes. That of Name is limited by demangle.MaxLen.
const maxOut = 64 << 10

// Name is demangle.Name for Microsoft's names too: it returns the readable form of a function's
// name. It leaves out access, calling convention, return type, and words such as "class" before
// types, and shows a compiler's suffix as "[clone .cold]". If it cannot parse the function's type,
// it returns the name without it.
//
//	?foo@Bar@@QEAAXH@Z             Bar::foo(int)
//	__imp_?f@@YAXXZ                __declspec(dllimport) f()
//	__?f@@YAXXZ_block_invoke_2     invocation function for block in f()
//	?f@@YAXXZ.cold                 f() [clone .cold]
//	_read@12                       read
func Name(raw string) string {
	before, name := "", raw
	if rest, ok := strings.CutPrefix(raw, "__imp_"); ok && rest != "" {
		before, name = "__declspec(dllimport) ", rest
	} else if of, ok := blockOf(raw); ok {
		before, name = "invocation function for block in ", of
	}
	if !strings.HasPrefix(name, "?") || len(name) > maxIn {
		return limit(before+demangle.Name(undecorateC(name)), demangle.MaxLen)
	}
	p, symbol := read(name)
	if p.failed {
		if symbol = p.named; symbol == nil {
			return limit(before+name, demangle.MaxLen)
		}
		// The end of the type is unknown, so the rest cannot be a suffix.
		p.at = len(name)
	}
	suffix := ""
	if rest := p.rest(); rest != "" && len(rest) <= maxSuffix {
		if suffix = " [clone " + rest + "]"; strings.HasPrefix(rest, "::<!") {
			suffix = rest // the C++20 module that it belongs to
		}
	}
	return before + show(symbol, true, demangle.MaxLen-len(before)-len(suffix)) + suffix
}

// maxSuffix is the length in bytes of the longest suffix that Name shows.
const maxSuffix = 256

// Full returns the complete form of a decorated name, as llvm-undname writes it. ok is false if
// name is not a decorated name.
func Full(name string) (readable string, ok bool) {
	if len(name) > maxIn {
		return "", false
	}
	p, symbol := read(name)
	if p.failed {
		return "", false
	}
	return show(symbol, false, maxOut), true
}

// read parses a decorated name. Microsoft's compilers count an anonymous namespace as a back
// reference, Clang does not. If the name does not show which wrote it, read parses it in both ways
// and prefers Clang's.
func read(name string) (*parser, *node) {
	p := newParser(name)
	symbol := p.symbol()
	if p.repeated {
		clangs := newParser(name)
		clangs.clang = true
		if s := clangs.symbol(); !clangs.failed {
			return clangs, s
		}
	}
	return p, symbol
}

// show prints a node in the short or the complete form, cut to max bytes.
func show(n *node, short bool, max int) string {
	w := printer{short: short, limit: max - len(cutMark), out: make([]byte, 0, 128)}
	w.node(n)
	return string(w.out)
}

// limit cuts s to max bytes.
func limit(s string, max int) string {
	if len(s) <= max {
		return s
	}
	w := printer{limit: max - len(cutMark)}
	w.write(s)
	return string(w.out)
}

// blockOf returns the function or variable that contains a block. Clang names the block's code
// after it: "__?f@@YAXXZ_block_invoke_2" is the second block in f. Only a block in a function has
// the two underscores.
func blockOf(raw string) (name string, ok bool) {
	name, number, ok := strings.Cut(raw, "_block_invoke")
	if !ok || strings.Trim(number, "_0123456789") != "" {
		return "", false
	}
	name = strings.TrimLeft(name, "_")
	return name, strings.HasPrefix(name, "?")
}

// undecorateC removes the decoration of a C function's name on x86: "_name@8" (__stdcall),
// "@name@8" (__fastcall), "name@@8" (__vectorcall). The number is the size of the parameters in
// bytes. The underscore of __cdecl ("_name") stays, because other names begin with one too.
func undecorateC(raw string) string {
	digits := len(raw)
	for digits > 0 && isDigit(raw[digits-1]) {
		digits--
	}
	if digits == len(raw) || digits < 2 || raw[digits-1] != '@' {
		return raw
	}
	name := raw[:digits-1]
	switch {
	case raw[0] == '_' || raw[0] == '@':
		name = name[1:]
	case strings.HasSuffix(name, "@"):
		name = name[:len(name)-1]
	default:
		return raw
	}
	if name == "" || strings.ContainsAny(name, "@ ?(<") {
		return raw
	}
	return name
}
