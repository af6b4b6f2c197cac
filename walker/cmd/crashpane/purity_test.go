package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPurity groups real crashes of 20 causes in 20 builds (testdata/purity/make.sh FOLDER; CRASHPANE_PURITY names the folder): by both
// signatures, by the first function with a name, and by Mozilla's siggen, if CRASHPANE_SIGGEN names the folder of its lists. The purity is the
// share of dumps that are of the most frequent cause of their group, the share of largest groups that of dumps in the largest
// group of their cause. docs/PERFORMANCE.md has the figures.
func TestPurity(t *testing.T) {
	dir := os.Getenv("CRASHPANE_PURITY")
	if dir == "" {
		t.Skip("CRASHPANE_PURITY is not set")
	}
	cause := regexp.MustCompile(`c(\d+)-b\d+\.core`)
	measure := func(what string, lines []batchLine, of func(l *batchLine) string) (purity float64, groups int) {
		byGroup := map[string]map[string]int{}
		largest := map[string]int{} // of a cause
		dumps := 0
		for i := range lines {
			l := &lines[i]
			m := cause.FindStringSubmatch(l.File)
			if m == nil || l.Error != "" {
				t.Fatalf("%s: %s", l.File, l.Error)
			}
			group := of(l)
			if byGroup[group] == nil {
				byGroup[group] = map[string]int{}
			}
			byGroup[group][m[1]]++
			dumps++
		}
		pure := 0
		for _, causes := range byGroup {
			most := 0
			for c, n := range causes {
				most, largest[c] = max(most, n), max(largest[c], n)
			}
			pure += most
		}
		together := 0
		for _, n := range largest {
			together += n
		}
		purity = float64(pure) / float64(dumps)
		t.Logf("%-18s %d dumps of %d causes in %3d groups, purity %.3f, largest groups %.3f", what, dumps, len(largest), len(byGroup), purity, float64(together)/float64(dumps))
		return purity, len(byGroup)
	}
	batch := func(flags ...string) []batchLine {
		_, text, _ := crashpane(append(append([]string{"batch", "--unordered"}, flags...), filepath.Join(dir, "dumps"), filepath.Join(dir, "programs"))...)
		return batchLines(t, text)
	}
	signature := func(l *batchLine) string { return l.Signature }
	lines := batch()
	purity, groups := measure("signature", lines, signature)
	measure("address signature", lines, func(l *batchLine) string { return l.AddressSignature })
	top, _ := measure("top function", lines, func(l *batchLine) string {
		for _, f := range l.Threads[0].Frames {
			if f.Function != "" {
				return f.Function
			}
		}
		return ""
	})
	if lists := os.Getenv("CRASHPANE_SIGGEN"); lists != "" {
		measure("siggen", batch("--signature-lists", lists), signature)
	}
	if purity < 0.94 || purity < top || groups > 24 {
		t.Errorf("purity %.3f in %d groups, %.3f by the top function", purity, groups, top)
	}
}
