package demangle

import (
	"fmt"
	"strconv"
	"strings"
)

// maxWork limits what reading a name of D costs: the elements read and the bytes written, with those
// that are read again. Back references, and texts that may be read in two ways, make that exponential
// in a crafted name. Names whose readable form has the length that Name shows take a tenth of it.
const maxWork = 16 << maxOutPower

// dName returns the readable form of a name of D without the compiler's suffix, and that suffix. ok is
// false if the name is broken.
//
// The grammar is in the D Language Specification, "Application Binary Interface", section "Name
// Mangling". Comments below name its rules. The form is the one that c++filt of binutils prints:
// without the type of a variable and without what a function returns.
func dName(name string) (readable, suffix string, ok bool) {
	if at := strings.IndexByte(name, '.'); at >= 0 {
		name, suffix = name[:at], name[at:]
	}
	if name == "_Dmain" {
		return "D main", suffix, true
	}
	p := dParser{scanner: scanner{in: name}, referring: len(name)}
	if p.thunk() {
		p.write("thunk to ")
		p.symbol()
	} else {
		p.mangledName()
	}
	if p.failed || p.at < len(p.in) || len(p.out) == 0 {
		return "", "", false
	}
	return string(p.out), suffix, true
}

// dParser reads a mangled name and writes it readable.
type dParser struct {
	scanner
	work int
	// referring is the offset of the back reference to a type that is being followed. One in what it
	// refers to is before it, so that none is followed for ever.
	referring int
	out       []byte
}

// spend adds to the work done, and fails where it is too much.
func (p *dParser) spend(n int) {
	if p.work += n; p.work > maxWork {
		p.fail()
	}
}

func (p *dParser) write(s string) {
	if p.spend(len(s)); !p.failed {
		p.out = append(p.out, s...)
	}
}

// capture calls read and returns what it wrote instead of showing it.
func (p *dParser) capture(read func()) string {
	start := len(p.out)
	read()
	s := string(p.out[start:])
	p.out = p.out[:start]
	return s
}

// nested is scanner.nested, and counts the element that read reads.
func (p *dParser) nested(read func()) {
	p.spend(1)
	p.scanner.nested(read)
}

// attempt calls read and reports whether it succeeded. If not, nothing was read or written.
func (p *dParser) attempt(read func()) bool {
	at, length := p.at, len(p.out)
	if read(); !p.failed {
		return true
	}
	p.at, p.out = at, p.out[:length]
	p.failed = p.work > maxWork
	return false
}

// list reads n elements and shows them with commas between them.
func (p *dParser) list(n int, element func()) {
	for i := 0; i < n && !p.failed; i++ {
		if i > 0 {
			p.write(", ")
		}
		element()
	}
}

// digits reads decimal digits, perhaps none.
func (p *dParser) digits() string {
	start := p.at
	for isDigit(p.peek()) {
		p.at++
	}
	return p.in[start:p.at]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads a Number of up to 32 bits.
func (p *dParser) number() int {
	n, err := strconv.ParseUint(p.digits(), 10, 32)
	if err != nil {
		p.fail()
	}
	return int(n)
}

// backRef reads a NumberBackRef after its "Q" and returns the offset to which it refers. The number is
// the distance from the "Q", in base 26: "A" to "Z" are digits, "a" to "z" are the last one.
func (p *dParser) backRef() int {
	tag, n := p.at-1, 0
	for {
		c := p.next()
		last := c >= 'a' && c <= 'z'
		if !last && (c < 'A' || c > 'Z') {
			p.fail()
			return 0
		}
		if n = n*26 + int(c|0x20-'a'); n > tag || last && n == 0 {
			p.fail()
			return 0
		}
		if last {
			return tag - n
		}
	}
}

// thunk reads what compilers write before the name of a function for the code that calls it through an
// interface: it subtracts a number of bytes from "this". The function's "_D" is left out in GDC's
// "_DThn16_3foo…"; LDC's is "_DTi16_D3foo…". c++filt and D's own library leave both mangled.
func (p *dParser) thunk() bool {
	return p.attempt(func() {
		switch {
		case p.accept("_DThn") && p.digits() != "" && p.accept("_"):
		case p.accept("_DTi") && p.digits() != "" && p.accept("_D"):
		default:
			p.fail()
		}
	})
}

// mangledName reads a MangledName = "_D" QualifiedName (Type | "Z").
func (p *dParser) mangledName() {
	if !p.accept("_D") {
		p.fail()
	}
	p.symbol()
}

// symbol reads a MangledName after its "_D". The type is not shown.
//
// Compilers also write "M" [TypeModifiers] "Q" NumberBackRef for the type of a function with a "this".
// Its parameters are shown, as they are without the reference. c++filt leaves such names mangled, the
// demangler of D's own library reads them.
func (p *dParser) symbol() {
	p.qualifiedName(true)
	switch {
	case p.accept("Z"):
	case p.accept("M"):
		modifiers := p.capture(p.typeModifiers)
		if !p.accept("Q") {
			p.fail()
		}
		p.typeBackRef(p.typeFunctionNoReturn)
		p.write(modifiers)
	default:
		p.capture(p.typ)
	}
}

// qualifiedName reads a QualifiedName: symbols; each may be a function with parameters.
//
//	QualifiedName = SymbolFunctionName [QualifiedName]
//	SymbolFunctionName = SymbolName [["M" [TypeModifiers]] TypeFunctionNoReturn]
//
// "M" says that the function has a "this", whose modifiers are shown if the flag is set.
func (p *dParser) qualifiedName(modifiers bool) {
	p.nested(func() {
		start := len(p.out)
		for n := 0; n == 0 || p.atSymbolName(); n++ {
			if p.accept("0") { // a symbol without a name
				continue
			}
			if len(p.out) > start {
				p.write(".")
			}
			p.symbolName(start)
			if c := p.peek(); c == 'M' || isCallConvention(c) {
				// If it is not a function, this is the type that follows.
				p.attempt(func() { p.functionNoReturn(modifiers) })
			}
		}
	})
}

// functionNoReturn reads ["M" [TypeModifiers]] TypeFunctionNoReturn, to which a type must follow.
func (p *dParser) functionNoReturn(modifiers bool) {
	this := ""
	if p.accept("M") {
		this = p.capture(p.typeModifiers)
	}
	p.typeFunctionNoReturn()
	if modifiers {
		p.write(this)
	}
	if p.at >= len(p.in) {
		p.fail()
	}
}

// typeFunctionNoReturn reads a TypeFunctionNoReturn = CallConvention {FuncAttr} {Parameter} ParamClose,
// and shows the parameters.
func (p *dParser) typeFunctionNoReturn() {
	p.capture(p.callConvention)
	p.capture(p.functionAttributes)
	p.parameters()
}

// atSymbolName reports whether a SymbolName is next.
func (p *dParser) atSymbolName() bool {
	if p.failed {
		return false
	}
	if isDigit(p.peek()) || p.atTemplate() {
		return true
	}
	at := p.at
	identifier := p.accept("Q") && isDigit(p.in[p.backRef()])
	p.at, p.failed = at, false
	return identifier
}

func (p *dParser) atTemplate() bool {
	return strings.HasPrefix(p.in[p.at:], "__T") || strings.HasPrefix(p.in[p.at:], "__U")
}

// symbolName reads a SymbolName of the qualified name whose text begins at start.
//
//	SymbolName = LName | TemplateInstanceName | "Q" NumberBackRef
//	LName = Number Name
//
// Before version 2.077 of the language a TemplateInstanceName had its length before it, too. A name
// "__S1" makes others unique and is not shown.
func (p *dParser) symbolName(start int) {
	switch {
	case p.failed:
		return
	case p.atTemplate():
		p.templateInstance()
		return
	case p.accept("Q"):
		to := p.backRef()
		after := p.at
		p.at = to
		name := p.lName()
		p.at = after
		p.showName(name, start)
		return
	}
	name := p.lName()
	switch {
	case p.failed:
	case len(name) >= 5 && (strings.HasPrefix(name, "__T") || strings.HasPrefix(name, "__U")):
		end := p.at
		p.at -= len(name)
		if p.templateInstance(); p.at != end {
			p.fail()
		}
	case len(name) >= 4 && strings.HasPrefix(name, "__S") && strings.Trim(name[3:], "0123456789") == "":
		p.nested(func() { p.symbolName(start) })
	default:
		p.showName(name, start)
	}
}

// lName reads an LName.
func (p *dParser) lName() string {
	n := p.number()
	if p.failed || n == 0 || n > len(p.in)-p.at {
		p.fail()
		return ""
	}
	p.at += n
	return p.in[p.at-n : p.at]
}

// compilerNames are names of data that the compiler makes for a symbol, with "Z" after them.
var compilerNames = map[string]string{
	"__init": "initializer for ", "__vtbl": "vtable for ", "__Class": "ClassInfo for ", "__Interface": "Interface for ",
	"__ModuleInfo": "ModuleInfo for ",
}

// showName writes an identifier of the qualified name whose text begins at start.
func (p *dParser) showName(name string, start int) {
	made := compilerNames[name]
	switch {
	case name == "__ctor":
		p.write("this")
	case name == "__dtor":
		p.write("~this")
	case name == "__postblit" && p.accept("MFZ"):
		p.write("this(this)")
	case made != "" && p.peek() == 'Z':
		symbol := strings.TrimSuffix(string(p.out[start:]), ".")
		p.out = p.out[:start]
		p.write(made + symbol)
	default:
		p.write(name)
	}
}

// templateInstance reads a TemplateInstanceName = ("__T" | "__U") SymbolName {TemplateArg} "Z".
func (p *dParser) templateInstance() {
	p.nested(func() {
		if p.at += len("__T"); !p.atSymbolName() || p.peek() == '0' {
			p.fail()
		}
		p.symbolName(len(p.out))
		p.write("!(")
		for n := 0; !p.failed && !p.accept("Z"); n++ {
			if n > 0 {
				p.write(", ")
			}
			p.templateArg()
		}
		p.write(")")
	})
}

// templateArg reads a TemplateArg.
//
//	TemplateArg = ["H"] TemplateArgX
//	TemplateArgX = "T" Type | "V" Type Value | "S" QualifiedName | "X" Number ExternallyMangledName
func (p *dParser) templateArg() {
	p.accept("H")
	switch p.next() {
	case 'T':
		p.typ()
	case 'V':
		kind := p.peek()
		if at := p.at; p.accept("Q") {
			kind = p.in[p.backRef()]
			p.at = at
		}
		name := p.capture(p.typ)
		p.value(name, kind)
	case 'S':
		p.symbolArg()
	case 'X':
		p.write(p.lName())
	default:
		p.fail()
	}
}

// symbolArg reads the symbol of a template's argument. Before version 2.077 it had its length before
// it, so that "S213std" is a name of 21 bytes that begins with "3std", and "S13foo" may be that of 1
// or 13 bytes, or "foo" without its length. The one that has its length is right.
func (p *dParser) symbolArg() {
	start := p.at
	length := p.digits()
	p.at = start
	if length == "" {
		if strings.HasPrefix(p.in[start:], "_D") {
			p.mangledName()
		} else {
			p.qualifiedName(false)
		}
		return
	}
	if len(length) > len("4294967295") || length[0] == '0' {
		p.fail()
		return
	}
	for n := len(length); n > 0; n-- {
		size, _ := strconv.Atoi(length[:n])
		if p.attempt(func() {
			from := start + n
			if p.at = from; p.atSymbolName() {
				p.qualifiedName(false)
			} else {
				p.mangledName()
			}
			if p.at != from+size {
				p.fail()
			}
		}) {
			return
		}
	}
	p.qualifiedName(false)
}

// value reads a Value of a type with a readable name, whose mangled form begins with kind.
//
//	Value = "n" | ["i"] Number | "N" Number | "e" HexFloat | "c" HexFloat "c" HexFloat
//	      | CharWidth Number "_" HexDigits
//	      | "A" Number {Value} | "S" Number {Value}
func (p *dParser) value(name string, kind byte) {
	p.nested(func() {
		// What a value is made of has no type.
		inner := func() { p.value("", 0) }
		switch c := p.next(); c {
		case 'n':
			p.write("null")
		case 'N':
			p.write("-")
			p.integer(kind)
		case 'i':
			p.integer(kind)
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			p.at--
			p.integer(kind)
		case 'e':
			p.hexFloat()
		case 'c':
			p.hexFloat()
			if !p.accept("c") {
				p.fail()
			}
			p.write("+")
			p.hexFloat()
			p.write("i")
		case 'a', 'w', 'd':
			p.text(c)
		case 'A':
			element := inner
			if kind == 'H' {
				element = func() { inner(); p.write(":"); inner() }
			}
			n := p.number()
			p.write("[")
			p.list(n, element)
			p.write("]")
		case 'S':
			n := p.number()
			p.write(name + "(")
			p.list(n, inner)
			p.write(")")
		default:
			p.fail()
		}
	})
}

// integerSuffixes has the letters after a number of a type.
var integerSuffixes = map[byte]string{'h': "u", 't': "u", 'k': "u", 'l': "L", 'm': "uL"}

// integer reads a number and shows it as one of a type.
func (p *dParser) integer(kind byte) {
	switch kind {
	case 'a', 'u', 'w':
		n := p.number()
		switch {
		case kind == 'a' && n >= ' ' && n <= '~':
			p.write("'" + string(rune(n)) + "'")
		case kind == 'a':
			p.write(fmt.Sprintf(`'\x%02x'`, n))
		case kind == 'u':
			p.write(fmt.Sprintf(`'\u%04x'`, n))
		default:
			p.write(fmt.Sprintf(`'\U%08x'`, n))
		}
	case 'b':
		p.write(strconv.FormatBool(p.number() != 0))
	default:
		digits := p.digits()
		if digits == "" {
			p.fail()
		}
		p.write(digits + integerSuffixes[kind])
	}
}

// hexFloat reads a HexFloat = "NAN" | "INF" | "NINF" | ["N"] HexDigits "P" ["N"] Number.
func (p *dParser) hexFloat() {
	switch {
	case p.accept("NAN"):
		p.write("NaN")
		return
	case p.accept("INF"):
		p.write("Inf")
		return
	case p.accept("NINF"):
		p.write("-Inf")
		return
	case p.accept("N"):
		p.write("-")
	}
	start := p.at
	for isHexDigit(p.peek()) {
		p.at++
	}
	digits := p.in[start:p.at]
	if digits == "" || !p.accept("P") {
		p.fail()
		return
	}
	p.write("0x" + digits[:1] + "." + digits[1:] + "p")
	if p.accept("N") {
		p.write("-")
	}
	p.write(p.digits())
}

func isHexDigit(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// text reads a string after its CharWidth, which is shown after it unless it is "a".
func (p *dParser) text(width byte) {
	n := p.number()
	if !p.accept("_") || n > (len(p.in)-p.at)/2 {
		p.fail()
		return
	}
	p.write(`"`)
	for ; n > 0; n-- {
		digits := p.in[p.at : p.at+2]
		c, err := strconv.ParseUint(digits, 16, 8)
		if err != nil {
			p.fail()
			return
		}
		p.at += 2
		p.write(showByte(byte(c), digits))
	}
	p.write(`"`)
	if width != 'a' {
		p.write(string(rune(width)))
	}
}

// showByte returns a byte of a string as it is written in a program. digits are its hexadecimal ones.
func showByte(c byte, digits string) string {
	switch c {
	case '\t':
		return `\t`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\f':
		return `\f`
	case '\v':
		return `\v`
	}
	if c >= ' ' && c <= '~' {
		return string(rune(c))
	}
	return `\x` + digits
}
