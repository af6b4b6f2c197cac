package analysis

import (
	"encoding/binary"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// a64Machine has x0 = 0x1000, x1 = 0x1010 and so on, sp = 0x8000 and pc = 0x400000.
func a64Machine() *machine {
	regs := &cpu.Regs{Arch: cpu.ARM64}
	for i := range 31 {
		regs.Set(cpu.Reg(i), 0x1000+0x10*uint64(i))
	}
	regs.Set(cpu.ARM64.SP, 0x8000)
	regs.Set(cpu.ARM64.PC, 0x400000)
	return &machine{arch: cpu.ARM64, regs: regs, pc: 0x400000}
}

// The texts are those of llvm-mc --disassemble -triple=aarch64 -mattr=+v8.4a,+pauth.
var a64Cases = []struct {
	word    uint32
	text    string
	kind    Kind
	addr    uint64
	size    int // -1: no access
	jump    uint64
	unknown bool
}{
	{0xf9400020, "ldr x0, [x1]", Read, 0x1010, 8, 0, false},
	{0xf9400c20, "ldr x0, [x1, #24]", Read, 0x1028, 8, 0, false},
	{0xb9000020, "str w0, [x1]", Write, 0x1010, 4, 0, false},
	{0x39400420, "ldrb w0, [x1, #1]", Read, 0x1011, 1, 0, false},
	{0x79800420, "ldrsh x0, [x1, #2]", Read, 0x1012, 2, 0, false},
	{0xf85f8c20, "ldr x0, [x1, #-8]!", Read, 0x1008, 8, 0, false},
	{0xf8408420, "ldr x0, [x1], #8", Read, 0x1010, 8, 0, false},
	{0xf85f8020, "ldur x0, [x1, #-8]", Read, 0x1008, 8, 0, false},
	{0xf8627820, "ldr x0, [x1, x2, lsl #3]", Read, 0x1010 + 0x1020*8, 8, 0, false},
	{0x38624820, "ldrb w0, [x1, w2, uxtw]", Read, 0x2030, 1, 0, false},
	{0x3dc00020, "ldr q0, [x1]", Read, 0x1010, 16, 0, false},
	{0xa9be7bfd, "stp x29, x30, [sp, #-32]!", Write, 0x7fe0, 16, 0, false},
	{0xa8c27bfd, "ldp x29, x30, [sp], #32", Read, 0x8000, 16, 0, false},
	{0xad400420, "ldp q0, q1, [x1]", Read, 0x1010, 32, 0, false},
	{0x58000040, "ldr x0, 0x400008", Read, 0x400008, 8, 0, false},
	{0xc85ffc20, "ldaxr x0, [x1]", Read, 0x1010, 8, 0, false},
	{0xc802fc20, "stlxr w2, x0, [x1]", Write, 0x1010, 8, 0, false},
	{0xc8dffc20, "ldar x0, [x1]", Read, 0x1010, 8, 0, false},
	{0xf8e20020, "ldaddal x2, x0, [x1]", ReadWrite, 0x1010, 8, 0, false},
	{0xb822003f, "stadd w2, [x1]", ReadWrite, 0x1010, 4, 0, false},
	{0xc8e2fc20, "casal x2, x0, [x1]", ReadWrite, 0x1010, 8, 0, false},
	{0x38bfc020, "ldaprb w0, [x1]", Read, 0x1010, 1, 0, false},
	{0x4c407020, "ld1 {v0.16b}, [x1]", Read, 0x1010, 16, 0, false},
	{0x4c9f0020, "st4 {v0.16b-v3.16b}, [x1], #64", Write, 0x1010, 64, 0, false},
	{0x4d40c820, "ld1r {v0.4s}, [x1]", Read, 0x1010, 4, 0, false},
	{0xd50b7421, "dc zva, x1", Write, 0x1000, 64, 0, false},
	{0xf9800020, "prfm pldl1keep, [x1]", 0, 0, -1, 0, false},
	{0xd61f0020, "br x1", 0, 0, -1, 0x1010, false},
	{0xd63f0020, "blr x1", 0, 0, -1, 0x1010, false},
	{0xd65f03c0, "ret", 0, 0, -1, 0x11e0, false},
	{0xd65f0bff, "retaa", 0, 0, -1, 0x11e0, false},
	{0xd63f083f, "blraaz x1", 0, 0, -1, 0x1010, false},
	{0x94000002, "bl 0x400008", 0, 0, -1, 0x400008, false},
	{0xd4200020, "brk #0x1", 0, 0, -1, 0, false},
	{0x00000000, "udf #0x0", 0, 0, -1, 0, false},
	{0xd4000001, "svc #0x0", 0, 0, -1, 0, false},
	{0x8b020020, "add x0, x1, x2", 0, 0, -1, 0, false},
	{0xd50b7a20, "dc cvac, x0", 0, 0, -1, 0, true},
	{0xa5400020, "", 0, 0, -1, 0, true}, // a load of SVE
}

func TestA64(t *testing.T) {
	for _, c := range a64Cases {
		d := a64At(c.word)
		if d.text != c.text || d.unknown != c.unknown {
			t.Errorf("%08x is %q (unknown %v), want %q (%v)", c.word, d.text, d.unknown, c.text, c.unknown)
		}
		switch {
		case c.size < 0 && len(d.accesses) != 0, c.size >= 0 && len(d.accesses) != 1:
			t.Errorf("%s: %d accesses", c.text, len(d.accesses))
		case c.size >= 0:
			if a := d.accesses[0]; a.Kind != c.kind || a.Address != c.addr || a.Size != c.size || !a.AddressKnown {
				t.Errorf("%s: %v of %d at %#x, want %v of %d at %#x", c.text, a.Kind, a.Size, a.Address, c.kind, c.size, c.addr)
			}
		}
		if c.jump != 0 && (d.jump == nil || d.jump.Target != c.jump) || c.jump == 0 && d.jump != nil {
			t.Errorf("%s: jump %+v, want %#x", c.text, d.jump, c.jump)
		}
	}
}

// TestA64Against compares random loads and stores with what disasm says of them in words: the
// direction, the base register and the offset.
func TestA64Against(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	compared := 0
	for range 100_000 {
		w := rng.Uint32()&^(1<<25) | 1<<27
		in := a64At(w)
		name, operands, _ := strings.Cut(in.text, " ")
		_, memory, inMemory := strings.Cut(operands, "[")
		if !inMemory || in.unknown || strings.Contains(memory, "[") { // of a vector's lane
			continue
		}
		compared++
		if strings.HasPrefix(name, "prf") {
			if len(in.accesses) > 0 {
				t.Errorf("%08x, %q, accesses memory", w, in.text)
			}
			continue
		}
		if len(in.accesses) != 1 {
			t.Errorf("%08x, %q, has %d accesses", w, in.text, len(in.accesses))
			continue
		}
		a := in.accesses[0]
		memory, after, _ := strings.Cut(memory, "]")
		base, offset, _ := strings.Cut(memory, ", ")
		n, err := strconv.ParseInt(strings.TrimPrefix(offset, "#"), 10, 64)
		kind := map[string]Kind{"ld": Read, "st": Write}[name[:2]]
		if readsAndWrites.MatchString(name) {
			kind = ReadWrite
		}
		switch {
		case a.Kind != kind, a.Base.Name != base, strings.HasPrefix(after, ", ") && a.Offset != 0, err == nil && a.Offset != n,
			(a.Index.Name != "") != (err != nil && offset != ""):
			t.Errorf("%08x, %q, accesses %+v", w, in.text, a)
		}
	}
	if compared < 10_000 {
		t.Errorf("only %d compared", compared)
	}
	t.Logf("%d instructions compared", compared)
}

// readsAndWrites are the names of atomic operations.
var readsAndWrites = regexp.MustCompile("^(cas|swp|(ld|st)(add|clr|eor|set|smax|smin|umax|umin))")

// a64At decodes an instruction.
func a64At(word uint32) *decoded {
	return a64Machine().a64(binary.LittleEndian.AppendUint32(nil, word))
}
