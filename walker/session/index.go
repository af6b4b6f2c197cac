package session

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
)

// ErrIndivisible means that a symbol file cannot be indexed in chunks (see symfile.ErrIndivisible). Complete indexes such a file.
var ErrIndivisible = symfile.ErrIndivisible

// Indexer indexes chunks of symbol files for Adopt, each from one of the file's Cuts to the next. It needs no session.
type Indexer = symfile.Indexer

// Unindexed returns the symbol files that lookups for a dump used and that have no full index.
func (s *Session) Unindexed(dumpIndex int) []Item {
	if dumpIndex < 0 || dumpIndex >= len(s.dumps) {
		return nil
	}
	var out []Item
	seen := map[*item]bool{}
	for i := range s.dumps[dumpIndex].modules {
		it := s.dumps[dumpIndex].modules[i].item
		if it != nil && it.sym != nil && !it.sym.FullyIndexed() && !seen[it] {
			seen[it] = true
			out = append(out, it.Item)
		}
	}
	return out
}

// symItem returns an item, which must be a symbol file.
func (s *Session) symItem(itemID int) (*item, error) {
	if itemID < 0 || itemID >= len(s.items) || s.items[itemID].Kind != KindSym {
		return nil, fmt.Errorf("there is no symbol file number %d", itemID)
	}
	return s.items[itemID], nil
}

// File returns the source of a symbol file, or nil.
func (s *Session) File(itemID int) *input.Source {
	it, err := s.symItem(itemID)
	if err != nil {
		return nil
	}
	return it.src
}

// Cuts returns the offsets at which a symbol file may be divided into chunks of about a size, in bytes, to have them indexed elsewhere
// (symfile.Indexer) and adopted here.
func (s *Session) Cuts(itemID int, size int64) ([]int64, error) {
	it, err := s.symItem(itemID)
	if err != nil {
		return nil, err
	}
	return symfile.Cuts(it.src, size)
}

// Key names the index of a symbol file among those that are kept: by debug id, size and a checksum of parts of its content
// (symfile.Fingerprint).
func (s *Session) Key(itemID int) (string, error) {
	it, err := s.symItem(itemID)
	if err != nil {
		return "", err
	}
	print, err := symfile.Fingerprint(it.src)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%d-%016x", it.SymID, it.src.Size, print), nil
}
