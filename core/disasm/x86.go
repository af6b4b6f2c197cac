package disasm

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/crashpane/crashpane/core/cpu"
)

// X86 is an instruction of x86 or amd64. The displacements of its memory operands have their sign.
type X86 struct {
	x86asm.Inst
	Name   string // of one that x86asm does not know; its Op and operands are then those of another
	Vector bool   // it has a VEX, EVEX or XOP prefix
}

// whole are instructions without operands that x86asm does not know or counts too many bytes for.
var whole = []struct {
	code, name string
	vector     bool
}{
	{"\xf3\x0f\x1e\xfa", "endbr64", false}, {"\xf3\x0f\x1e\xfb", "endbr32", false},
	{"\x0f\x01\xee", "rdpkru", false}, {"\x0f\x01\xef", "wrpkru", false},
	{"\xc5\xf8\x77", "vzeroupper", true}, {"\xc5\xfc\x77", "vzeroall", true},
}

// like are instructions that x86asm does not know, with the form of one that it knows: opcodes,
// after a mandatory prefix and REX, and the register field of ModRM, -1 for any.
//
//	66 48 0f 38 f6 c2   adcx rax, rdx
//	f2 48 0f 38 f1 c2   crc32 rax, rdx
var like = []struct {
	name, prefix, opcode string
	reg                  int8
	as, asPrefix, asCode string
	asReg                byte
}{
	{"adcx", "\x66", "\x0f\x38\xf6", -1, "crc32", "\xf2", "\x0f\x38\xf1", 0},
	{"adox", "\xf3", "\x0f\x38\xf6", -1, "crc32", "\xf2", "\x0f\x38\xf1", 0},
	{"rdseed", "", "\x0f\xc7", 7, "rdrand", "", "\x0f\xc7", 6},
	{"rdsspd", "\xf3", "\x0f\x1e", 1, "rdrand", "", "\x0f\xc7", 6},
	{"incsspd", "\xf3", "\x0f\xae", 5, "rdrand", "", "\x0f\xc7", 6},
}

// DecodeX86 decodes one instruction of 32- or 64-bit code, by mode. ok is false if the bytes are no
// instruction, no known one, or not all of one.
//
// golang.org/x/arch/x86/x86asm decodes; this adds the instructions that it lacks and puts right
// what it does not: addresses relative to rip, segments and ignored bits of vector instructions,
// signs of displacements, encodings that the processor refuses.
func DecodeX86(code []byte, mode int) (x X86, ok bool) {
	code = code[:min(len(code), Longest)]
	for _, w := range whole {
		if bytes.HasPrefix(code, []byte(w.code)) {
			return X86{x86asm.Inst{Op: x86asm.NOP, Len: len(w.code), Mode: mode}, w.name, w.vector}, true
		}
	}
	if x, ok = decodeLike(code, mode); ok {
		return x, true
	}
	at, vector := vectorPrefix(code, mode)
	if vector {
		x, ok = decodeVector(code, at, mode)
	} else {
		x, ok = decodeX86(code, mode)
	}
	if !ok {
		return X86{}, false
	}
	for i, a := range x.Args {
		if m, isMem := a.(x86asm.Mem); isMem {
			m.Disp = x.disp(m)
			m.Segment = x.segment(m)
			x.Args[i] = m
		}
	}
	return x, true
}

// decodeX86 decodes an instruction of x86asm, without those that the processor refuses.
func decodeX86(code []byte, mode int) (x X86, ok bool) {
	i, err := x86asm.Decode(code, mode)
	if err != nil || i.Op == 0 || i.Len <= 0 || i.Len > len(code) {
		return x, false
	}
	for _, p := range i.Prefix {
		if p&x86asm.PrefixInvalid != 0 {
			return x, false // a lock prefix that is not allowed
		}
	}
	// "mov cs, x" is an invalid opcode: only far jumps and calls load cs.
	return X86{Inst: i}, i.Op != x86asm.MOV || i.Args[0] != x86asm.Arg(x86asm.CS)
}

// decodeLike decodes an instruction of like.
func decodeLike(code []byte, mode int) (x X86, ok bool) {
	at, rex, prefix, size := 0, []byte(nil), "", []byte(nil)
	for ; at < len(code) && strings.IndexByte("\x66\x67\xf3", code[at]) >= 0; at++ { // assemblers pad with more
		if code[at] == 0x67 { // the size of addresses
			size = code[at : at+1]
			continue
		}
		prefix = string(code[at : at+1])
	}
	if mode == 64 && at < len(code) && code[at]&0xf0 == 0x40 {
		rex = code[at : at+1]
		at++
	}
	for _, l := range like {
		if prefix != l.prefix && !(l.prefix == "" && prefix == "\x66") || !bytes.HasPrefix(code[at:], []byte(l.opcode)) {
			continue
		}
		rest := slices.Clone(code[at+len(l.opcode):])
		switch {
		case len(rest) == 0 || l.reg >= 0 && (rest[0]>>6 != 3 || rest[0]>>3&7 != byte(l.reg)):
			continue
		case l.reg >= 0:
			rest[0] = rest[0]&^0x38 | l.asReg<<3
		}
		if rest[0]>>6 == 3 { // it has no address
			size = nil
		}
		same := slices.Concat(size, []byte(l.asPrefix), rex, []byte(l.asCode), rest)
		if x, ok = decodeX86(same, mode); ok && strings.EqualFold(x.Op.String(), l.as) {
			x.Name = l.name
			if len(rex) > 0 && rex[0]&8 != 0 && strings.HasSuffix(l.name, "sspd") {
				x.Name = l.name[:len(l.name)-1] + "q"
			}
			x.Len += at + len(l.opcode) - len(size) - len(l.asPrefix) - len(rex) - len(l.asCode)
			return x, x.Len <= len(code)
		}
	}
	return x, false
}

// vectorPrefix finds a VEX or EVEX prefix after legacy prefixes (Intel's SDM, volume 2, sections
// 2.3 and 2.7). In 32-bit code its first byte is also the opcode of lds, les or bound, whose ModRM
// byte must have a memory operand: it is a prefix if the next byte would not.
func vectorPrefix(p []byte, mode int) (at int, ok bool) {
	for at < len(p) && at < 4 {
		switch p[at] {
		case 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67:
			at++
			continue
		case 0xc4, 0xc5, 0x62:
			return at, at+1 < len(p) && (mode == 64 || p[at+1] >= 0xc0)
		case 0x8f: // XOP: the field that is a register of pop is not 0
			return at, at+1 < len(p) && p[at+1]&31 >= 8
		}
		break
	}
	return 0, false
}

// decodeVector decodes an instruction with a VEX, EVEX or XOP prefix, which is at an offset, after
// prefixes of a segment or of the size of addresses.
func decodeVector(code []byte, at, mode int) (x X86, ok bool) {
	if x, ok = decodePlainVector(code[at:], mode); !ok {
		return x, false
	}
	x.Len += at
	x.Vector = true
	for i, a := range x.Args {
		m, isMem := a.(x86asm.Mem)
		if !isMem {
			continue
		}
		for _, prefix := range code[:at] {
			switch prefix {
			case 0x64:
				m.Segment = x86asm.FS
			case 0x65:
				m.Segment = x86asm.GS
			case 0x67:
				m.Base, m.Index = half(m.Base), half(m.Index)
			}
		}
		x.Args[i] = m
	}
	return x, true
}

// half is the lower half of a general register; others stay.
func half(r x86asm.Reg) x86asm.Reg {
	if r >= x86asm.RAX && r <= x86asm.R15 {
		return r - x86asm.RAX + x86asm.EAX
	}
	return r
}

// decodePlainVector decodes an instruction that begins with a VEX, EVEX or XOP prefix.
func decodePlainVector(code []byte, mode int) (x X86, ok bool) {
	size := map[byte]int{0xc5: 2, 0xc4: 3, 0x8f: 3, 0x62: 4}[code[0]]
	if len(code) < size+2 {
		return x, false
	}
	if code[0] == 0x8f {
		return decodeXOP(code, mode)
	}
	x, ok = decodeX86(code, mode)
	// x86asm has one form of instructions that ignore W, and of scalar ones, which ignore L.
	for _, ignored := range []struct{ w, l byte }{{0x80, 0}, {0, 4}, {0x80, 4}} {
		if ok || size == 4 || size == 2 && ignored.w != 0 {
			continue
		}
		other := slices.Clone(code)
		if size == 3 {
			other[2] &^= ignored.w
		}
		other[size-1] &^= ignored.l
		x, ok = decodeX86(other, mode)
	}
	if modrm := code[size+1]; ok && mode == 64 && modrm&0xc7 == 5 {
		for i, a := range x.Args {
			if m, isMem := a.(x86asm.Mem); isMem {
				m.Base = x86asm.RIP
				x.Args[i] = m
			}
		}
	}
	return x, ok
}

// xopRotates are the instructions of AMD's XOP that programs have (OpenSSL's ChaCha20): rotations by
// a constant, in map 8.
var xopRotates = []string{"vprotb", "vprotw", "vprotd", "vprotq"}

// decodeXOP decodes an instruction of AMD's XOP (AMD64 Architecture Programmer's Manual, volume 6,
// section 1.2). It has the fields of a VEX prefix of three bytes with other maps. Its operands are
// decoded as those of a VEX instruction of the same form:
//
//	8f e8 78 c2 c0 07   vprotd xmm0, xmm0, 7
//	c4 e3 79 05 c0 07   vpermilpd xmm0, xmm0, 7
func decodeXOP(code []byte, mode int) (x X86, ok bool) {
	opcode := code[3]
	if code[1]&31 != 8 || opcode < 0xc0 || opcode > 0xc3 {
		return x, false
	}
	same := slices.Clone(code)
	same[0], same[1], same[2], same[3] = 0xc4, code[1]&^31|3, code[2]&4|0x79, 0x05
	x, ok = decodePlainVector(same, mode)
	x.Name = xopRotates[opcode-0xc0]
	return x, ok
}

// RegistersX86 are the registers of amd64 and x86 by the machine's numbers.
var RegistersX86 = map[*cpu.Arch][16]cpu.Reg{cpu.AMD64: numbers(cpu.AMD64, "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"),
	cpu.X86: numbers(cpu.X86, "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi")}

func numbers(a *cpu.Arch, names ...string) (out [16]cpu.Reg) {
	for i := range out {
		out[i] = cpu.NoReg
		if i < len(names) {
			out[i], _ = a.Lookup(names[i])
		}
	}
	return out
}

// PartX86 returns the register that an operand is a part of. ok is false if it is no general register.
func PartX86(arch *cpu.Arch, r x86asm.Reg) (o Operand, ok bool) {
	part := func(n x86asm.Reg, shift, bits int) (Operand, bool) {
		reg := RegistersX86[arch][n]
		return Operand{reg, shift, bits}, reg != cpu.NoReg
	}
	switch {
	case x86asm.AL <= r && r <= x86asm.BL:
		return part(r-x86asm.AL, 0, 8)
	case x86asm.AH <= r && r <= x86asm.BH: // the second bytes of the first four registers
		return part(r-x86asm.AH, 8, 8)
	case x86asm.SPB <= r && r <= x86asm.R15B: // spl, bpl, sil and dil are numbers 4 to 7
		return part(r-x86asm.SPB+4, 0, 8)
	case x86asm.AX <= r && r <= x86asm.R15W:
		return part(r-x86asm.AX, 0, 16)
	case x86asm.EAX <= r && r <= x86asm.R15L:
		return part(r-x86asm.EAX, 0, 32)
	case x86asm.RAX <= r && r <= x86asm.R15:
		return part(r-x86asm.RAX, 0, 64)
	}
	return Operand{}, false
}

// Text returns the instruction in Intel's syntax, as it is at address at.
//
//	mov dword ptr [rax+rcx*4-0x8], 0xffffffff
func (x *X86) Text(at uint64) string {
	if x.Name != "" && x.Op == x86asm.NOP {
		return x.Name
	}
	i := x.Inst
	// A status code in a 32-bit move is what a reader looks for: 0xc000000d, and no negative number.
	if v, ok := i.Args[1].(x86asm.Imm); ok && i.Op == x86asm.MOV && v < 0 {
		if r, reg := i.Args[0].(x86asm.Reg); i.MemBytes == 4 || reg && r >= x86asm.EAX && r <= x86asm.R15L {
			i.Args[1] = x86asm.Imm(uint32(v))
		}
	}
	s := scaled(x86asm.IntelSyntax(i, at, nil))
	s = strings.Replace(s, "[]", "[0x0]", 1) // x86asm leaves out a displacement of 0, where it is all there is, too
	if x.Op == x86asm.LEA {                  // which reads no memory
		s = strings.Replace(s, " ptr [", " [", 1)
	}
	if x.Name != "" {
		_, operands, _ := strings.Cut(s, " ")
		s = x.Name + " " + operands
	}
	return s
}

// scaled writes "rax*8" where x86asm writes "8*rax", which debuggers do not.
func scaled(s string) string {
	at := strings.IndexByte(s, '*')
	if at < 1 || strings.IndexByte("1248", s[at-1]) < 0 {
		return s
	}
	end := at + 1
	for end < len(s) && s[end] != '+' && s[end] != '-' && s[end] != ']' {
		end++
	}
	return s[:at-1] + s[at+1:end] + "*" + s[at-1:at] + s[end:]
}

// disp returns a displacement with its sign, which x86asm does not extend from 32 bits. Only moves
// with a 64-bit absolute address have more bits.
func (x *X86) disp(m x86asm.Mem) int64 {
	if x.Opcode>>24&^3 == 0xa0 && m.Base == 0 && m.Index == 0 && x.AddrSize == 64 {
		return m.Disp
	}
	return int64(int32(m.Disp))
}

// segment returns the segment register of an operand: in 64-bit code fs and gs alone have a base.
func (x *X86) segment(m x86asm.Mem) x86asm.Reg {
	if x.Mode == 64 && m.Segment != x86asm.FS && m.Segment != x86asm.GS {
		return 0
	}
	return m.Segment
}
