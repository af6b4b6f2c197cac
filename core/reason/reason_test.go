package reason

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
)

// TestDecodeFor: the names and sentences of exceptions.
func TestDecodeFor(t *testing.T) {
	const win, lin, mac = core.Windows, core.OSLinux, core.MacOS
	tests := []struct {
		os          core.OS
		cpu         uint16
		code, flags uint32
		addr        uint64
		params      []uint64
		name        string
		text        string
	}{
		// Windows.
		{win, core.ProcX86, 0xc0000005, 0, 0x401000, []uint64{0, 0x45}, "EXCEPTION_ACCESS_VIOLATION_READ", "tried to read memory"},
		{win, core.ProcX86, 0xc0000005, 0, 0x401000, []uint64{1, 0xffffffff80001234}, "EXCEPTION_ACCESS_VIOLATION_WRITE", "tried to write memory"},
		{win, core.ProcAMD64, 0xc0000005, 0, 0, []uint64{8, 0}, "EXCEPTION_ACCESS_VIOLATION_EXEC", "tried to execute code"},
		{win, core.ProcAMD64, 0x40000015, 0, 0x401000, nil, "STATUS_FATAL_APP_EXIT", "aborted itself"},
		{win, core.ProcAMD64, 0xc0000005, 0, 0x401000, []uint64{0, ^uint64(0)}, "EXCEPTION_ACCESS_VIOLATION_READ", "tried to read memory: probably another address that is not canonical; Windows does not say which"},
		{win, core.ProcAMD64, 0xc0000005, 0, 0x401000, nil, "EXCEPTION_ACCESS_VIOLATION", ""},
		{win, core.ProcAMD64, 0xc0000005, 0, 0x401000, []uint64{3, 0x5000000}, "EXCEPTION_ACCESS_VIOLATION", "tried to access memory"},
		{win, core.ProcAMD64, 0xc0000006, 0, 0x401000, []uint64{0, 0x5000000, 0xffffffffc000000e}, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_NO_SUCH_DEVICE", "tried to read memory: its page could not be read in, STATUS_NO_SUCH_DEVICE"},
		{win, core.ProcAMD64, 0xc0000006, 0, 0, []uint64{1, 0x5000000}, "EXCEPTION_IN_PAGE_ERROR_WRITE", "tried to write memory: its page could not be read in"},
		{win, core.ProcAMD64, 0xc0000006, 0, 0, []uint64{8, 0x5000000, 0xcdcdcdcd}, "EXCEPTION_IN_PAGE_ERROR_EXEC / 0xcdcdcdcd", ""},
		{win, core.ProcAMD64, 0xc0000006, 0, 0, []uint64{0, 0x5000000, 0x103}, "EXCEPTION_IN_PAGE_ERROR_READ / STATUS_PENDING", ""},
		{win, core.ProcAMD64, 0xc0000409, 1, 0, []uint64{7}, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_FATAL_APP_EXIT", "aborted itself"},
		{win, core.ProcAMD64, 0xc0000409, 1, 0, []uint64{0}, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_LEGACY_GS_VIOLATION", "found its stack overwritten and stopped itself"},
		{win, core.ProcAMD64, 0xc0000409, 1, 0, []uint64{71}, "EXCEPTION_STACK_BUFFER_OVERRUN / FAST_FAIL_ASAN_ERROR", "was stopped by AddressSanitizer"},
		{win, core.ProcAMD64, 0xc0000409, 1, 0, []uint64{999}, "EXCEPTION_STACK_BUFFER_OVERRUN / 0x000003e7", ""},
		{win, core.ProcAMD64, 0xc0000409, 1, 0, nil, "STATUS_STACK_BUFFER_OVERRUN", ""},
		{win, core.ProcX86, 0x4000001f, 0, 0x401000, nil, "STATUS_WX86_BREAKPOINT", "hit a breakpoint in 32-bit code"},
		{win, core.ProcX86, 0xc0000374, 1, 0, nil, "STATUS_HEAP_CORRUPTION", "found its heap corrupted and stopped itself"},
		{win, core.ProcX86, 0xc00000fd, 0, 0x401000, []uint64{1, 0x32f00}, "EXCEPTION_STACK_OVERFLOW", "ran out of stack"},
		{win, core.ProcX86, 0xc000000d, 0, 0, nil, "STATUS_INVALID_PARAMETER", "raised exception STATUS_INVALID_PARAMETER (0xc000000d)"},
		{win, core.ProcX86, 0xe06d7363, 1, 0, nil, "Unhandled C++ Exception", ""},
		{win, core.ProcX86, 0xe0434352, 1, 0, nil, "MANAGED_EXCEPTION_CODE_V4", "threw a .NET exception that nothing caught"},
		{win, core.ProcX86, 0xe0000008, 1, 0, nil, "Out of Memory", ""},
		{win, core.ProcX86, 0x0517a7ed, 0, 0, nil, "Simulated Exception", ""},
		{win, core.ProcX86, 0x40010005, 0, 0, nil, "DBG_CONTROL_C", ""},
		{win, core.ProcX86, 0xc06d007e, 0, 0, nil, "FACILITY_VISUALCPP / ERROR_MOD_NOT_FOUND", "could not find a delay-loaded DLL"},
		{win, core.ProcX86, 5, 0, 0, nil, "ERROR_ACCESS_DENIED", "raised exception ERROR_ACCESS_DENIED (0x00000005)"},
		{win, core.ProcAMD64, 0x6ba, 0, 0, nil, "RPC_S_SERVER_UNAVAILABLE", "raised exception RPC_S_SERVER_UNAVAILABLE (0x000006ba)"},
		{win, core.ProcAMD64, 0x20474343, 1, 0, nil, "STATUS_GCC_THROW", "threw an exception of C++, or of another language with GCC's runtime, that nothing caught"},
		{win, core.ProcAMD64, 0x4000, 1, 0, nil, "Unreal Engine assertion", "failed an assertion (check or ensure) of Unreal Engine"},
		{win, core.ProcX86, 0x12345678, 2, 0, nil, "unknown 0x12345678", "raised the unknown exception 0x12345678"},
		// Linux.
		{lin, core.ProcAMD64, 11, 1, 0x12345678, nil, "SIGSEGV / SEGV_MAPERR", "tried to access memory: nothing is mapped there"},
		{lin, core.ProcAMD64, 11, 0, 0, nil, "SIGSEGV", "tried to access memory"},
		{lin, core.ProcAMD64, 11, 0x80, 0, nil, "SIGSEGV / SI_KERNEL", ""},
		{lin, core.ProcARM64, 11, 9, 0x1234567, nil, "SIGSEGV / SEGV_MTESERR", "tried to access memory: the memory tags (MTE) do not match"},
		{lin, core.ProcARM64, 11, 8, 0, nil, "SIGSEGV / SEGV_MTEAERR", "accessed memory: the memory tags (MTE) do not match, as the system reported later"},
		{lin, core.ProcAMD64, 11, 10, 0, nil, "SIGSEGV / SEGV_CPERR", "was stopped by SIGSEGV: a control-flow protection check failed"},
		{lin, core.ProcAMD64, 7, 1, 0x1234567, nil, "SIGBUS / BUS_ADRALN", ""},
		{lin, core.ProcAMD64, 8, 1, 0x1234567, nil, "SIGFPE / FPE_INTDIV", "divided an integer by zero"},
		{lin, core.ProcAMD64, 8, 0, 0x1234567, nil, "SIGFPE", "made an arithmetic error"},
		{lin, core.ProcAMD64, 4, 9, 0, nil, "SIGILL / ILL_BADIADDR", ""},
		{lin, core.ProcAMD64, 5, 1, 0, nil, "SIGTRAP / TRAP_BRKPT", "hit a breakpoint"},
		{lin, core.ProcAMD64, 34, 0xffffffff, 0, nil, "SIG34 / SI_QUEUE", "was sent real-time signal 34: sent by sigqueue"},
		{lin, core.ProcAMD64, 65, 0xffffffff, 0, nil, "unknown 0x00000041 / 0xffffffff", ""},
		{lin, core.ProcAMD64, 6, 0xfffffffa, 0, nil, "SIGABRT / SI_TKILL", "aborted itself"},
		{lin, core.ProcAMD64, 6, 77, 0, nil, "SIGABRT / 0x0000004d", "aborted itself"},
		{lin, core.ProcAMD64, 31, 1, 0, nil, "SIGSYS / SYS_SECCOMP", ""},
		{core.Android, core.ProcARM, 0xffffffff, 0, 0, nil, "DUMP_REQUESTED", ""},
		{lin, core.ProcARM, 0, 0, 0, nil, "unknown 0x00000000 / 0x00000000", ""},
		// macOS and iOS.
		{mac, core.ProcAMD64, 1, 1, 0, nil, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", "tried to access memory: nothing is mapped there"},
		{mac, core.ProcAMD64, 1, 13, 0, nil, "EXC_BAD_ACCESS / EXC_I386_GPFLT", ""},
		{mac, core.ProcAMD64, 1, 5, 0, nil, "EXC_BAD_ACCESS / KERN_FAILURE", ""},
		{mac, core.ProcARM64, 1, 0x101, 0x1234567, nil, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN", ""},
		{mac, core.ProcARM64Old, 1, 0x103, 0x1234567, nil, "EXC_BAD_ACCESS / EXC_ARM_SP_ALIGN", "tried to access the stack: the stack pointer is misaligned"},
		{mac, core.ProcARM64Old, 1, 0x105, 0x1234567, nil, "EXC_BAD_ACCESS / EXC_ARM_PAC_FAIL", "used a pointer that is not valid: pointer authentication failed"},
		{mac, core.ProcARM64Old, 1, 0x101, 0x1234567, nil, "EXC_BAD_ACCESS / EXC_ARM_DA_ALIGN", ""},
		{core.IOS, core.ProcARM, 6, 1, 0, nil, "EXC_BREAKPOINT / EXC_ARM_BREAKPOINT", ""},
		{mac, core.ProcARM64, 3, 2, 0, nil, "EXC_ARITHMETIC / EXC_ARM_FP_DZ", ""},
		{mac, core.ProcX86, 3, 1, 0, nil, "EXC_ARITHMETIC / EXC_I386_DIV", "divided an integer by zero"},
		{mac, core.ProcPPC, 2, 3, 0, nil, "EXC_BAD_INSTRUCTION / EXC_PPC_PRIVINST", ""},
		{mac, core.ProcAMD64, 5, 0x10002, 0, nil, "EXC_SOFTWARE / SIGABRT", ""},
		{mac, core.ProcARM64, 5, 0x10003, 0, []uint64{5, 0x10003, 6}, "EXC_SOFTWARE / EXC_SOFT_SIGNAL / SIGABRT", "aborted itself"},
		{mac, core.ProcARM64, 5, 0x10003, 0, []uint64{5, 0x10003, 10}, "EXC_SOFTWARE / EXC_SOFT_SIGNAL / SIGBUS", "failed to access memory"},
		{mac, core.ProcARM64, 5, 0x10003, 0, []uint64{5, 0x10003, 99}, "EXC_SOFTWARE / EXC_SOFT_SIGNAL", "was sent a signal"},
		{mac, core.ProcAMD64, 5, 0xdeadc0de, 0, nil, "EXC_SOFTWARE / UNCAUGHT_NS_EXCEPTION", ""},
		{mac, core.ProcAMD64, 9, 7, 0, nil, "EXC_RPC_ALERT / 0x00000007", ""},
		{mac, core.ProcAMD64, 0x43507378, 0, 0, nil, "Simulated Exception", ""},
		{core.IOS, core.ProcAMD64, 0x43506e78, 0, 0, nil, "Uncaught NSException", ""},
		{mac, core.ProcAMD64, 11, 1 << 29, 0, []uint64{11, 1<<58 | 180<<7 | 5, 7}, "EXC_RESOURCE / RESOURCE_TYPE_CPU / FLAVOR_CPU_MONITOR interval: 180s CPU limit: 5% CPU consumed: 7%", ""},
		{mac, core.ProcAMD64, 11, 3 << 29, 0, []uint64{11, 1<<58 | 50, 0}, "EXC_RESOURCE / RESOURCE_TYPE_MEMORY / FLAVOR_HIGH_WATERMARK high watermark limit: 50MiB", "used too much memory"},
		{mac, core.ProcAMD64, 11, 2 << 29, 0, []uint64{11, 5 << 58, 9}, "EXC_RESOURCE / RESOURCE_TYPE_WAKEUPS / 0x1400000000000000 / 0x0000000000000009", ""},
		{mac, core.ProcAMD64, 11, 7 << 29, 0, nil, "EXC_RESOURCE / 0xe0000000", ""},
		{mac, core.ProcAMD64, 12, 1 << 29, 0, []uint64{12, 0x10<<32 | 259, 3}, "EXC_GUARD / GUARD_TYPE_MACH_PORT / GUARD_EXC_INCORRECT_GUARD port name: 259 subcode: 3", ""},
		{mac, core.ProcAMD64, 12, 2 << 29, 0, []uint64{12, 1<<32 | 4, 99}, "EXC_GUARD / GUARD_TYPE_FD / GUARD_EXC_CLOSE file descriptor: 4 guard identifier: 99", ""},
		{mac, core.ProcAMD64, 12, 3 << 29, 0, []uint64{12, 8, 99}, "EXC_GUARD / GUARD_TYPE_USER / namespace: 8 guard identifier: 99", ""},
		{mac, core.ProcAMD64, 12, 6 << 29, 0, []uint64{12, 0, 42}, "EXC_GUARD / GUARD_TYPE_REJECTED_SC / GUARD_EXC_MACH_TRAP syscall: 42", ""},
		{mac, core.ProcAMD64, 12, 0, 0, nil, "EXC_GUARD / GUARD_TYPE_NONE", ""},
		// Systems with a name for each code.
		{core.Solaris, core.ProcSPARC, 6, 0, 0, nil, "SIGIOT | SIGABRT", "aborted itself"},
		{core.PS3, core.ProcPPC64, 20, 0, 0, nil, "COPRO_HALTINSTR_UNKNOWN", ""},
		{core.PS3, core.ProcPPC64, 0, 0, 0, nil, "UNKNOWN", ""},
		{core.Fuchsia, core.ProcARM64, 0x108, 0, 0, nil, "FATAL_PAGE_FAULT", ""},
		{core.OSUnknown, core.ProcUnknown, 11, 1, 0, nil, "unknown 0x0000000b / 0x00000001", ""},
	}
	for _, tt := range tests {
		r := DecodeFor(tt.os, tt.cpu, tt.code, tt.flags, tt.addr, tt.params)
		if r.Name != tt.name || tt.text != "" && phrase(&r) != tt.text {
			t.Errorf("os %d cpu %#x code %#x flags %#x %x:\n have %q %q\n want %q %q", tt.os, tt.cpu, tt.code, tt.flags, tt.params, r.Name, phrase(&r), tt.name, tt.text)
		}
		if r.Text == "" {
			t.Errorf("os %d code %#x flags %#x: no text", tt.os, tt.code, tt.flags)
		}
	}
}

// phrase is a reason's text with why, if that is known.
func phrase(r *Reason) string {
	if r.Why == "" {
		return r.Text
	}
	return r.Text + ": " + r.Why
}

// TestAddresses: what is cut to 32 bits, and where the address comes from.
func TestAddresses(t *testing.T) {
	const sign = 0xffffffff_80000010
	for _, tt := range []struct {
		os     core.OS
		cpu    uint16
		code   uint32
		addr   uint64
		params []uint64
		want   uint64
	}{
		{core.Windows, core.ProcX86, 0xc0000005, 1, []uint64{0, sign}, 0x80000010},
		{core.Windows, core.ProcAMD64, 0xc0000005, 1, []uint64{0, sign}, sign},
		{core.Windows, core.ProcAMD64, 0xc0000006, 1, []uint64{0, sign, 0}, sign},
		{core.Windows, core.ProcAMD64, 0xc0000005, 0x401000, []uint64{0}, 0x401000},
		{core.Windows, core.ProcAMD64, 0xc0000094, 0x401000, []uint64{0, 7}, 0x401000},
		{core.OSLinux, core.ProcARM, 11, sign, nil, 0x80000010},
		{core.Solaris, core.ProcSPARC, 11, sign, nil, 0x80000010},
		{core.Windows, core.ProcSHX, 0xc0000094, sign, nil, 0x80000010},
	} {
		r := DecodeFor(tt.os, tt.cpu, tt.code, 0, tt.addr, tt.params)
		if r.Address != tt.want {
			t.Errorf("cpu %#x code %#x: have %#x, want %#x", tt.cpu, tt.code, r.Address, tt.want)
		}
	}
}

func TestLastError(t *testing.T) {
	for value, want := range map[uint32]string{
		0: "ERROR_SUCCESS", 183: "ERROR_ALREADY_EXISTS", 6: "ERROR_INVALID_HANDLE", 15841: "ERROR_API_UNAVAILABLE",
		1702: "RPC_S_INVALID_BINDING", 0xc0000017: "STATUS_NO_MEMORY", 0x80000005: "STATUS_BUFFER_OVERFLOW",
		0x102: "STATUS_TIMEOUT", 0x12345678: "unknown 0x12345678", 0xffffffff: "unknown 0xffffffff",
		0xc06d007f: "FACILITY_VISUALCPP / ERROR_PROC_NOT_FOUND", 0xc0000025: "STATUS_NONCONTINUABLE_EXCEPTION",
	} {
		if have := LastError(value); have != want {
			t.Errorf("%#x: have %s, want %s", value, have, want)
		}
	}
}

// TestBigTables walks the packed tables: every code is found, and one between two codes is not.
func TestBigTables(t *testing.T) {
	for _, tt := range []struct {
		n     *names
		count int
	}{{&ntStatus, 2932}, {&winError, 2864}} {
		var code, last uint64
		found := 0
		for rest := tt.n.packed; len(rest) > 0; found++ {
			diff, size := binary.Uvarint(rest)
			last, code = code, code+diff
			if name := tt.n.lookup(uint32(code)); name == "" || strings.ContainsAny(name, "=!?\n") {
				t.Fatalf("%#x: %q", code, name)
			}
			if code > last+1 {
				if name := tt.n.lookup(uint32(code - 1)); name != "" {
					t.Fatalf("%#x has the name %s", code-1, name)
				}
			}
			rest = rest[size+bytes.IndexByte(rest[size:], '\n')+1:]
		}
		if found != tt.count {
			t.Errorf("%s: %d codes, want %d", tt.n.prefix, found, tt.count)
		}
		if name := tt.n.lookup(0xfffffffe); name != "" {
			t.Errorf("a code after the last has the name %s", name)
		}
	}
}
