package session_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/session"
)

// TestIndexBeside: with the index next to a symbol file on a server the stacks are those of the full
// index at once, also of a file that a search reads wrongly. A damaged index changes nothing but
// that a warning says so.
func TestIndexBeside(t *testing.T) {
	for _, moved := range []string{"", "Pipeline::start()::{lambda()#5}>::_M_invoke"} {
		syms := grown(t, moved)
		f, err := symfile.Open(input.FromBytes("tilecruncher.sym", syms), symfile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		index, err := f.Index()
		if err != nil {
			t.Fatal(err)
		}
		whole := largeSession(t, bytes.NewReader(syms), len(syms))
		whole.Report(0)
		complete(t, whole)
		want := whole.Report(0).Threads
		damaged := slices.Clone(index)
		for n := int(binary.LittleEndian.Uint32(index[9:])); n < len(damaged); n += 100 {
			damaged[n] ^= 1
		}
		for name, index := range map[string][]byte{"right": index, "damaged": damaged} {
			s := largeSession(t, bytes.NewReader(nil), 0)
			src := input.New("tilecruncher.sym", &many{r: bytes.NewReader(syms)}, int64(len(syms)))
			src.Slice = 4 << 10
			src.Index = input.New("tilecruncher.sym.index", &many{r: bytes.NewReader(index)}, int64(len(index)))
			s.Add(src)
			r := s.Report(0)
			var it session.Item
			for _, i := range s.Items() {
				if i.Size == int64(len(syms)) {
					it = i
				}
			}
			said := strings.Contains(strings.Join(it.Warnings, "\n"), "tilecruncher.sym: the index next to the file is not used: ")
			if exact := len(s.Unindexed(0, false)) == 0; exact != (name == "right") || said == exact {
				t.Errorf("%s index: exact %v, warnings %q", name, exact, it.Warnings)
			}
			if moved != "" && name != "right" {
				complete(t, s)
				r = s.Report(0)
			}
			for i := range want {
				is, was := frameNames(r.Threads[i]), frameNames(want[i])
				if len(is) != len(was) || !reflect.DeepEqual(is[:len(is)-1], was[:len(was)-1]) { // the last says why the stack ends, by a record's line or offset
					t.Fatalf("%s index: thread %d:\n%q\n%q", name, i, is, was)
				}
				for k, w := range want[i].Frames {
					if f := r.Threads[i].Frames[k]; f.PC != w.PC || f.Trust != w.Trust || f.File != w.File || f.Line != w.Line {
						t.Errorf("%s index: thread %d frame %d: %+v, not %+v", name, i, k, f, w)
					}
				}
			}
		}
	}
}
