package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/analysis"
)

// TestDiffer: of two dumps of one program the rows that differ are those in which they do, and the stacks
// are aligned at both ends.
func TestDiffer(t *testing.T) {
	made := func(functions, version, note string) *Report {
		r := &Report{Crash: &Crash{Reason: Reason{Name: "SIGSEGV"}, Analysis: &analysis.Result{}}, Threads: []Thread{*stackWith(functions)},
			Modules:     []Module{{Name: "/opt/app", Version: version, DebugID: "A1"}, {Name: "/lib/libc.so.6", DebugID: "C1"}},
			Annotations: []Annotation{{Name: "note", Value: note}}}
		for i := range r.Threads[0].Frames {
			r.Threads[0].Frames[i].Module = -1
		}
		return r
	}
	a, b := made("abcdm", "1.0", "same"), made("abxm", "2.0", "same")
	b.Modules = append(b.Modules, Module{Name: "/opt/new.so", DebugID: "N1"})
	d := Differ(a, b, func(n Name) string { return n.Raw })
	var differ []string
	for _, r := range d.Rows {
		if !r.Same {
			differ = append(differ, r.Part+" "+r.Key+": "+r.A+" | "+r.B)
		}
	}
	if want := []string{"stack 2: c | x", "stack 3: d | ", "module app: 1.0 A1 | 2.0 A1", "module new.so:  | N1"}; !slices.Equal(differ, want) {
		t.Errorf("%q", differ)
	}
	if d.FirstFrame != 2 || d.SameModules != 1 {
		t.Errorf("first frame %d, %d modules are the same", d.FirstFrame, d.SameModules)
	}
	// Another writer's dump may have a version that the first lacks, and frames that are left out have their numbers.
	c := made("abcdm", "", "same")
	c.Threads[0].Frames[4].LeftOut = 3000
	c.Threads[0].Frames[4].Function.Raw = "other"
	if d := Differ(a, c, func(n Name) string { return n.Raw }); d.SameModules != 2 || d.FirstFrame != 4 || d.Rows[len(d.Rows)-1].Key != "note" {
		t.Errorf("%+v", d)
	}
	if d := Differ(c, a, func(n Name) string { return n.Raw }); d.FirstFrame != 3004 || !d.Rows[5].First || d.Rows[5].Key != "3004" {
		t.Errorf("%+v", d)
	}
	same := Differ(a, a, func(n Name) string { return n.Raw })
	if same.FirstFrame != -1 || slices.ContainsFunc(same.Rows, func(r DifferenceRow) bool { return !r.Same }) {
		t.Errorf("a dump differs from itself: %+v", same)
	}
}

// TestDifferOfEqualNames: two modules may have one name, as the two ntdll.dll of a 32-bit process on a 64-bit system have, and
// an annotation may have none.
func TestDifferOfEqualNames(t *testing.T) {
	of := func(second, comment string) *Report {
		return &Report{FirstThread: -1, Modules: []Module{{Name: "ntdll.dll", DebugID: "A64"}, {Name: "ntdll.dll", DebugID: second}},
			Annotations: []Annotation{{From: "Comment", Value: comment}, {From: "liba.so", Value: "text of liba"}}}
	}
	for _, c := range []struct {
		a, b *Report
		want string
	}{
		{of("B32", "same"), of("B32", "same"), "2 same; Comment same same; liba.so text of liba text of liba"},
		{of("B32", "one"), of("C32", "two"), "1 same; ntdll.dll B32 C32; Comment one two; liba.so text of liba text of liba"},
	} {
		d := Differ(c.a, c.b, Name.Shown)
		have := fmt.Sprint(d.SameModules) + " same"
		for _, row := range d.Rows {
			if row.Part == "module" || row.Part == "annotation" {
				have += "; " + row.Key + " " + row.A + " " + row.B
			}
		}
		if have != c.want {
			t.Errorf("%q, want %q", have, c.want)
		}
	}
}

// TestDifferHidden: of values that are hidden it is not said that they are the same.
func TestDifferHidden(t *testing.T) {
	of := func(value string) *Report {
		r := &Report{FirstThread: -1, Annotations: []Annotation{{Name: "url", Value: value, Private: true}, {Name: "channel", Value: "beta"}}}
		return r.Redacted()
	}
	keys := ""
	for _, row := range Differ(of("a"), of("b"), Name.Shown).Rows {
		if row.Part == "annotation" {
			keys += row.Key
		}
	}
	if keys != "channel" {
		t.Error(keys)
	}
}
