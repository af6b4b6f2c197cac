package intake

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// TestCRLines: a symbol file whose lines end in CR alone is the same text with LF, also in UTF-16
// and at the depth where archives are not opened any more.
func TestCRLines(t *testing.T) {
	want := "MODULE windows x86_64 0 a.pdb\n" + strings.Repeat("FUNC 1000 10 0 f\n", 20000)
	cr := strings.ReplaceAll(want, "\n", "\r")
	for name, data := range map[string]string{"plain": cr, "UTF-16": utf16Of(cr, le)} {
		out, err := Expand(input.FromBytes("a.sym", []byte(data)), Limits{}, nil)
		if err != nil || len(out) != 1 {
			t.Errorf("%s: %d files, %v", name, len(out), err)
			continue
		}
		if got, err := out[0].Bytes(0, out[0].Size); err != nil || string(got) != want {
			t.Errorf("%s: %v, %d bytes, want %d: %.100q", name, err, len(got), len(want), got)
		}
	}
	if got := Plain([]byte(cr[:100])); string(got) != want[:100] {
		t.Errorf("%q", got)
	}
	if got := Plain([]byte("a\r\nb\r\n")); string(got) != "a\r\nb\r\n" {
		t.Errorf("%q", got)
	}
}
