package app

import (
	"strings"

	"github.com/vugu/vjson"
	"github.com/vugu/vugu"
)

// What the components' code is made of. Vugu's generator writes a literal for each node; build/components makes these calls of them, since a
// call is a third of the code of a literal, and there are a thousand.

// addElement adds an element to a node, if that is not nil. attributes are names and values in turn, each but the last with a NUL behind it.
func addElement(parent *vugu.VGNode, name, attributes string) *vugu.VGNode {
	n := &vugu.VGNode{Type: vugu.ElementNode, Data: name}
	if attributes != "" {
		parts := strings.Split(attributes, "\x00")
		n.Attr = make([]vugu.VGAttribute, 0, len(parts)/2+4)
		for i := 0; i+1 < len(parts); i += 2 {
			n.Attr = append(n.Attr, vugu.VGAttribute{Key: parts[i], Val: parts[i+1]})
		}
	}
	return attach(parent, n)
}

// addText adds a text to a node.
func addText(parent *vugu.VGNode, text string) *vugu.VGNode {
	return attach(parent, &vugu.VGNode{Type: vugu.TextNode, Data: text})
}

func attach(parent, n *vugu.VGNode) *vugu.VGNode {
	if parent != nil {
		parent.AppendChild(n)
	}
	return n
}

// setProperty sets a property of an element in JavaScript.
func setProperty(n *vugu.VGNode, name string, value any) {
	b, err := vjson.Marshal(value)
	if err != nil {
		panic(err)
	}
	n.Prop = append(n.Prop, vugu.VGProperty{Key: name, JSONVal: b})
}
