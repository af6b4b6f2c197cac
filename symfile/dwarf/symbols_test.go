package dwarf

import (
	"github.com/crashpane/crashpane/symfile/symbol"
)

// symbols is a symbol table, sorted by address.
type symbols []symbolEntry

type symbolEntry struct {
	name       string
	start, end uint64
}

func (s symbols) Len() int          { return len(s) }
func (s symbols) Name(n int) string { return s[n].name }

func (s symbols) Piece(rva uint64) (int, symbol.Range, error) {
	for i, e := range s {
		if rva < e.start {
			return -1, symbol.Range{Start: rva, Size: e.start - rva}, nil
		}
		if rva < e.end {
			return i, symbol.Range{Start: e.start, Size: e.end - e.start}, nil
		}
	}
	return -1, symbol.Range{Start: rva, Size: -rva}, nil
}

func (s symbols) Linkage(starts []uint64, plain string) (string, error) {
	for _, e := range s {
		for _, start := range starts {
			if e.start == start && (plain == "" || e.name == "linked "+plain) {
				return e.name, nil
			}
		}
	}
	return "", nil
}
