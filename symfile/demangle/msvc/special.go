package msvc

import (
	"strconv"
	"strings"
)

// special reads symbols that compilers generate, such as vftables, by the code after the first "?".
// ok is false for other symbols.
func (p *parser) special() (s *node, ok bool) {
	switch {
	case p.take("?_7"):
		s = p.vtable("`vftable'")
	case p.take("?_8"):
		s = p.vtable("`vbtable'")
	case p.take("?_S"):
		s = p.vtable("`local vftable'")
	case p.take("?_R4"):
		s = p.vtable("`RTTI Complete Object Locator'")
	case p.take("?_R0"):
		s = p.typeDescriptor("`RTTI Type Descriptor'")
	case p.take("?_R1"):
		s = p.baseClassDescriptor("`RTTI Base Class Descriptor at (")
	case p.take("?_R2"):
		s = p.untyped("`RTTI Base Class Array'")
	case p.take("?_R3"):
		s = p.untyped("`RTTI Class Hierarchy Descriptor'")
	case p.take("?_9"):
		s = p.vcall("`vcall'")
	case p.take("?_B"):
		s = p.guard("`local static guard'")
	case p.take("?__J"):
		s = p.guard("`local static thread guard'")
	case p.take("?_C"):
		s = p.stringLiteral()
	case p.take("?__E"):
		s = p.initializer("`dynamic initializer for ")
	case p.take("?__F"):
		s = p.initializer("`dynamic atexit destructor for ")
	case p.take("?__N"):
		s = p.add(reference, "template parameter object for ", p.anyValue())
		p.expect("@")
	case p.starts("filt$"), p.starts("fin$"):
		s, ok := p.funclet()
		return s, ok
	case p.take("?_P"):
		s = p.returning("`udt returning'")
	default:
		return nil, false
	}
	return s, true
}

// specialName reads the scopes of a generated symbol and names it text.
func (p *parser) specialName(text string) *node {
	return p.scopes(p.identifier(text, text))
}

// vtable reads a table of virtual functions (vftable) or virtual bases (vbtable), and the base
// classes that it is for. "??_7Foo@@6BBar@@@" is const Foo::`vftable'{for `Bar'}.
func (p *parser) vtable(text string) *node {
	name := p.specialName(text)
	// 6 is a vftable, 7 a vbtable.
	if c := p.next(); c != '6' && c != '7' {
		return p.fail()
	}
	q := p.qualifiers()
	from := len(p.stack)
	for !p.failed && !p.take("@") {
		p.stack = append(p.stack, p.typeName())
	}
	if p.failed {
		return nil
	}
	t := p.symbolOf(table, name, nil)
	t.quals, t.list = q, p.list(from)
	return t
}

// vcall reads a thunk that calls a virtual function by its offset in the vftable.
//
//	??_9A@@$BA@AA    [thunk]: __cdecl A::`vcall'{0, {flat}}
func (p *parser) vcall(text string) *node {
	id := p.add(identifier, "", nil)
	name := p.scopes(id)
	p.expect("$B")
	id.text = text + "{" + strconv.FormatUint(p.unsigned(), 10) + ", {flat}}"
	p.expect("A")
	sig := &signature{class: noParameters, isThunk: true, convention: p.convention()}
	if p.failed {
		return nil
	}
	return p.symbolOf(function, name, sig)
}

// guard reads the variable that records whether a function's static variables are initialized.
//
//	??_B?1??f@@YAXXZ@51    `f()'::`2'::`local static guard'{2}
func (p *parser) guard(text string) *node {
	id := p.add(identifier, text, nil)
	name := p.scopes(id)
	if !p.take("4IA") {
		p.expect("5")
	}
	if p.at < len(p.in) && !p.failed {
		if n := p.size(); n != "0" {
			id.text += "{" + n + "}"
		}
	}
	if p.failed {
		return nil
	}
	return p.symbolOf(variable, name, nil)
}

// untyped reads a variable whose name has no type.
func (p *parser) untyped(text string) *node {
	name := p.specialName(text)
	p.expect("8")
	if p.failed {
		return nil
	}
	return p.symbolOf(variable, name, nil)
}

// typeDescriptor reads the type that a type descriptor is of: "??_R0?AVFoo@@@8" is that of class
// Foo.
func (p *parser) typeDescriptor(text string) *node {
	t := p.typ(qualifiedResult)
	p.expect("@8")
	if p.failed || p.at < len(p.in) {
		return p.fail()
	}
	return p.add(typeInfo, text, t)
}

// baseClassDescriptor reads the four numbers of a base class in a hierarchy (offset of the member,
// offset of the vbtable pointer, offset in the vbtable, attributes) and the class. The second one
// may be negative: -1 says that there is no vbtable.
func (p *parser) baseClassDescriptor(text string) *node {
	for i := range 4 {
		if i > 0 {
			text += ", "
		}
		if i == 1 {
			text += p.offset()
		} else {
			text += p.size()
		}
	}
	if p.failed {
		return nil
	}
	name := p.specialName(text + ")'")
	p.take("8")
	if p.failed {
		return nil
	}
	return p.symbolOf(variable, name, nil)
}

// initializer reads the function that initializes a variable before main or destroys it at exit.
// The name has the variable as a whole symbol, "?…@@"; older Clang writes neither the "?" nor the
// second "@".
//
//	??__Ex@@YAXXZ             `dynamic initializer for 'x''()
//	??__E?x@A@@2HA@@YAXXZ     `dynamic initializer for `A::x''(); Full adds the type of x
func (p *parser) initializer(text string) *node {
	whole := p.take("?")
	s := p.declarator()
	if p.failed {
		return nil
	}
	id := p.add(structor, text, s)
	if s.kind == variable {
		p.expect("@")
		if whole {
			p.expect("@")
		}
		if p.failed {
			return nil
		}
		return p.function(p.single(id))
	}
	if whole {
		return p.fail()
	}
	id.inner = s.name
	return p.symbolOf(function, p.single(id), s.sig)
}

// returning reads a function that returns a class, as very old compilers wrote it.
func (p *parser) returning(text string) *node {
	if !p.take("?") {
		return p.fail()
	}
	s := p.declarator()
	if p.failed {
		return nil
	}
	last := len(s.name.list) - 1
	if id := s.name.list[last]; id.kind == identifier {
		id = p.copyOf(id)
		id.text = text + id.text
		s.name.list[last] = id
	}
	return s
}

// funclet reads a function that Clang makes of an exception filter or a __finally block:
// "?filt$0@0@main@@". After "0@" is the name of the containing function, without a type. ok is
// false if it is another symbol.
func (p *parser) funclet() (s *node, ok bool) {
	end := strings.Index(p.rest(), "@0@")
	if end < 0 || strings.Contains(p.rest()[:end], "@") {
		return nil, false
	}
	id := p.add(identifier, p.rest()[:end], nil)
	p.at += end + len("@0@")
	p.take("$$h")
	of := p.symbolName()
	if p.failed {
		return nil, true
	}
	from := len(p.stack)
	p.stack = append(append(p.stack, of.list...), id)
	return p.symbolOf(variable, p.qualified(p.list(from)), nil), true
}
