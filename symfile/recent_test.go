package symfile

import "testing"

// TestRecent: the last values are there whenever they are looked up, and not all of those before.
func TestRecent(t *testing.T) {
	const most = 100
	r := newRecent[int, int](most)
	for i := range 12*most + 7 {
		if got := r.put(i, -i); got != -i {
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
