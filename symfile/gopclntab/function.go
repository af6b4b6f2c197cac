package gopclntab

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// function is a function's record (runtime._func). Offsets of 0 mean that there is no table.
//
//	entry       4, before Go 1.18 a pointer   | name 4 | args 4 | deferreturn 4
//	pcsp 4 | pcfile 4 | pcln 4 | npcdata 4
//	cuOffset 4       since Go 1.16            | startLine 4     since Go 1.20
//	funcID 1 | flag 1 | 0 | nfuncdata 1      before Go 1.12 only nfuncdata 4
//	pcdata  npcdata × 4 | funcdata  nfuncdata × 4, before Go 1.18 pointers
type function struct {
	index              int // in functab
	start, end         uint64
	name               int64
	pcsp, pcfile, pcln uint32
	unit               uint32 // where the files of its compilation unit begin in cutab
	flag               uint8
	// inline is the table of inlined calls by pc, tree the address of the calls; both are 0 in a
	// function without inlined calls. callSize is the size of a call's record.
	inline   uint32
	tree     uint64
	callSize int64
}

// flagTop says that the function is the outermost of its stack (abi.FuncFlagTopFrame).
const flagTop = 1

// start returns where function i begins.
func (t *Table) start(i int) (uint64, error) {
	return t.code(t.functab + int64(2*i)*int64(t.field))
}

// code reads the address of a function at an offset of the table: since Go 1.18 it is a distance.
func (t *Table) code(at int64) (uint64, error) {
	if t.version < go18 {
		return t.pointer(t.address + uint64(at))
	}
	c := t.cursor(at)
	return t.module.address(uint64(c.U32())), c.Err()
}

// find returns the function at an address; ok is false if no function covers it.
func (t *Table) find(pc uint64) (f function, ok bool, err error) {
	pos, err := t.functions.Search(pc)
	if err != nil || pos < 0 {
		return f, false, err
	}
	f, err = t.function(pos)
	return f, err == nil && pc >= f.start && pc < f.end, err
}

// function reads the record of the function at a position of the sorted functab.
func (t *Table) function(pos int) (f function, err error) {
	f.index = t.functions.Record(pos)
	at := t.functab + int64(2*f.index)*int64(t.field)
	if f.start, err = t.start(f.index); err != nil {
		return f, err
	}
	c := t.cursor(at + int64(t.field))
	off := uint(c, t.field)
	if err := c.Err(); err != nil {
		return f, err
	}
	// It ends where the next one begins, the last one at the word behind functab.
	next := t.count
	if pos+1 < t.count {
		next = t.functions.Record(pos + 1)
	}
	if f.end, err = t.start(next); err != nil {
		return f, err
	}
	limit, ok := t.inCode(f.start)
	if !ok {
		return f, t.bad(at, "a function in the program's code", hex(f.start))
	}
	f.end = min(f.end, limit)
	if off > uint64(t.src.Size) {
		return f, t.bad(at, "the offset of a record", hex(off))
	}
	return f, t.record(&f, t.funcs+int64(off))
}

// record reads the record at an offset.
func (t *Table) record(f *function, at int64) error {
	entry, err := t.code(at)
	if err != nil {
		return err
	}
	if entry != f.start {
		return t.bad(at, "the record of the function at "+hex(f.start), "one of "+hex(entry))
	}
	c := t.cursor(at + int64(t.field))
	f.name = t.names + int64(c.U32())
	c.Skip(8)
	f.pcsp, f.pcfile, f.pcln = c.U32(), c.U32(), c.U32()
	pcdata := c.U32()
	if t.version >= go16 {
		f.unit = c.U32()
	}
	if t.version >= go20 {
		c.Skip(4)
	}
	kind := c.Bytes(4)
	if err := c.Err(); err != nil {
		return err
	}
	f.flag = kind[1]
	return t.inlining(f, c.Off(), pcdata, kind)
}

// inliningPlaces are the numbers of the inlined calls among pcdata and funcdata, and the size of a
// call's record, by version (PCDATA_InlTreeIndex, FUNCDATA_InlTree of runtime/funcdata.h). The header
// of Go 1.2 says nothing of the releases after it: the places are those since Go 1.13, in Go 1.12,
// and since Go 1.9.
var inliningPlaces = map[version][]struct {
	pcdata, funcdata uint32
	callSize         int64
}{go2: {{2, 4, 20}, {1, 2, 20}, {1, 2, 16}}, go16: {{2, 3, 20}}, go18: {{2, 3, 20}}, go20: {{2, 3, 16}}}

// inlining finds a function's inlined calls. at is where its pcdata begins, kind are the four bytes
// before it. In the tables of Go 1.2 the calls are known by their content.
func (t *Table) inlining(f *function, at int64, pcdata uint32, kind []byte) error {
	for _, place := range inliningPlaces[t.version] {
		funcdata := uint32(kind[3])
		if t.version == go2 && place.callSize == 16 {
			funcdata = t.order.Uint32(kind)
		}
		const most = 255 // since Go 1.12 there is one byte for it
		if funcdata <= place.funcdata || funcdata > most || pcdata <= place.pcdata {
			continue
		}
		c := t.cursor(at + 4*int64(place.pcdata))
		inline := c.U32()
		tree, err := t.funcdata(at+4*int64(pcdata), place.funcdata)
		if err == nil {
			err = c.Err()
		}
		if err != nil {
			return err
		}
		if inline == 0 || tree == 0 {
			continue
		}
		f.inline, f.tree, f.callSize = inline, tree, place.callSize
		if t.version != go2 {
			return nil
		}
		switch first, err := t.call(f, 0); {
		case input.Needs(err):
			return err
		case err == nil && first.parent == -1:
			return nil
		}
		f.inline, f.tree = 0, 0
	}
	return nil
}

// funcdata returns the address of a function's funcdata n, or 0. at is where the list begins.
func (t *Table) funcdata(at int64, n uint32) (uint64, error) {
	if t.version >= go18 {
		c := t.cursor(at + 4*int64(n))
		off := c.U32()
		if off == ^uint32(0) || t.module.funcdata == 0 {
			return 0, c.Err()
		}
		return t.module.funcdata + uint64(off), c.Err()
	}
	// Pointers are aligned in memory.
	w := uint64(t.word)
	at += int64(-(t.address + uint64(at)) & (w - 1))
	return t.pointer(t.address + uint64(at) + uint64(n)*w)
}

// call is an inlined call (runtime.inlinedCall).
//
//	Go 1.9 to 1.11   parent 4 | file 4 | line 4 | name 4
//	Go 1.12 to 1.19  parent 2 | funcID 1 | 0 | file 4 | line 4 | name 4 | parentPc 4
//	since Go 1.20    funcID 1 | 0 0 0 | name 4 | parentPc 4 | startLine 4
type call struct {
	name string
	// parent is the number of the call around it, or -1 if the function itself made it; file and line
	// are its place. They are not there since Go 1.20.
	parent, file, line int32
	// at is since then the address of an instruction whose line is that of the call, and whose
	// inlined call is the caller.
	at uint64
}

// call reads inlined call n of a function.
func (t *Table) call(f *function, n int32) (out call, err error) {
	p, err := t.cfg.At(f.tree+uint64(n)*uint64(f.callSize), f.callSize)
	if err != nil {
		return out, err
	}
	bad := func(want, have string) (call, error) {
		return out, &input.FormatError{File: t.cfg.File, Part: "inlined calls", Offset: -1, Want: want, Have: have}
	}
	number := func(at int) int32 { return int32(t.order.Uint32(p[at:])) }
	name := 12
	switch {
	case t.version >= go20:
		pc := uint64(uint32(number(8)))
		if pc >= f.end-f.start {
			return bad("a call inside its function", fmt.Sprintf("0x%x bytes after the start of the function at 0x%x", pc, f.start))
		}
		name, out.at = 4, f.start+pc
	case f.callSize == 16:
		out.parent, out.file, out.line = number(0), number(4), number(8)
	default:
		if p[3] != 0 {
			return bad("a byte 0 behind funcID", fmt.Sprint(p[3]))
		}
		out.parent, out.file, out.line = int32(int16(t.order.Uint16(p))), number(4), number(8)
	}
	if t.version < go20 && out.parent >= n {
		return bad("a call after the one that made it", fmt.Sprintf("call %d in call %d", n, out.parent))
	}
	out.name, err = t.str(t.names + int64(uint32(number(name))))
	return out, err
}
