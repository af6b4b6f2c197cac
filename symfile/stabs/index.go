package stabs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// indexer goes over the table once.
type indexer struct {
	t       *Table
	strings uint64 // where this object file's strings start
	next    uint64 // where the next one's do
	file    uint64 // the current file's name
	dir     uint64 // an N_SO entry with a directory, whose file follows
	inUnit  bool
	// continued: the last function's text goes on in the next entry.
	continued bool
	open      *function
	reach     uint64 // how far the open function's lines and scopes go
	ends      []uint64
}

func (x *indexer) run() error {
	t := x.t
	c := t.cursor(0, t.stab.Size/t.step)
	for i := uint32(0); c.Left() >= t.step; i++ {
		e := t.read(c)
		if c.Err() != nil {
			break
		}
		x.entry(i, e)
	}
	if c.Err() != nil {
		return c.Err()
	}
	x.closeFunction(uint32(t.stab.Size/t.step), 0)
	x.finish()
	return nil
}

// cursor reads entries from a number on.
func (t *Table) cursor(first, count int64) *input.Cursor {
	return input.NewCursor(t.stab, "", first*t.step, count*t.step, t.order)
}

// at is the offset of an entry's string, 0 for an empty one.
func (x *indexer) at(e entry) uint64 {
	if e.name == 0 {
		return 0
	}
	off := x.strings + uint64(e.name)
	if b, err := x.t.strings.Bytes(int64(min(off, 1<<62)), 1); err != nil || b[0] == 0 {
		return 0
	}
	return off
}

func (x *indexer) entry(i uint32, e entry) {
	t := x.t
	switch e.kind {
	case nUndef:
		x.closeFunction(i, 0)
		x.strings, x.next = x.next, x.next+e.value
		x.inUnit, x.dir, x.file = false, 0, 0
	case nSO:
		x.source(i, e)
	case nSOL:
		x.file = x.at(e)
	case nFun:
		name := x.at(e)
		if name == 0 {
			if x.open != nil {
				x.closeFunction(i+1, e.value)
			}
			return
		}
		text := t.text(name)
		continued := x.continued
		x.continued = strings.HasSuffix(text, "\\")
		if continued || !isFunction(text) {
			return
		}
		x.closeFunction(i, 0)
		x.open = &function{start: t.resolve(t.address(e.value)), strings: x.strings, entry: i, unit: x.unit(), file: x.file}
		x.reach = 0
	case nSLine:
		if x.open == nil {
			// Some compilers write a function's first lines before its name; their addresses are whole.
			if x.file != 0 {
				t.loose = append(t.loose, line{at: t.address(e.value), file: x.file, unit: x.unit(), line: uint32(e.desc)})
			}
			return
		}
		x.reach = max(x.reach, x.relative(e.value)+1)
	case nRBrac:
		if x.open != nil {
			x.reach = max(x.reach, x.relative(e.value))
		}
	}
}

// relative is an address inside of the open function, which some compilers write whole.
func (x *indexer) relative(v uint64) uint64 {
	if start := x.open.start; start != 0 && v >= start {
		return v - start
	}
	return v
}

// unit is the number of the current unit; there is one for what belongs to none.
func (x *indexer) unit() uint32 {
	if len(x.t.units) == 0 {
		x.t.units = append(x.t.units, unit{})
	}
	return uint32(len(x.t.units) - 1)
}

// source: two entries start a unit, the first with its directory; an empty one ends it, at the end of its code.
func (x *indexer) source(i uint32, e entry) {
	name := x.at(e)
	x.closeFunction(i, 0)
	start := x.t.resolve(x.t.address(e.value))
	if name == 0 {
		if x.inUnit {
			x.ends = append(x.ends, start)
		}
		x.inUnit, x.dir, x.file = false, 0, 0
		return
	}
	if s := x.t.text(name); strings.HasSuffix(s, "/") || strings.HasSuffix(s, "\\") {
		x.dir = name
		return
	}
	x.t.units = append(x.t.units, unit{dir: x.dir, name: name, start: start})
	x.inUnit, x.dir, x.file = true, 0, name
}

// isFunction: behind the name and a colon stands what the symbol is: F and f are functions, Q and J are those of Pascal and
// those inside of others. Names of C++ may have double colons.
func isFunction(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != ':' {
			continue
		}
		if i+1 < len(s) && s[i+1] == ':' {
			i++
			continue
		}
		return i+1 < len(s) && strings.IndexByte("FfQJ", s[i+1]) >= 0
	}
	return true // no description at all, or one that is continued elsewhere
}

// functionName is what stands before the description.
func functionName(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] != ':' {
			continue
		}
		if i+1 < len(s) && s[i+1] == ':' {
			i++
			continue
		}
		return s[:i]
	}
	return s
}

// closeFunction ends the open function before the entry with number end. Size 0 is unknown.
func (x *indexer) closeFunction(end uint32, size uint64) {
	f := x.open
	if f == nil {
		return
	}
	x.open = nil
	u := x.t.units[f.unit]
	// The linker leaves address 0 to functions of which it took another copy.
	if f.start < x.t.base || f.start == 0 && u.start != 0 {
		return
	}
	f.end = end
	f.size = size
	if size == 0 {
		f.size = x.reach | unknownEnd
	}
	x.t.functions = append(x.t.functions, *f)
}

// unknownEnd marks a size that is only a lower bound, until the index is sorted.
const unknownEnd = 1 << 63

// finish sorts the functions and gives an end to those that have none: the next function's start, or the end of a unit's
// code.
func (x *indexer) finish() {
	t := x.t
	slices.SortStableFunc(t.functions, func(a, b function) int { return cmp.Compare(a.start, b.start) })
	t.functions = slices.CompactFunc(t.functions, func(a, b function) bool { return a.start == b.start })
	slices.Sort(x.ends)
	for i := range t.functions {
		f := &t.functions[i]
		limit := ^uint64(0) - f.start
		if i+1 < len(t.functions) {
			limit = t.functions[i+1].start - f.start
		}
		if f.size&unknownEnd != 0 {
			f.size &^= unknownEnd
			end := limit
			if n, _ := slices.BinarySearch(x.ends, f.start+1); n < len(x.ends) {
				end = min(end, x.ends[n]-f.start)
			}
			if end != ^uint64(0)-f.start {
				f.size = end
			}
		}
		f.size = min(f.size, limit)
	}
	t.functions = slices.DeleteFunc(t.functions, func(f function) bool { return f.size == 0 })
	for i := range t.functions {
		t.functions[i].start -= t.base
	}
	t.loose = slices.DeleteFunc(t.loose, func(l line) bool { return l.at < t.base })
	for i := range t.loose {
		t.loose[i].at -= t.base
	}
	sortLines(t.loose)
}

func sortLines(l []line) {
	slices.SortStableFunc(l, func(a, b line) int { return cmp.Compare(a.at, b.at) })
}

// details reads a function's name and lines, these sorted, one an address (the last of several, since those before have no
// code), inside of the function.
func (t *Table) details(f *function) (name string, lines []line, err error) {
	c := t.cursor(int64(f.entry), int64(f.end)-int64(f.entry))
	first := t.read(c)
	name = t.text(f.strings + uint64(first.name))
	for strings.HasSuffix(name, "\\") && c.Left() >= t.step && len(name) < maxName { // continued in the next entry
		name = name[:len(name)-1] + t.text(f.strings+uint64(t.read(c).name))
	}
	name = functionName(name)
	i, _ := slices.BinarySearchFunc(t.loose, f.start, func(l line, at uint64) int { return cmp.Compare(l.at, at) })
	for ; i < len(t.loose) && t.loose[i].at < f.start+f.size; i++ {
		lines = append(lines, t.loose[i])
	}
	file := f.file
	absolute, known := false, false
	for c.Left() >= t.step {
		e := t.read(c)
		switch e.kind {
		case nSOL:
			file = f.strings + uint64(e.name)
		case nSLine:
			if !known { // the first line is the function's start
				absolute, known = f.start+t.base != 0 && e.value >= uint64(f.start+t.base), true
			}
			at := e.value
			if absolute {
				at = t.address(e.value) - t.base
			} else {
				at += f.start
			}
			if at >= f.start && at < f.start+f.size {
				lines = append(lines, line{at: at, file: file, unit: f.unit, line: uint32(e.desc)})
			}
		}
	}
	if c.Err() != nil {
		return "", nil, c.Err()
	}
	sortLines(lines)
	out := lines[:0]
	for _, l := range lines {
		if n := len(out); n > 0 && out[n-1].at == l.at {
			out[n-1] = l
			continue
		}
		out = append(out, l)
	}
	return name, out, nil
}
