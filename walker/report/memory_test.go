package report

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/testfile"
)

// mapOf makes a dump with modules of 0x8000 bytes at each 0x10000, and a report of its modules.
func mapOf(modules int) (*core.Dump, *Report) {
	d := &core.Dump{}
	for i := range modules {
		d.Modules = append(d.Modules, core.Module{Base: 0x10000 * uint64(i+1), Size: 0x8000, Name: fmt.Sprint("/lib/", i)})
	}
	b := &builder{d: d, r: &Report{}, in: Input{Dump: d}}
	b.modules()
	return d, b.r
}

// TestMemoryMap: a range has the name of the module that it overlaps.
func TestMemoryMap(t *testing.T) {
	d, r := mapOf(3)
	for _, c := range []struct {
		start, size uint64
		want        string
	}{
		{0x10000, 0x8000, "0"}, {0x17fff, 1, "0"}, {0x18000, 0x8000, ""}, {0x18000, 0x8001, "1"}, {0, 0x10000, ""}, {0, 0x10001, "0"},
		{0x2c000, 0x10000, "2"}, {0x34000, 0x1000, "2"}, {0x38000, 1 << 63, ""}, {0x18000, ^uint64(0), "1"},
	} {
		d.Regions = []core.MemoryInfo{{Base: c.start, Size: c.size, State: 0x1000}}
		if all := MemoryMap(d, r); len(all) != 1 || all[0].Contents != c.want {
			t.Errorf("%#x: %+v", c.start, all)
		}
	}
}

// TestMemoryMapGrows: a map of many ranges costs no more for each of them in a dump of many modules.
func TestMemoryMapGrows(t *testing.T) {
	testfile.Growth(t, 4000, func(size int) (run func()) {
		d, r := mapOf(size)
		for i := range 4 * size {
			d.Regions = append(d.Regions, core.MemoryInfo{Base: 0x4000 * uint64(i), Size: 0x4000})
		}
		return func() { MemoryMap(d, r) }
	})
}
