package pdata

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
)

// arm64Codes are the records of arm64.
type arm64Codes struct{}

func (arm64Codes) arch() *cpu.Arch { return cpu.ARM64 }
func (arm64Codes) unit() uint64    { return 4 }

// header: 0 length 18 bits · 18 version 2 · 20 handler · 21 single epilogue · 22 epilogues 5 · 27
// code words 5.
func (arm64Codes) header(w uint32) header {
	return header{length: uint64(w&0x3ffff) * 4, version: w >> 18 & 3, single: w>>21&1 != 0,
		epilogues: int(w >> 22 & 31), codeWords: int(w >> 27)}
}

// scope: 0 start 18 bits · 22 index 10.
func (arm64Codes) scope(w uint32) (uint64, int) { return uint64(w&0x3ffff) * 4, int(w >> 22) }

// machineFrame: the frame has sp in its first word and pc in its second.
func (arm64Codes) machineFrame() (pc, sp int64) { return 8, 0 }

// context: CONTEXT has flags and cpsr, then x0 to x28, fp, lr, sp, pc.
func (arm64Codes) context() (pc, sp int64, regs []savedReg) {
	for r := cpu.Reg(0); r <= 30; r++ {
		regs = append(regs, savedReg{r, 8 + 8*int64(r)})
	}
	return 8 + 8*32, 8 + 8*31, regs
}

// xreg is a general register by its number; numbers beyond lr have none.
func xreg(n int) cpu.Reg {
	if n > 30 {
		return cpu.NoReg
	}
	return cpu.Reg(n)
}

// plain is an instruction of four bytes that adds to the stack pointer when it is undone.
func plain(alloc int64) op { return op{width: 4, alloc: alloc, set: cpu.NoReg} }

// stored is a store of count registers from a first one on, at a distance from the stack pointer;
// one that moves the stack pointer down first has a distance below 0.
func stored(first, count int, at int64) op {
	o := plain(0)
	if at < 0 {
		o.alloc, at = -at, 0
	}
	for i := range count {
		o.regs = append(o.regs, savedReg{xreg(first + i), at + 8*int64(i)})
	}
	return o
}

// storedFloats is a store of vector registers; only its move of the stack pointer matters.
func storedFloats(at int64) op { return plain(max(0, -at)) }

// arm64Lengths are how many bytes codes from 0xc0 on take, where it is not one; those from 0xc0 to
// 0xdf take two.
var arm64Lengths = map[byte]int{0xe0: 4, 0xe2: 2, 0xe7: 3, 0xf8: 2, 0xf9: 3, 0xfa: 4, 0xfb: 5}

// decode implements codes ("Unwind codes" of ARM64 exception handling).
//
// Example: the codes 01 e1 83 e4 are, in reverse order, those of
//
//	83  save_fplr_x 3    stp x29, x30, [sp, #-32]!   z = 3 is 8·(z + 1) bytes
//	e1  set_fp           mov x29, sp
//	01  alloc_s 1        sub sp, sp, #16             in units of 16 bytes
//	e4  end
func (a arm64Codes) decode(p []byte) (op, int, error) {
	b, n := p[0], 1
	if b >= 0xc0 && b < 0xe0 {
		n = 2
	} else if l := arm64Lengths[b]; l != 0 {
		n = l
	}
	if len(p) < n {
		return op{}, 0, fmt.Errorf("0x%02x, cut off", b)
	}
	v := int(b)
	if n > 1 {
		v = v<<8 | int(p[1])
	}
	// Most codes end with a distance in words: six bits of it, or five. The forms "_x" store at
	// [sp, #-n]! and move the stack pointer; they have n/8 − 1.
	z6, z5 := int64(v&0x3f)*8, int64(v&0x1f)*8
	o := plain(0)
	switch {
	case b < 0x20: // alloc_s
		o = plain(int64(b&0x1f) * 16)
	case b < 0x40: // save_r19r20_x
		o = stored(19, 2, -z5)
	case b < 0x80: // save_fplr
		o = stored(29, 2, z6)
	case b < 0xc0: // save_fplr_x
		o = stored(29, 2, -z6-8)
	case b < 0xc8: // alloc_m
		o = plain(int64(v&0x7ff) * 16)
	case b < 0xcc: // save_regp
		o = stored(19+v>>6&15, 2, z6)
	case b < 0xd0: // save_regp_x
		o = stored(19+v>>6&15, 2, -z6-8)
	case b < 0xd4: // save_reg
		o = stored(19+v>>6&15, 1, z6)
	case b < 0xd6: // save_reg_x
		o = stored(19+v>>5&15, 1, -z5-8)
	// A register with an even distance from x19, and lr in the next word.
	case b < 0xd8: // save_lrpair
		o = stored(19+2*(v>>6&7), 1, z6)
		o.regs = append(o.regs, savedReg{cpu.ARM64.LR, z6 + 8})
	case b < 0xda, b >= 0xdc && b < 0xde: // save_fregp, save_freg
		o = storedFloats(z6)
	case b < 0xdc: // save_fregp_x
		o = storedFloats(-z6 - 8)
	case b == 0xde: // save_freg_x
		o = storedFloats(-z5 - 8)
	case b == 0xdf: // alloc_z
		if o.kind = opPlain; p[1] != 0 {
			o.kind = opVector
		}
	case b == 0xe0: // alloc_l
		o = plain(int64(p[1])<<20 | int64(p[2])<<12 | int64(p[3])<<4)
	case b == 0xe1: // set_fp
		o.set = cpu.ARM64.FP
	case b == 0xe2: // add_fp
		o.set, o.less = cpu.ARM64.FP, int64(p[1])*8
	case b == 0xe3: // nop
	case b == 0xe4:
		o.kind = opEnd
	case b == 0xe5:
		o.kind = opEndScope
	case b == 0xe6:
		return a.saveNext(p)
	case b == 0xe7:
		return anyReg(p)
	case b == 0xe9:
		o.kind = opMachineFrame
	case b == 0xea:
		o.kind = opContext
	case b == 0xec:
		o.kind = opNotCalled
	case b == 0xfc: // pac_sign_lr
		o.kind = opSign
	case b >= 0xf8: // reserved for instructions that need not be undone
	default:
		// Frames of traps and of emulation, and what is not known: rows that read on would be wrong.
		o.kind = opCustom
	}
	return o, n, nil
}

// saveNext is save_next: the pair after the one that the next code stores, in the next sixteen
// bytes. The codes are in reverse order of the instructions, so that several of them count down to
// it. After x27 and x28 come vector registers.
func (a arm64Codes) saveNext(p []byte) (op, int, error) {
	n := 1
	for n < len(p) && p[n] == 0xe6 {
		n++
	}
	if n == len(p) {
		return op{}, 0, fmt.Errorf("save_next without a pair")
	}
	o, _, err := a.decode(p[n:])
	if err != nil {
		return op{}, 0, err
	}
	next := plain(0)
	if len(o.regs) == 2 && o.regs[0].reg+1 == o.regs[1].reg && o.regs[1].reg <= 28 {
		first := int(o.regs[0].reg) + 2*n
		if first+1 <= 28 {
			next = stored(first, 2, o.regs[0].off+16*int64(n))
		}
	}
	return next, 1, nil
}

// anyReg is save_any_reg: 0 · pair · moves the stack pointer · register 5 bits; kind of register 2
// bits (x, d, q) · distance 6.
func anyReg(p []byte) (op, int, error) {
	reg, kind, at := int(p[1]&31), p[2]>>6, int64(p[2]&63)
	count := 1
	if p[1]&0x40 != 0 {
		count = 2
	}
	switch {
	case p[1]&0x20 != 0:
		at = -(at + 1) * 16
	case count == 2 || kind == 2:
		at *= 16
	default:
		at *= 8
	}
	switch {
	case p[1]&0x80 != 0 || kind == 3:
		o := plain(0)
		o.kind = opCustom
		return o, 3, nil
	case kind == 0:
		return stored(reg, count, at), 3, nil
	}
	return storedFloats(at), 3, nil
}

// packed makes the canonical function of an entry without a record ("Packed unwind data").
//
//	0 flag 2 bits · 2 length 11 · 13 RegF 3 · 16 RegI 4 · 20 H · 21 CR 2 · 23 frame size 9, times 16
//
// CR says what the function does with lr: 0 leaves it alone, 1 stores it with the other registers,
// 2 and 3 make a frame of x29 and lr, 2 with a signed lr. H stores x0 to x7, for functions with
// "...". RegI registers from x19 on and RegF+1 vector registers from d8 on are stored (0: none).
// From that the prologue follows:
//
//	stp x19, x20, [sp, #-saved]!  ...  the integer, vector and parameter registers in this order
//	stp x29, lr, [sp, #-local]!   mov x29, sp      or sub sp, sp, #local without a frame
//
// Two cases are not in the specification. No code describes "stp x19, lr, [sp, #-saved]!", so
// compilers write "sub sp, sp, #saved" before it. And where only parameters are stored, they are
// stored in the locals, by the body (RtlpExpandCompactToFull in .NET's unwinder for arm64).
func (arm64Codes) packed(e entry) (*armFunction, error) {
	w := e.data
	f := &armFunction{length: uint64(w>>2&0x7ff) * 4}
	regF, regI, homes, cr := int(w>>13&7), int(w>>16&15), w>>20&1 != 0, w>>21&3
	if regI > 10 {
		return nil, fmt.Errorf("%d saved registers", regI)
	}
	const unchained, savesLR, signed, chained = 0, 1, 2, 3
	// Sizes in bytes: RegF 1 is d8 and d9, since one register alone has no encoding.
	ints, floats := int64(regI)*8, int64(0)
	if cr == savesLR {
		ints += 8
	}
	if regF > 0 {
		floats = int64(regF)*8 + 8
	}
	saved := ints + floats
	if homes = homes && saved > 0; homes {
		saved += 64
	}
	saved = (saved + 15) &^ 15
	local := int64(w>>23)*16 - saved
	if local < 0 {
		return nil, fmt.Errorf("a frame of %d bytes for %d of saved registers", int64(w>>23)*16, saved)
	}
	// The instructions in the order of the prologue. The first store allocates room for all.
	var ops []op
	first := true
	store := func(o op) {
		if first {
			o.alloc, first = saved, false
		}
		ops = append(ops, o)
	}
	if cr == signed {
		o := plain(0)
		o.kind = opSign
		ops = append(ops, o)
	}
	if regI == 1 && cr == savesLR {
		store(plain(0))
	}
	for i := 0; i < regI; i += 2 {
		o := stored(19+i, min(2, regI-i), int64(i)*8)
		if i+1 == regI && cr == savesLR {
			o.regs = append(o.regs, savedReg{cpu.ARM64.LR, ints - 8})
		}
		store(o)
	}
	if cr == savesLR && regI%2 == 0 {
		o := plain(0)
		o.regs = []savedReg{{cpu.ARM64.LR, ints - 8}}
		store(o)
	}
	for i := int64(0); i < floats; i += 16 {
		store(plain(0))
	}
	home := len(ops)
	if homes {
		for range 4 {
			store(plain(0))
		}
	}
	homeEnd := len(ops)
	// The immediate of sub has 12 bits; 4080 is the largest multiple of 16 in them.
	const most = 4080 // of one subtraction
	subtract := func() {
		if local > most {
			ops = append(ops, plain(most), plain(local-most))
		} else if local > 0 {
			ops = append(ops, plain(local))
		}
	}
	framePointer := -1
	switch {
	case cr != chained && cr != signed:
		subtract()
	default:
		// stp with a decrement reaches 512 bytes. A larger frame is subtracted first.
		if local <= 512 && local > 0 {
			ops = append(ops, stored(29, 2, -local))
		} else {
			subtract()
			ops = append(ops, stored(29, 2, 0))
		}
		o := plain(0)
		o.set = cpu.ARM64.FP
		framePointer = len(ops)
		ops = append(ops, o)
	}
	end := endOp(4)
	for i := len(ops) - 1; i >= 0; i-- {
		f.prologue = append(f.prologue, ops[i])
		// The epilogue has no use for the stores of parameters, unless they allocated, nor for the
		// frame pointer.
		if i != framePointer && (i < home || i >= homeEnd || ops[i].alloc > 0) {
			f.ops = append(f.ops, ops[i])
		}
	}
	f.prologue, f.ops = append(f.prologue, end), append(f.ops, end)
	return f, nil
}
