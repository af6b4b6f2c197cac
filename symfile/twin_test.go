package symfile

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestTwinKnowsEveryField: a field that is added must be shared, copied or emptied on purpose.
func TestTwinKnowsEveryField(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{File{}, "Module HasModule CodeID CodeFile URL Counts Warnings WarningCount src warned tables extras kept sparse opt given lost revised fns fnLines symbols fileNames origNames pubNames rows found rowArch buf decoded"},
		{sparse{}, "src step count per shelf edges knots sections regions present surveyed bounded borders filesAsked originsAsked rulesFound funcsFound looks seen win0First firstFunc lastFunc ahead preparing coming flights streaming piece exact broken keeps reads bytes scanned line notes"},
		{table{}, "thin data heads n prev left mixed open recs spoil"},
	} {
		var have []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.of)) {
			have = append(have, f.Name)
		}
		if got := strings.Join(have, " "); got != c.want {
			t.Errorf("Twin has to know of the fields of %T:\n%s\nit knows\n%s", c.of, got, c.want)
		}
	}
}

// TestTwin: two that are asked at once answer as one does, and what both were asked is checked in the end.
func TestTwin(t *testing.T) {
	text := generate(600)
	want := open(t, "x.sym", text)
	for _, f := range []*File{sparseOf(t, "x.sym", text, 4<<10), open(t, "x.sym", text)} {
		at := borders(want, rand.New(rand.NewPCG(1, 2)))
		f.Lookup(at[0])
		if f.sparse != nil && f.Twin() != nil {
			t.Fatal("a twin over a reader of which nobody says that it bears two")
		}
		f.src.Parallel = true
		twin := f.Twin()
		wrong := make(chan string)
		ask := func(f *File, at []uint64) {
			mine := open(t, "x.sym", text)
			for _, rva := range at {
				if d := differs(f, mine, rva); d != "" {
					wrong <- d
					return
				}
			}
			wrong <- ""
		}
		go ask(f, at[:len(at)/2])
		go ask(twin, at[len(at)/3:])
		for range 2 {
			if d := <-wrong; d != "" {
				t.Error(d)
			}
		}
		if !f.Join(twin) {
			t.Error("what they answered is not believed")
		}
		for q := range twin.given {
			if _, has := f.given[q]; !has {
				t.Fatalf("%+v is forgotten", q)
			}
		}
		if changed, err := f.Complete(nil); changed || err != nil {
			t.Errorf("reading all of the file: changed %v, %v", changed, err)
		}
	}
}

// TestTwinFindsDisorder: one that found the file not to be sorted has answered otherwise than the other would have.
func TestTwinFindsDisorder(t *testing.T) {
	text := generate(600)
	at := bytes.Index(text[len(text)/3:], []byte("\nFUNC ")) + len(text)/3 + 1
	end := at + bytes.Index(text[at:], []byte("\nFUNC ")) + 1
	next := end + bytes.Index(text[end:], []byte("\nFUNC ")) + 1
	text = slices.Concat(text[:at], text[end:next], text[at:end], text[next:])
	want := open(t, "x.sym", text)
	f := sparseOf(t, "x.sym", text, 4<<10)
	f.src.Parallel = true
	if f.sparse == nil || f.sparse.exact[groupBody] {
		t.Fatal("the disorder was seen at once")
	}
	twin := f.Twin()
	all := borders(want, rand.New(rand.NewPCG(1, 2)))
	f.Lookup(all[0])
	for _, rva := range all {
		if d := differs(twin, want, rva); d != "" && !twin.revised {
			t.Fatal(d)
		}
	}
	if twin.sparse != nil && !twin.sparse.exact[groupBody] {
		t.Fatal("the disorder was not seen")
	}
	if f.Join(twin) {
		t.Error("what they answered is believed")
	}
}
