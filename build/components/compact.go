package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// compact makes the code that Vugu's generator writes smaller. A literal of vugu.VGNode for each
// node, with its attributes, is compiled to an allocation and a store for each field, a thousand
// times. As far as nodes are known beforehand, they become a text (see encode) that a function of
// the components' package reads (web/app/nodes.go): a node whose attributes or children are
// computed ends such a text and is what the call answers.
//
//	vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: "\n  "}       vgn = addNodes(vgparent, "\x01\n  \x02p\x00class\x00lead")
//	vgparent.AppendChild(vgn)
//	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Data: "p", Attr: …}
//	vgparent.AppendChild(vgn)
//
//	{ b, err := vjson.Marshal(x) … vgn.Prop = append(…) }            setProperty(vgn, "style", x)
//
//	vgn.AddAttrInterface("title", x)                                 setAttribute(vgn, "title", x)
//	vgn.SetInnerHTML(x)                                              setContent(vgn, x)
//
//	{ var vgcomp vugu.Builder = x … }                                addComponent(vgin, vgout, vgparent, x)
//
// Copies of loop variables are left out, since each round has its own anyway. A statement of
// another form is left as it is.
func compact(name string, code []byte) ([]byte, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, code, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	c := &compactor{code: code}
	out := c.within(file, 1, token.Pos(len(code)+1))
	if c.err != nil {
		return nil, fmt.Errorf("%s: %w", name, c.err)
	}
	return format.Source([]byte(out))
}

// The marks of what encode writes. Text between them is what it is; HTML allows none of them.
const (
	attributeMark = "\x00" // before the name, and before the value, of an attribute
	textMark      = "\x01"
	elementMark   = "\x02"
	endMark       = "\x03" // of an element, but of the last one
	contentMark   = "\x04" // before the text that an element holds and nothing else (SetInnerHTML)
	svgMark       = "\x05" // an element of SVG
)

type compactor struct {
	code []byte
	err  error
}

func (c *compactor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// source is the code of a node. There is one file, so positions are offsets + 1.
func (c *compactor) source(from, to token.Pos) string { return string(c.code[from-1 : to-1]) }

// within is the code from one position to another, with the blocks in a node made smaller.
func (c *compactor) within(n ast.Node, from, to token.Pos) string {
	var out strings.Builder
	ast.Inspect(n, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		out.WriteString(c.source(from, block.Lbrace) + "{\n" + c.statements(block.List) + "}")
		from = block.Rbrace + 1
		return false
	})
	return out.String() + c.source(from, to)
}

// statements is a list of them. What is known beforehand is gathered until a node is computed, or
// something else is done.
func (c *compactor) statements(list []ast.Stmt) string {
	var out strings.Builder
	gathered := ""
	flush := func() {
		if gathered != "" {
			fmt.Fprintf(&out, "addNodes(vgparent, %q)\n", gathered)
		}
		gathered = ""
	}
	for i := 0; i < len(list); {
		if n := c.node(list, i); n != nil {
			if n.known {
				gathered += n.text + endMark
				i = n.next
				continue
			}
			fmt.Fprintf(&out, "vgn = addNodes(%s, %q)\n", n.parent, gathered+n.text)
			gathered = ""
			for ; i < n.next; i++ {
				if !n.gone[i] {
					out.WriteString(c.statement(list[i]))
				}
			}
			continue
		}
		flush()
		switch key, isKey := c.loopKey(list[i]); {
		case c.isCopy(list[i]):
		case isKey && !c.makesKey(list):
			if key != "" {
				fmt.Fprintf(&out, "_ = %s\n", key)
			}
		default:
			out.WriteString(c.statement(list[i]))
		}
		i++
	}
	flush()
	return out.String()
}

func (c *compactor) statement(s ast.Stmt) string {
	if set, ok := s.(*ast.BlockStmt); ok {
		if call := c.propertyCall(set); call != "" {
			return call + "\n"
		}
		if value := c.component(set); value != "" {
			return "addComponent(vgin, vgout, vgparent, " + value + ")\n"
		}
	}
	if call, ok := setter(s); ok {
		var args string
		for _, a := range call.Args {
			args += ", " + c.source(a.Pos(), a.End())
		}
		return setters[call.Fun.(*ast.SelectorExpr).Sel.Name] + "(vgn" + args + ")\n"
	}
	return c.within(s, s.Pos(), s.End()) + "\n"
}

// setters are methods of a node and functions of nodes.go in their place. Those are generic: a
// value becomes an interface in them, and not at each call.
var setters = map[string]string{"AddAttrInterface": "setAttribute", "SetInnerHTML": "setContent"}

// setter is the call of one of those methods.
func setter(s ast.Stmt) (*ast.CallExpr, bool) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil, false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return call, ok && isName(f.X, "vgn") && setters[f.Sel.Name] != ""
}

// node is a node that is made at a place of a list.
type node struct {
	text   string // encoded; without the end of an element
	parent string
	known  bool         // all of it is in text
	next   int          // statement after it, or after what else is known of it
	gone   map[int]bool // statements that are in text
}

// node is the one that is made by statement i, or nil.
func (c *compactor) node(list []ast.Stmt, i int) *node {
	text, isText, ok := c.encode(list[i])
	if !ok {
		return nil
	}
	n := &node{text: text, parent: "nil", next: i + 1, gone: map[int]bool{i: true}}
	if n.next < len(list) && appendsChild(list[n.next]) {
		n.parent = "vgparent"
		n.gone[n.next] = true
		n.next++
	}
	if isText {
		n.known = n.parent != "nil"
		return n
	}
	computed := n.parent == "nil"
	content := ""
	for ; n.next < len(list); n.next++ {
		key, value, is := constant(list[n.next])
		if is == "" {
			break
		}
		switch {
		case is == "computed":
			computed = true
			continue
		case key == "":
			content = contentMark + c.plain(value)
		default:
			n.text += attributeMark + c.plain(key) + attributeMark + c.plain(value)
		}
		n.gone[n.next] = true
	}
	n.text += content
	if children, ok := c.children(list, n.next); ok && !computed {
		n.text += children
		n.next++
	} else if n.next < len(list) && isChildren(list[n.next]) || n.next < len(list) && c.isProperty(list[n.next]) {
		computed = true
	}
	n.known = !computed
	return n
}

// children are the encoded nodes of the block at i, if all of them are known.
func (c *compactor) children(list []ast.Stmt, i int) (text string, ok bool) {
	if i >= len(list) || !isChildren(list[i]) {
		return "", false
	}
	inner := list[i].(*ast.BlockStmt).List
	for k := 2; k < len(inner); {
		n := c.node(inner, k)
		if n == nil || !n.known {
			return "", false
		}
		text += n.text + endMark
		k = n.next
	}
	return text, true
}

// encode is a node that a statement makes, without its end.
func (c *compactor) encode(s ast.Stmt) (out string, isText, ok bool) {
	assign, ok := s.(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || !isName(assign.Lhs[0], "vgn") {
		return "", false, false
	}
	literal := literalOf(assign.Rhs[0], "VGNode")
	if literal == nil {
		return "", false, false
	}
	var kind, data, space string
	var attributes []string
	for _, e := range literal.Elts {
		field := e.(*ast.KeyValueExpr)
		ok := true
		switch field.Key.(*ast.Ident).Name {
		case "Type":
			var call *ast.CallExpr
			if call, ok = field.Value.(*ast.CallExpr); ok {
				kind = call.Args[0].(*ast.BasicLit).Value
			}
		case "Data":
			data, ok = text(field.Value)
		case "Namespace":
			space, ok = text(field.Value)
		case "Attr":
			attributes, ok = attributesOf(field.Value)
		default:
			ok = false
		}
		if !ok {
			return "", false, false
		}
	}
	switch {
	case kind == "1":
		return textMark + c.plain(data), true, true
	case kind == "3" && space == "":
		out = elementMark
	case kind == "3" && space == "svg":
		out = svgMark
	default:
		return "", false, false
	}
	out += c.plain(data)
	for _, a := range attributes {
		out += attributeMark + c.plain(a)
	}
	return out, false, true
}

// plain is a text that holds no mark.
func (c *compactor) plain(s string) string {
	if strings.ContainsAny(s, attributeMark+textMark+elementMark+endMark+contentMark+svgMark) {
		c.fail("%q holds a control character", s)
	}
	return s
}

// attributesOf are the names and values of a list of attributes, in turn.
func attributesOf(e ast.Expr) (out []string, ok bool) {
	if conversion, ok := e.(*ast.CallExpr); ok { // []vugu.VGAttribute(nil)
		return nil, len(conversion.Args) == 1 && isName(conversion.Args[0], "nil")
	}
	list, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	for _, e := range list.Elts {
		attribute, ok := e.(*ast.CompositeLit)
		if !ok {
			return nil, false
		}
		var key, value string
		for _, e := range attribute.Elts {
			field := e.(*ast.KeyValueExpr)
			s, ok := text(field.Value)
			if !ok {
				return nil, false
			}
			switch field.Key.(*ast.Ident).Name {
			case "Key":
				key = s
			case "Val":
				value = s
			default:
				if s != "" {
					return nil, false
				}
			}
		}
		out = append(out, key, value)
	}
	return out, true
}

// constant tells of vgn.AddAttrInterface and vgn.SetInnerHTML what they set: "constant" with the
// attribute's name, or "" for the content, and the value; "computed" if the value is; "" for
// another statement.
func constant(s ast.Stmt) (key, value, is string) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return "", "", ""
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return "", "", ""
	}
	switch {
	case isSelector(call.Fun, "vgn", "SetInnerHTML") && len(call.Args) == 1:
		if value, ok = text(call.Args[0]); ok {
			return "", value, "constant"
		}
		return "", "", "computed"
	case isSelector(call.Fun, "vgn", "AddAttrInterface") && len(call.Args) == 2:
		key, _ = text(call.Args[0])
		if value, ok = text(call.Args[1]); ok && key != "" {
			return key, value, "constant"
		}
		return "", "", "computed"
	}
	return "", "", ""
}

// isChildren reports whether a statement is the block that makes the children of the node before.
func isChildren(s ast.Stmt) bool {
	block, ok := s.(*ast.BlockStmt)
	if !ok || len(block.List) < 2 {
		return false
	}
	define, ok := block.List[0].(*ast.AssignStmt)
	return ok && define.Tok == token.DEFINE && isName(define.Lhs[0], "vgparent") && isName(define.Rhs[0], "vgn")
}

// isCopy reports whether a statement is "x := x".
func (c *compactor) isCopy(s ast.Stmt) bool {
	define, ok := s.(*ast.AssignStmt)
	if !ok || define.Tok != token.DEFINE || len(define.Lhs) != 1 {
		return false
	}
	from, ok := define.Rhs[0].(*ast.Ident)
	return ok && isName(define.Lhs[0], from.Name)
}

// loopKey reports whether a statement is of vgiterkey, by which components in a loop are told
// apart, and what that is set to. makesKey reports whether it is used.
func (c *compactor) loopKey(s ast.Stmt) (value string, is bool) {
	switch s := s.(type) {
	case *ast.DeclStmt:
		d, ok := s.Decl.(*ast.GenDecl)
		if !ok || len(d.Specs) != 1 || !isName(d.Specs[0].(*ast.ValueSpec).Names[0], "vgiterkey") {
			return "", false
		}
		if values := d.Specs[0].(*ast.ValueSpec).Values; len(values) == 1 {
			value = c.source(values[0].Pos(), values[0].End())
		}
		return value, true
	case *ast.AssignStmt:
		return "", len(s.Rhs) == 1 && isName(s.Lhs[0], "_") && isName(s.Rhs[0], "vgiterkey")
	}
	return "", false
}

func (c *compactor) makesKey(list []ast.Stmt) (makes bool) {
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			makes = makes || ok && isSelector(call.Fun, "vugu", "MakeCompKey")
			return true
		})
	}
	return makes
}

// isProperty reports whether a statement is the block that sets a property.
func (c *compactor) isProperty(s ast.Stmt) bool {
	block, ok := s.(*ast.BlockStmt)
	if !ok || len(block.List) != 3 {
		return false
	}
	define, ok := block.List[0].(*ast.AssignStmt)
	if !ok || len(define.Rhs) != 1 {
		return false
	}
	marshal, ok := define.Rhs[0].(*ast.CallExpr)
	return ok && isSelector(marshal.Fun, "vjson", "Marshal")
}

// propertyCall is "setProperty(vgn, KEY, VALUE)" for the block that sets a property, else "".
func (c *compactor) propertyCall(block *ast.BlockStmt) string {
	if !c.isProperty(block) {
		return ""
	}
	value := block.List[0].(*ast.AssignStmt).Rhs[0].(*ast.CallExpr).Args[0]
	if set, ok := block.List[2].(*ast.AssignStmt); ok && len(set.Rhs) == 1 {
		if call, ok := set.Rhs[0].(*ast.CallExpr); ok && len(call.Args) == 2 {
			if property := literalOf(call.Args[1], "VGProperty"); property != nil {
				if key, ok := text(property.Elts[0].(*ast.KeyValueExpr).Value); ok {
					return fmt.Sprintf("setProperty(vgn, %q, %s)", key, c.source(value.Pos(), value.End()))
				}
			}
		}
	}
	c.fail("a property is set in a way that is not known")
	return ""
}

// component is X of the block "{ var vgcomp vugu.Builder = X … }", which adds a component, else "".
func (c *compactor) component(block *ast.BlockStmt) string {
	if len(block.List) == 0 {
		return ""
	}
	declare, ok := block.List[0].(*ast.DeclStmt)
	if !ok {
		return ""
	}
	spec, ok := declare.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec)
	if !ok || !isName(spec.Names[0], "vgcomp") || len(spec.Values) != 1 {
		return ""
	}
	return c.source(spec.Values[0].Pos(), spec.Values[0].End())
}

// appendsChild reports whether a statement is vgparent.AppendChild(vgn).
func appendsChild(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	return ok && isSelector(call.Fun, "vgparent", "AppendChild") && len(call.Args) == 1 && isName(call.Args[0], "vgn")
}

// literalOf is a composite literal of a type of Vugu's, or of a pointer to one, else nil.
func literalOf(e ast.Expr, name string) *ast.CompositeLit {
	if address, ok := e.(*ast.UnaryExpr); ok {
		e = address.X
	}
	literal, ok := e.(*ast.CompositeLit)
	if !ok || !isSelector(literal.Type, "vugu", name) {
		return nil
	}
	return literal
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func isSelector(e ast.Expr, of, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && isName(s.X, of) && s.Sel.Name == name
}

// text is the value of a string literal.
func text(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(literal.Value)
	return s, err == nil
}
