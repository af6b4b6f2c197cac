package report

import (
	"maps"
	"testing"
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
