// Package stabs reads STABS, the debug information that compilers wrote before DWARF: a table of fixed-size entries (.stab) and
// their strings (.stabstr). It knows functions, source files and lines; variables and types are passed over.
//
// Sources: "The stabs debug format" (Menapace, Kingdon, MacKenzie), and what GNU as and ld write into ELF files.
package stabs

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Types of entries ("stab.def").
const (
	nUndef = 0x00 // starts an object file's part: the length of its strings is the value
	nFun   = 0x24 // a function; with an empty name its end, whose value is the length
	nSLine = 0x44 // a line
	nSO    = 0x64 // the directory and the name of a source file; with an empty name its end
	nSOL   = 0x84 // a file that is included here
	nLBrac = 0xc0
	nRBrac = 0xe0 // the end of a scope
)

// maxName bounds a string that a crafted table has without an end; functions of C++ templates have names of some thousand bytes.
const maxName = 1 << 16

// Table is an index of the functions. Lines are read when a lookup hits them. It is not for use by several goroutines at
// once.
type Table struct {
	stab, strings *input.Source
	order         binary.ByteOrder
	base          uint64
	step          int64 // the size of an entry
	file          string
	resolve       func(uint64) uint64

	units     []unit
	functions []function // sorted by start
	loose     []line     // lines outside of functions, by address
}

// unit is one source file with all that it includes. Names are offsets of strings, 0 for none.
type unit struct {
	dir, name uint64
	start     uint64
}

// function is one N_FUN entry; addresses are link-time addresses until the index is done, then RVAs.
type function struct {
	start, size uint64
	strings     uint64 // where its object file's strings start
	entry, end  uint32 // the numbers of its first entry and of that behind its last
	unit        uint32
	file        uint64 // the file that it starts in
}

// line is the start of a line record.
type line struct {
	at   uint64
	file uint64 // the offset of its name
	unit uint32
	line uint32
}

// entry is one entry of the table.
type entry struct {
	name  uint32
	kind  uint8
	desc  uint16
	value uint64
}

// Open indexes a table. base is subtracted from addresses, so that they count from the module's start; wordSize is the size
// of an entry's value: 4 in ELF files of both classes, 8 in Mach-O files of 64 bits, and where the entries plainly have
// the other size, that is taken. file names the file in errors.
func Open(stab, stabstr *input.Source, order binary.ByteOrder, base uint64, wordSize int, file string) (*Table, error) {
	return open(&Table{stab: stab, strings: stabstr, order: order, base: base, file: file, resolve: func(a uint64) uint64 { return a }}, wordSize)
}

// OpenELF indexes the .stab section of an ELF file. It is nil if there is none.
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
	return open(&Table{stab: stab, strings: stabstr, order: f.Order, base: f.Base, file: f.Src.Name, resolve: f.CodeAddress}, 4)
}

func open(t *Table, wordSize int) (*Table, error) {
	if t.stab.Size/12 > math.MaxUint32-1 {
		return nil, &input.FormatError{File: t.file, Part: ".stab", Offset: 0, Want: "less than 2^32 entries", Have: fmt.Sprintf("%d bytes", t.stab.Size)}
	}
	t.step = t.entrySize(wordSize)
	x := indexer{t: t}
	if err := x.run(); err != nil {
		return nil, err
	}
	return t, nil
}

// entrySize finds out which size the entries have: the types of the first ones are looked at in both ways.
func (t *Table) entrySize(wordSize int) int64 {
	says, other := int64(12), int64(16)
	if wordSize == 8 {
		says, other = other, says
	}
	if t.plausible(other) && !t.plausible(says) {
		return other
	}
	return says
}

// plausible: all of the first entries are of types that debuggers know (those have one of the three high bits) or start an
// object file's part.
func (t *Table) plausible(step int64) bool {
	const looked = 8
	head, err := t.stab.Bytes(0, min(looked*step, t.stab.Size/step*step))
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
		// Where addresses have 64 bits, these are their low halves.
		e.value = uint64(c.U32())
	} else {
		e.value = c.U64()
	}
	return e
}

// text is the string at an offset of the table of strings; "" if there is none.
func (t *Table) text(off uint64) string {
	if off == 0 || off >= uint64(t.strings.Size) {
		return ""
	}
	var long []byte
	for at := int64(off); at < t.strings.Size && len(long) < maxName; {
		block, start, err := t.strings.Block(at)
		if err != nil {
			break
		}
		b := block[at-start:]
		if i := slices.Index(b[:min(len(b), maxName)], 0); i >= 0 {
			return string(append(long, b[:i]...))
		}
		long = append(long, b[:min(len(b), maxName)]...)
		at += int64(len(b))
	}
	return string(long)
}

// address makes a link-time address of an entry's value.
func (t *Table) address(v uint64) uint64 {
	if t.step == 12 {
		v |= t.base &^ math.MaxUint32
	}
	return v
}

// isAbsolute: a path that needs no directory before it.
func isAbsolute(path string) bool {
	return len(path) > 0 && (path[0] == '/' || path[0] == '\\') || len(path) > 1 && path[1] == ':'
}

// path is a file's name with its unit's directory.
func (t *Table) path(u uint32, name uint64) string {
	file := t.text(name)
	if file == "" || isAbsolute(file) || int(u) >= len(t.units) {
		return file
	}
	return t.text(t.units[u].dir) + file
}

// Len is the number of functions.
func (t *Table) Len() int { return len(t.functions) }

// Lookup finds the function and the line at an RVA.
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

// Each is symbol.Functions.
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
