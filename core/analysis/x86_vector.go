package analysis

import (
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// x86asm ignores the VEX prefixes of AVX and decodes the legacy instruction with the same opcode
// byte, and it does not know EVEX (AVX-512). This decoder reads both as far as a crash needs: the
// memory operand of every instruction, whose encoding is the same for all, and the names of
// instructions that copy, compare and search memory.
//
// Source: Intel's SDM volume 2, sections 2.3 (VEX) and 2.7 (EVEX), and the opcode tables of
// appendix A.

// vectorRow is an instruction, by its prefix, map and opcode. op is the opcode, with the map in the
// upper byte if it is not map 1.
type vectorRow struct {
	pp   byte // 0 none, 1 66, 2 f3, 3 f2
	op   uint16
	form byte   // l: reg, mem · s: mem, reg · 3: reg, reg, mem
	size byte   // of the memory operand in bytes; 0 is the whole vector
	name string // with VEX; evex has the names with EVEX if they differ, by W
	evex [2]string
}

// vectorTable has the instructions whose names a crash needs: copies, comparisons, and what string
// functions use.
var vectorTable = []vectorRow{
	{0, 0x10, 'l', 0, "vmovups", none}, {0, 0x11, 's', 0, "vmovups", none},
	{1, 0x10, 'l', 0, "vmovupd", none}, {1, 0x11, 's', 0, "vmovupd", none},
	{2, 0x10, 'l', 4, "vmovss", none}, {2, 0x11, 's', 4, "vmovss", none},
	{3, 0x10, 'l', 8, "vmovsd", none}, {3, 0x11, 's', 8, "vmovsd", none},
	{0, 0x28, 'l', 0, "vmovaps", none}, {0, 0x29, 's', 0, "vmovaps", none},
	{1, 0x28, 'l', 0, "vmovapd", none}, {1, 0x29, 's', 0, "vmovapd", none},
	{0, 0x2b, 's', 0, "vmovntps", none}, {1, 0x2b, 's', 0, "vmovntpd", none}, {1, 0xe7, 's', 0, "vmovntdq", none},
	{1, 0x6f, 'l', 0, "vmovdqa", [2]string{"vmovdqa32", "vmovdqa64"}}, {1, 0x7f, 's', 0, "vmovdqa", [2]string{"vmovdqa32", "vmovdqa64"}},
	{2, 0x6f, 'l', 0, "vmovdqu", [2]string{"vmovdqu32", "vmovdqu64"}}, {2, 0x7f, 's', 0, "vmovdqu", [2]string{"vmovdqu32", "vmovdqu64"}},
	{3, 0x6f, 'l', 0, "", [2]string{"vmovdqu8", "vmovdqu16"}}, {3, 0x7f, 's', 0, "", [2]string{"vmovdqu8", "vmovdqu16"}},
	{1, 0xd6, 's', 8, "vmovq", none}, {2, 0x7e, 'l', 8, "vmovq", none},
	{1, 0x74, '3', 0, "vpcmpeqb", none}, {1, 0x75, '3', 0, "vpcmpeqw", none}, {1, 0x76, '3', 0, "vpcmpeqd", none},
	{1, 0x64, '3', 0, "vpcmpgtb", none}, {1, 0xda, '3', 0, "vpminub", none}, {1, 0xde, '3', 0, "vpmaxub", none},
	{1, 0xef, '3', 0, "vpxor", [2]string{"vpxord", "vpxorq"}}, {1, 0xeb, '3', 0, "vpor", [2]string{"vpord", "vporq"}},
	{1, 0xdb, '3', 0, "vpand", [2]string{"vpandd", "vpandq"}}, {1, 0xfc, '3', 0, "vpaddb", none}, {1, 0xf8, '3', 0, "vpsubb", none},
	{1, 0xfe, '3', 0, "vpaddd", none}, {1, 0xd4, '3', 0, "vpaddq", none}, {1, 0xfa, '3', 0, "vpsubd", none},
	{0, 0x58, '3', 0, "vaddps", none}, {1, 0x58, '3', 0, "vaddpd", none}, {2, 0x58, '3', 4, "vaddss", none}, {3, 0x58, '3', 8, "vaddsd", none},
	{0, 0x59, '3', 0, "vmulps", none}, {1, 0x59, '3', 0, "vmulpd", none}, {2, 0x59, '3', 4, "vmulss", none}, {3, 0x59, '3', 8, "vmulsd", none},
	{0, 0x5c, '3', 0, "vsubps", none}, {1, 0x5c, '3', 0, "vsubpd", none}, {2, 0x5c, '3', 4, "vsubss", none}, {3, 0x5c, '3', 8, "vsubsd", none},
	{0, 0x5e, '3', 0, "vdivps", none}, {1, 0x5e, '3', 0, "vdivpd", none}, {2, 0x5e, '3', 4, "vdivss", none}, {3, 0x5e, '3', 8, "vdivsd", none},
	{0, 0x57, '3', 0, "vxorps", none}, {0, 0x54, '3', 0, "vandps", none},
	{0, 0x2e, 'l', 4, "vucomiss", none}, {1, 0x2e, 'l', 8, "vucomisd", none}, {0, 0x2f, 'l', 4, "vcomiss", none}, {1, 0x2f, 'l', 8, "vcomisd", none},
	{1, 0x6e, 'l', 4, "vmovd", none}, {1, 0x7e, 's', 4, "vmovd", none}, // with W: vmovq, 8 bytes
	{1, 0x278, 'l', 1, "vpbroadcastb", none}, {1, 0x279, 'l', 2, "vpbroadcastw", none},
	{1, 0x258, 'l', 4, "vpbroadcastd", none}, {1, 0x259, 'l', 8, "vpbroadcastq", none},
	{1, 0x218, 'l', 4, "vbroadcastss", none}, {1, 0x219, 'l', 8, "vbroadcastsd", none}, {1, 0x21a, 'l', 16, "vbroadcastf128", none},
}

var none [2]string

// vector is a decoded VEX or EVEX instruction.
type vector struct {
	text    string // "" if it is not in the table
	len     int
	mem     x86asm.Mem
	hasMem  bool
	memSize int // in bytes, or 0 if unknown
	store   bool
}

// vectorPrefix finds a VEX or EVEX prefix after legacy prefixes. In 32-bit code its first byte is
// also the opcode of lds, les or bound, whose ModRM byte must have a memory operand: it is a prefix
// if the next byte would not.
func vectorPrefix(p []byte, mode int) (at int, ok bool) {
	for at < len(p) && at < 4 {
		switch p[at] {
		case 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67:
			at++
			continue
		case 0xc4, 0xc5, 0x62:
			return at, at+1 < len(p) && (mode == 64 || p[at+1] >= 0xc0)
		}
		break
	}
	return 0, false
}

// vexPrefix is the fields of a VEX or EVEX prefix, those that the encoding inverts turned back.
// Fields that a form of the prefix lacks are 0. The inverted bits are those marked ~ (SDM volume 2,
// figures 2-9 and 2-11):
//
//	VEX2  c5  ~R ~vvvv L pp
//	VEX3  c4  ~R ~X ~B mmmmm   W ~vvvv L pp
//	EVEX  62  ~R ~X ~B ~R' 0 mmm   W ~vvvv 1 pp   z LL b ~V' aaa
type vexPrefix struct {
	size            int  // in bytes
	evex            bool // 62
	r, r2, x, b     byte // high bits of the register numbers: r2 is R'
	m               byte // the opcode map
	w, l, pp        byte
	vvvv, v2        byte // the second register; v2 is V'
	mask            byte // aaa, the mask register
	zero, broadcast bool // z, b
}

// readVEX reads the prefix at the start of p. ok is false if fewer than two bytes follow it, or if
// no instruction has it.
//
// Example: c5 fe 6f 07 is "vmovdqu ymm0, ymmword ptr [rdi]". In fe, ~R is 1 and ~vvvv 1111, so that R
// and vvvv are 0; L is 1, 256 bits; pp is 10, prefix f3. 6f is the opcode, 07 the ModRM byte.
func readVEX(p []byte) (f vexPrefix, ok bool) {
	f.size = 2
	switch p[0] {
	case 0xc4:
		f.size = 3
	case 0x62:
		f.size = 4
	}
	if len(p) < f.size+2 {
		return f, false
	}
	f.r = ^p[1] >> 7
	switch p[0] {
	case 0xc5:
		f.m, f.vvvv, f.l, f.pp = 1, ^p[1]>>3&15, p[1]>>2&1, p[1]&3
	case 0xc4:
		f.x, f.b, f.m = ^p[1]>>6&1, ^p[1]>>5&1, p[1]&31
		f.w, f.vvvv, f.l, f.pp = p[2]>>7, ^p[2]>>3&15, p[2]>>2&1, p[2]&3
	default:
		f.evex = true
		f.x, f.b, f.r2, f.m = ^p[1]>>6&1, ^p[1]>>5&1, ^p[1]>>4&1, p[1]&7
		f.w, f.vvvv, f.pp = p[2]>>7, ^p[2]>>3&15, p[2]&3
		f.zero, f.l, f.broadcast, f.v2, f.mask = p[3]>>7 == 1, p[3]>>5&3, p[3]>>4&1 == 1, ^p[3]>>3&1, p[3]&7
	}
	return f, f.m >= 1 && f.m <= 3 && f.l <= 2
}

// decodeVector decodes the VEX or EVEX instruction at p. ok is false if there is none, or not all
// of it.
func decodeVector(p []byte, mode int) (v vector, ok bool) {
	at, ok := vectorPrefix(p, mode)
	if !ok {
		return v, false
	}
	var seg x86asm.Reg
	addr32 := mode == 32
	for _, c := range p[:at] {
		switch c {
		case 0x64:
			seg = x86asm.FS
		case 0x65:
			seg = x86asm.GS
		case 0x67:
			addr32 = true
		}
	}
	f, ok := readVEX(p[at:])
	if !ok {
		return v, false
	}
	at += f.size
	op := uint16(p[at])
	if f.m > 1 {
		op |= uint16(f.m) << 8
	}
	modrm := p[at+1]
	at += 2
	row := findVector(f.pp, op, f.evex)
	width := v.setSize(row, op, &f)
	if row != nil && row.form == 's' {
		v.store = true
	}
	if modrm>>6 != 3 {
		// In EVEX an 8-bit displacement is in units of the operand's size (disp8*N).
		unit := int64(1)
		if f.evex {
			unit = int64(width)
			switch {
			case f.broadcast:
				unit = 4 << f.w
			case row != nil && row.size != 0:
				unit = int64(v.memSize)
			}
		}
		var n int
		v.mem, n, ok = vectorMem(p[at:], modrm, f.x, f.b, addr32, mode, unit)
		if !ok {
			return v, false
		}
		v.hasMem = true
		v.mem.Segment = seg
		at += n
		if f.broadcast {
			v.memSize = 4 << f.w
		}
	}
	if f.m == 3 { // every instruction of this map has an immediate byte
		at++
	}
	if len(p) < at {
		return v, false
	}
	v.len = at
	// In map 1 these have one too: 70 to 73 shift and shuffle, c2 and c4 to c6 compare, insert,
	// extract and shuffle.
	if f.m == 1 && (op >= 0x70 && op <= 0x73 || op == 0xc2 || op >= 0xc4 && op <= 0xc6) {
		v.len++
	}
	if row != nil && v.hasMem && !f.broadcast {
		reg := modrm>>3&7 | f.r<<3 | f.r2<<4
		v.text = vectorText(row, &v, f.evex, f.w, width, reg, f.vvvv|f.v2<<4, f.mask, f.zero)
	}
	return v, true
}

// setSize sets memSize, and returns the width in bytes of the vector registers. row is nil for an
// instruction that is not in the table.
func (v *vector) setSize(row *vectorRow, op uint16, f *vexPrefix) (width int) {
	width = 16 << f.l
	v.memSize = width
	switch {
	case row == nil:
		v.memSize = 0
		if f.m > 1 && byte(op) >= 0xf0 { // bit manipulation of general registers
			v.memSize = 4 << f.w
		}
		return width
	case row.size == 0:
		return width
	}
	v.memSize = int(row.size)
	if row.name == "vmovd" && f.w == 1 {
		v.memSize = 8
	}
	if row.form != 'l' && (row.size == 4 || row.size == 8) || row.form == 'l' && op < 0x200 {
		width = 16 // a scalar: the vector length does not matter
	}
	return width
}

// findVector returns the row of an opcode, or nil. A row without a name is one of EVEX alone.
func findVector(pp byte, op uint16, evex bool) *vectorRow {
	for i := range vectorTable {
		row := &vectorTable[i]
		if row.pp == pp && row.op == op && (row.name != "" || evex) {
			return row
		}
	}
	return nil
}

// vectorMem reads the memory operand after a ModRM byte: SIB byte and displacement. unit is that of
// an 8-bit displacement.
//
// Example: 62 f1 7c 48 10 40 01 is "vmovups zmm0, zmmword ptr [rax+0x40]": the displacement 01 counts
// vectors of 64 bytes (SDM volume 2, section 2.7.5).
func vectorMem(p []byte, modrm, x, b byte, addr32 bool, mode int, unit int64) (m x86asm.Mem, n int, ok bool) {
	first := x86asm.RAX
	if addr32 {
		first = x86asm.EAX
	}
	mod, rm := modrm>>6, modrm&7
	dispSize := int([]byte{0, 1, 4}[mod])
	switch {
	case rm == 4:
		if len(p) < 1 {
			return m, 0, false
		}
		sib := p[0]
		n = 1
		if index := sib>>3&7 | x<<3; index != 4 {
			m.Index, m.Scale = first+x86asm.Reg(index), 1<<(sib>>6)
		}
		if sib&7 == 5 && mod == 0 {
			dispSize = 4
		} else {
			m.Base = first + x86asm.Reg(sib&7|b<<3)
		}
	case rm == 5 && mod == 0:
		dispSize = 4
		if mode == 64 {
			m.Base = x86asm.RIP
		}
	default:
		m.Base = first + x86asm.Reg(rm|b<<3)
	}
	if len(p) < n+dispSize {
		return m, 0, false
	}
	switch dispSize {
	case 1:
		m.Disp = int64(int8(p[n])) * unit
	case 4:
		m.Disp = int64(int32(uint32(p[n]) | uint32(p[n+1])<<8 | uint32(p[n+2])<<16 | uint32(p[n+3])<<24))
	}
	return m, n + dispSize, true
}

// vectorText returns the instruction in Intel's assembler.
func vectorText(row *vectorRow, v *vector, evex bool, w byte, width int, reg, second, mask byte, zero bool) string {
	name := row.name
	if evex && row.evex[w] != "" {
		name = row.evex[w]
	}
	if name == "vmovd" && w == 1 {
		name = "vmovq"
	}
	bank := "xyz"[width/32:width/32+1] + "mm"
	kind, masked := bank, ""
	if mask != 0 && evex {
		masked = "{k" + strconv.Itoa(int(mask)) + "}"
		if zero {
			masked += "{z}"
		}
	}
	if evex && strings.HasPrefix(name, "vpcmp") {
		kind, reg = "k", reg&7 // the result of an AVX-512 comparison is a mask register
	}
	mem := vectorMemText(v.memSize, v.mem)
	r := kind + strconv.Itoa(int(reg))
	switch row.form {
	case 's':
		return name + " " + mem + masked + ", " + r
	case 'l':
		return name + " " + r + masked + ", " + mem
	}
	return name + " " + r + masked + ", " + bank + strconv.Itoa(int(second)) + ", " + mem
}
