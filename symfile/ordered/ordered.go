// Package ordered searches tables of records that are sorted by a key, and reads little of them.
package ordered

import (
	"cmp"
	"fmt"
	"slices"
)

// Table is a table of records with keys that linkers write in ascending order. It is searched, so
// that little of it is read. If a search comes to keys that are out of order, all of them are
// read once, and sorted. A search may miss that: Check reads all keys.
type Table struct {
	// N is how many records there are, and Key the key of record i.
	N   int
	Key func(i int) (uint64, error)
	// known are the keys at which searches have looked, maxKnown of them.
	known map[int]uint64
	// order are the records' numbers by key, if the table is not sorted; else nil.
	order []uint32
}

// maxKnown bounds the memory of keys: 4,096 keys are hundreds of searches.
const maxKnown = 1 << 12

// maxSorted limits the records of a table that is not sorted: each takes 12 bytes of memory. A
// program of 200 MB has some 300,000 functions.
const maxSorted = 1 << 24

// at is the key of the record number i, in the order of the file.
func (o *Table) at(i int) (uint64, error) {
	if k, ok := o.known[i]; ok {
		return k, nil
	}
	k, err := o.Key(i)
	if err != nil {
		return 0, err
	}
	if o.known == nil || len(o.known) >= maxKnown {
		o.known = map[int]uint64{}
	}
	o.known[i] = k
	return k, nil
}

// Record is the number in the file of the record at a position.
func (o *Table) Record(pos int) int {
	if o.order != nil {
		return int(o.order[pos])
	}
	return pos
}

// Search is the position of the last record whose key is no more than key, or -1.
//
// Keys are spread about evenly within a section. So once both ends are in the same section, Search
// guesses a position by their keys. From there it goes in steps that double until they pass the key,
// and then halves what is left. All but the guess and its neighbours are mostly in blocks that were
// read already.
//
// Example: the key is 700, between record 0 (key 0) and record 100 (key 1000). The guess is record
// 70. If its key is 640, records 71, 73, 77, ... follow until one has a larger key, and the last
// step is halved.
func (o *Table) Search(key uint64) (int, error) {
	lo, hi := -1, o.N // key(lo) <= key < key(hi)
	least, most := uint64(0), ^uint64(0)
	const halved = -1
	step := 0 // of the way from the guess, in records; 0 before it, halved after it
	for up := false; hi-lo > 1; {
		mid := int(uint(lo+hi) / 2)
		switch {
		// The upper end is known now, the lower one not: look at the first record.
		case lo < 0 && hi < o.N && step == 0:
			mid = 0
		// An end is not known or in another section, so there is nothing to guess from: halve.
		case lo < 0 || hi == o.N || least>>32 != most>>32 || step == halved:
		case step == 0:
			mid = lo + int(float64(hi-lo)*(float64(key-least)/float64(most-least)))
			step = 1
		case up:
			mid, step = lo+step, 2*step
		default:
			mid, step = hi-step, 2*step
		}
		mid = min(max(mid, lo+1), hi-1)
		k, err := o.at(o.Record(mid))
		if err != nil {
			return 0, err
		}
		// A key outside of those around it proves that the table is not sorted.
		if o.order == nil && (k < least || k > most) {
			if err := o.sort(); err != nil {
				return 0, err
			}
			return o.Search(key)
		}
		// The steps have passed the key.
		if step >= 2 && up != (k <= key) {
			step = halved
		}
		if up = k <= key; up {
			lo, least = mid, k
		} else {
			hi, most = mid, k
		}
	}
	return lo, nil
}

// Check reads all keys and sorts the table if they are out of order. It reports whether they are,
// and no search had come to that: what earlier searches found may be wrong. A table of more than
// maxSorted records is not checked.
func (o *Table) Check() (found bool, err error) {
	if o.order != nil || o.N > maxSorted {
		return false, nil
	}
	last := uint64(0)
	for i := range o.N {
		k, err := o.Key(i)
		if err != nil {
			return false, err
		}
		if k < last {
			return true, o.sort()
		}
		last = k
	}
	return false, nil
}

// sort reads all keys.
func (o *Table) sort() error {
	if o.N > maxSorted {
		return fmt.Errorf("its %d records are not sorted, and too many to be sorted", o.N)
	}
	keys := make([]uint64, 0, min(o.N, 1<<16))
	for i := range o.N {
		k, err := o.Key(i)
		if err != nil {
			return err
		}
		keys = append(keys, k)
	}
	order := make([]uint32, o.N)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
	o.order = order
	return nil
}
