package symfile

import "testing"

// TestRecentWeight: large values are fewer, so that what is kept has a limit in bytes.
func TestRecentWeight(t *testing.T) {
	const most, large = 100, 9
	r := newRecent[int, int](most)
	for i := range 1000 {
		r.put(i, i, large)
		if n := len(r.now) + len(r.old); n > 2*most/(1+large) || !r.has(i) {
			t.Fatalf("%d are kept, with the last: %v", n, r.has(i))
		}
	}
}

// TestRecent: the last values are there whenever they are looked up, and not all of those before.
func TestRecent(t *testing.T) {
	const most = 100
	r := newRecent[int, int](most)
	for i := range 12*most + 7 {
		if got := r.put(i, -i, 0); got != -i {
			t.Fatalf("%d was put, %d answered", -i, got)
		}
		for k := max(0, i-most+1); k <= i; k++ {
			if v, ok := r.get(k); !ok || v != -k {
				t.Fatalf("%d of %d: %d, %v", k, i, v, ok)
			}
		}
		if n := len(r.now) + len(r.old); n > 2*most {
			t.Fatalf("%d are kept", n)
		}
	}
	if r.has(0) {
		t.Error("nothing is forgotten")
	}
	if r.clear(); r.has(12 * most) {
		t.Error("nothing is cleared")
	}
}
