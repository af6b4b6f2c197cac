package msvc

import (
	"strconv"
	"strings"
)

const (
	// maxIn is the length in bytes of the longest name that is parsed. Microsoft's compilers
	// replace names above 4,095 by hashes.
	maxIn = 8 << 10
	// maxDepth limits the nesting of types and names.
	maxDepth = 500
	// maxBackReferences is how many names, and how many types, digits can refer to.
	maxBackReferences = 10
)

// backReferences are the names and parameter types that digits refer to. Each list of template
// arguments has its own.
type backReferences struct {
	names   [maxBackReferences]*node
	params  [maxBackReferences]*node
	nNames  int
	nParams int
}

// parser parses one name by recursive descent. The first error sets failed, after which nothing
// more is read.
//
// Example, for "?foo@Bar@@QEAAXH@Z": symbol reads the "?", symbolName "foo@Bar@@" up to the "@"
// that ends the scopes, function the class letter Q, signature "EAA" of this and of the convention,
// "X" and "H@", and the final Z.
type parser struct {
	in     string
	at     int
	failed bool
	depth  int
	refs   backReferences
	// named is the name of the outermost symbol, which Name shows if the type after it cannot be
	// parsed.
	named *node
	// clang: digits do not refer to anonymous namespaces. repeated: an anonymous namespace occurred
	// twice, where Microsoft's compilers would have written a digit.
	clang, repeated bool

	nodes      []node  // array for new nodes
	links      []*node // array for new lists
	stack      []*node // elements of the lists that are being read
	stackArray [32]*node
}

// newParser makes a parser with the memory that the nodes and lists of an ordinary name take.
func newParser(name string) *parser {
	p := &parser{in: name, nodes: make([]node, 0, 8+len(name)/4), links: make([]*node, 0, 8+len(name)/4)}
	p.stack = p.stackArray[:0]
	return p
}

// add returns a new node.
func (p *parser) add(k kind, text string, inner *node) *node {
	// The old array is left as it is, since nodes in it are referred to.
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = make([]node, 0, 2*cap(p.nodes))
	}
	p.nodes = p.nodes[:len(p.nodes)+1]
	n := &p.nodes[len(p.nodes)-1]
	n.kind, n.text, n.inner = k, text, inner
	return n
}

// copyOf returns a copy of a node, which the caller may change.
func (p *parser) copyOf(n *node) *node {
	c := p.add(n.kind, "", nil)
	*c = *n
	return c
}

// identifier returns a new identifier. source is its text in the mangled name.
func (p *parser) identifier(text, source string) *node {
	id := p.add(identifier, text, nil)
	id.source = source
	return id
}

// qualified returns a name that consists of the identifiers in list.
func (p *parser) qualified(list []*node) *node {
	n := p.add(qualified, "", nil)
	n.list = list
	return n
}

// symbolOf returns a new symbol.
func (p *parser) symbolOf(k kind, name *node, sig *signature) *node {
	n := p.add(k, "", nil)
	n.name, n.sig = name, sig
	return n
}

// list pops the elements of the stack from index from on, and returns them as a list.
func (p *parser) list(from int) []*node {
	n := len(p.stack) - from
	if len(p.links)+n > cap(p.links) {
		p.links = make([]*node, 0, 2*cap(p.links)+n)
	}
	start := len(p.links)
	p.links = append(p.links, p.stack[from:]...)
	p.stack = p.stack[:from]
	return p.links[start:len(p.links):len(p.links)]
}

// fail sets failed and returns nil, for its caller to return.
func (p *parser) fail() *node {
	p.failed = true
	return nil
}

// enter begins a level of nesting, which leave ends. It returns false if there are too many.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.failed = true
	}
	return !p.failed
}

func (p *parser) leave() { p.depth-- }

// rest is what has not been read yet.
func (p *parser) rest() string { return p.in[p.at:] }

// peek returns the next byte without reading it, or 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

// next reads the next byte. At the end it fails.
func (p *parser) next() byte {
	if p.at >= len(p.in) {
		p.failed = true
		return 0
	}
	p.at++
	return p.in[p.at-1]
}

// starts reports whether the rest begins with a prefix.
func (p *parser) starts(prefix string) bool { return strings.HasPrefix(p.rest(), prefix) }

// take reads a prefix if the rest begins with it.
func (p *parser) take(prefix string) bool {
	if !p.starts(prefix) {
		return false
	}
	p.at += len(prefix)
	return true
}

// expect reads a prefix. It fails if the rest does not begin with it.
func (p *parser) expect(prefix string) {
	if !p.take(prefix) {
		p.failed = true
	}
}

// isDigit reports whether a byte is an ASCII digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads a number. A "?" in front makes it negative.
//
//	0 to 9      1 to 10
//	A@ to P…@   hexadecimal, with the digits A (0) to P (15): "BA@" is 16
func (p *parser) number() (n uint64, negative bool) {
	negative = p.take("?")
	if c := p.peek(); isDigit(c) {
		p.at++
		return uint64(c-'0') + 1, negative
	}
	for !p.failed {
		c := p.next()
		if c == '@' {
			return n, negative
		}
		if c < 'A' || c > 'P' {
			p.failed = true
		}
		n = n<<4 | uint64(c-'A')
	}
	return 0, false
}

// unsigned reads a number that is not negative.
func (p *parser) unsigned() uint64 {
	n, negative := p.number()
	if negative {
		p.failed = true
	}
	return n
}

// decimal reads a number as text.
func (p *parser) decimal() string {
	n, negative := p.number()
	if negative {
		return "-" + strconv.FormatUint(n, 10)
	}
	return strconv.FormatUint(n, 10)
}

// signed reads a number of 64 bits that may be negative.
func (p *parser) signed() int64 {
	n, negative := p.number()
	if n>>63 != 0 {
		p.failed = true
	}
	if negative {
		n = -n
	}
	return int64(n)
}

// offset reads a number as a signed one of 32 bits: compilers write -4 as "?3" or as 0xfffffffc.
func (p *parser) offset() string { return strconv.Itoa(int(int32(p.signed()))) }

// size reads a number of 32 bits.
func (p *parser) size() string { return strconv.FormatUint(uint64(uint32(p.unsigned())), 10) }

// symbol reads a whole decorated name. It may be part of a longer name, and ends where it is
// complete.
func (p *parser) symbol() *node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	switch {
	case p.take("."):
		// The name in a type descriptor: ".?AVFoo@@" is class Foo.
		t := p.typ(qualifiedResult)
		if p.at < len(p.in) {
			return p.fail()
		}
		return p.add(typeInfo, "`RTTI Type Descriptor Name'", t)
	case p.starts("??@"):
		return p.hashed()
	case !p.take("?"):
		return p.fail()
	}
	if s, ok := p.special(); ok {
		return s
	}
	return p.declarator()
}

// hashed reads the hash that replaces a long name: "??@" and 32 hexadecimal digits. It is shown as
// it is.
func (p *parser) hashed() *node {
	start := p.at
	p.expect("??@")
	end := strings.IndexByte(p.rest(), '@')
	if end < 0 {
		return p.fail()
	}
	p.at += end + 1
	// A "complete object locator" of a class with a hashed name has its own code after the hash.
	p.take("??_R4@")
	text := p.in[start:p.at]
	s := p.add(verbatim, text, nil)
	s.name = p.single(p.identifier(text, text))
	return s
}

// single returns a name that consists of one identifier.
func (p *parser) single(id *node) *node {
	p.stack = append(p.stack, id)
	return p.qualified(p.list(len(p.stack) - 1))
}

// declarator reads a symbol's name and then its type.
//
// The character after the name says which type follows: a digit from 0 to 4 a variable's, 9, a
// letter or "$" a function's.
func (p *parser) declarator() *node {
	name := p.symbolName()
	if p.failed {
		return nil
	}
	// Only the outermost symbol: names inside of template arguments are parts of another one.
	if p.depth == 1 {
		p.named = name
	}
	last := name.list[len(name.list)-1]
	if access := byLetter(&variableClasses, p.peek()); access != 0 {
		if last.kind == conversion {
			return p.fail()
		}
		return p.variable(name)
	}
	s := p.function(name)
	if s != nil && last.kind == conversion {
		if s.sig.result == nil {
			return p.fail()
		}
		// The name of a conversion operator is its return type. Change a copy: the type may refer
		// to the identifier.
		last = p.copyOf(last)
		last.inner = s.sig.result
		name.list[len(name.list)-1] = last
	}
	return s
}

// variable reads a variable's access and type.
//
// Example: "?x@@3HA" is the global (3) variable x of type int (H), not const (A).
func (p *parser) variable(name *node) *node {
	access := byLetter(&variableClasses, p.next())
	t := p.typ(unqualified)
	if p.failed {
		return nil
	}
	// A pointer's own type is followed by the qualifiers of what it points to once more:
	// "?p@@3PEAHEA" is int *p.
	if t.kind == pointer {
		t.quals |= p.extendedQualifiers(nil)
		q := p.qualifiers()
		if t.name != nil {
			p.typeName()
		}
		if p.failed {
			return nil
		}
		// Change a copy: back references may share the type.
		t.inner = p.copyOf(t.inner)
		t.inner.quals |= q
	} else {
		t.quals = p.qualifiers()
	}
	v := p.symbolOf(variable, name, nil)
	v.inner, v.class = t, access
	return v
}

// function reads a function's class letter (see functionClasses) and its type.
//
// Example: after "?f@@" the letters "YAXH@Z" are a global function (Y), __cdecl (A), that returns
// void (X), with the parameter int (H), and no exception specification (Z).
func (p *parser) function(name *node) *node {
	var c class
	for p.starts("$$") {
		switch {
		case p.take("$$J0"):
			c |= externC
		case p.take("$$F"), p.take("$$H"), p.take("$$h"):
			// Managed code, and code for ARM64EC.
		default:
			return p.fail()
		}
	}
	letter := p.next()
	var thunk string
	// A thunk of a virtual base ("$4PPPPPPPM@A@" …): the next character says private, protected or
	// public, and numbers follow.
	if letter == '$' {
		c |= vtordisp
		if p.take("R") {
			c |= vtordispex
		}
		kind := byLetter(&thunkClasses, p.next())
		if kind == 0 {
			return p.fail()
		}
		c |= kind
		if c&vtordispex != 0 {
			thunk = "`vtordispex{" + p.offset() + ", " + p.offset() + ", "
		} else {
			thunk = "`vtordisp{"
		}
		thunk += p.offset() + ", " + p.adjustment() + "}'"
	} else {
		kind := byLetter(&functionClasses, letter)
		if kind == 0 {
			return p.fail()
		}
		if c |= kind; c&adjustor != 0 {
			thunk = "`adjustor{" + p.adjustment() + "}'"
		}
	}
	sig := &signature{}
	if c&noParameters == 0 {
		sig = p.signature(c&(global|static) == 0)
	}
	if p.failed {
		return nil
	}
	sig.class, sig.thunk, sig.isThunk = c, thunk, thunk != ""
	return p.symbolOf(function, name, sig)
}

// adjustment reads the number that a thunk adds to this.
func (p *parser) adjustment() string { return strconv.FormatUint(uint64(uint32(p.signed())), 10) }
