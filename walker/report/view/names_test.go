package view

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// Names in sentences are shorter than in the stack.
func TestShortNames(t *testing.T) {
	for in, want := range map[string]string{"f": "f", "a::f": "a::f", "std::sys::futex::wait": "futex::wait", "a::b<c::d>::e": "b<c::d>::e"} {
		if got := lastParts(in); got != want {
			t.Errorf("lastParts(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"f(int)": "f", "operator()": "operator()", "a::operator()(int) const": "a::operator()", "T<std::vector<int>>::f()": "T<…>::f"} {
		if got := rows.Bare(in); got != want {
			t.Errorf("Bare(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPattern(t *testing.T) {
	if Pattern(0xdddddddd) == "" || Pattern(0x1234) != "" || Pattern(0xdddddddddddddddd) == "" {
		t.Error("patterns")
	}
}
