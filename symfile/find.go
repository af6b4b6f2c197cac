package symfile

import "github.com/crashpane/crashpane/symfile/lazy"

// Where records are is asked here: of the index, or of a search. Blocks that were not read may
// contradict a search, so everything that was answered by one is asked again when an index takes
// its place (Revised).

// searches reports whether a section is searched, because there is no index of it.
func (f *File) searches(s lazy.Section) bool { return f.lazy != nil && !f.indexed[s] }

func recOf(e lazy.Entry) rec { return rec{rva: e.Key, size: e.Size, off: e.Off} }

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
	if k == tablePublics {
		fn, has, err := f.find(tableFuncs, arg)
		if err != nil {
			return rec{}, false, err
		}
		r, ok, err = f.findPublic(arg, fn, has)
		return r, ok && !(has && fn.rva >= r.rva), err
	}
	s := tableSection[k]
	switch search := f.searches(s); {
	case search && s == lazy.Win:
		if f.lazy.Present(s) {
			err = lazy.Unsorted{Section: s} // its records are inside one another
		}
		return rec{}, false, err
	case search:
		e, found, err := f.lazy.Find(s, arg)
		if err == nil && k == tableInits && !(found && e.Has(arg)) && f.lazy.Present(s) && f.src.Slice == 0 {
			// Few objects of those that were linked may be out of order, so that no fence shows it.
			// Not of a file on a server: that would be to fetch all of the section.
			err = lazy.Unsorted{Section: s}
		}
		if err != nil {
			return rec{}, false, err
		}
		r, ok = recOf(e), found
	case k >= tableFiles && f.tables[k].text != nil:
		if r, ok, err = f.numbered(k, arg); ok || err != nil {
			return r, ok, err
		}
		r, ok, err = f.tables[k].last(arg)
	case k == tableWin4 || k == tableWin0:
		r, ok, err = f.tables[k].innermost(arg)
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
	case tableInits:
		ok = ok && r.has(arg)
	case tableFiles, tableOrigins:
		ok = ok && r.rva == arg
	}
	return r, ok, nil
}

// numbered finds the FILE or INLINE_ORIGIN record of a number with an index that is in another
// file, without reading a block of the index: the first records of two blocks, which are in memory,
// say within some kilobytes where the record is in the symbol file. It may miss a record; find then
// reads the block.
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

// findPublic returns the last PUBLIC record at or below an address. fn is the last FUNC at or below
// it, if has is set; a PUBLIC before that may be left out, since find does not use it.
//
// A file whose PUBLIC records are between FUNC records (lazy.File.Mixed) is searched from fn on. A
// read may be the one that shows that a file is so; the search is then repeated.
func (f *File) findPublic(rva uint64, fn rec, has bool) (rec, bool, error) {
	if !f.searches(lazy.Publics) {
		r, ok, err := f.tables[tablePublics].last(rva)
		return r, ok, f.distrust(err)
	}
	for {
		mixed := f.lazy.Mixed()
		var e lazy.Entry
		var ok bool
		var err error
		if !mixed {
			e, ok, err = f.lazy.Find(lazy.Publics, rva)
		} else if has {
			e, ok, err = f.lazy.PublicAfter(fn.off, rva)
		} else {
			e, ok, err = f.lazy.PublicAfter(0, rva)
		}
		if mixed == f.lazy.Mixed() || err != nil {
			return recOf(e), ok, err
		}
	}
}
