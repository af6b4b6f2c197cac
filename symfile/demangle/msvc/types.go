package msvc

import "strconv"

// qualifierMode says how a type's own const and volatile are mangled. It depends on the use of the
// type.
type qualifierMode uint8

const (
	unqualified     qualifierMode = iota // not at all: parameters, variables
	qualifiedResult                      // after a "?", if any: return types
	qualifiedAlways                      // always: types that a pointer points to
)

// typ reads a type with its qualifiers.
func (p *parser) typ(w qualifierMode) *node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	var q quals
	if w == qualifiedAlways || w == qualifiedResult && p.take("?") {
		q = p.qualifiers() &^ isMember
	}
	if p.failed {
		return nil
	}
	t := p.plainType()
	if p.failed {
		return nil
	}
	t.quals |= q
	return t
}

// plainType reads a type without its own qualifiers. The first letter says which kind of type it
// is.
func (p *parser) plainType() *node {
	switch c := p.peek(); {
	case byLetter(&tags, c) != "":
		return p.taggedType()
	case byLetter(&pointers, c).text != "" || p.starts("$$Q") || p.starts("$$R"):
		return p.pointerType()
	case c == 'Y':
		return p.arrayType()
	// A function type that is no pointer's, as of a template argument: with qualifiers of this, and
	// without.
	case p.take("$$A8@@"):
		return p.functionType(true)
	case p.take("$$A6"):
		return p.functionType(false)
	case p.take("$$T"):
		return p.add(primitive, "std::nullptr_t", nil)
	case p.take("?"):
		// A type with only a name, such as that of "auto".
		id := p.typeIdentifier()
		p.expect("@")
		return p.add(custom, "", id)
	}
	return p.primitiveType()
}

// primitiveType reads a built-in type: one letter, or "_" and a letter. H is int, _N bool, _W
// wchar_t.
func (p *parser) primitiveType() *node {
	start := p.at
	p.take("_")
	p.next()
	text := primitiveTypes[p.in[start:p.at]]
	if text == "" {
		return p.fail()
	}
	return p.add(primitive, text, nil)
}

// taggedType reads a class, struct, union or enum. The digit of an enum is its underlying type:
// "W4Color@@" is enum Color : int.
func (p *parser) taggedType() *node {
	letter := p.next()
	if letter == 'W' {
		if c := p.next(); c < '0' || c > '7' {
			return p.fail()
		}
	}
	return p.add(tagged, byLetter(&tags, letter), p.typeName())
}

// qualifiers reads the letter of const and volatile.
func (p *parser) qualifiers() quals {
	q := byLetter(&qualifiers, p.next())
	if !q.known {
		p.failed = true
	}
	return q.q
}

// extendedQualifiers reads the qualifiers of Microsoft's compilers for pointers and for this: E
// (__ptr64), I (__restrict), F (__unaligned). If handle is not nil, it is set to the letter or
// number of a managed pointer of C++/CLI.
func (p *parser) extendedQualifiers(handle *string) (q quals) {
	p.take("E") // 64 bits
	if p.take("I") {
		q |= isRestrict
	}
	if p.take("F") {
		q |= isUnaligned
	}
	if p.peek() == '$' && p.at+1 < len(p.in) {
		switch c := p.in[p.at+1]; {
		case c >= 'A' && c <= 'C':
			p.at += 2
			if handle != nil {
				*handle = string(c)
			}
		case isDigit(c) && handle != nil && p.at+2 < len(p.in):
			// The number of dimensions of a cli::array, two hexadecimal digits.
			*handle = p.in[p.at+1 : p.at+3]
			p.at += 3
		}
	}
	return q
}

// pointerType reads a pointer or reference, also one to a function or to a member:
//
//	PEAH       int *                   (P pointer, E 64 bits, A not const, H int)
//	P6AXH@Z    void (__cdecl *)(int)
//	PEQFoo@@H  int Foo::*
func (p *parser) pointerType() *node {
	n := p.add(pointer, "", nil)
	if p.take("$$Q") {
		n.text = "&&"
	} else if p.take("$$R") {
		n.text, n.quals = "&&", isVolatile
	} else {
		by := byLetter(&pointers, p.next())
		n.text, n.quals = by.text, by.q
	}
	if p.take("6") {
		n.inner = p.functionType(false)
		return n
	}
	if p.take("_E") { // Clang's block
		n.text, n.inner = "^", p.functionType(false)
		return n
	}
	var handle string
	n.quals |= p.extendedQualifiers(&handle)
	if p.take("__ptrauth") {
		n.source = "__ptrauth(" + p.decimal() + ", " + p.decimal() + ", " + p.decimal() + ")"
	}
	// A pointer to a member function: the class, then the function's type.
	if n.text == "*" && p.take("8") {
		n.name = p.typeName()
		n.inner = p.functionType(true)
		return n
	}
	q := p.qualifiers()
	// A pointer to a data member: the letters Q to T are the qualifiers A to D with a class.
	if n.text == "*" && q&isMember != 0 {
		n.name = p.typeName()
		if n.inner = p.typ(unqualified); !p.failed {
			n.inner.quals = q &^ isMember
		}
		return n
	}
	if n.inner = p.typ(unqualified); p.failed {
		return nil
	}
	n.inner.quals |= q &^ isMember
	switch {
	// C++/CLI: % is a tracking reference, ^ a handle.
	case handle == "":
	case handle == "C" || n.text == "&":
		n.text = "%"
	case handle == "A" || handle == "B":
		n.text = "^"
	default:
		n.text = "^"
		n.inner = p.add(managed, handle, n.inner)
	}
	return n
}

// arrayType reads an array: "Y", the number of dimensions, the dimensions, the type.
//
// Example: "Y112H" is int[2][3]: two dimensions (1), of 2 (1) and 3 (2), since the digits count
// from 1.
func (p *parser) arrayType() *node {
	p.expect("Y")
	rank, negative := p.number()
	if negative || rank == 0 {
		return p.fail()
	}
	from := len(p.stack)
	for range rank {
		size := p.unsigned()
		if p.failed {
			return nil
		}
		d := p.add(literal, "", nil)
		// An array of unknown size is "[]".
		if size != 0 {
			d.text = strconv.FormatUint(size, 10)
		}
		p.stack = append(p.stack, d)
	}
	n := p.add(array, "", nil)
	n.list = p.list(from)
	if p.take("$$C") {
		if n.quals = p.qualifiers(); n.quals&isMember != 0 {
			return p.fail()
		}
	}
	n.inner = p.typ(unqualified)
	return n
}

// convention reads a calling convention.
func (p *parser) convention() string { return byLetter(&conventions, p.next()) }

// functionType reads a function's type in a pointer or template argument.
func (p *parser) functionType(ofMember bool) *node {
	s := p.signature(ofMember)
	n := p.symbolOf(functionType, nil, s)
	n.quals = s.quals
	return n
}

// signature reads a function's type. That of a member function begins with the qualifiers of this.
//
// Example: "EAAXH@Z" with ofMember is a 64-bit this (E) that is not const (A), __cdecl (A), void
// (X), the parameter int (H).
func (p *parser) signature(ofMember bool) *signature {
	s := &signature{}
	if ofMember {
		s.quals = p.extendedQualifiers(nil)
		if p.take("G") {
			s.ref = " &"
		} else if p.take("H") {
			s.ref = " &&"
		}
		s.quals |= p.qualifiers()
	}
	s.convention = p.convention()
	if !p.take("@") { // constructors have no return type, and some lambdas' operator() does not state it
		s.result = p.typ(qualifiedResult)
	}
	p.parameters(s)
	if s.noexcept = p.take("_E"); !s.noexcept {
		p.expect("Z")
	}
	return s
}

// parameters reads a function's parameters, up to "@", or "Z" for "...". A digit refers to an
// earlier parameter: the first ten whose mangled form has more than one letter are numbered from 0.
//
// Example: in "VFoo@@H0@Z" the parameters are Foo, int and, by the 0, Foo again.
func (p *parser) parameters(s *signature) {
	if p.failed {
		return
	}
	if p.take("X") {
		s.void = true
		return
	}
	s.this = p.take("_V")
	from := len(p.stack)
	for !p.failed {
		switch c := p.peek(); {
		case c == '@':
			p.at++
			s.params = p.list(from)
			return
		case c == 'Z':
			p.at++
			s.params, s.variadic = p.list(from), true
			return
		case isDigit(c):
			p.at++
			i := int(c - '0')
			if i >= p.refs.nParams {
				p.failed = true
				return
			}
			p.stack = append(p.stack, p.refs.params[i])
		default:
			start := p.at
			t := p.typ(unqualified)
			if p.failed {
				return
			}
			// A type of one letter is as short as a digit, so it is not counted.
			if p.at-start > 1 && p.refs.nParams < maxBackReferences {
				p.refs.params[p.refs.nParams] = t
				p.refs.nParams++
			}
			p.stack = append(p.stack, t)
		}
	}
}
