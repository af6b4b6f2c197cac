package session

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// TestArgumentsOfProcessors: a processor has a row of inRegisters, or is listed here. Of those that are, the words
// of a stack show no arguments.
func TestArgumentsOfProcessors(t *testing.T) {
	without := []*cpu.Arch{cpu.MIPS, cpu.MIPS64, cpu.PPC, cpu.PPC64, cpu.SPARC, cpu.S390X}
	for _, a := range cpu.All() {
		ok := false
		for _, row := range inRegisters {
			ok = ok || row.arch == a
		}
		if ok == slices.Contains(without, a) {
			t.Errorf("%s: a row of inRegisters: %v; listed as without one: %v", a.Name, ok, ok)
		}
	}
}
