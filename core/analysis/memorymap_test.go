package analysis

import (
	"testing"

	"github.com/crashpane/crashpane/core"
)

// A line of /proc/PID/maps has the first address behind the mapping.
func TestAdjacentMappings(t *testing.T) {
	d := &core.Dump{}
	d.Linux.HasMaps = true
	d.Linux.Maps = []core.Mapping{{Start: 0x400000, End: 0x401000, Perms: "r--p"}, {Start: 0x401000, End: 0x405000, Perms: "r-xp"},
		{Start: 0x405000, End: 0x406000, Perms: "---p"}, {Start: 0x406000, End: 0x407000, Perms: "rw-p"}, {Start: 0x408000, End: 0x408000, Perms: "rw-p"}}
	m := NewMemoryMap(d)
	for at, want := range map[uint64]uint64{0x400fff: 0x400000, 0x401000: 0x401000, 0x404fff: 0x401000, 0x405000: 0x405000, 0x406000: 0x406000} {
		if p := m.At(at); p.Start != want || !p.Mapped || p.Guard != (want == 0x405000) {
			t.Errorf("%#x is in %+v, want that at %#x", at, p, want)
		}
	}
	for _, at := range []uint64{0x407000, 0x408000} {
		if p := m.At(at); p.Mapped {
			t.Errorf("%#x is in %+v", at, p)
		}
	}
}
