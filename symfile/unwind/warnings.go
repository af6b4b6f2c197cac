package unwind

import (
	"fmt"
	"sort"
)

// keptWarnings is how many warnings of each kind are kept in full: a crafted file could have
// millions.
const keptWarnings = 4

// Warnings collects the entries that a Table skips: the first few of each kind, and the number of
// the rest. The zero value is empty and ready to use.
type Warnings struct {
	list  []string
	kinds map[string]int
}

// Add adds a warning. The Table chooses the kinds by which warnings are counted.
func (w *Warnings) Add(kind string, err error) {
	if w.kinds == nil {
		w.kinds = map[string]int{}
	}
	if w.kinds[kind]++; w.kinds[kind] <= keptWarnings {
		w.list = append(w.list, err.Error())
	}
}

// List returns the warnings. where begins the lines that count further warnings: "libfoo.so:
// .eh_frame".
func (w *Warnings) List(where string) []string {
	out := w.list[:len(w.list):len(w.list)]
	kinds := make([]string, 0, len(w.kinds))
	for kind := range w.kinds {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		if n := w.kinds[kind] - keptWarnings; n > 0 {
			out = append(out, fmt.Sprintf("%s: %d more of a kind", where, n))
		}
	}
	return out
}
