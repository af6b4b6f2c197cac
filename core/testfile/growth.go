package testfile

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// Growth fails if twice the input takes more than 2.5 times as long on the processor. prepare makes the input of a
// size and returns what is measured. The shortest of several runs counts; what is measured should
// take a millisecond at least.
func Growth(t *testing.T, size int, prepare func(size int) (run func())) {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("its clock is too coarse")
	}
	one, two := prepare(size), prepare(2*size)
	const most = 2.5
	small, large := time.Duration(1<<62), time.Duration(1<<62)
	// Other programs may empty the processor's caches, so there are more runs if it looks so.
	for i := 0; i < 3 || i < 25 && float64(large) > most*float64(small); i++ {
		small, large = min(small, timeOf(one)), min(large, timeOf(two))
	}
	if float64(large) > most*float64(small) {
		t.Errorf("%d of it take %v, %d take %v: %.1f times as long", size, small, 2*size, large, float64(large)/float64(small))
	}
	t.Logf("%d: %v, %d: %v", size, small, 2*size, large)
}

func timeOf(run func()) time.Duration {
	// The collector runs on the other processors, which may have other work.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	begin := cpuTime()
	run()
	return cpuTime() - begin
}
