package testfile

import (
	"runtime"
	"testing"
	"time"
)

// Growth fails if twice the input takes more than 2.5 times as long. prepare makes the input of a
// size and returns what is measured. The shortest of several runs counts; what is measured should
// take a millisecond at least.
//
// It doubles the input twice, which may take 2.5² times as long: what is in proportion takes some 4
// times as long, and more where it no longer fits the processor's caches; a square takes 16 times.
func Growth(t *testing.T, size int, prepare func(size int) (run func())) {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("its clock is too coarse")
	}
	one, four := prepare(size), prepare(4*size)
	const most = 2.5 * 2.5
	small, large := time.Duration(1<<62), time.Duration(1<<62)
	// Another program may take the cache or the processor for all of a run, so there are more if it
	// looks so.
	for i := 0; i < 3 || i < 25 && float64(large) > most*float64(small); i++ {
		runtime.GC() // not in one of the two
		small = min(small, timeOf(one))
		runtime.GC()
		large = min(large, timeOf(four))
	}
	if float64(large) > most*float64(small) {
		t.Errorf("%d of it take %v, %d take %v: %.1f times as long", size, small, 4*size, large, float64(large)/float64(small))
	}
	t.Logf("%d: %v, %d: %v", size, small, 4*size, large)
}
