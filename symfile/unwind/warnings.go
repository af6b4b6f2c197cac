package unwind

import (
	"fmt"
	"sort"
)

// keptWarnings are kept of each kind.
const keptWarnings = 4

// Warnings collects what a Table passes over: of each kind the first, and how many more there were. The zero value is empty.
type Warnings struct {
	list  []string
	kinds map[string]int
}

// Add notes one. kind is a word of the Table's own, by which warnings are counted.
func (w *Warnings) Add(kind string, err error) {
	if w.kinds == nil {
		w.kinds = map[string]int{}
	}
	if w.kinds[kind]++; w.kinds[kind] <= keptWarnings {
		w.list = append(w.list, err.Error())
	}
}

// List is what was noted. where stands before the numbers of those that were not kept: "libfoo.so: .eh_frame".
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
