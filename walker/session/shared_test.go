package session_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/session"
)

// shared is a session's options with so many goroutines.
func shared(workers int, p walker.Policy) session.Options {
	return session.Options{Workers: workers, Policy: p, Sparse: true, Slice: 4 << 10, Demangle: demangle.Name}
}

// allJSON is all that is said of a session's dump; "" if it has none.
func allJSON(t *testing.T, s *session.Session) string {
	if s == nil || s.Report(0) == nil {
		return ""
	}
	var out bytes.Buffer
	if err := jsonreport.Write(&out, s.Report(0), jsonreport.Options{Explain: s.Explainer(0, true)}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestShared: threads that two goroutines walked are told of as if one had.
func TestShared(t *testing.T) {
	sample := func(opt session.Options) *session.Session {
		s := session.New(opt)
		for _, name := range []string{"tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"} {
			data, err := os.ReadFile("../../testdata/sample/" + name)
			if err != nil {
				t.Fatal(err)
			}
			src := input.New(name, bytes.NewReader(data), int64(len(data)))
			src.Parallel = true
			s.Add(src)
		}
		return s
	}
	for _, p := range walker.Policies() {
		if a, b := allJSON(t, sample(shared(1, p))), allJSON(t, sample(shared(4, p))); a != b || a == "" {
			t.Errorf("%s: other answers (%d bytes) than by one (%d)", p.Name, len(b), len(a))
		}
	}
}

// TestSharedCorpus is TestShared with the dumps of the corpus.
func TestSharedCorpus(t *testing.T) {
	for _, c := range corpus(t) {
		one, _ := c.openedBy(t, shared(1, walker.Best), "mips", "mips64", "ppc", "ppc64")
		two, _ := c.openedBy(t, shared(4, walker.Best), "mips", "mips64", "ppc", "ppc64")
		if a, b := allJSON(t, one), allJSON(t, two); a != b {
			t.Errorf("%s: other answers (%d bytes) than by one (%d)", c.name, len(b), len(a))
		}
	}
}
