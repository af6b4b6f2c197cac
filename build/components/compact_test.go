package main

import (
	"strings"
	"testing"
)

func body(statements string) string {
	return "package app\n\nfunc f() {\n" + statements + "}\n"
}

func TestCompact(t *testing.T) {
	for _, c := range []struct{ name, from, to string }{
		{"a text", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: "a \"b\"\n"}
	vgparent.AppendChild(vgn)
`, `	vgn = addText(vgparent, "a \"b\"\n")
`},
		{"an element", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "p", Attr: []vugu.VGAttribute{{Namespace: "", Key: "class", Val: "x y"}, vugu.VGAttribute{Namespace: "", Key: "hidden", Val: ""}}}
	vgparent.AppendChild(vgn)
	vgn.SetInnerHTML(1)
`, `	vgn = addElement(vgparent, "p", "class\x00x y\x00hidden\x00")
	vgn.SetInnerHTML(1)
`},
		{"without attributes", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "p", Attr: []vugu.VGAttribute(nil)}
	vgparent.AppendChild(vgn)
`, `	vgn = addElement(vgparent, "p", "")
`},
		{"the root", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "p", Attr: []vugu.VGAttribute(nil)}
	vgout.Out = append(vgout.Out, vgn)
`, `	vgn = addElement(nil, "p", "")
	vgout.Out = append(vgout.Out, vgn)
`},
		{"in a block, after one", `	for range x {
		vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: "a"}
		vgparent.AppendChild(vgn)
	}
	vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: "b"}
	vgparent.AppendChild(vgn)
`, `	for range x {
		vgn = addText(vgparent, "a")
	}
	vgn = addText(vgparent, "b")
`},
		{"a property", `	{
		b, err := vjson.Marshal(c.style(1))
		if err != nil {
			panic(err)
		}
		vgn.Prop = append(vgn.Prop, vugu.VGProperty{Key: "style", JSONVal: vjson.RawMessage(b)})
	}
`, `	setProperty(vgn, "style", c.style(1))
`},
		{"what has a namespace, and components", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "svg", Data: "svg", Attr: []vugu.VGAttribute(nil)}
	vgparent.AppendChild(vgn)
	vgn = &vugu.VGNode{Component: vgcomp}
	vgparent.AppendChild(vgn)
`, `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "svg", Data: "svg", Attr: []vugu.VGAttribute(nil)}
	vgparent.AppendChild(vgn)
	vgn = &vugu.VGNode{Component: vgcomp}
	vgparent.AppendChild(vgn)
`},
	} {
		got, err := compact("x_gen.go", []byte(body(c.from)))
		if err != nil || string(got) != body(c.to) {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
}

// What another version of the generator writes must not be left out without a word.
func TestCompactRefuses(t *testing.T) {
	for want, from := range map[string]string{
		"not known": "\t{\n\t\tb, err := vjson.Marshal(1)\n\t\tif err != nil {\n\t\t}\n\t\tvgn.Set(b)\n\t}\n",
		"NUL":       "\tvgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Data: \"p\", Attr: []vugu.VGAttribute{{Key: \"a\", Val: \"\\x00\"}}}\n",
	} {
		if _, err := compact("x_gen.go", []byte(body(from))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
