package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/session"
)

// BenchmarkReport walks all threads of a dump whose symbols are open already, and makes the report: what a change of the policy
// or a late symbol file costs.
func BenchmarkReport(b *testing.B) {
	for _, bm := range []struct {
		name string
		dump string
		syms []string
	}{
		{"sample", "../../testdata/sample/tilecruncher.dmp", []string{"../../testdata/sample/tilecruncher.sym.gz",
			"../../testdata/sample/libtilecodec.so.sym", "../../testdata/sample/libc.so.6.sym.gz"}},
		{"large", corpusRoot + "/large/bigcrash.dmp", []string{corpusRoot + "/large/bigcrash.mozilla.sym.gz",
			corpusRoot + "/large/libs/libc.so.6/EC61AC938E5A39B16F9FBD350E3169A50/libc.so.6.sym"}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			s := session.New(session.Options{})
			for _, path := range append([]string{bm.dump}, bm.syms...) {
				data, err := os.ReadFile(filepath.FromSlash(path))
				if err != nil {
					b.Skipf("SKIPPED: %v", err)
				}
				s.Add(input.FromBytes(path, data))
			}
			frames := 0
			b.ReportAllocs()
			for b.Loop() {
				s.SetPolicy(walker.Best)
				frames = 0
				for _, t := range s.Report(0).Threads {
					for _, f := range t.Frames {
						frames += 1 + len(f.Inlines)
					}
				}
			}
			b.ReportMetric(float64(frames)*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
			b.ReportMetric(float64(frames), "frames")
		})
	}
}
