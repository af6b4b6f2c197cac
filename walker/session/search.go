package session

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
)

// Search does what a walk does with a symbol file that is searched where it lies, without a dump: it opens it, and looks up functions and
// unwind rules at module-relative addresses, fetched together. It says how many of them have a function. Whoever times or rehearses that calls it.
func Search(src *input.Source, rvas []uint64) (found int, err error) {
	f, err := symfile.OpenSparse(src, symfile.Options{Slice: 8 << 10})
	if err != nil {
		return 0, err
	}
	f.Prepare(rvas, rvas).All()
	for _, rva := range rvas {
		if _, _, err := f.CFI(rva); err != nil {
			return found, err
		}
		s, _, err := f.Lookup(rva)
		if err != nil {
			return found, err
		}
		if s.Name != "" {
			found++
		}
	}
	return found, nil
}
