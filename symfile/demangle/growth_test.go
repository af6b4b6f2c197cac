package demangle

import (
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// TestGrowth: a name of Rust costs in proportion to its length.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name string
		text func(n int) string
	}{
		{"a long path", func(n int) string { return "_R" + strings.Repeat("Nt", n/8) + "C1a" + strings.Repeat("1b", n/8) }},
		{"many generics", func(n int) string { return "_RINvC1a1f" + strings.Repeat("l", n) + "E" }},
		{"many references back", func(n int) string { return "_RINvC1a1fTllE" + strings.Repeat("B8_", n/3) + "E" }},
		{"a long identifier in Punycode", func(n int) string {
			return "_RNvC1au" + strconv.Itoa(n) + strings.Repeat("z", n)
		}},
		{"numbers without an end", func(n int) string { return "_RINvC1a1fAlj" + strings.Repeat("0", n) + "_E" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			testfile.Growth(t, 3000, func(n int) func() {
				name := c.text(n)
				return func() {
					for range 100 {
						Name(name)
					}
				}
			})
		})
	}
}
