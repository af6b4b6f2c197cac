// Package disasm reads machine instructions: their lengths, and their words as people who work on
// the processor write them.
package disasm

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/arch/arm/armasm"
	"golang.org/x/arch/loong64/loong64asm"
	"golang.org/x/arch/ppc64/ppc64asm"
	"golang.org/x/arch/riscv64/riscv64asm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/crashpane/crashpane/core/cpu"
)

// Longest is the size in bytes of the longest instruction of any processor: x86's limit.
const Longest = 15

// Inst is an instruction.
type Inst struct {
	Len int // in bytes, at least 1 and at most what was given
	// Text is the instruction in Intel's syntax on x86 and amd64, in that of the GNU assembler
	// elsewhere. It is "" where the bytes are not an instruction that the decoder knows; Len is then that
	// of the smallest instruction.
	Text string
	// Target is where a jump or a call goes, if HasTarget: if its bytes say it.
	Target    uint64
	HasTarget bool
	Call      bool
	// Data is the address of an operand that the bytes say: relative to the instruction, or on x86 absolute. It is 0 for
	// none.
	Data uint64
}

// Knows reports whether there is a decoder for a processor. Code of 32-bit arm may be Thumb code,
// which is not decoded.
func Knows(arch *cpu.Arch, thumb bool) bool { return arch != nil && !thumb && decoderOf(arch) != nil }

// Decode decodes the instruction at the beginning of code, which is at an address. code should have
// Longest bytes, or end where the memory does, and must not be empty.
func Decode(arch *cpu.Arch, code []byte, at uint64, order binary.ByteOrder, thumb bool) Inst {
	in := Inst{Len: min(len(code), max(1, arch.JumpAlign))}
	decode := decoderOf(arch)
	if decode == nil || thumb {
		return in
	}
	if arch.LittleCode {
		order = binary.LittleEndian
	}
	var room [Longest + 1]byte // some decoders read past the end of what they are given
	copy(room[:], code[:min(len(code), Longest)])
	if found := decode(room[:], at, order); found.Len > 0 && found.Len <= len(code) && found.Text != "" {
		in = found
		if arch.Instructions != cpu.DecodedX86 { // whose instructions say it themselves
			in.follow(arch, code[:in.Len], at, order)
		}
	}
	return in
}

// follow finds out where an instruction goes.
func (in *Inst) follow(arch *cpu.Arch, code []byte, at uint64, order binary.ByteOrder) {
	var before [cpu.MaxCallBytes]byte
	next := at + uint64(len(code))
	if end := before[:arch.CallBytes]; len(code) <= len(end) {
		copy(end[len(end)-len(code):], code)
		if in.Call = arch.IsCall(end, next, order); in.Call && arch.Target != nil {
			in.goes(arch.Target(end, next, order))
			return
		}
	}
	var padded [cpu.MaxJumpBytes]byte
	if arch.Jump != nil && !in.HasTarget && len(code) <= len(padded) {
		copy(padded[:], code)
		in.goes(arch.Jump(padded[:], at, order))
	}
}

// goes notes where an instruction goes, if that is known.
func (in *Inst) goes(target uint64, known bool) {
	if known {
		in.Target, in.HasTarget = target, true
	}
}

// relative are the jumps of RISC-V and LoongArch, whose decoders write as the last operand how far
// they go: "beqz a5,8".
var relative = strings.Fields("b bl beq bne blt bge bltu bgeu beqz bnez blez bgez bltz bgtz bgt ble bgtu bleu bceqz bcnez j jal")

// nameTarget writes the address of the target there.
func (in *Inst) nameTarget(at uint64) {
	name, _, _ := strings.Cut(in.Text, " ")
	last := strings.LastIndexAny(in.Text, ", ") + 1
	n, err := strconv.ParseInt(in.Text[last:], 0, 64)
	if err == nil && slices.Contains(relative, name) {
		in.goes(at+uint64(n), true)
		in.Text = in.Text[:last] + "0x" + strconv.FormatUint(in.Target, 16)
	}
}

// decoder decodes one instruction: its length in bytes and its text, on x86 also where it goes.
type decoder func(code []byte, at uint64, order binary.ByteOrder) Inst

// decoderOf is a switch and no table, so that a program that needs one decoder links no other.
func decoderOf(arch *cpu.Arch) decoder {
	switch arch {
	case cpu.X86, cpu.AMD64:
		return func(code []byte, at uint64, _ binary.ByteOrder) Inst {
			x, ok := DecodeX86(code, 8*arch.WordSize)
			if !ok {
				return Inst{}
			}
			in := Inst{Len: x.Len, Text: x.Text(at), Call: x.Op == x86asm.CALL}
			if rel, ok := x.Args[0].(x86asm.Rel); ok {
				in.goes(arch.Mask(at+uint64(x.Len)+uint64(int64(rel))), true)
			}
			for _, a := range x.Args {
				switch m, _ := a.(x86asm.Mem); {
				case m.Segment != 0 || m.Index != 0:
				case m.Base == x86asm.RIP:
					in.Data = arch.Mask(at + uint64(x.Len) + uint64(m.Disp))
				case m.Base == 0 && m.Disp != 0 && arch == cpu.X86:
					in.Data = arch.Mask(uint64(m.Disp))
				}
			}
			return in
		}
	case cpu.ARM64:
		return func(code []byte, at uint64, _ binary.ByteOrder) Inst { return DecodeA64(code, at) }
	case cpu.ARM:
		return arm
	case cpu.PPC, cpu.PPC64:
		return ppc
	case cpu.RISCV64:
		return riscv
	case cpu.LoongArch64:
		return loongArch
	}
	return nil
}

func arm(code []byte, at uint64, _ binary.ByteOrder) Inst {
	i, err := armasm.Decode(code, armasm.ModeARM)
	if err != nil {
		return Inst{}
	}
	// armasm writes how far a target is from the next instruction.
	return Inst{Len: i.Len, Text: absolute(armasm.GNUSyntax(i), at+4)}
}

func ppc(code []byte, at uint64, order binary.ByteOrder) Inst {
	i, err := ppc64asm.Decode(code, order)
	if err != nil {
		return Inst{}
	}
	return Inst{Len: i.Len, Text: ppc64asm.GNUSyntax(i, at)}
}

func riscv(code []byte, at uint64, _ binary.ByteOrder) Inst {
	i, err := riscv64asm.Decode(code)
	if err != nil {
		return Inst{}
	}
	in := Inst{Len: i.Len, Text: riscvNames().Replace(riscv64asm.GNUSyntax(i))}
	in.nameTarget(at)
	return in
}

// riscvNames writes registers by the names that the calling convention gives them (RISC-V ABIs
// Specification, section 1.1).
var riscvNames = sync.OnceValue(func() *strings.Replacer {
	names := strings.Fields("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6")
	var pairs []string
	for i := len(names) - 1; i >= 0; i-- { // x1 after x10
		for _, before := range []string{" ", ",", "("} {
			pairs = append(pairs, before+"x"+strconv.Itoa(i), before+names[i])
		}
	}
	return strings.NewReplacer(pairs...)
})

func loongArch(code []byte, at uint64, _ binary.ByteOrder) Inst {
	i, err := loong64asm.Decode(code)
	if err != nil {
		return Inst{}
	}
	in := Inst{Len: 4, Text: loong64asm.GNUSyntax(i)}
	in.nameTarget(at)
	return in
}
