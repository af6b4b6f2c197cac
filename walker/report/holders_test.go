package report

import (
	"maps"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
)

// TestOnCycle: who waits for somebody in a deadlock is not in it.
func TestOnCycle(t *testing.T) {
	for _, c := range []struct {
		waitsFor map[int]int
		want     map[int]bool
	}{
		{map[int]int{}, map[int]bool{}},
		{map[int]int{1: 2, 2: 3}, map[int]bool{}},
		{map[int]int{0: 1, 1: 0}, map[int]bool{0: true, 1: true}},
		{map[int]int{5: 4, 4: 3, 3: 2, 2: 3, 6: 4, 7: 8}, map[int]bool{2: true, 3: true}},
	} {
		if got := onCycle(c.waitsFor); !maps.Equal(got, c.want) {
			t.Errorf("%v: %v", c.waitsFor, got)
		}
	}
}

// TestDeadlocks: a thread of a deadlock may hold other locks, too. They are not part of it.
func TestDeadlocks(t *testing.T) {
	// 1 and 2 wait for each other; 3 waits for another lock of 1. 4, 5 and 6 wait in a round.
	waitsFor := map[int]int{1: 2, 2: 1, 3: 1, 4: 5, 5: 6, 6: 4}
	m := &Merged{Holders: []Holder{{Thread: 1, Waiting: []int{2}}, {Thread: 1, Waiting: []int{3}}, {Thread: 4, Waiting: []int{6}}}}
	m.findDeadlocks(waitsFor)
	for i, want := range []string{"; a deadlock, since it waits for one of them", "", "; a deadlock, since it waits for one of them through others"} {
		_, have, _ := strings.Cut(m.Holders[i].String(), "wait")
		if _, have, _ = strings.Cut(have, ": "); have != want {
			t.Errorf("holder %d: %q", i, have)
		}
	}
}

// TestHolding: a word that is too large for a thread id names no thread.
func TestHolding(t *testing.T) {
	d := &core.Dump{Threads: []core.Thread{{ID: 7}, {ID: 9}}}
	for owner, want := range map[uint64]bool{9: true, 7: false, 0: false, 8: false, 1<<32 + 9: false} {
		if h, ok := holding(d, &Thread{Index: 0}, "mutex", 0x1000, owner); ok != want || ok && h.Thread != 1 {
			t.Errorf("owner %#x: %v %+v", owner, ok, h)
		}
	}
}

// TestEndsText: a crash is that of one thread, and what is a guess for one of several threads is one.
func TestEndsText(t *testing.T) {
	r := &Report{Threads: make([]Thread, 4)}
	r.Threads[2].Crashed = true
	m := &Merged{States: []State{{Word: "in a system call"}, {Word: "in a system call", Guess: true}, {}, {Word: "sleeps"}}}
	for _, c := range []struct {
		ends []int
		want string
	}{
		{[]int{2}, "thread 2: crashed"}, {[]int{1, 2}, "threads 1, 2: thread 2 crashed"},
		{[]int{0}, "thread 0: in a system call"}, {[]int{0, 1}, "threads 0, 1: in a system call (a guess)"}, {[]int{0, 3}, "threads 0, 3"},
	} {
		if have := m.EndsText(r, &MergedBranch{Ends: c.ends, Crashed: true}); have != c.want {
			t.Errorf("%v: %q", c.ends, have)
		}
	}
}
