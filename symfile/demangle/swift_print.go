package demangle

import "strings"

// swiftPrinter writes a tree.
type swiftPrinter struct {
	out    strings.Builder
	work   *int
	depth  int
	failed bool
}

func (p *swiftPrinter) write(text string) {
	if *p.work -= len(text); *p.work < 0 {
		p.failed = true
	}
	if !p.failed {
		p.out.WriteString(text)
	}
}

// print writes a node. If it is the context of another one whose name comes first, as in "closure #1
// in main.f()", it writes nothing and returns what is to be written after that name.
func (p *swiftPrinter) print(n *swiftNode, before bool) (after *swiftNode) {
	if *p.work--; n == nil || *p.work < 0 || p.depth > maxDepth {
		p.failed = true
	}
	if p.failed {
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	switch n.kind {
	case swiftType:
		p.print(n.kid(0), false)
	case swiftModule, swiftIdentifier, swiftBuiltin, swiftTupleType:
		p.write(n.text)
	case swiftSuffix:
		p.write(` with unmangled suffix "` + n.text + `"`)
	case swiftForwarder:
		p.write(n.text)
		if len(n.kids) > 0 {
			p.write(" for ")
			p.list(n.kids, "")
		}
	case swiftClass, swiftStruct, swiftEnum, swiftProtocol, swiftAlias:
		return p.entity(n, before, swiftUntypedForm, "", nil)
	case swiftFunction:
		return p.entity(n, before, swiftFunctionForm, "", nil)
	case swiftBoundFunction:
		return p.entity(n.kid(0), before, swiftFunctionForm, "", n.kid(1))
	case swiftVariable:
		return p.entity(n, before, swiftColonForm, "", nil)
	case swiftSubscript:
		return p.entity(n, before, swiftFunctionForm, "", nil)
	case swiftInit, swiftClosure:
		return p.entity(n, before, swiftFunctionForm, n.text, nil)
	case swiftUntyped, swiftDefault:
		return p.entity(n, before, swiftUntypedForm, n.text, nil)
	case swiftAccessor:
		return p.entity(n.kid(0), before, swiftColonForm, n.text, nil)
	case swiftBound:
		p.bound(n)
	case swiftFunctionType:
		p.function(n, nil)
	case swiftTuple:
		p.write("(")
		p.list(n.kids, ", ")
		p.write(")")
	case swiftElement:
		if n.text != "" {
			p.write(n.text + ": ")
		}
		p.print(n.kid(0), false)
		if n.index != 0 {
			p.write("...")
		}
	case swiftTypeList:
		p.list(n.kids, "")
	case swiftDependent:
		p.dependent(n)
	case swiftMetatype:
		p.write(n.text)
		p.inParens(n.kid(0))
		if n.kid(0).kid(0).is(swiftExistential | swiftProtocols) {
			p.write(".Protocol")
		} else {
			p.write(".Type")
		}
	case swiftProtocols:
		p.list(n.kids, " & ")
		if n.text != "" && len(n.kids) > 0 {
			p.write(" & ")
		}
		if p.write(n.text); n.text == "" && len(n.kids) == 0 {
			p.write("Any")
		}
		if n.index == 1 && len(n.kids) == 1 {
			p.write(" & ")
		}
	case swiftEmpty, swiftFirst, swiftVariadic, swiftAnnotation, swiftLabels:
		p.failed = true
	default:
		p.parts(n)
	}
	return nil
}

func (p *swiftPrinter) list(nodes []*swiftNode, between string) {
	for i, n := range nodes {
		if i > 0 {
			p.write(between)
		}
		p.print(n, false)
	}
}

// parts writes the text of a node with its children: $0 is the first, %0 the same in parentheses if it
// needs them. A child that is not in the text follows it.
func (p *swiftPrinter) parts(n *swiftNode) {
	text := n.text
	for {
		at := strings.IndexAny(text, "$%")
		if at < 0 || at+1 >= len(text) {
			break
		}
		p.write(text[:at])
		kid := n.kid(int(text[at+1]) - '0')
		switch {
		case kid == nil && n.kind == swiftExtension: // it has no signature
		case text[at] == '%':
			p.inParens(kid)
		default:
			p.print(kid, n.kind == swiftExtension && text[at+1] == '0')
		}
		text = text[at+2:]
	}
	p.write(text)
	if !strings.Contains(n.text, "$") && !strings.Contains(n.text, "%") {
		p.list(n.kids, "")
	}
}

// inParens writes a type, in parentheses if it is of several parts.
func (p *swiftPrinter) inParens(n *swiftNode) {
	inner := n
	for inner.is(swiftType) {
		inner = inner.kid(0)
	}
	simple := inner.is(swiftSimple | swiftNominal | swiftBuiltin | swiftTupleType | swiftBound | swiftBoundFunction | swiftDependent | swiftMetatype |
		swiftExistential | swiftModule | swiftTuple | swiftTypeList)
	if inner.is(swiftProtocols) {
		simple = len(inner.kids) == 0 || inner.text == "" && len(inner.kids) == 1 && inner.index == 0
	}
	if simple {
		p.print(n, false)
		return
	}
	p.write("(")
	p.print(n, false)
	p.write(")")
}

// bound writes a generic type: T?, [T] and [K : V] as in a program.
func (p *swiftPrinter) bound(n *swiftNode) {
	generic, args := n.kid(0).kid(0), n.kid(1).kids
	if generic.kid(0).is(swiftModule) && generic.kid(0).text == "Swift" && generic.kid(1).is(swiftIdentifier) && len(n.kids) == 2 {
		switch name := generic.kid(1).text; {
		case generic.is(swiftEnum) && len(args) == 1 && name == "Optional":
			p.inParens(args[0])
			p.write("?")
			return
		case generic.is(swiftEnum) && len(args) == 1 && name == "ImplicitlyUnwrappedOptional":
			p.inParens(args[0])
			p.write("!")
			return
		case generic.is(swiftStruct) && (len(args) == 1 && name == "Array" || len(args) == 2 && name == "Dictionary"):
			p.write("[")
			p.list(args, " : ")
			p.write("]")
			return
		}
	}
	if generic.is(swiftProtocol) && len(n.kids) == 2 {
		p.list(args, "")
		p.write(" as ")
		p.print(n.kid(0), false)
		return
	}
	p.print(n.kid(0), false)
	p.write("<")
	p.list(args, ", ")
	p.write(">")
}

// dependent writes a type after its signature, or a function's type after labels.
func (p *swiftPrinter) dependent(n *swiftNode) {
	if n.kid(0).is(swiftLabels) {
		p.function(n.kid(1).kid(0), n.kid(0))
		return
	}
	p.print(n.kid(0), false)
	if swiftNeedsSpace(n.kid(1)) {
		p.write(" ")
	}
	p.print(n.kid(1), false)
}

// swiftNeedsSpace reports whether a type is written after a space: all but parameters are.
func swiftNeedsSpace(t *swiftNode) bool {
	for t.is(swiftType) {
		t = t.kid(0)
	}
	return !t.is(swiftDependent) && !(t.is(swiftFunctionType) && t.index >= swiftUncurriedStyle)
}

// function writes a function type, with the labels of its parameters.
func (p *swiftPrinter) function(n, labels *swiftNode) {
	if !n.is(swiftFunctionType) {
		p.failed = true
		return
	}
	p.print(n.kid(2), false)
	params := n.kid(0).kid(0)
	if !params.is(swiftTuple) {
		p.write("(")
		p.print(params, false)
		p.write(")")
	} else {
		p.write("(")
		for i, e := range params.kids {
			if i > 0 {
				p.write(", ")
			}
			if label := labels.kid(i); label != nil {
				if label.kind == swiftIdentifier {
					p.write(label.text + ": ")
				} else {
					p.write("_: ")
				}
			}
			p.print(e, false)
		}
		p.write(")")
	}
	p.print(n.kid(3), false)
	p.print(n.kid(1), false)
}

// How the type of an entity is written.
const (
	swiftUntypedForm  = iota // not at all
	swiftColonForm           // name : type
	swiftFunctionForm        // name(parameters) -> result
)

// entity writes a declaration: its context, its name and its type. extra is what it is apart from its name,
// such as "getter" or "closure #1"; with several words it comes first, and the context last.
func (p *swiftPrinter) entity(n *swiftNode, before bool, form int, extra string, args *swiftNode) (after *swiftNode) {
	words := strings.Contains(extra, " ")
	name := n.kid(1)
	if name.is(swiftLocal) {
		words = true
	}
	if before && (form != swiftUntypedForm || words) {
		return n
	}
	if context := n.kid(0); words {
		after = context
	} else {
		at := p.out.Len()
		if after = p.print(context, true); p.out.Len() != at {
			p.write(".")
		}
	}
	private := n.kid(4)
	named := name != nil || n.kind == swiftSubscript || private != nil && n.kind == swiftInit
	if named {
		if words && extra != "" {
			p.write(extra + " of ")
			extra = ""
		}
		at := p.out.Len()
		switch {
		case n.kind == swiftSubscript:
			p.write(n.text)
		case name != nil:
			p.print(name, false)
		}
		if private != nil && n.kind != swiftSubscript {
			p.print(private, false)
		}
		if p.out.Len() != at && extra != "" {
			p.write(".")
		}
	}
	p.write(extra)
	if form != swiftUntypedForm {
		p.entityType(n, form, words, args)
	}
	if !before && after != nil {
		if n.is(swiftDefault|swiftUntyped) && n.index == 0 {
			p.write(" of ")
		} else {
			p.write(" in ")
		}
		p.print(after, false)
		after = nil
	}
	return after
}

// entityType writes the type of a declaration.
func (p *swiftPrinter) entityType(n *swiftNode, form int, words bool, args *swiftNode) {
	typ, labels := n.kid(3).kid(0), n.kid(2)
	t := typ
	for t.is(swiftDependent) {
		t = t.kid(1).kid(0)
	}
	if !t.is(swiftFunctionType) || t.index == swiftOtherStyle {
		form = swiftColonForm
	}
	switch {
	case form == swiftColonForm:
		p.write(" : ")
	case words || swiftNeedsSpace(typ):
		p.write(" ")
	}
	if labels == nil && args == nil {
		p.print(typ, false)
		return
	}
	if args != nil {
		p.write("<")
		p.list(args.kids, ", ")
		p.write(">")
	}
	if typ.is(swiftDependent) {
		if args == nil {
			p.print(typ.kid(0), false)
		}
		if typ = typ.kid(1); swiftNeedsSpace(typ) {
			p.write(" ")
		}
		typ = typ.kid(0)
	}
	p.function(typ, labels)
}
