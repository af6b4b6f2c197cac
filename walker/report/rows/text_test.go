package rows

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                       "plain",
		"näme":                        "näme",
		"a\x00b\x1b[31m":              "a␀b␛[31m",
		"a\tb\r\nc":                   "a b  c",
		"exe.\u202etxt":               "exe.‹U+202E›txt",
		"\u2066x\u2069":               "‹U+2066›x‹U+2069›",
		"zero\u200bwidth":             "zero‹U+200B›width",
		"bad\xff\xfe":                 "bad\ufffd\ufffd",
		"<script>alert(1)</script>":   "<script>alert(1)</script>",
		"line\u2028break\u0085next":   "line‹U+2028›break\ufffdnext",
		strings.Repeat("x", MaxText):  strings.Repeat("x", MaxText),
		strings.Repeat("x", 1_000_00): strings.Repeat("x", MaxText) + "…",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%.40q: %.60q, want %.60q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || len(got) > MaxText+40 || strings.ContainsAny(got, "\u202e\u2066\x00\n") {
			t.Errorf("%q", got)
		}
		Fold(got)
		BaseName(got)
	})
}

func TestFold(t *testing.T) {
	long := strings.Repeat("y", foldAt)
	for in, want := range map[string]string{
		"short<int>::f(int)": "short<int>::f(int)",
		"std::vector<std::basic_string<char>, std::allocator<int>>::push_back(int)": "std::vector<…>::push_back(int)",
		"f" + long + "(int, std::vector<int> const&) const":                         "f" + long + "(…) const",
		"(anonymous namespace)::g" + long + "(some::argument, other)":               "(anonymous namespace)::g" + long + "(…)",
		"operator<<" + long + "(std::ostream&, int)":                                "operator<<" + long + "(…)",
		"unbalanced<" + long:                       "unbalanced<" + long,
		long + "::operator()(int, int, int) const": long + "::operator()(…) const",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"<bigcrash::Eval<F> as bigcrash::Visitor<f64>>::visit_mul":            "<Eval<F> as Visitor<f64>>::visit_mul",
		"std::sys_common::backtrace::__rust_begin_short_backtrace":            "…::backtrace::__rust_begin_short_backtrace",
		"<core::slice::iter::Iter<T> as core::iter::traits::Iterator>::fold":  "<Iter<T> as Iterator>::fold",
		"core::iter::adapters::filter_map::filter_map_fold::{{closure}}":      "…::filter_map_fold::{{closure}}",
		"alpha::beta::gamma::delta::epsilon::operator<(zeta::Eta, theta::It)": "…::gamma::delta::epsilon::operator<(…)",
		"std::function<void ()>::operator()() const volatile":                 "std::function<void ()>::operator()() const volatile",
		"base::a_long_namespace::another::Class::~Class()":                    "…::another::Class::~Class()",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
	rust := "std::panicking::catch_unwind::do_call::<std::rt::lang_start_internal, isize>"
	if got := Fold(rust); got != "…::catch_unwind::do_call::<…>" {
		t.Errorf("%q", got)
	}
}

func TestBaseName(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b.c": "b.c", `C:\x\y.cpp`: "y.cpp", "b.c": "b.c", "": "", "/": "", "dir/": "dir",
		"hg:hg.mozilla.org/central:dom/base/x.cpp:abc123": "x.cpp",
		"git:github.com/rust-lang/rust:library/s.rs:abc":  "s.rs",
	} {
		if got := BaseName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 10881: "10,881", -1234567: "-1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
