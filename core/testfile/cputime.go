//go:build unix

package testfile

import (
	"syscall"
	"time"
)

// cpuTime returns how long this program has had a processor, on all threads together. Other programs
// do not change it, as they do the time on the clock: a long run is interrupted more often.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
