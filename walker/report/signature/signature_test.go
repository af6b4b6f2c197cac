package signature

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
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
		{Frame{Function: "f(int arg1, int arg2) [clone .cold.111] [clone .cold.222]"}, "f"},
		{Frame{Function: "IPC::ParamTraits<nsTSubstring<char> >::Write(IPC::Message *)"}, "IPC::ParamTraits<nsTSubstring<T> >::Write"},
		{Frame{Function: "bool operator< <int>(int, int)"}, "operator< <T>"},
		{Frame{Function: "operator new[](unsigned long)"}, "operator new[]"},
		{Frame{Function: "void* app::Pool::operator new(unsigned long, std::align_val_t)"}, "app::Pool::operator new"},
		{Frame{Function: "std::ostream& app::A::operator<< <int>(std::ostream&, int) const"}, "app::A::operator<< <T>"},
		{Frame{Function: "app::A::operator std::vector<int>() const"}, "app::A::operator std::vector<T>"},
		{Frame{Function: "app::run(int)::{lambda(int)#1}::operator()(int) const"}, "app::run::{lambda#1}::operator()"},
		{Frame{Function: "app::my_operator(int)"}, "app::my_operator"},
		{Frame{Function: "bool app::A::operator->*(int)"}, "app::A::operator->*"},
		{Frame{Function: "operator"}, "operator"},
		{Frame{Function: "operator("}, "operator"},
		{Frame{Function: "f() [97751]"}, "f"},
		{Frame{Function: "f(int) (.part.0)"}, "f"},
		{Frame{Function: "f(int) [clone .isra.0]"}, "f"},
		{Frame{Function: "-[NSArray x]"}, "-[NSArray x]"},
		{Frame{Function: "internal/sync.(*Mutex).unlockSlow", File: "internal/sync/mutex.go"}, "internal/sync.(*Mutex).unlockSlow"},
		{Frame{Function: "main.(*List[...]).Add.func1"}, "main.(*List[...]).Add.func1"},
		{Frame{Function: "_ZN4core3fmt5write17h0123456789abcdefE", Language: LanguageRust}, "_ZN4core3fmt5write17h0123456789abcdefE"},
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

// If a program ended itself and nothing of it is on the stack, a runtime's function is not a place.
func TestNoPlace(t *testing.T) {
	r := &report.Report{Crash: &report.Crash{Ended: 1}, Threads: make([]report.Thread, 1)}
	for _, name := range []string{"runtime.checkdead", "runtime.mput", "runtime.schedule"} {
		r.Threads[0].Frames = append(r.Threads[0].Frames, report.Frame{Function: report.Name{Raw: name}, Module: -1})
	}
	for frames, want := range map[int]int{0: 0, 1: -1} {
		r.Crash.Ended = frames
		if _, _, at := OfReport(r, Own, func(n report.Name) string { return n.Shown() }); at.Frame != want {
			t.Errorf("%d frames ended it: the place is frame %d, want %d", frames, at.Frame, want)
		}
	}
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
		{[]Frame{{Function: "internal/sync.(*Mutex).unlockSlow"}, {Function: "sync.(*Mutex).Unlock", Inlined: true}, {Function: "main.(*App).run"}}, 2,
			"internal/sync.(*Mutex).unlockSlow | sync.(*Mutex).Unlock | main.(*App).run", ""},
		// A program's own functions that begin as a runtime's do, or are in a namespace that Rust has, too.
		{calls("memcpy_rows", "app::copy"), 0, "memcpy_rows", ""},
		{calls("tiny_parse", "app::run"), 0, "tiny_parse", ""},
		{calls("operator==", "app::find"), 0, "operator==", ""},
		{[]Frame{{Function: "operator new[](unsigned long)", Language: LanguageCPP}, {Function: "app::make"}}, 1, "operator new[] | app::make", ""},
		{[]Frame{{Function: "core::App::run(int)", Module: "app", Language: LanguageCPP}, {Function: "main"}}, 0, "core::App::run", ""},
		{[]Frame{{Function: "alloc::Pool::get()", Module: "app", Language: LanguageCPP}}, 0, "alloc::Pool::get", ""},
		{[]Frame{{Function: "read(char const*)", Module: "app", Language: LanguageCPP}, {Function: "main"}}, 0, "read", ""},
		{[]Frame{{Function: "decode", Module: "libdlib.so"}}, 0, "decode", ""},
		{calls("__memmove_avx_unaligned_erms", "app::copy"), 1, "__memmove_avx_unaligned_erms | app::copy", ""},
		// Inlined helpers of standard libraries, by their names and their files.
		{[]Frame{{Function: "int& std::vector<int>::operator[](unsigned long)", Inlined: true}, {Function: "app::get(int)"}}, 1, "std::vector<T>::operator[] | app::get", ""},
		{[]Frame{{Function: "__insert", File: "/usr/include/c++/12/bits/stl_tree.h", Inlined: true}, {Function: "app::put(int)"}}, 1, "__insert | app::put", ""},
		{[]Frame{{Function: "get", File: `C:\Program Files\Microsoft Visual Studio\2022\VC\Tools\MSVC\14.38.33130\include\xtree`, Inlined: true}, {Function: "app::put"}}, 1, "get | app::put", ""},
		{[]Frame{{Function: "get", File: "/usr/include/c++/12/bits/stl_tree.h"}, {Function: "app::put(int)"}}, 0, "get", ""},
		{[]Frame{{Function: "strcpy", File: "/usr/include/x86_64-linux-gnu/bits/string_fortified.h", Inlined: true}, {Function: "app::fill(char const*)"}}, 1, "strcpy | app::fill", ""},
		{calls("<[u8]>::copy_from_slice", "app::fill"), 1, "<T>::copy_from_slice | app::fill", ""},
		{calls("<app::Buffer<u8>>::fill", "main"), 0, "<T>::fill", ""},
		{[]Frame{{Function: "<unknown in app.exe>", Module: "app"}}, 0, "<unknown in app.exe>", ""},
		{[]Frame{{Module: "kernelbase.dll"}, {Module: "msvcrt.dll", Scanned: true}, {Module: "app"}}, 2, "kernelbase.dll | app", ""},
		{nil, -1, "EMPTY: no frame data available", ""},
	} {
		if have, _ := Place(tt.stack, Own); have != tt.place {
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
	if words, _, at := OfReport(r, Own, name); words != "crash" || at != (Call{3, -1}) {
		t.Errorf("%q %v", words, at)
	}
	if _, word, _ := OfReport(r, Own, name); word != "crash" {
		t.Errorf("the place is spelled %q", word)
	}
	if words, _, at := OfReport(r, siggen{}, name); words != "onab" || at != (Call{3, -1}) {
		t.Errorf("with other lists: %q %v", words, at)
	}
	r.Threads[0].Frames = r.Threads[0].Frames[:3]
	if words, _, at := OfReport(r, Own, name); words != "onab" || at != (Call{0, -1}) {
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

// TestLongSignature: the place is in a signature that is cut.
func TestLongSignature(t *testing.T) {
	var stack []Frame
	for i := range 9 {
		stack = append(stack, Frame{Function: "std::" + strings.Repeat(string(rune('a'+i)), 40)})
	}
	stack = append(stack, Frame{Function: "app::run"})
	have := Of(&Crash{Frames: stack}, Own)
	if !strings.HasPrefix(have, "std::aaaa") || !strings.HasSuffix(have, "e | ... | app::run") || len(have) > maxLength {
		t.Errorf("%q", have)
	}
	if have := Of(&Crash{Frames: stack}, siggen{}); !strings.HasSuffix(have, "f...") || len(have) != maxLength {
		t.Errorf("siggen's: %q", have)
	}
	if have := Of(&Crash{Frames: []Frame{{Function: strings.Repeat("f", 300)}}}, Own); len(have) != maxLength || !strings.HasSuffix(have, "f...") {
		t.Errorf("one word: %q", have)
	}
}

// TestLanguage: what names and files show.
func TestLanguage(t *testing.T) {
	for _, tt := range []struct {
		raw, file string
		want      Language
	}{
		{"_RNvNtCsjrHSEGnQ3l9_3std7process5abort", "", LanguageRust},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "", LanguageRust},
		{"_ZN4core3fmt5write17h0123456789abcdefE.llvm.17", "", LanguageRust},
		{"core::fmt::write::h0123456789abcdef", "", LanguageRust},
		{"core::fmt::write", `C:\x\lib.rs`, LanguageRust},
		{"core::fmt::write", "hg:hg.mozilla.org/x:lib.rs:755067c", LanguageRust},
		{"_ZN4core3App3runEi", "", LanguageCPP},
		{"?run@App@core@@QAEXXZ", "", LanguageCPP},
		{"core::App::run() const", "", LanguageCPP},
		{"core::App::run", `C:\src\app.cpp`, LanguageCPP},
		{"core::App::run", "", LanguageUnknown},
		{"main", "a.c", LanguageUnknown},
		{"strcpy", "/usr/include/bits/string_fortified.h", LanguageUnknown},
	} {
		if have := language(tt.raw, tt.file); have != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.raw, tt.file, have, tt.want)
		}
	}
}

// TestLambdas: a lambda has one word whichever compiler named it. siggen's lists leave its numbers.
func TestLambdas(t *testing.T) {
	for name, want := range map[string]string{
		"app::run(int)::{lambda(int)#1}::operator()(int) const":                  "app::run::{lambda}::operator()",
		"app::run(int)::$_0::operator()(int) const":                              "app::run::{lambda}::operator()",
		"a::{lambda(int)#12}::operator()(int)::{lambda()#1}::operator()() const": "a::{lambda}::operator()::{lambda}::operator()",
		"a::{lambda#x::b": "a::{lambda#x::b",
	} {
		f := Frame{Function: name}
		if have := Own.Shown(f.Word(Own), &f); have != want {
			t.Errorf("%s: have %q, want %q", name, have, want)
		}
	}
}

// TestWordsGrow: a word costs time in proportion to its name, whatever a symbol file has as names.
func TestWordsGrow(t *testing.T) {
	for _, part := range []string{" [1]", " (.1)", " (x)", "::$_1::f", "::a{lambda#1}", "f<int> "} {
		testfile.Growth(t, 200_000, func(size int) (run func()) {
			f := Frame{Function: "f" + strings.Repeat(part, size/len(part))}
			return func() {
				f.Word(Own)
				Own.Shown(f.Function, &f)
			}
		})
	}
}
