package compact

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// modeMask has the bits of a word that say which kind of frame it is. The upper four bits are flags
// of the entry and of exception handling.
const modeMask = 0x0f000000

// decoder makes the rules of an entry. If the word has none, note is the reason:
// "described in __eh_frame".
type decoder func(t *table, e entry, row *unwind.Row) (note string, err error)

var decoders = map[*cpu.Arch]decoder{cpu.X86: decodeX86, cpu.AMD64: decodeX86, cpu.ARM64: decodeARM64, cpu.ARM: decodeARM}

// inDWARF is the note of a function whose rules are in __eh_frame.
const inDWARF = "described in __eh_frame"

func fromReg(r cpu.Reg, off int64) unwind.Rule {
	return unwind.Rule{Kind: unwind.FromReg, Reg: r, Offset: off}
}
func atCFA(off int64) unwind.Rule { return unwind.Rule{Kind: unwind.AtCFA, Offset: off} }

// unknown is the note of a word of a mode that the processor does not have.
func unknown(word uint32) string { return fmt.Sprintf("unwind word 0x%08x of an unknown mode", word) }

// Modes of x86 and amd64, and their fields.
//
//	frame       rbp has been pushed and is the frame pointer; up to five registers are below it:
//	            bits 16-23 how many words below, bits 0-14 their numbers, three bits each
//	immediate   bits 16-23 are the frame's size in words, bits 10-12 how many registers were pushed, bits 0-9 their order
//	indirect    the size is in the "sub $n, %rsp" that bits 16-23 bytes after the start has as its operand, and bits 13-15 words
const (
	x86Frame     = 0x01000000
	x86Immediate = 0x02000000
	x86Indirect  = 0x03000000
	x86DWARF     = 0x04000000
)

// x86Saved are the registers that a word can name, from 1 on.
var x86Saved = map[*cpu.Arch][]string{
	cpu.X86:   {"ebx", "ecx", "edx", "edi", "esi", "ebp"},
	cpu.AMD64: {"rbx", "r12", "r13", "r14", "r15", "rbp"},
}

func decodeX86(t *table, e entry, row *unwind.Row) (string, error) {
	a, w := t.cfg.Arch, e.word
	size := int64(a.WordSize)
	names := x86Saved[a]
	save := func(n int, off int64) bool {
		if n < 1 || n > len(names) {
			return false
		}
		r, ok := a.Lookup(names[n-1])
		row.Saved = append(row.Saved, unwind.RegRule{Reg: r, Rule: atCFA(off)})
		return ok
	}
	row.RA = atCFA(-size)
	switch w & modeMask {
	case x86Frame:
		row.CFA = fromReg(a.FP, 2*size)
		row.Saved = append(row.Saved, unwind.RegRule{Reg: a.FP, Rule: atCFA(-2 * size)})
		at := -2*size - size*int64(w>>16&0xff)
		for n := w & 0x7fff; n != 0; n >>= 3 {
			if n&7 != 0 && !save(int(n&7), at) {
				return unknown(w), nil
			}
			at += size
		}
		return "", nil
	case x86Immediate, x86Indirect:
		frame := int64(w>>16&0xff) * size
		if w&modeMask == x86Indirect {
			n, err := t.operand(e.start + uint64(w>>16&0xff))
			if err != nil {
				return "", err
			}
			frame = n + int64(w>>13&7)*size
		}
		row.CFA = fromReg(a.SP, frame)
		order, ok := permuted(int(w>>10&7), int(w&0x3ff))
		if !ok {
			return fmt.Sprintf("unwind word 0x%08x with an order of registers that does not exist", w), nil
		}
		at := -size - size*int64(len(order))
		for _, n := range order {
			if !save(n, at) {
				return unknown(w), nil
			}
			at += size
		}
		return "", nil
	case x86DWARF:
		return inDWARF, nil
	}
	return unknown(w), nil
}

// operand reads the size of a frame, the 32-bit operand of an instruction at an RVA.
func (t *table) operand(rva uint64) (int64, error) {
	if t.cfg.Code == nil {
		return 0, fmt.Errorf("the frame's size is in an instruction at +0x%x, which is not there", rva)
	}
	p, err := t.cfg.Code(rva, 4)
	if err != nil {
		return 0, err
	}
	return int64(t.cfg.Order.Uint32(p)), nil
}

// permuted returns the numbers of the registers that were pushed, the last one first. The number of
// their order counts the orders of count of six things: each digit says which of those left it is.
//
//	two registers, order 7: 7/5 = 1 is the second of six, 2; 7%5 = 2 the third of the others, 4
func permuted(count, order int) (out []int, ok bool) {
	if count > 6 {
		return nil, false
	}
	left := []int{1, 2, 3, 4, 5, 6}
	weight := 1
	for n := 6 - count + 1; n < 6; n++ {
		weight *= n
	}
	for i := range count {
		digit := order / max(weight, 1)
		if digit >= len(left) {
			return nil, false
		}
		out = append(out, left[digit])
		left = append(left[:digit:digit], left[digit+1:]...)
		order %= max(weight, 1)
		if next := 5 - i; next > 0 {
			weight /= next
		}
	}
	return out, true
}

// Modes of arm64, and the pairs of registers that a word can say were saved, in the order of their
// bits and of their places: the first is next to the frame.
const (
	arm64Frameless = 0x02000000
	arm64DWARF     = 0x03000000
	arm64Frame     = 0x04000000
)

var arm64Pairs = []struct {
	bit  uint32
	x, y string
}{
	{0x001, "x19", "x20"}, {0x002, "x21", "x22"}, {0x004, "x23", "x24"}, {0x008, "x25", "x26"}, {0x010, "x27", "x28"},
	{0x100, "", ""}, {0x200, "", ""}, {0x400, "", ""}, {0x800, "", ""}, // d8 to d15
}

func decodeARM64(t *table, e entry, row *unwind.Row) (string, error) {
	a, w := t.cfg.Arch, e.word
	const size = 8
	at := int64(-size)
	switch w & modeMask {
	case arm64Frame:
		row.CFA, row.RA = fromReg(a.FP, 2*size), atCFA(-size)
		row.Saved = append(row.Saved, unwind.RegRule{Reg: a.FP, Rule: atCFA(-2 * size)})
		at = -3 * size
	case arm64Frameless:
		// The return address is in lr: a function that calls others has a frame or is described in
		// __eh_frame.
		row.CFA, row.RA, row.Topmost = fromReg(a.SP, int64(w>>12&0xfff)*16), fromReg(a.LR, 0), true
	case arm64DWARF:
		return inDWARF, nil
	default:
		return unknown(w), nil
	}
	for _, p := range arm64Pairs {
		if w&p.bit == 0 {
			continue
		}
		if p.x != "" {
			x, _ := a.Lookup(p.x)
			y, _ := a.Lookup(p.y)
			row.Saved = append(row.Saved, unwind.RegRule{Reg: x, Rule: atCFA(at)}, unwind.RegRule{Reg: y, Rule: atCFA(at - size)})
		}
		at -= 2 * size
	}
	return "", nil
}

// Modes of 32-bit arm (armv7k), whose frame pointer is r7. The registers that may be below the frame
// come in the order of their places.
const (
	armFrame  = 0x01000000
	armFrameD = 0x02000000
	armDWARF  = 0x04000000
)

var armSaved = []struct {
	bit  uint32
	name string
}{{0x4, "r6"}, {0x2, "r5"}, {0x1, "r4"}, {0x80, "r12"}, {0x40, "fp"}, {0x20, "r10"}, {0x10, "r9"}, {0x08, "r8"}}

func decodeARM(t *table, e entry, row *unwind.Row) (string, error) {
	a, w := t.cfg.Arch, e.word
	switch w & modeMask {
	case armFrame, armFrameD:
	case armDWARF:
		return inDWARF, nil
	default:
		return unknown(w), nil
	}
	r7, _ := a.Lookup("r7")
	// The arguments that were passed in registers may be pushed first.
	adjust := int64(w>>22&3) * 4
	row.CFA, row.RA = fromReg(r7, 8+adjust), atCFA(-4-adjust)
	row.Saved = append(row.Saved, unwind.RegRule{Reg: r7, Rule: atCFA(-8 - adjust)})
	at := -12 - adjust
	for _, s := range armSaved {
		if w&s.bit != 0 {
			r, _ := a.Lookup(s.name)
			row.Saved = append(row.Saved, unwind.RegRule{Reg: r, Rule: atCFA(at)})
			at -= 4
		}
	}
	return "", nil
}
