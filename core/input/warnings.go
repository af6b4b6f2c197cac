package input

import (
	"errors"
	"fmt"
	"slices"
)

// Warnings are the parts of a file that were passed over, because something was wrong with them. Each
// text is kept once, and a limited number of them: a crafted file could have millions. The zero value
// is empty.
type Warnings struct {
	list  []string
	kinds map[string]int
	more  int
}

const (
	// keptWarnings is how many warnings without a kind are kept, keptOfKind how many of each kind.
	keptWarnings = 100
	keptOfKind   = 4
)

// Add keeps an error as a warning.
func (w *Warnings) Add(err error) { w.add("", keptWarnings, err) }

// AddKind keeps an error as a warning, if it is one of the first of its kind. Each entry of a table
// may have one.
func (w *Warnings) AddKind(kind string, err error) { w.add(kind, keptOfKind, err) }

func (w *Warnings) add(kind string, most int, err error) {
	text := err.Error()
	switch {
	case slices.Contains(w.list, text):
		return
	case w.kinds == nil:
		w.kinds = map[string]int{}
	}
	if w.kinds[kind]++; w.kinds[kind] > most {
		w.more++
		return
	}
	w.list = append(w.list, text)
}

// Pass keeps an error about the file's content as a warning and returns nil. It returns errors of
// reading: bytes that are still to be fetched (NeedError), and those of the reader itself.
func (w *Warnings) Pass(err error) error {
	var format *FormatError
	if Needs(err) || !errors.As(err, &format) || format.Err != nil {
		return err
	}
	w.Add(err)
	return nil
}

// List returns the warnings. where begins the line that counts further ones: "libfoo.so: .eh_frame".
func (w *Warnings) List(where string) []string {
	out := slices.Clip(w.list)
	if w.more > 0 {
		out = append(out, fmt.Sprintf("%s: %d more warnings", where, w.more))
	}
	return out
}
