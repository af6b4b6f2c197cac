package report

import (
	"reflect"
	"strings"
	"testing"
)

// TestPlainData: a report holds no function or interface, and nothing of the dump's or the walker's
// but registers and ranges of modules, so that it can outlive both.
func TestPlainData(t *testing.T) {
	const module = "github.com/crashpane/crashpane/"
	may := map[string]bool{"core/cpu.Regs": true, "core.ModuleMap": true}
	seen := map[reflect.Type]bool{}
	var check func(at string, typ reflect.Type)
	check = func(at string, typ reflect.Type) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		pkg := strings.TrimPrefix(typ.PkgPath(), module)
		if may[pkg+"."+typ.Name()] {
			return
		}
		if typ.Name() != "" && typ.PkgPath() != "" && pkg != "walker/report" && pkg != "core/analysis" && pkg != "symfile/symbol" {
			t.Errorf("%s is a %s", at, typ)
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			check(at, typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				check(at+"."+typ.Field(i).Name, typ.Field(i).Type)
			}
		case reflect.Func, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
			t.Errorf("%s is a %s", at, typ)
		}
	}
	check("Report", reflect.TypeFor[Report]())
}
