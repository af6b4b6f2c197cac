package view

import "testing"

// TestSource: a line of 0 is shown, not left out.
func TestSource(t *testing.T) {
	for _, c := range []struct {
		file        string
		line        uint32
		has         bool
		short, full string
	}{
		{"/src/a.m", 12, true, "a.m:12", "/src/a.m:12"},
		{"/src/a.m", 0, true, "a.m, no line", "/src/a.m, no line: the compiler made this code for none"},
		{"/src/a.m", 0, false, "a.m", "/src/a.m"},
		{"", 0, true, "", ""},
	} {
		if short, full := source(c.file, c.line, c.has); short != c.short || full != c.full {
			t.Errorf("%+v: %q, %q", c, short, full)
		}
	}
}
