package session_test

import (
	"os"
	"path/filepath"
	"slices"
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
	walk := func(s *session.Files) string {
		s.Add(input.FromBytes("tilecruncher.dmp", dump))
		var out strings.Builder
		if err := text.WriteMachine(&out, s.Report(0)); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	alone := session.NewFiles(session.Options{})
	for _, f := range files {
		alone.Add(f)
	}
	want := walk(alone)

	store := symbols.New(symbols.Options{OnDemand: true, Sym: symfile.Options{Slice: 4 << 10}})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { walk(session.NewFiles(session.Options{Store: store})) }) // with the files that are there by then
	}
	for _, f := range files {
		if _, err := store.AddSym(f); err != nil {
			t.Error(err)
		}
	}
	wait.Wait()
	for range 4 {
		wait.Go(func() {
			if got := walk(session.NewFiles(session.Options{Store: store})); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
		})
	}
	wait.Wait()
}

// A closed session gives its files back to the store, which closes them for others, and can be asked
// again.
func TestClose(t *testing.T) {
	store := symbols.New(symbols.Options{})
	files := session.NewFiles(session.Options{Store: store})
	for _, name := range []string{"tilecruncher.dmp", "libtilecodec.so.sym"} {
		data, err := os.ReadFile(filepath.Join("../../testdata/sample", name))
		if err != nil {
			t.Fatal(err)
		}
		files.Add(input.FromBytes(name, data))
	}
	s, codec := files.Session(0), store.Since(0)[0]
	functions := func() (out []string) {
		for _, f := range s.Report().Threads[0].Frames {
			out = append(out, f.Function.Raw)
		}
		return out
	}
	isOpen := func() (is bool) {
		codec.WithSym(false, func(*symfile.File) { is = true })
		return is
	}
	useOthers := func() {
		for range 100 {
			f, err := store.AddSym(input.FromBytes("other.sym", []byte("MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 other\n")))
			if err != nil {
				t.Fatal(err)
			}
			store.Use(f)
			store.Release(f)
		}
	}
	want := functions()
	if useOthers(); !isOpen() {
		t.Error("a file in use was closed")
	}
	s.Close()
	if useOthers(); isOpen() {
		t.Error("the file of a closed session is still open")
	}
	if got := functions(); !slices.Equal(got, want) || !isOpen() {
		t.Errorf("after it was closed: %q, before: %q", got, want)
	}
}
