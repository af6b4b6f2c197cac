package core_test

import (
	"testing"

	"github.com/crashpane/crashpane/core"
)

// TestTruncateUpper: Android's microdumps, where the higher of two overlapping modules is cut. Its
// addresses stay relative to its base.
func TestTruncateUpper(t *testing.T) {
	m := core.NewModuleMap([]core.ModuleMapping{
		{Module: 0, Start: 0x2000, Size: 0x2000}, // its start moves up to 1's end
		{Module: 1, Start: 0x1000, Size: 0x1800},
		{Module: 2, Start: 0x8000, Size: 0x4000}, // holds 3, so that it begins after it
		{Module: 3, Start: 0x9000, Size: 0x1000},
		{Module: 4, Start: 0x9000, Size: 0x1000}, // covered wholly
		{Module: 5},
	}, core.OverlapTruncateUpper)
	type place struct {
		module int
		rva    uint64
	}
	none := place{-1, 0}
	for addr, want := range map[uint64]place{0x1000: {1, 0}, 0x27ff: {1, 0x17ff}, 0x2800: {0, 0x800}, 0x3fff: {0, 0x1fff}, 0x4000: none,
		0x8000: none, 0x9000: {3, 0}, 0x9fff: {3, 0xfff}, 0xa000: {2, 0x2000}, 0xbfff: {2, 0x3fff}, 0xc000: none} {
		if module, rva := m.Find(addr); (place{module, rva}) != want {
			t.Errorf("0x%x is in module %d at 0x%x, not %v", addr, module, rva, want)
		}
	}
	if got := m.Order(); len(got) != 4 || got[0] != 1 || got[1] != 0 || got[2] != 3 || got[3] != 2 {
		t.Errorf("order %v", got)
	}
}
