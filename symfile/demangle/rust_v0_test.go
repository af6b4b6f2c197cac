package demangle

import (
	"strings"
	"testing"
	"time"
)

// TestRustV0: the readable forms are those of llvm-cxxfilt 22 ("_R" names of RFC 2603, one or more
// for each rule of its grammar).
func TestRustV0(t *testing.T) {
	for raw, want := range map[string]string{
		// Paths.
		"_RNvC1a1f":                      "a::f",
		"_RNvCs1234_7mycrate3foo":        "mycrate::foo",
		"_RNvC2_1x2___":                  "1x::__",
		"_RNvMs_C1aNtB4_1S1f":            "<a::S>::f",
		"_RNvXC1aNtB2_1SNtB2_1T1f":       "<a::S as a::T>::f",
		"_RNvYNtC1a1SNtB4_1T1fB4_":       "<a::S as a::T>::f",
		"_RINvC1a1flKj1_E":               "a::f::<i32, 1>",
		"_RNvMC1aINtB2_1SlE1f":           "<a::S<i32>>::f",
		"_RINvNtC3std3mem8align_ofjEC1a": "std::mem::align_of::<usize>",
		"_RNvNvC1a1f0":                   "a::f",
		// A number is 0, or does not begin with 0: "00" is two empty names.
		"_RNCNvC1a1f0":                           "a::f::{closure#0}",
		"_RNCNvC1a1fs_0":                         "a::f::{closure#1}",
		"_RNCNCNvC1a1f00":                        "a::f::{closure#0}::{closure#0}",
		"_RNCNCNvC1a1f0s0_0":                     "a::f::{closure#0}::{closure#2}",
		"_RNCNCNCNvC1a1f000":                     "a::f::{closure#0}::{closure#0}::{closure#0}",
		"_RNvNCNvC1a1f03foo":                     "a::f::{closure#0}::foo",
		"_RNvNCNvC1a1f012abcdefghijkl":           "a::f::{closure#0}::abcdefghijkl",
		"_RNSNCNvC1a1f06vtable":                  "a::f::{closure#0}::{shim:vtable#0}",
		"_RNSC1a6vtable":                         "a::{shim:vtable#0}",
		"_RNZC1as1_0":                            "a::{Z#3}",
		"_RINvC1a1fNCNCNvC1a4main00E":            "a::f::<a::main::{closure#0}::{closure#0}>",
		"_RINvC1a1fNCNvB2_1g0uE":                 "a::f::<a::g::{closure#0}, ()>",
		"_RNCINvC1a1fuE0":                        "a::f::<()>::{closure#0}",
		"_RNCINvC1a1fNCNvB4_1g0uE0":              "a::f::<a::g::{closure#0}, ()>::{closure#0}",
		"_RNCNCINvC1a1flE00.llvm.12":             "a::f::<i32>::{closure#0}::{closure#0} (.llvm.12)",
		"_RNCNCNvC1a1f00@plt":                    "a::f::{closure#0}::{closure#0}@plt",
		"_RNvNvNvC1a1X7___getit5___KEY$tlv$init": "a::X::__getit::__KEY ($tlv$init)",
		// Types.
		"_RINvC1a1fabcdefhijlmnopstuvxyzE":            "a::f::<i8, bool, char, f64, str, f32, u8, isize, usize, i32, u32, i128, u128, _, i16, u16, (), ..., i64, u64, !>",
		"_RINvC1a1fC4f128E":                           "a::f::<f128>",
		"_RINvC1a1fAtj8_ShTETlETlmERlQlPlOlE":         "a::f::<[u16; 8], [u8], (), (i32,), (i32, u32), &i32, &mut i32, *const i32, *mut i32>",
		"_RINvC1a1fFEuFlElFUKC_EuE":                   "_RINvC1a1fFEuFlElFUKC_EuE",
		"_RINvC1a1fFEuFlElFUKCEuE":                    `a::f::<fn(), fn(i32) -> i32, unsafe extern "C" fn()>`,
		"_RINvC1a1fFK9C_cmse_nsEuE":                   `a::f::<extern "C-cmse-ns" fn()>`,
		"_RINvC1a1fFG0_RL1_hRL0_tEuE":                 "a::f::<for<'a, 'b> fn(&'a u8, &'b u16)>",
		"_RINvC1a1fRL_lE":                             "a::f::<&i32>",
		"_RINvC1a1fL_E":                               "a::f::<'_>",
		"_RINvC1a1fDNtC1a1TEL_E":                      "a::f::<dyn a::T>",
		"_RINvC1a1fDNtC1a1TNtC1a4SendEL_E":            "a::f::<dyn a::T + a::Send>",
		"_RINvC1a1fDG_INtC1a2FnTRL0_lEEp6OutputuEL_E": "a::f::<dyn for<'a> a::Fn<(&'a i32,), Output = ()>>",
		"_RINvC1a1fDNtC1a1Tp1AlEL_E":                  "a::f::<dyn a::T<A = i32>>",
		"_RINvC1a1fFG_DNtC1a1TEL0_EuE":                "a::f::<for<'a> fn(dyn a::T + 'a)>",
		// Constants.
		"_RINvC1a1fKb0_Kb1_Kc61_Kca_Kc27_Kc1f600_KpE": `a::f::<false, true, 'a', '\n', '\'', '\u{1f600}', _>`,
		"_RINvC1a1fKj0_Klnff_Kyffffffffffffffff_E":    "a::f::<0, -255, 18446744073709551615>",
		"_RINvC1a1fKo10000000000000000_E":             "a::f::<0x10000000000000000>",
		"_RINvC1a1fKj1_KB8_E":                         "a::f::<1, 1>",
		// Punycode, by the examples of the rustc book, and names that are not encoded.
		"_RNvNtNtC1au8gdel_5qa6escher4bach": "a::gödel::escher::bach",
		"_RNvC1au6f_5gaa":                   "a::føø",
		"_RNvC1au6n84amf":                   "a::铁锈",
		"_RNvC1au7___ylb7e":                 "a::α_ω",
		"_RNvC1au6_2xaedc":                  "a::ρυστ",
		"_RNvC1au4fq9h":                     "a::🤦",
		"_RNvC1a5α_ω":                       "a::α_ω",
		// Broken names stay as they are.
		"_RNvC1a":                      "_RNvC1a",
		"_RNvC1a1":                     "_RNvC1a1",
		"_RNvC1a2f":                    "_RNvC1a2f",
		"_RNvC1a01f":                   "_RNvC1a01f",
		"_R1NvC1a1f":                   "_R1NvC1a1f",
		"_RNvC1a1fX":                   "_RNvC1a1fX",
		"_RN0C1a1f":                    "_RN0C1a1f",
		"_RINvC1a1fKj00_E":             "_RINvC1a1fKj00_E",
		"_RINvC1a1fKb2_E":              "_RINvC1a1fKb2_E",
		"_RINvC1a1fRL0_lE":             "_RINvC1a1fRL0_lE",
		"_RINvC1a1fBz_E":               "_RINvC1a1fBz_E",
		"_RINvC1a1fTB7_EE":             "_RINvC1a1fTB7_EE", // the tuple is its own element
		"_RINvC1a1fFGzzzzz_EuE":        "_RINvC1a1fFGzzzzz_EuE",
		"_RINvC1a1fKszzzzzzzzzzzzzz_E": "_RINvC1a1fKszzzzzzzzzzzzzz_E",
		"_RNvC1as" + strings.Repeat("Z", 12) + "_1f": "_RNvC1as" + strings.Repeat("Z", 12) + "_1f",
	} {
		if have := Name(raw); have != want {
			t.Errorf("%s:\nhave %s\nwant %s", raw, have, want)
		}
	}
}

// TestRustV0Bounds: names that are nested too deeply stay mangled; those that refer back again and
// again are cut, and cost little.
func TestRustV0Bounds(t *testing.T) {
	deep := "_RINvC1a1f" + strings.Repeat("S", maxDepth) + "lE"
	if have := Name(deep); have != deep {
		t.Errorf("nested too deeply: %.60s", have)
	}
	// Each tuple has the one before twice: the first has 4 bytes, the last 2^30 times as many.
	bomb, at := "TllE", len("INvC1a1f")
	for range 30 {
		to := base62(at)
		at += len(bomb) - strings.LastIndexByte(bomb, 'T')
		bomb += "TB" + to + "B" + to + "E"
	}
	start := time.Now()
	have := Name("_RINvC1a1f" + bomb + "E")
	if len(have) != MaxLen-maxSuffix || !strings.HasPrefix(have, "a::f::<(i32, i32), ((i32, i32), (i32, i32)), ") {
		t.Errorf("%d bytes: %.60s", len(have), have)
	}
	if d := time.Since(start); d > time.Second {
		t.Error("takes", d)
	}
}

// base62 writes a <base-62-number>.
func base62(n int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n == 0 {
		return "_"
	}
	s := "_"
	for n--; ; n /= 62 {
		s = digits[n%62:n%62+1] + s
		if n < 62 {
			return s
		}
	}
}
