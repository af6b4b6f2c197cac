package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vugu/vugu"
)

func TestAddNodes(t *testing.T) {
	root := addNodes(nil, "\x02div\x00class\x00a b")
	last := addNodes(root, "\x01\n \x03\x02p\x00hidden\x00\x00title\x00c\x01d\x03\x02b\x04<e>\x03\x03\x05svg\x05path\x00d\x00M0\x03\x03\x02i\x00id\x00f")
	const style = "g \"\\\x00\n\u00e9"
	setProperty(last, "style", style)
	var b strings.Builder
	var write func(n *vugu.VGNode, depth int)
	write = func(n *vugu.VGNode, depth int) {
		fmt.Fprintf(&b, "%s%d %q %s %v", strings.Repeat(" ", depth), n.Type, n.Data, n.Namespace, n.Attr)
		if n.InnerHTML != nil {
			fmt.Fprintf(&b, " %s", *n.InnerHTML)
		}
		b.WriteString("\n")
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Parent != n {
				t.Errorf("%q has another parent", c.Data)
			}
			write(c, depth+1)
		}
	}
	write(root, 0)
	if want := `3 "div"  [{ class a b}]
 1 "\n "  []
 3 "p"  [{ hidden } { title c}]
  1 "d"  []
  3 "b"  [] &lt;e&gt;
 3 "svg" svg []
  3 "path" svg [{ d M0}]
 3 "i"  [{ id f}]
`; b.String() != want {
		t.Errorf("%s", b.String())
	}
	var back string
	if err := json.Unmarshal(last.Prop[0].JSONVal, &back); last.Data != "i" || err != nil || back != style {
		t.Errorf("%+v: %q, %v", last, back, err)
	}
}
