// Package msvc makes the names readable that Microsoft's C++ compilers, and Clang for Windows, decorate: "?foo@Bar@@QEAAXH@Z" is
// Bar::foo(int). It knows what x86's C compilers put around names as well.
//
// The names come out of files that nobody vouches for. How long a name may be, how deep things may be nested in it, and how long
// the answer may be is bounded: back references make the readable form up to exponential in the name.
package msvc

import (
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle"
)

// maxOut bounds the complete form in bytes, the short one is bounded by demangle.MaxLen.
const maxOut = 64 << 10

// Name is demangle.Name, which gives the readable form of a function's name, for Microsoft's names too. Of these it leaves out
// access, calling convention, what the function returns, and words like "class" before types. A compiler's suffix stays visible
// as "[clone .cold]". Of a name whose type is not understood, it gives the name without it.
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
		// Where the type ends is not known, so neither is what follows it.
		p.at = len(name)
	}
	suffix := ""
	if rest := p.rest(); rest != "" && len(rest) <= maxSuffix {
		if suffix = " [clone " + rest + "]"; strings.HasPrefix(rest, "::<!") {
			suffix = rest // the module that it belongs to
		}
	}
	return before + show(symbol, true, demangle.MaxLen-len(before)-len(suffix)) + suffix
}

// maxSuffix is the longest suffix in bytes that is shown.
const maxSuffix = 256

// Full gives the complete form of a decorated name, as llvm-undname writes it. Not ok says that the name is not one.
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

func show(n *node, short bool, max int) string {
	w := printer{short: short, limit: max - len(cutMark), out: make([]byte, 0, 128)}
	w.node(n)
	return string(w.out)
}

func limit(s string, max int) string {
	if len(s) <= max {
		return s
	}
	w := printer{limit: max - len(cutMark)}
	w.write(s)
	return string(w.out)
}

// blockOf is the function or variable that a block is in, whose code Clang calls by that name and "_block_invoke", maybe with a
// number behind it, and two underscores before it if it is in a function.
func blockOf(raw string) (name string, ok bool) {
	name, number, ok := strings.Cut(raw, "_block_invoke")
	if !ok || strings.Trim(number, "_0123456789") != "" {
		return "", false
	}
	name = strings.TrimLeft(name, "_")
	return name, strings.HasPrefix(name, "?")
}

// undecorateC takes off what x86's C compilers put around a function's name: "_name@8" (__stdcall), "@name@8" (__fastcall),
// "name@@8" (__vectorcall), where the number is how many bytes its parameters take. The underscore alone, of __cdecl, stays: other
// names begin with one too.
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
