package report

import (
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// appleCalls are calls of Apple's systems in which threads wait, by their numbers, those of Mach below 0, under
// the names that stateOf has (xnu: bsd/kern/syscalls.master, osfmk/mach/syscall_sw.h).
var appleCalls = map[int32]string{
	3: "read", 4: "write", 7: "wait4", 93: "select", 230: "poll",
	301: "psynch_mutexwait", 305: "psynch_cvwait", 306: "psynch_rw_rdlock", 307: "psynch_rw_wrlock", 334: "semwait_signal",
	363: "kevent", 368: "workq_kernreturn", 369: "kevent64", 374: "kevent_qos", 515: "ulock_wait", 544: "ulock_wait2",
	-31: "mach_msg_trap", -36: "semaphore_wait_trap", -38: "semaphore_timedwait_trap", -47: "mach_msg2_trap",
}

// appleCall returns the name of the system call that a thread's first frame seems to be in, or "". The function has no
// name; all system calls are in one library, and the register with the call's number has it until the call returns: on
// amd64 with the class of the call in bits 24 to 31 (1 is Mach, 2 is BSD; osfmk/mach/i386/syscall_sw.h).
func appleCall(d *core.Dump, r *Report, f *Frame) string {
	if os := d.OS(); os != core.MacOS && os != core.IOS || f.Module < 0 || f.Named() ||
		!strings.EqualFold(r.Modules[f.Module].Title(), "libsystem_kernel.dylib") || f.Regs == nil || f.Regs.Arch == nil {
		return ""
	}
	switch f.Regs.Arch {
	case cpu.AMD64:
		v, ok := register(f, "rax")
		number := int32(v & 0xffffff)
		switch {
		case ok && v>>24 == 1:
			return appleCalls[-number]
		case ok && v>>24 == 2:
			return appleCalls[number]
		}
	case cpu.ARM64:
		if v, ok := register(f, "x16"); ok && int64(v) == int64(int32(v)) {
			return appleCalls[int32(v)]
		}
	}
	return ""
}
