package symfile

import "github.com/crashpane/crashpane/symfile/lazy"

// Where records are is asked here: of the index, or of a search. Blocks that were not read may
// contradict a search, so everything that was answered by one is asked again when an index takes
// its place (Revised).

// searches reports whether a section is searched.
func (f *File) searches(s lazy.Section) bool { return f.lazy != nil && !f.indexed[s] }

func recOf(e lazy.Entry) rec { return rec{rva: e.Key, size: e.Size, off: e.Off} }

// find is where the record is for an address or a number: the last FUNC that counts and starts at
// or below it, which need not cover it, the PUBLIC that it belongs to, the STACK record that covers
// it, the FILE or INLINE_ORIGIN of that number.
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

// numbered finds the record of a number of a file whose index is in another one: what two blocks of
// the index begin with tells within some kilobytes where the record is, so that neither of the
// blocks has to be read. It may miss one.
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

// findPublic is the last PUBLIC record at or below an address, where fn is the last such FUNC; one
// before that may be left out.
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
