// Package arm64text spells the instructions of arm64 that core/analysis has no words for: those that neither access memory nor branch. Its tables are
// large, so the page's first program does without them.
package arm64text

import (
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/crashpane/crashpane/core/cpu"
)

// Spell is the instruction at the beginning of code in the GNU assembler's words; "" if it is none of arm64, or not known.
func Spell(arch *cpu.Arch, code []byte) string {
	if arch != cpu.ARM64 || len(code) < 4 {
		return ""
	}
	var p [4]byte
	binary.LittleEndian.PutUint32(p[:], binary.LittleEndian.Uint32(code)) // its decoder reads what lies behind
	i, err := arm64asm.Decode(p[:])
	if err != nil || i.Op == 0 {
		return ""
	}
	return arm64asm.GNUSyntax(i)
}
