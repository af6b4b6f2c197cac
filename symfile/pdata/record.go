package pdata

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// op is one instruction of a prologue or epilogue, as what undoes it.
//
//	set      sp = fp − less
//	regs     reg = [sp + off] for each
//	alloc    sp += alloc
type op struct {
	width int64 // of the instruction, in bytes
	alloc int64
	regs  []savedReg
	set   cpu.Reg // cpu.NoReg: none
	less  int64
	kind  opKind
}

// savedReg is a register and how far from the stack pointer its value is, before alloc is undone.
type savedReg struct {
	reg cpu.Reg
	off int64
}

// opKind distinguishes operations that an op's other fields do not describe completely.
type opKind uint8

const (
	// opPlain is what set, regs and alloc say.
	opPlain opKind = iota
	// opEnd ends a sequence; its width is that of the instruction after it in an epilogue.
	opEnd
	// opEndScope ends the instructions of a prologue or epilogue in a part of a function; the
	// operations after it were done in another part.
	opEndScope
	// opSign signs the return address.
	opSign
	// opVector moves the stack pointer by a number of vector registers' lengths.
	opVector
	// opMachineFrame is a frame with a stack pointer and a pc, opContext a CONTEXT record; opCustom
	// one whose layout is not known.
	opMachineFrame
	opContext
	opCustom
	// opNotCalled says that the caller's pc is that of an instruction, and no return address.
	opNotCalled
)

// codes is what differs between arm64 and arm, whose records have the same layout.
type codes interface {
	arch() *cpu.Arch
	// unit is how many bytes a length or an offset of a record counts.
	unit() uint64
	// decode reads the codes at an index; n is how many bytes they take. Of save_next it is one
	// code alone, with the registers that the codes after it lead to.
	decode(p []byte) (o op, n int, err error)
	// header reads the first word of a record.
	header(w uint32) header
	// scope reads an epilogue's word.
	scope(w uint32) (start uint64, index int)
	// packed makes a function of an entry that has no record.
	packed(e entry) (*armFunction, error)
	// machineFrame are the places of pc and the stack pointer in a machine frame; context those in
	// a CONTEXT record, with the registers.
	machineFrame() (pc, sp int64)
	context() (pc, sp int64, regs []savedReg)
}

// header is a record's first word.
type header struct {
	length    uint64 // of the function, in bytes
	version   uint32
	single    bool // the only epilogue is at the function's end, and epilogues the index of its first code
	fragment  bool // there is no prologue
	epilogues int
	codeWords int
}

// armReader reads the tables of arm64 and arm: the RVA of a function, and a word that holds either
// the RVA of its record, or all there is to say.
type armReader struct {
	t     *Table
	codes codes
}

func (r *armReader) size() int64 { return 8 }

func (r *armReader) entry(p []byte) entry {
	le := binary.LittleEndian
	start := uint64(le.Uint32(p))
	if r.codes.unit() == 2 {
		start &^= 1 // Thumb
	}
	return entry{start: start, data: le.Uint32(p[4:])}
}

// armFunction is an opened entry.
type armFunction struct {
	r      *armReader
	e      entry
	length uint64
	rva    uint64 // of the record, or 0
	// prologue are the operations of the prologue in reverse order, up to and with opEnd;
	// prologueSize that of its instructions.
	prologue     []op
	prologueSize uint64
	// There are count epilogues. only is the only one of many functions; else their list, by
	// offset, is at scopes. codes are the bytes that their indexes lead into; of a function without
	// a record ops are the operations of the only one.
	count  int
	only   epilogueAt
	scopes uint64
	codes  []byte
	ops    []op
	// last is the epilogue whose operations were read last, and these.
	last    int
	lastOps []op
}

// epilogueAt is where an epilogue begins, from the function's start, and the index of its codes.
type epilogueAt struct {
	start uint64
	index int
}

// open finds out by the lowest two bits of the entry's word what it is: 0 the RVA of a record, 1
// packed data, 2 packed data of a part that has no prologue of its own, 3 another entry's RVA.
func (r *armReader) open(e entry) (function, error) {
	const record, packed, fragment, indirect = 0, 1, 2, 3
	data := e.data
	for n := 0; data&3 == indirect; n++ { // the entry refers to another one
		if n == maxChain {
			return nil, r.t.bad(e.off, fmt.Sprintf("at most %d entries that lead to each other", maxChain), "more, or a circle")
		}
		w, err := r.t.word(uint64(data&^3) + 4)
		if err != nil {
			return nil, err
		}
		data = w
	}
	e.data = data
	if data&3 == record {
		return r.record(e)
	}
	// Packed data describes the canonical prologue and one epilogue at the function's end.
	f, err := r.codes.packed(e)
	if err != nil {
		return nil, r.t.bad(e.off, "packed unwind data that is known", err.Error())
	}
	f.r, f.e, f.last = r, e, -1
	f.prologueSize = sizeOf(f.prologue)
	if data&3 == fragment {
		f.prologueSize, f.ops = 0, nil
	}
	if f.ops != nil {
		size := sizeOf(f.ops) + uint64(f.ops[len(f.ops)-1].width)
		// A function that never returns may end before an epilogue would: it has none.
		if size > f.length {
			f.ops = nil
		} else {
			f.count, f.only = 1, epilogueAt{f.length - size, 0}
		}
	}
	return f, nil
}

// record reads an .xdata record: its header, the places of epilogues, and the codes.
//
//	0 header · 4 counts, if those of the header are 0 · epilogues, 4 bytes each, unless E says that it is at
//	the end · codes, padded to words · the RVA of an exception handler, if X says so
//
// The codes of the prologue begin at index 0. Epilogues name the index at which theirs begin; they
// often share those of the prologue.
func (r *armReader) record(e entry) (function, error) {
	rva := uint64(e.data)
	w, err := r.t.word(rva)
	if err != nil {
		return nil, err
	}
	h := r.codes.header(w)
	if h.version != 0 {
		return nil, r.t.badRecord(rva, "version 0 of an unwind record", fmt.Sprint(h.version))
	}
	at := rva + 4
	if h.epilogues == 0 && h.codeWords == 0 {
		// Larger numbers: 16 bits of epilogues, 8 of code words.
		if w, err = r.t.word(at); err != nil {
			return nil, err
		}
		h.epilogues, h.codeWords = int(w&0xffff), int(w>>16&0xff)
		at += 4
	}
	f := &armFunction{r: r, e: e, length: h.length, rva: rva, last: -1}
	if !h.single {
		f.count, f.scopes = h.epilogues, at
		at += uint64(h.epilogues) * 4
	}
	if f.codes, err = r.t.cfg.At(at, int64(h.codeWords)*4); err != nil {
		return nil, err
	}
	if f.prologue, err = f.sequence(0); err != nil {
		return nil, err
	}
	if !h.fragment {
		f.prologueSize = sizeOf(f.prologue)
	}
	if h.single {
		ops, err := f.sequence(h.epilogues)
		if err != nil {
			return nil, err
		}
		if size := sizeOf(ops) + uint64(ops[len(ops)-1].width); size <= f.length {
			f.count, f.only = 1, epilogueAt{f.length - size, h.epilogues}
		}
	}
	return f, nil
}

// sequence decodes the codes from an index on up to the end.
//
// Example: a part of a function that was moved away, or that alone stores registers, has "end_c"
// (e5) before the codes that describe what the other part's prologue did. These have no
// instructions in its own prologue and epilogues, but unwinding undoes them too, from every place.
func (f *armFunction) sequence(index int) (ops []op, err error) {
	for at := index; at < len(f.codes); {
		o, n, err := f.r.codes.decode(f.codes[at:])
		if err != nil {
			return nil, f.r.t.badRecord(f.rva, "an unwind code that is known", fmt.Sprintf("%v, at index %d of the codes", err, at))
		}
		ops = append(ops, o)
		if o.kind == opEnd {
			return ops, nil
		}
		at += n
	}
	// The codes fill their words: there need be no end.
	return append(ops, endOp(0)), nil
}

// endOp ends a sequence; width is that of the instruction which leaves the function.
func endOp(width int64) op { return op{kind: opEnd, width: width, set: cpu.NoReg} }

// sizeOf is how many bytes the instructions of a sequence take up to its end.
func sizeOf(ops []op) (n uint64) {
	for _, o := range ops {
		if o.kind == opEnd || o.kind == opEndScope {
			break
		}
		n += uint64(o.width)
	}
	return n
}

func (f *armFunction) end() uint64   { return f.e.start + f.length }
func (f *armFunction) begin() uint64 { return f.e.start }
func (f *armFunction) place() uint64 { return f.rva }

// at is where epilogue i begins.
// One word gives both its start and the index of its codes.
func (f *armFunction) at(i int) (epilogueAt, error) {
	if f.scopes == 0 {
		return f.only, nil
	}
	w, err := f.r.t.word(f.scopes + 4*uint64(i))
	start, index := f.r.codes.scope(w)
	return epilogueAt{start, index}, err
}

// after is the number of the first epilogue that begins after an offset.
// The list is sorted by start and read word by word, so only a few words of a long one are read.
func (f *armFunction) after(off uint64) (int, error) {
	lo, hi := 0, f.count
	for lo < hi {
		mid := (lo + hi) / 2
		e, err := f.at(mid)
		if err != nil {
			return 0, err
		}
		if e.start <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// epilogueOf is the epilogue at an offset, and how many of its bytes are after.
// The last instruction, the return, belongs to it too: there everything is undone already.
func (f *armFunction) epilogueOf(off uint64) (i int, done uint64, ok bool, err error) {
	i, err = f.after(off)
	if err != nil || i == 0 {
		return 0, 0, false, err
	}
	i--
	e, err := f.at(i)
	if err != nil || e.start > off {
		return 0, 0, false, err
	}
	ops, err := f.epilogue(i)
	if err != nil {
		return 0, 0, false, err
	}
	done = off - e.start
	return i, done, done < sizeOf(ops)+uint64(ops[len(ops)-1].width), nil
}

// epilogue are the operations of epilogue i.
func (f *armFunction) epilogue(i int) ([]op, error) {
	if f.ops != nil {
		return f.ops, nil
	}
	if f.last == i {
		return f.lastOps, nil
	}
	e, err := f.at(i)
	if err != nil {
		return nil, err
	}
	ops, err := f.sequence(e.index)
	if err == nil {
		f.last, f.lastOps = i, ops
	}
	return ops, err
}

// position: of a prologue a is how many of its operations are still to be done, of an epilogue a is
// its number and b how many are done.
func (f *armFunction) position(rva uint64) (position, error) {
	off := rva - f.e.start
	if off < f.prologueSize {
		// prologue is in reverse, so the walk begins at its end and goes back to off.
		left, at := 0, f.prologueSize
		for at > off { // the instruction at off has not been done
			at -= uint64(f.prologue[left].width)
			left++
		}
		return position{kind: inPrologue, a: int32(left)}, nil
	}
	i, done, ok, err := f.epilogueOf(off)
	if err != nil {
		return position{}, err
	}
	if ok {
		ops, err := f.epilogue(i)
		if err != nil {
			return position{}, err
		}
		// n operations end at or before done: these were executed.
		n, at := 0, uint64(0)
		for ops[n].kind != opEnd && ops[n].kind != opEndScope && at+uint64(ops[n].width) <= done {
			at += uint64(ops[n].width)
			n++
		}
		return position{kind: inEpilogue, a: int32(i), b: int32(n)}, nil
	}
	return position{kind: inBody}, nil
}

// next skips a body up to the next epilogue.
// A body may have thousands of instructions with one row, so they are not stepped through. In a
// prologue or an epilogue each instruction is a step.
func (f *armFunction) next(rva uint64) uint64 {
	off := rva - f.e.start
	step := rva + f.r.codes.unit()
	if off < f.prologueSize {
		return step
	}
	if _, _, ok, err := f.epilogueOf(off); ok || err != nil {
		return step
	}
	next := f.length
	if i, err := f.after(off); err == nil && i < f.count {
		if e, err := f.at(i); err == nil {
			next = min(next, e.start)
		}
	}
	return max(step, f.e.start+next)
}

// row undoes the operations that were done before a position.
func (f *armFunction) row(p position, row *unwind.Row) error {
	ops := f.prologue
	switch p.kind {
	case inPrologue:
		ops = ops[p.a:]
	case inEpilogue:
		var err error
		if ops, err = f.epilogue(int(p.a)); err != nil {
			return err
		}
		ops = ops[p.b:]
	}
	arch := f.r.codes.arch()
	fr := newFrame(arch)
	notCalled := false
	for i := range ops {
		o := &ops[i]
		switch o.kind {
		case opCustom:
			return errCustom
		case opMachineFrame:
			pc, sp := f.r.codes.machineFrame()
			// What is older than a machine frame is the interrupted function's, so nothing after it
			// is undone.
			return fr.machine(row, pc, sp, nil)
		case opContext:
			pc, sp, regs := f.r.codes.context()
			for _, s := range regs {
				fr.save(s.reg, fr.at(s.off))
			}
			return fr.machine(row, pc, sp, nil)
		case opSign:
			fr.signed = true
		case opVector:
			fr.unknown = true
		case opNotCalled:
			notCalled = true
		}
		if o.set != cpu.NoReg {
			if err := fr.set(o.set, o.less); err != nil {
				return err
			}
		}
		for _, s := range o.regs {
			fr.save(s.reg, fr.at(s.off))
		}
		fr.sp.off += o.alloc
	}
	err := fr.finish(row, arch.LR, place{}, nil)
	row.Signal = notCalled
	return err
}

func (r *armReader) leaf() unwind.Row {
	var row unwind.Row
	newFrame(r.codes.arch()).finish(&row, r.codes.arch().LR, place{}, nil)
	return row
}
