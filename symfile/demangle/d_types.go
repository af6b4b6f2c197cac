package demangle

import "strings"

// Types in the names of D: https://dlang.org/spec/abi.html#type_mangling

var dBasicTypes = map[byte]string{
	'v': "void", 'g': "byte", 'h': "ubyte", 's': "short", 't': "ushort", 'i': "int", 'k': "uint", 'l': "long", 'm': "ulong",
	'f': "float", 'd': "double", 'e': "real", 'o': "ifloat", 'p': "idouble", 'j': "ireal", 'q': "cfloat", 'r': "cdouble",
	'c': "creal", 'b': "bool", 'a': "char", 'u': "wchar", 'w': "dchar", 'n': "typeof(null)",
}

// typ reads a type.
//
//	Type = TypeBasic
//	     | "O" Type | "x" Type | "y" Type | "Ng" Type  shared, const, immutable, inout
//	     | "Nh" Type                                   vector
//	     | "Nn"                                        noreturn
//	     | "A" Type | "G" Number Type | "H" Type Type  T[], T[n], V[K]
//	     | "P" Type                                    T*
//	     | TypeFunction
//	     | ("C" | "S" | "E" | "T") QualifiedName       class, struct, enum, typedef
//	     | "D" [TypeModifiers] TypeFunction            delegate
//	     | "B" Number {Type}                           tuple
//	     | "Q" NumberBackRef
func (p *dParser) typ() { p.nested(p.typeHere) }

func (p *dParser) typeHere() {
	tag := p.next()
	if name := dBasicTypes[tag]; name != "" {
		p.write(name)
		return
	}
	switch tag {
	case 'O':
		p.wrapped("shared")
	case 'x':
		p.wrapped("const")
	case 'y':
		p.wrapped("immutable")
	case 'N':
		switch p.next() {
		case 'g':
			p.wrapped("inout")
		case 'h':
			p.wrapped("__vector")
		case 'n':
			p.write("typeof(*null)")
		default:
			p.fail()
		}
	case 'z':
		switch p.next() {
		case 'i':
			p.write("cent")
		case 'k':
			p.write("ucent")
		default:
			p.fail()
		}
	case 'A':
		p.typ()
		p.write("[]")
	case 'G':
		n := p.digits()
		p.typ()
		p.write("[" + n + "]")
	case 'H':
		key := p.capture(p.typ)
		p.typ()
		p.write("[" + key + "]")
	case 'P':
		if !isCallConvention(p.peek()) {
			p.typ()
			p.write("*")
			return
		}
		p.functionPointer()
	case 'C', 'S', 'E', 'T':
		p.qualifiedName(false)
	case 'D':
		p.delegate()
	case 'B':
		n := p.number()
		p.write("Tuple!(")
		p.list(n, p.typ)
		p.write(")")
	case 'Q':
		p.typeBackRef(p.typ)
	default:
		p.at--
		p.functionPointer()
	}
}

// wrapped reads a type and shows it as an argument of word.
func (p *dParser) wrapped(word string) {
	p.write(word + "(")
	p.typ()
	p.write(")")
}

// typeBackRef follows a back reference to a type after its "Q".
func (p *dParser) typeBackRef(read func()) {
	tag, before := p.at-1, p.referring
	if tag >= before {
		p.fail()
	}
	to := p.backRef()
	if p.failed {
		return
	}
	after := p.at
	p.at, p.referring = to, tag
	read()
	p.at, p.referring = after, before
}

func (p *dParser) functionPointer() {
	p.function()
	p.write("function")
}

func (p *dParser) delegate() {
	modifiers := p.capture(p.typeModifiers)
	if p.accept("Q") {
		p.typeBackRef(p.function)
	} else {
		p.function()
	}
	p.write("delegate" + modifiers)
}

// function reads a TypeFunction = CallConvention {FuncAttr} {Parameter} ParamClose Type, and shows it
// as "extern(C) void(int) nothrow ".
func (p *dParser) function() {
	p.nested(func() {
		p.callConvention()
		attributes := p.capture(p.functionAttributes)
		parameters := p.capture(p.parameters)
		p.typ()
		p.write(parameters + " " + attributes)
	})
}

var callConventions = map[byte]string{
	'F': "", 'U': "extern(C) ", 'W': "extern(Windows) ", 'V': "extern(Pascal) ", 'R': "extern(C++) ", 'Y': "extern(Objective-C) ",
}

func isCallConvention(c byte) bool {
	_, ok := callConventions[c]
	return ok
}

// callConvention reads a CallConvention.
func (p *dParser) callConvention() {
	convention, ok := callConventions[p.next()]
	if !ok {
		p.fail()
	}
	p.write(convention)
}

// typeModifiers reads [TypeModifiers]: {"O" | "Ng"} ["x" | "y"].
func (p *dParser) typeModifiers() {
	for {
		switch {
		case p.accept("x"):
			p.write(" const")
			return
		case p.accept("y"):
			p.write(" immutable")
			return
		case p.accept("O"):
			p.write(" shared")
		case p.accept("Ng"):
			p.write(" inout")
		default:
			return
		}
	}
}

var dAttributes = map[byte]string{
	'a': "pure ", 'b': "nothrow ", 'c': "ref ", 'd': "@property ", 'e': "@trusted ", 'f': "@safe ", 'i': "@nogc ", 'j': "return ",
	'l': "scope ", 'm': "@live ",
}

// functionAttributes reads {FuncAttr}. "Ng", "Nh", "Nk" and "Nn" begin a parameter.
func (p *dParser) functionAttributes() {
	for p.accept("N") {
		c := p.peek()
		if strings.IndexByte("ghkn", c) >= 0 {
			p.at--
			return
		}
		attribute, ok := dAttributes[c]
		if !ok {
			p.fail()
			return
		}
		p.at++
		p.write(attribute)
	}
}

// parameters reads {Parameter} ParamClose, and shows them in parentheses.
//
//	Parameter = {"M" | "Nk"} ["I" ["K"] | "J" | "K" | "L"] Type
//	ParamClose = "X" | "Y" | "Z"
func (p *dParser) parameters() {
	p.write("(")
	for n := 0; !p.failed; n++ {
		switch {
		case p.accept("X"):
			p.write("...)")
			return
		case p.accept("Y"):
			if n > 0 {
				p.write(", ")
			}
			p.write("...)")
			return
		case p.accept("Z"):
			p.write(")")
			return
		}
		if n > 0 {
			p.write(", ")
		}
		p.parameter()
	}
}

func (p *dParser) parameter() {
	for reading := true; reading; {
		switch {
		case p.accept("M"):
			p.write("scope ")
		case p.accept("Nk"): // before "M" since version 2.098, which c++filt leaves mangled
			p.write("return ")
		default:
			reading = false
		}
	}
	switch {
	case p.accept("I"):
		p.write("in ")
		if p.accept("K") {
			p.write("ref ")
		}
	case p.accept("J"):
		p.write("out ")
	case p.accept("K"):
		p.write("ref ")
	case p.accept("L"):
		p.write("lazy ")
	}
	p.typ()
}
