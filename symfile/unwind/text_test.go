package unwind

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// wordsAt is memory of 8-byte words.
type wordsAt map[uint64]uint64

func (m wordsAt) Word(addr uint64, size int) (uint64, bool) {
	v, ok := m[addr]
	return v, ok && size == 8
}

// Computed shows the same values that Apply computed.
func TestComputed(t *testing.T) {
	row, _, err := ParseCFI(cpu.AMD64, ".cfa: $rsp 48 + .ra: .cfa -8 + ^ $rbx: .cfa -24 + ^ $rbp: $rbp $r12: $rsp 8 + ^ 4 + $r13: .undef $r14: .cfa -800 + ^", nil)
	if err != nil {
		t.Fatal(err)
	}
	callee := cpu.Regs{Arch: cpu.AMD64}
	callee.Set(cpu.AMD64.SP, 0x7ffe3d0)
	callee.Set(cpu.AMD64.FP, 0x66)
	var tr Trace
	mem := wordsAt{0x7ffe3f8: 0x55d0a1f4, 0x7ffe3e8: 1, 0x7ffe3d8: 0x10}
	caller, cfa, err := row.Apply(&callee, mem, &tr)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range tr.Values {
		m := &tr.Values[i]
		got = append(got, m.For+": "+m.Rule.Describe(cpu.AMD64)+": "+m.Computed(&callee, cfa))
	}
	want := `cfa: $rsp + 48: 0x7ffe3d0 + 48 = 0x7ffe400
ra: [cfa − 8]: word at 0x7ffe3f8 = 0x55d0a1f4
$rbx: [cfa − 24]: word at 0x7ffe3e8 = 0x1
$rbp: unchanged: 0x66
$r12: [$rsp + 8] + 4: [0x7ffe3d0 + 8] + 4 = 0x14
$r13: lost: the rules say that it cannot be recovered
$r14: [cfa − 800]: the 8-byte word at 0x7ffe0e0 is not in the dump`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	if len(tr.Words) != 3 || caller.PC() != 0x55d0a1f4 {
		t.Errorf("words %v, pc 0x%x", tr.Words, caller.PC())
	}
}
