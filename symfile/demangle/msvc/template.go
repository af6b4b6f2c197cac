package msvc

import (
	"math"
	"strconv"
)

// templateArguments reads template arguments up to an "@": types, and values, which begin with "$".
func (p *parser) templateArguments() []*node {
	from := len(p.stack)
	for !p.failed && !p.take("@") {
		if p.take("$S") || p.take("$$V") || p.take("$$$V") || p.take("$$Z") {
			continue // an empty parameter pack, or the border between two packs
		}
		p.stack = append(p.stack, p.templateArgument())
	}
	if p.failed {
		return nil
	}
	return p.list(from)
}

// templateArgument reads one argument. Example: in "?$array@H$02" the type H is int, and the value
// $02 is 3.
func (p *parser) templateArgument() *node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	switch {
	case p.take("$M"):
		// A value of a deduced type ("auto"), which C++ does not show.
		p.typ(unqualified)
		if p.failed {
			return nil
		}
		if v, ok := p.value(p.peek()); ok {
			return v
		}
		return p.templateArgument()
	case p.take("$$Y"): // an alias template
		return p.typeName()
	case p.peek() == '$' && p.at+1 < len(p.in):
		p.at++
		if v, ok := p.value(p.peek()); ok {
			return v
		}
		p.at--
	}
	return p.escapedType()
}

// escapedType reads a type of a template argument, which may be const, volatile or an array.
func (p *parser) escapedType() *node {
	if p.take("$$C") { // const or volatile
		return p.typ(qualifiedAlways)
	}
	p.take("$$B") // an array
	return p.typ(unqualified)
}

// memberOffsets has how many numbers follow a pointer to a member, by letter. H, I, J are functions
// of classes with multiple inheritance, with virtual bases, and of unknown inheritance; F and G are
// data members of the latter two.
var memberOffsets = [128]int{'H': 1, 'I': 2, 'J': 3, 'F': 2, 'G': 3}

// value reads a template argument that is a value. The letter is its kind: "$0BA@" is the number
// 16. ok is false if the letter is not that of a value.
//
//	$0BA@             16
//	$0?0              -1
//	$1?f@@YAXXZ       &f()
//	$H?f@A@@QEAAXXZA@ a member function and the adjustment 0 of this
func (p *parser) value(letter byte) (v *node, ok bool) {
	start := p.at
	p.at++
	switch letter {
	case '0':
		return p.add(literal, p.decimal(), nil), true
	case '1', 'H', 'I', 'J':
		v = p.add(reference, "&", nil)
		if p.peek() == '?' {
			if v.inner = p.symbol(); p.failed || v.inner.name == nil {
				return p.fail(), true
			}
		}
		p.offsets(v, byLetter(&memberOffsets, letter))
		return v, true
	case 'F', 'G':
		v = p.add(reference, "", nil)
		p.offsets(v, byLetter(&memberOffsets, letter))
		return v, true
	case 'E':
		if p.peek() == '?' {
			return p.add(reference, "", p.symbol()), true
		}
	case '2': // a class: its bases and members
		v = p.add(aggregate, "", p.escapedType())
		v.list = p.values((*parser).typedValue)
		return v, true
	case '3': // an array: its elements
		v = p.add(aggregate, "", p.escapedType())
		v.list = p.values(func(p *parser) *node {
			e := p.anyValue()
			p.expect("@")
			return e
		})
		return v, true
	case '5': // the address of a part of a variable
		v = p.add(reference, "&", p.anyValue())
		p.expect("@")
		return v, true
	case '6': // a member of a variable
		v = p.add(member, "", p.anyValue())
		v.text = p.text()
		p.expect("@")
		return v, true
	case '7': // a union: one member
		v = p.add(aggregate, "", p.escapedType())
		v.list = p.values(func(p *parser) *node {
			p.text()
			return p.anyValue()
		})
		return v, true
	case '8': // a pointer to a member, by name
		v = p.add(member, "", p.typeName())
		v.text = p.text()
		p.expect("@")
		return p.add(reference, "&", v), true
	case 'C': // an element of an array
		v = p.add(element, "", p.anyValue())
		v.name = p.anyValue()
		p.expect("@")
		return v, true
	case 'A':
		n := float64(math.Float32frombits(uint32(p.unsigned())))
		return p.add(literal, strconv.FormatFloat(n, 'g', -1, 32), nil), true
	case 'B':
		n := math.Float64frombits(p.unsigned())
		return p.add(literal, strconv.FormatFloat(n, 'g', -1, 64), nil), true
	case 'D':
		return p.add(literal, "`template-parameter"+p.decimal()+"'", nil), true
	}
	p.at = start
	return nil, false
}

// values reads values up to an "@".
func (p *parser) values(read func(*parser) *node) []*node {
	from := len(p.stack)
	for !p.failed && !p.take("@") {
		p.stack = append(p.stack, read(p))
	}
	if p.failed {
		return nil
	}
	return p.list(from)
}

// typedValue reads a value with its type before it, which is not shown. Values that begin with a
// digit have no type.
func (p *parser) typedValue() *node {
	if !isDigit(p.peek()) {
		p.escapedType()
	}
	return p.anyValue()
}

// anyValue reads a value, and fails without one.
func (p *parser) anyValue() *node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	v, ok := p.value(p.peek())
	if !ok {
		return p.fail()
	}
	return v
}

// offsets reads the n numbers of a pointer to a member: the member's offset and the adjustments of
// this.
func (p *parser) offsets(v *node, n int) {
	from := len(p.stack)
	for range n {
		p.stack = append(p.stack, p.add(literal, strconv.FormatInt(p.signed(), 10), nil))
	}
	v.list = p.list(from)
}
