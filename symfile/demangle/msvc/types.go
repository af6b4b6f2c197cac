package msvc

import "strconv"

// How a type's own const and volatile are written, which depends on where it is.
type where uint8

const (
	unqualified     where = iota // not at all: parameters, variables
	qualifiedResult              // behind a "?": what a function returns
	qualifiedAlways              // always: what a pointer points to
)

// typ reads a type.
func (p *parser) typ(w where) *node {
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

func (p *parser) plainType() *node {
	switch c := p.peek(); {
	case byLetter(&tags, c) != "":
		return p.taggedType()
	case byLetter(&pointers, c).text != "" || p.starts("$$Q") || p.starts("$$R"):
		return p.pointerType()
	case c == 'Y':
		return p.arrayType()
	case p.take("$$A8@@"):
		return p.functionType(true)
	case p.take("$$A6"):
		return p.functionType(false)
	case p.take("$$T"):
		return p.add(primitive, "std::nullptr_t", nil)
	case p.take("?"):
		// A type with a name only, as of what "auto" stands for.
		id := p.typeIdentifier()
		p.want("@")
		return p.add(custom, "", id)
	}
	return p.primitiveType()
}

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

// taggedType reads a class, struct, union or enum. A digit says what integers an enum is made of.
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

// extendedQualifiers reads what Microsoft's compilers add to pointers and to this. handle, if given, is told by which letter or
// number a managed pointer is marked.
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
			// The number of an array's dimensions, two hexadecimal digits.
			*handle = p.in[p.at+1 : p.at+3]
			p.at += 3
		}
	}
	return q
}

// pointerType reads a pointer or reference, which may be one to a function or to a member.
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
	if n.text == "*" && p.take("8") {
		n.name = p.typeName()
		n.inner = p.functionType(true)
		return n
	}
	q := p.qualifiers()
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

// arrayType reads an array and its dimensions.
func (p *parser) arrayType() *node {
	p.want("Y")
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

// functionType reads a function's type as one that pointers and template arguments have.
func (p *parser) functionType(ofMember bool) *node {
	s := p.signature(ofMember)
	n := p.symbolOf(functionType, nil, s)
	n.quals = s.quals
	return n
}

// signature reads a function's type. That of a member begins with what is said of this.
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
	if !p.take("@") { // constructors return nothing, and the calls of some lambdas do not say what
		s.result = p.typ(qualifiedResult)
	}
	p.parameters(s)
	if s.noexcept = p.take("_E"); !s.noexcept {
		p.want("Z")
	}
	return s
}

// parameters reads a function's parameters. A digit stands for one that took more than a letter before.
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
			if p.at-start > 1 && p.refs.nParams < maxBackReferences {
				p.refs.params[p.refs.nParams] = t
				p.refs.nParams++
			}
			p.stack = append(p.stack, t)
		}
	}
}
