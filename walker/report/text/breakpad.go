package text

import (
	"fmt"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// What Breakpad says otherwise than the report does (GetOSInfo, GetCPUInfo and GetCrashReason in
// minidump_processor.cc). A code that it has no name for it prints as a number.

// osVersion returns the version's numbers, and behind a space the text that the dump has, which may
// be empty.
func osVersion(r *report.Report) string {
	s := &r.System
	if r.Dump.Micro || !s.Known {
		return s.OSVersion
	}
	v := fmt.Sprintf("%d.%d.%d", s.Numbers[0], s.Numbers[1], s.Numbers[2])
	if s.BuildText != nil {
		v += " " + *s.BuildText
	}
	return v
}

// Numbers of processors that Breakpad has no name for: 32-bit programs on 64-bit Windows, as its
// own debugger and Windows for ARM have them.
const (
	x86OnWin64 = 10
	armOnARM64 = 13
	x86OnARM64 = 14
)

// cpuName returns the processor's name.
func cpuName(r *report.Report) string {
	s := &r.System
	switch {
	case r.Dump.Micro:
		return r.Dump.MicroArch
	case s.Known && (s.Processor == x86OnWin64 || s.Processor == armOnARM64 || s.Processor == x86OnARM64):
		return fmt.Sprintf("0x%04x", s.Processor)
	}
	return s.CPU
}

// cpuInfo returns the processor's make, of arm with the features that have names.
func cpuInfo(r *report.Report) string {
	s := &r.System
	if r.Dump.Micro || s.Processor == x86OnWin64 {
		return ""
	}
	before, list, found := strings.Cut(s.CPUInfo, " features: ")
	if i := strings.Index(list, "0x"); i >= 0 {
		list = strings.TrimSuffix(list[:i], ",")
	}
	if found {
		before += " features: "
	}
	return before + list
}

// fileVersion returns a module's version, whose numbers Breakpad takes to have 16 bits each.
func fileVersion(m *report.Module) string {
	if m.Version == "" {
		return ""
	}
	hi, lo := m.FileVersion[0], m.FileVersion[1]
	return fmt.Sprintf("%d.%d.%d.%d", hi>>16, hi&0xffff, lo>>16, lo&0xffff)
}

// Reason returns the words of an exception with these parameters.
func Reason(r *report.Report, why *report.Reason, params []uint64) string {
	name, detail, _ := strings.Cut(why.Name, " / ")
	numbers := fmt.Sprintf("0x%08x / 0x%08x", why.Code, why.Flags)
	flags := fmt.Sprintf("0x%08x", why.Flags)
	unknown := strings.HasPrefix(why.Name, "unknown ")
	switch {
	case r.Dump.Micro, why.Name == "":
		return why.Name
	case strings.HasPrefix(r.System.OS, "Windows"):
		return windowsReason(why, name, detail, numbers, params)
	case unknown, name == "EXC_CRASH":
		return numbers
	case r.System.OS == "Fuchsia":
		return name + " / " + flags
	case r.System.OS == "Solaris", r.System.OS == "PS3", detail == "" && !signalsWithCodes[name]:
		return why.Name
	case strings.HasPrefix(name, "EXC_"):
		if !hasMacCode(r, name, detail) {
			detail = flags
		}
		return name + " / " + detail
	case !signalsWithCodes[name]:
		return name
	}
	// Linux.
	if unnamed[detail] || !strings.HasPrefix(detail, name[len("SIG"):]+"_") {
		detail = flags
	}
	if name == "SIGSEGV" {
		return name + " /" + detail
	}
	return name + " / " + detail
}

// signalsWithCodes are the signals of Linux that are printed with their si_code. SIGSEGV's prefix
// is SEGV, and so on.
var signalsWithCodes = map[string]bool{"SIGSEGV": true, "SIGILL": true, "SIGFPE": true, "SIGBUS": true}

// unnamed are the codes of signals and of Mach's exceptions without a name.
var unnamed = map[string]bool{"ILL_BADIADDR": true, "FPE_FLTUNK": true, "FPE_CONDTRAP": true, "SEGV_CPERR": true,
	"KERN_FAILURE": true, "EXC_ARM_SP_ALIGN": true, "EXC_ARM_SWP": true, "EXC_ARM_PAC_FAIL": true}

// hasMacCode reports whether a code of a Mach exception is printed by its name. Those of ARM are for
// 32-bit ARM and for the number that ARM64 had first.
func hasMacCode(r *report.Report, exception, code string) bool {
	const arm, arm64First = 5, 0x8003
	switch {
	case exception == "EXC_RESOURCE", exception == "EXC_GUARD", unnamed[code], strings.HasPrefix(code, "EXC_ARM_FP_"):
		return false
	case strings.HasPrefix(code, "EXC_ARM_"):
		return r.System.Processor == arm || r.System.Processor == arm64First
	case strings.HasPrefix(code, "EXC_I386_"):
		return r.System.Processor != x86OnWin64
	}
	return true
}

// Windows exceptions that are more than a name.
const (
	badFunctionTable   = 0xc00000ff
	heapCorruption     = 0xc0000374
	stackBufferOverrun = 0xc0000409 // a fast fail: its reason is the first parameter
	inPageError        = 0xc0000006 // an NTSTATUS is the third
	controlC           = 0x40010005
	unnamedFastFail    = 0x47 // from this one on they have no name, and 0 has none
)

// windowsReason is Reason for Windows. numbers is what is printed of an exception without a name.
func windowsReason(why *report.Reason, name, detail, numbers string, params []uint64) string {
	switch why.Code {
	case badFunctionTable, heapCorruption:
		return "EXCEPTION_" + strings.TrimPrefix(name, "STATUS_")
	case stackBufferOverrun:
		if len(params) > 0 && uint32(params[0]) > 0 && uint32(params[0]) < unnamedFastFail && !strings.HasPrefix(detail, "0x") {
			return detail
		}
		return "EXCEPTION_STACK_BUFFER_OVERRUN"
	case inPageError:
		if len(params) > 2 && !hasStatus(uint32(params[2])) { // the parameters may be a text
			detail = fmt.Sprintf("0x%08x", uint32(params[2]))
		}
		if detail != "" {
			name += " / " + detail
		}
		return name
	case controlC:
		return name
	}
	for _, start := range []string{"EXCEPTION_", "Simulated Exception", "Unhandled C++ Exception", "Out of Memory"} {
		if strings.HasPrefix(why.Name, start) {
			return why.Name
		}
	}
	return numbers
}

// hasStatus reports whether an NTSTATUS has a name: those are errors, and none is newer than
// Windows 8.
func hasStatus(status uint32) bool {
	i := sort.Search(len(newStatus), func(i int) bool { return newStatus[i][1] >= status })
	return status >= 0xc0000000 && (i == len(newStatus) || status < newStatus[i][0])
}

// newStatus are the ranges of NTSTATUS errors without a name, first and last.
var newStatus = [][2]uint32{
	{0xc0000036, 0xc0000036}, {0xc00001ab, 0xc00001b5}, {0xc000027c, 0xc000027c}, {0xc000030d, 0xc000030d},
	{0xc000046f, 0xc000046f}, {0xc0000484, 0xc00004e3}, {0xc0000507, 0xc0000518}, {0xc0000605, 0xc000060b},
	{0xc0000722, 0xc0000726}, {0xc0000911, 0xc0000c7f}, {0xc000a006, 0xc000a008}, {0xc000a08a, 0xc000a091},
	{0xc000a203, 0xc000a204}, {0xc000a2a5, 0xc000f505}, {0xc0130027, 0xc0130031}, {0xc0190062, 0xc0190062},
	{0xc01c0024, 0xc01c0024}, {0xc01e000f, 0xc01e0019}, {0xc01e0600, 0xc01e0601}, {0xc0210040, 0xc0210051},
	{0xc0230031, 0xc0230031}, {0xc0232005, 0xc0240174}, {0xc0290081, 0xc0290155}, {0xc029200e, 0xc0295001},
	{0xc0350015, 0xc0350015}, {0xc035003c, 0xc035003f}, {0xc0350050, 0xc0350088}, {0xc037002a, 0xc0370600},
	{0xc03a0029, 0xc03a0034}, {0xc0410004, 0xc0410004}, {0xc0430008, 0xc0430010}, {0xc0440006, 0xc0460008},
	{0xc0500004, 0xc0500005}, {0xc05cff0b, 0xc0e70001}, {0xc0e70006, 0xc0e70007}, {0xc0e7000c, 0xc0ef0001},
}
