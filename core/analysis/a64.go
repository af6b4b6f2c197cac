package analysis

import (
	"encoding/binary"
	"strconv"

	"github.com/crashpane/crashpane/core/disasm"
)

// This decoder knows the arm64 instructions that can crash, by what they access or where they jump:
// loads, stores, branches through registers, traps. Their words are core/disasm's.
// golang.org/x/arch/arm64/arm64asm is no replacement: it hides the offsets of memory operands, and
// lacks the atomics of Armv8.1 and pointer authentication. Tests compare the two.
//
// Fields in comments are as in the manual, from bit 31 down: "size 001000 o2 L o1 Rs o0 Rt2 Rn Rt".
//
// Source: Arm Architecture Reference Manual for A-profile (DDI 0487), section C4.1 "A64 instruction
// set encoding".

// a64 decodes the instruction of 4 bytes at the program counter.
//
// Example: f9400408 is "ldr x8, [x0, #8]": size 11, V 0, scaled 1, opc 01 (load), imm12 1 (times
// 8), Rn 0, Rt 8.
//
// The cases are the groups of section C4.1, by bits 28 to 25: x1x0 loads and stores, 00x0 SME and
// SVE, 101x branches, exceptions and system instructions. The other groups process data: they access
// no memory.
func (m *machine) a64(code []byte) *decoded {
	w := binary.LittleEndian.Uint32(code)
	in := &decoded{text: disasm.DecodeA64(code, m.pc).Text, len: 4, authenticates: authenticates(w)}
	a := &a64insn{m: m, in: in, w: w, rt: w & 31, rn: w >> 5 & 31}
	switch {
	case w>>16 == 0:
		in.trap = true // udf
	case w>>27&1 == 1 && w>>25&1 == 0:
		in.unknown = !a.loadStore()
	case w>>25&13 == 0: // their loads and stores are not decoded
		in.unknown = true
	case w>>26&0x1f == 5:
		a.branch()
	case w&0xfe000000 == 0xd6000000:
		a.branchRegister()
	case w>>24 == 0xd4:
		a.exception()
	case w&^31 == 0xd50b7420:
		a.zeroLine()
	case w>>19 == 0xd508>>3: // others that maintain caches by addresses
		in.unknown = true
	}
	return in
}

// a64insn is an instruction being decoded.
type a64insn struct {
	m      *machine
	in     *decoded
	w      uint32
	rt, rn uint32
}

// bits returns the bits hi to lo.
func (a *a64insn) bits(hi, lo uint) uint32 { return a.w >> lo & (1<<(hi-lo+1) - 1) }

// signed returns the bits hi to lo as a signed number. It shifts the field to the top and back,
// which copies its sign.
func (a *a64insn) signed(hi, lo uint) int64 {
	n := hi - lo + 1
	return int64(a.bits(hi, lo)) << (64 - n) >> (64 - n)
}

// xreg reads a register; 31 is sp.
func (a *a64insn) xreg(n uint32) Register {
	name := "sp"
	if n != 31 {
		name = "x" + strconv.Itoa(int(n))
	}
	v, _ := a.m.reg(name)
	return Register{name, v}
}

// access adds the access at register rn plus an offset.
func (a *a64insn) access(kind Kind, size int, offset int64) {
	base := a.xreg(a.rn)
	a.in.add(Access{Address: base.Value + uint64(offset), AddressKnown: true, Size: size, Kind: kind, Base: base, Offset: offset})
}

// loadKind returns the kind of access of a load or store.
func loadKind(load uint32) Kind {
	if load == 1 {
		return Read
	}
	return Write
}

// loadStore decodes the class "Loads and Stores", C4.1.94. It returns false for instructions that
// it does not know.
func (a *a64insn) loadStore() bool {
	switch {
	case a.bits(29, 24) == 0x08:
		return a.exclusive()
	case a.bits(29, 24) == 0x0c || a.bits(29, 24) == 0x0d:
		return a.bits(31, 31) == 0 && a.structures()
	case a.bits(29, 27) == 3 && a.bits(25, 24) == 0:
		return a.literal()
	case a.bits(29, 24) == 0x19 && a.bits(21, 21) == 0 && a.bits(11, 10) == 0:
		return a.ordered()
	case a.bits(29, 27) == 5 && a.bits(25, 25) == 0:
		return a.pair()
	case a.bits(29, 27) == 7 && a.bits(25, 25) == 0:
		return a.register()
	}
	return false
}

// exclusive decodes load/store exclusive, load-acquire, store-release, and compare and swap:
//
//	size 001000 o2 L o1 Rs o0 Rt2 Rn Rt
//
//	88dffc20    ldar w0, [x1]              o2 1, L 1, o0 1
//	885ffc20    ldaxr w0, [x1]             o2 0, L 1, o0 1
//	88007c41    stxr w0, w1, [x2]          o2 0, L 0: w0 gets the result
//	88e0fc41    casal w0, w1, [x2]         o2 1, L 1, o1 1: one access that reads and writes
func (a *a64insn) exclusive() bool {
	size, o2, load, o1 := a.bits(31, 30), a.bits(23, 23), a.bits(22, 22), a.bits(21, 21)
	switch {
	case o2 == 1 && o1 == 1: // compare and swap
		a.access(ReadWrite, 1<<size, 0)
	case o1 == 1 && size < 2: // of a pair
		a.access(ReadWrite, 8<<size, 0)
	default: // o1: of a pair
		a.access(loadKind(load), 1<<size<<o1, 0)
	}
	return true
}

// ordered decodes ldapur and stlur:
//
//	size 011001 opc 0 imm9 00 Rn Rt
func (a *a64insn) ordered() bool {
	size, opc := a.bits(31, 30), a.bits(23, 22)
	if isAllocated(size, opc) {
		a.access(loadKind(min(opc, 1)), 1<<size, a.signed(20, 12))
	}
	return isAllocated(size, opc)
}

// isAllocated reports whether there is an instruction, by size and opc.
//
//	size    opc 0 (store), 1 (load)    opc 2             opc 3
//	0       b, w register              sb, x register    sb, w register
//	1       h, w register              sh, x register    sh, w register
//	2       w register                 sw, x register    not allocated
//	3       x register                 not allocated     not allocated
func isAllocated(size, opc uint32) bool { return opc < 2 || size+opc < 5 }

// literal decodes ldr from an address relative to pc:
//
//	opc 011 V 00 imm19 Rt
//
// Example: 58000040 is "ldr x0, #8", the 8 bytes that are 8 bytes after the instruction.
func (a *a64insn) literal() bool {
	opc, v, offset := a.bits(31, 30), a.bits(26, 26) == 1, a.signed(23, 5)*4
	size := 4
	switch {
	case opc == 3:
		return !v // a prefetch, which never fails
	case v:
		size = 4 << opc
	case opc == 1:
		size = 8
	}
	a.in.add(Access{Address: a.m.pc + uint64(offset), AddressKnown: true, Size: size, Kind: Read, Base: Register{"pc", a.m.pc}, Offset: offset})
	return true
}

// pair decodes ldp, stp, ldnp, stnp and ldpsw:
//
//	opc 101 V type L imm7 Rt2 Rn Rt
//
//	a9bf7bfd    stp x29, x30, [sp, #-16]!     16 bytes at sp - 16: how most functions begin
//	a8c17bfd    ldp x29, x30, [sp], #16       16 bytes at sp: how they end
func (a *a64insn) pair() bool {
	opc, v, typ, load := a.bits(31, 30), a.bits(26, 26) == 1, a.bits(24, 23), a.bits(22, 22)
	size := 4 << opc
	switch {
	case opc == 3, opc == 1 && !v && (load == 0 || typ == 0):
		return false // or stgp, which stores a tag too
	case !v && opc == 1:
		size = 4 // ldpsw
	case !v && opc == 2:
		size = 8
	}
	offset := a.signed(21, 15) * int64(size)
	if typ == 1 { // post-index
		offset = 0
	}
	a.access(loadKind(load), 2*size, offset)
	return true
}

// register decodes loads and stores of one register with all kinds of offsets, and the atomics:
//
//	size 111 V 0 scaled opc …
//
// The bits 24, 21 and 11 to 10 select the form of the address:
//
//	24    21    11-10
//	1                    [Rn, #imm12 * size]
//	0     0     00       [Rn, #imm9]                  ldur
//	0     0     01       [Rn], #imm9                  post-index
//	0     0     10       [Rn, #imm9]                  ldtr
//	0     0     11       [Rn, #imm9]!                 pre-index
//	0     1     00       atomic operations
//	0     1     10       [Rn, Rm, extend #amount]
func (a *a64insn) register() bool {
	size, v, opc := a.bits(31, 30), a.bits(26, 26) == 1, a.bits(23, 22)
	scaled, form := a.bits(24, 24) == 1, a.bits(11, 10)
	if !scaled && a.bits(21, 21) == 1 && form != 2 {
		return form == 0 && !v && a.atomic()
	}
	kind := loadKind(min(opc, 1))
	switch {
	case v:
		if kind = loadKind(opc & 1); opc > 1 && size != 0 {
			return false
		} else if opc > 1 {
			size = 4
		}
	case size == 3 && opc == 2: // a prefetch, which never fails
		a.in.use(a.xreg(a.rn))
		return scaled || form == 0 || form == 2 && a.bits(21, 21) == 1
	case !isAllocated(size, opc):
		return false
	}
	switch {
	case scaled:
		a.access(kind, 1<<size, int64(a.bits(21, 10))<<size)
	case a.bits(21, 21) == 1:
		return a.registerOffset(kind, size)
	case form == 2 && v:
		return false
	case form == 1:
		a.access(kind, 1<<size, 0)
	default:
		a.access(kind, 1<<size, a.signed(20, 12))
	}
	return true
}

// registerOffset decodes an access at [Rn, Rm, extend #amount]. The amount is size, the logarithm of
// the bytes, or 0.
//
//	f8627820    ldr x0, [x1, x2, lsl #3]      option 3, S 1: x1 + x2 * 8
//	f8625820    ldr x0, [x1, w2, uxtw #3]     option 2, S 1: x1 + the low half of x2 * 8
//	38626820    ldrb w0, [x1, x2]             option 3, S 0
func (a *a64insn) registerOffset(kind Kind, size uint32) bool {
	rm, option, amount := a.bits(20, 16), a.bits(15, 13), size*a.bits(12, 12)
	// Indexes of 8 and 16 bits do not exist for loads and stores.
	if option&2 == 0 {
		return false
	}
	index := Register{"xzr", 0}
	if rm != 31 {
		index = a.xreg(rm)
	}
	switch option {
	// The low half of the index register, zero-extended or sign-extended.
	case 2:
		index.Value = uint64(uint32(index.Value))
	case 6:
		index.Value = uint64(int32(uint32(index.Value)))
	}
	base := a.xreg(a.rn)
	a.in.add(Access{Address: base.Value + index.Value<<amount, AddressKnown: true, Size: 1 << size, Kind: kind, Base: base, Index: index, Scale: 1 << amount})
	return true
}

// atomic decodes the atomic operations of Armv8.1:
//
//	size 111 0 00 A R 1 Rs o3 opc 00 Rn Rt
//
// Example: b8e00041 is "ldaddal w0, w1, [x2]": size 2, A 1, R 1, Rs 0, o3 0, opc 0 (add).
func (a *a64insn) atomic() bool {
	size, o3, opc := a.bits(31, 30), a.bits(15, 15), a.bits(14, 12)
	switch {
	case o3 == 1 && opc == 4 && a.bits(23, 16) == 0xbf: // ldapr
		a.access(Read, 1<<size, 0)
	case o3 == 0 || opc == 0:
		a.access(ReadWrite, 1<<size, 0)
	default:
		return false
	}
	return true
}

// structures decodes loads and stores of several vector registers, or of one element of each (ld1
// to ld4, st1 to st4):
//
//	0 Q 001100 post L 0 Rm opcode size Rn Rt      0 Q 001101 post L R Rm opcode S size Rn Rt
//
//	4cdf7000    ld1 {v0.16b}, [x0], #16    the form of several registers: opcode 0111, one register
//	0d400420    ld1 {v0.b}[1], [x1]        the form of one element: Q, S and size are its number
func (a *a64insn) structures() bool {
	q, single, post, load := a.bits(30, 30), a.bits(24, 24) == 1, a.bits(23, 23) == 1, a.bits(22, 22)
	size := a.bits(11, 10)
	if !post && a.bits(20, 16) != 0 {
		return false
	}
	kind := loadKind(load)
	if !single {
		// By opcode: the number of registers, and of adjacent elements.
		e := [16][2]int{0: {4, 4}, 2: {4, 1}, 4: {3, 3}, 6: {3, 1}, 7: {1, 1}, 8: {2, 2}, 10: {2, 1}}[a.bits(15, 12)]
		if a.bits(21, 21) != 0 || e[0] == 0 || e[1] > 1 && size == 3 && q == 0 {
			return false
		}
		a.access(kind, e[0]*8<<q, 0)
		return true
	}
	opcode, s := a.bits(15, 13), a.bits(12, 12)
	element := 1 << (opcode >> 1)
	switch opcode >> 1 {
	case 1:
		if size&1 != 0 {
			return false
		}
	case 2:
		if size == 1 && s == 0 {
			element = 8
		} else if size != 0 {
			return false
		}
	case 3: // one element to all lanes
		if load == 0 || s != 0 {
			return false
		}
		element = 1 << size
	}
	a.access(kind, (int(opcode&1)<<1+int(a.bits(21, 21))+1)*element, 0)
	return true
}

// zeroLine decodes dc zva, which clears a block. Its size is 64 bytes on nearly all processors.
func (a *a64insn) zeroLine() {
	const block = 64
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
// Example: 94000010 is "bl" to 64 bytes on: imm26 counts instructions of 4 bytes from the branch itself.
func (a *a64insn) branch() {
	how := [...]string{"jump", "call"}[a.bits(31, 31)]
	a.in.jump = &Jump{Target: a.m.pc + uint64(a.signed(25, 0)*4), How: how}
}

// branchRegister decodes br, blr and ret, also those that authenticate the pointer first:
//
//	1101011 Z 0 op 11111 0000 A M Rn Rm
//
//	d63f0100    blr x8      Z 0, op 01
//	d65f03c0    ret         Z 0, op 10, Rn 30
//	d65f0bff    retaa       A 1: x30 is authenticated with key A
func (a *a64insn) branchRegister() {
	op, auth := a.bits(22, 21), a.bits(11, 11) == 1
	if a.bits(23, 23) != 0 || a.bits(20, 12) != 0x1f0 || op > 2 || a.in.text == "" {
		return
	}
	if auth && op == 2 {
		a.rn = 30
	}
	reg := Register{Name: "xzr"}
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

// exception decodes brk and hlt:
//
//	11010100 opc imm16 000 LL
func (a *a64insn) exception() {
	switch a.w &^ (0xffff << 5) {
	case 0xd4200000:
		a.in.trap = true
		// clang's code checks a pointer that it authenticated, and stops at brk 0xc470 plus the key
		// (LLVM, AArch64PointerAuth).
		a.in.authenticates = a.bits(20, 5)&^3 == 0xc470
	case 0xd4400000:
		a.in.trap = true
	}
}
