package msvc

import (
	"slices"
	"strings"
)

// memorize adds an identifier to those that a digit can refer to. It returns false if it is one of
// them already. The first ten identifiers of a name are numbered from 0, so that "?f@A@1@" is
// A::A::f.
func (p *parser) memorize(id *node) bool {
	for _, n := range p.refs.names[:p.refs.nNames] {
		if n.source == id.source {
			return false
		}
	}
	if p.refs.nNames < maxBackReferences {
		p.refs.names[p.refs.nNames] = id
		p.refs.nNames++
	}
	return true
}

// nameReference reads a digit that refers to an identifier.
func (p *parser) nameReference() *node {
	i := int(p.next() - '0')
	if i >= p.refs.nNames {
		return p.fail()
	}
	return p.refs.names[i]
}

// text reads up to an "@" and the "@".
func (p *parser) text() string {
	n := strings.IndexByte(p.rest(), '@')
	// An empty identifier is an error: a lone "@" ends the scopes, and scopes reads it.
	if n <= 0 {
		p.failed = true
		return ""
	}
	s := p.in[p.at : p.at+n]
	p.at += n + 1
	return s
}

// simpleName reads an identifier.
func (p *parser) simpleName() *node {
	s := p.text()
	if p.failed {
		return nil
	}
	id := p.identifier(s, s)
	p.memorize(id)
	return id
}

// typeName reads the name of a type and its scopes.
func (p *parser) typeName() *node {
	id := p.typeIdentifier()
	if p.failed {
		return nil
	}
	return p.scopes(id)
}

// typeIdentifier reads the name of a type without its scopes.
func (p *parser) typeIdentifier() *node {
	switch {
	case isDigit(p.peek()):
		return p.nameReference()
	case p.starts("?$"):
		return p.template(true)
	}
	return p.simpleName()
}

// symbolName reads the name of a function or variable and its scopes.
func (p *parser) symbolName() *node {
	id := p.symbolIdentifier()
	if p.failed {
		return nil
	}
	name := p.scopes(id)
	if p.failed {
		return nil
	}
	if id.kind == constructor || id.kind == destructor {
		// A constructor's and a destructor's name is that of the class, which is the next scope.
		outer := len(name.list) - 2
		if outer < 0 {
			return p.fail()
		}
		// Change a copy: back references may share the identifier.
		id = p.copyOf(id)
		id.inner = name.list[outer]
		name.list[outer+1] = id
	}
	return name
}

// symbolIdentifier reads the name of a function or variable without its scopes.
func (p *parser) symbolIdentifier() *node {
	switch {
	case isDigit(p.peek()):
		return p.nameReference()
	case p.starts("?$"):
		return p.template(false)
	case p.starts("?"):
		return p.operator()
	}
	return p.simpleName()
}

// operator reads the code of a function without an identifier: "?0" is a constructor, "?H"
// operator+, "?_U" operator new[].
func (p *parser) operator() *node {
	start := p.at
	p.expect("?")
	code := p.at
	// Codes have one, two ("_U") or three ("__K") characters.
	if !p.take("__") {
		p.take("_")
	}
	p.next()
	if p.failed {
		return nil
	}
	n := p.identifier("", p.in[start:p.at])
	switch c := p.in[code:p.at]; c {
	case "0":
		n.kind = constructor
	case "1":
		n.kind = destructor
	case "B":
		n.kind = conversion
	// A user-defined literal, whose name follows: "?__K_km@@".
	case "__K":
		n.text = "operator \"\"" + p.text()
	default:
		if n.text = operatorNames[c]; n.text == "" {
			return p.fail()
		}
	}
	return n
}

// template reads an identifier with template arguments: "?$vector@H@" is vector<int>. The arguments
// have back references of their own. A digit can refer to a class template, but not to a function
// template.
//
// Example: in "?$pair@VFoo@@V1@@" the 1 is Foo: in the arguments, pair is name 0 and Foo name 1.
func (p *parser) template(isType bool) *node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	start := p.at
	p.expect("?$")
	// Digits in the arguments count from the first name in them. After them the outer ones count
	// again.
	outer := p.refs
	p.refs = backReferences{}
	id := p.symbolIdentifier()
	if !p.failed {
		// Change a copy: digits in the arguments may refer to the identifier without arguments.
		id = p.copyOf(id)
		id.list = p.templateArguments()
	}
	p.refs = outer
	if p.failed || isType && id.kind != identifier {
		return p.fail()
	}
	id.args, id.source = true, p.in[start:p.at]
	if isType {
		p.memorize(id)
	}
	return id
}

// scopes reads the scopes of a name, which are stored innermost first, up to an "@".
//
// Example: "f@A@B@@" is the identifier f and the scopes A and B; the second "@" in a row ends them.
// The result is B::A::f.
func (p *parser) scopes(id *node) *node {
	from := len(p.stack)
	p.stack = append(p.stack, id)
	for !p.failed && !p.take("@") {
		p.stack = append(p.stack, p.scope())
	}
	if p.failed {
		return nil
	}
	list := p.list(from)
	// The outermost scope comes first in the result.
	slices.Reverse(list)
	return p.qualified(list)
}

// scope reads one scope: a namespace, a class, or a function.
func (p *parser) scope() *node {
	switch {
	case isDigit(p.peek()):
		return p.nameReference()
	case p.starts("?$"):
		return p.template(true)
	case p.starts("?A"):
		return p.anonymousNamespace()
	case p.startsLocalScope():
		return p.localScope()
	}
	return p.simpleName()
}

// anonymousNamespace reads an anonymous namespace: "?A" and an id of the file, such as
// "?A0x1a2b3c4d@". In names of Microsoft's compilers digits can refer to it. Clang writes the id in
// capital letters, repeats the namespace each time, and does not count it.
func (p *parser) anonymousNamespace() *node {
	n := strings.IndexByte(p.rest(), '@')
	if n < 0 {
		return p.fail()
	}
	id := p.identifier("`anonymous namespace'", p.in[p.at:p.at+n])
	p.at += n + 1
	switch {
	case p.clang:
	case strings.HasPrefix(id.source, "?A0x") && strings.ContainsAny(id.source[4:], "ABCDEF"):
		p.clang = true
	case !p.memorize(id):
		p.repeated = true
	}
	return id
}

// startsLocalScope reports whether a local scope follows: "?", a number and "?". A number of
// several digits never begins with A, but an anonymous namespace does.
func (p *parser) startsLocalScope() bool {
	if p.peek() != '?' {
		return false
	}
	rest := p.in[p.at+1:]
	if len(rest) >= 2 && rest[1] == '?' && (rest[0] == '@' || isDigit(rest[0])) {
		return true
	}
	// A number of letters A to P, up to "@".
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		if c == '@' {
			return i > 0 && i+1 < len(rest) && rest[i+1] == '?'
		}
		if c < 'A' || c > 'P' || i == 0 && c == 'A' {
			return false
		}
	}
	return false
}

// localScope reads a function as a scope, with the number of the block in it: "?1??main@@YAXXZ@" is
// `main'::`2'.
func (p *parser) localScope() *node {
	p.expect("?")
	number := p.decimal()
	p.expect("?")
	s := p.symbol()
	if p.failed {
		return nil
	}
	return p.add(localScope, number, s)
}
