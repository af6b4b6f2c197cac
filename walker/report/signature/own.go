package signature

import (
	"slices"
	"strings"
)

// Own is Crashpane's lists of functions and modules of systems and of the runtimes of C, C++,
// Objective-C, Swift, Rust, Go and .NET.
var Own Lists = ownLists{}

type ownLists struct{}

// Irrelevant also ignores a frame with nothing but an address: the address differs in each run, and
// its caller jumped there by mistake. And a word of the stack that a scan found to be in a system's
// library: old ones differ in each run, too.
func (ownLists) Irrelevant(word string, f *Frame) bool {
	nameless := f.Function == "" && f.File == ""
	return nameless && f.Module == "" && f.Unloaded == "" || nameless && f.Scanned && systemModules.has(f.Module) || irrelevant.has(word) && !f.isOther(word)
}

func (ownLists) Prefix(word string, f *Frame) bool {
	return systemModules.has(f.Module) || prefixes.has(word) && !f.isOther(word) || isStandardImpl(f.Function) || f.Inlined && isStandardFile(f.File)
}

// isOther reports whether a function of C++ only has a name of the lists: those in core:: and alloc::
// are Rust's, and those of C's library have no parameters in their names.
func (f *Frame) isOther(word string) bool {
	return f.Language == LanguageCPP && (strings.HasPrefix(word, "core::") || strings.HasPrefix(word, "alloc::") || cNames.has(word))
}

// standardFiles are parts of the paths of standard libraries' sources, whose functions compilers inline
// into those of programs.
var standardFiles = []string{"/rustc/", "/rustlib/src/rust/", "/include/c++/", "/libcxx/include/", "/libc++/", "/vc/tools/msvc/", "/vctools/crt/", "/usr/include/", "/usr/local/go/src/"}

func isStandardFile(file string) bool {
	file = strings.ToLower(strings.ReplaceAll(file, `\`, "/"))
	return slices.ContainsFunc(standardFiles, func(part string) bool { return strings.Contains(file, part) })
}

// Once makes consecutive frames in a module without symbols one word.
func (ownLists) Once(word string, f *Frame) bool { return f.Function == "" }

// Shown marks a name that is only the nearest one before the address: "after DllMain". The offset is
// not in the word. It differs between builds, and between the places of one function, so that it
// would part equal crashes. The module alone would join all crashes in it. The name is what a public
// symbol can say for most builds alike, and the mark keeps a crash in a function without a name apart
// from those in the function of that name. The lists see the word without the mark, since most
// functions of a system's libraries have no other name than an export.
//
// A lambda is one without its number, which is another one by GCC ({lambda#1}) and by Clang ($_0).
func (ownLists) Shown(word string, f *Frame) string {
	word = withoutLambdas(word)
	if f.Nearest {
		return "after " + word
	}
	return word
}

// withoutLambdas writes "{lambda}" for "{lambda#1}", and for "$" as a name of its own.
func withoutLambdas(word string) string {
	const numbered, plain = "{lambda#", "{lambda}"
	rest := strings.ReplaceAll(word, "::$::", "::"+plain+"::")
	var b strings.Builder
	for {
		before, after, found := strings.Cut(rest, numbered)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest = strings.TrimLeft(after, "0123456789"); !strings.HasPrefix(rest, "}") {
			b.WriteString(numbered + after)
			return b.String()
		}
		b.WriteString(plain)
		rest = rest[1:]
	}
}

func (ownLists) WithLine(string) bool  { return false }
func (ownLists) Sentinel([]string) int { return 0 }

// list is a set of names and of prefixes of names.
type list struct {
	names  map[string]bool
	begins []string
}

// newList parses a list of entries separated by white space. An entry that ends with "*" is a
// prefix. The names of another list and some more are added.
func newList(text string, and list, names ...string) list {
	l := list{names: map[string]bool{}}
	for n := range and.names {
		l.names[n] = true
	}
	for _, n := range names {
		l.names[n] = true
	}
	for _, entry := range strings.Fields(text) {
		if begin, ok := strings.CutSuffix(entry, "*"); ok {
			l.begins = append(l.begins, begin)
		} else {
			l.names[entry] = true
		}
	}
	return l
}

func (l *list) has(word string) bool {
	if l.names[word] {
		return true
	}
	return slices.ContainsFunc(l.begins, func(begin string) bool { return strings.HasPrefix(word, begin) })
}

// isStandardImpl reports whether a name is a method of Rust's standard library for one of its own
// types: "<u64 as core::fmt::Display>::fmt", "<core::fmt::rt::Argument>::fmt". A program's
// implementation of a standard trait is the program's code: "<app::Thing as
// core::fmt::Display>::fmt".
func isStandardImpl(name string) bool {
	self, ok := strings.CutPrefix(name, "<")
	if !ok {
		return false
	}
	self, trait, impl := strings.Cut(self, " as ")
	self = strings.TrimPrefix(strings.TrimLeft(self, "&*[( "), "mut ")
	if !impl {
		// Only the standard library can give methods to a type that is in no crate: "<[u8]>::fill".
		of, _, _ := strings.Cut(self, ">::")
		return isStandardPath(self) || !strings.Contains(of, "::") && of != self
	}
	return isStandardPath(trait) && (isStandardPath(self) || !strings.Contains(self, "::"))
}

func isStandardPath(s string) bool {
	return strings.HasPrefix(s, "core::") || strings.HasPrefix(s, "alloc::") || strings.HasPrefix(s, "std::")
}

// irrelevant has functions that end a program, or pass on the exception that ends it. A signature
// skips them.
var irrelevant = newList(`
	raise gsignal abort __GI_raise __GI_abort tgkill kill __kill pthread_kill __pthread_kill __pthread_kill_*
	__assert_fail __assert_fail_base __assert_rtn __assert __assert2 __libc_message* __libc_fatal __fortify_fail* __chk_fail __stack_chk_fail
	malloc_printerr __restore_rt __kernel_rt_sigreturn __kernel_sigreturn _sigtramp abort_report_np __abort abort_message
	__libc_assert_fail ___pthread_kill backtrace __backtrace* bionic_abort async_safe_fatal*
	RaiseException RtlRaiseException RtlRaiseStatus KiUserExceptionDispatcher KiRaiseUserExceptionDispatcher UnhandledExceptionFilter
	RaiseFailFastException RtlReportCriticalFailure RtlReportFatalFailure RtlFailFast* RtlpHandleInvalidUserCallTarget __fastfail
	_CxxThrowException _invoke_watson _invalid_parameter* invoke_watson common_assert* _wassert __report_gsfailure __report_rangecheckfailure
	__scrt_* terminate __std_terminate _purecall issue_debug_notification DebugBreak
	std::terminate __terminate std::__terminate __cxxabiv1::__terminate __cxxabiv1::__unexpected __cxa_throw __cxa_rethrow __cxa_throw_bad_*
	__cxa_pure_virtual __cxa_deleted_virtual __gnu_cxx::__verbose_terminate_handler demangling_terminate_handler _objc_terminate
	__gxx_personality_* _Unwind_* std::__throw_* std::_Xlen* std::_Xout_of_range* std::__1::__throw_* std::__libcpp_verbose_abort
	std::__1::__libcpp_verbose_abort std::unexpected
	objc_exception_throw objc_exception_rethrow objc_terminate __exceptionPreprocess +[NSException* -[NSException* -[NSAssertionHandler*
	_CFThrowFormattedException __raiseError
	swift_fatalError swift::fatalError* swift::swift_abort* _swift_runtime_on_report swift_runtime_on_report _assertionFailure
	_swift_stdlib_reportFatalError* Swift._assertionFailure Swift._fatalErrorMessage Swift.fatalError swift_unexpectedError
	__rustc::* std::alloc::rust_oom* rust_panic rust_begin_unwind __rust_start_panic panic_impl core::panicking::* std::panicking::* std::process::abort std::sys::abort_internal
	std::sys::unix::abort_internal std::sys::pal::* std::sys::backtrace::* std::sys_common::backtrace::* std::rt::* core::intrinsics::*
	core::option::unwrap_failed core::option::expect_failed core::option::expect_none_failed core::result::unwrap_failed core::cell::panic_*
	core::slice::index::slice_* core::slice::index::into_* core::str::slice_error_fail* core::str::traits::str_index_* alloc::alloc::handle_alloc_error
	alloc::alloc::rust_oom alloc::raw_vec::handle_error alloc::raw_vec::capacity_overflow alloc::oom::oom panic_abort::* core::alloc::Layout::*
	core::ops::function::FnOnce::call_once <T>::unwrap core::option::Option<T>::unwrap core::option::Option<T>::expect
	core::result::Result<T>::unwrap core::result::Result<T>::expect core::result::Result<T>::unwrap_err core::result::Result<T>::expect_err
	runtime.raise* runtime.abort* runtime.crash runtime.fatal* runtime.gopanic runtime.panic* runtime.goPanic* runtime.throw* runtime.dieFromSignal
	runtime.sigpanic* runtime.sighandler* runtime.sigtramp* runtime.sigfwd* runtime.sigreturn* runtime.dopanic* runtime.systemstack* runtime.badsignal*
	runtime.signal_ignored* runtime.printpanic*
	RaiseTheException* IL_Throw IL_Rethrow EEPolicy::* CrashDotNet* SfiInit* DispatchManagedException* ProcessCLRException PROCAbort PROCCreateCrashDump*
	PROCCreateCrashDumpIfEnabled invoke_previous_action sigsegv_handler SEHProcessException System.Environment.FailFast*
	base::ImmediateCrash base::debug::BreakDebugger* logging::LogMessage* logging::CheckError* logging::NotReachedError* logging::RawCheck*
	base::internal::OnNoMemory* partition_alloc::internal::OnNoMemory* google::LogMessage* google::LogMessageFatal* crashpad::* google_breakpad::* crash_handler::*
	os::abort VMError::report* report_fatal report_vm_error report_vm_out_of_memory v8::base::OS::Abort
	MOZ_Crash* NS_DebugBreak mozalloc_abort mozalloc_handle_oom
`, list{})

// cNames are functions of C that all kinds of code call, and that crash because of their arguments. A
// signature has them with their caller.
var cNames = newList(`
	memcpy memmove memset memcmp memchr memrchr memmem mempcpy rawmemchr bcopy bzero bcmp memcpy_s memmove_s strlen strnlen strcmp strncmp strcasecmp strncasecmp
	strcpy strncpy strlcpy stpcpy stpncpy strcat strncat strlcat strchr strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strtok strtok_r strsep strdup strndup
	strcoll strxfrm strtol strtoll strtoul strtoull strtod strtof strtold atoi atol atoll atof stricmp _stricmp _strnicmp _strdup strcpy_s strcat_s strncpy_s
	wcslen wcsnlen wcscpy wcsncpy wcscat wcscmp wcsncmp wcschr wcsrchr wcsstr wcsdup _wcsdup _wcsicmp wcscpy_s wcscat_s wmemcpy wmemmove wmemset wmemcmp wmemchr
	malloc calloc realloc free cfree aligned_alloc posix_memalign memalign valloc sysmalloc _int_free _int_malloc _int_realloc malloc_consolidate
	tcache_get tcache_put tcache_init tcache_thread_shutdown arena_get2 arena_get_retry _free_base _malloc_base _realloc_base _calloc_base _free_dbg _malloc_dbg
	RtlEnterCriticalSection RtlLeaveCriticalSection EnterCriticalSection LeaveCriticalSection RtlFreeHeap RtlAllocateHeap RtlReAllocateHeap HeapFree HeapAlloc
	HeapReAlloc LocalFree GlobalFree
	syscall ioctl poll ppoll select pselect epoll_wait read write readv writev pread pwrite recv send recvfrom sendto nanosleep clock_nanosleep usleep sleep
	qsort qsort_r bsearch printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf asprintf vasprintf sscanf fscanf scanf fwrite fread fputs fgets puts
	fclose fflush fopen objc_release CFRelease CFRetain
`, list{})

// prefixes has the other functions that all kinds of code call: those with names that a program does not
// give to its own, and those in the namespaces of runtimes.
var prefixes = newList(`
	__mem* __str* __wcs* __wmem* __rep_* _platform_mem* _platform_str* _intel_fast_* __asan_* __interceptor_* __sanitizer_* __ubsan_* __tsan_* __msan_* __hwasan_*
	__libc_malloc __libc_free __libc_realloc __libc_calloc __libc_memalign unlink_chunk* je_* _rjem_* __rust_* __rdl_* __rg_* malloc_zone_* _malloc_zone_*
	RtlpFreeHeap* RtlpAllocateHeap* RtlpLogHeapFailure RtlpHp* NtWaitFor* ZwWaitFor* WaitForSingleObject* WaitForMultipleObjects*
	pthread_mutex_* __pthread_mutex_* pthread_cond_* __pthread_cond_* __syscall* __read __write __poll __select mach_msg* __psynch_* __qsort* __vfprintf_* __printf_*
	std::* core::* alloc::* __gnu_cxx::* __cxxabiv1::* stdext::* absl::* folly::* boost::* objc_msgSend* objc_retain* objc_autorelease* objc_store*
	-[__NSArray* -[__NSDictionary* -[__NSPlaceholder* -[NSObject(NSObject)* -[NSArray* -[__NSCF* Swift.*
	swift_retain* swift_release* swift_bridgeObject* swift_unknownObject* swift_unowned* swift_weak* swift_dynamicCast* swift_allocObject swift_dealloc*
	swift_initStackObject swift_isUniquelyReferenced* swift_beginAccess* swift_endAccess* swift_once swift_slowAlloc swift_slowDealloc swift_get* swift_task_* swift_job_*
	runtime.* internal/* reflect.* sync.* fmt.* strings.* bytes.*
	System.*
`, cNames, "operator new", "operator new[]", "operator delete", "operator delete[]")

// systemModules has libraries of systems and runtimes. Their frames are prefixes, since they crash
// because of their callers.
var systemModules = newList(`
	libc.so* libc-2.* libpthread.so* libpthread-2.* ld-linux* ld-2.* ld-musl* ld.so* linux-gate.so* linux-vdso.so* libstdc++.so* libgcc_s.so* libm.so* libm-2.* libdl.so* libdl-2.*
	libc++.so* libc++abi.so* libc++_shared.so librt.so* librt-2.* libasan.so* libubsan.so* libtsan.so* libclang_rt.* libswift* libobjc.so*
	libc.musl* libsystem_* libdyld.dylib dyld dyld_sim libobjc.A.dylib libc++.1.dylib libc++abi.dylib CoreFoundation Foundation ntdll.dll kernel32.dll
	kernelbase.dll ucrtbase.dll ucrtbased.dll vcruntime140* msvcp* msvcr* clr.dll coreclr.dll libstdc++-6.dll libgcc_s_* libwinpthread-1.dll
	libcoreclr.so wow64.dll wow64cpu.dll wow64win.dll user32.dll win32u.dll bionic libart.so
`, list{})
