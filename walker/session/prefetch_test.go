package session_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/session"
)

// many counts the reads of a file that is better read in many places at once.
type many struct {
	r      io.ReaderAt
	single int
	many   int
	places int // of the many
}

func (m *many) ReadAt(p []byte, off int64) (int, error) {
	m.single++
	return m.r.ReadAt(p, off)
}

func (m *many) ReadManyAt(parts []input.Part) error {
	m.many++
	m.places += len(parts)
	for _, p := range parts {
		if _, err := m.r.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// grown are the sample's symbols with megabytes of other functions after them; moved, if it is not
// "", is a function that is after those instead of where it was.
func grown(t *testing.T, moved string) []byte {
	t.Helper()
	packed, err := os.ReadFile("../../testdata/sample/tilecruncher.sym.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var head, block, tail strings.Builder
	into := &head
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "FUNC"):
			into = &head
			if moved != "" && strings.Contains(line, moved) {
				into = &block
			}
		case strings.HasPrefix(line, "STACK"):
			into = &tail
		}
		into.WriteString(line)
	}
	for i := range 80_000 {
		at := 0x1000000 + i*0x40
		fmt.Fprintf(&head, "FUNC %x 40 0 filler_%d(int)\n%x 20 %d 0\n%x 20 %d 0\n", at, i, at, i%1000, at+0x20, i%1000+1)
	}
	return []byte(head.String() + block.String() + tail.String())
}

func largeSession(t *testing.T, syms io.ReaderAt, size int) *session.Files {
	t.Helper()
	s := session.NewFiles(session.Options{IndexOnDemand: true})
	for _, name := range []string{"tilecruncher.dmp", "libtilecodec.so.sym", "libc.so.6.sym.gz"} {
		data, err := os.ReadFile("../../testdata/sample/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(input.FromBytes(name, data))
	}
	s.Add(input.New("tilecruncher.sym", syms, int64(size)))
	return s
}

// complete has the symbols read as a whole.
func complete(t *testing.T, s *session.Files) {
	t.Helper()
	for _, it := range s.Items() {
		if it.Name == "tilecruncher.sym" && it.Kind == session.KindSym {
			s.IndexFile(it.ID, false, func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestPrefetched: threads whose lookups are prefetched have the stacks that they have without,
// whichever of them is looked at meanwhile.
func TestPrefetched(t *testing.T) {
	for _, moved := range []string{"", "Pipeline::start()::{lambda()#5}>::_M_invoke"} {
		syms := grown(t, moved)
		alone := largeSession(t, bytes.NewReader(syms), len(syms))
		whole := alone.Report(0)
		r := &many{r: bytes.NewReader(syms)}
		s := largeSession(t, r, len(syms))
		first := s.Session(0).PartialReport(-1)
		turns, looked := 0, false
		for left := len(first.Threads); left > 0; turns++ {
			left = s.Session(0).WalkOn()
			if turns == 2 && left > 1 { // in the middle of it somebody chooses the last thread
				last := len(first.Threads) - 1
				looked = !s.Session(0).PartialReport(last).Threads[last].Pending
			}
		}
		if !looked {
			t.Error("the threads were done too soon for this test")
		}
		if moved != "" {
			complete(t, s)
			complete(t, alone)
			whole = alone.Report(0)
		}
		is := s.Report(0)
		for i := range whole.Threads {
			if !reflect.DeepEqual(frameNames(is.Threads[i]), frameNames(whole.Threads[i])) {
				t.Errorf("moved %q, thread %d:\n%q\nalone:\n%q", moved, i, frameNames(is.Threads[i]), frameNames(whole.Threads[i]))
			}
			for k := range whole.Threads[i].Frames {
				if a, b := is.Threads[i].Frames[k], whole.Threads[i].Frames[k]; a.PC != b.PC || a.Trust != b.Trust || a.Line != b.Line {
					t.Errorf("thread %d frame %d: %+v, alone %+v", i, k, a, b)
				}
			}
		}
		if r.many == 0 {
			t.Error("nothing was read together")
		}
	}
}
