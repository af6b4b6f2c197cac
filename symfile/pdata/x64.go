package pdata

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// x64 reads x64's table: begin, end and RVA of the unwind information, a word each ("struct
// RUNTIME_FUNCTION").
type x64 struct {
	t *Table
	// code is what was read last of the image's code, from codeAt on.
	code   []byte
	codeAt uint64
}

func (x *x64) size() int64 { return 12 }

func (x *x64) entry(p []byte) entry {
	le := binary.LittleEndian
	return entry{start: uint64(le.Uint32(p)), end: uint64(le.Uint32(p[4:])), data: le.Uint32(p[8:])}
}

// x64Regs are the general registers by their number in instructions.
var x64Regs = registers(cpu.AMD64, "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")

// x64Keep are registers that calls preserve on Windows and not elsewhere.
var x64Keep = registers(cpu.AMD64, "rsi", "rdi")

// registers are registers by their names; NoReg for a name that the processor lacks.
func registers(arch *cpu.Arch, names ...string) (out []cpu.Reg) {
	for _, n := range names {
		r, ok := arch.Lookup(n)
		if !ok {
			r = cpu.NoReg
		}
		out = append(out, r)
	}
	return out
}

// The operations ("Unwind operation code").
const (
	// Names in Microsoft's text: UWOP_PUSH_NONVOL, _ALLOC_LARGE, _ALLOC_SMALL, _SET_FPREG,
	// _SAVE_NONVOL, _SAVE_NONVOL_FAR, _EPILOG, _SPARE_CODE, _SAVE_XMM128, _SAVE_XMM128_FAR,
	// _PUSH_MACHFRAME.
	opPush     = 0
	opAllocBig = 1
	opAlloc    = 2
	opSetFP    = 3
	opSave     = 4
	opSaveFar  = 5
	opEpilog   = 6 // of version 1: one that saves a vector register
	opSpare    = 7 // likewise
	opXMM      = 8
	opXMMFar   = 9
	opMachine  = 10
)

// x64Code is one operation of a prologue.
type x64Code struct {
	// after is the offset after the instruction, from the function's start.
	after uint8
	op    uint8
	reg   uint8
	// n is a size or a distance in bytes; of opMachine 8 if there is an error code.
	n int64
}

// x64Info is an UNWIND_INFO record.
type x64Info struct {
	rva          uint64
	version      uint8
	prologue     uint8
	fpReg        uint8
	fpOff        int64
	codes        []x64Code // the last operation of the prologue first
	epilogues    []uint64  // of version 2: distances from the function's end
	epilogueSize uint8
	parent       *x64Info
	// hasFP: the function has a frame pointer. applies: the prologue is the one at the function's
	// start, and not one that was done elsewhere.
	hasFP, applies bool
}

// x64Function is a function, or a part of one whose record has a parent.
type x64Function struct {
	x     *x64
	e     entry
	info  *x64Info
	first uint64 // where the function begins
	// ops are the pushes and allocations of all prologues, the first done first.
	ops []x64Code
}

// maxChain bounds how many records a function's record may lead to.
const maxChain = 32

// open reads an entry's record and its chain of parents. A compiler moves rarely used code away, or
// saves more registers only on some paths; such a part has a record of its own, which leads to that
// of the function.
func (x *x64) open(e entry) (function, error) {
	f := &x64Function{x: x, e: e}
	// An odd RVA is that of another entry; this one is a part of it. Then the prologue was done
	// elsewhere.
	own, at := true, e
	for n := 0; at.data&1 != 0; n++ { // the entry refers to another one
		if n == maxChain {
			return nil, x.t.bad(e.off, fmt.Sprintf("at most %d entries that lead to each other", maxChain), "more, or a circle")
		}
		p, err := x.t.cfg.At(uint64(at.data&^1), 12)
		if err != nil {
			return nil, err
		}
		at, own = x.entry(p), false
	}
	var last *x64Info
	for n := 0; ; n++ {
		if n == maxChain {
			return nil, x.t.badRecord(f.info.rva, fmt.Sprintf("at most %d records that lead to each other", maxChain), "more, or a circle")
		}
		info, parent, err := x.info(uint64(at.data))
		if err != nil {
			return nil, err
		}
		info.applies = own && n == 0
		if last == nil {
			f.info = info
		} else {
			last.parent = info
		}
		if last = info; parent == nil {
			break
		}
		at = *parent
	}
	f.first = at.start
	for i := f.info; i != nil; i = i.parent {
		for _, c := range i.codes {
			if c.op == opPush || c.op == opAlloc {
				f.ops = append(f.ops, c)
			}
		}
	}
	// The records have the last operation first; an epilogue undoes them from the end of this list.
	for i, j := 0, len(f.ops)-1; i < j; i, j = i+1, j-1 {
		f.ops[i], f.ops[j] = f.ops[j], f.ops[i]
	}
	return f, nil
}

// info reads an UNWIND_INFO record.
//
//	0 version 3 bits, flags 5 · 1 size of the prologue · 2 number of codes · 3 frame register 4 bits, its offset 4 (times 16) ·
//	codes, u16 each · with flag 4: a parent's entry, 12 bytes, after an even number of codes
//
// Example: 01 06 02 00 06 32 02 30 is the record of "push rbx; sub rsp, 32":
//
//	01       version 1, no flags
//	06 02 00 six bytes of prologue, two codes, no frame pointer
//	06 32    after byte 6: operation 2 (allocate) of 3·8 + 8 = 32 bytes
//	02 30    after byte 2: operation 0 (push) of register 3, rbx
func (x *x64) info(rva uint64) (info *x64Info, parent *entry, err error) {
	const chained = 4
	bad := func(off uint64, want, have string) error { return x.t.badRecord(rva+off, want, have) }
	head, err := x.t.cfg.At(rva, 4)
	if err != nil {
		return nil, nil, err
	}
	info = &x64Info{rva: rva, version: head[0] & 7, prologue: head[1], fpReg: head[3] & 15, fpOff: int64(head[3]>>4) * 16}
	if info.version != 1 && info.version != 2 {
		return nil, nil, bad(0, "version 1 or 2 of unwind information", fmt.Sprint(info.version))
	}
	info.hasFP = info.fpReg != 0
	count := int64(head[2])
	size := (count + 1) &^ 1 * 2
	isChained := head[0]>>3&chained != 0
	if isChained {
		size += 12
	}
	p, err := x.t.cfg.At(rva+4, size)
	if err != nil {
		return nil, nil, err
	}
	if isChained {
		e := x.entry(p[size-12:])
		// A parent's entry may stand for another one too.
		for n := 0; e.data&1 != 0; n++ {
			if n == maxChain {
				return nil, nil, bad(0, "a parent", "entries that lead to each other in a circle")
			}
			q, err := x.t.cfg.At(uint64(e.data&^1), 12)
			if err != nil {
				return nil, nil, err
			}
			e = x.entry(q)
		}
		parent = &e
	}
	le := binary.LittleEndian
	for i := int64(0); i < count; {
		c := x64Code{after: p[2*i], op: p[2*i+1] & 15, reg: p[2*i+1] >> 4}
		slots := x64Slots(c.op, c.reg, info.version)
		if slots == 0 {
			return nil, nil, bad(uint64(4+2*i), "an unwind code that is known", fmt.Sprintf("%d with information %d", c.op, c.reg))
		}
		if i+slots > count {
			return nil, nil, bad(uint64(4+2*i), fmt.Sprintf("an unwind code of %d slots", slots), "the end of the codes")
		}
		switch {
		case slots == 3:
			c.n = int64(le.Uint32(p[2*i+2:]))
		case slots == 2:
			c.n = int64(le.Uint16(p[2*i+2:]))
		}
		switch c.op {
		case opPush:
			c.n = 8
		case opAllocBig:
			if c.op = opAlloc; slots == 2 {
				c.n *= 8
			}
		case opAlloc:
			c.n = int64(c.reg)*8 + 8
		// The near form counts words, the far one bytes.
		case opSave, opSaveFar:
			if c.op = opSave; slots == 2 {
				c.n *= 8
			}
		case opMachine:
			c.n = int64(c.reg) * 8
		case opEpilog:
			if info.version == 2 {
				info.epilogue(c, i == 0)
			}
		}
		// Vector registers are not shown, so what saves them only takes its slots.
		i += slots
		if c.op == opPush || c.op == opAlloc || c.op == opSetFP || c.op == opSave || c.op == opMachine {
			info.codes = append(info.codes, c)
		}
	}
	return info, parent, nil
}

// epilogue adds a code that says where an epilogue begins. The first one has the size of all, and
// bit 0 of its information set if one is at the function's end; the others have distances from the
// end, of twelve bits. 0 fills the list up.
//
// Source: LLVM, Support/Win64EH.h (UOP_Epilog).
func (info *x64Info) epilogue(c x64Code, first bool) {
	if first {
		info.epilogueSize = c.after
		if c.reg&1 != 0 {
			info.epilogues = append(info.epilogues, uint64(c.after))
		}
		return
	}
	if off := uint64(c.after) | uint64(c.reg)<<8; off != 0 {
		info.epilogues = append(info.epilogues, off)
	}
}

// x64Slots is how many slots of two bytes a code takes; 0 if it is not known.
func x64Slots(op, info, version uint8) int64 {
	switch op {
	case opPush, opAlloc, opSetFP:
		return 1
	case opAllocBig:
		if info <= 1 {
			return 2 + int64(info)
		}
	case opSave, opXMM:
		return 2
	case opSaveFar, opXMMFar:
		return 3
	case opEpilog:
		if version == 2 {
			return 1
		}
		return 2
	case opSpare:
		return 3
	case opMachine:
		if info <= 1 {
			return 1
		}
	}
	return 0
}

func (f *x64Function) end() uint64            { return f.e.end }
func (f *x64Function) begin() uint64          { return f.first }
func (f *x64Function) place() uint64          { return f.info.rva }
func (f *x64Function) next(rva uint64) uint64 { return rva + 1 }

// Kinds of positions. In a prologue a is how many codes have not been done yet, in an epilogue how
// many pops are still to be done.
const (
	inBody = iota
	inPrologue
	inEpilogue
)

// position looks for an epilogue first: where a compiler saves a register late, all before that is
// the prologue, with whole ways out of the function in it.
func (f *x64Function) position(rva uint64) (position, error) {
	pops, ok, err := f.epilogue(rva)
	if err != nil {
		return position{}, err
	}
	if ok {
		return position{kind: inEpilogue, a: int32(pops)}, nil
	}
	off := rva - f.e.start
	if f.info.applies && off < uint64(f.info.prologue) {
		left := 0
		for left < len(f.info.codes) && uint64(f.info.codes[left].after) > off {
			left++
		}
		// Which register leads to the frame depends on more than the codes.
		return position{kind: inPrologue, a: int32(left)}, nil
	}
	return position{kind: inBody}, nil
}

// row undoes what has been done of the prologues, or what is left of an epilogue.
//
//	push       reg = [sp], sp += 8              allocate   sp += n            set frame pointer   sp = fp − offset
//	save       reg = [frame + n]; frame is fp − offset once fp is set, else sp at the instruction
//
// In the prologue of a function with a frame pointer, the stack pointer is what counts until the
// pointer is set. In the body the frame pointer counts, as the stack pointer may have moved since.
func (f *x64Function) row(p position, row *unwind.Row) error {
	fr := newFrame(cpu.AMD64)
	// An epilogue pops what was pushed first last: ops[:a] are still on the stack.
	if p.kind == inEpilogue {
		for i := int(p.a) - 1; i >= 0; i-- {
			if op := f.ops[i]; op.op == opPush {
				fr.save(x64Regs[op.reg], fr.sp)
			}
			fr.sp.off += f.ops[i].n
		}
		return f.finish(fr, row)
	}
	skip := 0
	if p.kind == inPrologue {
		skip = int(p.a)
	}
	// Parents' prologues are complete, so only the first record's codes may be skipped.
	for info := f.info; info != nil; info, skip = info.parent, 0 {
		codes := info.codes[min(skip, len(info.codes)):]
		base := fr.sp
		if info.hasFP && (info != f.info || p.kind == inBody || setsFP(codes)) {
			// base is where saved registers are counted from; the stack pointer itself is set when
			// opSetFP is undone.
			now := *fr
			if err := fr.set(x64Regs[info.fpReg], info.fpOff); err != nil {
				return err
			}
			base, fr.sp = fr.sp, now.sp
		}
		for _, c := range codes {
			switch c.op {
			case opPush:
				fr.save(x64Regs[c.reg], fr.sp)
				fr.sp.off += 8
			case opAlloc:
				fr.sp.off += c.n
			case opSetFP:
				if err := fr.set(x64Regs[info.fpReg], info.fpOff); err != nil {
					return err
				}
			case opSave:
				fr.save(x64Regs[c.reg], place{base.base, base.off + c.n})
			// From the lowest address on, the processor pushed: an error code (n is 8 with one),
			// rip, cs, eflags, rsp, ss.
			case opMachine:
				return fr.machine(row, c.n, c.n+24, x64Keep)
			}
		}
	}
	return f.finish(fr, row)
}

// setsFP reports whether the frame pointer was set by what has been done of a prologue.
func setsFP(codes []x64Code) bool {
	return slices.ContainsFunc(codes, func(c x64Code) bool { return c.op == opSetFP })
}

// finish takes the return address, which the call pushed last, and makes the row.
func (f *x64Function) finish(fr *frame, row *unwind.Row) error {
	ra := fr.sp
	fr.sp.off += 8
	return fr.finish(row, cpu.NoReg, ra, x64Keep)
}

func (x *x64) leaf() unwind.Row {
	var row unwind.Row
	fr := newFrame(cpu.AMD64)
	fr.sp.off = 8
	fr.finish(&row, cpu.NoReg, place{}, x64Keep)
	return row
}

// bytes reads up to n bytes of code, fewer at the end of the file's code. They hold until the next
// call. An error of the file gives no bytes, as code that it lacks.
func (x *x64) bytes(rva, end uint64, n int) ([]byte, error) {
	if rva < x.codeAt || rva+uint64(n) > x.codeAt+uint64(len(x.code)) {
		// Each asks for one instruction after the other, so it reads the code in blocks.
		const block = 1024
		x.code, x.codeAt = nil, 0
		size := int64(0)
		for _, c := range x.t.cfg.Code {
			if rva >= c[0] && rva < c[1] {
				size = int64(min(c[1]-rva, max(min(end-rva, block), uint64(n))))
			}
		}
		if size == 0 {
			return nil, nil
		}
		p, err := x.t.cfg.At(rva, size)
		if err != nil {
			if x.t.src.Interrupted(err) {
				return nil, err
			}
			return nil, nil
		}
		x.code, x.codeAt = p, rva
	}
	p := x.code[rva-x.codeAt:]
	return p[:min(n, len(p))], nil
}
