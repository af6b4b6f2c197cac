package demangle

import (
	"slices"
	"strconv"
	"strings"
)

// A Swift name is a program for a stack machine: a letter or a few push a node or make one of those on
// the stack. swift.go reads the letters, swift_identifiers.go the names, swift_types.go the types and signatures,
// swift_thunks.go what is made from a function, and swift_print.go writes the tree.
//
//	$s4main3FooC3baryySiF     main · Foo · class of the two · bar · no labels · () · Int · function
//	main.Foo.bar(Swift.Int) -> ()
//
// Source: docs/ABI/Mangling.rst of the Swift project, and its lib/Demangling for what that leaves
// open. The spelling is that of the tool swift-demangle.

// swiftKinds is a kind of node, or a set of them.
type swiftKinds uint64

const (
	swiftText      swiftKinds = 1 << iota // a text with parts ($0, $1 …), of no other kind
	swiftSimple                           // the same, a type that needs no parentheses
	swiftAttribute                        // the same, before a function
	swiftForwarder                        // a partial application, which what follows is a part of
	swiftSuffix                           // what compilers append
	swiftModule
	swiftIdentifier
	swiftPrivate // a name with its file
	swiftLocal   // a name with its number in a function
	swiftNamed   // another name of a declaration
	swiftType    // of one child; elsewhere types are not recognized
	swiftClass
	swiftStruct
	swiftEnum
	swiftProtocol
	swiftAlias // and another nominal type
	swiftBuiltin
	swiftTupleType // Builtin.TheTupleType
	swiftBound     // a generic type with its arguments
	swiftBoundFunction
	swiftFunction
	swiftVariable
	swiftSubscript
	swiftInit
	swiftUntyped // deinit, and expressions that belong to a variable
	swiftDefault // a default argument
	swiftClosure
	swiftAccessor
	swiftStatic
	swiftExtension
	swiftContext // another one: a text
	swiftEmpty
	swiftFirst
	swiftVariadic
	swiftAnnotation // of a function type
	swiftFunctionType
	swiftTuple
	swiftElement
	swiftLabels
	swiftTypeList
	swiftSignature
	swiftRequirement
	swiftPackMarker
	swiftDependent // a type with its signature
	swiftMetatype
	swiftExistential // the metatype of a protocol
	swiftProtocols
	swiftConformance // one to which a type argument refers
	swiftDependentConformance
	swiftConformanceRef
	swiftRetroactive
	swiftInOut

	swiftNominal  = swiftClass | swiftStruct | swiftEnum | swiftProtocol | swiftAlias
	swiftDeclName = swiftIdentifier | swiftPrivate | swiftLocal | swiftNamed
	swiftContexts = swiftModule | swiftNominal | swiftTupleType | swiftFunction | swiftVariable | swiftSubscript | swiftInit | swiftUntyped |
		swiftDefault | swiftClosure | swiftAccessor | swiftStatic | swiftExtension | swiftContext
	swiftEntity  = swiftContexts | swiftType
	swiftMarkers = swiftEmpty | swiftFirst | swiftVariadic | swiftAnnotation | swiftLabels | swiftTypeList | swiftRequirement | swiftPackMarker |
		swiftRetroactive
	swiftAny = ^swiftKinds(0)
)

// swiftNode is a node. The children of an entity are its context, name, labels, type and private
// name, those of other kinds stand where they are made. A child may be nil.
type swiftNode struct {
	kind  swiftKinds
	text  string
	index int
	kids  []*swiftNode
}

// kid returns a child, or nil.
func (n *swiftNode) kid(i int) *swiftNode {
	if n == nil || i >= len(n.kids) {
		return nil
	}
	return n.kids[i]
}

// is reports whether a node is of one of the kinds.
func (n *swiftNode) is(kinds swiftKinds) bool { return n != nil && n.kind&kinds != 0 }

// swiftParser reads a name.
type swiftParser struct {
	scanner
	stack, subs []*swiftNode
	words       []string
	old         bool // "_T0": a parameter's label is in its type
	work        *int // what is left of swiftWork
	nested      int  // names in names
}

const (
	// swiftWork limits the nodes that are made and printed and the bytes that are written for one
	// name. Substitutions can double a name with every few letters.
	swiftWork = 1 << 16
	// swiftNested is how many names may be in each other: a specialized function has those of its
	// constant arguments.
	swiftNested = 3
)

// isSwift reports whether a name has the prefix of Swift's mangling.
func isSwift(s string) bool { return swiftPrefix(s) > 0 }

func swiftPrefix(s string) int {
	for _, p := range []string{"$s", "_$s", "$S", "_$S", "_T0", "__T0", "@__swiftmacro_"} {
		if strings.HasPrefix(s, p) {
			return len(p)
		}
	}
	return 0
}

// swiftName returns the readable form of a Swift name. ok is false if it is another name, or anything
// in it is not understood.
func swiftName(name string) (readable string, ok bool) {
	work := swiftWork
	return swiftNameOf(name, &work, 0)
}

func swiftNameOf(name string, work *int, nested int) (string, bool) {
	at := swiftPrefix(name)
	if at == 0 || nested > swiftNested {
		return "", false
	}
	s := &swiftParser{scanner: scanner{in: name, at: at}, old: strings.Contains(name[:at], "T"), work: work, nested: nested}
	for !s.failed && s.at < len(s.in) {
		s.push(s.operator())
	}
	// Attributes are pushed after what they are of, and written before it.
	suffix := s.pop(swiftSuffix)
	root := s.node(swiftText, "")
	parent := root
	for n := s.pop(swiftAttribute | swiftForwarder); n != nil; n = s.pop(swiftAttribute | swiftForwarder) {
		parent.kids = append(parent.kids, n)
		if n.kind == swiftForwarder {
			parent = n
		}
	}
	if s.failed || len(s.stack) > 1 || len(root.kids)+len(s.stack) == 0 {
		return "", false
	}
	for _, n := range s.stack {
		if n.is(swiftMarkers) {
			return "", false
		}
		parent.kids = append(parent.kids, n)
	}
	if suffix != nil {
		root.kids = append(root.kids, suffix)
	}
	p := swiftPrinter{work: work}
	p.print(root, false)
	return p.out.String(), !p.failed
}

// swiftFind returns the text of a key in a table of "|key=text|key=text|".
func swiftFind(table, key string) (text string, ok bool) {
	at := strings.Index(table, "|"+key+"=")
	if at < 0 {
		return "", false
	}
	text, _, _ = strings.Cut(table[at+len(key)+2:], "|")
	return text, true
}

// swiftPick is swiftFind for a letter.
func swiftPick(table string, key byte) string {
	text, _ := swiftFind(table, string(rune(key)))
	return text
}

// draw takes from what one name may cost.
func (s *swiftParser) draw(n int) {
	if *s.work -= n; *s.work < 0 {
		s.fail()
	}
}

// node makes a node. Without one of its children it fails.
func (s *swiftParser) node(kind swiftKinds, text string, kids ...*swiftNode) *swiftNode {
	s.draw(1 + len(kids))
	for _, k := range kids {
		if k == nil {
			s.fail()
		}
	}
	if s.failed {
		return &swiftNode{kind: kind, text: text}
	}
	return &swiftNode{kind: kind, text: text, kids: kids}
}

// entity makes a declaration. labels and private may be nil, name and typ only where they are not
// needed.
func (s *swiftParser) entity(kind swiftKinds, text string, context, name, labels, typ, private *swiftNode) *swiftNode {
	n := s.node(kind, text, context)
	n.kids = []*swiftNode{context, name, labels, typ, private}
	return n
}

// typeOf wraps a node as a type.
func (s *swiftParser) typeOf(n *swiftNode) *swiftNode { return s.node(swiftType, "", n) }

// sub makes a node one that later letters can refer to.
func (s *swiftParser) sub(n *swiftNode) *swiftNode {
	s.subs = append(s.subs, n)
	return n
}

func (s *swiftParser) push(n *swiftNode) {
	if n == nil {
		s.fail()
		return
	}
	s.stack = append(s.stack, n)
}

// pop returns the last node if it is of one of the kinds, else nil.
func (s *swiftParser) pop(kinds swiftKinds) *swiftNode {
	if len(s.stack) == 0 || s.failed {
		return nil
	}
	n := s.stack[len(s.stack)-1]
	if !n.is(kinds) {
		return nil
	}
	s.stack = s.stack[:len(s.stack)-1]
	return n
}

// popTypes returns the last types, as many as follow each other, in their order.
func (s *swiftParser) popTypes() (types []*swiftNode) {
	for t := s.pop(swiftType); t != nil; t = s.pop(swiftType) {
		types = append(types, t)
	}
	slices.Reverse(types)
	s.draw(len(types))
	return types
}

// popChild returns what is in the last type.
func (s *swiftParser) popChild() *swiftNode { return s.pop(swiftType).kid(0) }

// natural reads a number, or returns -1.
func (s *swiftParser) natural() int {
	n, digits := 0, 0
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
		digits++
		if n = 10*n + int(c-'0'); n > 1<<24 {
			s.fail()
		}
	}
	if digits == 0 {
		return -1
	}
	return n
}

// number reads an index: "_" is 0, "0_" is 1.
func (s *swiftParser) number() int {
	n := s.natural() + 1
	if !s.accept("_") {
		s.fail()
	}
	return n
}

// operator reads one step and returns the node that it makes.
func (s *swiftParser) operator() *swiftNode {
	switch c := s.next(); c {
	case 'A':
		return s.substitutions()
	case 'B':
		return s.builtin()
	case 'C':
		return s.nominal(swiftClass)
	case 'V':
		return s.nominal(swiftStruct)
	case 'O':
		return s.nominal(swiftEnum)
	case 'P':
		return s.nominal(swiftProtocol)
	case 'a':
		return s.nominal(swiftAlias)
	case 'D':
		typ := s.pop(swiftType)
		if labels := s.popLabels(typ); labels != nil {
			return s.node(swiftText, "$0", s.node(swiftDependent, "", labels, typ))
		}
		return s.node(swiftText, "$0", typ)
	case 'E':
		return s.extension()
	case 'F':
		return s.function()
	case 'G':
		return s.boundType()
	case 'I':
		return s.implType()
	case 'K':
		return s.node(swiftAnnotation, "throws")
	case 'L':
		return s.localName()
	case 'N':
		return s.node(swiftText, "type metadata for $0", s.pop(swiftType))
	case 'Q':
		return s.archetype()
	case 'R':
		return s.requirement()
	case 'S':
		return s.standard()
	case 'H', 'M', 'T', 'W':
		return s.thunk(c)
	case 'X':
		return s.special()
	case 'Y':
		return s.annotation()
	case 'Z':
		return s.node(swiftStatic, "static $0", s.pop(swiftEntity))
	case 'c':
		return s.functionType("", swiftPlainStyle, false)
	case 'd':
		return s.node(swiftVariadic, "")
	case 'f':
		return s.functionEntity()
	case 'g':
		index := s.number()
		return s.node(swiftRetroactive, "retroactive @ "+strconv.Itoa(index)+"$0", s.pop(swiftConformance|swiftDependentConformance))
	case 'h', 'n', 'z', 'm':
		return s.modifiedType(c)
	case 'i':
		private, typ := s.pop(swiftPrivate), s.pop(swiftType)
		labels := s.popLabels(typ)
		if typ == nil {
			return nil
		}
		return s.accessor(s.entity(swiftSubscript, "subscript", s.popContext(), nil, labels, typ, private))
	case 'l', 'r':
		return s.signature(c == 'r')
	case 'o':
		return s.operatorName()
	case 'p':
		return s.typeOf(s.protocols())
	case 'q':
		return s.typeOf(s.param())
	case 's':
		return s.node(swiftModule, "Swift")
	case 't':
		return s.tuple()
	case 'u':
		sig := s.pop(swiftSignature)
		return s.typeOf(s.node(swiftDependent, "", sig, s.pop(swiftType)))
	case 'v':
		return s.accessor(s.declaration(swiftVariable))
	case 'w':
		return s.valueWitness()
	case 'x':
		return s.typeOf(s.genericParam(0, 0))
	case 'y':
		return s.node(swiftEmpty, "")
	case '_':
		return s.node(swiftFirst, "")
	case '$':
		sign := ""
		if s.accept("n") {
			sign = "-"
		}
		return s.typeOf(s.node(swiftSimple, sign+strconv.Itoa(s.number())))
	case '.':
		n := s.node(swiftSuffix, s.in[s.at-1:])
		s.at = len(s.in)
		return n
	default:
		if c < '0' || c > '9' {
			return nil
		}
		s.at--
		return s.identifier()
	}
}

// substitutions reads references to earlier nodes: lower-case letters, and an upper-case one that ends
// the list, each after how often it counts; or the number of one beyond the 26th.
func (s *swiftParser) substitutions() *swiftNode {
	for repeat := -1; !s.failed; {
		c := s.next()
		switch {
		case c == '_':
			if repeat += 27; repeat >= len(s.subs) {
				return nil
			}
			return s.subs[repeat]
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := int(c|0x20) - 'a'
			if n >= len(s.subs) {
				return nil
			}
			s.repeat(s.subs[n], repeat)
			if c <= 'Z' {
				return s.subs[n]
			}
			s.push(s.subs[n])
			repeat = -1
		default:
			s.at--
			if repeat = s.natural(); repeat < 0 {
				return nil
			}
		}
	}
	return nil
}

// repeat pushes a node one time less than a number says.
func (s *swiftParser) repeat(n *swiftNode, count int) {
	if count > 1 {
		s.draw(count)
	}
	for ; count > 1 && !s.failed; count-- {
		s.push(n)
	}
}

// swiftStandard are the types of the standard library that have a letter, with their kinds. Those of
// concurrency have a "c" before it.
const swiftStandard = " aVArray bVBool DVDictionary dVDouble fVFloat hVSet IVDefaultIndices iVInt JVCharacter NVClosedRange nVRange OVObjectIdentifier" +
	" PVUnsafePointer pVUnsafeMutablePointer RVUnsafeBufferPointer rVUnsafeMutableBufferPointer SVString sVSubstring uVUInt VVUnsafeRawPointer" +
	" vVUnsafeMutableRawPointer WVUnsafeRawBufferPointer wVUnsafeMutableRawBufferPointer qOOptional BPBinaryFloatingPoint EPEncodable ePDecodable" +
	" FPFloatingPoint GPRandomNumberGenerator HPHashable jPNumeric KPBidirectionalCollection kPRandomAccessCollection LPComparable lPCollection" +
	" MPMutableCollection mPRangeReplaceableCollection QPEquatable TPSequence tPIteratorProtocol UPUnsignedInteger XPRangeExpression xPStrideable" +
	" YPRawRepresentable yPStringProtocol ZPSignedInteger zPBinaryInteger" +
	" cAPActor cCVCheckedContinuation ccVUnsafeContinuation cEVCancellationError ceVUnownedSerialExecutor cFPExecutor cfPSerialExecutor cGVTaskGroup" +
	" cgVThrowingTaskGroup chPTaskExecutor cIPAsyncIteratorProtocol ciPAsyncSequence cJVUnownedJob cMCMainActor cPVTaskPriority cSVAsyncStream" +
	" csVAsyncThrowingStream cTVTask ctVUnsafeCurrentTask "

// standard reads what follows "S".
func (s *swiftParser) standard() *swiftNode {
	switch {
	case s.accept("o"):
		return s.node(swiftModule, "__C")
	case s.accept("C"):
		return s.node(swiftModule, "__C_Synthesized")
	case s.accept("g"):
		return s.sub(s.typeOf(s.node(swiftBound, "", s.swiftType(swiftEnum, "Optional"), s.node(swiftTypeList, "", s.pop(swiftType)))))
	}
	count := s.natural()
	key := " "
	if s.accept("c") {
		key += "c"
	}
	c := s.next()
	if key += string(rune(c)); c == ' ' {
		return nil
	}
	at := strings.Index(swiftStandard, key)
	if at < 0 || s.failed {
		return nil
	}
	entry, _, _ := strings.Cut(swiftStandard[at+len(key):], " ")
	kind := swiftStruct
	switch entry[0] {
	case 'O':
		kind = swiftEnum
	case 'P':
		kind = swiftProtocol
	case 'C':
		kind = swiftClass
	}
	n := s.swiftType(kind, entry[1:])
	s.repeat(n, count)
	return n
}

// swiftType is a type of the standard library.
func (s *swiftParser) swiftType(kind swiftKinds, name string) *swiftNode {
	return s.typeOf(s.entity(kind, "", s.node(swiftModule, "Swift"), s.node(swiftIdentifier, name), nil, nil, nil))
}

// popModule returns a module, which an identifier may be.
func (s *swiftParser) popModule() *swiftNode {
	if n := s.pop(swiftIdentifier); n != nil {
		return s.node(swiftModule, n.text)
	}
	return s.pop(swiftModule)
}

// popContext returns what a declaration is in.
func (s *swiftParser) popContext() *swiftNode {
	if m := s.popModule(); m != nil {
		return m
	}
	if t := s.pop(swiftType); t != nil {
		if !t.kid(0).is(swiftContexts) {
			return nil
		}
		return t.kid(0)
	}
	return s.pop(swiftContexts)
}

// popNominal returns a type without arguments.
func (s *swiftParser) popNominal() *swiftNode {
	if n := s.popChild(); n.is(swiftNominal | swiftTupleType) {
		return n
	}
	return nil
}

func (s *swiftParser) nominal(kind swiftKinds) *swiftNode {
	name := s.pop(swiftDeclName)
	context := s.popContext()
	if name == nil || context == nil {
		return nil
	}
	return s.sub(s.typeOf(s.entity(kind, "", context, name, nil, nil, nil)))
}

func (s *swiftParser) extension() *swiftNode {
	sig, module := s.pop(swiftSignature), s.popModule()
	n := s.node(swiftExtension, "(extension in $0):$1$2", module, s.popNominal())
	if sig != nil {
		n.kids = append(n.kids, sig)
	}
	return n
}

// declaration makes an entity with a name and a type.
func (s *swiftParser) declaration(kind swiftKinds) *swiftNode {
	typ := s.pop(swiftType)
	labels := s.popLabels(typ)
	name := s.pop(swiftDeclName)
	context := s.popContext()
	if typ == nil || name == nil {
		return nil
	}
	return s.entity(kind, "", context, name, labels, typ, nil)
}

func (s *swiftParser) function() *swiftNode {
	sig := s.pop(swiftSignature)
	typ := s.functionType("", swiftPlainStyle, false)
	labels := s.popLabels(typ)
	if sig != nil {
		typ = s.typeOf(s.node(swiftDependent, "", sig, typ))
	}
	name := s.pop(swiftDeclName)
	context := s.popContext()
	if name == nil {
		return nil
	}
	return s.entity(swiftFunction, "", context, name, labels, typ, nil)
}

// swiftAccessors are the accessors of a variable or subscript by their letters.
const swiftAccessors = "|m=materializeForSet|s=setter|g=getter|G=getter|w=willset|W=didset|r=read|M=modify|i=init|x=modify2|y=read2|aO=owningMutableAddressor|ao=nativeOwningMutableAddressor|aP=nativePinningMutableAddressor|au=unsafeMutableAddressor|lO=owningAddressor|lo=nativeOwningAddressor|lp=nativePinningAddressor|lu=unsafeAddressor|p=|" // the variable itself

// accessor reads which accessor of a variable or subscript a function is.
func (s *swiftParser) accessor(of *swiftNode) *swiftNode {
	key := string(rune(s.next()))
	if key == "a" || key == "l" {
		key += string(rune(s.next()))
	}
	text, ok := swiftFind(swiftAccessors, key)
	if !ok || of == nil {
		return nil
	}
	if text == "" {
		return of
	}
	return s.node(swiftAccessor, text, of)
}

// functionEntity reads what follows "f": functions without a name of their own.
func (s *swiftParser) functionEntity() *swiftNode {
	c := s.next()
	switch c {
	case 'C', 'c':
		private, typ := s.pop(swiftPrivate), s.pop(swiftType)
		labels := s.popLabels(typ)
		context := s.popContext()
		text := "init"
		if c == 'C' {
			private = nil // swift-demangle does not write it
			if context.is(swiftClass) {
				text = "__allocating_init"
			}
		}
		if typ == nil {
			return nil
		}
		return s.entity(swiftInit, text, context, nil, labels, typ, private)
	case 'U', 'u':
		n := s.number()
		typ := s.pop(swiftType)
		text := "closure #"
		if c == 'u' {
			text = "implicit closure #"
		}
		if typ == nil {
			return nil
		}
		return s.entity(swiftClosure, text+strconv.Itoa(n+1), s.popContext(), nil, nil, typ, nil)
	case 'A':
		n := s.number()
		return s.entity(swiftDefault, "default argument "+strconv.Itoa(n), s.popContext(), nil, nil, nil, nil)
	case 'm':
		if n := s.declaration(swiftFunction); n != nil && n.kid(2) == nil {
			n.kind = swiftVariable
			return n
		} else {
			return n
		}
	case 'M':
		return s.macroExpansion()
	}
	text := swiftPick("|D=deinit|d=deinit|E=__ivar_destroyer|e=__ivar_initializer|i=variable initialization expression|P=property wrapper backing initializer|W=property wrapper init from projected value|F=property wrapped field init accessor|Z=__isolated_deallocating_deinit|", c)
	context := s.popContext()
	switch {
	case text == "":
		return nil
	case c == 'D' && context.is(swiftClass):
		text = "__deallocating_deinit"
	}
	return s.entity(swiftUntyped, text, context, nil, nil, nil, nil)
}

// swiftMacros are the roles of macros that are attached to a declaration.
const swiftMacros = "|a=accessor|r=member attribute|m=member|p=peer|c=conformance|e=extension|b=body|q=preamble|"

// macroExpansion reads what follows "fM": the code that a macro has made.
func (s *swiftParser) macroExpansion() *swiftNode {
	c := s.next()
	if c == 'X' {
		line, column := s.number(), s.number()
		file := s.pop(swiftIdentifier)
		module := s.pop(swiftIdentifier)
		return s.node(swiftContext, "module $0 file $1 line "+strconv.Itoa(line)+" column "+strconv.Itoa(column), module, file)
	}
	macro := s.pop(swiftIdentifier)
	name, text := macro, "freestanding macro expansion #"
	var private *swiftNode
	switch role := swiftPick(swiftMacros, c); {
	case macro == nil:
		return nil
	case role != "":
		name, text = s.pop(swiftDeclName), role+" macro @"+macro.text+" expansion #"
	case c == 'f':
		private = s.pop(swiftPrivate)
	case c == 'u':
		text = "unique name #"
	default:
		return nil
	}
	context := s.pop(swiftContext)
	if context == nil {
		context = s.popContext()
	}
	n := s.number()
	if name == nil {
		return nil
	}
	e := s.entity(swiftUntyped, text+strconv.Itoa(n+1), context, name, nil, nil, private)
	e.index = 1
	return e
}
