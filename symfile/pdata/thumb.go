package pdata

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
)

// thumbCodes are the records of 32-bit arm, whose code is Thumb-2: instructions have two or four
// bytes.
type thumbCodes struct{}

func (thumbCodes) arch() *cpu.Arch { return cpu.ARM }
func (thumbCodes) unit() uint64    { return 2 }

// header: 0 length 18 bits · 18 version 2 · 20 handler · 21 single epilogue · 22 fragment · 23
// epilogues 5 · 28 code words 4.
func (thumbCodes) header(w uint32) header {
	return header{length: uint64(w&0x3ffff) * 2, version: w >> 18 & 3, single: w>>21&1 != 0, fragment: w>>22&1 != 0,
		epilogues: int(w >> 23 & 31), codeWords: int(w >> 28)}
}

// scope: 0 start 18 bits · 20 condition 4 · 24 index 8.
func (thumbCodes) scope(w uint32) (uint64, int) { return uint64(w&0x3ffff) * 2, int(w >> 24) }

// machineFrame: the frame has sp in its first word and pc in its second.
func (thumbCodes) machineFrame() (pc, sp int64) { return 4, 0 }

// context: CONTEXT has flags, then r0 to r12, sp, lr, pc.
func (thumbCodes) context() (pc, sp int64, regs []savedReg) {
	for r := range 15 {
		if r != 13 {
			regs = append(regs, savedReg{cpu.ARM.DWARF[r], 4 + 4*int64(r)})
		}
	}
	return 4 + 4*15, 4 + 4*13, regs
}

// lrBit is lr in a mask of registers.
const lrBit = 1 << 14

// move is an instruction of a width that adds alloc to the stack pointer when it is undone.
func move(width, alloc int64) op { return op{width: width, alloc: alloc, set: cpu.NoReg} }

// pushed is a push of the registers of a mask, the lowest number at the lowest address.
// cpu.ARM.DWARF gives the register by its number, as DWARF's numbers of arm are those of
// instructions.
func pushed(width int64, mask int) op {
	o := move(width, 0)
	for r := range 16 {
		if mask&(1<<r) != 0 {
			o.regs = append(o.regs, savedReg{cpu.ARM.DWARF[r], o.alloc})
			o.alloc += 4
		}
	}
	return o
}

// lr of a code whose bit says so.
func lr(set bool) int {
	if set {
		return lrBit
	}
	return 0
}

// decode implements codes ("Unwind codes" of ARM exception handling).
//
// Codes are named after the epilogue's instruction, which is also what undoes the prologue's.
// Example: 04 d7 ff are those of
//
//	d7  pop {r4-r7, lr}   of the prologue's push {r4-r7, lr}
//	04  add sp, sp, #16   of the prologue's sub sp, sp, #16
//	ff  end, where an epilogue has popped pc already
//
// The width of the instruction matters too: it says how far the code is at an address.
func (thumbCodes) decode(p []byte) (op, int, error) {
	b, n := p[0], 1
	switch {
	case b >= 0x80 && b < 0xc0, b >= 0xe8 && b < 0xf0, b == 0xf5, b == 0xf6:
		n = 2
	case b == 0xf7, b == 0xf9:
		n = 3
	case b == 0xf8, b == 0xfa:
		n = 4
	}
	if len(p) < n {
		return op{}, 0, fmt.Errorf("0x%02x, cut off", b)
	}
	v := 0
	for _, x := range p[:n] {
		v = v<<8 | int(x)
	}
	o := move(2, 0)
	switch {
	case b < 0x80: // add sp, sp, #x
		o = move(2, int64(b)*4)
	case b < 0xc0: // pop {r0-r12, lr}
		o = pushed(4, v&0x1fff|lr(v&0x2000 != 0))
	case b < 0xd0: // mov sp, rx
		o.set = cpu.ARM.DWARF[b&15]
	case b < 0xd8: // pop {r4-rx, lr}
		o = pushed(2, from4(int(b&3)+4)|lr(b&4 != 0))
	case b < 0xe0: // pop {r4-rx, lr}, the long instruction
		o = pushed(4, from4(int(b&3)+8)|lr(b&4 != 0))
	case b < 0xe8: // vpop {d8-dx}
		o = move(4, int64(b&7)*8+8)
	case b < 0xec: // addw sp, sp, #x
		o = move(4, int64(v&0x3ff)*4)
	case b < 0xee: // pop {r0-r7, lr}
		o = pushed(2, v&0xff|lr(v&0x100 != 0))
	case b == 0xee:
		switch p[1] {
		case 1:
			o.kind = opMachineFrame
		case 2:
			o.kind = opContext
		default:
			o.kind = opCustom
		}
	case b == 0xef && p[1] < 16: // ldr lr, [sp], #x
		o = move(4, int64(p[1])*4)
		o.regs = []savedReg{{cpu.ARM.LR, 0}}
	case b == 0xf5, b == 0xf6: // vpop {dx-dy}
		first, last := int64(p[1]>>4), int64(p[1]&15)
		if last < first {
			return op{}, 0, fmt.Errorf("0x%02x 0x%02x: registers down from %d to %d", b, p[1], first, last)
		}
		o = move(4, (last-first+1)*8)
	// The same with larger numbers, by short instructions and by long ones.
	case b == 0xf7: // add sp, sp, #x
		o = move(2, int64(v&0xffff)*4)
	case b == 0xf8:
		o = move(2, int64(v&0xffffff)*4)
	case b == 0xf9:
		o = move(4, int64(v&0xffff)*4)
	case b == 0xfa:
		o = move(4, int64(v&0xffffff)*4)
	case b == 0xfb: // nop
	case b == 0xfc:
		o.width = 4
	case b == 0xfd: // an epilogue ends with a short branch, or a long one, or with what came before
		o.kind = opEnd
	case b == 0xfe:
		o.kind, o.width = opEnd, 4
	case b == 0xff:
		o.kind, o.width = opEnd, 0
	default:
		return op{}, 0, fmt.Errorf("0x%02x, which is reserved", b)
	}
	return o, n, nil
}

// from4 is the mask of r4 to a last register.
func from4(last int) int { return 1<<(last+1) - 1<<4 }

// packed makes the canonical function of an entry without a record ("Packed unwind data").
//
//	0 flag 2 bits · 2 length 11 · 13 Ret 2 · 15 H · 16 Reg 3 · 19 R · 20 L · 21 C · 22 stack adjustment 10, times 4
//
// Ret is how it returns: 0 by popping pc, 1 by a short branch, 2 by a long one, 3 not at all. H
// stores r0 to r3, R says that Reg counts vector registers, not integer ones, L stores lr, C makes
// a chain of frames by r11.
func (thumbCodes) packed(e entry) (*armFunction, error) {
	w := e.data
	f := &armFunction{length: uint64(w>>2&0x7ff) * 2}
	ret, homes, reg := w>>13&3, w>>15&1 != 0, int(w>>16&7)
	floats, saveLR, chain, adjust := w>>19&1 != 0, w>>20&1 != 0, w>>21&1 != 0, int(w>>22)
	// A small adjustment may be made by pushing or popping more registers, below r4.
	foldPrologue, foldEpilogue := false, false
	if adjust >= 0x3f4 {
		foldPrologue, foldEpilogue = adjust&4 != 0, adjust&8 != 0
		// 0x3f4 to 0x3ff are not sizes: bit 2 folds the prologue's, bit 3 the epilogue's, and the
		// lowest bits are words less one.
		adjust = adjust&3 + 1
	}
	const byPop, noEpilogue = 0, 3
	pop := ret == byPop && saveLR
	mask := func(fold, withLR bool) (m int) {
		if !floats {
			m = from4(reg + 4)
		}
		if fold {
			// So many registers up to r3: with two words, r2 and r3.
			m |= 0xf &^ (1<<(4-adjust) - 1)
		}
		if chain {
			m |= 1 << 11
		}
		if withLR {
			m |= lrBit
		}
		return m
	}
	push := func(m int, more int) op {
		// The short instruction has r0 to r7, and lr in a push or pc in a pop.
		width := int64(2)
		if m&^(0xff|more) != 0 {
			width = 4
		}
		o := pushed(width, m)
		// What was pushed for the sake of its room was not saved.
		var regs []savedReg
		for _, s := range o.regs {
			if s.reg > 3 {
				regs = append(regs, s)
			}
		}
		o.regs = regs
		return o
	}
	adjustment := func() op {
		if adjust < 0x80 {
			return move(2, int64(adjust)*4)
		}
		return move(4, int64(adjust)*4)
	}
	var pro []op
	if homes {
		pro = append(pro, move(2, 16))
	}
	if chain || saveLR || !floats || foldPrologue {
		pro = append(pro, push(mask(foldPrologue, saveLR), lrBit))
	}
	if chain {
		o := move(4, 0) // add r11, sp, #x
		if floats && !foldPrologue {
			o.width = 2 // mov r11, sp
		}
		pro = append(pro, o)
	}
	if floats && reg != 7 {
		pro = append(pro, move(4, int64(reg)*8+8))
	}
	if adjust != 0 && !foldPrologue {
		pro = append(pro, adjustment())
	}
	end := endOp(0)
	for i := len(pro) - 1; i >= 0; i-- {
		f.prologue = append(f.prologue, pro[i])
	}
	f.prologue = append(f.prologue, end)
	if ret == noEpilogue {
		return f, nil
	}
	if adjust != 0 && !foldEpilogue {
		f.ops = append(f.ops, adjustment())
	}
	if floats && reg != 7 {
		f.ops = append(f.ops, move(4, int64(reg)*8+8))
	}
	withLR := saveLR && (!homes || ret != byPop)
	if chain || withLR || !floats || foldEpilogue {
		more := 0
		if pop {
			more = lrBit // the short instruction pops pc, but not lr
		}
		f.ops = append(f.ops, push(mask(foldEpilogue, withLR), more))
	}
	switch {
	// One instruction pops pc and drops the four stored parameters: 4 + 16 bytes.
	case homes && pop: // ldr pc, [sp], #20
		o := move(4, 20)
		o.regs = []savedReg{{cpu.ARM.LR, 0}}
		f.ops = append(f.ops, o)
	case homes:
		f.ops = append(f.ops, move(2, 16))
	}
	if !pop {
		end.width = 2
		if ret == 2 {
			end.width = 4
		}
	}
	f.ops = append(f.ops, end)
	return f, nil
}
