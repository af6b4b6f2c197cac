// Package sourcefile knows source files by their names, and finds the one that a compiler read: that whose
// path has the longest end in common with the path that debug information has.
package sourcefile

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// endings are those of the names of source files.
var endings = sync.OnceValue(func() map[string]bool {
	return set("c cc cpp cxx c++ cp cppm ixx h hh hpp hxx h++ inl ipp inc tcc tpp m mm s asm rs go swift zig d di nim ml mli hs f f77 f90 f95 f03 f08 for ftn ada adb ads pas pp cs fs vb java kt kts scala groovy js mjs cjs ts jsx tsx dart py pyx pxd rb php pl pm lua def cu cuh cl metal hlsl glsl idl proto y yy l ll lex v sv vhd jl r el clj ex exs erl hrl cr odin vala")
})

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// Named reports whether a file has the name of a source file.
func Named(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && endings()[strings.ToLower(name[dot+1:])]
}

// Index finds files by the ends of their paths. The zero value is empty.
type Index struct {
	byName map[string][]entry
	// roots are the folders that all files have in common whose paths begin with the same part.
	roots map[string][]string
}

type entry struct {
	path string
	id   int
}

// Add enters a file. Parts of its path are separated by slashes or backslashes.
func (x *Index) Add(path string, id int) {
	if x.byName == nil {
		x.byName, x.roots = map[string][]entry{}, map[string][]string{}
	}
	name := base(path)
	x.byName[name] = append(x.byName[name], entry{path, id})
	folders := split(path)
	folders = folders[:max(0, len(folders)-1)]
	if len(folders) == 0 {
		return
	}
	root, known := x.roots[folders[0]]
	if !known {
		root = folders
	}
	n := 0
	for n < len(root) && n < len(folders) && root[n] == folders[n] {
		n++
	}
	x.roots[folders[0]] = root[:n]
}

// Remove takes out all files for which gone is true.
func (x *Index) Remove(gone func(id int) bool) {
	for name, list := range x.byName {
		x.byName[name] = slices.DeleteFunc(list, func(e entry) bool { return gone(e.id) })
	}
}

// Match is what Find found. Several files have several IDs. Parts is how many parts of the path fit: 1 for
// the name alone. Whole: all of the file's path below the folder that was added fits, so that it is hardly an accident.
type Match struct {
	IDs   []int
	Parts int
	Whole bool
}

// Find returns the files that have the longest end in common with a path; of those, where there are any, the ones
// that fit as a whole. Upper and lower case are the same, as on Windows, unless that decides.
func (x *Index) Find(path string) (m Match) {
	path = inRepository(path)
	want, exact := split(path), 0
	for _, e := range x.byName[base(path)] {
		have := split(e.path)
		n, same := 0, 0
		for n < len(want) && n < len(have) && strings.EqualFold(want[len(want)-1-n], have[len(have)-1-n]) {
			if want[len(want)-1-n] == have[len(have)-1-n] {
				same++
			}
			n++
		}
		whole := n >= len(have)-len(x.roots[have[0]])
		switch better := cmp.Or(n-m.Parts, same-exact, boolInt(whole)-boolInt(m.Whole)); {
		case better > 0:
			m, exact = Match{[]int{e.id}, n, whole}, same
		case better == 0:
			m.IDs = append(m.IDs, e.id)
		}
	}
	return m
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Parts returns of how many parts a path is.
func Parts(path string) int { return len(split(inRepository(path))) }

// inRepository returns the path in a repository, where symbol files have that with the repository's kind and
// place and the revision, as Mozilla's have it: "hg:hg.mozilla.org/mozilla-central:dom/x.cpp:c0ffee".
func inRepository(path string) string {
	if p := strings.Split(path, ":"); len(p) == 4 {
		switch p[0] {
		case "git", "hg", "svn", "cvs", "s3":
			return p[2]
		}
	}
	return path
}

// split returns the parts of a path without "." and "..", which do not say where a file is.
func split(path string) []string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] == "." || parts[i] == ".." {
			return parts[i+1:]
		}
	}
	return parts
}

func base(path string) string {
	return strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
}
