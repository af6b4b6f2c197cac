package demangle

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestD: the readable forms are those of c++filt (binutils 2.40, -s dlang), but for the names that it
// leaves mangled and D's own library reads.
func TestD(t *testing.T) {
	for raw, want := range map[string]string{
		"_Dmain":                "D main",
		"_D3foo3barFiZv":        "foo.bar(int)",
		"__D3foo3barFiZv":       "foo.bar(int)", // macOS, 32-bit Windows
		"_D3foo3bari":           "foo.bar",
		"_D3foo03barFZv":        "foo.bar()",
		"_D3foo3bar0FZv":        "foo.bar",
		"_D3foo4__S13barFZv":    "foo.bar()",
		"_D3foo4__Sx3barFZv":    "foo.__Sx.bar()",
		"_D3foo6Socket4sendMFZ": "_D3foo6Socket4sendMFZ", // the type is missing
		// What compilers and linkers append.
		"_D3foo3barFiZv@plt":               "foo.bar(int)@plt",
		"_D3foo3barFiZv.part.0":            "foo.bar(int) [clone .part.0]",
		"_D3foo3barFiZv.part.0.cold":       "foo.bar(int) [clone .part.0.cold]",
		"_D3std5stdio4File@@LIBPHOBOS_2.1": "_D3std5stdio4File@@LIBPHOBOS_2.1",
		// Names that the compiler makes.
		"_D3foo1S6__ctorMFNcAyaZSQwQu":  "foo.S.this(immutable(char)[])",
		"_D3foo1S6__dtorMFZv":           "foo.S.~this()",
		"_D3foo1S10__postblitMFZv":      "foo.S.this(this)",
		"_D3foo1S10__postblitMFiZv":     "foo.S.__postblit(int)",
		"_D3foo1S6__initZ":              "initializer for foo.S",
		"_D3foo1S6__vtblZ":              "vtable for foo.S",
		"_D3foo1S7__ClassZ":             "ClassInfo for foo.S",
		"_D3foo1S11__InterfaceZ":        "Interface for foo.S",
		"_D3foo12__ModuleInfoZ":         "ModuleInfo for foo",
		"_D3foo3barFZ1S6__initZ":        "initializer for foo.bar().S",
		"_D3foo6__initMFZv":             "foo.__init()",
		"_D10TypeInfo_S6__initZ":        "initializer for TypeInfo_S",
		"_D3foo3barFZ9__lambda1FNaNbZi": "foo.bar().__lambda1()",
		// A function's "this", attributes and parameters.
		"_D3foo1S3barMxFZv":               "foo.S.bar() const",
		"_D3foo1S3barMOxFZv":              "foo.S.bar() shared const",
		"_D3foo1S3barMNgFZv":              "foo.S.bar() inout",
		"_D3foo1S3barMyFZ3bazMFiZv":       "foo.S.bar() immutable.baz(int)",
		"_D3foo3barFNaNbNcNdNeNiNjNlNmZi": "foo.bar()",
		"_D3foo3barFNfNgiZi":              "foo.bar(inout(int))",
		"_D3foo3barFNxZi":                 "_D3foo3barFNxZi",
		"_D3foo3barFIiIKiJiKiLiMiMKiNkKiZv": "foo.bar(in int, in ref int, out int, ref int, lazy int, scope int, scope ref int, " +
			"return ref int)",
		"_D3foo3barFMNkPiNkMPiZv": "foo.bar(scope return int*, return scope int*)", // D's library
		"_D3foo3barUiXv":          "foo.bar(int...)",
		"_D3foo3barWiYv":          "foo.bar(int, ...)",
		"_D3foo3barVYv":           "foo.bar(...)",
		// Types.
		"_D3foo3barFvghstiklmfdeopjqrcbauwnNnzizkZv": "foo.bar(void, byte, ubyte, short, ushort, int, uint, long, ulong, float, double, real, " +
			"ifloat, idouble, ireal, cfloat, cdouble, creal, bool, char, wchar, dchar, typeof(null), typeof(*null), cent, ucent)",
		"_D3foo3barFOixiyiNgiNhG4fZv":   "foo.bar(shared(int), const(int), immutable(int), inout(int), __vector(float[4]))",
		"_D3foo3barFAiG3iHAyaiPiPPvZv":  "foo.bar(int[], int[3], int[immutable(char)[]], int*, void**)",
		"_D3foo3barFHiHlaZv":            "foo.bar(char[long][int])",
		"_D3foo3barFC3abc1DS1eE1fT1gZv": "foo.bar(abc.D, e, f, g)",
		"_D3foo3barFPFiZvPUNaNbiZiZv":   "foo.bar(void(int) function, extern(C) int(int) pure nothrow function)",
		"_D3foo3barFPRZvPYZvPVZvPWZvZv": "foo.bar(extern(C++) void() function, extern(Objective-C) void() function, " +
			"extern(Pascal) void() function, extern(Windows) void() function)",
		"_D3foo3barFDFiZvDxFNaZiZv":     "foo.bar(void(int) delegate, int() pure delegate const)",
		"_D3foo3barFB2iaB0Zv":           "foo.bar(Tuple!(int, char), Tuple!())",
		"_D3foo3barFS3foo1SFZ1TMiZv":    "foo.bar(foo.S().T, scope int)",
		"_D3foo3barFS3foo1SMPFZvZv":     "foo.bar(foo.S, scope void() function)",
		"_D3foo3barFPS3foo1SFPvZDFZvZv": "foo.bar(foo.S(void*)*, void() delegate)",
		"_D3foo3barFzzZv":               "_D3foo3barFzzZv",
		// Templates, with and without their length.
		"_D3foo__T3barTiZQhFiZv":             "foo.bar!(int).bar(int)",
		"_D3foo10__T3barTiZ3barFiZv":         "foo.bar!(int).bar(int)",
		"_D3foo11__T3barTiZ3barFiZv":         "_D3foo11__T3barTiZ3barFiZv",
		"_D3foo__U3barHTiTaZ1xi":             "foo.bar!(int, char).x",
		"_D3foo__T3barZ1xi":                  "foo.bar!().x",
		"_D3foo__T3barX4nameZ1xi":            "foo.bar!(name).x",
		"_D3foo__T3barS3abc1DS_D3abc1fFZvZi": "foo.bar!(abc.D, abc.f())",
		"_D3foo__T3barS3abcZ1xi":             "foo.bar!(abc).x",
		"_D3foo__T3barS43abcZ1xi":            "foo.bar!(abc).x",
		"_D3foo__T3barS143abc3defMFiZvZ1xi":  "_D3foo__T3barS143abc3defMFiZvZ1xi",
		"_D3foo__T3barS113abc3defFiZZ1xi":    "foo.bar!(abc.def(int)).x",
		"_D3foo__T3barS_D3abc3defMxFiZvZ1xi": "foo.bar!(abc.def(int) const).x",
		"_D3foo__T3barS13_D3abc3defFZvZ1xi":  "foo.bar!(abc.def()).x",
		// Values.
		"_D3foo__T3barVii5Vki5Vli5Vmi5VhN5Vt0Z1xi":    "foo.bar!(5, 5u, 5L, 5uL, -5u, 0u).x",
		"_D3foo__T3barVbi1Vbi0Vai97Vai10Z1xi":         `foo.bar!(true, false, 'a', '\x0a').x`,
		"_D3foo__T3barVui945Vwi128512Z1xi":            `foo.bar!('\u03b1', '\U0001f600').x`,
		"_D3foo__T3barVPinVAyaa3_610a27Z1xi":          `foo.bar!(null, "a\n'").x`,
		"_D3foo__T3barVAyuw2_61ffVAywd1_09Z1xi":       `foo.bar!("a\xff"w, "\t"d).x`,
		"_D3foo__T3barVde8P1VeeN8CP6VdeNANVdeNINFZ1x": "_D3foo__T3barVde8P1VeeN8CP6VdeNANVdeNINFZ1x",
		"_D3foo__T3barVde8P1VeeN8CPN6VdeNANVdeINFVdeNINFVrc8P1c8P1Z1xi": "foo.bar!(0x8.p1, -0x8.Cp-6, NaN, Inf, -Inf, " +
			"0x8.p1+0x8.p1i).x",
		"_D3foo__T3barVAiA2i1i2VHiaA2i1i2i3i4Z1xi": "foo.bar!([1, 2], [1:2, 3:4]).x",
		"_D3foo__T3barVS3abc1SS2i1A1i2Z1xi":        "foo.bar!(abc.S(1, [2])).x",
		"_D3foo__T3barVAyaa1_616Z1xi":              "_D3foo__T3barVAyaa1_616Z1xi",
		"_D3foo__T3barVAiA4294967295i1Z1xi":        "_D3foo__T3barVAiA4294967295i1Z1xi",
		// References back.
		"_D3foo3barFAyaQdZv":                 "foo.bar(immutable(char)[], immutable(char)[])",
		"_D3fooQeFZv":                        "foo.foo()",
		"_D3foo3barFS3abc1DSQhQfZv":          "foo.bar(abc.D, abc.D)",
		"_D3foo__T3barVAyaa1_61VQja1_62Z1xi": `foo.bar!("a", "b").x`,
		"_D3foo3barFDFiZvDQfZv":              "foo.bar(void(int) delegate, void(int) delegate)",
		"_D3foo3barMFDFiZvZ9__lambda2MQq":    "foo.bar(void(int) delegate).__lambda2(int)", // D's library
		"_D3foo3barMFDFiZvZ9__lambda2MxQr":   "foo.bar(void(int) delegate).__lambda2(int) const",
		"_D3foo3barFQaZv":                    "_D3foo3barFQaZv",
		"_D3foo3barFQzZv":                    "_D3foo3barFQzZv",
		"_D3foo3barFAQbZv":                   "_D3foo3barFAQbZv", // the array is its own element
		"_D3foo3barFQ":                       "_D3foo3barFQ",
		"_D3foo3barFQZZZZZZZZZZZZZZZZZZZaZv": "_D3foo3barFQZZZZZZZZZZZZZZZZZZZaZv",
		"_D99999999999999999999foo":          "_D99999999999999999999foo",
		"_D4294967297foo":                    "_D4294967297foo",
		// Other names.
		"_D":       "_D",
		"_DYNAMIC": "_DYNAMIC",
		"_D3":      "_D3",
		// Thunks, which c++filt leaves mangled.
		"_DTi16_D3foo1C3barMFZv":                   "thunk to foo.C.bar()",
		"_DTi8_D2gc4impl12conservativeQw1C1fMFiZv": "thunk to gc.impl.conservative.gc.C.f(int)",
		"_DThn16_3foo1C3barMFZv":                   "thunk to foo.C.bar()",
		"_DThn8_3foo3barMxFS3abc1DSQhQfZv":         "thunk to foo.bar(abc.D, abc.D) const",
		"_DThn_3foo1C3barMFZv":                     "_DThn_3foo1C3barMFZv",
		"_DThn16_D3foo1C3barMFZv":                  "_DThn16_D3foo1C3barMFZv",
		"_DTi16_3foo1C3barMFZv":                    "_DTi16_3foo1C3barMFZv",
		"_DTi16_DThn16_3foo1C3barMFZv":             "_DTi16_DThn16_3foo1C3barMFZv",
	} {
		if have := Name(raw); have != want {
			t.Errorf("%s:\nhave %s\nwant %s", raw, have, want)
		}
	}
}

// TestDBounds: names that cost too much stay mangled, and say so soon.
func TestDBounds(t *testing.T) {
	back := func(distance int) string {
		digits := string(rune('a' + distance%26))
		for distance /= 26; distance > 0; distance /= 26 {
			digits = string(rune('A'+distance%26)) + digits
		}
		return "Q" + digits
	}
	// Each type has the one before twice.
	types, values := "i", "i"
	for range 30 {
		types = "H" + types + back(len(types))
		values = "S__T1aV" + values + "nV" + back(len(values)+len("nV")) + "nZ"
	}
	for name, raw := range map[string]string{
		"nested":          "_D3foo3barF" + strings.Repeat("A", maxDepth) + "iZv",
		"references":      "_D3foo3barF" + types + "Zv",
		"unshown":         "_D3foo__T3barV" + values + "nZ1xi",
		"read twice":      "_D3foo3barF" + strings.Repeat("C1aF", 400) + "Zv",
		"symbols' length": "_D3foo" + strings.Repeat("__T1aS1111111111", 500) + "Zi",
		"templates":       "_D3foo" + strings.Repeat("__T1aVS", 1000) + "Zi",
	} {
		start := time.Now()
		if have := Name(raw); have != raw {
			t.Errorf("%s: %.80s", name, have)
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("%s takes %v", name, d)
		}
	}
	// A long name is cut.
	raw := "_D3foo3barF" + fmt.Sprintf("S%d%s", 4000, strings.Repeat("x", 4000))
	for range 6 {
		raw += back(len(raw) - len("_D3foo3barF"))
	}
	if have := Name(raw + "Zv"); len(have) != MaxLen-maxSuffix || !strings.HasPrefix(have, "foo.bar(xxx") {
		t.Errorf("%d bytes: %.60s", len(have), have)
	}
}
