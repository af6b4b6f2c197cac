// Package sourcefile knows source files by their names, and finds the one that a compiler read: that whose
// path has the longest end in common with the path that debug information has.
package sourcefile

import "strings"

// endings are those of the names of source files.
var endings = set("c cc cpp cxx c++ cp cppm ixx h hh hpp hxx h++ inl ipp inc tcc tpp m mm s asm rs go swift zig d di nim ml mli hs f f77 f90 f95 f03 f08 for ftn ada adb ads pas pp cs fs vb java kt kts scala groovy js mjs cjs ts jsx tsx dart py pyx pxd rb php pl pm lua cu cuh cl metal hlsl glsl idl proto y yy l ll lex v sv vhd jl r el clj ex exs erl hrl cr odin vala")

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
	return dot >= 0 && endings[strings.ToLower(name[dot+1:])]
}

// Index finds files by the ends of their paths. The zero value is empty.
type Index struct{ byName map[string][]entry }

type entry struct {
	path string
	id   int
}

// Add enters a file. Parts of its path are separated by slashes or backslashes.
func (x *Index) Add(path string, id int) {
	if x.byName == nil {
		x.byName = map[string][]entry{}
	}
	name := base(path)
	x.byName[name] = append(x.byName[name], entry{path, id})
}

// Remove takes out all files for which gone is true.
func (x *Index) Remove(gone func(id int) bool) {
	for name, list := range x.byName {
		kept := list[:0]
		for _, e := range list {
			if !gone(e.id) {
				kept = append(kept, e)
			}
		}
		x.byName[name] = kept
	}
}

// Find returns the files that have the longest end in common with a path, and how many parts of it that
// is: 1 for the name alone. Upper and lower case are the same, as on Windows, unless that decides.
func (x *Index) Find(path string) (ids []int, parts int) {
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
		switch {
		case n > parts, n == parts && same > exact:
			ids, parts, exact = append(ids[:0], e.id), n, same
		case n == parts && same == exact:
			ids = append(ids, e.id)
		}
	}
	return ids, parts
}

// Parts returns of how many parts a path is.
func Parts(path string) int { return len(split(path)) }

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
