package main

import (
	"strings"
	"testing"
)

func body(statements string) string {
	return "package app\n\nfunc f() {\n" + statements + "}\n"
}

func TestCompact(t *testing.T) {
	const p = `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "p", Attr: []vugu.VGAttribute(nil)}
	vgparent.AppendChild(vgn)
`
	for _, c := range []struct{ name, from, to string }{
		{"a text", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(1), Data: "a \"b\"\n"}
	vgparent.AppendChild(vgn)
`, `	addNodes(vgparent, "\x01a \"b\"\n\x03")
`},
		{"an element that is computed", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "p", Attr: []vugu.VGAttribute{{Namespace: "", Key: "class", Val: "x y"}, vugu.VGAttribute{Namespace: "", Key: "hidden", Val: ""}}}
	vgparent.AppendChild(vgn)
	vgn.AddAttrInterface("title", c.title())
	vgn.AddAttrInterface("data-act", "go")
	vgn.SetInnerHTML(1)
`, `	vgn = addNodes(vgparent, "\x02p\x00class\x00x y\x00hidden\x00\x00data-act\x00go")
	setAttribute(vgn, "title", c.title())
	setContent(vgn, 1)
`},
		{"what is known before one that is computed", p + `	vgn.SetInnerHTML("a")
	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "svg", Data: "svg", Attr: []vugu.VGAttribute(nil)}
	vgparent.AppendChild(vgn)
	{
		vgparent := vgn
		_ = vgparent
		vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "svg", Data: "path", Attr: []vugu.VGAttribute(nil)}
		vgparent.AppendChild(vgn)
	}
` + p + `	vgn.SetInnerHTML(c.text())
`, `	vgn = addNodes(vgparent, "\x02p\x04a\x03\x05svg\x05path\x03\x03\x02p")
	setContent(vgn, c.text())
`},
		{"children that are computed", p + `	{
		vgparent := vgn
		_ = vgparent
` + p + `		vgn.SetInnerHTML(c.text())
	}
` + p, `	vgn = addNodes(vgparent, "\x02p")
	{
		vgparent := vgn
		_ = vgparent
		vgn = addNodes(vgparent, "\x02p")
		setContent(vgn, c.text())
	}
	addNodes(vgparent, "\x02p\x03")
`},
		{"the root", `	vgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Namespace: "", Data: "p", Attr: []vugu.VGAttribute(nil)}
	vgout.Out = append(vgout.Out, vgn)
`, `	vgn = addNodes(nil, "\x02p")
	vgout.Out = append(vgout.Out, vgn)
`},
		{"a loop", `	for i, x := range y {
		var vgiterkey interface{} = i
		_ = vgiterkey
		i := i
		_ = i
		if x {
` + p + `		}
	}
`, `	for i, x := range y {
		_ = i
		_ = i
		if x {
			addNodes(vgparent, "\x02p\x03")
		}
	}
`},
		{"a loop of components", `	for i, x := range y {
		var vgiterkey interface{} = i
		_ = vgiterkey
		vgcompKey := vugu.MakeCompKey(1, vgiterkey)
	}
`, `	for i, x := range y {
		var vgiterkey interface{} = i
		_ = vgiterkey
		vgcompKey := vugu.MakeCompKey(1, vgiterkey)
	}
`},
		{"a property", p + `	{
		b, err := vjson.Marshal(c.style(1))
		if err != nil {
			panic(err)
		}
		vgn.Prop = append(vgn.Prop, vugu.VGProperty{Key: "style", JSONVal: vjson.RawMessage(b)})
	}
`, `	vgn = addNodes(vgparent, "\x02p")
	setProperty(vgn, "style", c.style(1))
`},
		{"a component of an expression", `	{
		var vgcomp vugu.Builder = c.parts[1]
		if vgcomp != nil {
			vgin.BuildEnv.WireComponent(vgcomp)
		}
	}
`, `	addComponent(vgin, vgout, vgparent, c.parts[1])
`},
		{"a component", `	vgn = &vugu.VGNode{Component: vgcomp}
	vgparent.AppendChild(vgn)
`, `	vgn = &vugu.VGNode{Component: vgcomp}
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
		"control":   "\tvgn = &vugu.VGNode{Type: vugu.VGNodeType(3), Data: \"p\", Attr: []vugu.VGAttribute{{Key: \"a\", Val: \"\\x00\"}}}\n",
	} {
		if _, err := compact("x_gen.go", []byte(body(from))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
