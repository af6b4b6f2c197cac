package stabs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// indexer makes the index of functions in one pass over the table.
type indexer struct {
	t       *Table
	strings uint64 // offset of this object file's strings
	next    uint64 // offset of the next object file's strings
	file    uint64 // name of the current file
	dir     uint64 // directory of the last N_SO entry, whose file name follows in the next N_SO
	inUnit  bool
	// continued: the last function's text continues in the next entry.
	continued bool
	open      *function // the function whose entries are being read, or nil
	reach     uint64    // the highest address of its lines and scopes, relative to its start
	ends      []uint64  // addresses of the units' ends
}

// run reads all entries. A linked table is a sequence of parts like this one of an object file:
//
//	nUndef          number of entries, size of the object file's strings
//	nSO  nSO        directory, file
//	nFun            "main:F1", the function's address
//	nSLine …        line, address in the function
//	nLBrac nRBrac   scopes
//	nFun            empty name, size of the function (gcc -gstabs+)
//	nSO             empty name, end of the unit
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

// cursor returns a cursor at entry first, for count entries.
func (t *Table) cursor(first, count int64) *input.Cursor {
	return input.NewCursor(t.stab, "", first*t.step, count*t.step, t.order)
}

// at returns the offset of an entry's string, or 0 if it is empty. An entry's name is relative to
// its object file's strings.
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

// entry processes entry i.
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
		// Long texts continue in the next entry of the same kind, which is not a function of its own.
		if continued || !isFunction(text) {
			return
		}
		x.closeFunction(i, 0)
		x.open = &function{start: t.resolve(t.address(e.value)), strings: x.strings, entry: i, unit: x.unit(), file: x.file}
		x.reach = 0
	case nSLine:
		if x.open == nil {
			// Some compilers write a function's first lines before its name, with absolute
			// addresses.
			if x.file != 0 {
				t.outsideLines = append(t.outsideLines, line{at: t.address(e.value), file: x.file, unit: x.unit(), line: uint32(e.desc)})
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

// relative returns an address as relative to the open function. Some compilers write absolute
// addresses.
func (x *indexer) relative(v uint64) uint64 {
	if start, at := x.open.start, x.t.address(v); start != 0 && at >= start {
		return at - start
	}
	return v
}

// unit returns the index of the current unit. Functions before the first unit get an empty one.
func (x *indexer) unit() uint32 {
	if len(x.t.units) == 0 {
		x.t.units = append(x.t.units, unit{})
	}
	return uint32(len(x.t.units) - 1)
}

// source processes an N_SO entry. Two of them start a unit: its directory, which ends with a slash,
// and its file. An empty one ends it, with the address of the end of its code.
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
	x.t.units = append(x.t.units, unit{dir: x.dir, start: start})
	x.inUnit, x.dir, x.file = true, 0, name
}

// description splits the text of an N_FUN entry at the colon that begins its description. found is
// false if it has none, or has it in the next entry. C++ names contain "::".
func description(s string) (name, text string, found bool) {
	for at := 0; ; at += 2 {
		i := strings.IndexByte(s[at:], ':')
		if i < 0 {
			return s, "", false
		}
		if at += i; at+1 == len(s) || s[at+1] != ':' {
			return s[:at], s[at+1:], true
		}
	}
}

// isFunction reports whether the text of an N_FUN entry describes a function. The letter after the
// name and a colon is the kind of symbol: "main:F1" is a global function, f a static one, Q and J
// are Pascal's and nested ones; "s:S1" is a variable.
func isFunction(s string) bool {
	_, text, found := description(s)
	return !found || text != "" && strings.IndexByte("FfQJ", text[0]) >= 0
}

// methodName returns the name of a Pascal method with its class. Free Pascal's stabs are in capitals
// and join the two by underscores (dbgstabs.pas): "TFOO__BAR" in foo.pas is TFOO.BAR.
func methodName(name, file string) string {
	class, method, ok := strings.Cut(name, "__")
	if !ok || class == "" || method == "" || name != strings.ToUpper(name) {
		return name
	}
	file = strings.ToLower(file)
	for _, ending := range []string{".pas", ".pp", ".inc", ".lpr", ".dpr"} {
		if strings.HasSuffix(file, ending) {
			return class + "." + method
		}
	}
	return name
}

// closeFunction ends the open function. end is the index of the entry after its last one, size its
// size in bytes or 0 if unknown.
func (x *indexer) closeFunction(end uint32, size uint64) {
	f := x.open
	if f == nil {
		return
	}
	x.open = nil
	u := x.t.units[f.unit]
	// Address 0 marks a function that the linker discarded because another object file has it too.
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

// unknownEnd is a flag in function.size: the size is a lower bound. finish replaces it.
const unknownEnd = 1 << 63

// finish sorts the functions and sets the unknown sizes: such a function ends where the next one
// starts, or at the end of its unit's code. It then makes addresses module-relative.
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
			// The first unit's end above the start. If it is lower than the next function's
			// start, padding or other code follows.
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
	t.outsideLines = slices.DeleteFunc(t.outsideLines, func(l line) bool { return l.at < t.base })
	for i := range t.outsideLines {
		t.outsideLines[i].at -= t.base
	}
	sortLines(t.outsideLines)
}

// sortLines sorts by address and keeps the order of lines at one address.
func sortLines(l []line) {
	slices.SortStableFunc(l, func(a, b line) int { return cmp.Compare(a.at, b.at) })
}

// details reads a function's name and its lines, sorted by address. Of several lines at one address
// it returns the last, since the others have no code.
func (t *Table) details(f *function) (name string, lines []line, err error) {
	c := t.cursor(int64(f.entry), int64(f.end)-int64(f.entry))
	first := t.read(c)
	name = t.text(f.strings + uint64(first.name))
	for strings.HasSuffix(name, "\\") && c.Left() >= t.step && len(name) < maxName { // "\\" at the end continues the text in the next entry
		name = name[:len(name)-1] + t.text(f.strings+uint64(t.read(c).name))
	}
	name, _, _ = description(name)
	name = methodName(name, t.text(f.file))
	i, _ := slices.BinarySearchFunc(t.outsideLines, f.start, func(l line, at uint64) int { return cmp.Compare(l.at, at) })
	for ; i < len(t.outsideLines) && t.outsideLines[i].at < f.start+f.size; i++ {
		lines = append(lines, t.outsideLines[i])
	}
	file := f.file
	absolute, known := false, false
	for c.Left() >= t.step {
		e := t.read(c)
		switch e.kind {
		case nSOL:
			file = f.strings + uint64(e.name)
		case nSLine:
			if !known { // the first line is at the function's start, so that it shows whether addresses are absolute
				start := f.start + t.base
				absolute, known = start != 0 && t.address(e.value) >= start, true
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
