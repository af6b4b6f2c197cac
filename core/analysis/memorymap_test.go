package analysis

import (
	"testing"

	"github.com/crashpane/crashpane/core"
)

// A line of /proc/PID/maps has the first address behind the mapping. rust-minidump took it for the
// last one until 0.26.1, and so lost every mapping that begins where another ends.
func TestAdjacentMappings(t *testing.T) {
	d := &core.Dump{}
	d.Linux.HasMaps = true
	d.Linux.Maps = []core.Mapping{{Start: 0x400000, End: 0x401000, Perms: "r--p"}, {Start: 0x401000, End: 0x405000, Perms: "r-xp"},
		{Start: 0x405000, End: 0x406000, Perms: "---p"}, {Start: 0x406000, End: 0x407000, Perms: "rw-p"}, {Start: 0x408000, End: 0x408000, Perms: "rw-p"}}
	m := NewMemoryMap(d)
	for at, want := range map[uint64]int{0x400fff: 0, 0x401000: 1, 0x404fff: 1, 0x405000: 2, 0x406000: 3, 0x407000: -1, 0x408000: -1} {
		if have := m.rustAt(at); have != want {
			t.Errorf("rust-minidump's entry at %#x is %d, want %d", at, have, want)
		}
	}
	for at, want := range map[uint64]bool{0x404fff: false, 0x405000: true, 0x405fff: true, 0x406000: false} {
		if have := m.rustGuard(at); have != want {
			t.Errorf("rust-minidump's guard page at %#x: %v, want %v", at, have, want)
		}
	}
}
