package app

import (
	"math"
	"time"
)

// moment is a time in nanoseconds since the page began; 0 is none. The zones are values of interfaces, and the linker keeps all methods of the
// types in such a value: a time.Time there adds the formatting of times to the page's program, 48 KB.
type moment int64

var pageBegan = time.Now()

func now() moment { return moment(time.Since(pageBegan)) + 1 }

// ago is how long before now a moment was; for none, as long as can be.
func (m moment) ago() time.Duration {
	if m == 0 {
		return math.MaxInt64
	}
	return time.Duration(now() - m)
}
