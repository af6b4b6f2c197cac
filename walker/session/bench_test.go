package session_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols/symbolstest"
)

// BenchmarkReport walks all threads of a dump whose symbols are open already, and makes the report:
// what a change of the policy or a late symbol file costs.
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
			s := session.NewFiles(session.Options{})
			for _, path := range append([]string{bm.dump}, bm.syms...) {
				data, err := os.ReadFile(filepath.FromSlash(path))
				if err != nil {
					b.Skipf("SKIPPED: %v", err)
				}
				s.Add(input.FromBytes(path, data))
			}
			frames := 0
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
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
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(frames), "frames")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(frames)/float64(b.N), "allocs/frame")
		})
	}
}

// BenchmarkGenerated opens dumps with symbol files of any size that are in the folders of the
// folder named by CRASHPANE_GENERATED, as make bench generates them: until the crashed thread is
// there with all its names, and until all threads are. Nothing is known about the file at first. It
// says how often and how much was read of it, by pages as on a disk and by what a browser reads at
// a time.
func BenchmarkGenerated(b *testing.B) {
	folders, _ := filepath.Glob(filepath.Join(os.Getenv("CRASHPANE_GENERATED"), "*", "*.dmp"))
	if os.Getenv("CRASHPANE_GENERATED") == "" || len(folders) == 0 {
		b.Skip("*** SKIPPED: CRASHPANE_GENERATED names no folder of generated files")
	}
	for _, dump := range folders {
		for _, slice := range []int64{4 << 10, 64 << 10} {
			for _, all := range []bool{false, true} {
				name := fmt.Sprintf("%s/by-%dKiB/", filepath.Base(filepath.Dir(dump)), slice>>10)
				if all {
					name += "all"
				} else {
					name += "crashed"
				}
				b.Run(name, func(b *testing.B) { benchGenerated(b, dump, slice, all) })
			}
		}
	}
}

func benchGenerated(b *testing.B, dump string, slice int64, all bool) {
	syms, _ := filepath.Glob(filepath.Join(filepath.Dir(dump), "*", "*", "*.sym"))
	var files []*os.File
	for _, path := range append([]string{dump}, syms...) {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	b.ReportAllocs()
	var reads, bytes int64
	for b.Loop() {
		reads, bytes = 0, 0
		s := session.NewFiles(session.Options{IndexOnDemand: true, Slice: slice})
		var of []*counted
		for _, f := range files {
			st, err := f.Stat()
			if err != nil {
				b.Fatal(err)
			}
			of = append(of, &counted{r: f})
			s.Add(input.New(f.Name(), of[len(of)-1], st.Size()))
		}
		r := s.Session(0).PartialReport(-1)
		if all {
			r = s.Report(0)
		}
		if t := &r.Threads[r.FirstThread]; t.Pending || len(t.Frames) < 2 || t.Frames[1].Function.Raw == "" {
			b.Fatal("the crashed thread has no names")
		}
		for _, c := range of[1:] {
			reads, bytes = reads+int64(c.reads), bytes+c.bytes
		}
	}
	b.ReportMetric(float64(reads), "reads")
	b.ReportMetric(float64(bytes)/1024, "KB-read")
}

// BenchmarkManyFiles adds a dump of many modules and an archive of many symbol files, most of other
// builds, and walks its thread. Ten times the files must take ten times the time.
func BenchmarkManyFiles(b *testing.B) {
	for _, modules := range []int{300, 3000} {
		const builds, functions = 13, 10
		b.Run(fmt.Sprintf("%d", modules*builds), func(b *testing.B) {
			dump, packed := symbolstest.Dump(modules), manyFiles(b, modules, builds, functions)
			for b.Loop() {
				s := session.NewFiles(session.Options{})
				s.Add(input.FromBytes("many.dmp", dump))
				s.Add(input.FromBytes("symbols.zip", packed))
				if named := namedFrames(s.Report(0)); named != symbolstest.Depth+1 {
					b.Fatalf("%d frames have names", named)
				}
				for _, it := range s.Items() {
					s.Unused(it.ID, 0)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*modules*builds), "µs/file")
		})
	}
}

// manyFiles is an archive of symbol files of each module in each build.
func manyFiles(t testing.TB, modules, builds, functions int) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for m := range modules {
		for build := range builds {
			w, err := z.Create(fmt.Sprintf("symbols/%d/%d.sym", build, m))
			if err == nil {
				_, err = io.WriteString(w, symbolstest.Symbols(m, build, functions))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// namedFrames counts the frames of the first thread that have names.
func namedFrames(r *report.Report) (n int) {
	for _, f := range r.Threads[r.FirstThread].Frames {
		if f.Function.Raw != "" {
			n++
		}
	}
	return n
}
