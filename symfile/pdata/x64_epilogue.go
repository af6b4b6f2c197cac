package pdata

import "encoding/binary"

// maxEpilogue is more than the pops and the jump of an epilogue can take: sixteen of two bytes, and
// one of eight.
const maxEpilogue = 40

// epilogue reports whether an instruction belongs to an epilogue, after the stack pointer was set
// to where the registers were pushed, and how many of the pushes are still to be undone. Before
// that everything is as in the body.
//
// Records of version 1 do not mention epilogues: their instructions are recognized ("Epilog code").
// An epilogue pops registers in the reverse order of the prologue's pushes and ends with a return
// or with a jump out of the function. What only looks like one pops others. Records of version 2
// say where they are.
//
// Example: "add rsp, 32; pop rbx; ret". At the add nothing is undone, so it counts as the body. At
// 5b, one push is left, at c3 none.
func (f *x64Function) epilogue(rva uint64) (pops int, ok bool, err error) {
	if f.info.version == 2 {
		pops, ok = f.listed(rva)
		return pops, ok, nil
	}
	code, err := f.x.bytes(rva, f.e.end, maxEpilogue)
	if err != nil || len(code) == 0 {
		return 0, false, err
	}
	// A lookup for a return address is for the last byte of the call, which may look like an
	// instruction of an epilogue.
	if inside, err := f.insideCall(rva, code[0]); inside || err != nil {
		return 0, false, err
	}
	// It may go on after the entry: the part of a function that saves more registers can end
	// before the return.
	at := 0
	var regs [16]uint8
	for ; at < len(code) && pops < len(regs); pops++ {
		reg, n := pop(code[at:])
		if n == 0 {
			break
		}
		regs[pops] = reg
		at += n
	}
	if pops > len(f.ops) {
		return 0, false, nil
	}
	if ok, err := f.leaves(rva+uint64(at), code[at:]); !ok || err != nil {
		return 0, false, err
	}
	for i, reg := range regs[:pops] {
		// The last pop undoes the first push. A register of no use takes eight bytes that were
		// allocated.
		switch op := f.ops[pops-1-i]; {
		case op.op == opPush && op.reg == reg:
		case op.op == opAlloc && op.n == 8 && !preserved(reg):
		default:
			return 0, false, nil
		}
	}
	return pops, true, nil
}

// insideCall reports whether a byte is the last one of an indirect call. Calls of other forms end
// with the upper byte of a distance, which in no program leads so far that it looks like an
// epilogue.
//
//	ff 14 sib         call [base + index]
//	ff 5r disp        call [base + disp]; ff 54 sib disp with an index
//
// last is the byte itself: only those that begin a pop, a return or a jump are worth the look.
func (f *x64Function) insideCall(rva uint64, last byte) (bool, error) {
	const most = 3
	if pop := last&0xf8 == 0x58; !pop && last != 0xc3 && last != 0xc2 && last&0xf8 != 0x48 && last != 0xeb && last != 0xe9 || rva < f.e.start+most {
		return false, nil
	}
	p, err := f.x.bytes(rva-most, f.e.end, most)
	if err != nil || len(p) < most {
		return false, err
	}
	return p[1] == 0xff && (p[2] == 0x14 || p[2]&0xf8 == 0x50 && p[2] != 0x54) || p[0] == 0xff && p[1] == 0x54, nil
}

// preserved reports whether a call preserves a register, by its number.
// These are rbx, rbp, rsi, rdi and r12 to r15 ("Caller/callee saved registers" of "x64 calling
// convention").
func preserved(reg uint8) bool { return reg == 3 || reg >= 5 && reg <= 7 || reg >= 12 }

// pop decodes "pop reg"; n is its length, or 0 if it is something else.
// A prefix 40 to 4f has the register's fourth bit: 5b is "pop rbx", 41 5e "pop r14".
func pop(code []byte) (reg uint8, n int) {
	switch {
	case len(code) >= 1 && code[0]&0xf8 == 0x58:
		return code[0] & 7, 1
	case len(code) >= 2 && code[0]&0xf0 == 0x40 && code[1]&0xf8 == 0x58:
		return code[1]&7 | code[0]&1<<3, 2
	}
	return 0, 0
}

// leaves reports whether the instruction at an address ends an epilogue: it returns, or jumps to
// where another function begins. Indirect jumps do so only to an import, or with a REX.W prefix,
// which compilers add for unwinders; others are those of a switch. (VirtualUnwind in .NET's
// unwinder for amd64, which is the system's.)
func (f *x64Function) leaves(rva uint64, code []byte) (bool, error) {
	has := func(n int) bool { return len(code) >= n }
	if has(1) && code[0] == 0xf2 { // bnd, which changes nothing here
		rva, code = rva+1, code[1:]
	}
	switch {
	case has(1) && (code[0] == 0xc3 || code[0] == 0xc2 && has(3)):
		return true, nil
	case has(2) && code[0] == 0xf3 && code[1] == 0xc3:
		return true, nil
	case has(2) && code[0] == 0xff && code[1] == 0x25: // jmp [rip + n]
		return true, nil
	// 48 ff e0 is "rex.w jmp rax", 48 ff 62 08 "rex.w jmp [rdx + 8]".
	case has(3) && code[0]&0xf8 == 0x48 && code[1] == 0xff && code[2]&0x38 == 0x20:
		return true, nil
	case has(2) && code[0] == 0xeb:
		return f.isEntry(rva + 2 + uint64(int64(int8(code[1]))))
	case has(5) && code[0] == 0xe9:
		return f.isEntry(rva + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(code[1:])))))
	}
	return false, nil
}

// isEntry reports whether a jump to an address leaves the function: another one begins there, or
// this one, and has no frame yet. A part of the function that was moved away begins with its frame
// there.
func (f *x64Function) isEntry(to uint64) (bool, error) {
	t := f.x.t
	if to > f.e.start && to < f.e.end || !t.isCode(to) {
		return false, nil
	}
	e, found, err := t.find(to)
	if err != nil {
		return false, err
	}
	if !found || to >= e.end {
		return true, nil // a function without an entry
	}
	if e.start != to {
		return false, nil
	}
	other, err := f.x.open(e)
	if t.src.Interrupted(err) {
		return false, err
	}
	if err != nil {
		return false, nil // it is another function's record that is broken
	}
	o := other.(*x64Function)
	if !o.info.applies || o.info.parent != nil {
		return false, nil
	}
	// A code that is done before the first byte describes a frame that is there at the start: code
	// that was moved away.
	for _, c := range o.info.codes {
		if c.after == 0 {
			return false, nil
		}
	}
	return true, nil
}

// listed looks an instruction up in the list of version 2. An epilogue there begins with its first
// pop.
func (f *x64Function) listed(rva uint64) (pops int, ok bool) {
	for _, off := range f.info.epilogues {
		if off > f.e.end-f.e.start {
			continue
		}
		start := f.e.end - off
		if rva < start {
			continue
		}
		at := start
		// Pops of rax to rdi take one byte, those of r8 to r15 two. The walk ends at rva or past
		// it, if rva is inside of a pop.
		for pops = len(f.pushes()); pops > 0 && at < rva; pops-- {
			at++
			if f.ops[pops-1].reg >= 8 {
				at++
			}
		}
		if at == rva && (pops > 0 || rva-start <= uint64(f.info.epilogueSize)) {
			return pops, true
		}
	}
	return 0, false
}

// pushes are the operations at the prologue's start that are pushes.
func (f *x64Function) pushes() []x64Code {
	for i, op := range f.ops {
		if op.op != opPush {
			return f.ops[:i]
		}
	}
	return f.ops
}
