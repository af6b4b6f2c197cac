package analysis

import (
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/crashpane/crashpane/core/cpu"
)

// spell returns the instruction at the beginning of code as the GNU assembler spells it, or "" if
// it is unknown. It has the words for those of arm64 that neither access memory nor branch.
func spell(arch *cpu.Arch, code []byte) string {
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
