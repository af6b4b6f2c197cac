package dumptext

import (
	"strconv"
	"testing"
)

// quote gives what strconv.Quote does.
func TestQuote(t *testing.T) {
	all := []rune{}
	for r := rune(0); r < 0x3000; r++ {
		all = append(all, r)
	}
	for _, s := range []string{"", "a", `"\`, "a\xffb\x80", "\ufffd", "\u200b\ufeff\U0001f600\U0010ffff", "x\x1b[31m\n\x7f", string(all), "\xed\xa0\x80end"} {
		if got, want := quote(s), strconv.Quote(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
