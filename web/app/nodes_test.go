package app

import (
	"testing"

	"github.com/vugu/vugu"
)

func TestAddElement(t *testing.T) {
	root := addElement(nil, "div", "")
	p := addElement(root, "p", "class\x00a b\x00hidden\x00\x00title\x00c")
	addText(p, "d")
	setProperty(p, "style", "e")
	if root.Attr != nil || root.FirstChild != p || p.Parent != root || p.Data != "p" || p.Type != vugu.ElementNode || p.FirstChild.Data != "d" {
		t.Errorf("%+v", p)
	}
	if len(p.Attr) != 3 || p.Attr[0] != (vugu.VGAttribute{Key: "class", Val: "a b"}) || p.Attr[1] != (vugu.VGAttribute{Key: "hidden"}) ||
		p.Attr[2] != (vugu.VGAttribute{Key: "title", Val: "c"}) {
		t.Errorf("%+v", p.Attr)
	}
	if string(p.Prop[0].JSONVal) != `"e"` {
		t.Errorf("%s", p.Prop[0].JSONVal)
	}
}
