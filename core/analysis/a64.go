package analysis

import (
	"fmt"
	"strconv"
	"strings"
)

// This decoder knows the arm64 instructions that can crash by what they access or where they jump:
// loads, stores, branches through registers, traps. golang.org/x/arch/arm64/arm64asm is no
// replacement: it hides the offsets of memory operands, lacks the atomics of Armv8.1 and pointer
// authentication, and would add 35 KB to the page's program. Tests compare the two. Other
// instructions have the text "" and no accesses.
//
// Fields in comments are as in the manual, from bit 31 down: "size 001000 o2 L o1 Rs o0 Rt2 Rn Rt".
//
// Source: Arm Architecture Reference Manual for A-profile (DDI 0487), section C4.1 "A64 instruction
// set encoding".

// a64 decodes the instruction w at the program counter.
//
// Example: f9400408 is "ldr x8, [x0, #8]": size 11, V 0, scaled 1, opc 01 (load), imm12 1 (times
// 8), Rn 0, Rt 8.
//
// The cases are the groups of section C4.1, by bits 28 to 25: x1x0 loads and stores, 0010 SVE, 101x
// branches, exceptions and system instructions. The other groups process data: they access no
// memory and have no text here.
func (m *machine) a64(w uint32) *decoded {
	in := &decoded{len: 4, authenticates: authenticates(w)}
	a := &a64insn{m: m, in: in, w: w, rt: w & 31, rn: w >> 5 & 31}
	switch {
	case w>>27&1 == 1 && w>>25&1 == 0:
		if !a.loadStore() {
			in.unknown = true
		}
	case w>>25&15 == 2: // SVE, whose loads and stores are not decoded
		in.unknown = true
	case w>>26&0x1f == 5:
		a.branch()
	case w&0xfe000000 == 0xd6000000:
		a.branchRegister()
	case w>>24 == 0xd4:
		a.exception()
	case w>>16 == 0:
		in.text, in.trap = fmt.Sprintf("udf #%d", w), true
	case w&^31 == 0xd50b7420:
		a.zeroLine()
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
	name := xname(n, true)
	v, _ := a.m.reg(name)
	return Register{name, v}
}

// xname returns a 64-bit register's name. 31 is sp, or xzr if sp is false.
func xname(n uint32, sp bool) string {
	switch {
	case n == 31 && sp:
		return "sp"
	case n == 31:
		return "xzr"
	}
	return "x" + strconv.Itoa(int(n))
}

// general returns a general register's name for a width in bytes: "x1" or "w1".
func general(n uint32, width int) string {
	s := xname(n, false)
	if width < 8 {
		return "w" + s[1:]
	}
	return s
}

// scalar returns a vector register's name for a scalar of a size in bytes: "b1", "h1", "s1", "d1",
// "q1".
func scalar(n uint32, size int) string {
	return "?bh?s???d???????q"[size:size+1] + strconv.Itoa(int(n))
}

// access adds the access at register rn plus an offset.
func (a *a64insn) access(kind Kind, size int, offset int64) {
	base := a.xreg(a.rn)
	a.in.add(Access{Address: base.Value + uint64(offset), AddressKnown: true, Size: size, Kind: kind, Base: base, Offset: offset})
}

// at returns the operand "[rn, #offset]".
func (a *a64insn) at(offset int64) string {
	s := "[" + xname(a.rn, true)
	if offset != 0 {
		s += ", #" + strconv.FormatInt(offset, 10)
	}
	return s + "]"
}

// say sets the instruction's text.
func (a *a64insn) say(name string, operands ...string) {
	a.in.text = name + " " + strings.Join(operands, ", ")
}

// loadKind returns the kind of access and the begin of the mnemonic of a load or store.
func loadKind(load bool) (Kind, string) {
	if load {
		return Read, "ld"
	}
	return Write, "st"
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
	size, o2, load, o1, o0 := a.bits(31, 30), a.bits(23, 23), a.bits(22, 22) == 1, a.bits(21, 21), a.bits(15, 15) == 1
	rs, rt2 := a.bits(20, 16), a.bits(14, 10)
	bytes := 1 << size
	suffix := [...]string{"b", "h", "", ""}[size]
	kind, name := loadKind(load)
	reg := general(a.rt, bytes)
	rel := func(l, s string) string { // acquire or release
		switch {
		case o0 && load:
			return l
		case o0:
			return s
		}
		return ""
	}
	switch {
	// Compare and swap: of one register, or (o2 0) of a pair.
	case o2 == 1 && o1 == 1, o2 == 0 && o1 == 1 && size < 2:
		name = "cas"
		if o2 == 0 {
			name, bytes, suffix = "casp", 8<<size, ""
			reg = general(a.rt, 4<<size) + ", " + general(a.rt+1, 4<<size)
		}
		if load {
			name += "a"
		}
		if o0 {
			name += "l"
		}
		other := general(rs, bytes)
		if o2 == 0 {
			other = general(rs, bytes/2) + ", " + general(rs+1, bytes/2)
		}
		a.say(name+suffix, other, reg, a.at(0))
		a.access(ReadWrite, bytes, 0)
	// Acquire and release without an exclusive monitor. Those of limited ordering have o0 0.
	case o2 == 1:
		if o0 {
			name += map[bool]string{true: "ar", false: "lr"}[load]
		} else {
			name += map[bool]string{true: "lar", false: "llr"}[load]
		}
		a.say(name+suffix, reg, a.at(0))
		a.access(kind, bytes, 0)
	// Exclusive: a store also has a register that gets the result, 0 or 1.
	default:
		operands := []string{reg}
		name += rel("a", "l") + "xr" + suffix
		if o1 == 1 {
			name = strings.TrimSuffix(name, "r") + "p"
			operands = append(operands, general(rt2, bytes))
			bytes *= 2
		}
		if !load {
			operands = append([]string{general(rs, 4)}, operands...)
		}
		a.say(name, append(operands, a.at(0))...)
		a.access(kind, bytes, 0)
	}
	return true
}

// ordered decodes ldapur and stlur:
//
//	size 011001 opc 0 imm9 00 Rn Rt
func (a *a64insn) ordered() bool {
	size, opc, offset := a.bits(31, 30), a.bits(23, 22), a.signed(20, 12)
	kind, name := Read, "ldapur"
	if opc == 0 {
		kind, name = Write, "stlur"
	}
	width, suffix, ok := registerForm(size, opc)
	if !ok || size == 3 && opc > 1 {
		return false
	}
	a.say(name+suffix, general(a.rt, width), a.at(offset))
	a.access(kind, 1<<size, offset)
	return true
}

// registerForm returns the width of the general register in bytes and the mnemonic's suffix, by
// size and opc.
//
//	size    opc 0 (store), 1 (load)    opc 2             opc 3
//	0       b, w register              sb, x register    sb, w register
//	1       h, w register              sh, x register    sh, w register
//	2       w register                 sw, x register    not allocated
//	3       x register                 not allocated     not allocated
func registerForm(size, opc uint32) (width int, suffix string, ok bool) {
	// Registers of 32 bits, but for 64-bit data and for loads that extend the sign to 64 bits (opc
	// 2).
	width = 4
	if size == 3 {
		width = 8
	}
	suffix = [...]string{"b", "h", "", ""}[size]
	switch opc {
	case 2:
		width, suffix = 8, [...]string{"sb", "sh", "sw", ""}[size]
	case 3:
		width, suffix = 4, [...]string{"sb", "sh", "", ""}[size]
	}
	return width, suffix, opc < 2 || size < 3 && !(opc == 3 && size == 2)
}

// literal decodes ldr from an address relative to pc:
//
//	opc 011 V 00 imm19 Rt
//
// Example: 58000040 is "ldr x0, #8", the 8 bytes that are 8 bytes after the instruction.
func (a *a64insn) literal() bool {
	opc, v, offset := a.bits(31, 30), a.bits(26, 26) == 1, a.signed(23, 5)*4
	size, name, reg := 4, "ldr", general(a.rt, 4)
	switch {
	case v && opc < 3:
		size = 4 << opc
		reg = scalar(a.rt, size)
	case opc == 1:
		size, reg = 8, general(a.rt, 8)
	case opc == 2:
		name, reg = "ldrsw", general(a.rt, 8)
	case opc == 3 && !v:
		a.say("prfm", prefetch(a.rt), fmt.Sprintf("#%d", offset)) // never fails
		return true
	case opc != 0:
		return false
	}
	a.say(name, reg, "#"+strconv.FormatInt(offset, 10))
	a.in.add(Access{Address: a.m.pc + uint64(offset), AddressKnown: true, Size: size, Kind: Read, Base: Register{"pc", a.m.pc}, Offset: offset})
	return true
}

// prefetch returns the name of a prefetch operation, such as "pldl1keep".
func prefetch(rt uint32) string {
	if rt&7 > 5 || rt>>3 > 2 {
		return "#" + strconv.Itoa(int(rt))
	}
	return [...]string{"pld", "pli", "pst"}[rt>>3] + "l" + strconv.Itoa(int(rt>>1&3)+1) + [...]string{"keep", "strm"}[rt&1]
}

// pair decodes ldp, stp, ldnp, stnp and ldpsw:
//
//	opc 101 V type L imm7 Rt2 Rn Rt
//
//	a9bf7bfd    stp x29, x30, [sp, #-16]!     16 bytes at sp - 16: how most functions begin
//	a8c17bfd    ldp x29, x30, [sp], #16       16 bytes at sp: how they end
func (a *a64insn) pair() bool {
	opc, v, typ, load := a.bits(31, 30), a.bits(26, 26) == 1, a.bits(24, 23), a.bits(22, 22) == 1
	rt2 := a.bits(14, 10)
	kind, name := loadKind(load)
	name += [...]string{"np", "p", "p", "p"}[typ]
	size := 4 << opc
	var one, two string
	switch {
	case v && opc < 3:
		one, two = scalar(a.rt, size), scalar(rt2, size)
	case v || opc == 3:
		return false
	case opc == 1 && (!load || typ == 0):
		return false // stgp, which stores a tag too
	default:
		size = 4
		if opc == 2 {
			size = 8
		}
		one, two = general(a.rt, size), general(rt2, size)
		if opc == 1 {
			name, one, two = "ldpsw", general(a.rt, 8), general(rt2, 8)
		}
	}
	a.indexed(name, one+", "+two, kind, 2*size, a.signed(21, 15)*int64(size), typ == 1, typ == 3)
	return true
}

// indexed adds an access with an immediate offset, in one of three forms:
//
//	[x0], #8     post: the access is at x0
//	[x0, #8]!    pre: the access is at x0 + 8
//	[x0, #8]     the access is at x0 + 8
func (a *a64insn) indexed(name, regs string, kind Kind, size int, offset int64, post, pre bool) {
	switch {
	case post:
		a.say(name, regs, a.at(0), "#"+strconv.FormatInt(offset, 10))
		offset = 0
	case pre:
		a.say(name, regs, "["+xname(a.rn, true)+", #"+strconv.FormatInt(offset, 10)+"]!")
	default:
		a.say(name, regs, a.at(offset))
	}
	a.access(kind, size, offset)
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
	kind, name := loadKind(opc != 0)
	bytes := 1 << size
	var reg, suffix string
	switch {
	case v:
		kind, name = loadKind(opc&1 == 1)
		if opc > 1 {
			if size != 0 {
				return false
			}
			bytes = 16
		}
		reg = scalar(a.rt, bytes)
	case size == 3 && opc == 2:
		name, reg = "prfm", prefetch(a.rt)
		if form == 0 && !scaled {
			name = "prfum"
		} else if form != 2 && !scaled {
			return false
		}
	default:
		width, s, ok := registerForm(size, opc)
		if !ok {
			return false
		}
		reg, suffix = general(a.rt, width), s
	}
	what := "r"
	if !scaled && a.bits(21, 21) == 0 {
		what = [...]string{"ur", "r", "tr", "r"}[form]
	}
	if name == "ld" || name == "st" {
		name += what + suffix
	} else {
		bytes = 0
	}
	switch {
	case scaled:
		unit := int64(max(bytes, 1))
		if bytes == 0 {
			unit = 8 // prfm
		}
		a.indexed(name, reg, kind, bytes, int64(a.bits(21, 10))*unit, false, false)
	case a.bits(21, 21) == 1:
		return a.registerOffset(name, reg, kind, bytes, size, v && opc > 1)
	default:
		if form == 2 && v {
			return false
		}
		a.indexed(name, reg, kind, bytes, a.signed(20, 12), form == 1, form == 3)
	}
	if bytes == 0 {
		a.in.accesses = a.in.accesses[:0] // a prefetch never fails
	}
	return true
}

// registerOffset decodes an access at [Rn, Rm, extend #amount].
//
//	f8627820    ldr x0, [x1, x2, lsl #3]      option 3, S 1: x1 + x2 * 8
//	f8625820    ldr x0, [x1, w2, uxtw #3]     option 2, S 1: x1 + the low half of x2 * 8
//	38626820    ldrb w0, [x1, x2]             option 3, S 0
func (a *a64insn) registerOffset(name, reg string, kind Kind, bytes int, size uint32, quad bool) bool {
	rm, option, shift := a.bits(20, 16), a.bits(15, 13), a.bits(12, 12)
	// Indexes of 8 and 16 bits do not exist for loads and stores.
	if option&2 == 0 {
		return false
	}
	amount := size
	if quad {
		amount = 4
	}
	index := a.xreg(rm)
	if rm == 31 {
		index = Register{"xzr", 0}
	}
	value := index.Value
	word, extend := xname(rm, false), "lsl"
	switch option {
	// The low half of the index register, zero-extended or sign-extended.
	case 2:
		value, word, extend = uint64(uint32(value)), general(rm, 4), "uxtw"
	case 6:
		value, word, extend = uint64(int32(uint32(value))), general(rm, 4), "sxtw"
	case 7:
		extend = "sxtx"
	}
	if shift == 0 {
		amount = 0
	}
	index.Value = value
	text := "[" + xname(a.rn, true) + ", " + word
	switch {
	case shift == 1:
		text += ", " + extend + " #" + strconv.Itoa(int(amount))
	case extend != "lsl":
		text += ", " + extend
	}
	a.say(name, reg, text+"]")
	base := a.xreg(a.rn)
	if bytes != 0 {
		a.in.add(Access{Address: base.Value + value<<amount, AddressKnown: true, Size: bytes, Kind: kind, Base: base, Index: index, Scale: 1 << amount})
	}
	return true
}

// atomic decodes the atomic operations of Armv8.1:
//
//	size 111 0 00 A R 1 Rs o3 opc 00 Rn Rt
//
// Example: b8e00041 is "ldaddal w0, w1, [x2]": size 2, A 1, R 1, Rs 0, o3 0, opc 0 (add).
func (a *a64insn) atomic() bool {
	size, acquire, release := a.bits(31, 30), a.bits(23, 23) == 1, a.bits(22, 22) == 1
	rs, o3, opc := a.bits(20, 16), a.bits(15, 15), a.bits(14, 12)
	bytes := 1 << size
	suffix := [...]string{"b", "h", "", ""}[size]
	order := ""
	if acquire {
		order = "a"
	}
	if release {
		order += "l"
	}
	switch {
	case o3 == 1 && opc == 4 && acquire && !release && rs == 31:
		a.say("ldapr"+suffix, general(a.rt, bytes), a.at(0))
		a.access(Read, bytes, 0)
		return true
	case o3 == 1 && opc == 0:
		a.say("swp"+order+suffix, general(rs, bytes), general(a.rt, bytes), a.at(0))
	case o3 == 0:
		name := [...]string{"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"}[opc]
		if a.rt == 31 && !acquire {
			a.say("st"+name+order+suffix, general(rs, bytes), a.at(0))
		} else {
			a.say("ld"+name+order+suffix, general(rs, bytes), general(a.rt, bytes), a.at(0))
		}
	default:
		return false
	}
	a.access(ReadWrite, bytes, 0)
	return true
}
