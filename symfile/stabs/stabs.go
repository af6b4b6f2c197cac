// Package stabs reads STABS, the debug information that compilers wrote before DWARF: a table of
// entries of fixed size (.stab) and their strings (.stabstr). It reads functions, source files and
// lines, and skips variables and types.
//
// OpenELF indexes the functions in one pass (index.go). Table.Lookup looks up an address,
// Table.Each lists all functions.
//
// Specification: "The stabs debug format" (Menapace, Kingdon, MacKenzie). Details of ELF files are
// those that GNU as and ld write.
package stabs

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Types of entries (binutils' include/aout/stab.def).
const (
	nUndef = 0x00 // start of an object file's part; value: size of its strings
	nFun   = 0x24 // a function; value: its address. With an empty name the function's end; value: its size
	nSLine = 0x44 // a line; value: its address
	nSO    = 0x64 // the directory or name of a source file; with an empty name the end of the file's part
	nSOL   = 0x84 // the following lines are in this included file
	nLBrac = 0xc0 // start of a scope
	nRBrac = 0xe0 // end of a scope
)

// maxName limits the length of a string in bytes. Functions of C++ templates have names of some
// thousands.
const maxName = 1 << 16

// Table is an index of the functions. A lookup reads the lines of the function that it hits. A
// Table is not safe for concurrent use.
type Table struct {
	stab, strings *input.Source
	order         binary.ByteOrder
	base          uint64
	step          int64 // size of an entry in bytes
	file          string
	resolve       func(uint64) uint64

	units        []unit
	functions    []function // sorted by start
	outsideLines []line     // lines that are not in a function's entries, sorted by address
}

// unit is a source file and the files that it includes. dir is the offset of its directory's name,
// 0 for none.
type unit struct{ dir, start uint64 }

// function is an N_FUN entry. Its start is a link-time address until indexer.finish makes it
// module-relative.
type function struct {
	start, size uint64
	strings     uint64 // offset of its object file's strings
	entry, end  uint32 // indexes of its first entry and of the one after its last
	unit        uint32
	file        uint64 // name of the file in which it starts
}

// line is the start of a line record.
type line struct {
	at   uint64
	file uint64 // offset of its name
	unit uint32
	line uint32
}

// entry is one entry of the table: n_strx 4, n_type 1, n_other 1, n_desc 2, n_value 4 or 8 bytes.
type entry struct {
	name  uint32
	kind  uint8
	desc  uint16
	value uint64
}

// OpenELF indexes the .stab section of an ELF file. It returns nil if the file has none.
func OpenELF(f *elf.File) (*Table, error) {
	s, names := f.Section(".stab"), f.Section(".stabstr")
	if s == nil || names == nil {
		return nil, nil
	}
	stab, err := f.Data(s)
	if err != nil {
		return nil, err
	}
	stabstr, err := f.Data(names)
	if err != nil {
		return nil, err
	}
	return open(&Table{stab: stab, strings: stabstr, order: f.Order, base: f.Base, file: f.Src.Name, resolve: f.CodeAddress})
}

// open indexes a table whose fields up to resolve are set.
func open(t *Table) (*Table, error) {
	if t.stab.Size/12 > math.MaxUint32-1 {
		return nil, &input.FormatError{File: t.file, Part: ".stab", Offset: 0, Want: "less than 2^32 entries", Have: fmt.Sprintf("%d bytes", t.stab.Size)}
	}
	t.step = t.entrySize()
	x := indexer{t: t}
	if err := x.run(); err != nil {
		return nil, err
	}
	return t, nil
}

// entrySize returns the size of the entries in bytes. In ELF files of both classes it is 12, with
// values of 4 bytes. It is 16, with values of 8 bytes, only if 12 is not plausible.
func (t *Table) entrySize() int64 {
	if t.plausible(16) && !t.plausible(12) {
		return 16
	}
	return 12
}

// plausible reports whether, with entries of a size, the first ones have types of debugging entries
// (one of the three high bits is set) or start an object file's part.
func (t *Table) plausible(step int64) bool {
	const checked = 8
	head, err := t.stab.Bytes(0, min(checked*step, t.stab.Size/step*step))
	if err != nil || len(head) == 0 {
		return false
	}
	for i := int64(0); i < int64(len(head)); i += step {
		if kind := head[i+4]; kind&0xe0 == 0 && kind != nUndef || kind == nUndef && i > 0 && head[i+5] != 0 {
			return false
		}
	}
	return int64(len(head)) > step && head[4+step]&0xe0 != 0
}

// read reads the next entry.
func (t *Table) read(c *input.Cursor) (e entry) {
	e.name = c.U32()
	e.kind = c.U8()
	c.U8()
	e.desc = c.U16()
	if t.step == 12 {
		// In a 64-bit ELF file this is the low half of an address, see address.
		e.value = uint64(c.U32())
	} else {
		e.value = c.U64()
	}
	return e
}

// text returns the string at an offset of .stabstr, or "".
func (t *Table) text(off uint64) string {
	if off == 0 || off >= uint64(t.strings.Size) {
		return ""
	}
	s, _ := t.strings.Text(int64(off), maxName) // one that does not end counts as it is
	return s
}

// address returns an entry's value as a link-time address. A value of 4 bytes gets the upper half
// of the base.
func (t *Table) address(v uint64) uint64 {
	if t.step == 12 {
		v |= t.base &^ math.MaxUint32
	}
	return v
}

// isAbsolute reports whether a path is absolute on Unix or Windows.
func isAbsolute(path string) bool {
	return len(path) > 0 && (path[0] == '/' || path[0] == '\\') || len(path) > 1 && path[1] == ':'
}

// path returns a file's name, joined to its unit's directory.
func (t *Table) path(u uint32, name uint64) string {
	file := t.text(name)
	if file == "" || isAbsolute(file) || int(u) >= len(t.units) {
		return file
	}
	return t.text(t.units[u].dir) + file
}

// Lookup returns the function and the line at an RVA.
func (t *Table) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	i := sort.Search(len(t.functions), func(i int) bool { return t.functions[i].start > rva }) - 1
	if i < 0 || rva-t.functions[i].start >= t.functions[i].size {
		return symbol.Symbol{}, symbol.No, nil
	}
	f := &t.functions[i]
	name, lines, err := t.details(f)
	if err != nil {
		return symbol.Symbol{}, symbol.No, err
	}
	s := symbol.Symbol{Name: name, Start: f.start, Size: f.size, Inlines: []symbol.Inline{}}
	if n := sort.Search(len(lines), func(i int) bool { return lines[i].at > rva }) - 1; n >= 0 {
		l := lines[n]
		s.File, s.Line, s.LineStart, s.HasLine = t.path(l.unit, l.file), l.line, l.at, true
	}
	return s, symbol.Yes, nil
}

// Each implements symbol.Functions.
func (t *Table) Each(fn func(symbol.Function) error) error {
	paths := map[line]string{}
	for i := range t.functions {
		f := &t.functions[i]
		name, lines, err := t.details(f)
		if err != nil {
			return err
		}
		out := symbol.Function{Name: name, Ranges: []symbol.Range{{Start: f.start, Size: f.size}}}
		for n, l := range lines {
			end := f.start + f.size
			if n+1 < len(lines) {
				end = lines[n+1].at
			}
			key := line{file: l.file, unit: l.unit}
			path, ok := paths[key]
			if !ok {
				path = t.path(l.unit, l.file)
				paths[key] = path
			}
			out.Lines = append(out.Lines, symbol.Line{Range: symbol.Range{Start: l.at, Size: end - l.at}, File: path, Line: l.line})
		}
		if err := fn(out); err != nil {
			return err
		}
	}
	return nil
}
