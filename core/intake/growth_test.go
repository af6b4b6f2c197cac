package intake

import (
	"archive/tar"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
)

// TestMembersGrowth: an upload or archive costs in proportion to its bytes, whatever its parts are, and a
// megabyte less than a second.
func TestMembersGrowth(t *testing.T) {
	const head = "{\"event_id\":\"1\"}\n{\"type\":\"event\"}\n{}\n"
	for _, c := range []struct {
		name string
		size int
		text func(n int) string
	}{
		{"parts", 3000, func(n int) string {
			return strings.Repeat("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n", n) + "--b--\r\n"
		}},
		{"files", 1000, func(n int) string {
			return strings.Repeat("--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\nx\r\n", n) + "--b--\r\n"
		}},
		{"lines before the parts", 2000, func(n int) string {
			return strings.Repeat("--a\ncontent-x:\n", n) + "--b\ncontent-disposition: x; filename=\"f\"\n\nx\n--b--\n"
		}},
		{"chunks", 10000, func(n int) string {
			return "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n" + strings.Repeat("1\nx\n", n) + "0\n\n"
		}},
		{"base64", 3000, func(n int) string {
			return "--b\ncontent-disposition: x; filename=\"f\"\ncontent-transfer-encoding: base64\n\n" + strings.Repeat("TURNUE1ETVAA\n", 10*n) + "\n--b--\n"
		}},
		{"members of a tar", 500, func(n int) string {
			return strings.Repeat(tarOf(tar.FormatUSTAR, [2]string{"a", "x"})[:1024], n)
		}},
		{"long names in a tar", 500, func(n int) string {
			return strings.Repeat(tarOf(tar.FormatGNU, [2]string{strings.Repeat("a", 300), "x"})[:2560], n)
		}},
		{"members of an ar", 1000, func(n int) string {
			return arMagic + strings.Repeat(arOf(true, [2]string{"a.o", string(fat(nil, 7))})[80:], n)
		}},
		{"items", 1000, func(n int) string { return head + strings.Repeat("{\"type\":\"event\"}\n{}\n", n) }},
		{"items that nobody asks for", 10000, func(n int) string { return head + strings.Repeat("{\"type\":\"x\"}\n\n", n) }},
		{"items with a length before a long line", 10000, func(n int) string {
			return head + strings.Repeat("{\"type\":\"x\",\"length\":0}\n", n) + strings.Repeat(" ", 100*n)
		}},
		{"blank lines", 100000, func(n int) string { return head + strings.Repeat("\n", n) }},
		{"an event with many tags", 5000, func(n int) string {
			var b strings.Builder
			b.WriteString("{\"event_id\":\"1\"}\n{\"type\":\"event\"}\n{\"tags\":{")
			for i := range n {
				fmt.Fprintf(&b, "\"k%d\":\"v\",", i)
			}
			return b.String() + "\"k\":\"v\"}}\n"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			testfile.Growth(t, c.size, func(n int) func() {
				src := input.FromBytes("a.dmp", []byte(c.text(n)))
				return func() { Expand(src, Limits{}, nil) } // some have no file
			})
		})
	}
}
