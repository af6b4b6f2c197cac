package sourcefile

import (
	"slices"
	"testing"
)

// TestFind: the file with the longest common end is found, several if the paths cannot tell.
func TestFind(t *testing.T) {
	files := []string{"app/src/main.c", "app/test/main.c", "lib/util.h", "other/util.h", "app/Src/Case.c", "app/src/case.c", "app/x/gen/util.h"}
	var x Index
	for i, f := range files {
		x.Add(f, i)
	}
	for _, c := range []struct {
		path  string
		want  []int
		parts int
	}{
		{"/build/app/src/main.c", []int{0}, 3},
		{`C:\b\APP\test\main.c`, []int{1}, 3},
		{"main.c", []int{0, 1}, 1},
		{"/b/unknown/util.h", []int{2, 3}, 1}, // the third is deeper in its folder
		{"../../lib/util.h", []int{2}, 2},
		{"/b/lib/../gen/util.h", []int{6}, 2},
		{"/b/src/case.c", []int{5}, 2},
		{"/b/Src/Case.c", []int{4}, 2},
		{"/b/none.c", nil, 0},
		{"", nil, 0},
	} {
		if m := x.Find(c.path); !slices.Equal(m.IDs, c.want) || m.Parts != c.parts {
			t.Errorf("%s: %+v", c.path, m)
		}
	}
	x.Remove(func(id int) bool { return id == 0 })
	if m := x.Find("/build/app/src/main.c"); !slices.Equal(m.IDs, []int{1}) {
		t.Errorf("after removing: %+v", m)
	}
}

// TestWhole: a file whose whole path below its folder fits comes before one that is deeper in it, and an accident is
// told from it. Paths as Debian's glibc, Rust's library and Mozilla's symbol files have them.
func TestWhole(t *testing.T) {
	var x Index
	for i, f := range []string{"src.zip/glibc-2.36/iconv/skeleton.c", "src.zip/glibc-2.36/sysdeps/s390/multiarch/iconv/skeleton.c", "src.zip/glibc-2.36/nptl/pthread_kill.c",
		"writer-0.8/src/lib.rs", "writer-0.8/src/linux/mod.rs", "writer-0.8/build.rs", "gecko/dom/base/x.cpp", "gecko/layout/x.cpp", "alone.c"} {
		x.Add(f, i)
	}
	for _, c := range []struct {
		path  string
		want  []int
		whole bool
	}{
		{"./iconv/./iconv/skeleton.c", []int{0}, true},
		{"/b/iconv/skeleton.c", []int{0}, true},
		{"./nptl/./nptl/pthread_kill.c", []int{2}, true},
		{"/b/sysdeps/s390/multiarch/iconv/skeleton.c", []int{1}, true},
		{"/rustc/c0ffee/library/core/src/ptr/mod.rs", []int{4}, false},
		{"/b/writer/src/linux/mod.rs", []int{4}, true},
		{"hg:hg.mozilla.org/mozilla-central:dom/base/x.cpp:c0ffee", []int{6}, true},
		{"/b/svg/x.cpp", []int{6, 7}, false},
		{"/b/alone.c", []int{8}, true},
	} {
		if m := x.Find(c.path); !slices.Equal(m.IDs, c.want) || m.Whole != c.whole {
			t.Errorf("%s: %+v", c.path, m)
		}
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{"a/b.cc": true, "X.CPP": true, "lib.rs": true, "a.dmp": false, "a.sym": false, "a.o": false, "a.pdb": false, "c": false, "a.txt": false, "libc.so.6": false} {
		if Named(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
