package signature

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report"
)

func TestWord(t *testing.T) {
	for _, tt := range []struct {
		frame Frame
		want  string
	}{
		{Frame{Function: "static void* Allocator<MozJemallocBase>::malloc(unsigned __int64)"}, "Allocator<T>::malloc"},
		{Frame{Function: "void f(int) const &"}, "f"},
		{Frame{Function: "ns::`anonymous namespace'::g(char*)"}, "ns::(anonymous namespace)::g"},
		{Frame{Function: "a::$_12::operator()(int)"}, "a::$::operator()"},
		{Frame{Function: "f(int arg1, int arg2) [clone .cold.111] [clone .cold.222]"}, "f  "},
		{Frame{Function: "IPC::ParamTraits<nsTSubstring<char> >::Write(IPC::Message *)"}, "IPC::ParamTraits<nsTSubstring<T> >::Write"},
		{Frame{Function: "bool operator< <int>(int, int)"}, "operator<T>"},
		{Frame{Function: "<T as core::fmt::Display>::fmt::h0123456789abcdef", File: "/rustc/lib.rs"}, "<T as core::fmt::Display>::fmt"},
		{Frame{Function: "<app::Cart<u8> as app::Carry>::carry (.llvm.8364)", File: "/src/x.rs"}, "<app::Cart<u8> as app::Carry>::carry"},
		{Frame{Function: "core::ptr::drop_in_place<Vec<u8>>", File: "/rustc/mod.rs"}, "core::ptr::drop_in_place<T>"},
		{Frame{Function: "a(b , c)::d , e"}, "e"},
		{Frame{File: `c:\src\a.cc`, Line: 7}, "a.cc#7"},
		{Frame{File: "/src/a.cc"}, "@0x0"},
		{Frame{Module: "[vdso]", Offset: 7}, "vdso"},
		{Frame{Unloaded: "gone.dll", Offset: 7}, "(unloaded gone.dll)"},
		{Frame{Offset: 0x7f00}, "@0x7f00"},
		{Frame{Function: "unclosed<a(b"}, "unclosed<T>"},
	} {
		if have := tt.frame.Word(Own); have != tt.want {
			t.Errorf("%+v:\n have %q\n want %q", tt.frame, have, tt.want)
		}
	}
}

func calls(names ...string) (out []Frame) {
	for _, n := range names {
		if strings.HasSuffix(n, ".so.6") || strings.HasSuffix(n, ".dll") || n == "app" {
			out = append(out, Frame{Module: n, Offset: 1})
		} else {
			out = append(out, Frame{Function: n, File: "/src/x.rs", Line: 1})
		}
	}
	return out
}

func TestPlace(t *testing.T) {
	for _, tt := range []struct {
		stack           []Frame
		place           int
		signature, when string
	}{
		{calls("__pthread_kill_implementation", "raise", "abort", "app::run", "main"), 3, "app::run", ""},
		{calls("libc.so.6", "libc.so.6", "libc.so.6", "app::run"), 3, "libc.so.6 | app::run", ""},
		{calls("ntdll.dll", "kernelbase.dll", "app"), 2, "ntdll.dll | kernelbase.dll | app", ""},
		{calls("core::ptr::write_volatile", "app::crash"), 1, "core::ptr::write_volatile | app::crash", ""},
		{calls("<u64 as core::fmt::Display>::fmt", "core::fmt::write", "std::io::Write::write_fmt", "app::show"), 3,
			"<u64 as core::fmt::Display>::fmt | core::fmt::write | std::io::Write::write_fmt | app::show", ""},
		{calls("<app::T as core::fmt::Display>::fmt", "core::fmt::write"), 0, "<app::T as core::fmt::Display>::fmt", ""},
		{calls("<core::fmt::rt::Argument>::fmt", "app::show"), 1, "<T>::fmt | app::show", ""},
		{append([]Frame{{Offset: 0x41414141}}, calls("app::call")...), 1, "app::call", ""},
		{[]Frame{{Function: "__fsetlocking", Module: "libc-2.13.so"}, {Function: "app::call", Module: "app"}}, 1, "__fsetlocking | app::call", ""},
		// A name that is only the nearest: the lists know it, and it is marked.
		{[]Frame{{Function: "app_init", Nearest: true}}, 0, "after app_init", ""},
		{[]Frame{{Function: "RaiseException", Nearest: true}, {Function: "memcpy", Nearest: true}, {Function: "app::call"}}, 2,
			"after memcpy | app::call", ""},
		{[]Frame{{Function: "abort", Nearest: true}}, 0, "after abort", ""},
		{[]Frame{{Offset: 0x41414141}}, 0, "@0x41414141", ""},
		{calls("core::panicking::panic_fmt", "core::panicking::panic_bounds_check", "app::index"), 2, "app::index", ""},
		{calls("RaiseException", "_CxxThrowException", "app::load", "main"), 2, "app::load", ""},
		{calls("abort", "raise"), 0, "abort", ""},
		{calls("app::recurse", "app::recurse"), 0, "stackoverflow | app::recurse", "EXCEPTION_STACK_OVERFLOW"},
		{calls("xul.dll", "xul.dll"), 0, "xul.dll", ""},
		{nil, -1, "EMPTY: no frame data available", ""},
	} {
		if have := Place(tt.stack, Own); have != tt.place {
			t.Errorf("%v: place %d, want %d", Words(tt.stack, Own), have, tt.place)
		}
		if have := Of(&Crash{Frames: tt.stack, Reason: tt.when}, Own); have != tt.signature {
			t.Errorf("signature %q, want %q", have, tt.signature)
		}
	}
}

// siggen are lists that are not the project's own.
type siggen struct{ ownLists }

// TestEnded: the place is not in what ended the program; nor is the signature, but with other lists.
func TestEnded(t *testing.T) {
	frame := func(name string) report.Frame {
		return report.Frame{Module: -1, HasFunction: true, Function: report.Name{Raw: name}, Inlines: []report.Inline{}}
	}
	r := &report.Report{Crash: &report.Crash{Ended: 3}, Threads: []report.Thread{{Frames: []report.Frame{frame("onab"), frame("raise"), frame("abort"), frame("crash")}}}}
	name := func(n report.Name) string { return n.Raw }
	if words, at := OfReport(r, Own, name); words != "crash" || at != (Call{3, -1}) {
		t.Errorf("%q %v", words, at)
	}
	if words, at := OfReport(r, siggen{}, name); words != "onab" || at != (Call{3, -1}) {
		t.Errorf("with other lists: %q %v", words, at)
	}
	r.Threads[0].Frames = r.Threads[0].Frames[:3]
	if words, at := OfReport(r, Own, name); words != "onab" || at != (Call{0, -1}) {
		t.Errorf("without other frames: %q %v", words, at)
	}
}

// TestLists: a star within an entry would mean nothing, and no word both ends a program and is
// called by everything.
func TestLists(t *testing.T) {
	for _, l := range []*list{&irrelevant, &prefixes, &systemModules} {
		for name := range l.names {
			if strings.Contains(name, "*") {
				t.Errorf("%s: a star within a name", name)
			}
		}
		for _, begin := range l.begins {
			if begin == "" || strings.Contains(begin, "*") {
				t.Errorf("%q: a star within a beginning", begin)
			}
		}
	}
	for name := range prefixes.names {
		if irrelevant.names[name] {
			t.Errorf("%s is in both lists", name)
		}
	}
}
