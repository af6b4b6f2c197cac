package core

import (
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// TestNothingIsLost accounts for every byte of every corpus dump: what is inside of a stream, or pointed to by one, is decoded, or
// raw because nobody describes it, or reported as broken.
func TestNothingIsLost(t *testing.T) {
	paths := []string{}
	for p := range corpusDumps(t) {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	var sum Coverage
	n := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, c, err := Cover(input.FromBytes(filepath.Base(path), data))
		if err != nil {
			t.Logf("%s: %d bytes, refused: %v", filepath.Base(path), len(data), err)
			continue
		}
		n++
		t.Logf("%s: %s", filepath.Base(path), c)
		checkCoverage(t, path, data, c)
		for class := range c.Bytes {
			sum.Bytes[class] += c.Bytes[class]
		}
	}
	t.Logf("%d dumps: %s", n, &sum)
}

func checkCoverage(t *testing.T, name string, data []byte, c *Coverage) {
	t.Helper()
	for i, g := range c.Unknown {
		if i < 5 {
			t.Errorf("%s: %d bytes of %s at %#x are not decoded: % x", name, g.Loc.Size, g.Part, uint64(g.Loc.Off), data[g.Loc.Off:][:min(g.Loc.Size, 16)])
		}
	}
	total := int64(0)
	for _, n := range c.Bytes {
		total += n
	}
	if total != int64(len(data)) {
		t.Errorf("%s: %d of %d bytes accounted for", name, total, len(data))
	}
}
