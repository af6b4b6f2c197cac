package msvc

import (
	"strconv"
	"strings"
)

const (
	// maxIn is the longest name in bytes that is read. Microsoft's compilers replace names of more than 4,095 by hashes.
	maxIn = 8 << 10
	// maxDepth is how deep types and names may be nested in each other.
	maxDepth = 500
	// maxBackReferences is how many names and types each the digits can refer to.
	maxBackReferences = 10
)

// backReferences are what digits stand for. Every list of template arguments has its own.
type backReferences struct {
	names   [maxBackReferences]*node
	params  [maxBackReferences]*node
	nNames  int
	nParams int
}

// parser reads one name. The first thing that cannot be read sets failed; from then on nothing more is read.
type parser struct {
	in     string
	at     int
	failed bool
	depth  int
	refs   backReferences
	// named is the name of the outermost symbol, once it was read.
	named *node
	// clang says that digits do not refer to anonymous namespaces; repeated, that one was there twice where one would have.
	clang, repeated bool

	nodes []node  // of which new ones are taken
	links []*node // of which new lists are taken
	stack []*node // lists that are being read
	room  [32]*node
}

func newParser(name string) *parser {
	p := &parser{in: name, nodes: make([]node, 0, 8+len(name)/4), links: make([]*node, 0, 8+len(name)/4)}
	p.stack = p.room[:0]
	return p
}

// add makes a node.
func (p *parser) add(k kind, text string, inner *node) *node {
	if len(p.nodes) == cap(p.nodes) {
		p.nodes = make([]node, 0, 2*cap(p.nodes))
	}
	p.nodes = p.nodes[:len(p.nodes)+1]
	n := &p.nodes[len(p.nodes)-1]
	n.kind, n.text, n.inner = k, text, inner
	return n
}

// copyOf makes a node that may be changed.
func (p *parser) copyOf(n *node) *node {
	c := p.add(n.kind, "", nil)
	*c = *n
	return c
}

// identifier makes an identifier that was read from source.
func (p *parser) identifier(text, source string) *node {
	id := p.add(identifier, text, nil)
	id.source = source
	return id
}

// qualified makes a name of identifiers.
func (p *parser) qualified(list []*node) *node {
	n := p.add(qualified, "", nil)
	n.list = list
	return n
}

// symbolOf makes a symbol that has a name.
func (p *parser) symbolOf(k kind, name *node, sig *signature) *node {
	n := p.add(k, "", nil)
	n.name, n.sig = name, sig
	return n
}

// list keeps what was put on the stack since it had the given height.
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

// fail says that the name is not one, or not one that is understood. It returns nil for its caller to return.
func (p *parser) fail() *node {
	p.failed = true
	return nil
}

// enter counts a level of nesting, leave ends it.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.failed = true
	}
	return !p.failed
}

func (p *parser) leave() { p.depth-- }

func (p *parser) rest() string { return p.in[p.at:] }

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

// next takes the next byte; at the end it fails.
func (p *parser) next() byte {
	if p.at >= len(p.in) {
		p.failed = true
		return 0
	}
	p.at++
	return p.in[p.at-1]
}

func (p *parser) starts(prefix string) bool { return strings.HasPrefix(p.rest(), prefix) }

// take takes a prefix if it is there.
func (p *parser) take(prefix string) bool {
	if !p.starts(prefix) {
		return false
	}
	p.at += len(prefix)
	return true
}

// want takes what has to be there.
func (p *parser) want(prefix string) {
	if !p.take(prefix) {
		p.failed = true
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads a number: a digit is itself and one more; others are written in hexadecimal digits from A to P, up to an "@".
// A "?" in front makes it negative.
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

// offset reads a number of 32 bits that may be negative, or is meant to be.
func (p *parser) offset() string { return strconv.Itoa(int(int32(p.signed()))) }

// size reads a number of 32 bits.
func (p *parser) size() string { return strconv.FormatUint(uint64(uint32(p.unsigned())), 10) }

// symbol reads a whole name, which may also be part of another one. In that case it ends where it is complete.
func (p *parser) symbol() *node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	switch {
	case p.take("."):
		// The name that a type descriptor holds.
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

// hashed reads a name that was too long, of which there is a hash only. Such names are shown as they are.
func (p *parser) hashed() *node {
	start := p.at
	p.want("??@")
	end := strings.IndexByte(p.rest(), '@')
	if end < 0 {
		return p.fail()
	}
	p.at += end + 1
	p.take("??_R4@")
	text := p.in[start:p.at]
	s := p.add(verbatim, text, nil)
	s.name = p.single(p.identifier(text, text))
	return s
}

// single is an identifier as a whole name.
func (p *parser) single(id *node) *node {
	p.stack = append(p.stack, id)
	return p.qualified(p.list(len(p.stack) - 1))
}

// declarator reads a symbol's name and then its type.
func (p *parser) declarator() *node {
	name := p.symbolName()
	if p.failed {
		return nil
	}
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
		// A copy: what it converts to may refer to the identifier.
		last = p.copyOf(last)
		last.inner = s.sig.result
		name.list[len(name.list)-1] = last
	}
	return s
}

// variable reads a variable's access and type.
func (p *parser) variable(name *node) *node {
	access := byLetter(&variableClasses, p.next())
	t := p.typ(unqualified)
	if p.failed {
		return nil
	}
	if t.kind == pointer {
		t.quals |= p.extendedQualifiers(nil)
		q := p.qualifiers()
		if t.name != nil {
			p.typeName()
		}
		if p.failed {
			return nil
		}
		// Which it points to may be a type that was seen before and is const there already.
		t.inner = p.copyOf(t.inner)
		t.inner.quals |= q
	} else {
		t.quals = p.qualifiers()
	}
	v := p.symbolOf(variable, name, nil)
	v.inner, v.class = t, access
	return v
}

// function reads what a function is to its class, and its type.
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

// adjustment reads what a thunk adds to this.
func (p *parser) adjustment() string { return strconv.FormatUint(uint64(uint32(p.signed())), 10) }
