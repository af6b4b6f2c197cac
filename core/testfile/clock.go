//go:build !unix

package testfile

import "time"

var start = time.Now()

// cpuTime returns the time on the clock, where the time on the processor is not known.
func cpuTime() time.Duration { return time.Since(start) }
