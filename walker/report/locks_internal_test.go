package report

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// TestSystemCallsOfProcessors: a processor has a row of linuxCalls, or is listed here. Of those that are, the
// page names no system call of a waiting thread, and no lock that it waits for.
func TestSystemCallsOfProcessors(t *testing.T) {
	without := []*cpu.Arch{cpu.MIPS, cpu.MIPS64, cpu.PPC, cpu.PPC64, cpu.SPARC, cpu.RISCV, cpu.S390X, cpu.LoongArch64}
	for _, a := range cpu.All() {
		if _, ok := linuxCalls[a.Name]; ok == slices.Contains(without, a) {
			t.Errorf("%s: a row of linuxCalls: %v; listed as without one: %v", a.Name, ok, ok)
		}
	}
}
