package core

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// TestNothingIsLost accounts for every byte of every corpus dump: what is inside of a stream, or
// pointed to by one, is decoded, or raw because nobody describes it, or reported as broken.
func TestNothingIsLost(t *testing.T) {
	paths := corpusDumps(t)
	sort.Strings(paths)
	var sum Coverage
	n := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, a, err := cover(input.FromBytes(filepath.Base(path), data))
		if err != nil {
			t.Logf("%s: %d bytes, refused: %v", filepath.Base(path), len(data), err)
			continue
		}
		n++
		c := &a.sum
		t.Logf("%s: %s", filepath.Base(path), c)
		checkCoverage(t, path, data, c)
		if found := looseContent(a, data); found != "" && !leftovers[filepath.Base(path)] {
			t.Errorf("%s: nothing points to %s: does a stream point there?", path, found)
		}
		for class := range c.Bytes {
			sum.Bytes[class] += c.Bytes[class]
		}
	}
	t.Logf("%d dumps: %s", n, &sum)
	if n < 50 {
		t.Errorf("only %d dumps", n)
	}
}

// leftovers are the dumps whose writers left content that nothing points to: Wine puts its version
// after SystemInfo's string, linux-mini's writer left a hole, mods_odd's names of nameless modules,
// and one dump is broken.
var leftovers = map[string]bool{"crash64c.dmp": true, "crash64c-cv.dmp": true, "linux-mini.dmp": true, "mods_odd.dmp": true, "invalid-range.dmp": true}

// looseContent is the first run of loose bytes that is not padding: 8 or more of them are not 0.
func looseContent(a *account, data []byte) string {
	for i := 0; i < len(data); i++ {
		from, content := i, 0
		for ; i < len(data) && a.class[i] == ByteLoose; i++ {
			if data[i] != 0 {
				content++
			}
		}
		if content >= 8 {
			return fmt.Sprintf("the %d bytes at %#x", i-from, from)
		}
	}
	return ""
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
