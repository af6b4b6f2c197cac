package app

import (
	"math"
	"time"
)

// moment is a time in nanoseconds since the program began; 0 is no time. It stands in for
// time.Time, which would add 48 KB to the page's program: zones are stored in interfaces, the
// linker keeps every method of the types within them, and time.Time has methods that format times.
type moment int64

var pageBegan = time.Now()

func now() moment { return moment(time.Since(pageBegan)) + 1 }

// ago returns the time since a moment; for 0 it is the longest duration.
func (m moment) ago() time.Duration {
	if m == 0 {
		return math.MaxInt64
	}
	return time.Duration(now() - m)
}
