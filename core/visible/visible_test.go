package visible

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"plain ~":              "plain ~",
		"näme €":               "näme €",
		"a\x00\x1b[31m\a\b":    "a␀␛[31m␇␈",
		"a\r\nThread 0":        "a␍␊Thread 0",
		"a\tb":                 "a b",
		"\x7f\u009b31m\u0085x": "␡\ufffd31m\ufffdx",
		"\x9b31m\xff":          "\ufffd31m\ufffd",
		"exe.\u202etxt":        "exe.‹U+202E›txt",
		"\u061c\u2028\ufeff":   "‹U+061C›‹U+2028›‹U+FEFF›",
		"ok \ufffd":            "ok \ufffd",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x00\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Hidden) {
			t.Errorf("%q", got)
		}
		if Text(got) != got {
			t.Errorf("%q is replaced again: %q", got, Text(got))
		}
		if !strings.ContainsFunc(s, Hidden) && utf8.ValidString(s) && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}
