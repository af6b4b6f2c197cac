package symfile

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
)

// This file finds records, in the index or by a search. Blocks that were not read may contradict a
// search, so its lookups are made again when an index replaces it (Revised).

// searches reports whether a section is searched, because there is no index of it.
func (f *File) searches(s lazy.Section) bool { return f.lazy != nil && !f.indexed[s] }

// find returns the record for an address or a number, from the index or by a search:
//
//	tableFuncs              the last FUNC that starts at or below the address; it need not cover it
//	tablePublics            the last such PUBLIC, unless a FUNC starts between it and the address
//	tableInits              the STACK CFI INIT that covers the address
//	tableWin4, tableWin0    the innermost STACK WIN of the type that covers the address
//	tableFiles, …Origins    the record with the number
//
// A search cannot find STACK WIN records, since one contains others, so find has their section
// indexed (lazy.Unsorted, which settled handles).
func (f *File) find(k tableKind, arg uint64) (r rec, ok bool, err error) {
	var fn rec
	hasFunc := false
	if k == tablePublics {
		if fn, hasFunc, err = f.find(tableFuncs, arg); err != nil {
			return rec{}, false, err
		}
	}
	s := tableSection[k]
	switch search := f.searches(s); {
	case search && s == lazy.Win:
		if f.lazy.Present(s) {
			err = lazy.Unsorted{Section: s} // its records are inside one another
		}
		return rec{}, false, err
	case search:
		var e lazy.Entry
		if k == tablePublics {
			e, ok, err = f.lazy.Public(fn.off, arg)
		} else {
			e, ok, err = f.lazy.Find(s, arg)
		}
		if err == nil && k == tableInits && !(ok && e.Has(arg)) && f.lazy.Present(s) && f.src.Slice == 0 {
			// Few objects of those that were linked may be out of order, so that no fence shows it.
			// Not of a file on a server: that would be to fetch all of the section.
			err = lazy.Unsorted{Section: s}
		}
		r = rec{rva: e.Key, size: e.Size, off: e.Off}
	case k >= tableFiles && f.tables[k].text != nil:
		if r, ok, err = f.numbered(k, arg); ok || err != nil {
			return r, ok, err
		}
		r, ok, err = f.tables[k].last(arg)
	case k == tableWin4 || k == tableWin0:
		r, ok, err = f.innermost(k, arg, arg)
	default:
		r, ok, err = f.tables[k].last(arg)
	}
	if err != nil {
		return rec{}, false, f.distrust(err)
	}
	if f.lazy != nil {
		r.line, r.end = 0, 0 // of a section's index, lines are counted from its start
	}
	switch k {
	case tablePublics:
		ok = ok && !(hasFunc && fn.rva >= r.rva)
	case tableInits:
		ok = ok && r.has(arg)
	case tableFiles, tableOrigins:
		ok = ok && r.rva == arg
	}
	return r, ok, nil
}

// innermost is table.innermost, and draws its work: a record around all others has a lookup compare
// each of them.
func (f *File) innermost(k tableKind, from, rva uint64) (rec, bool, error) {
	r, ok, n, err := f.tables[k].innermost(from, rva)
	if err != nil {
		return r, false, f.distrust(err)
	}
	return r, ok, f.src.Wrap("STACK WIN records", r.off, f.src.Draw(input.Work, int64(n)))
}

// numbered finds the FILE or INLINE_ORIGIN record of a number with an index that is in another
// file, without reading a block of the index. The first records of two blocks, which are in memory,
// say within some kilobytes where the record is in the symbol file. numbered may miss a record;
// find then reads the block.
func (f *File) numbered(k tableKind, num uint64) (r rec, ok bool, err error) {
	off, to, known := f.tables[k].near(num)
	if !known {
		return rec{}, false, nil
	}
	err = f.text.Lines(off, to, func(line []byte) bool {
		l := searchedLine(line)
		if ok = l.Head && l.Section == tableSection[k] && l.Key == num; ok {
			r = rec{rva: num, off: off}
		}
		off += int64(len(line)) + 1
		return !ok
	})
	return r, ok, err
}
