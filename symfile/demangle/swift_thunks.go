package demangle

import (
	"slices"
	"strconv"
	"strings"
)

// swiftThunks are what is made from one thing on the stack, by their letters: which thing, and the
// words before it.
//
//	t type · c conformance · p protocol · e entity · a anything · x context · m module · n name of an
//	associated type · g type with generic parameters · - nothing: it is an attribute of what follows
const swiftThunks = "|" +
	"HF=-accessible function runtime record for |Hc=cprotocol conformance descriptor runtime record for |" +
	"Hn=tnominal type descriptor runtime record for |Ho=aopaque type descriptor runtime record for |Hr=pprotocol descriptor runtime record for |" +
	"Ma=ttype metadata accessor for |MA=creflection metadata associated type descriptor |Mb=tcanonical specialized generic type metadata accessor for |" +
	"MB=treflection metadata builtin descriptor |Mc=cprotocol conformance descriptor for |MC=greflection metadata superclass descriptor |" +
	"MD=tdemangling cache variable for type metadata for |Mf=tfull type metadata for |MF=treflection metadata field descriptor |" +
	"Mg=aopaque type descriptor accessor for |Mh=aopaque type descriptor accessor impl for |Mi=ttype metadata instantiation function for |" +
	"MI=ttype metadata instantiation cache for |Mj=aopaque type descriptor accessor key for |" +
	"MJ=acache variable for noncanonical specialized generic type metadata for |Mk=aopaque type descriptor accessor var for |" +
	"MK=ametadata instantiation cache for |Ml=ttype metadata singleton initialization cache for |ML=tlazy cache variable for type metadata for |" +
	"Mm=tmetaclass for |MM=tspecialized generic metaclass for |Mn=tnominal type descriptor for |" +
	"MN=tnoncanonical specialized generic type metadata for |Mo=tclass metadata base offset for |Mp=pprotocol descriptor for |" +
	"MP=tgeneric type metadata pattern for |Mq=auniquable |MQ=aopaque type descriptor for |Mr=ttype metadata completion function for |" +
	"Ms=tObjC resilient class stub for |MS=pprotocol self-conformance descriptor for |Mt=tfull ObjC resilient class stub for |" +
	"Mu=tmethod lookup function for |MU=tObjC metadata update function for |MV=eproperty descriptor for |MXE=xextension descriptor |" +
	"MXM=mmodule descriptor |MXX=xanonymous descriptor |Mz=tflag for loading of canonical specialized generic type metadata for |" +
	"To=-@objc |TO=-@nonobjc |TD=-dynamic |Td=-super |TE=-distributed thunk |TF=-distributed accessor for |Tm=-merged |" +
	"TX=-dynamically replaceable variable for |Tx=-dynamically replaceable key for |TI=-dynamically replaceable thunk for |" +
	"Tu=-async function pointer to |Twb=-back deployment thunk for |TwB=-back deployment fallback for |TwS=-#_hasSymbol query for |" +
	"Twc=-coro function pointer to |Twd=-default override of |TA=-partial apply forwarder|Ta=-partial apply ObjC forwarder|" +
	"Tc=ecurry thunk of |Tj=edispatch thunk of |Tq=emethod descriptor for |TS=eprotocol self-conformance witness for |" +
	"TC=tcoroutine continuation prototype for |TL=pprotocol requirements base descriptor for |Tl=nassociated type descriptor for |" +
	"TM=ndefault associated type metadata accessor for |" +
	"WC=eenum case for |WV=tvalue witness table for |WS=pprotocol self-conformance witness table for |WP=cprotocol witness table for |" +
	"Wp=cprotocol witness table pattern for |WG=cgeneric protocol witness table for |" +
	"WI=cinstantiation function for generic protocol witness table for |Wr=cresilient protocol witness table for |" +
	"Wa=cprotocol witness table accessor for |Wvd=edirect field offset for |Wvi=eindirect field offset for |"

// swiftOutlined are the operations on values of a type that were moved out of functions.
const swiftOutlined = "|B=init with take of|C=init with copy of|D=assign with take of|F=assign with copy of|H=destroy of|y=copy of|e=consume of|r=retain of|s=release of|b=init with take of|c=init with copy of|d=assign with take of|f=assign with copy of|h=destroy of|g=enum get tag of|i=enum tag store of|j=enum project data for load of|"

// swiftSpecialized are the generic functions for particular types, by the letter after "T".
const swiftSpecialized = "|g=generic specialization|G=generic not re-abstracted specialization|B=generic specialization|s=generic pre-specialization|i=inlined generic function|"

// thunk reads what follows "H", "M", "T" and "W": what is made from a declaration, a type or a
// conformance.
func (s *swiftParser) thunk(first byte) *swiftNode {
	start := s.at - 1
	for _, n := range []int{3, 2} {
		if start+n > len(s.in) {
			continue
		}
		if text, ok := swiftFind(swiftThunks, s.in[start:start+n]); ok {
			s.at = start + n
			return s.thunkOf(text[0], text[1:])
		}
	}
	switch c := s.next(); first {
	case 'H':
		return s.conformancePart(c)
	case 'M':
		return s.descriptor(c)
	case 'W':
		return s.witness(c)
	default:
		return s.functionThunk(c)
	}
}

func (s *swiftParser) thunkOf(what byte, text string) *swiftNode {
	var of *swiftNode
	switch what {
	case '-':
		if strings.HasPrefix(text, "partial") {
			return s.node(swiftForwarder, text)
		}
		return s.node(swiftAttribute, text)
	case 't':
		of = s.pop(swiftType)
	case 'c':
		of = s.popConformance()
	case 'p':
		of = s.popProtocol()
	case 'e':
		of = s.pop(swiftEntity)
	case 'a':
		of = s.pop(swiftAny &^ swiftMarkers)
	case 'x':
		of = s.popContext()
	case 'm':
		of = s.popModule()
	case 'n':
		of = s.popAssocName()
	case 'g':
		of = s.popNominal()
	}
	return s.node(swiftText, text+"$0", of)
}

// popConformance returns a type with a protocol that it conforms to, and the module in which it does.
func (s *swiftParser) popConformance() *swiftNode {
	sig, module, proto, typ := s.pop(swiftSignature), s.popModule(), s.popProtocol(), s.pop(swiftType)
	var storage *swiftNode
	if typ == nil {
		storage, typ = s.pop(swiftIdentifier), s.pop(swiftType)
	}
	if sig != nil {
		typ = s.typeOf(s.node(swiftDependent, "", sig, typ))
	}
	text := "$0 : $1 in $2"
	if storage != nil {
		text = "property behavior storage of $2 in $0 : $1"
	}
	return s.node(swiftText, text, typ, proto, module)
}

// conformancePart reads what follows "H": how a type argument conforms to a protocol.
func (s *swiftParser) conformancePart(c byte) *swiftNode {
	index := func() string {
		switch n := s.number(); {
		case n == 1:
			return ""
		case n > 1:
			return "#" + strconv.Itoa(n-2) + " "
		}
		s.fail()
		return ""
	}
	conditions := func() *swiftNode {
		list, ok := s.popList(func() *swiftNode { return s.pop(swiftConformance | swiftDependentConformance) })
		if !ok || len(list) > swiftMostParts {
			return nil
		}
		if len(list) == 0 {
			return s.node(swiftText, "")
		}
		return s.node(swiftText, "("+swiftPattern(len(list), ", ")+")", list...)
	}
	switch c {
	case 'P':
		return s.node(swiftConformanceRef, "protocol conformance ref (type's module) $0", s.popProtocol())
	case 'p':
		return s.node(swiftConformanceRef, "protocol conformance ref (protocol's module) $0", s.popProtocol())
	case 'C':
		list, ref := conditions(), s.pop(swiftConformanceRef)
		if ref == nil {
			module := s.popModule()
			ref = s.node(swiftConformanceRef, "protocol conformance ref (retroactive) $0$1", s.popProtocol(), module)
		}
		text := "concrete protocol conformance $0 to $1"
		if list != nil && len(list.kids) > 0 {
			text += " with conditional requirements: $2"
		}
		return s.node(swiftConformance, text, s.pop(swiftType), ref, list)
	case 'X':
		return s.node(swiftConformance, "pack protocol conformance $0", conditions())
	case 'D':
		n := index()
		proto := s.popProtocol()
		return s.node(swiftDependentConformance, "dependent root protocol conformance "+n+"$0 to $1", s.pop(swiftType), proto)
	case 'I':
		n := index()
		proto := s.popProtocol()
		return s.node(swiftDependentConformance, "dependent inherited protocol conformance "+n+"$0 to $1", s.pop(swiftDependentConformance), proto)
	case 'O':
		typ := s.pop(swiftType)
		return s.node(swiftDependentConformance, "opaque result conformance $0 of $1", s.pop(swiftDependentConformance), typ)
	case 'A':
		n := index()
		proto := s.popProtocol()
		assoc := s.node(swiftText, "dependent associated conformance $0$1", s.pop(swiftType), proto)
		return s.node(swiftDependentConformance, "dependent associated protocol conformance "+n+"$0 to $1", s.pop(swiftDependentConformance), assoc)
	}
	return nil
}

// descriptor reads what follows "M" and is made from more than one thing.
func (s *swiftParser) descriptor(c byte) *swiftNode {
	if c != 'X' {
		return nil
	}
	switch s.next() {
	case 'Y':
		s.pop(swiftAny) // its number
		return s.node(swiftText, "anonymous descriptor $0", s.popContext())
	case 'A':
		path := s.assocPath()
		return s.node(swiftText, "generic parameter reference for associated type $0$1", s.pop(swiftType), path)
	}
	return nil
}

// witness reads what follows "W" and is made from more than one thing.
func (s *swiftParser) witness(c byte) *swiftNode {
	switch c {
	case 'l', 'L':
		text := "lazy protocol witness table accessor for type $0 and conformance $1"
		if c == 'L' {
			text = "lazy protocol witness table cache variable for type $0 and conformance $1"
		}
		conformance := s.popConformance()
		return s.node(swiftText, text, s.pop(swiftType), conformance)
	case 't':
		name := s.pop(swiftDeclName)
		return s.node(swiftText, "associated type metadata accessor for $0 in $1", name, s.popConformance())
	case 'T':
		proto, path := s.pop(swiftType), s.assocPath()
		return s.node(swiftText, "associated type witness table accessor for $0 : $1 in $2", path, proto, s.popConformance())
	case 'b':
		proto := s.pop(swiftType)
		return s.node(swiftText, "base witness table accessor for $0 in $1", proto, s.popConformance())
	case 'O':
		c := s.next()
		text := swiftPick(swiftOutlined, c)
		if c == 'i' || c == 'j' {
			s.number() // of the case
		}
		sig := s.pop(swiftSignature)
		n := s.node(swiftText, "outlined "+text+" $0", s.pop(swiftType))
		if text == "" {
			return nil
		}
		if sig != nil && (c == 'y' || c == 'e') {
			n = s.node(swiftText, n.text+"$1", n.kid(0), sig)
		}
		return n
	case 'Z', 'z':
		var vars []*swiftNode
		for s.pop(swiftFirst) != nil {
			vars = append(vars, s.pop(swiftDeclName))
		}
		slices.Reverse(vars)
		text := "one-time initialization function for "
		if c == 'z' {
			text = "one-time initialization token for "
		}
		if list := swiftPattern(len(vars), ", "); len(vars) == 1 {
			text += list
		} else {
			text += "(" + list + ")"
		}
		if s.popContext() == nil || len(vars) == 0 || len(vars) > swiftMostParts {
			return nil
		}
		return s.node(swiftText, text, vars...)
	}
	return nil
}

// functionThunk reads what follows "T" and is made from more than one thing, or has numbers.
func (s *swiftParser) functionThunk(c byte) *swiftNode {
	if text := swiftPick(swiftSpecialized, c); text != "" {
		return s.specialized(text, "", s.typeList)
	}
	switch c {
	case 't':
		for more := true; more; more = s.accept("t") { // an argument that is dropped
			s.natural()
		}
		if text := swiftPick(swiftSpecialized, s.next()); text != "" {
			return s.specialized(text, "", s.typeList)
		}
	case 'p':
		return s.specialized("generic partial specialization", "Signature = ", s.oneType)
	case 'P':
		return s.specialized("generic not-reabstracted partial specialization", "Signature = ", s.oneType)
	case 'f':
		return s.specializedFunction()
	case 'Y', 'Q':
		word := ") await"
		if c == 'Y' {
			word = ") suspend"
		}
		return s.node(swiftAttribute, "("+strconv.Itoa(s.number())+word+" resume partial function for ")
	case 'z', 'Z':
		text := "@objc completion handler block implementation for $0$1 with result type $2"
		if c == 'Z' {
			text = "predefined " + text
		}
		flag := s.number()
		if flag > 2 {
			return nil
		}
		sig, result := s.pop(swiftSignature), s.pop(swiftType)
		if sig == nil {
			sig = s.node(swiftText, "")
		}
		return s.node(swiftText, text+[]string{"", " nonzero on error", " zero on error"}[flag], sig, s.pop(swiftType), result)
	case 'V':
		base := s.pop(swiftEntity)
		return s.node(swiftText, "vtable thunk for $0 dispatching to $1", base, s.pop(swiftEntity))
	case 'W':
		entity := s.pop(swiftEntity)
		return s.node(swiftText, "protocol witness for $0 in conformance $1", entity, s.popConformance())
	case 'R', 'r', 'y':
		return s.reabstraction(c)
	case 'U':
		actor := s.pop(swiftType)
		return s.node(swiftText, "$0 with global actor constraint $1", s.pop(swiftText), actor)
	case 'n', 'N':
		proto, path := s.popProtocol(), s.assocPath()
		text := "associated conformance descriptor for $0.$1: $2"
		if c == 'N' {
			text = "default associated conformance accessor for $0.$1: $2"
		}
		return s.node(swiftText, text, s.pop(swiftType), path, proto)
	case 'b':
		proto := s.popProtocol()
		return s.node(swiftText, "base conformance descriptor for $0: $1", s.pop(swiftType), proto)
	case 'K', 'k', 'H', 'h':
		return s.keyPath(c)
	case 'v':
		n := strconv.Itoa(s.number())
		if s.accept("r") {
			return s.node(swiftAttribute, "outlined read-only object #"+n+" of ")
		}
		return s.node(swiftAttribute, "outlined variable #"+n+" of ")
	case 'e':
		end := strings.IndexByte(s.in[s.at:], '_')
		if end < 1 || strings.Trim(s.in[s.at+1:s.at+end], "nbg") != "" || strings.IndexByte("opam", s.in[s.at]) < 0 {
			return nil
		}
		kinds := s.in[s.at : s.at+end]
		s.at += end + 1
		return s.node(swiftAttribute, "outlined bridged method ("+kinds+") of ")
	}
	return nil
}

// reabstraction makes a function that adapts a function value to another convention.
func (s *swiftParser) reabstraction(c byte) *swiftNode {
	text, kids := "reabstraction thunk ", []*swiftNode{}
	if c == 'R' {
		text += "helper "
	}
	sig := s.pop(swiftSignature)
	if c == 'y' {
		kids = append(kids, s.pop(swiftType))
	}
	kids = append(kids, s.pop(swiftType), s.pop(swiftType))
	if sig != nil {
		text += "$" + string(rune('0'+len(kids))) + " "
		kids = append(kids, sig)
	}
	if c == 'y' {
		return s.node(swiftText, text+"from $2 to $1 self $0", kids...)
	}
	return s.node(swiftText, text+"from $1 to $0", kids...)
}

// keyPath makes the accessors of a key path.
func (s *swiftParser) keyPath(c byte) *swiftNode {
	serialized := s.accept("q")
	if c == 'H' || c == 'h' {
		text := "key path index equality operator for "
		if c == 'h' {
			text = "key path index hash operator for "
		}
		sig := s.pop(swiftSignature)
		types := s.popTypes()
		n := len(types)
		if n >= swiftMostParts || n == 0 && sig == nil {
			return nil
		}
		if sig != nil {
			text += "$" + string(rune('0'+n))
			types = append(types, sig)
		}
		return s.node(swiftText, text+"("+swiftPattern(n, ", ")+")", types...)
	}
	text := "key path getter for $0 : "
	if c == 'k' {
		text = "key path setter for $0 : "
	}
	types := s.popTypes()
	sig := s.pop(swiftSignature)
	of := s.pop(swiftAny &^ swiftMarkers)
	if len(types) == 0 {
		return nil
	}
	kids := []*swiftNode{of}
	if sig != nil {
		kids = append(kids, sig)
	}
	if kids = append(kids, types...); len(kids) > swiftMostParts {
		return nil
	}
	text += strings.TrimPrefix(swiftPattern(len(kids), ""), "$0")
	if serialized {
		text += ", serialized"
	}
	return s.node(swiftText, text, kids...)
}

// oneType is the last type as a list.
func (s *swiftParser) oneType() *swiftNode { return s.node(swiftTypeList, "", s.pop(swiftType)) }

// specialized reads the attributes of a specialization: which pass has made it, and whether it can be
// used by other modules.
func (s *swiftParser) specialized(text, before string, list func() *swiftNode) *swiftNode {
	head := s.specializedBy()
	types := list()
	if s.failed || types == nil {
		return nil
	}
	if n := len(types.kids); n > swiftMostParts {
		return nil
	} else if head += before; n > 0 || strings.HasSuffix(head, ", ") {
		head += swiftPattern(n, ", "+before)
	}
	return s.node(swiftAttribute, text+" <"+head+"> of ", types.kids...)
}

func (s *swiftParser) specializedBy() string {
	s.accept("m")
	head := ""
	if s.accept("q") {
		head = "serialized, "
	}
	s.accept("a")
	if c := s.next(); c < '0' || c > '9' {
		s.fail()
	}
	return head
}

// swiftChanges are what was done to the parameter of a specialized function, by its letter; several
// letters may follow each other.
const swiftChanges = "|e=Existential To Protocol Constrained Generic|d=Dead|D=Dead|g=Owned To Guaranteed|G=Owned To Guaranteed|o=Guaranteed To Owned|O=Guaranteed To Owned|x=Exploded|X=Exploded|"

// specializedFunction reads what was done to each parameter and to the result. Constants and closures
// are on the stack, those of the last parameter last.
func (s *swiftParser) specializedFunction() *swiftNode {
	head := strings.TrimSuffix(s.specializedBy(), ", ")
	type change struct {
		text, payload string // payload: what is on the stack
	}
	var changes []change
	read := func() {
		c := s.next()
		one := change{}
		switch c {
		case 'n':
		case 'c':
			one = change{"[Closure Propagated : ", "closure"}
		case 'i':
			one.text = "Value Promoted from Box"
		case 's':
			one.text = "Stack Promoted from Box"
		case 'r':
			one.text = "InOut Converted to Out"
		case 'p':
			one.text, one.payload = s.constant()
		default:
			if swiftPick(swiftChanges, c) == "" || strings.IndexByte("DGOX", c) >= 0 {
				s.fail()
			}
			one.text = swiftPick(swiftChanges, c)
			for _, more := range []string{"D", "G", "O", "X"} {
				if c != 'x' && s.accept(more) {
					one.text += " and " + swiftPick(swiftChanges, more[0])
				}
			}
		}
		changes = append(changes, one)
		s.draw(1)
	}
	for !s.failed && !s.accept("_") {
		read()
	}
	result := !s.accept("n")
	if result {
		read()
	}
	var parts []string
	var kids []*swiftNode
	part := func(n *swiftNode) string {
		kids = append(kids, n)
		return "$" + string(rune('0'+len(kids)-1))
	}
	for i := len(changes) - 1; i >= 0 && !s.failed; i-- {
		one, text := changes[i], changes[i].text
		if one.payload != "" {
			types := s.node(swiftTypeList, "", s.popTypes()...)
			name := s.pop(swiftIdentifier)
			if name == nil || len(types.kids) > 0 && one.payload != "closure" && one.payload != "path" || one.payload == "path" && len(types.kids) != 2 {
				return nil
			}
			value := name.text
			if one.payload == "string" {
				value = strings.TrimPrefix(value, "_")
			} else if readable, ok := swiftNameOf(value, s.work, s.nested+1); ok {
				value = readable
			}
			text += part(s.node(swiftIdentifier, value))
			switch one.payload {
			case "closure":
				text += ", Argument Types : [" + part(types)
			case "path":
				text += "<" + part(types.kids[0]) + "," + part(types.kids[1]) + ">"
			case "string":
				text += "'"
			}
			text += "]"
		}
		if text != "" {
			where := "Arg[" + strconv.Itoa(i) + "] = "
			if result && i == len(changes)-1 {
				where = "Return = "
			}
			parts = append(parts, where+text)
		}
	}
	if head != "" {
		parts = append(parts, head)
	}
	slices.Reverse(parts)
	if s.failed || len(kids) > swiftMostParts {
		return nil
	}
	return s.node(swiftAttribute, "function signature specialization <"+strings.Join(parts, ", ")+"> of ", kids...)
}

// constant reads which constant a parameter is.
func (s *swiftParser) constant() (text, payload string) {
	switch c := s.next(); c {
	case 'f':
		return "[Constant Propagated Function : ", "name"
	case 'g':
		return "[Constant Propagated Global : ", "name"
	case 'k':
		return "[Constant Propagated KeyPath : ", "path"
	case 'i', 'd':
		start := s.at
		if s.natural() < 0 {
			s.fail()
		}
		if c == 'd' {
			return "[Constant Propagated Float : " + s.in[start:s.at] + "]", ""
		}
		return "[Constant Propagated Integer : " + s.in[start:s.at] + "]", ""
	case 's':
		encoding := swiftPick("|b=u8|w=u16|c=objc|", s.next())
		if encoding == "" {
			s.fail()
		}
		return "[Constant Propagated String : " + encoding + "'", "string"
	}
	s.fail()
	return "", ""
}

// swiftConventions are how the compiler's function types take and return a value.
const swiftParams = "|i=@in|c=@in_constant|l=@inout|b=@inout_aliasable|n=@in_guaranteed|X=@in_cxx|x=@owned|g=@guaranteed|e=@deallocating|y=@unowned|v=@pack_owned|p=@pack_guaranteed|m=@pack_inout|"

const swiftResults = "|r=@out|o=@owned|d=@unowned|u=@unowned_inner_pointer|a=@autoreleased|k=@pack_out|l=@guaranteed_address|g=@guaranteed|m=@inout|"

// implType reads a function type of the compiler's intermediate language.
func (s *swiftParser) implType() *swiftNode {
	var kids []*swiftNode
	part := func(n *swiftNode) string {
		kids = append(kids, n)
		return "$" + string(rune('0'+len(kids)-1))
	}
	pattern, tail := "", ""
	given := func(substituted bool) {
		lists, _ := s.boundLists()
		if len(lists) != 1 {
			s.fail()
			return
		}
		if substituted {
			pattern = "@substituted " + part(s.pop(swiftSignature)) + " "
		}
		tail += " for <" + part(lists[0]) + ">"
	}
	if s.accept("s") {
		given(true)
	}
	if s.accept("I") {
		given(false)
	}
	sig := s.pop(swiftSignature)
	if sig != nil {
		s.accept("P")
	}
	attributes := ""
	if s.accept("e") {
		attributes += "@escaping "
	}
	if s.accept("A") {
		attributes += "@isolated(any) "
	}
	if d, ok := swiftFind(swiftDerivatives, string(rune(s.peek()))); ok {
		s.at++
		attributes += "@differentiable" + d + " "
	}
	callee := swiftPick("|y=@callee_unowned |g=@callee_guaranteed |x=@callee_owned |t=@convention(thin) |", s.next())
	if callee == "" {
		return nil
	}
	attributes += callee
	if clang := s.accept("z"); clang || s.peek() != 0 {
		c := s.peek()
		convention := swiftPick("|B=block|C=c|M=method|O=objc_method|K=closure|W=witness_method|", c)
		if convention != "" && (!clang || c == 'B' || c == 'C') {
			s.at++
			if clang {
				n := s.natural()
				if n <= 0 || n > len(s.in)-s.at {
					return nil
				}
				convention += ", mangledCType: \"" + part(s.node(swiftIdentifier, s.in[s.at:s.at+n])) + "\""
				s.at += n
			}
			attributes += "@convention(" + convention + ") "
		} else if clang {
			s.at--
		}
	}
	for _, a := range [][2]string{{"A", "@yield_once "}, {"I", "@yield_once_2 "}, {"G", "@yield_many "}, {"h", "@Sendable "}, {"H", "@async "}} {
		if s.accept(a[0]) {
			attributes += a[1]
		}
	}
	text := attributes
	if sig != nil {
		text += part(sig) + " "
	}
	text += pattern
	params, results, sending := s.implParams()
	if !s.accept("_") || s.failed {
		return nil
	}
	all := append(append([]string(nil), params...), results...)
	for i := len(all) - 1; i >= 0; i-- {
		all[i] += " " + part(s.pop(swiftType))
	}
	if len(kids) > swiftMostParts {
		return nil
	}
	text += "(" + strings.Join(all[:len(params)], ", ") + ") -> " + sending + "(" + strings.Join(all[len(params):], ", ") + ")" + tail
	return s.typeOf(s.node(swiftText, text, kids...))
}

// implParams reads how parameters, results, yielded values and the error are passed.
func (s *swiftParser) implParams() (params, results []string, sending string) {
	read := func(words, prefix string) (string, bool) {
		word, ok := swiftFind(words, string(rune(s.peek())))
		if ok {
			s.at++
			s.draw(1)
		}
		return prefix + word, ok
	}
	if s.accept("T") {
		sending = "sending "
	}
	for word, ok := read(swiftParams, ""); ok; word, ok = read(swiftParams, "") {
		marks, count := "", 0
		for _, m := range [][2]string{{"w", " @noDerivative"}, {"T", " sending"}, {"I", " isolated"}, {"L", " sil_implicit_leading_param"}} {
			if s.accept(m[0]) {
				marks += m[1]
				if m[0] != "w" {
					count++
				}
			}
		}
		if count < 2 { // swift-demangle writes no more
			word += marks
		}
		params = append(params, word)
	}
	if s.accept("T") { // before Swift 6.1
		sending = "sending "
	}
	for word, ok := read(swiftResults, ""); ok; word, ok = read(swiftResults, "") {
		if s.accept("w") {
			word += " @noDerivative"
		}
		results = append(results, word)
	}
	for s.accept("Y") {
		word, ok := read(swiftParams, "@yields ")
		if !ok {
			s.fail()
		}
		results = append(results, word)
	}
	if s.accept("z") {
		word, ok := read(swiftResults, "@error ")
		if !ok {
			s.fail()
		}
		results = append(results, word)
	}
	return params, results, sending
}
