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
		{"/b/unknown/util.h", []int{2, 3, 6}, 1},
		{"../../lib/util.h", []int{2}, 2},
		{"/b/lib/../gen/util.h", []int{6}, 2},
		{"/b/src/case.c", []int{5}, 2},
		{"/b/Src/Case.c", []int{4}, 2},
		{"/b/none.c", nil, 0},
		{"", nil, 0},
	} {
		ids, parts := x.Find(c.path)
		if !slices.Equal(ids, c.want) || parts != c.parts {
			t.Errorf("%s: %v, %d parts", c.path, ids, parts)
		}
	}
	x.Remove(func(id int) bool { return id == 0 })
	if ids, _ := x.Find("/build/app/src/main.c"); !slices.Equal(ids, []int{1}) {
		t.Errorf("after removing: %v", ids)
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{"a/b.cc": true, "X.CPP": true, "lib.rs": true, "a.dmp": false, "a.sym": false, "a.o": false, "a.pdb": false, "c": false, "a.txt": false, "libc.so.6": false} {
		if Named(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
