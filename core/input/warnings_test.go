package input

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
)

func TestWarnings(t *testing.T) {
	var w Warnings
	for range 3 {
		w.Add(errors.New("once"))
	}
	for i := range keptOfKind + 5 {
		w.AddKind("entry", fmt.Errorf("entry %d", i))
	}
	want := []string{"once", "entry 0", "entry 1", "entry 2", "entry 3", "a.so: 5 more warnings"}
	if got := w.List("a.so"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range 2 * keptWarnings {
		w.Add(fmt.Errorf("other %d", i))
	}
	if got := len(w.List("a.so")); got != keptWarnings+keptOfKind+1 {
		t.Errorf("%d warnings are kept", got)
	}
}

// Only what is wrong with the content is a warning: other errors may not happen again.
func TestWarningsPass(t *testing.T) {
	var w Warnings
	for _, err := range []error{&NeedError{Name: "a"}, &FormatError{File: "a", Err: io.ErrUnexpectedEOF}, io.ErrClosedPipe} {
		if w.Pass(err) != err {
			t.Errorf("%v is passed over", err)
		}
	}
	if err := w.Pass(&FormatError{File: "a", Have: "junk"}); err != nil || w.Pass(nil) != nil || len(w.List("")) != 1 {
		t.Errorf("%v, %q", err, w.List(""))
	}
}
