package gopclntab

import (
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Lookup returns the function, line and inlined calls at an RVA. Names are as Go writes them.
func (t *Table) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	pc := t.cfg.Base + rva
	f, ok, err := t.find(pc)
	if err != nil || !ok {
		return symbol.Symbol{}, symbol.No, err
	}
	end, err := t.codeEnd(&f)
	if err != nil || pc >= end {
		return symbol.Symbol{}, symbol.No, err
	}
	out := symbol.Symbol{Start: f.start - t.cfg.Base, Size: end - f.start, Linked: true, Inlines: []symbol.Inline{}}
	if out.Name, err = t.str(f.name); err != nil {
		return symbol.Symbol{}, symbol.No, err
	}
	line, err := t.line(&f, pc)
	if err != nil {
		return out, symbol.Yes, err
	}
	n, start, err := t.innermost(&f, pc)
	for err == nil && n >= 0 && len(out.Inlines) < maxDepth {
		var c call
		if c, err = t.call(&f, n); err != nil {
			break
		}
		out.Inlines = append(out.Inlines, symbol.Inline{Name: c.name, File: line.file, Line: line.line, HasLine: line.ok, Start: start - t.cfg.Base})
		if t.version < go20 {
			line, n = place{line: uint32(max(c.line, 0)), ok: true, start: start}, c.parent
			line.file, err = t.file(&f, c.file)
		} else if line, err = t.line(&f, c.at); err == nil {
			n, start, err = t.innermost(&f, c.at)
		}
	}
	out.File, out.Line, out.HasLine, out.LineStart = line.file, line.line, line.ok, line.start-t.cfg.Base
	return out, symbol.Yes, err
}

// codeEnd returns where a function's instructions end: functab has only where the next one begins,
// which is behind bytes that align it. Functions of C in a Go program have no tables.
func (t *Table) codeEnd(f *function) (uint64, error) {
	if f.pcsp == 0 {
		return f.end, nil
	}
	v := t.values(f, f.pcsp)
	for v.next() {
	}
	return v.end, v.c.Err()
}

// place is a source line and the first address of its range.
type place struct {
	file  string
	line  uint32
	ok    bool
	start uint64
}

// line returns the source line of an instruction, that of the innermost inlined call.
func (t *Table) line(f *function, pc uint64) (p place, err error) {
	line, ok, err := t.valueAt(f, f.pcln, pc)
	if err != nil || !ok {
		return p, err
	}
	file, ok, err := t.valueAt(f, f.pcfile, pc)
	if err != nil || !ok {
		return p, err
	}
	p = place{line: uint32(max(line.value, 0)), ok: true, start: max(line.start, file.start)}
	p.file, err = t.file(f, file.value)
	return p, err
}

// file returns the path with a number that counts in the function's compilation unit, before Go
// 1.16 in the program.
func (t *Table) file(f *function, n int32) (string, error) {
	at := t.files + 4*int64(n)
	if t.version >= go16 {
		at = t.units + 4*(int64(f.unit)+int64(n))
	}
	if n < 0 || f.unit == ^uint32(0) || t.version == go2 && n == 0 { // where the number of files is
		return "", nil
	}
	c := t.cursor(at)
	off := c.U32()
	if c.Err() != nil || off == ^uint32(0) {
		return "", c.Err()
	}
	if t.version >= go16 {
		return t.str(t.files + int64(off))
	}
	return t.str(int64(off))
}

// maxDepth limits inlined calls in inlined calls. Go's compiler nests them some 30 deep.
const maxDepth = 200

// innermost returns the number of the innermost inlined call at an address, or -1, and the start of
// its range.
func (t *Table) innermost(f *function, pc uint64) (n int32, start uint64, err error) {
	v, ok, err := t.valueAt(f, f.inline, pc)
	if err != nil || !ok {
		return -1, 0, err
	}
	return v.value, v.start, nil
}
