package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/reason"
	"github.com/crashpane/crashpane/symfile/demangle"
)

// ender are functions of systems and runtimes that end the program, or that pass on what ends it.
// Whatever they call is theirs, or a handler of the program for its end; what went wrong is where
// they are called.
type ender struct {
	// names are separated by spaces, without parameters and spaces of their own. One may have a "*", for any text.
	// With a parenthesis one is compared with the parameters, too.
	names string
	// did is what the process did, if it is not that it aborted itself; why is the cause, or "" for
	// functions that serve several.
	did, why string
	// deep: the stack may be too deep, so that a recursion is reported.
	deep bool
	// through are names of functions by which the runtime calls the program, and was itself called: those
	// that follow are not the crash's place. One that begins with "/" is a module.
	through string
}

// throughV8 are what calls native functions from JavaScript, runs JavaScript, and starts Node.
const throughV8 = "v8::* node::* Builtins_* uv_*"

// throughJava are the Java VM and its launcher.
const throughJava = "/libjvm.so /jvm.dll /libjvm.dylib /libjli.so /jli.dll /libjli.dylib"

const outOfMemory = "ran out of memory"

// enders is the one table of the causes of aborts. The first row that has a function counts.
var enders = []ender{
	{names: "abort raise gsignal __GI_abort __GI_raise tgkill tkill pthread_kill __pthread_kill* kill __libc_message* __libc_fatal __fortify_fail*"},
	{names: "__assert_fail __assert __assert2 __assert_rtn __assert_perror_fail __libc_assert_fail _assert _wassert", why: "an assertion failed"},
	{names: "__stack_chk_fail __stack_chk_fail_local __stack_smash_handler", why: "stack smashing: the guard value in a function's frame was overwritten"},
	{names: "__chk_fail", why: "a fortified function found that a buffer would overflow"},
	{names: "__*printf_chk", why: "a fortified function's check failed"},
	{names: "__*_chk"},
	{names: "free cfree __libc_free malloc __libc_malloc realloc __libc_realloc calloc __libc_calloc malloc_printerr malloc_corruption* malloc_consolidate " +
		"_int_free* _int_malloc _int_realloc unlink_chunk* abort_report_np malloc_zone_error", why: "a check of the allocator failed: the heap is damaged, or a block was freed wrongly"},
	{names: "operatordelete* operatornew*"},

	{names: "std::terminate std::__terminate __cxxabiv1::__terminate terminate __clang_call_terminate __cxa_call_terminate", why: "std::terminate was called"},
	{names: "std::unexpected __cxa_call_unexpected", why: "a C++ exception left a function that does not list it"},
	{names: "__cxa_throw", why: "a C++ exception that nothing caught"},
	{names: "__cxa_rethrow", why: "a C++ exception that was thrown again and not caught, or there was none"},
	{names: "__cxa_pure_virtual _purecall", why: "a pure virtual function was called"},
	{names: "__cxa_deleted_virtual", why: "a deleted virtual function was called"},
	{names: "std::__glibcxx_assert_fail std::__replacement_assert std::__*::__libcpp_verbose_abort std::__libcpp_verbose_abort", why: "a check of the C++ library failed"},
	{names: "__gnu_cxx::__verbose_terminate_handler __gxx_personality_* _Unwind_* std::__throw_* std::__1::__throw_* __cxa_bad_* __cxa_throw_bad_*"},

	{names: "core::panicking::panic_bounds_check", why: "a Rust panic: an index is out of bounds"},
	{names: "core::slice::index::slice_* core::slice::index::into_*", why: "a Rust panic: a range is out of a slice's bounds"},
	{names: "core::str::slice_error_fail*", why: "a Rust panic: a range is not one of a string's characters"},
	{names: "core::panicking::panic_const::panic_const_div_by_zero core::panicking::panic_const::panic_const_rem_by_zero", why: "a Rust panic: an integer was divided by zero"},
	{names: "core::panicking::panic_const::*_overflow", why: "a Rust panic: an integer overflowed"},
	{names: "core::panicking::assert_failed*", why: "a Rust panic: an assertion failed"},
	{names: "core::panicking::panic_cannot_unwind", why: "a Rust panic that reached a function which may not unwind"},
	{names: "core::panicking::panic_in_cleanup", why: "a Rust panic in a destructor that ran for another panic"},
	{names: "core::option::unwrap_failed", why: "a Rust panic: unwrap of None"},
	{names: "core::option::expect_failed", why: "a Rust panic: expect of None"},
	{names: "core::result::unwrap_failed", why: "a Rust panic: unwrap or expect of a Result"},
	{names: "core::cell::panic_already*", why: "a Rust panic: a RefCell is already borrowed"},
	{names: "alloc::raw_vec::capacity_overflow", why: "a Rust panic: a capacity is too large"},
	{names: "alloc::alloc::handle_alloc_error std::alloc::rust_oom* alloc::alloc::rust_oom", did: outOfMemory, why: "Rust's allocator failed"},
	{names: "core::panicking::* rust_panic rust_begin_unwind __rustc::rust_panic __rustc::rust_begin_unwind std::panicking::rust_panic* std::panicking::begin_panic* " +
		"std::panicking::panic_handler* std::panicking::panic_with_hook", why: "a Rust panic"},
	{names: "std::process::abort std::sys::abort_internal std::sys::*::abort_internal __rustc::* __rust_start_panic panic_abort::* alloc::raw_vec::handle_error " +
		"std::sys::backtrace::__rust_end_short_backtrace* std::sys_common::backtrace::__rust_end_short_backtrace*"},

	{names: "runtime.goPanicIndex* runtime.panicIndex*", why: "a Go panic: an index is out of range"},
	{names: "runtime.goPanicSlice* runtime.panicSlice*", why: "a Go panic: a slice's bounds are out of range"},
	{names: "runtime.panicBounds*", why: "a Go panic: an index or a slice's bounds are out of range"},
	{names: "runtime.panicdivide", why: "a Go panic: an integer was divided by zero"},
	{names: "runtime.panicmem*", why: "a Go panic: a nil pointer, or another address that may not be accessed"},
	{names: "runtime.panicdottype* runtime.panicnildottype", why: "a Go panic: a type assertion failed"},
	{names: "runtime.gopanic", why: "a Go panic"},
	{names: "runtime.newstack runtime.morestack*", why: "Go's runtime could not make the goroutine's stack larger", deep: true},
	{names: "runtime.checkdead", why: "a deadlock: all goroutines wait"},
	{names: "runtime.throw* runtime.fatal runtime.fatalthrow* sync.throw sync.fatal internal/sync.throw internal/sync.fatal", why: "a fatal error that Go's runtime found"},
	{names: "runtime.raise* runtime.crash runtime.abort runtime.dieFromSignal runtime.fatalpanic* runtime.tgkill runtime.sigpanic* runtime.systemstack*"},

	{names: "objc_exception_throw objc_exception_rethrow -[NSException* +[NSException*", why: "an Objective-C exception that nothing caught"},
	{names: "-[NSAssertionHandler*", why: "an assertion of Foundation failed"},
	{names: "Swift._assertionFailure Swift.assertionFailure Swift.preconditionFailure Swift.fatalError Swift._fatalErrorMessage swift::fatalError* swift_fatalError",
		why: "a fatal error that Swift found"},
	{names: "swift_unexpectedError Swift._unexpectedError swift_errorInMain", why: "a Swift error that nothing caught"},

	{names: "v8::internal::V8::FatalProcessOutOfMemory* v8::internal::Heap::FatalProcessOutOfMemory node::OOMErrorHandler v8::Utils::ReportOOMFailure", did: outOfMemory, why: "V8 could not allocate", through: throughV8},
	{names: "node::errors::TriggerUncaughtException v8::internal::Isolate::Throw*", why: "a JavaScript exception that nothing caught", through: throughV8},
	{names: "node::Abort(v8::FunctionCallbackInfo*", why: "process.abort was called", through: throughV8},
	{names: "node::Assert", why: "a check of Node failed"},
	{names: "node::OnFatalError V8_Fatal v8::Utils::ReportApiFailure", why: "a fatal error that V8 found"},
	{names: "node::Abort node::ABORT v8::base::OS::Abort"},
	{names: "report_java_out_of_memory*", did: outOfMemory, why: "Java's heap had no room", through: throughJava},
	{names: "report_vm_out_of_memory*", did: outOfMemory, why: "the Java VM could not allocate"},
	{names: "VMError::report* report_vm_error* report_fatal* os::abort", why: "a fatal error that the Java VM found"},
	{names: "Py_FatalError* _Py_FatalError*", why: "a fatal error that Python found"},
	{names: "rb_bug*", why: "a fatal error that Ruby found"},
	{names: "g_assertion_message*", why: "an assertion of GLib failed"},
	{names: "QMessageLogger::fatal qt_message_fatal", why: "qFatal was called"},
	{names: "base::internal::OnNoMemory* partition_alloc::internal::OnNoMemory* mozalloc_handle_oom", did: outOfMemory, why: "an allocator of the program failed"},
}

// findEnder returns the row that has a function, or nil.
func findEnder(name string) *ender {
	whole, name := spelled(name)
	for i := range enders {
		if matches(enders[i].names, whole, name) {
			return &enders[i]
		}
	}
	return nil
}

// spelled returns a function's name as the table has names, with and without its parameters.
func spelled(name string) (whole, short string) {
	whole = strings.ReplaceAll(demangle.Name(name), " ", "")
	short = whole
	if !strings.HasPrefix(whole, "-[") && !strings.HasPrefix(whole, "+[") {
		short, _, _ = strings.Cut(whole, "(")
	}
	return whole, short
}

// matches reports whether a name is one of those in a text.
func matches(names, whole, short string) bool {
	for pattern := range strings.FieldsSeq(names) {
		name := short
		if strings.Contains(pattern, "(") {
			name = whole
		}
		begin, end, star := strings.Cut(pattern, "*")
		if name == pattern || star && len(name) >= len(begin)+len(end) && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// maxEnders is how many frames are looked at. What ends a program calls few functions; the number is
// that of the calls which a signature considers.
const maxEnders = 40

// ended sets how many of the crashed thread's first frames are not the crash's place, and the event of
// a program that ended itself.
func (b *builder) ended(why *reason.Reason) {
	c, frames := b.r.Crash, b.r.Threads[b.r.Crash.Thread].Frames
	switch {
	case b.sentByThread(why, frames):
	case len(frames) < 2:
	case c.Event.Did == "jumped to" && c.Event.HasAddress && c.Event.Address == frames[0].PC && !named(&frames[0]):
		c.Ended = 1 // what is at the address is not a function
	case c.Event.Did != why.Text || c.Event.Sent:
	case why.Kind == reason.Abort || why.Kind == reason.Trap || why.Kind == reason.Instruction:
		if b.aborted(why.Kind); c.Ended == 0 && why.Kind == reason.Abort {
			c.Ended = b.handler(frames)
		}
	case why.Kind == reason.Corruption || why.Kind == reason.Exception:
		event := c.Event
		b.aborted(reason.Abort)
		c.Event = event // which says more
	}
}

// sentByThread finds out whether another thread of the process sent the signal, by pthread_kill, and sets
// the event. A thread that sends one to itself is in a function that does, or in one that such a function
// has called. Nor does a thread whose function is known and sends none, where the dump does not say who did.
func (b *builder) sentByThread(why *reason.Reason, frames []Frame) bool {
	c, e := b.r.Crash, b.d.Exception
	name, _, _ := strings.Cut(why.Name, " ")
	alone := isSignalAlone(e.Text) // LLDB does not say who sent it
	if os := b.d.OS(); os != core.OSLinux && os != core.Android || e.Flags != siTKill && !alone || len(frames) == 0 || !named(&frames[0]) || frames[0].Function.Raw == "syscall" ||
		c.Event.Did != "sent itself "+name && (why.Kind != reason.Abort || c.Event.Did != why.Text) || b.sends(frames) != "" {
		return false
	}
	by := " by another thread"
	if alone {
		by = ""
	}
	c.Event = analysis.Event{Did: "was sent " + name + by, Why: "the code that was running did not cause it", Sent: true}
	for i := range b.r.Threads {
		if function := b.sends(b.r.Threads[i].Frames); i != c.Thread && function != "" {
			c.Event.Why = fmt.Sprintf("perhaps by %s, which is in %s", b.threadText(i), function)
		}
	}
	return true
}

func named(f *Frame) bool { return f.Named() && !f.Nearest }

// sends returns which of a thread's functions, found by rules, ends programs or sends signals, or "".
func (b *builder) sends(frames []Frame) string {
	for i := range frames[:min(len(frames), maxEnders)] {
		f := &frames[i]
		if f.Scanned() {
			break
		}
		if named(f) && findEnder(f.Function.Raw) != nil {
			return f.Function.Raw
		}
	}
	return ""
}

// handler returns how many frames are those of a program's handler of SIGABRT, which its C library has
// called, and of that library, if nothing names abort and raise there; or 0. The library is between
// frames of the program's, which is not so of one that has called a thread's or a program's first
// function.
//
//	onab < msvcrt.dll < crash < main < kernel32.dll    2
func (b *builder) handler(frames []Frame) int {
	if b.d.OS() != core.Windows {
		return 0
	}
	in := func(i int) string {
		if m := frames[i].Module; m >= 0 {
			return strings.ToLower(BaseName(b.r.Modules[m].Name))
		}
		return ""
	}
	isC := func(i int) bool { return strings.HasPrefix(in(i), "msvcr") || strings.HasPrefix(in(i), "ucrtbase") }
	of := frames[0].Module
	i := 0
	for i < len(frames) && frames[i].Module == of {
		i++
	}
	end := i
	for end < len(frames) && isC(end) {
		end++
	}
	if of < 0 || isC(0) || end == i || end == len(frames) || frames[i].Scanned() || slices.Contains(systemsOwn, in(end)) {
		return 0
	}
	return end
}

// systemsOwn are libraries of Windows that call the first functions of threads.
var systemsOwn = []string{"kernel32.dll", "kernelbase.dll", "ntdll.dll"}

// aborted finds out by the functions of the crashed thread's stack why the program ended itself. It
// sets Event and Ended. Names that are only the nearest show nothing, and nor do guessed frames, unless
// one is of a function that ends programs and its callers, found by rules, are more of these: they show
// what is perhaps the cause.
//
// A processor's trap is how some of those functions stop, if it is in one.
func (b *builder) aborted(kind reason.Kind) {
	c := b.r.Crash
	frames := b.r.Threads[c.Thread].Frames
	event := c.Event
	if kind != reason.Abort {
		event = analysis.Event{Did: "aborted itself"}
	}
	guessed, perhaps, through := false, "", ""
	for i := range frames[:min(len(frames), maxEnders)] {
		f := &frames[i]
		var e *ender
		if named(f) {
			e = findEnder(f.Function.Raw)
		}
		switch {
		case i == 0 && kind != reason.Abort && e == nil:
			return
		case f.Scanned():
			guessed, perhaps = e != nil, "perhaps "
			continue
		case e == nil || perhaps != "" && !guessed:
			continue
		}
		c.Ended = i + 1
		if e.why != "" {
			through = e.through
			event = analysis.Event{Did: cmp.Or(e.did, "aborted itself"), Why: perhaps + e.why}
		}
		if e.deep {
			c.Recursion = recursion(&b.r.Threads[c.Thread])
		}
	}
	if c.Ended == 0 {
		return
	}
	c.Event = event
	for through != "" && c.Ended < len(frames) && b.isThrough(&frames[c.Ended], through) {
		c.Ended++
		if _, name := spelled(frames[c.Ended-1].Function.Raw); name == "node::Start" {
			c.Ended = len(frames) // which is all that Node's own program does
		}
	}
	if through != "" && !slices.ContainsFunc(frames[c.Ended:], func(f Frame) bool { return f.Module < 0 || !b.r.IsSystems(f.Module) }) {
		c.Ended, c.Runtimes = len(frames), true // the system called the runtime
	}
	// What has no name there is a part of the same runtime.
	for i := c.Ended; i+1 < len(frames) && !frames[i].Named() && frames[i].Module >= 0 && frames[i].Module == frames[i-1].Module && b.r.IsSystems(frames[i].Module); i++ {
		c.Ended = i + 1
	}
}

// isThrough reports whether a frame is the runtime's: of a function or a module that names list, or of code
// that the runtime has made.
func (b *builder) isThrough(f *Frame, names string) bool {
	if f.Module >= 0 {
		module := "/" + strings.ToLower(BaseName(b.r.Modules[f.Module].Name))
		if slices.Contains(strings.Fields(names), module) {
			return true
		}
	}
	if !named(f) {
		return f.Module < 0
	}
	whole, short := spelled(f.Function.Raw)
	return matches(names, whole, short)
}
