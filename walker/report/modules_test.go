package report

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/crashpane/crashpane/core"
)

// TestUnloadedHits: hits are sorted, each offset is there once, and a file with thousands of modules at one address does
// not make each frame as large as itself.
func TestUnloadedHits(t *testing.T) {
	all := []core.UnloadedModule{{Base: 0x1000, Size: 0x100, Name: "b"}, {Base: 0xff0, Size: 0x100, Name: "a"}, {Base: 0x1000, Size: 0x100, Name: "b"},
		{Base: 0x1008, Size: 0x100, Name: "b"}, {Base: 0x2000, Size: 0x100, Name: "c"}}
	if have, want := unloadedHits(all, 0x1010), []UnloadedHit{{"a", []uint64{0x20}}, {"b", []uint64{0x8, 0x10}}}; !reflect.DeepEqual(have, want) {
		t.Errorf("%+v", have)
	}
	all = nil
	for i := range 50_000 {
		all = append(all, core.UnloadedModule{Base: 0x10000 + uint64(i), Size: 0x100000, Name: fmt.Sprint("lib", i%1000)})
	}
	n := 0
	for _, h := range unloadedHits(all, 0x100000) {
		n += len(h.Offsets)
	}
	if n != maxUnloaded {
		t.Errorf("%d offsets", n)
	}
}
