// Package arm64text spells the instructions of arm64 that core/analysis has no words for: those
// that neither access memory nor branch. Its tables are large, so the page's first program does
// without them, and without the instructions of other frames than the crash's: their code is mostly
// in binaries.
package arm64text

import (
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/cpu"
)

// At is analysis.At, with words for all instructions of arm64.
func At(d *core.Dump, regs *cpu.Regs, caller bool, function uint64) (in *analysis.Instruction, calls uint64, known bool) {
	if in, calls, known = analysis.At(d, regs, caller, function); in != nil && in.Text == "" {
		in.Text = Spell(regs.Arch, in.Bytes)
	}
	return in, calls, known
}

// Spell returns the instruction at the beginning of code as the GNU assembler spells it, or "" if
// it is unknown.
func Spell(arch *cpu.Arch, code []byte) string {
	if arch == nil || arch.Instructions != cpu.DecodedA64 || len(code) < 4 {
		return ""
	}
	var p [4]byte
	binary.LittleEndian.PutUint32(p[:], binary.LittleEndian.Uint32(code)) // its decoder reads the bytes after it
	i, err := arm64asm.Decode(p[:])
	if err != nil || i.Op == 0 {
		return ""
	}
	return arm64asm.GNUSyntax(i)
}
