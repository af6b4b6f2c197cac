package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/reason"
)

// TestAborted: the functions that end a program say why, and where the program's own frames begin.
// "?" is a frame without a name, "~" before a name means that it is the nearest, and "!" that the
// frame was found by scanning.
func TestAborted(t *testing.T) {
	const glibc, rust = "? raise abort ", "? raise abort _RNvNtNtNtCsjrHSEGnQ3l9_3std3sys3pal4unix14abort_internal _RNvNtCsjrHSEGnQ3l9_3std7process5abort "
	const panics = rust + "_RNvCsfLfy6EI15iL_7___rustc12___rust_abort _RNvCsfLfy6EI15iL_7___rustc10rust_panic _RNvNtCsjrHSEGnQ3l9_3std9panicking15panic_with_hook " +
		"_RNvCsfLfy6EI15iL_7___rustc17rust_begin_unwind _RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt "
	const terminates = glibc + "? ? _ZSt9terminatev "
	for _, c := range []struct{ frames, place, want string }{
		{glibc + "crash main", "crash", ""},
		{glibc + "? __assert_fail crash main", "crash", "an assertion failed"},
		{glibc + "? __fortify_fail __stack_chk_fail crash", "crash", "stack smashing"},
		{glibc + "? __fortify_fail __chk_fail crash", "crash", "a buffer would overflow"},
		{glibc + "? __fortify_fail __chk_fail __strcpy_chk crash", "crash", "a buffer would overflow"},
		{glibc + "? __libc_fatal ? __printf_chk crash", "crash", "a fortified function's check"},
		{glibc + "? ? ? __libc_free _ZdlPv crash", "crash", "a check of the allocator"},
		{terminates + "crash", "crash", "std::terminate was called"},
		{terminates + "__cxa_throw crash", "crash", "a C++ exception that nothing caught"},
		{terminates + "__gxx_personality_v0 ? _Unwind_RaiseException __cxa_throw nx", "nx", "a C++ exception that nothing caught"},
		{terminates + "__cxa_throw ? std::vector::at crash", "std::vector::at", "a C++ exception that nothing caught"}, // the parts of a function have no name
		{terminates + "__cxa_throw _ZSt20__throw_out_of_rangePKc crash", "crash", "a C++ exception that nothing caught"},
		{terminates + "__cxa_rethrow crash", "crash", "thrown again"},
		{terminates + "__cxa_pure_virtual crash", "crash", "a pure virtual function"},
		{"raise abort on_end std::terminate() __cxa_throw crash", "crash", "a C++ exception that nothing caught"},
		{panics + "crash", "crash", "a Rust panic"},
		{panics + "_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check crash", "crash", "a Rust panic: an index is out of bounds"},
		{panics + "_RNvNtCsgEmfK2I1SDS_4core6result13unwrap_failed crash", "crash", "a Rust panic: unwrap or expect of a Result"},
		{panics + "_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const23panic_const_div_by_zero crash", "crash", "divided by zero"},
		{panics + "core::panicking::panic_const::panic_const_add_overflow::h0123456789abcdef crash", "crash", "an integer overflowed"},
		{rust + "_RNvNtCsjrHSEGnQ3l9_3std5alloc8rust_oom _RNvCsfLfy6EI15iL_7___rustc26___rust_alloc_error_handler _RNvNtCslNYArtu3iFV_5alloc5alloc18handle_alloc_error crash",
			"crash", "ran out of memory: Rust's allocator failed"},
		{"runtime.raise.abi0 runtime.dieFromSignal runtime.crash runtime.fatalpanic.func1 runtime.gopanic main.crash", "main.crash", "a Go panic"},
		{"runtime.raise runtime.crash runtime.gopanic runtime.goPanicIndex main.crash", "main.crash", "a Go panic: an index"},
		{"runtime.raise runtime.crash runtime.gopanic runtime.panicmem runtime.sigpanic main.crash", "main.crash", "a Go panic: a nil pointer"},
		{"runtime.raise runtime.crash runtime.fatalthrow.func1 runtime.throw runtime.mapassign", "runtime.mapassign", "a fatal error that Go's runtime found"},
		{"runtime.raise runtime.crash runtime.fatalthrow.func1 runtime.systemstack runtime.fatalthrow runtime.fatal internal/sync.fatal internal/sync.(*Mutex).unlockSlow main.crash",
			"internal/sync.(*Mutex).unlockSlow", "a fatal error that Go's runtime found"},
		{"runtime.raise runtime.crash runtime.fatalthrow.func1 runtime.throw runtime.newstack runtime.morestack.abi0 main.so main.so main.so main.so main.so main.so main.so main.so main.main", "main.so",
			"could not make the goroutine's stack larger; 8 of its 15 frames are main.so"},
		{"raise abort node::OOMErrorHandler(char,v8::OOMDetails) v8::Utils::ReportOOMFailure(int) Builtins_JSEntry addon::make(int) v8::internal::Call() node::Start(int,char**) main",
			"addon::make(int)", "ran out of memory: V8 could not allocate"},
		{"raise abort node::Abort(v8::FunctionCallbackInfo) v8::internal::Call() Builtins_JSEntry main", "main", "process.abort was called"},
		{"raise abort node::Abort() addon::make(int)", "addon::make(int)", ""},
		{"raise abort node::Assert(node::AssertionInfo) node::fs::Read(v8::FunctionCallbackInfo)", "node::fs::Read(v8::FunctionCallbackInfo)", "a check of Node"},
		{"raise abort ? os::abort(bool,void*) VMError::report_and_die(int) crash", "crash", "the Java VM"},
		{"abort -[NSAssertionHandler crash", "crash", "an assertion of Foundation"},
		{"swift_fatalError Swift._assertionFailure(_:_:file:line:flags:) crash", "crash", "Swift"},
		// A program's own handler of SIGABRT, which writes the dump.
		{"onab raise abort crash", "crash", ""},
		{"~raise ~abort crash", "~raise", ""},
		{"raise !abort crash", "!abort", ""},
		{"raise ? !__cxa_throw crash", "!__cxa_throw", ""},
		{"onab ? ! !_ZN9__gnu_cxx27__verbose_terminate_handlerEv _ZSt9terminatev __cxa_throw crash", "crash", "perhaps a C++ exception that nothing caught"},
		{"onab ? !_ZN9__gnu_cxx27__verbose_terminate_handlerEv ! _ZSt9terminatev __cxa_throw crash", "onab", ""},
		{"app::__assert_failed crash", "app::__assert_failed", ""},
	} {
		b := &builder{r: &Report{Crash: &Crash{Event: analysis.Event{Did: "aborted itself"}}, Threads: make([]Thread, 1), MainModule: -1, Modules: []Module{{Name: "/lib/libstdc++.so.6"}}}}
		names := strings.Fields(c.frames)
		for _, n := range names {
			f := Frame{Trust: "cfi", Function: Name{Raw: strings.TrimLeft(n, "~!?")}, Nearest: n[0] == '~'}
			if n == "main" || strings.HasPrefix(n, "addon::") { // not of the library
				f.Module = -1
			}
			if f.HasFunction = n != "?" && n != "!"; n[0] == '!' {
				f.Trust = "scan"
			}
			b.r.Threads[0].Frames = append(b.r.Threads[0].Frames, f)
		}
		b.aborted(reason.Abort)
		if have := b.r.Crash.Sentence(); !strings.Contains(have, c.want) || c.want == "" && have != "aborted itself" {
			t.Errorf("%s: %q, want %q", c.frames, have, c.want)
		}
		if have := names[b.r.Crash.Ended]; have != c.place {
			t.Errorf("%s: the place is %s, want %s", c.frames, have, c.place)
		}
	}
}

// TestAbortedByTrap: a trap is the end of the program only in a function that ends it.
func TestAbortedByTrap(t *testing.T) {
	for frames, want := range map[string]string{
		"v8::base::OS::Abort() node::Abort() crash":                                                     "aborted itself",
		"v8::base::OS::Abort() v8::internal::V8::FatalProcessOutOfMemory(v8::internal::Isolate*) crash": "ran out of memory: V8 could not allocate",
		"crash abort main":                  "hit a breakpoint",
		"handler std::terminate() crash":    "hit a breakpoint",
		"Swift._assertionFailure(_:) crash": "aborted itself: a fatal error that Swift found",
	} {
		b := &builder{r: &Report{Crash: &Crash{Event: analysis.Event{Did: "hit a breakpoint"}}, Threads: make([]Thread, 1)}}
		for _, n := range strings.Fields(frames) {
			b.r.Threads[0].Frames = append(b.r.Threads[0].Frames, Frame{Trust: "cfi", Module: -1, HasFunction: true, Function: Name{Raw: n}})
		}
		b.aborted(reason.Trap)
		if have := b.r.Crash.Event.String(); have != want {
			t.Errorf("%s: %q, want %q", frames, have, want)
		}
	}
}

// TestRuntimes: where JavaScript or Java ended the program, all of Node and of the Java VM is passed by.
func TestRuntimes(t *testing.T) {
	for frames, want := range map[string]bool{
		"raise abort node::Abort(v8::FunctionCallbackInfo) v8::Call() Builtins_JSEntry node::Start(int,char**) main _start": true,
		"raise abort node::Abort(v8::FunctionCallbackInfo) v8::Call() addon::f() node::Start(int,char**) main _start":       false,
		"raise abort node::Assert(node::AssertionInfo) node::fs::Read() node::Start(int,char**) main":                       false,
	} {
		b := &builder{r: &Report{Crash: &Crash{Event: analysis.Event{Did: "aborted itself"}}, Threads: make([]Thread, 1), MainModule: -1}}
		b.r.Modules = []Module{{Name: "/opt/app/libapp.so"}, {Name: "/usr/lib/jvm/lib/server/libjvm.so"}, {Name: "/lib/libc.so.6"}}
		for _, n := range strings.Fields(frames) {
			module, function, found := strings.Cut(n, "!")
			if !found {
				module, function = "", n
			}
			f := Frame{Trust: "cfi", HasFunction: function != "?", Module: map[string]int{"": -1, "app": 0, "jvm": 1, "libc": 2}[module], Function: Name{Raw: function}}
			b.r.Threads[0].Frames = append(b.r.Threads[0].Frames, f)
		}
		if b.aborted(reason.Abort); b.r.Crash.Runtimes != want {
			t.Errorf("%s: %v", frames, b.r.Crash.Runtimes)
		}
	}
}

// TestEnders: findEnder understands one star of a name.
func TestEnders(t *testing.T) {
	for _, e := range enders {
		for _, n := range strings.Fields(e.names) {
			if strings.Count(n, "*") > 1 || n == "*" || strings.Contains(strings.TrimSuffix(n, "(v8::FunctionCallbackInfo*"), "(") || e.did != "" && e.why == "" {
				t.Errorf("%s: %+v", n, e)
			}
		}
	}
}

// TestHandler: without names of the C library, a program's handler of SIGABRT is what that calls, and the
// place is where the program called it. An exception that says more keeps its words.
func TestHandler(t *testing.T) {
	abort, fail := reason.Reason{Kind: reason.Abort, Text: "aborted itself"}, reason.Reason{Kind: reason.Corruption, Text: "found a damaged stack cookie"}
	access := reason.Reason{Kind: reason.Memory}
	for _, c := range []struct {
		why   reason.Reason
		event analysis.Event
		// frames are module!function; "!" before one means that it was found by scanning.
		frames string
		ended  int
	}{
		{abort, analysis.Event{}, "app!onab msvcrt !msvcrt app!crash app!main kernel32", 3},
		{abort, analysis.Event{}, "app!write app!onab ucrtbase app!crash kernel32", 3},
		{abort, analysis.Event{}, "app!onab !msvcrt app!crash", 0},
		{abort, analysis.Event{}, "app!work ucrtbase kernel32 ntdll", 0}, // a thread's first function
		{abort, analysis.Event{}, "app!work kernel32 ntdll", 0},
		{abort, analysis.Event{}, "ucrtbase app!crash", 0},
		{abort, analysis.Event{Sent: true}, "app!onab msvcrt app!crash", 0},
		{fail, analysis.Event{Why: "as it says"}, "app!__report_gsfailure app!__stack_chk_fail app!crash", 2},
		{fail, analysis.Event{}, "app!crash", 0},
		{access, analysis.Event{Did: "jumped to", HasAddress: true, Address: 0x10}, "app app!crash", 1},
		{access, analysis.Event{Did: "jumped to", HasAddress: true, Address: 0x20}, "app app!crash", 0},
		{access, analysis.Event{Did: "jumped to", HasAddress: true, Address: 0x10}, "app!f app!crash", 0},
	} {
		if c.event.Did == "" {
			c.event.Did = c.why.Text
		}
		b := &builder{d: &core.Dump{System: &core.SystemInfo{OS: core.Windows}, Exception: &core.Exception{}}, r: &Report{Crash: &Crash{Event: c.event}, Threads: make([]Thread, 1)}}
		for _, n := range []string{"app.exe", "msvcrt.dll", "ucrtbase.dll", "kernel32.dll", "ntdll.dll"} {
			b.r.Modules = append(b.r.Modules, Module{Name: `C:\` + n})
		}
		for _, n := range strings.Fields(c.frames) {
			module, function, named := strings.Cut(strings.TrimPrefix(n, "!"), "!")
			f := Frame{PC: 0x10, Trust: "cfi", HasFunction: named, Function: Name{Raw: function}}
			f.Module = slices.IndexFunc(b.r.Modules, func(m Module) bool { return strings.HasPrefix(m.Title(), module+".") })
			if n[0] == '!' {
				f.Trust = "scan"
			}
			b.r.Threads[0].Frames = append(b.r.Threads[0].Frames, f)
		}
		if b.ended(&c.why); b.r.Crash.Ended != c.ended {
			t.Errorf("%s: %d frames, want %d", c.frames, b.r.Crash.Ended, c.ended)
		}
		if have := b.r.Crash.Event; have != c.event {
			t.Errorf("%s: %+v", c.frames, have)
		}
	}
}

// TestSentByThread: a signal that the process sent and that the thread is not in a function to send is
// another thread's.
func TestSentByThread(t *testing.T) {
	abort, segv := reason.Reason{Name: "SIGABRT", Kind: reason.Abort, Text: "aborted itself"}, reason.Reason{Name: "SIGSEGV", Kind: reason.Memory}
	const lldbFlags = 0x4c4c4442
	const other = "was sent SIGABRT by another thread: the code that was running did not cause it"
	for _, c := range []struct {
		why           reason.Reason
		did           string
		flags         uint32
		frames, other string
		want          string
	}{
		{abort, "aborted itself", siTKill, "poll main", "f", other},
		{abort, "aborted itself", siTKill, "poll main", "tgkill watchdog", "was sent SIGABRT by another thread: perhaps by thread 1, which is in tgkill"},
		{segv, "sent itself SIGSEGV", siTKill, "work main", "f", "was sent SIGSEGV by another thread: the code that was running did not cause it"},
		{abort, "aborted itself", siTKill, "__restore_sigs raise main", "f", "aborted itself"},
		{abort, "aborted itself", siTKill, "? main", "f", "aborted itself"},
		{abort, "aborted itself", siTKill, "syscall main", "f", "aborted itself"},
		{abort, "aborted itself", 0, "poll main", "f", "aborted itself"},
		{abort, "aborted itself", lldbFlags, "poll main", "f", "was sent SIGABRT: the code that was running did not cause it"},
		{abort, "aborted itself", lldbFlags, "? main", "f", "aborted itself"},
		{abort, "aborted itself", lldbFlags, "raise main", "f", "aborted itself"},
		{segv, "tried to read memory", siTKill, "work main", "f", "tried to read memory"},
	} {
		e := &core.Exception{Flags: c.flags}
		if c.flags == lldbFlags {
			e.Text = "signal SIGABRT"
		}
		b := &builder{d: &core.Dump{System: &core.SystemInfo{OS: core.OSLinux}, Exception: e}, r: &Report{Crash: &Crash{Event: analysis.Event{Did: c.did}}, Threads: make([]Thread, 2)}}
		for i, names := range []string{c.frames, c.other} {
			for _, n := range strings.Fields(names) {
				b.r.Threads[i].Frames = append(b.r.Threads[i].Frames, Frame{Trust: "cfi", Module: -1, HasFunction: n != "?", Function: Name{Raw: n}})
			}
		}
		b.ended(&c.why)
		if have := b.r.Crash.Event.String(); have != c.want {
			t.Errorf("%s: %q, want %q", c.frames, have, c.want)
		}
	}
}
