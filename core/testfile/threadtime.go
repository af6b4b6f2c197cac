//go:build linux

package testfile

import (
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
	"unsafe"
)

// timeOf returns the processor time of run in its own thread: other programs and the garbage
// collector do not count.
func timeOf(run func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // else run does some of the collector's work
	begin := threadTime()
	run()
	return threadTime() - begin
}

func threadTime() time.Duration {
	const thread = 3 // CLOCK_THREAD_CPUTIME_ID, clock_gettime(2)
	var t syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, thread, uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		panic(err)
	}
	return time.Duration(t.Nano())
}
