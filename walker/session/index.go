package session

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
)

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

// FullIndex is a symbol file with its full index.
type FullIndex = symfile.File

// Indexed opens a symbol file with its full index: with one that was kept, or, if index is nil,
// with one that it makes (symfile.Open). It may run in a goroutine beside the session's other work,
// which goes on without the index until Adopt.
func (s *Session) Indexed(itemID int, index []byte, progress func(done, total int64)) (*FullIndex, error) {
	it, err := s.symItem(itemID)
	if err != nil {
		return nil, err
	}
	opt := s.symOptions(it)
	opt.Progress = progress
	if index != nil {
		return symfile.OpenIndexed(it.src, input.FromBytes(it.src.Name, index), opt)
	}
	return symfile.Open(it.src, opt)
}

// Adopt has lookups use the index of what Indexed returned. The stacks that used the file are
// walked again at the next Report, because a search may have answered wrongly.
func (s *Session) Adopt(itemID int, full *FullIndex) error {
	it, err := s.symItem(itemID)
	if err != nil {
		return err
	}
	if it.sym == nil { // no stack needed it yet
		it.sym, it.opened = full, true
	} else {
		it.sym.Adopt(full)
		it.sym.Revised() // all is walked again
	}
	it.Warnings, it.WarningCount = warnings(it)
	for _, d := range s.dumps {
		if d.uses(it) {
			d.invalidate()
		}
	}
	return nil
}

// Key names the index of a symbol file among those that are kept: by debug id, size and a checksum
// of parts of its content (symfile.Fingerprint).
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
