package analysis

import (
	"fmt"
	"strconv"
	"strings"
)

// structures decodes loads and stores of several vector registers, or of one element of each (ld1
// to ld4, st1 to st4):
//
//	0 Q 001100 post L 0 Rm opcode size Rn Rt      0 Q 001101 post L R Rm opcode S size Rn Rt
//
//	4cdf7000    ld1 {v0.16b}, [x0], #16    the form of several registers: opcode 0111, one register
//	0d400420    ld1 {v0.b}[1], [x1]        the form of one element: Q, S and size are its number
func (a *a64insn) structures() bool {
	q, single, post, load := a.bits(30, 30), a.bits(24, 24) == 1, a.bits(23, 23) == 1, a.bits(22, 22) == 1
	size, rm := a.bits(11, 10), a.bits(20, 16)
	if !post && rm != 0 {
		return false
	}
	kind, name := loadKind(load)
	var regs, bytes int
	var lanes, index string
	if single {
		opcode, r, s := a.bits(15, 13), int(a.bits(21, 21)), a.bits(12, 12)
		regs = int(opcode&1)<<1 + r + 1
		lane := q<<3 | s<<2 | size
		element := 1 << (opcode >> 1)
		switch opcode >> 1 {
		case 1:
			if size&1 != 0 {
				return false
			}
			lane >>= 1
		case 2:
			lane >>= 2
			if size == 1 && s == 0 {
				element, lane = 8, q
			} else if size != 0 {
				return false
			}
		case 3: // one element to all lanes
			if !load || s != 0 {
				return false
			}
			element = 1 << size
			lanes = arrangement(size, q)
		}
		bytes = regs * element
		name += strconv.Itoa(regs)
		if opcode>>1 == 3 {
			name += "r"
		} else {
			lanes = scalar(0, element)[:1]
			index = "[" + strconv.Itoa(int(lane)) + "]"
		}
	} else {
		if a.bits(21, 21) != 0 {
			return false
		}
		// By opcode: the number of registers, and of adjacent elements.
		e := [16][2]int{0: {4, 4}, 2: {4, 1}, 4: {3, 3}, 6: {3, 1}, 7: {1, 1}, 8: {2, 2}, 10: {2, 1}}[a.bits(15, 12)]
		if e[0] == 0 || e[1] > 1 && size == 3 && q == 0 {
			return false
		}
		regs, lanes = e[0], arrangement(size, q)
		bytes = regs * 8 << q
		name += strconv.Itoa(e[1])
	}
	list := make([]string, regs)
	for i := range list {
		list[i] = "v" + strconv.Itoa((int(a.rt)+i)%32) + "." + lanes
	}
	operands := []string{"{" + strings.Join(list, ", ") + "}" + index, a.at(0)}
	switch {
	case post && rm == 31:
		operands = append(operands, "#"+strconv.Itoa(bytes))
	case post:
		operands = append(operands, xname(rm, false))
	}
	a.say(name, operands...)
	a.access(kind, bytes, 0)
	return true
}

// arrangement returns the name of a vector's elements: "4s" is four of 32 bits. q is the vector's
// size: 64 or 128 bits.
func arrangement(size, q uint32) string {
	return [...]string{"8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d"}[size<<1|q]
}

// zeroLine decodes dc zva, which clears a block. Its size is 64 bytes on nearly all processors.
func (a *a64insn) zeroLine() {
	const block = 64
	a.rn = a.rt
	a.say("dc", "zva", xname(a.rt, false))
	if a.rt == 31 {
		return
	}
	base := a.xreg(a.rt)
	a.in.add(Access{Address: base.Value &^ (block - 1), AddressKnown: true, Size: block, Kind: Write, Base: base})
}

// branch decodes b and bl.
//
//	op 00101 imm26
//
// Example: 94000010 is "bl #64": imm26 counts instructions of 4 bytes from the branch itself.
func (a *a64insn) branch() {
	offset := a.signed(25, 0) * 4
	name, how := "b", "jump"
	if a.bits(31, 31) == 1 {
		name, how = "bl", "call"
	}
	a.say(name, "#"+strconv.FormatInt(offset, 10))
	a.in.jump = &Jump{Target: a.m.pc + uint64(offset), How: how}
}

// branchRegister decodes br, blr and ret, also those that authenticate the pointer first:
//
//	1101011 Z 0 op 11111 0000 A M Rn Rm
//
//	d63f0100    blr x8      Z 0, op 01
//	d65f03c0    ret         Z 0, op 10, Rn 30
//	d65f0bff    retaa       A 1: x30 is authenticated with key A
func (a *a64insn) branchRegister() {
	z, op, auth, key := a.bits(24, 24), a.bits(22, 21), a.bits(11, 11) == 1, a.bits(10, 10)
	if a.bits(23, 23) != 0 || a.bits(20, 12) != 0x1f0 || op > 2 {
		return
	}
	name := [...]string{"br", "blr", "ret"}[op]
	target := xname(a.rn, false)
	operands := []string{target}
	switch {
	case auth:
		name += [...]string{"aa", "ab"}[key]
		switch {
		case op == 2:
			operands, target, a.rn = nil, "x30", 30
		case z == 0 && a.bits(4, 0) == 31:
			name += "z"
		case z == 0:
			return
		default:
			operands = append(operands, xname(a.bits(4, 0), true))
		}
	case a.bits(11, 10) != 0 || a.bits(4, 0) != 0 || z != 0:
		return
	case op == 2 && a.rn == 30:
		operands = nil
	}
	a.in.text = strings.TrimSpace(name + " " + strings.Join(operands, ", "))
	reg := Register{Name: target}
	if a.rn != 31 {
		reg = a.xreg(a.rn)
	}
	a.in.use(reg)
	a.in.jump = &Jump{Target: reg.Value, How: [...]string{"jump", "call", "return"}[op], Register: reg}
}

// authenticates reports whether an instruction authenticates a pointer, and so faults if that fails
// and the processor has FEAT_FPAC.
//
//	11011010110000010 0 Z 1 kk Rn Rd         autia, autib, autda, autdb; Z: autiza …
//	11010101000000110010 0001 1 k 1 11111    autia1716, autib1716
//	11010101000000110010 0011 1 k s 11111    autiaz, autiasp, autibz, autibsp
//	1101011 Z 0 op 111110000 1 M Rn Rm       braa, blraa, retaa …
//	11111000 M S 1 imm9 W 1 Rn Rt            ldraa, ldrab
func authenticates(w uint32) bool {
	return w&0xffffd000 == 0xdac11000 || w&^0x40 == 0xd503219f || w&^0x60 == 0xd503239f ||
		w&0xfe9ff800 == 0xd61f0800 || w&0xff200400 == 0xf8200400
}

// exception decodes svc, brk and hlt:
//
//	11010100 opc imm16 000 LL
func (a *a64insn) exception() {
	imm := a.bits(20, 5)
	switch a.w &^ (0xffff << 5) {
	case 0xd4000001:
		a.in.text = fmt.Sprintf("svc #0x%x", imm)
	case 0xd4200000:
		a.in.text, a.in.trap = fmt.Sprintf("brk #0x%x", imm), true
		// clang's code checks a pointer that it authenticated, and stops at brk 0xc470 plus the key
		// (LLVM, AArch64PointerAuth).
		a.in.authenticates = imm&^3 == 0xc470
	case 0xd4400000:
		a.in.text, a.in.trap = fmt.Sprintf("hlt #0x%x", imm), true
	}
}
