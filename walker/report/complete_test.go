package report

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestComplete: a stripped program and a symbol file without unwind rules are used, and the module says which file has
// the rest and where servers have it.
func TestComplete(t *testing.T) {
	part := []symbol.Part{{What: "names"}}
	for _, c := range []struct {
		name string
		has  symbol.Contents
		want []string // paths; nil if nothing is lacking
	}{
		{"stripped", symbol.Contents{OnlyExports: true, CFI: true, Parts: part}, []string{"app/A10/app.sym", "buildid/a1/debuginfo"}},
		{"no rules", symbol.Contents{Functions: true, Lines: true, Parts: part}, []string{"app/A10/app.sym", "buildid/a1/debuginfo", "buildid/a1/executable"}},
		{"whole", symbol.Contents{Functions: true, CFI: true, Parts: part}, nil},
		{"not read yet", symbol.Contents{}, nil},
	} {
		b := &builder{d: &core.Dump{Modules: []core.Module{{CodeView: core.CodeView{Signature: core.SigBpEL}}}}, symbols: make([]ModuleSymbols, 1),
			r: &Report{Modules: []Module{{Name: "/opt/app", DebugFile: "app", DebugID: "A10", CodeID: "a1", Frames: 3, State: SymbolsLoaded, Has: c.has}}}}
		b.complete(0)
		var got []string
		if w := b.r.Modules[0].Completes; w != nil {
			for _, s := range w.Stores {
				got = append(got, s.Path)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestCompleteOfBigEndian: stores may have the file under its id with the bytes in another order.
func TestCompleteOfBigEndian(t *testing.T) {
	const id = "112233445566778801020304050607081"
	b := &builder{d: &core.Dump{Header: core.Header{Order: binary.BigEndian}}, symbols: make([]ModuleSymbols, 1),
		r: &Report{Modules: []Module{{Name: "app", DebugID: id, Frames: 3, State: SymbolsLoaded, Has: symbol.Contents{OnlyExports: true}}}}}
	b.complete(0)
	if w := b.r.Modules[0].Completes; w == nil || w.OtherPath != StorePath("app", core.ByteSwappedID(id)) || w.Stores[0].Else != w.OtherPath {
		t.Errorf("%+v", w)
	}
}

// TestIDSwapped: a symbol file whose id has its bytes in another order is used, and the report says so.
func TestIDSwapped(t *testing.T) {
	for id, want := range map[string]bool{"2155F085A907D1F3F689E8AE6E83AB920": false, "85F0552107A9F3D1F689E8AE6E83AB920": true, "": false} {
		m := Module{DebugID: "2155F085A907D1F3F689E8AE6E83AB920", SymbolID: id}
		if got := m.IDSwapped(); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
