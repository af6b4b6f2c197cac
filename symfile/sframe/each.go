package sframe

import (
	"fmt"
	"math"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// Bounds of one pass over all rows. A crafted section can let every function have the same rows, and a function of 4 GiB repeat
// a block of two bytes; in a sound one no function shares rows, and what repeats is the procedure linkage table.
const (
	rowsShared   = 16
	maxStretches = 1 << 18
)

// pass is the state of one Each.
type pass struct {
	t *table
	f func(start, end uint64, row unwind.Row) error
	// bytes and repeated are what is left of the bounds: bytes of rows to read, stretches of repeated blocks to report.
	bytes    int64
	repeated int
	rows     uint64
}

// Each is unwind.Table's. Code without an entry is left out, also where the section's flags give it a frame pointer: where such
// code ends is not told.
func (t *table) Each(f func(start, end uint64, row unwind.Row) error) error {
	if t.Flags&Sorted == 0 {
		if err := t.sortStarts(); err != nil {
			return err
		}
	}
	p := &pass{t: t, f: f, bytes: rowsShared*max(0, t.rowsEnd-t.RowsAt) + maxRow, repeated: maxStretches}
	last := int64(math.MinInt64)
	for i := range t.Functions {
		fn, err := t.nth(i)
		if err != nil {
			return err
		}
		if fn.start < last {
			t.notSorted(i)
		}
		last = fn.start
		if err = t.attributes(&fn); err == nil {
			err = p.function(&fn)
		}
		if stop, ok := err.(stopped); ok {
			return stop.error
		}
		if err != nil {
			if err := t.passOver(err); err != nil {
				return err
			}
		}
	}
	if p.rows != uint64(t.Rows) {
		t.warn("count", 12, "the header says %d rows; the functions have %d", t.Rows, p.rows)
	}
	return nil
}

// stopped is an error of f's.
type stopped struct{ error }

func (p *pass) emit(fn *function, from, to uint64, row unwind.Row) error {
	at := p.t.rva + uint64(fn.start)
	row.Start = at + from
	if err := p.f(at+from, at+to, row); err != nil {
		return stopped{err}
	}
	return nil
}

// stretch is a row and where it ends, counted as the row's start.
type stretch struct {
	start, end uint64
	row        unwind.Row
}

func (p *pass) function(fn *function) error {
	t := p.t
	p.rows += uint64(fn.rows)
	if why := fn.unusable(); why != "" {
		return t.wrong(fn.at, "", why)
	}
	end := uint64(fn.size)
	if fn.repeats() {
		end = min(end, uint64(fn.block))
	}
	var block []stretch
	done := func(s stretch) error {
		if s.start >= s.end {
			return nil
		}
		if fn.repeats() {
			block = append(block, s)
			return nil
		}
		return p.emit(fn, s.start, s.end, s.row)
	}
	if err := p.stretches(fn, end, done); err != nil {
		return err
	}
	if len(block) == 1 && block[0].start == 0 {
		return p.emit(fn, 0, uint64(fn.size), block[0].row)
	}
	for at := uint64(0); at < uint64(fn.size) && len(block) > 0; at += uint64(fn.block) {
		for _, s := range block {
			if at+s.start >= uint64(fn.size) {
				break
			}
			if p.repeated--; p.repeated < 0 {
				return t.wrong(fn.at, fmt.Sprintf("at most %d stretches of repeated blocks", maxStretches), "more")
			}
			if err := p.emit(fn, at+s.start, min(at+s.end, uint64(fn.size)), s.row); err != nil {
				return err
			}
		}
	}
	return nil
}

// stretches tells done each of the function's rows. A row holds until the next one starts, the last until end; what a row says
// is worked out when it is known to hold anywhere.
func (p *pass) stretches(fn *function, end uint64, done func(stretch) error) error {
	t := p.t
	at := fn.rowsAt
	var e, last entry
	have := false
	finish := func(until uint64) error {
		if !have || uint64(last.start) >= until {
			return nil
		}
		if err := t.fill(fn, &last); err != nil {
			return err
		}
		row, err := t.rules(fn, &last)
		if err != nil {
			return t.passOver(err)
		}
		return done(stretch{uint64(last.start), until, row})
	}
	for range fn.rows {
		next, err := t.read(fn, at, &e)
		if err != nil {
			return err
		}
		if p.bytes -= next - at; p.bytes < 0 {
			return t.wrong(fn.at, "rows that belong to one function", fmt.Sprintf("rows that are used %d times on average", rowsShared))
		}
		if have && e.start < last.start {
			return t.descends(&e, last.start)
		}
		if err := finish(min(uint64(e.start), end)); err != nil {
			return err
		}
		last, have, at = e, true, next
	}
	return finish(end)
}
