package disk

import (
	"os"
	"path/filepath"

	"github.com/crashpane/crashpane/core/input"
)

// ReadSize is the size of one read of a symbol file that is indexed on demand, in bytes. On a
// disk, small reads are cheap.
const ReadSize = 4 << 10

// SourceFile is an open file. Close also removes the temporary files of what was unpacked from it.
type SourceFile struct {
	*input.Source
	Close func() error
}

// OpenSources opens files, which the caller closes. They share a budget.
func OpenSources(paths []string, maxUnpacked int64) (out []SourceFile, err error) {
	budget, given := &input.Budget{}, int64(0)
	for _, path := range paths {
		f, src, err := OpenFile(InBundle(path))
		if err != nil {
			for _, s := range out {
				s.Close()
			}
			return nil, err
		}
		src.Budget, src.MaxUnpacked = budget, maxUnpacked
		budget.GiveFile(src)
		given += src.Size
		unpacked := &Spools{}
		src.Spool = unpacked.Create
		out = append(out, SourceFile{src, func() error {
			unpacked.Close()
			return f.Close()
		}})
	}
	collectWithin(given)
	return out, nil
}

// InBundle returns the file with the debug information of a dSYM bundle, and other paths as they
// are. A bundle has one such file for each program, and nearly all have one.
func InBundle(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	files, err := filepath.Glob(filepath.Join(path, "Contents", "Resources", "DWARF", "*"))
	if err != nil || len(files) != 1 {
		return path // opening it says what is wrong
	}
	return files[0]
}
