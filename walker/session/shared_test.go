package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Sessions in goroutines of their own share one store: each gets what it would get alone, also while
// another one adds the files.
func TestSharedStore(t *testing.T) {
	const at = "../../testdata/sample"
	read := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(at, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	dump := read("tilecruncher.dmp")
	var files []*input.Source
	for _, name := range []string{"tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"} {
		members, err := intake.Expand(input.FromBytes(name, read(name)), intake.Limits{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(members) == 0 {
			members = []*input.Source{input.FromBytes(name, read(name))}
		}
		files = append(files, members...)
	}
	walk := func(s *session.Session) string {
		s.Add(input.FromBytes("tilecruncher.dmp", dump))
		var out strings.Builder
		if err := text.WriteMachine(&out, s.Report(0)); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	alone := session.New(session.Options{})
	for _, f := range files {
		alone.Add(f)
	}
	want := walk(alone)

	store := symbols.New(symbols.Options{OnDemand: true, Sym: symfile.Options{Slice: 4 << 10}})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { walk(session.New(session.Options{Store: store})) }) // with the files that are there by then
	}
	for _, f := range files {
		if _, err := store.AddSym(f); err != nil {
			t.Error(err)
		}
	}
	wait.Wait()
	for range 4 {
		wait.Go(func() {
			if got := walk(session.New(session.Options{Store: store})); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
	wait.Wait()
}
