package pdb

import (
	"fmt"
	"testing"
)

// TestAnnotated runs binary annotations. Each want is start-end:line, f for another file.
func TestAnnotated(t *testing.T) {
	for _, c := range []struct {
		name  string
		notes []byte
		want  string
	}{
		{"each up to the next, the last by its length", []byte{3, 0x10, 6, 2, 3, 4, 4, 6}, "[110-114:10 114-11a:11]"},
		{"code and line in one", []byte{0x0b, 0x24, 0x0b, 0x33, 4, 2}, "[104-107:11 107-109:10]"},
		{"with lengths, apart", []byte{12, 7, 0x10, 6, 2, 12, 0x19, 0x0c}, "[110-117:10 11c-135:11]"},
		{"without a length, between such", []byte{12, 7, 0x10, 3, 0xa, 12, 2, 6}, "[110-117:10 11a-120:10 120-122:10]"},
		{"after a length the next is apart", []byte{3, 0, 4, 2, 3, 4, 4, 1}, "[100-102:10 106-107:10]"},
		{"other file", []byte{3, 0, 5, 24, 6, 3, 3, 8, 4, 4}, "[100-108:10 108-10c:9f]"},
		{"columns and ends are passed over", []byte{9, 3, 7, 1, 8, 1, 10, 2, 13, 9, 3, 1, 4, 1}, "[101-102:10]"},
		{"numbers of two and four bytes", []byte{3, 0x81, 0x00, 4, 0xc0, 0x01, 0x00, 0x00}, "[200-10200:10]"},
		{"an end that is not known", []byte{3, 4}, "[]"},
		{"padding", []byte{3, 4, 4, 1, 0, 0, 0}, "[104-105:10]"},
		{"an unknown step ends it", []byte{3, 4, 4, 1, 14, 1, 3, 4, 4, 1}, "[104-105:10]"},
		{"cut off", []byte{3, 4, 4, 0xc0}, "[]"},
		{"code in a separated chunk has no address", []byte{2, 1, 3, 4, 4, 8, 2, 0, 3, 4, 4, 1}, "[110-111:10]"},
		{"nothing", nil, "[]"},
	} {
		out := []string{}
		for _, s := range annotated(c.notes, 0x100, origin{id: 1, file: 0, line: 10}) {
			text := fmt.Sprintf("%x-%x:%d", s.start, s.end, s.line)
			if s.file != 0 {
				text += "f"
			}
			out = append(out, text)
		}
		if have := fmt.Sprint(out); have != c.want {
			t.Errorf("%s: %s, want %s", c.name, have, c.want)
		}
	}
}

// TestInnermost cuts the lines of a function and of the calls that were inlined into it.
func TestInnermost(t *testing.T) {
	lines := []span{{0, 16, 0, 1}, {16, 32, 0, 2}}
	sites := []site{
		{parent: -1, depth: 0, lines: []span{{4, 20, 0, 10}}},
		{parent: 0, depth: 1, lines: []span{{6, 8, 0, 20}, {8, 10, 0, 21}}},
		{parent: -1, depth: 0, lines: []span{{28, 40, 0, 30}}},
	}
	want := "[{0 4 0 1} {4 6 0 10} {6 8 0 20} {8 10 0 21} {10 20 0 10} {20 28 0 2} {28 40 0 30}]"
	if have := fmt.Sprint(innermost(lines, sites)); have != want {
		t.Errorf("%s, want %s", have, want)
	}
}

// TestNumbers reads sizes of arrays in each form that a number has in a record.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		rec  []byte
		want uint64
	}{
		{[]byte{5, 1}, 0x105}, {[]byte{0, 0x80, 7}, 7}, {[]byte{2, 0x80, 1, 2}, 0x201}, {[]byte{4, 0x80, 1, 2, 3, 4}, 0x4030201},
		{[]byte{0x0a, 0x80, 1, 0, 0, 0, 2, 0, 0, 0}, 0x200000001}, {[]byte{5, 0x80, 1, 2, 3, 4}, 0}, {[]byte{4, 0x80}, 0}, {nil, 0},
	} {
		if have := numberAt(c.rec, 0); have != c.want {
			t.Errorf("%x: 0x%x, want 0x%x", c.rec, have, c.want)
		}
	}
}

// TestNamedScope: namespaces without a name are called as in names of functions.
func TestNamedScope(t *testing.T) {
	for scope, want := range map[string]string{"std": "std", "?A0x1a2b": "`anonymous namespace'", "a::?A0x1a2b::b": "a::`anonymous namespace'::b", "": ""} {
		if have := namedScope(scope); have != want {
			t.Errorf("%q: %q, want %q", scope, have, want)
		}
	}
}
