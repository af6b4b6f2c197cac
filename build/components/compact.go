package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// compact replaces the literals that Vugu's generator writes for each node, attribute list and property by calls of three functions of the
// components' package (nodes.go). A literal of vugu.VGNode is compiled to an allocation and a store for each field, a thousand times: as calls they
// are a third of that.
//
//	vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: "text"}        vgn = addText(vgparent, "text")
//	vgparent.AppendChild(vgn)
//
//	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Data: "p", Attr: …}  vgn = addElement(vgparent, "p", "class\x00lead")
//	vgparent.AppendChild(vgn)
//
//	{ b, err := vjson.Marshal(x) … vgn.Prop = append(…) }             setProperty(vgn, "style", x)
//
// A statement of another form is left as it is.
func compact(name string, code []byte) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, code, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	var wrong error
	ast.Inspect(file, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, s := range block.List {
			call, ends, err := "", s, error(nil)
			if set, ok := s.(*ast.BlockStmt); ok {
				call, err = propertyCall(code, set)
			} else if assign, ok := s.(*ast.AssignStmt); ok {
				parent := "nil"
				if i+1 < len(block.List) && appendsChild(block.List[i+1]) {
					parent, ends = "vgparent", block.List[i+1]
				}
				call, err = nodeCall(assign, parent)
			}
			if err != nil && wrong == nil {
				wrong = err
			}
			if call != "" {
				edits = append(edits, edit{files.Position(s.Pos()).Offset, files.Position(ends.End()).Offset, call})
			}
		}
		return true
	})
	if wrong != nil {
		return nil, fmt.Errorf("%s: %w", name, wrong)
	}
	// Blocks are visited before what is in them.
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	copied := 0
	for _, e := range edits {
		out = append(append(out, code[copied:e.from]...), e.text...)
		copied = e.to
	}
	return format.Source(append(out, code[copied:]...))
}

// attributeEnd separates names and values of attributes; HTML allows it in neither.
const attributeEnd = "\x00"

// nodeCall is "vgn = addText(…)" or "vgn = addElement(…)" for an assignment of a literal, else "".
func nodeCall(assign *ast.AssignStmt, parent string) (string, error) {
	if assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || !isName(assign.Lhs[0], "vgn") {
		return "", nil
	}
	literal := literalOf(assign.Rhs[0], "VGNode")
	if literal == nil {
		return "", nil
	}
	var kind, data string
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
			var space string
			space, ok = text(field.Value)
			ok = ok && space == ""
		case "Attr":
			attributes, ok = attributesOf(field.Value)
		default:
			ok = false
		}
		if !ok {
			return "", nil
		}
	}
	switch kind {
	case "1":
		return fmt.Sprintf("vgn = addText(%s, %q)", parent, data), nil
	case "3":
		for _, a := range attributes {
			if strings.Contains(a, attributeEnd) {
				return "", fmt.Errorf("an attribute %q holds a NUL character", a)
			}
		}
		return fmt.Sprintf("vgn = addElement(%s, %q, %q)", parent, data, strings.Join(attributes, attributeEnd)), nil
	}
	return "", nil
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

// propertyCall is "setProperty(vgn, KEY, VALUE)" for the block that sets a property, else "".
func propertyCall(code []byte, block *ast.BlockStmt) (string, error) {
	if len(block.List) != 3 {
		return "", nil
	}
	define, ok := block.List[0].(*ast.AssignStmt)
	if !ok || len(define.Rhs) != 1 {
		return "", nil
	}
	marshal, ok := define.Rhs[0].(*ast.CallExpr)
	if !ok || !isSelector(marshal.Fun, "vjson", "Marshal") {
		return "", nil
	}
	if set, ok := block.List[2].(*ast.AssignStmt); ok && len(set.Rhs) == 1 {
		if call, ok := set.Rhs[0].(*ast.CallExpr); ok && len(call.Args) == 2 {
			if property := literalOf(call.Args[1], "VGProperty"); property != nil {
				if key, ok := text(property.Elts[0].(*ast.KeyValueExpr).Value); ok {
					value := code[marshal.Args[0].Pos()-1 : marshal.Args[0].End()-1] // the only file of its set, so positions are offsets + 1
					return fmt.Sprintf("setProperty(vgn, %q, %s)", key, value), nil
				}
			}
		}
	}
	return "", fmt.Errorf("a property is set in a way that is not known")
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
