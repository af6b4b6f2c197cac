package demangle

import (
	"strings"
	"testing"
)

func TestLinkage(t *testing.T) {
	for _, c := range []struct{ symbol, plain, want string }{
		{"_ZN3app3net6Socket4sendEi", "send", "_ZN3app3net6Socket4sendEi"},
		{"_ZN3app3net6Socket4sendEi", "Socket", ""},
		{"_ZN3app3net6Socket4sendEi", "end", ""},
		{"_ZN3app3net6Socket4sendEi", "", ""},
		{"_ZN4send5otherEv", "send", ""},
		{"send", "send", ""},
		{"__memcpy_avx_unaligned", "memcpy", ""},
		{"_ZN3app3net6Socket4sendEi.cold", "send", "_ZN3app3net6Socket4sendEi"},
		{"_ZL4globi.constprop.0", "glob", "_ZL4globi"},
		{"__ZN3app3net6Socket4sendEi", "send", "__ZN3app3net6Socket4sendEi"}, // 32-bit MinGW, macOS
		{"_ZN3app12_GLOBAL__N_14anonEi", "anon", "_ZN3app12_GLOBAL__N_14anonEi"},
		{"_ZZ4mainENKUliE_clEi", "operator()", "_ZZ4mainENKUliE_clEi"},
		{"_ZZ4mainENKUliE_clEi", "main", ""},
		{"_ZN3app3net2tfIiLi7EEET_S2_", "tf<int, 7>", "_ZN3app3net2tfIiLi7EEET_S2_"},
		{"_ZN3app3net2tfIiLi7EEET_S2_", "tf", "_ZN3app3net2tfIiLi7EEET_S2_"},
		{"_ZN3app3net2tfIiLi7EEET_S2_", "tf2<int, 7>", ""},
		{"_ZN3app3BoxIiEC2Ei", "Box", "_ZN3app3BoxIiEC2Ei"},
		{"_ZN3app3BoxIiED2Ev", "~Box", "_ZN3app3BoxIiED2Ev"},
		{"_ZN3app3BoxIiED2Ev", "Box", ""},
		{"_ZN6SocketlsEi", "operator<<", "_ZN6SocketlsEi"},
		{"_ZN6SocketlsEi", "operator<", ""},
		{"_ZN6SocketltEi", "operator<", "_ZN6SocketltEi"},
		{"_ZN6SocketltEi", "operator<<", ""},
		{"_ZltIiEbT_S0_", "operator< <int>", "_ZltIiEbT_S0_"},
		{"_ZlsIiEbT_S0_", "operator<< <int>", "_ZlsIiEbT_S0_"},
		{"_ZlsIiEbT_S0_", "operator<<int>", ""},
		{"_ZN6SocketcviEv", "operator int", "_ZN6SocketcviEv"},
		{"_ZN6SocketcvPKcEv", "operator const char *", "_ZN6SocketcvPKcEv"},
		{"_ZN6SocketcvPKcEv", "operator int", ""},
		{"_Znwm", "operator new", "_Znwm"},
		{"_Zli3_kby", `operator""_kb`, "_Zli3_kby"},
		{"_ZN3Foo3barB5cxx11Ev", "bar", "_ZN3Foo3barB5cxx11Ev"},
		{"_ZTV3Foo", "Foo", ""},
		{"_ZThn16_N3Foo3barEv", "bar", ""},
		{"_ZN", "N", ""},
		// Rust.
		{"_ZN4core3fmt5write17h0123456789abcdefE", "write", "_ZN4core3fmt5write17h0123456789abcdefE"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "h0123456789abcdef", ""},
		{"_ZN3std2io5stdio6_print17h0123456789abcdefE", "_print", "_ZN3std2io5stdio6_print17h0123456789abcdefE"},
		{"_ZN3std2io5stdio6_print17h0123456789abcdefE", "print", ""},
		{"_ZN4core3fmt5write17h0123456789abcdefE.llvm.42", "write", "_ZN4core3fmt5write17h0123456789abcdefE"},
		{"_ZN70_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE", "drop<u8>",
			"_ZN70_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE"},
		{"_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE", "drop_in_place<alloc::string::String>",
			"_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE"},
		{"_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "{closure#0}", "_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"},
		{"_ZN3app4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "main", ""},
		{"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$17h0123456789abcdefE", "call_once<app::main::{closure_env#0}, ()>",
			"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$17h0123456789abcdefE"},
		{"_RNvNtCs1234_3app3net4send", "send", "_RNvNtCs1234_3app3net4send"},
		{"_RNvNtCs1234_3app3net4send.llvm.42", "send", "_RNvNtCs1234_3app3net4send"},
		{"_RNvNtCs1234_3app3net4send", "net", ""},
		{"_RNCNvCs1234_3app4main0", "{closure#0}", "_RNCNvCs1234_3app4main0"},
		{"_RINvCs1234_3app3runhE", "run<u8>", "_RINvCs1234_3app3runhE"},
		{"_Z" + strings.Repeat("x", maxIn), "x", ""},
	} {
		if got := Linkage([]string{c.symbol}, c.plain); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.symbol, c.plain, got, c.want)
		}
	}
	// The linker folded functions of the same code.
	if got := Linkage([]string{"_ZN1a3getEv", "get", "_ZN1b5otherEv", "_ZN1b4takeEv"}, "take"); got != "_ZN1b4takeEv" {
		t.Error(got)
	}
}
