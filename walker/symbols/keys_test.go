package symbols

import (
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// strip changes the size of what MinGW links.
func TestBinaryByStamp(t *testing.T) {
	const debugID = "A855514E410DD0664C4C44205044422E1"
	for _, tc := range []struct {
		name                         string
		id                           symbol.Identity
		moduleCode, moduleID, module string
		exact, byName                bool
	}{
		{"the program itself", symbol.Identity{CodeID: "6B06D1C6C000"}, "6b06d1c6c000", "", "app.exe", true, false},
		{"before strip", symbol.Identity{CodeID: "6B06D1C623000"}, "6b06d1c6c000", "", "app.exe", false, true},
		{"another build", symbol.Identity{CodeID: "6B06D1C723000"}, "6b06d1c6c000", "", "app.exe", false, false},
		{"another program of that moment", symbol.Identity{CodeID: "6B06D1C623000"}, "6b06d1c6c000", "", "lib.dll", false, false},
		{"no time stamp", symbol.Identity{CodeID: "0000000023000"}, "00000000c000", "", "app.exe", false, false},
		{"the module has a debug id", symbol.Identity{CodeID: "6B06D1C623000"}, "6b06d1c6c000", debugID, "app.exe", false, false},
		{"the program has one, which the dump does not say", symbol.Identity{CodeID: "6B06D1C623000", DebugID: debugID}, "6b06d1c6c000", "", "app.exe", false, true},
	} {
		tc.id.Name, tc.id.Stamped, tc.id.Code, tc.id.Size = "app.exe", true, true, 0x23000
		m := &core.Module{Name: `C:\shop\` + tc.module, Size: 0xc000, CodeID: tc.moduleCode, DebugID: tc.moduleID}
		f := &File{Known: KnownBinary(&tc.id), Identity: tc.id, IsBinary: true}
		exact, byName := f.Of(m).IsBinaryOf(m)
		if exact != tc.exact || byName != tc.byName {
			t.Errorf("%s: exact %v, by name %v", tc.name, exact, byName)
		}
	}
}
