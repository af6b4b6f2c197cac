package demangle

import (
	"slices"
	"strconv"
	"strings"
)

// How a function type is written (swiftNode.index).
const (
	swiftOtherStyle     = iota // a block, an autoclosure
	swiftThinStyle             // as a function's type, after a space
	swiftUncurriedStyle        // as a function's type
	swiftPlainStyle            // the same, and its parameters may have labels
)

// builtin reads a type of the compiler.
func (s *swiftParser) builtin() *swiftNode {
	c := s.next()
	name := swiftPick("|b=BridgeObject|B=UnsafeValueBuffer|e=Executor|I=IntLiteral|O=UnknownObject|o=NativeObject|p=RawPointer|j=Job|D=DefaultActorStorage|d=NonDefaultDistributedActorStorage|c=RawUnsafeContinuation|t=SILToken|w=Word|P=PackIndex|A=ImplicitActor|", c)
	switch c {
	case 'f', 'i', 'v':
		size := s.number() - 1
		if size <= 0 || size > 4096 {
			return nil
		}
		switch c {
		case 'f':
			name = "FPIEEE"
		case 'i':
			name = "Int"
		default:
			name = "Vec"
		}
		name += strconv.Itoa(size)
		if c == 'v' {
			of := s.popChild()
			if !of.is(swiftBuiltin) {
				return nil
			}
			name += "x" + strings.TrimPrefix(of.text, "Builtin.")
		}
	case 'T':
		return s.typeOf(s.node(swiftTupleType, "Builtin.TheTupleType"))
	case 'V':
		of := s.popChild()
		return s.typeOf(s.node(swiftSimple, "Builtin.FixedArray<$0, $1>", s.popChild(), of))
	}
	if name == "" {
		return nil
	}
	return s.typeOf(s.node(swiftBuiltin, "Builtin."+name))
}

// modifiedType makes a type of the last one, by a letter.
func (s *swiftParser) modifiedType(c byte) *swiftNode {
	switch c {
	case 'm':
		return s.typeOf(s.node(swiftMetatype, "", s.pop(swiftType)))
	case 'z':
		return s.typeOf(s.node(swiftInOut, "inout $0", s.popChild()))
	case 'n':
		return s.typeOf(s.node(swiftText, "__owned $0", s.popChild()))
	default:
		return s.typeOf(s.node(swiftText, "__shared $0", s.popChild()))
	}
}

// swiftDerivatives are the kinds of differentiable functions.
const swiftDerivatives = "|d=|l=(_linear)|f=(_forward)|r=(reverse)|"

// annotation reads what follows "Y": what is true of a function type or a parameter.
func (s *swiftParser) annotation() *swiftNode {
	switch c := s.next(); c {
	case 'a':
		return s.node(swiftAnnotation, "async")
	case 'A':
		return s.node(swiftAnnotation, "isolated")
	case 'b':
		return s.node(swiftAnnotation, "sendable")
	case 'C':
		return s.node(swiftAnnotation, "caller")
	case 'T':
		return s.node(swiftAnnotation, "sending")
	case 'c':
		return s.node(swiftAnnotation, "actor", s.popChild())
	case 'K':
		return s.node(swiftAnnotation, "throws", s.popChild())
	case 'j':
		kind, ok := swiftFind(swiftDerivatives, string(rune(s.next())))
		if !ok {
			return nil
		}
		return s.node(swiftAnnotation, "differentiable", s.node(swiftText, "@differentiable"+kind+" "))
	case 'i', 'k', 't', 'u':
		word := swiftPick("|i=isolated|k=@noDerivative|t=_const|u=sending|", c)
		return s.typeOf(s.node(swiftText, word+" $0", s.popChild()))
	}
	return nil
}

// popAnnotation returns an annotation, or nil.
func (s *swiftParser) popAnnotation(text string) *swiftNode {
	if len(s.stack) > 0 && s.stack[len(s.stack)-1].text == text {
		return s.pop(swiftAnnotation)
	}
	return nil
}

// functionType makes a function type of its annotations, parameters and result. Its children are
// parameters, result, and texts before the first and before the arrow.
func (s *swiftParser) functionType(convention string, style int, clang bool) *swiftNode {
	head, tail := s.node(swiftText, ""), s.node(swiftText, "")
	add := func(to *swiftNode, text string, kids ...*swiftNode) {
		to.kids = append(to.kids, s.node(swiftText, text, kids...))
	}
	if clang {
		n := s.natural()
		if n <= 0 || n > len(s.in)-s.at {
			return nil
		}
		add(head, strings.TrimSuffix(convention, ") ")+", mangledCType: \"$0\") ", s.node(swiftIdentifier, s.in[s.at:s.at+n]))
		s.at += n
	} else if convention != "" {
		add(head, convention)
	}
	sending := s.popAnnotation("sending")
	actor := s.popAnnotation("actor")
	if s.popAnnotation("isolated") != nil {
		add(head, "@isolated(any) ")
	}
	if s.popAnnotation("caller") != nil {
		add(head, "nonisolated(nonsending) ")
	}
	if actor != nil {
		add(head, "@$0 ", actor.kid(0))
	}
	if sending == nil { // before Swift 6.1
		sending = s.popAnnotation("sending")
	}
	if d := s.popAnnotation("differentiable"); d != nil {
		head.kids = append(head.kids, d.kid(0))
	}
	throws := s.popAnnotation("throws")
	if s.popAnnotation("sendable") != nil {
		add(head, "@Sendable ")
	}
	if s.popAnnotation("async") != nil {
		add(tail, " async")
	}
	if throws != nil && throws.kid(0) != nil {
		add(tail, " throws($0)", throws.kid(0))
	} else if throws != nil {
		add(tail, " throws")
	}
	if add(tail, " -> "); sending != nil {
		add(tail, "sending ")
	}
	params := s.popParams()
	n := s.node(swiftFunctionType, "", params, s.popParams(), head, tail)
	n.index = style
	return s.typeOf(n)
}

// popParams returns the type of parameters or results.
func (s *swiftParser) popParams() *swiftNode {
	if s.pop(swiftEmpty) != nil {
		return s.typeOf(s.node(swiftTuple, ""))
	}
	return s.pop(swiftType)
}

// popLabels returns the labels of the parameters of a function's type, or nil if it has no place for
// any.
func (s *swiftParser) popLabels(typ *swiftNode) *swiftNode {
	if !s.old && s.pop(swiftEmpty) != nil {
		return s.node(swiftLabels, "")
	}
	f := typ.kid(0)
	if f.is(swiftDependent) {
		f = f.kid(1).kid(0)
	}
	if !f.is(swiftFunctionType) || f.index != swiftPlainStyle {
		return nil
	}
	count, params := 1, f.kid(0).kid(0)
	if params.is(swiftTuple) {
		count = len(params.kids)
	}
	if count == 0 {
		return nil
	}
	labels, named := s.node(swiftLabels, ""), false
	if s.old {
		if !params.is(swiftTuple) {
			return labels
		}
		for _, e := range params.kids {
			label := s.node(swiftFirst, "")
			if e.text != "" {
				label, named = s.node(swiftIdentifier, e.text), true
				e.text = ""
			}
			labels.kids = append(labels.kids, label)
		}
	} else {
		labels.kids = make([]*swiftNode, count)
		for i := count - 1; i >= 0; i-- {
			labels.kids[i] = s.pop(swiftIdentifier | swiftFirst)
			if labels.kids[i] == nil {
				s.fail()
				return nil
			}
			named = named || labels.kids[i].kind == swiftIdentifier
		}
	}
	if !named {
		return s.node(swiftLabels, "")
	}
	return labels
}

// popList pops nodes by a function down to the first of a list, and returns them in order. ok is false
// if one is missing.
func (s *swiftParser) popList(pop func() *swiftNode) (list []*swiftNode, ok bool) {
	if s.pop(swiftEmpty) != nil {
		return nil, true
	}
	for first := false; !first; {
		first = s.pop(swiftFirst) != nil
		n := pop()
		if n == nil || s.failed {
			return nil, false
		}
		list = append(list, n)
	}
	slices.Reverse(list)
	return list, true
}

// listOf makes a node of a list.
func (s *swiftParser) listOf(kind swiftKinds, text string, pop func() *swiftNode) *swiftNode {
	list, ok := s.popList(pop)
	if !ok {
		return nil
	}
	return s.node(kind, text, list...)
}

func (s *swiftParser) popType() *swiftNode { return s.pop(swiftType) }

func (s *swiftParser) typeList() *swiftNode { return s.listOf(swiftTypeList, "", s.popType) }

func (s *swiftParser) tuple() *swiftNode {
	return s.typeOf(s.listOf(swiftTuple, "", func() *swiftNode {
		variadic, label := s.pop(swiftVariadic), s.pop(swiftIdentifier)
		e := s.node(swiftElement, "", s.pop(swiftType))
		if label != nil {
			e.text = label.text
		}
		if variadic != nil {
			e.index = 1
		}
		return e
	}))
}

// popProtocol returns a protocol as a type.
func (s *swiftParser) popProtocol() *swiftNode {
	if t := s.pop(swiftType); t != nil {
		if !t.kid(0).is(swiftProtocol) {
			return nil
		}
		return t
	}
	name := s.pop(swiftDeclName)
	context := s.popContext()
	if name == nil {
		return nil
	}
	return s.typeOf(s.entity(swiftProtocol, "", context, name, nil, nil, nil))
}

func (s *swiftParser) protocols() *swiftNode { return s.listOf(swiftProtocols, "", s.popProtocol) }

// boundLists pops the arguments of a generic type and those of the types that it is in, the innermost
// first.
func (s *swiftParser) boundLists() (lists []*swiftNode, retroactive *swiftNode) {
	for n := s.pop(swiftRetroactive); n != nil; n = s.pop(swiftRetroactive) {
		retroactive = n // it only matters that there is one
	}
	for !s.failed {
		lists = append(lists, s.node(swiftTypeList, "", s.popTypes()...))
		if s.pop(swiftEmpty) != nil {
			return lists, retroactive
		}
		if s.pop(swiftFirst) == nil {
			s.fail()
		}
	}
	return nil, nil
}

func (s *swiftParser) boundType() *swiftNode {
	lists, retroactive := s.boundLists()
	n := s.bound(s.popNominal(), lists)
	if n == nil {
		return nil
	}
	if retroactive != nil {
		n.kids = append(n.kids, retroactive)
	}
	return s.sub(s.typeOf(n))
}

// bound gives a type its arguments, and those that are left to what it is in.
func (s *swiftParser) bound(n *swiftNode, lists []*swiftNode) (out *swiftNode) {
	if n == nil || len(lists) == 0 || len(n.kids) == 0 {
		return nil
	}
	s.scanner.nested(func() {
		args := lists[0]
		takes := !n.is(swiftVariable|swiftSubscript|swiftClosure|swiftDefault|swiftStatic) && !(n.is(swiftUntyped) && strings.Contains(n.text, " "))
		if takes {
			lists = lists[1:]
		}
		if len(lists) > 0 {
			context := n.kids[0]
			if context.is(swiftExtension) {
				inner := *context
				inner.kids = append([]*swiftNode(nil), context.kids...)
				inner.kids[1] = s.bound(context.kids[1], lists)
				if context = &inner; inner.kids[1] == nil {
					return
				}
			} else if context = s.bound(context, lists); context == nil {
				return
			}
			copied := *n
			copied.kids = append([]*swiftNode{context}, n.kids[1:]...)
			n = &copied
		}
		switch {
		case !takes || len(args.kids) == 0:
			out = n
		case n.is(swiftFunction | swiftInit):
			out = s.node(swiftBoundFunction, "", n, args)
		case n.is(swiftNominal):
			out = s.node(swiftBound, "", s.typeOf(n), args)
		}
	})
	return out
}

// genericParam is the type parameter with a number, of the generic context with a depth: A, B, A1.
func (s *swiftParser) genericParam(depth, index int) *swiftNode {
	n := s.node(swiftSimple, swiftParamName(depth, index))
	n.index = depth<<24 | index
	return n
}

func swiftParamName(depth, index int) string {
	name := ""
	for more := true; more; more = index > 0 {
		name += string(rune('A' + index%26))
		index /= 26
	}
	if depth > 0 {
		name += strconv.Itoa(depth)
	}
	return name
}

// param reads the number of a type parameter.
func (s *swiftParser) param() *swiftNode {
	switch {
	case s.accept("d"):
		depth := s.number() + 1
		return s.genericParam(depth, s.number())
	case s.accept("z"):
		return s.genericParam(0, 0)
	case s.accept("s"):
		return s.node(swiftSimple, "Self")
	}
	return s.genericParam(0, s.number()+1)
}

// popAssocName returns the name of an associated type, with its protocol if that is given.
func (s *swiftParser) popAssocName() *swiftNode {
	proto := s.pop(swiftType)
	name := s.pop(swiftIdentifier)
	if proto == nil {
		return s.node(swiftText, "$0", name)
	}
	if !proto.kid(0).is(swiftProtocol) {
		return nil
	}
	return s.node(swiftText, "$1.$0", name, proto)
}

// member makes a type of a base, nil for the last type, and the name of an associated type, or of
// several that follow each other.
func (s *swiftParser) member(base *swiftNode, many bool) *swiftNode {
	names := []*swiftNode{}
	if many {
		var ok bool
		if names, ok = s.popList(s.popAssocName); !ok {
			return nil
		}
	} else {
		names = append(names, s.popAssocName())
	}
	t := base
	if t == nil {
		t = s.pop(swiftType)
	} else {
		t = s.typeOf(t)
	}
	for _, name := range names {
		t = s.typeOf(s.node(swiftSimple, "$0.$1", t, name))
	}
	return t
}

// assocPath returns the names of associated types that follow each other.
func (s *swiftParser) assocPath() *swiftNode {
	list, ok := s.popList(s.popAssocName)
	if !ok {
		return nil
	}
	return s.node(swiftText, swiftPattern(len(list), "."), list...)
}

// swiftPattern is the text of a node that writes n children with a separator.
func swiftPattern(n int, between string) string {
	var b strings.Builder
	for i := range min(n, swiftMostParts) {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString("$" + string(rune('0'+i)))
	}
	return b.String()
}

// swiftMostParts is how many parts a text can have; each is a character from "0" on.
const swiftMostParts = 70

// archetype reads what follows "Q".
func (s *swiftParser) archetype() *swiftNode {
	switch c := s.next(); c {
	case 'a':
		name := s.pop(swiftIdentifier)
		return s.sub(s.typeOf(s.node(swiftSimple, "$0.$1", s.popChild(), name)))
	case 'O':
		return s.node(swiftContext, "<<opaque return type of $0>>", s.popContext())
	case 'o':
		index := s.number()
		s.boundLists()
		return s.sub(s.typeOf(s.node(swiftText, "$0."+strconv.Itoa(index), s.pop(swiftAny))))
	case 'r':
		return s.typeOf(s.node(swiftText, "some"))
	case 'R':
		s.number()
		return s.typeOf(s.node(swiftText, "some"))
	case 'x', 'X':
		return s.sub(s.member(nil, c == 'X'))
	case 'y', 'Y':
		return s.sub(s.member(s.param(), c == 'Y'))
	case 'z', 'Z':
		return s.sub(s.member(s.genericParam(0, 0), c == 'Z'))
	case 'p':
		s.popChild() // how many there are
		return s.typeOf(s.node(swiftText, "repeat $0", s.popChild()))
	case 'e':
		pack := s.popChild()
		level := s.number()
		return s.typeOf(s.node(swiftText, "/* level: "+strconv.Itoa(level)+" */ each $0", pack))
	case 'P':
		return s.pack("Pack{")
	case 'S':
		if s.accept("d") {
			return s.pack("@direct Pack{")
		}
		if s.accept("i") {
			return s.pack("@indirect Pack{")
		}
	}
	return nil
}

func (s *swiftParser) pack(head string) *swiftNode {
	list := s.typeList()
	if list == nil || len(list.kids) > swiftMostParts {
		return nil
	}
	return s.typeOf(s.node(swiftSimple, head+swiftPattern(len(list.kids), ", ")+"}", list.kids...))
}

// signature makes the generic signature of the requirements before it: how many parameters there are
// at each depth, and what is required of them.
func (s *swiftParser) signature(counted bool) *swiftNode {
	counts := []int{1}
	if counted {
		counts = nil
		for !s.failed && !s.accept("l") {
			n := 0
			if !s.accept("z") {
				n = s.number() + 1
			}
			counts = append(counts, n)
		}
	}
	var requirements []*swiftNode
	packs := map[int]bool{}
	for r := s.pop(swiftRequirement | swiftPackMarker); r != nil; r = s.pop(swiftRequirement | swiftPackMarker) {
		if r.kind == swiftPackMarker {
			packs[r.kid(0).kid(0).index] = true
		} else {
			requirements = append(requirements, r)
		}
	}
	slices.Reverse(requirements)
	var b strings.Builder
	b.WriteString("<")
	for depth, count := range counts {
		if depth > 0 {
			b.WriteString("><")
		}
		const most = 128
		for i := range min(count, most) {
			if i > 0 {
				b.WriteString(", ")
			}
			if packs[depth<<24|i] {
				b.WriteString("each ")
			}
			b.WriteString(swiftParamName(depth, i))
		}
		if count > most {
			b.WriteString(", ...")
		}
		if s.draw(2 + min(count, most)); s.failed {
			return nil
		}
	}
	if len(requirements) > 0 {
		b.WriteString(" where " + swiftPattern(len(requirements), ", "))
	}
	if len(requirements) > swiftMostParts {
		return nil
	}
	return s.node(swiftSignature, b.String()+">", requirements...)
}

// requirement reads one requirement of a generic signature: a letter says what is required and of
// what.
func (s *swiftParser) requirement() *swiftNode {
	const generic, assoc, compound, given = 0, 1, 2, 3
	// A letter, what is required, and of what.
	const letters, whats, ofs = "vcCbBtTsSmMlLpPQhiI", "vccccssssllllppphii", "0120312031203123003"
	what, of := byte('p'), generic
	if i := strings.IndexByte(letters, s.next()); i >= 0 {
		what, of = whats[i], int(ofs[i]-'0')
	} else {
		s.at--
	}
	inverse := ""
	if what == 'i' {
		bit := s.number()
		inverse = "<bit " + strconv.Itoa(bit) + ">"
		if bit < 2 {
			inverse = []string{"Copyable", "Escapable"}[bit]
		}
	}
	var t *swiftNode
	switch of {
	case generic:
		t = s.typeOf(s.param())
	case assoc, compound:
		t = s.sub(s.member(s.param(), of == compound))
	default:
		t = s.pop(swiftType)
	}
	switch what {
	case 'v':
		return s.node(swiftPackMarker, "", t)
	case 'p':
		return s.node(swiftRequirement, "$0: $1", t, s.popProtocol())
	case 'i':
		return s.node(swiftRequirement, "$0: ~Swift."+inverse, t)
	case 'c':
		return s.node(swiftRequirement, "$0: $1", t, s.pop(swiftType))
	case 's':
		return s.node(swiftRequirement, "$0 == $1", t, s.pop(swiftType))
	case 'h':
		return s.node(swiftRequirement, "$0.shape == $1.shape", t, s.pop(swiftType))
	}
	return s.layout(t)
}

// layout reads what is required of how values of a type are stored.
func (s *swiftParser) layout(t *swiftNode) *swiftNode {
	c := s.next()
	text := swiftPick("|U=_UnknownLayout|R=_RefCountedObject|N=_NativeRefCountedObject|C=AnyObject|D=_NativeClass|T=_Trivial|B=_BridgeObject|E=_Trivial|e=_Trivial|M=_TrivialAtMost|m=_TrivialAtMost|S=_TrivialStride|", c)
	if text == "" {
		return nil
	}
	if strings.IndexByte("EeMmS", c) >= 0 {
		text += "(" + strconv.Itoa(s.number())
		if c == 'E' || c == 'M' {
			text += ", " + strconv.Itoa(s.number())
		}
		text += ")"
	}
	return s.node(swiftRequirement, "$0: "+text, t)
}

// swiftFunctionStyles are the function types that follow "X": their style and their convention.
const swiftFunctionStyles = "|E=3|A=0@autoclosure |K=0@autoclosure |f=1@convention(thin) |U=2|L=0@escaping @convention(block) |B=0@convention(block) |C=1@convention(c) |"

// special reads what follows "X".
func (s *swiftParser) special() *swiftNode {
	c := s.next()
	clang := c == 'z'
	if clang {
		if c = s.next(); c != 'B' && c != 'C' {
			return nil
		}
	}
	if f := swiftPick(swiftFunctionStyles, c); f != "" {
		return s.functionType(f[1:], int(f[0]-'0'), clang)
	}
	if text := swiftPick("|o=unowned $0|u=unowned(unsafe) $0|w=weak $0|", c); text != "" {
		return s.typeOf(s.node(swiftText, text, s.pop(swiftType)))
	}
	switch c {
	case 'b':
		return s.typeOf(s.node(swiftSimple, "@box $0", s.pop(swiftType)))
	case 'D':
		s.pop(swiftType)
		return s.typeOf(s.node(swiftSimple, "Self"))
	case 'M', 'm':
		text := swiftPick("|t=@thin |T=@thick |o=@objc_metatype |", s.next())
		if text == "" {
			return nil
		}
		if c == 'm' {
			return s.typeOf(s.node(swiftExistential, text+"$0.Type", s.pop(swiftType)))
		}
		return s.typeOf(s.node(swiftMetatype, text, s.pop(swiftType)))
	case 'p':
		return s.typeOf(s.node(swiftExistential, "$0.Type", s.pop(swiftType)))
	case 'P':
		list, ok := s.popList(func() *swiftNode { return s.pop(swiftRequirement) })
		if !ok || len(list) >= swiftMostParts {
			return nil
		}
		return s.typeOf(s.node(swiftText, "any $"+string(rune('0'+len(list)))+"<"+swiftPattern(len(list), ", ")+">", append(list, s.pop(swiftType))...))
	case 'c':
		class := s.pop(swiftType)
		n := s.protocols()
		if n == nil || class == nil {
			return nil
		}
		n.kids, n.index = append([]*swiftNode{class}, n.kids...), 1
		return s.typeOf(n)
	case 'l':
		n := s.protocols()
		if n == nil {
			return nil
		}
		n.text = "Swift.AnyObject"
		return s.typeOf(n)
	case 'X', 'x':
		return s.box(c == 'X')
	case 'Y':
		return s.nominal(swiftAlias)
	case 'Z':
		types, name := s.typeList(), s.pop(swiftIdentifier)
		n := s.node(swiftContext, "$1.(unknown context at $0)", name, s.popContext(), types)
		if types != nil && len(types.kids) > 0 {
			n.text += "<$2>"
		}
		return n
	case 'e':
		return s.typeOf(s.node(swiftSimple, "<ERROR TYPE>"))
	case 'S':
		switch s.next() {
		case 'q':
			return s.typeOf(s.node(swiftSimple, "%0?", s.pop(swiftType)))
		case 'a':
			return s.typeOf(s.node(swiftSimple, "[$0]", s.pop(swiftType)))
		case 'D':
			value := s.pop(swiftType)
			return s.typeOf(s.node(swiftSimple, "[$0 : $1]", s.pop(swiftType), value))
		case 'p':
			return s.typeOf(s.node(swiftSimple, "($0)", s.pop(swiftType)))
		}
	}
	return nil
}

// box makes the type of a box with fields, perhaps with a signature and its arguments.
func (s *swiftParser) box(generic bool) *swiftNode {
	var sig, args *swiftNode
	if generic {
		sig = s.pop(swiftSignature)
		if args = s.typeList(); sig == nil || args == nil || len(args.kids) > swiftMostParts {
			return nil
		}
	}
	fields := s.typeList()
	if fields == nil || len(fields.kids) > swiftMostParts {
		return nil
	}
	var b strings.Builder
	kids := []*swiftNode{}
	for i, f := range fields.kids {
		if i > 0 {
			b.WriteString(",")
		}
		word := " let $"
		if f.kid(0).is(swiftInOut) {
			word, f = " var $", f.kid(0).kid(0)
		}
		b.WriteString(word + string(rune('0'+i)))
		kids = append(kids, f)
	}
	box := s.node(swiftSimple, "{"+b.String()+" }", kids...)
	if generic {
		list := s.node(swiftText, swiftPattern(len(args.kids), ", "), args.kids...)
		box = s.node(swiftSimple, "$0 $1 <$2>", sig, box, list)
	}
	return s.typeOf(box)
}

// valueWitness reads which operation on values of a type a function is.
func (s *swiftParser) valueWitness() *swiftNode {
	const all = " alallocateBuffer caassignWithCopy taassignWithTake dedeallocateBuffer xxdestroy XXdestroyBuffer XxdestroyArray" +
		" CPinitializeBufferWithCopyOfBuffer CpinitializeBufferWithCopy cpinitializeWithCopy TkinitializeBufferWithTake tkinitializeWithTake prprojectBuffer" +
		" TKinitializeBufferWithTakeOfBuffer CcinitializeArrayWithCopy TtinitializeArrayWithTakeFrontToBack tTinitializeArrayWithTakeBackToFront" +
		" xsstoreExtraInhabitant xggetExtraInhabitantIndex uggetEnumTag updestructiveProjectEnumData uidestructiveInjectEnumTag etgetEnumTagSinglePayload" +
		" ststoreEnumTagSinglePayload "
	a, b := s.next(), s.next()
	at := strings.Index(all, string([]byte{' ', a, b}))
	if at < 0 || s.failed || a == ' ' || b == ' ' {
		return nil
	}
	name, _, _ := strings.Cut(all[at+3:], " ")
	return s.node(swiftText, name+" value witness for $0", s.pop(swiftType))
}
