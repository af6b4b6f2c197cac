package sframe

import (
	"fmt"
	"math"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// Limits of one Each. In a crafted section all functions can share one list of rows, and a function
// of 4 GiB can repeat a block of two bytes. In real sections functions share no rows, and only the
// procedure linkage table repeats a block.
const (
	rowsShared  = 16
	maxRepeated = 1 << 18
)

// lister is the state of one Each.
type lister struct {
	t *table
	f func(start, end uint64, row unwind.Row) error
	// bytesLeft is how many bytes of rows may still be read, repeatsLeft how many rows of repeated
	// blocks may still be reported.
	bytesLeft   int64
	repeatsLeft int
	rows        uint64
}

// Each implements unwind.Table. It leaves out code without an entry, even if the section's flags
// give it a frame pointer: the end of such code is unknown.
func (t *table) Each(f func(start, end uint64, row unwind.Row) error) error {
	if t.Flags&Sorted == 0 {
		if err := t.sortStarts(); err != nil {
			return err
		}
	}
	p := &lister{t: t, f: f, bytesLeft: rowsShared*max(0, t.rowsEnd-t.RowsAt) + maxRow, repeatsLeft: maxRepeated}
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
		if stop, ok := err.(callerError); ok {
			return stop.error
		}
		if err != nil {
			if err := t.warnings.Pass(err); err != nil {
				return err
			}
		}
	}
	if p.rows != uint64(t.Rows) {
		t.warn("count", 12, "the header says %d rows; the functions have %d", t.Rows, p.rows)
	}
	return nil
}

// callerError is an error that f returned.
type callerError struct{ error }

// emit calls f for a range of a function, given relative to the function's start.
func (p *lister) emit(fn *function, from, to uint64, row unwind.Row) error {
	at := p.t.rva + uint64(fn.start)
	row.Start = at + from
	if err := p.f(at+from, at+to, row); err != nil {
		return callerError{err}
	}
	return nil
}

// rowRange is a row and the code [start, end) for which it holds, relative to the function's start.
type rowRange struct {
	start, end uint64
	row        unwind.Row
}

// function reports the rows of a function. If it repeats a block, function reports the block's rows
// for each repetition.
func (p *lister) function(fn *function) error {
	t := p.t
	p.rows += uint64(fn.rows)
	if why := fn.unusable(); why != "" {
		return t.formatError(fn.at, "", why)
	}
	end := uint64(fn.size)
	if fn.repeats() {
		end = min(end, uint64(fn.block))
	}
	var block []rowRange
	done := func(s rowRange) error {
		if s.start >= s.end {
			return nil
		}
		if fn.repeats() {
			block = append(block, s)
			return nil
		}
		return p.emit(fn, s.start, s.end, s.row)
	}
	if err := p.rowRanges(fn, end, done); err != nil {
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
			if p.repeatsLeft--; p.repeatsLeft < 0 {
				return t.formatError(fn.at, fmt.Sprintf("at most %d rows of repeated blocks", maxRepeated), "more")
			}
			if err := p.emit(fn, at+s.start, min(at+s.end, uint64(fn.size)), s.row); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowRanges calls done for each of the function's rows. A row holds until the next one starts, the
// last one until end. Rows that hold for no code are not decoded.
func (p *lister) rowRanges(fn *function, end uint64, done func(rowRange) error) error {
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
			return t.warnings.Pass(err)
		}
		return done(rowRange{uint64(last.start), until, row})
	}
	for range fn.rows {
		next, err := t.read(fn, at, &e)
		if err != nil {
			return err
		}
		if p.bytesLeft -= next - at; p.bytesLeft < 0 {
			return t.formatError(fn.at, "rows that belong to one function", fmt.Sprintf("rows that are used %d times on average", rowsShared))
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
