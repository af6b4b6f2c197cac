package demangle

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rustV0 returns the readable form of a name of Rust's v0 mangling without its vendor-specific
// suffix, and that suffix. ok is false if the name is broken.
//
// The grammar is RFC 2603, "Symbol grammar summary", kept up to date in the rustc book as "v0 Symbol
// Format". Comments below name its rules. The form is the one that llvm-cxxfilt prints: crates
// without their disambiguators, types without the path of their impl.
func rustV0(name string) (readable, suffix string, ok bool) {
	mangled := strings.TrimPrefix(name, "_R")
	// <vendor-specific-suffix> = ("." | "$") {<byte>}
	if at := strings.IndexAny(mangled, ".$"); at >= 0 {
		mangled, suffix = mangled[:at], mangled[at:]
	}
	p := rustParser{scanner: scanner{in: mangled}, referred: make([]bool, len(mangled))}
	// <symbol-name> = "_R" [<decimal-number>] <path> [<instantiating-crate>]. No version has a
	// number yet, so a name with one is unknown.
	p.path(expression, false)
	if p.at < len(p.in) {
		p.silent(func() { p.path(expression, false) })
	}
	if p.failed || p.at < len(p.in) || p.out.Len() == 0 {
		return "", "", false
	}
	return p.out.String(), suffix, true
}

// rustParser reads a mangled name and writes it readable.
type rustParser struct {
	scanner // of the name without "_R"; a backref counts from its start
	// bound is the number of lifetimes that the binders around this position have.
	bound uint64
	// referred has true at the start of each element that is being read for a backref. An element
	// that refers to itself has no end.
	referred []bool
	// quiet: what is read is not shown. Then backrefs are not followed, so that reading the rest of
	// a name costs no more than its length.
	quiet bool
	out   strings.Builder
}

// context says where a path is: in an expression "::" precedes its generic arguments.
type context bool

const (
	expression context = false
	inType     context = true
)

// write shows text. A result that is long enough makes the rest of the name quiet.
func (p *rustParser) write(s string) {
	if p.quiet || p.failed {
		return
	}
	p.out.WriteString(s)
	if p.out.Len() > 1<<maxOutPower {
		p.quiet = true
	}
}

// silent calls read without showing what it reads.
func (p *rustParser) silent(read func()) {
	before := p.quiet
	p.quiet = true
	read()
	p.quiet = before
}

// list reads elements up to "E", shows them with a separator, and returns how many there are.
func (p *rustParser) list(separator string, element func()) int {
	n := 0
	for !p.failed && !p.accept("E") {
		if n++; n > 1 {
			p.write(separator)
		}
		element()
	}
	return n
}

// backref reads a <backref> = "B" <base-62-number> after its tag, and reads the element before it
// to which it refers.
func (p *rustParser) backref(read func()) {
	tag := p.at - 1
	to := p.base62()
	if to >= uint64(tag) || p.referred[to] {
		p.fail()
	}
	if p.failed || p.quiet {
		return
	}
	after := p.at
	p.at = int(to)
	p.referred[to] = true
	read()
	p.referred[to] = false
	p.at = after
}

// path reads a path and reports whether it left a list of generic arguments open, which it does if
// leaveOpen is set: a trait's associated types go into the same list.
//
//	<path> = "C" <identifier>                     crate root
//	       | "M" <impl-path> <type>               <T>, an inherent impl
//	       | "X" <impl-path> <type> <path>        <T as Trait>, a trait's impl
//	       | "Y" <type> <path>                    <T as Trait>, a trait's definition
//	       | "N" <namespace> <path> <identifier>  …::name
//	       | "I" <path> {<generic-arg>} "E"       …<T, U>
//	       | <backref>
//	<impl-path> = [<disambiguator>] <path>
func (p *rustParser) path(in context, leaveOpen bool) (open bool) {
	p.nested(func() { open = p.pathHere(in, leaveOpen) })
	return open
}

func (p *rustParser) pathHere(in context, leaveOpen bool) (open bool) {
	switch tag := p.next(); tag {
	case 'C':
		p.disambiguator()
		p.write(p.identifier())
	case 'M', 'X', 'Y':
		if tag != 'Y' {
			p.silent(func() {
				p.disambiguator()
				p.path(in, false)
			})
		}
		p.write("<")
		p.typ()
		if tag != 'M' {
			p.write(" as ")
			p.path(inType, false)
		}
		p.write(">")
	case 'N':
		p.nestedPath(in)
	case 'I':
		p.path(in, false)
		if in == expression {
			p.write("::")
		}
		p.write("<")
		p.list(", ", p.genericArg)
		if leaveOpen {
			return true
		}
		p.write(">")
	case 'B':
		p.backref(func() { open = p.path(in, leaveOpen) })
		return open
	default:
		p.fail()
	}
	return false
}

// nestedPath reads a nested path after its tag. An upper-case namespace is shown:
// "{closure:name#0}".
//
//	<namespace> = "C"    closure
//	            | "S"    shim
//	            | <A-Z>  others that are shown
//	            | <a-z>  the compiler's own
func (p *rustParser) nestedPath(in context) {
	namespace := p.next()
	p.path(in, false)
	number := p.disambiguator()
	name := p.identifier()
	switch {
	case namespace >= 'A' && namespace <= 'Z':
		kind := string(namespace)
		switch namespace {
		case 'C':
			kind = "closure"
		case 'S':
			kind = "shim"
		}
		if name != "" {
			name = ":" + name
		}
		p.write(fmt.Sprintf("::{%s%s#%d}", kind, name, number))
	case namespace < 'a' || namespace > 'z':
		p.fail()
	case name != "":
		p.write("::" + name)
	}
}

// genericArg reads a <generic-arg> = <lifetime> | <type> | "K" <const>.
func (p *rustParser) genericArg() {
	switch {
	case p.accept("L"):
		p.lifetime(p.base62())
	case p.accept("K"):
		p.constant()
	default:
		p.typ()
	}
}

// disambiguator reads a [<disambiguator>] = ["s" <base-62-number>].
func (p *rustParser) disambiguator() uint64 { return p.optionalBase62("s") }

// identifier reads an <undisambiguated-identifier> = ["u"] <decimal-number> ["_"] <bytes>. "u" says
// that the bytes are Punycode.
func (p *rustParser) identifier() string {
	encoded := p.accept("u")
	length := p.decimal()
	p.accept("_")
	if p.failed || length > len(p.in)-p.at {
		p.fail()
		return ""
	}
	name := p.in[p.at : p.at+length]
	p.at += length
	for i := range len(name) {
		if c := name[i]; c < utf8.RuneSelf && c != '_' && base62Digit(c) < 0 {
			p.fail()
			return ""
		}
	}
	if encoded {
		readable, ok := decodePunycode(name, 0)
		if !ok {
			p.fail()
		}
		return readable
	}
	return name
}

// decimal reads a <decimal-number> = "0" | <non-zero-digit> {<digit>}. A digit after "0" belongs to
// what follows: "00" is two empty identifiers.
func (p *rustParser) decimal() int {
	c := p.next()
	if c < '0' || c > '9' {
		p.fail()
		return 0
	}
	n := int(c - '0')
	for n > 0 && p.peek() >= '0' && p.peek() <= '9' {
		if n = n*10 + int(p.next()-'0'); n > len(p.in) {
			p.fail()
			return 0
		}
	}
	return n
}

// base62 reads a <base-62-number> = {<0-9a-zA-Z>} "_". "_" is 0, "0_" is 1.
func (p *rustParser) base62() uint64 {
	if p.accept("_") {
		return 0
	}
	n := uint64(0)
	for {
		c := p.next()
		if c == '_' && n+1 != 0 {
			return n + 1
		}
		high, low := bits.Mul64(n, 62)
		digit := base62Digit(c)
		if p.failed || digit < 0 || high != 0 || low+uint64(digit) < low {
			p.fail()
			return 0
		}
		n = low + uint64(digit)
	}
}

// base62Digit returns the value of a digit, or -1.
func base62Digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 36
	}
	return -1
}

// optionalBase62 reads a number that may follow a tag: 0 without the tag, and with it one more than
// the number.
func (p *rustParser) optionalBase62(tag string) uint64 {
	if !p.accept(tag) {
		return 0
	}
	n := p.base62() + 1
	if n == 0 {
		p.fail()
	}
	return n
}

var basicTypes = map[byte]string{
	'a': "i8", 'b': "bool", 'c': "char", 'd': "f64", 'e': "str", 'f': "f32", 'h': "u8", 'i': "isize", 'j': "usize", 'l': "i32",
	'm': "u32", 'n': "i128", 'o': "u128", 'p': "_", 's': "i16", 't': "u16", 'u': "()", 'v': "...", 'x': "i64", 'y': "u64", 'z': "!",
}

// typ reads a type.
//
//	<type> = <basic-type>
//	       | <path>                      a named type
//	       | "A" <type> <const>          [T; N]
//	       | "S" <type>                  [T]
//	       | "T" {<type>} "E"            (T1, T2)
//	       | "R" [<lifetime>] <type>     &T
//	       | "Q" [<lifetime>] <type>     &mut T
//	       | "P" <type>                  *const T
//	       | "O" <type>                  *mut T
//	       | "F" <fn-sig>                fn(…) -> …
//	       | "D" <dyn-bounds> <lifetime> dyn Trait<Assoc = X> + Send + 'a
//	       | <backref>
func (p *rustParser) typ() { p.nested(p.typeHere) }

func (p *rustParser) typeHere() {
	tag := p.next()
	if name := basicTypes[tag]; name != "" {
		p.write(name)
		return
	}
	switch tag {
	case 'A', 'S':
		p.write("[")
		p.typ()
		if tag == 'A' {
			p.write("; ")
			p.constant()
		}
		p.write("]")
	case 'T':
		p.write("(")
		if p.list(", ", p.typ) == 1 {
			p.write(",")
		}
		p.write(")")
	case 'R', 'Q':
		p.write("&")
		p.erasableLifetime("", " ")
		if tag == 'Q' {
			p.write("mut ")
		}
		p.typ()
	case 'P':
		p.write("*const ")
		p.typ()
	case 'O':
		p.write("*mut ")
		p.typ()
	case 'F':
		p.function()
	case 'D':
		p.dynType()
	case 'B':
		p.backref(p.typ)
	default:
		if !p.failed {
			p.at--
			p.path(inType, false)
		}
	}
}

// function reads a <fn-sig> = [<binder>] ["U"] ["K" <abi>] {<type>} "E" <type>, in which
// <abi> = "C" | <undisambiguated-identifier>, with underscores for dashes.
func (p *rustParser) function() {
	bound := p.bound
	p.binder()
	if p.accept("U") {
		p.write("unsafe ")
	}
	if p.accept("K") {
		abi := "C"
		if !p.accept("C") {
			if p.peek() == 'u' {
				p.fail()
			}
			abi = strings.ReplaceAll(p.identifier(), "_", "-")
		}
		p.write(`extern "` + abi + `" `)
	}
	p.write("fn(")
	p.list(", ", p.typ)
	p.write(")")
	if !p.accept("u") { // the unit type
		p.write(" -> ")
		p.typ()
	}
	p.bound = bound
}

// dynType reads a trait object after its tag.
//
//	<dyn-bounds> = [<binder>] {<dyn-trait>} "E"
//	<dyn-trait> = <path> {<dyn-trait-assoc-binding>}
//	<dyn-trait-assoc-binding> = "p" <undisambiguated-identifier> (<type> | "K" <const>)
func (p *rustParser) dynType() {
	bound := p.bound
	p.write("dyn ")
	p.binder()
	p.list(" + ", func() {
		open := p.path(inType, true)
		for p.accept("p") {
			if open {
				p.write(", ")
			} else {
				p.write("<")
			}
			open = true
			p.write(p.identifier() + " = ")
			if p.accept("K") {
				p.constant()
			} else {
				p.typ()
			}
		}
		if open {
			p.write(">")
		}
	})
	p.bound = bound
	if p.peek() != 'L' {
		p.fail()
	}
	p.erasableLifetime(" + ", "")
}

// binder reads a [<binder>] = ["G" <base-62-number>]: for<'a, 'b>.
func (p *rustParser) binder() {
	n := p.optionalBase62("G")
	if n == 0 || p.failed {
		return
	}
	// Each lifetime is used somewhere in the name, so there are fewer than bytes.
	if n >= uint64(len(p.in))-p.bound {
		p.fail()
		return
	}
	p.write("for<")
	for i := range n {
		if i > 0 {
			p.write(", ")
		}
		p.bound++
		p.lifetime(1)
	}
	p.write("> ")
}

// erasableLifetime reads a [<lifetime>] = ["L" <base-62-number>], and shows it between two texts
// unless it is 0, an erased one.
func (p *rustParser) erasableLifetime(before, after string) {
	if !p.accept("L") {
		return
	}
	if index := p.base62(); index > 0 {
		p.write(before)
		p.lifetime(index)
		p.write(after)
	}
}

// lifetime shows a lifetime. An index counts from the innermost bound lifetime outwards, the shown
// letter from the outermost inwards.
func (p *rustParser) lifetime(index uint64) {
	switch level := p.bound - index; {
	case index == 0:
		p.write("'_")
	case index > p.bound:
		p.fail()
	case level < 26:
		p.write("'" + string(rune('a'+level)))
	default:
		p.write("'z" + strconv.FormatUint(level-26+1, 10))
	}
}

// constant reads a constant.
//
//	<const> = <type> <const-data> | "p" | <backref>
//	<const-data> = ["n"] {<hex-digit>} "_"
func (p *rustParser) constant() { p.nested(p.constantHere) }

func (p *rustParser) constantHere() {
	switch tag := p.next(); tag {
	case 'p':
		p.write("_")
	case 'B':
		p.backref(p.constant)
	case 'a', 's', 'l', 'x', 'n', 'i', 'h', 't', 'm', 'y', 'o', 'j':
		if strings.IndexByte("aslxni", tag) >= 0 && p.accept("n") {
			p.write("-")
		}
		digits, value := p.hex()
		if len(digits) > 16 {
			p.write("0x" + digits)
		} else {
			p.write(strconv.FormatUint(value, 10))
		}
	case 'b':
		switch digits, _ := p.hex(); digits {
		case "0":
			p.write("false")
		case "1":
			p.write("true")
		default:
			p.fail()
		}
	case 'c':
		digits, value := p.hex()
		if len(digits) > 6 {
			p.fail()
		}
		p.write("'" + showChar(value) + "'")
	default:
		p.fail()
	}
}

// hex reads hexadecimal digits up to "_". Zero is "0", and other numbers do not begin with 0. The
// value counts if there are at most 16 digits.
func (p *rustParser) hex() (digits string, value uint64) {
	start := p.at
	for c := p.next(); c != '_' && !p.failed; c = p.next() {
		digit := base62Digit(c)
		if digit < 0 || digit > 15 {
			p.fail()
		}
		value = value<<4 | uint64(digit)
	}
	if p.failed {
		return "", 0
	}
	digits = p.in[start : p.at-1]
	if digits == "" || digits[0] == '0' && digits != "0" {
		p.fail()
	}
	return digits, value
}

// showChar returns a character as it is written in a Rust program.
func showChar(value uint64) string {
	switch value {
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	case '\n':
		return `\n`
	case '\\', '\'':
		return `\` + string(rune(value))
	}
	if value >= ' ' && value <= '~' {
		return string(rune(value))
	}
	return fmt.Sprintf(`\u{%x}`, value)
}
