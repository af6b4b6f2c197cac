package app

import (
	"html"
	"strings"

	"github.com/vugu/vugu"
)

// What the components' code is made of. Vugu's generator writes a literal for each node;
// build/components makes texts of them, which are a small part of the code of the literals.

// addNodes adds nodes to a node, if that is not nil, and answers the last one that is not within
// another. Each begins with a mark, and ends with one:
//
//	\x01 TEXT
//	\x02 NAME \x00 ATTRIBUTE \x00 VALUE … NODES     an element; \x05 in place of \x02 if it is one of SVG
//	\x04 TEXT                                       what an element holds, in place of nodes
//	\x03                                            the end of a text or an element; at the end of all it is left out
func addNodes(parent *vugu.VGNode, nodes string) (last *vugu.VGNode) {
	at, depth := parent, 0
	for nodes != "" {
		mark, end := nodes[0], 1
		for end < len(nodes) && (nodes[end] == 0 || nodes[end] > 5) {
			end++
		}
		what := nodes[1:end]
		nodes = nodes[end:]
		switch mark {
		case 3:
			at = at.Parent
			depth--
			continue
		case 4:
			content := html.EscapeString(what)
			at.InnerHTML = &content
			continue
		}
		n := &vugu.VGNode{Type: vugu.TextNode, Data: what}
		if mark != 1 {
			n.Type = vugu.ElementNode
			n.Data, what, _ = strings.Cut(what, "\x00")
			if mark == 5 {
				n.Namespace = "svg"
			}
			n.Attr = make([]vugu.VGAttribute, 0, strings.Count(what, "\x00")/2+1)
			for what != "" {
				var key, value string
				key, what, _ = strings.Cut(what, "\x00")
				value, what, _ = strings.Cut(what, "\x00")
				n.Attr = append(n.Attr, vugu.VGAttribute{Key: key, Val: value})
			}
		}
		if at != nil {
			at.AppendChild(n)
		}
		if depth == 0 {
			last = n
		}
		at = n
		depth++
	}
	return last
}

// setAttribute sets an attribute of an element. One that is false or nil is left out.
func setAttribute[T any](n *vugu.VGNode, name string, value T) { n.AddAttrInterface(name, value) }

// setContent gives an element its text.
func setContent[T any](n *vugu.VGNode, text T) { n.SetInnerHTML(text) }

// addComponent adds a component, if there is one.
func addComponent(in *vugu.BuildIn, out *vugu.BuildOut, parent *vugu.VGNode, component vugu.Builder) {
	if component == nil {
		return
	}
	in.BuildEnv.WireComponent(component)
	out.Components = append(out.Components, component)
	parent.AppendChild(&vugu.VGNode{Component: component})
}

// setProperty sets a property of an element in JavaScript, a text. Vugu takes it as JSON (RFC 8259,
// section 7).
func setProperty(n *vugu.VGNode, name, value string) {
	const digits = "0123456789abcdef"
	b := []byte{'"'}
	for i := range len(value) {
		switch c := value[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	n.Prop = append(n.Prop, vugu.VGProperty{Key: name, JSONVal: append(b, '"')})
}
