package ordered

import "testing"

// TestOrdered searches tables, also one that is not sorted.
func TestOrdered(t *testing.T) {
	for _, keys := range [][]uint64{{}, {5}, {1, 2, 2, 9}, {7, 3, 9, 1, 5, 8, 2}} {
		reads := 0
		o := Table{N: len(keys), Key: func(i int) (uint64, error) { reads++; return keys[i], nil }}
		for k := uint64(0); k < 11; k++ {
			want, found := uint64(0), false
			for _, x := range keys {
				if x <= k && (!found || x >= want) {
					want, found = x, true
				}
			}
			pos, err := o.Search(k)
			if err != nil || found != (pos >= 0) || found && keys[o.Record(pos)] != want {
				t.Errorf("%v: %d: position %d (%v), want key %d %v", keys, k, pos, err, want, found)
			}
		}
	}
}

// TestCheck: a search may come only to keys that look sorted. After Check all are found.
func TestCheck(t *testing.T) {
	keys := []uint64{0, 1, 2, 3, 14, 15, 4, 5, 6, 7, 8, 9}
	o := Table{N: len(keys), Key: func(i int) (uint64, error) { return keys[i], nil }}
	if found, err := o.Check(); !found || err != nil {
		t.Errorf("the table is sorted: %v (%v)", !found, err)
	}
	for i, k := range keys {
		if pos, err := o.Search(k); err != nil || o.Record(pos) != i {
			t.Errorf("%d: record %d (%v), want %d", k, o.Record(pos), err, i)
		}
	}
	if found, err := o.Check(); found || err != nil {
		t.Errorf("found again (%v)", err)
	}
}

// TestTooManyToSort: a hostile table cannot make the search take memory for all its records.
func TestTooManyToSort(t *testing.T) {
	o := Table{N: maxSorted + 1, Key: func(i int) (uint64, error) { return uint64(maxSorted - i), nil }}
	if pos, err := o.Search(5); err == nil {
		t.Errorf("found position %d", pos)
	}
}
