package gopclntab

import "github.com/crashpane/crashpane/core/input"

// values is a pc-value table: the function's instructions are divided into ranges, each with a
// value. A range is a change of the value and a length, both as LEB128 numbers; the change has its
// sign in the lowest bit. The first value counts from -1. A change of 0 ends the table.
type values struct {
	c       *input.Cursor
	quantum uint64
	limit   uint64 // the end of the function
	first   bool

	// start and end are the present range, value is its value.
	start, end uint64
	value      int32
}

// values returns the table at an offset of pctab.
func (t *Table) values(f *function, off uint32) *values {
	return &values{c: t.cursor(t.pcTables + int64(off)), quantum: t.quantum, limit: f.end, first: true, start: f.start, end: f.start, value: -1}
}

// next goes on to the next range. It returns false at the end of the table or of the function.
//
// A range is never empty, so there are no more than the function has instructions.
func (v *values) next() bool {
	if v.end >= v.limit {
		return false
	}
	change := v.number()
	if change == 0 && !v.first {
		return false
	}
	v.first = false
	if change&1 != 0 {
		v.value += int32(^(change >> 1))
	} else {
		v.value += int32(change >> 1)
	}
	v.start = v.end
	n := uint64(v.number()) * v.quantum
	if v.c.Err() != nil || n == 0 {
		return false
	}
	v.end = min(v.start+n, v.limit)
	return true
}

// number reads a LEB128 number of 32 bits.
func (v *values) number() (n uint32) {
	for shift := 0; shift < 35; shift += 7 {
		b := v.c.U8()
		n |= uint32(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return n
}

// valueAt returns the value of a table at an address and its range. ok is false if the table does
// not reach to the address, or if the function lacks it.
func (t *Table) valueAt(f *function, off uint32, pc uint64) (v *values, ok bool, err error) {
	if off == 0 {
		return nil, false, nil
	}
	for v = t.values(f, off); v.next(); {
		if pc < v.end {
			return v, true, nil
		}
	}
	return v, false, v.c.Err()
}
