package session_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

func sampleSession(t *testing.T) *session.Files {
	t.Helper()
	s := session.NewFiles(session.Options{})
	for _, name := range []string{"tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"} {
		data, err := os.ReadFile("../../testdata/sample/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(input.FromBytes(name, data))
	}
	return s
}

func pending(r *report.Report) (n int) {
	for i := range r.Threads {
		if r.Threads[i].Pending {
			n++
		}
	}
	return n
}

// TestStaged: the crashed thread can be shown before the others are walked, with the same rows as
// at the end, and the report in the end is that of walking all at once.
func TestStaged(t *testing.T) {
	whole := sampleSession(t).Report(0)
	n := len(whole.Threads)
	s := sampleSession(t)
	first := s.Session(0).PartialReport(-1)
	if pending(first) != n-1 || first.Threads[first.FirstThread].Pending {
		t.Fatalf("%d of %d threads are pending at first", pending(first), n)
	}
	if !reflect.DeepEqual(frameNames(first.Threads[first.FirstThread]), frameNames(whole.Threads[whole.FirstThread])) {
		t.Error("the crashed thread has other frames alone than among all")
	}
	if s.Session(0).PartialReport(first.FirstThread) != first {
		t.Error("described again although nothing changed")
	}
	other := (first.FirstThread + 2) % n
	second := s.Session(0).PartialReport(other)
	if second == first || pending(second) != n-2 || second.Threads[other].Pending {
		t.Errorf("asked for thread %d: %d pending", other, pending(second))
	}
	if x, err := s.Session(0).Explain(other, 0); err != nil || x == nil || s.Session(0).PartialReport(other) != second {
		t.Errorf("explaining a frame of what is there walked the rest: %v", err)
	}
	for left, want := 1, n-3; left > 0; want-- {
		if left = s.Session(0).WalkOn(); left != want {
			t.Fatalf("%d threads left, want %d", left, want)
		}
		if left > 0 && s.Session(0).PartialReport(other) != second {
			t.Error("described again for every thread")
		}
	}
	last := s.Session(0).PartialReport(-1)
	if pending(last) != 0 || s.Report(0) != last || s.Session(0).WalkOn() != 0 {
		t.Error("the last report is not whole")
	}
	for i := range whole.Threads {
		if !reflect.DeepEqual(frameNames(last.Threads[i]), frameNames(whole.Threads[i])) {
			t.Errorf("thread %d has other frames", i)
		}
	}
	if !reflect.DeepEqual(last.Missing, whole.Missing) || !reflect.DeepEqual(last.Findings, whole.Findings) {
		t.Error("other findings than by walking at once")
	}
}

func frameNames(t report.Thread) (names []string) {
	for _, f := range t.Frames {
		names = append(names, f.Function.Raw+" "+f.File)
		for _, in := range f.Inlines {
			names = append(names, in.Function.Raw)
		}
	}
	return append(names, t.Stop.Detail)
}

// TestStagedWithNewSymbols: a file that comes while threads are left has all of them walked with
// it.
func TestStagedWithNewSymbols(t *testing.T) {
	s := session.NewFiles(session.Options{})
	add := func(name string) {
		data, err := os.ReadFile("../../testdata/sample/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(input.FromBytes(name, data))
	}
	add("tilecruncher.dmp")
	first := s.Session(0).PartialReport(-1)
	s.Session(0).WalkOn()
	add("tilecruncher.sym.gz")
	now := s.Session(0).PartialReport(-1)
	if now == first || pending(now) != len(now.Threads)-1 {
		t.Errorf("%d of %d threads are pending behind new symbols", pending(now), len(now.Threads))
	}
	if s.Session(7) != nil || s.Session(-1) != nil {
		t.Error("a dump that is not there")
	}
}
