package demangle

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestName(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                   "",
		"_":                                  "_",
		"main":                               "main",
		"_start":                             "_start",
		"__libc_start_main":                  "__libc_start_main",
		"std::vector<int>::push_back()":      "std::vector<int>::push_back()",
		"<T as core::fmt::Debug>::fmt":       "<T as core::fmt::Debug>::fmt",
		"?foo@@YAXXZ":                        "?foo@@YAXXZ",
		"-[NSView drawRect:]":                "-[NSView drawRect:]",
		"$s4main3fooyyF":                     "main.foo() -> ()",
		"__swift_memcpy16_8":                 "__swift_memcpy16_8",
		"-[_TtC4main3Foo bar:]":              "-[_TtC4main3Foo bar:]",
		"__main_block_invoke":                "__main_block_invoke",
		"_Z":                                 "_Z",
		"_ZN4main":                           "_ZN4main",
		"_Zzzz":                              "_Zzzz",
		"_Race":                              "_Race",
		"_RTL_x":                             "_RTL_x",
		"_Z1fv":                              "f()",
		"_ZN3Foo3barEi":                      "Foo::bar(int)",
		"_ZNSt6vectorIiSaIiEE9push_backERKi": "std::vector<int, std::allocator<int> >::push_back(int const&)",
		"_ZTV3Foo":                           "vtable for Foo",
		"_ZThn16_N3Foo3barEv":                "non-virtual thunk to Foo::bar()",
		"_ZZ4mainENKUlvE_clEv":               "main::{lambda()#1}::operator()() const",
		"_ZN12_GLOBAL__N_13fooEv":            "(anonymous namespace)::foo()",
		// macOS.
		"__ZN3Foo3barEi":                "Foo::bar(int)",
		"____ZN3Foo3barEi_block_invoke": "invocation function for block in Foo::bar(int)",
		"___ZN3Foo3barEi_block_invoke":  "invocation function for block in Foo::bar(int)",
		"__RNvCs1234_7mycrate3foo":      "mycrate::foo",
		// Suffixes.
		"_ZN3Foo3barEi.cold":             "Foo::bar(int) [clone .cold]",
		"_ZN3Foo3barEi.part.0.cold":      "Foo::bar(int) [clone .part.0] [clone .cold]",
		"_ZN3Foo3barEi.llvm.77":          "Foo::bar(int) [clone .llvm.77]",
		"_ZN3FooC1Ei.isra.0.constprop.1": "Foo::Foo(int) [clone .isra.0] [clone .constprop.1]",
		"_ZN3Foo3barEi@plt":              "Foo::bar(int)@plt",
		"_ZNSs4swapERSs@@GLIBCXX_3.4":    "std::string::swap(std::string&)@@GLIBCXX_3.4",
		// Rust.
		"_ZN4core3fmt5write17h0123456789abcdefE":                                                               "core::fmt::write",
		"__ZN4core3fmt5write17h0123456789abcdefE":                                                              "core::fmt::write",
		"_ZN4core3fmt5write17h0123456789abcdefE.llvm.123":                                                      "core::fmt::write [clone .llvm.123]",
		"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE": "<Test + 'static as foo::Bar<Test>>::bar",
		"_RNvCs1234_7mycrate3foo":                                                                              "mycrate::foo",
		"_RNvCs1234_7mycrate3foo.llvm.99":                                                                      "mycrate::foo (.llvm.99)",
		"_RINvNtC3std3mem8align_ofjEB2_":                                                                       "std::mem::align_of::<usize>",
		"_ZN3std2io5stdio6_print17h0123456789abcdefE":                                                          "std::io::stdio::_print",
		"_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE":                              "std::sys::backtrace::__rust_begin_short_backtrace",
		"_ZN1t12_$ue9$t$ue9$9na$uef$ve17h0123456789abcdefE":                                                    "t::été::naïve",
		"_ZN1a5$u7$b17h0123456789abcdefE":                                                                      "a::$u7$b",
		"_ZN1a4$XX$17h0123456789abcdefE":                                                                       "a::$XX$",
		"_ZN1a4b$LT17h0123456789abcdefE":                                                                       "a::b$LT",
		"_ZN1a1b17h0123456789abcdegE":                                                                          "a::b::h0123456789abcdeg",
		"_ZN17h0123456789abcdefE":                                                                              "h0123456789abcdef",
		"core::fmt::write::h0123456789abcdef":                                                                  "core::fmt::write",
		"core::fmt::write::h0123456789abcdeg":                                                                  "core::fmt::write::h0123456789abcdeg",
		"::h0123456789abcdef":                                                                                  "::h0123456789abcdef",
	} {
		if have := Name(raw); have != want {
			t.Errorf("%s: have %q, want %q", raw, have, want)
		}
	}
}

// bomb is a C++ name whose readable form is exponential in its length: n pairs, at most 8, each of
// two of the pair before.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("_Z1f1ASt4pairIS_S_E")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "S0_IS%c_S%c_E", '0'+i, '0'+i)
	}
	return b.String()
}

// TestBounds: a result that is too long is cut.
func TestBounds(t *testing.T) {
	for name, raw := range map[string]string{
		"long and readable":   strings.Repeat("x", 1<<20),
		"long and mangled":    "_Z" + strings.Repeat("P", 1<<20) + "i",
		"pointers":            "_Z1f" + strings.Repeat("P", maxIn-5) + "i",
		"nested templates":    "_Z1f" + strings.Repeat("1AI", maxIn/3-3) + "i",
		"Rust tuples":         "_RINvC1a1f" + strings.Repeat("T", maxIn-12) + "uE",
		"long suffix":         "_RNvCs1234_7mycrate3foo." + strings.Repeat("x", maxIn-30),
		"long version":        "_Z1fv@" + strings.Repeat("x", maxIn-30),
		"characters of three": strings.Repeat("字", 1<<15),
		"not UTF-8":           strings.Repeat("\x80", 1<<15),
		"bomb":                bomb(8),
	} {
		have := Name(raw)
		if len(have) > MaxLen {
			t.Errorf("%s: %d bytes", name, len(have))
		}
		if utf8.ValidString(raw) && !utf8.ValidString(have) {
			t.Errorf("%s: cut inside a character", name)
		}
	}
}

// FuzzName: no panic, and the result is bounded.
func FuzzName(f *testing.F) {
	for _, s := range []string{
		"main", "_Z1fv", "__ZN3Foo3barEi.cold", "_ZN4core3fmt5write17h0123456789abcdefE.llvm.1", "_RINvNtC3std3mem8align_ofjEB2_",
		"_ZN71_$LT$Test$u20$as$u20$foo..Bar$GT$3bar17h930b740aa94f1d3aE", bomb(8), "_Z1fIXadL_Z1gvEEEvv@@V",
		"_D3foo10__T3barTiZ3barMxFNaNkMAyaKDFiZvQhZQcMQk.part.0", "_D3foo__T3barS113abc3defFiZVAyaa1_61VS1aS2A1i2de8PN1Z6__initZ",
	} {
		f.Add(s)
	}
	for _, n := range swiftNames {
		f.Add(n[0])
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if have := Name(raw); len(have) > MaxLen {
			t.Errorf("%d bytes from %d", len(have), len(raw))
		}
	})
}

func BenchmarkName(b *testing.B) {
	for b.Loop() {
		Name("_ZNSt6vectorIiSaIiEE9push_backERKi")
	}
}
