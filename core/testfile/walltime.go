//go:build !linux

package testfile

import "time"

// timeOf returns the time that run takes.
func timeOf(run func()) time.Duration {
	begin := time.Now()
	run()
	return time.Since(begin)
}
