package msvc

import "unicode/utf8"

// cutMark ends a result that was cut.
const cutMark = "…"

// maxPrintDepth limits the nesting of printed nodes. Back references make it larger than maxDepth.
const maxPrintDepth = 4 * maxDepth

// printer writes nodes as C++. A type is written around the name that has it, so it has a part
// before and one after: in "int (*p)[3]" they are "int (*" and ")[3]". before writes the innermost
// type first ("int", then "(*"), after the outermost (")", then "[3]").
type printer struct {
	out       []byte
	limit     int
	depth     int
	truncated bool // the limit was reached
	// short leaves out what a reader of stacks does not need: access, calling conventions, words
	// such as "class", return types and types of variables.
	short bool
}

// write appends s, cut at the limit at the border of a character.
func (w *printer) write(s string) {
	if w.truncated {
		return
	}
	if len(w.out)+len(s) > w.limit {
		w.truncated = true
		s = s[:w.limit-len(w.out)]
		for len(s) > 0 && !utf8.ValidString(s) && len(s)+utf8.UTFMax > w.limit-len(w.out) {
			s = s[:len(s)-1]
		}
		s += cutMark
	}
	w.out = append(w.out, s...)
}

// long writes text of the complete form only.
func (w *printer) long(s string) {
	if !w.short {
		w.write(s)
	}
}

// space writes a space if the output ends with a word, so that a name can follow.
func (w *printer) space() {
	if c := w.last(); isWord(c) || c == '_' || c == '$' || c == '\'' || c >= utf8.RuneSelf {
		w.write(" ")
	}
}

// spaceBeforePointer is space for "*" and "&". After a name that ends with "_", llvm-undname writes
// none, and the complete form is the same.
func (w *printer) spaceBeforePointer() {
	if w.short {
		w.space()
	} else if isWord(w.last()) {
		w.write(" ")
	}
}

// last returns the last byte of the output, or 0.
func (w *printer) last() byte {
	if len(w.out) == 0 {
		return 0
	}
	return w.out[len(w.out)-1]
}

// isWord reports whether a byte ends a word, or template arguments, after which a name needs a
// space.
func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '>'
}

// enter begins a nested node. It returns false if the node is nil or the output has reached a
// limit.
func (w *printer) enter(n *node) bool {
	if n == nil || w.truncated {
		return false
	}
	if w.depth > maxPrintDepth {
		w.write(cutMark)
		w.truncated = true
		return false
	}
	w.depth++
	return true
}

// node writes a whole node.
func (w *printer) node(n *node) {
	if !w.enter(n) {
		return
	}
	defer func() { w.depth-- }()
	switch n.kind {
	case qualified:
		w.list(n.list, "::")
	case identifier:
		w.write(n.text)
		w.arguments(n)
	case constructor:
		w.node(n.inner)
		w.arguments(n)
	case destructor:
		w.write("~")
		w.node(n.inner)
		w.arguments(n)
	case conversion:
		w.write("operator")
		w.arguments(n)
		w.write(" ")
		w.node(n.inner)
	case localScope:
		w.write("`")
		w.node(n.inner)
		w.write("'::`")
		w.write(n.text)
		w.write("'")
	// "`dynamic initializer for 'x''" for a name alone; before a whole declaration, the inner quote
	// is a "`".
	case structor:
		w.write(n.text)
		if n.inner.kind == qualified {
			w.write("'")
		} else {
			w.write("`")
		}
		w.node(n.inner)
		w.write("''")
	case literal, verbatim:
		w.write(n.text)
	case reference:
		w.reference(n)
	case aggregate:
		w.node(n.inner)
		w.write("{")
		w.list(n.list, ", ")
		w.write("}")
	case member:
		w.node(n.inner)
		if n.inner != nil && n.inner.kind == qualified {
			w.write("::")
		} else {
			w.write(".")
		}
		w.write(n.text)
	case element:
		w.node(n.inner)
		w.write("[")
		w.node(n.name)
		w.write("]")
	case function:
		w.function(n)
	case variable:
		w.variable(n)
	case table:
		if !w.short && n.quals&^isMember != 0 {
			w.qualifiers(n.quals, "")
			w.write(" ")
		}
		w.node(n.name)
		if len(n.list) > 0 {
			w.write("{for `")
			w.list(n.list, "'s `")
			w.write("'}")
		}
	case typeInfo:
		w.before(n.inner)
		w.space()
		w.write(n.text)
		w.after(n.inner)
	default:
		w.before(n)
		w.after(n)
	}
}

// list writes nodes with a text between them.
func (w *printer) list(list []*node, between string) {
	for i, n := range list {
		if i > 0 {
			w.write(between)
		}
		w.node(n)
	}
}

// arguments writes an identifier's template arguments.
func (w *printer) arguments(n *node) {
	if n.args {
		w.write("<")
		w.list(n.list, ", ")
		w.write(">")
	}
}

// reference writes a template argument that is a function or a variable. A pointer to a member has
// offsets: "{A::f, 0}".
func (w *printer) reference(n *node) {
	if len(n.list) == 0 {
		w.write(n.text)
		w.node(n.inner)
		return
	}
	w.write("{")
	if n.inner != nil {
		w.node(n.inner)
		w.write(", ")
	}
	w.list(n.list, ", ")
	w.write("}")
}

// access writes "public: static " and the like, in the complete form.
func (w *printer) access(c class) {
	switch {
	case c&public != 0:
		w.long("public: ")
	case c&protected != 0:
		w.long("protected: ")
	case c&private != 0:
		w.long("private: ")
	}
	if c&static != 0 {
		w.long("static ")
	}
	if c&virtual != 0 {
		w.long("virtual ")
	}
	if c&externC != 0 {
		w.long(`extern "C" `)
	}
}

// function writes a function: access, return type, convention, name, parameters. The short form has
// the name and the parameters.
func (w *printer) function(n *node) {
	s := n.sig
	if s.isThunk {
		w.write("[thunk]: ")
	}
	w.access(s.class)
	if !w.short {
		w.result(s)
		w.convention(s)
		w.space()
	}
	w.node(n.name)
	w.write(s.thunk)
	w.parameters(s, s.quals)
	if !w.short {
		w.after(s.result)
	}
}

// variable writes a variable. The type surrounds the name, as in "int (*p)[3]". The short form is
// the name.
func (w *printer) variable(n *node) {
	w.access(n.class)
	if w.short {
		w.node(n.name)
		return
	}
	w.before(n.inner)
	w.space()
	w.node(n.name)
	w.after(n.inner)
}

// result writes the part of the return type before the function.
func (w *printer) result(s *signature) {
	if s.result != nil {
		w.before(s.result)
		w.write(" ")
	}
}

func (w *printer) convention(s *signature) {
	if !w.short {
		w.space()
		w.write(s.convention)
	}
}

// parameters writes a function's parameters and what follows them: const, noexcept, &.
func (w *printer) parameters(s *signature, q quals) {
	if s.class&noParameters == 0 {
		w.write("(")
		if s.void {
			w.long("void")
		}
		if s.this {
			w.write("this ")
		}
		w.list(s.params, ", ")
		if s.variadic {
			if len(s.params) > 0 {
				w.write(", ")
			}
			w.write("...")
		}
		w.write(")")
	}
	w.qualifiers(q, " ")
	if q&isUnaligned != 0 {
		w.write(" __unaligned")
	}
	if s.noexcept {
		w.write(" noexcept")
	}
	w.write(s.ref)
}

// qualifiers writes const, volatile and __restrict, separated by spaces, with first before them.
func (w *printer) qualifiers(q quals, first string) {
	for _, one := range [...]struct {
		q    quals
		text string
	}{{isConst, "const"}, {isVolatile, "volatile"}, {isRestrict, "__restrict"}} {
		if q&one.q != 0 {
			w.write(first)
			w.write(one.text)
			first = " "
		}
	}
}

// before writes the part of a type before the name.
func (w *printer) before(n *node) {
	if !w.enter(n) {
		return
	}
	defer func() { w.depth-- }()
	switch n.kind {
	case primitive:
		w.write(n.text)
		w.qualifiers(n.quals, " ")
	case tagged:
		w.long(n.text)
		w.node(n.inner)
		w.qualifiers(n.quals, " ")
	case custom:
		w.node(n.inner)
	case array:
		w.before(n.inner)
		w.qualifiers(n.quals, " ")
	case managed:
		w.write("cli::array<")
		w.node(n.inner)
		if n.text != "01" {
			w.write(", " + n.text)
		}
		w.write(">")
	// "int (__cdecl *p)(char)": the convention is inside of the parenthesis, before the asterisk.
	case functionType:
		w.result(n.sig)
		w.convention(n.sig)
	case pointer:
		w.pointer(n)
	default:
		w.node(n)
	}
}

// pointer writes what comes before the name of a declared pointer. A pointer to an array or a
// function needs a parenthesis, which after closes: "int (*". In the complete form the convention
// is in it: "int (__cdecl *".
func (w *printer) pointer(n *node) {
	to := n.inner
	if to.kind == functionType {
		w.result(to.sig)
	} else {
		w.before(to)
	}
	w.spaceBeforePointer()
	if n.quals&isUnaligned != 0 {
		w.write("__unaligned ")
	}
	switch to.kind {
	// "int *p[3]" without a parenthesis is an array of pointers.
	case array:
		w.write("(")
	case functionType:
		w.write("(")
		if w.convention(to.sig); !w.short {
			w.write(" ")
		}
	}
	if n.name != nil {
		w.node(n.name)
		w.write("::")
	}
	w.write(n.text)
	w.qualifiers(n.quals, "")
	w.write(n.source)
}

// after writes the part of a type after the name.
func (w *printer) after(n *node) {
	if !w.enter(n) {
		return
	}
	defer func() { w.depth-- }()
	switch n.kind {
	case array:
		w.write("[")
		w.list(n.list, "][")
		w.write("]")
		w.after(n.inner)
	case functionType:
		w.parameters(n.sig, n.quals)
		w.after(n.sig.result)
	case pointer:
		if n.inner.kind == array || n.inner.kind == functionType {
			w.write(")")
		}
		w.after(n.inner)
	}
}
