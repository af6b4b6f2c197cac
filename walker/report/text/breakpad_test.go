package text

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report"
)

// TestReason: the words of exceptions, read off Breakpad's sources.
func TestReason(t *testing.T) {
	for _, c := range []struct {
		system      string
		cpu         uint16
		name        string
		code, flags uint32
		params      []uint64
		want        string
	}{
		{"Windows NT", 0, "EXCEPTION_ACCESS_VIOLATION_READ", 0xc0000005, 0, []uint64{0, 0x45}, "EXCEPTION_ACCESS_VIOLATION_READ"},
		{"Windows NT", 0, "EXCEPTION_ACCESS_VIOLATION_WRITE", 0xc0000005, 0, []uint64{1, 0xffffffff80001234}, "EXCEPTION_ACCESS_VIOLATION_WRITE"},
		{"Windows NT", 9, "EXCEPTION_ACCESS_VIOLATION_EXEC", 0xc0000005, 0, []uint64{8, 0}, "EXCEPTION_ACCESS_VIOLATION_EXEC"},
		{"Windows NT", 9, "EXCEPTION_ACCESS_VIOLATION_READ", 0xc0000005, 0, []uint64{0, ^uint64(0)}, "EXCEPTION_ACCESS_VIOLATION_READ"},
		{"Windows NT", 9, "EXCEPTION_ACCESS_VIOLATION", 0xc0000005, 0, nil, "EXCEPTION_ACCESS_VIOLATION"},
		{"Windows NT", 9, "EXCEPTION_ACCESS_VIOLATION", 0xc0000005, 0, []uint64{3, 0x5000000}, "EXCEPTION_ACCESS_VIOLATION"},
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_NO_SUCH_DEVICE", 0xc0000006, 0, []uint64{0, 0x5000000, 0xffffffffc000000e}, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_NO_SUCH_DEVICE"},
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_WRITE", 0xc0000006, 0, []uint64{1, 0x5000000}, "EXCEPTION_IN_PAGE_ERROR_WRITE"},
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_EXEC / 0xcdcdcdcd", 0xc0000006, 0, []uint64{8, 0x5000000, 0xcdcdcdcd}, "EXCEPTION_IN_PAGE_ERROR_EXEC / 0xcdcdcdcd"},
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_PENDING", 0xc0000006, 0, []uint64{0, 0x5000000, 0x103}, "EXCEPTION_IN_PAGE_ERROR_READ / 0x00000103"},
		{"Windows NT", 9, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_FATAL_APP_EXIT", 0xc0000409, 1, []uint64{7}, "FAST_FAIL_FATAL_APP_EXIT"},
		{"Windows NT", 9, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_LEGACY_GS_VIOLATION", 0xc0000409, 1, []uint64{0}, "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{"Windows NT", 9, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_ASAN_ERROR", 0xc0000409, 1, []uint64{71}, "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{"Windows NT", 9, "EXCEPTION_STACK_BUFFER_OVERRUN / 0x000003e7", 0xc0000409, 1, []uint64{999}, "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{"Windows NT", 9, "STATUS_STACK_BUFFER_OVERRUN", 0xc0000409, 1, nil, "EXCEPTION_STACK_BUFFER_OVERRUN"},
		{"Windows NT", 0, "STATUS_WX86_BREAKPOINT", 0x4000001f, 0, nil, "0x4000001f / 0x00000000"},
		{"Windows NT", 0, "STATUS_HEAP_CORRUPTION", 0xc0000374, 1, nil, "EXCEPTION_HEAP_CORRUPTION"},
		{"Windows NT", 0, "EXCEPTION_STACK_OVERFLOW", 0xc00000fd, 0, []uint64{1, 0x32f00}, "EXCEPTION_STACK_OVERFLOW"},
		{"Windows NT", 0, "STATUS_INVALID_PARAMETER", 0xc000000d, 0, nil, "0xc000000d / 0x00000000"},
		{"Windows NT", 0, "Unhandled C++ Exception", 0xe06d7363, 1, nil, "Unhandled C++ Exception"},
		{"Windows NT", 0, "MANAGED_EXCEPTION_CODE_V4", 0xe0434352, 1, nil, "0xe0434352 / 0x00000001"},
		{"Windows NT", 0, "Out of Memory", 0xe0000008, 1, nil, "Out of Memory"},
		{"Windows NT", 0, "Simulated Exception", 0x0517a7ed, 0, nil, "Simulated Exception"},
		{"Windows NT", 0, "DBG_CONTROL_C", 0x40010005, 0, nil, "DBG_CONTROL_C"},
		{"Windows NT", 0, "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND", 0xc06d007e, 0, nil, "0xc06d007e / 0x00000000"},
		{"Windows NT", 0, "ERROR_ACCESS_DENIED", 5, 0, nil, "0x00000005 / 0x00000000"},
		{"Windows NT", 0, "unknown 0x12345678", 0x12345678, 2, nil, "0x12345678 / 0x00000002"},
		{"Linux", 9, "SIGSEGV / SEGV_MAPERR", 11, 1, nil, "SIGSEGV /SEGV_MAPERR"},
		{"Linux", 9, "SIGSEGV", 11, 0, nil, "SIGSEGV /0x00000000"},
		{"Linux", 9, "SIGSEGV / SI_KERNEL", 11, 0x80, nil, "SIGSEGV /0x00000080"},
		{"Linux", 12, "SIGSEGV / SEGV_MTESERR", 11, 9, nil, "SIGSEGV /SEGV_MTESERR"},
		{"Linux", 9, "SIGBUS / BUS_ADRALN", 7, 1, nil, "SIGBUS / BUS_ADRALN"},
		{"Linux", 9, "SIGFPE / FPE_INTDIV", 8, 1, nil, "SIGFPE / FPE_INTDIV"},
		{"Linux", 9, "SIGFPE", 8, 0, nil, "SIGFPE / 0x00000000"},
		{"Linux", 9, "SIGILL / ILL_BADIADDR", 4, 9, nil, "SIGILL / 0x00000009"},
		{"Linux", 9, "SIGTRAP / TRAP_BRKPT", 5, 1, nil, "SIGTRAP"},
		{"Linux", 9, "SIGABRT / SI_TKILL", 6, 0xfffffffa, nil, "SIGABRT"},
		{"Linux", 9, "SIGABRT / 0x0000004d", 6, 77, nil, "SIGABRT"},
		{"Linux", 9, "SIGSYS / SYS_SECCOMP", 31, 1, nil, "SIGSYS"},
		{"Android", 5, "DUMP_REQUESTED", 0xffffffff, 0, nil, "DUMP_REQUESTED"},
		{"Linux", 5, "unknown 0x00000000 / 0x00000000", 0, 0, nil, "0x00000000 / 0x00000000"},
		{"Mac OS X", 9, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", 1, 1, nil, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"},
		{"Mac OS X", 9, "EXC_BAD_ACCESS / EXC_I386_GPFLT", 1, 13, nil, "EXC_BAD_ACCESS / EXC_I386_GPFLT"},
		{"Mac OS X", 9, "EXC_BAD_ACCESS / KERN_FAILURE", 1, 5, nil, "EXC_BAD_ACCESS / 0x00000005"},
		{"Mac OS X", 12, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN", 1, 0x101, nil, "EXC_BAD_ACCESS / 0x00000101"},
		{"Mac OS X", 0x8003, "EXC_BAD_ACCESS / EXC_ARM_SP_ALIGN", 1, 0x103, nil, "EXC_BAD_ACCESS / 0x00000103"},
		{"Mac OS X", 0x8003, "EXC_BAD_ACCESS / EXC_ARM_PAC_FAIL", 1, 0x105, nil, "EXC_BAD_ACCESS / 0x00000105"},
		{"Mac OS X", 0x8003, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN", 1, 0x101, nil, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN"},
		{"iOS", 5, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT", 6, 1, nil, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT"},
		{"Mac OS X", 12, "EXC_ARITHMETIC / EXC_ARM_FP_DZ", 3, 2, nil, "EXC_ARITHMETIC / 0x00000002"},
		{"Mac OS X", 0, "EXC_ARITHMETIC / EXC_I386_DIV", 3, 1, nil, "EXC_ARITHMETIC / EXC_I386_DIV"},
		{"Mac OS X", 3, "EXC_BAD_INSTRUCTION / EXC_PPC_PRIVINST", 2, 3, nil, "EXC_BAD_INSTRUCTION / EXC_PPC_PRIVINST"},
		{"Mac OS X", 9, "EXC_SOFTWARE / SIGABRT", 5, 0x10002, nil, "EXC_SOFTWARE / SIGABRT"},
		{"Mac OS X", 9, "EXC_SOFTWARE / UNCAUGHT_NS_EXCEPTION", 5, 0xdeadc0de, nil, "EXC_SOFTWARE / UNCAUGHT_NS_EXCEPTION"},
		{"Mac OS X", 9, "EXC_RPC_ALERT / 0x00000007", 9, 7, nil, "EXC_RPC_ALERT / 0x00000007"},
		{"Mac OS X", 9, "Simulated Exception", 0x43507378, 0, nil, "Simulated Exception"},
		{"iOS", 9, "Uncaught NSException", 0x43506e78, 0, nil, "Uncaught NSException"},
		{"Mac OS X", 9, "EXC_RESOURCE / RESOURCE_TYPE_CPU / FLAVOR_CPU_MONITOR interval: 180s CPU limit: 5% CPU consumed: 7%", 11, 1 << 29, []uint64{11, 1<<58 | 180<<7 | 5, 7}, "EXC_RESOURCE / 0x20000000"},
		{"Mac OS X", 9, "EXC_RESOURCE / RESOURCE_TYPE_MEMORY / FLAVOR_HIGH_WATERMARK high watermark limit: 50MiB", 11, 3 << 29, []uint64{11, 1<<58 | 50, 0}, "EXC_RESOURCE / 0x60000000"},
		{"Mac OS X", 9, "EXC_RESOURCE / RESOURCE_TYPE_WAKEUPS / 0x1400000000000000 / 0x0000000000000009", 11, 2 << 29, []uint64{11, 5 << 58, 9}, "EXC_RESOURCE / 0x40000000"},
		{"Mac OS X", 9, "EXC_RESOURCE / 0xe0000000", 11, 7 << 29, nil, "EXC_RESOURCE / 0xe0000000"},
		{"Mac OS X", 9, "EXC_GUARD / GUARD_TYPE_MACH_PORT / GUARD_EXC_INCORRECT_GUARD port name: 259 subcode: 3", 12, 1 << 29, []uint64{12, 0x10<<32 | 259, 3}, "EXC_GUARD / 0x20000000"},
		{"Mac OS X", 9, "EXC_GUARD / GUARD_TYPE_FD / GUARD_EXC_CLOSE file descriptor: 4 guard identifier: 99", 12, 2 << 29, []uint64{12, 1<<32 | 4, 99}, "EXC_GUARD / 0x40000000"},
		{"Mac OS X", 9, "EXC_GUARD / GUARD_TYPE_USER / namespace: 8 guard identifier: 99", 12, 3 << 29, []uint64{12, 8, 99}, "EXC_GUARD / 0x60000000"},
		{"Mac OS X", 9, "EXC_GUARD / GUARD_TYPE_REJECTED_SC / GUARD_EXC_MACH_TRAP syscall: 42", 12, 6 << 29, []uint64{12, 0, 42}, "EXC_GUARD / 0xc0000000"},
		{"Mac OS X", 9, "EXC_GUARD / GUARD_TYPE_NONE", 12, 0, nil, "EXC_GUARD / 0x00000000"},
		{"Solaris", 0x8001, "SIGIOT | SIGABRT", 6, 0, nil, "SIGIOT | SIGABRT"},
		{"PS3", 0x8002, "COPRO_HALTINSTR_UNKNOWN", 20, 0, nil, "COPRO_HALTINSTR_UNKNOWN"},
		{"PS3", 0x8002, "UNKNOWN", 0, 0, nil, "UNKNOWN"},
		{"Fuchsia", 12, "FATAL_PAGE_FAULT", 0x108, 0, nil, "FATAL_PAGE_FAULT / 0x00000000"},
		{"", 0xffff, "unknown 0x0000000b / 0x00000001", 11, 1, nil, "0x0000000b / 0x00000001"},
		// Names of NTSTATUS errors that Breakpad's table lacks, and the last and first around them.
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_X", inPageError, 0, []uint64{0, 0, 0xc0000035}, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_X"},
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_X", inPageError, 0, []uint64{0, 0, 0xc0000036}, "EXCEPTION_IN_PAGE_ERROR_READ / 0xc0000036"},
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_X", inPageError, 0, []uint64{0, 0, 0xc0000484}, "EXCEPTION_IN_PAGE_ERROR_READ / 0xc0000484"},
		{"Windows NT", 9, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_X", inPageError, 0, []uint64{0, 0, 0xc0000500}, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_X"},
	} {
		r := &report.Report{System: report.System{OS: c.system, Processor: c.cpu, Known: true}}
		if got := Reason(r, &report.Reason{Name: c.name, Code: c.code, Flags: c.flags}, c.params); got != c.want {
			t.Errorf("%s %s, code %#x, flags %#x: %q, want %q", c.system, c.name, c.code, c.flags, got, c.want)
		}
	}
}

// TestSystemWords: what the dump says about the system and of a module, in Breakpad's words.
func TestSystemWords(t *testing.T) {
	build := ""
	r := &report.Report{System: report.System{Known: true, OSVersion: "6.1.0", Numbers: [3]uint32{0, 0, 0}, BuildText: &build, CPU: "x86", Processor: 10,
		CPUInfo: "GenuineIntel family 6 model 1 stepping 2"}}
	if have := osVersion(r) + "|" + cpuName(r) + "|" + cpuInfo(r); have != "0.0.0 |0x000a|" {
		t.Error(have)
	}
	r.System.BuildText, r.System.Processor, r.System.CPU, r.System.CPUInfo = nil, 5, "arm", "ARMv7 features: swp,half,0x200000"
	if have := osVersion(r) + "|" + cpuName(r) + "|" + cpuInfo(r); have != "0.0.0|arm|ARMv7 features: swp,half" {
		t.Error(have)
	}
	if have := fileVersion(&report.Module{Version: "65538.3.0.0", FileVersion: [2]uint32{65538, 3}}); have != "1.2.0.3" {
		t.Error(have)
	}
}

// TestRegisterForms: what is printed are registers of the CPU.
func TestRegisterForms(t *testing.T) {
	for a, form := range registerForms {
		for _, name := range form.names {
			if _, ok := a.Lookup(name); !ok {
				t.Errorf("%s: prints %s, which it does not have", a.Name, name)
			}
		}
	}
}
