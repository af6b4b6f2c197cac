package framecode_test

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/framecode"
)

// TestStub: the rules at each instruction of the stubs that GNU ld and lld write. "|" is before each
// instruction, and the wanted rule is that of the words on the stack above the return address.
func TestStub(t *testing.T) {
	x64 := []string{"none", "cfa = $rsp + 8, ra = [cfa − 8]", "cfa = $rsp + 16, ra = [cfa − 8]", "cfa = $rsp + 24, ra = [cfa − 8]"}
	x86 := []string{"none", "cfa = $esp + 4, ra = [cfa − 4]", "cfa = $esp + 8, ra = [cfa − 4]", "cfa = $esp + 12, ra = [cfa − 4]"}
	a64 := []string{"none", "cfa = $sp, ra = $lr (topmost frame only)", "cfa = $sp + 16, ra = [cfa − 8]"}
	for _, c := range []struct {
		name, code string
		arch       *cpu.Arch
		rules      []string
		want       []int // which of the rules, by instruction
	}{
		{"GNU ld", "|ff35ca2f0000|ff25cc2f0000|0f1f4000|ff25ca2f0000|6800000000|e9e0ffffff|c3", cpu.AMD64, x64, []int{2, 3, 0, 1, 1, 2, 0}},
		{"with bnd", "|ff35ca2f0000|f2ff25cb2f0000|0f1f00|f2ff25ca2f0000|6800000000|f2e9deffffff|c3", cpu.AMD64, x64, []int{2, 3, 0, 1, 1, 2, 0}},
		{"lld with endbr64", "|ff358a220000|ff258c220000|0f1f4000|f30f1efa|6800000000|e9e2ffffff|6690|c3", cpu.AMD64, x64, []int{2, 3, 0, 1, 1, 2, 0, 0}},
		{"another slot", "|ff35ca2f0000|ff25d42f0000|0f1f4000|ff25ca2f0000|6800000000|e9e0ffffff", cpu.AMD64, x64, []int{0, 0, 0, 0, 0, 0}},
		{"another jump", "|ff35ca2f0000|ff25cc2f0000|0f1f4000|ff25ca2f0000|6800000000|e9e1ffffff", cpu.AMD64, x64, []int{2, 3, 0, 0, 0, 0}},
		{"x86", "|ff35f8bf0408|ff25fcbf0408|00000000|ff2500c00408|6800000000|e9e0ffffff", cpu.X86, x86, []int{2, 3, 0, 1, 1, 2}},
		{"x86 by ebx", "|ffb304000000|ffa308000000|00000000|ffa30c000000|6800000000|e9e0ffffff", cpu.X86, x86, []int{2, 3, 0, 1, 1, 2}},
		{"x86, by another register's table", "|ffb308000000|ffa30c000000|00000000", cpu.X86, x86, []int{0, 0, 0}},
		{"arm64", "|f07bbfa9|f00000f0|11fe47f9|10e23f91|20021fd6|1f2003d5|10010090|110240f9|10020091|20021fd6|c0035fd6", cpu.ARM64, a64, []int{1, 2, 2, 2, 2, 0, 1, 1, 1, 1, 0}},
		{"arm64 with bti", "|5f2403d5|f07bbfa9|f00000f0|11fe47f9|10e23f91|20021fd6|5f2403d5|10010090|110240f9|10020091|20021fd6", cpu.ARM64, a64, []int{1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 1}},
		{"arm64, another register", "|f07bbfa9|f00000f0|11fe47f9|10e23f91|40021fd6", cpu.ARM64, a64, []int{0, 0, 0, 0, 0}},
	} {
		program := code(t, strings.ReplaceAll(c.code, "|", ""))
		at := uint64(0)
		for i, one := range strings.Split(c.code, "|")[1:] {
			row, ok := framecode.Stub(c.arch, func(at uint64, p []byte) int {
				if at < 0x1000 || at-0x1000 > uint64(len(program)) {
					return 0
				}
				return copy(p, program[at-0x1000:])
			}, 0x1000+at)
			if got := say(c.arch, row, ok); got != c.rules[c.want[i]] {
				t.Errorf("%s, instruction %d: %s, want %s", c.name, i, got, c.rules[c.want[i]])
			}
			at += uint64(len(one) / 2)
		}
	}
}
