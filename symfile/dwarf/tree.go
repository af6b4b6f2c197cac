package dwarf

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

const (
	// maxDepth limits the nesting of entries.
	maxDepth = 1 << 14
	// maxInlined limits the inlined calls at one address. The most in a real program so far is 27.
	maxInlined = 1000
	// maxFolded limits the pairs in unitData.folded.
	maxFolded = 64 << 10
)

// function is a function with code. spans and calls select from the unit's slices.
type function struct {
	off   int64 // of its entry
	end   int64 // of its entry and those below it
	spans indexRange
	calls indexRange
	top   bool // its entry is in no namespace or class
	open  bool // its calls are not read yet, see expand
}

// indexRange selects elements [from, to) of a slice.
type indexRange struct{ from, to int32 }

// call is an inlined call in function fn. origin is the inlined function, off the call's own entry;
// file and line are the call site; depth is the number of inlined calls around it.
type call struct {
	origin     ref
	off        int64
	fn         int32
	file, line uint32
	depth      uint16
	spans      indexRange
}

// noFile is the file number of a call without DW_AT_call_file.
const noFile = ^uint32(0)

// owned is a range of function fn.
type owned struct {
	span
	fn int32
}

// unitData is a decoded unit: its functions and inlined calls in flat slices, and its line table.
type unitData struct {
	u     *unit // the unit in the main file
	body  *unit // the unit that has the functions: the split unit, or u
	fns   []function
	calls []call
	spans []span
	index []owned // ranges of functions, sorted and without overlaps
	table *lineTable
	size  int   // what it was charged, in bytes
	paid  int64 // of it, drawn from the budget
	// folded has pairs of functions that start at one address. The first of a pair is the one in
	// index.
	folded [][2]int32
	// splitMissing: the unit is a skeleton and its .dwo file was missing.
	splitMissing bool
	// skimmed: skim read the unit, so that nested functions are missing.
	skimmed bool
	// unsortedCalls: the calls of some function are not contiguous in calls.
	unsortedCalls bool
	// lastLines are the lines of lastRange, the range of the last lookup: a stack often has a
	// function several times.
	lastRange span
	lastLines []lineSpan
}

// of returns the spans that an indexRange selects.
func (d *unitData) of(s indexRange) []span { return d.spans[s.from:s.to] }

// load returns a decoded unit, from the cache if possible. It adds a warning for each part that it
// could not decode.
func (d *Data) load(u *unit) (*unitData, error) {
	for i, c := range d.cache {
		if c.u == u {
			// The .dwo file may have been opened since.
			if c.splitMissing {
				body, err := d.split(u)
				if err = d.warnings.Pass(err); err != nil {
					return nil, err
				}
				if body != nil {
					d.evict(i)
					break
				}
			}
			copy(d.cache[1:i+1], d.cache[:i])
			d.cache[0] = c
			return c, nil
		}
	}
	data, err := d.decode(u, outermost)
	if err != nil {
		return nil, err
	}
	d.remember(data)
	return data, nil
}

// loadWhole returns a decoded unit with all its functions, which load does not read of a unit that
// it skims. best needs it for an address in a function that is nested in another one, as GNU C, Ada
// and Fortran have them, or in a namespace.
func (d *Data) loadWhole(u *unit) (*unitData, error) {
	data, err := d.load(u)
	if err != nil || !data.skimmed {
		return data, err
	}
	if data, err = d.decode(u, allFunctions); err != nil {
		return nil, err
	}
	// load has put the skimmed unit in front; the whole one replaces it.
	d.evict(0)
	d.remember(data)
	return data, nil
}

// remember puts a unit at the front of the cache.
func (d *Data) remember(data *unitData) {
	d.cache = slices.Insert(d.cache, 0, data)
	d.charge(data, data.memory())
}

// memory estimates the memory of a unit in bytes: the sizes of the structs.
func (d *unitData) memory() int {
	return 1000 + 88*len(d.fns) + 40*len(d.calls) + 16*len(d.spans) + 40*len(d.index) + 16*len(d.table.rows) + 40*len(d.table.seqs) + 57*len(d.table.files) + 16*len(d.table.dirs)
}

// charge adds n bytes to the size of a cached unit and draws them. It evicts other units, first those
// that were used least recently, until there is memory for it. The unit stays in any case.
func (d *Data) charge(data *unitData, n int) {
	data.size += n
	d.cached += n
	drawn := false
	for i := len(d.cache) - 1; i >= 0; i-- {
		if !drawn && data.u.sec().src.Draw(input.Memory, int64(n)) == nil {
			data.paid, drawn = data.paid+int64(n), true
		}
		if drawn && d.cached <= maxCached {
			return
		}
		if d.cache[i] != data {
			d.evict(i)
		}
	}
}

// evict takes a unit out of the cache.
func (d *Data) evict(i int) {
	old := d.cache[i]
	old.body.dropScopes()
	old.u.sec().src.Return(old.paid)
	d.cached -= old.size
	d.cache = slices.Delete(d.cache, i, i+1)
}

// detail says which entries of a unit decode reads.
type detail uint8

const (
	outermost detail = iota // functions; in a unit that skim can read only those that are in no other function
	allFunctions
	allCalls // all functions with their inlined calls
)

// decode reads a unit's entries and line program. Inlined calls have lists of ranges all over another
// section, so lookups leave them to expand, for the one function that they find.
func (d *Data) decode(u *unit, read detail) (*unitData, error) {
	if err := d.warnings.Pass(u.rootOf()); err != nil {
		return nil, err
	}
	data := &unitData{u: u, body: u}
	if u.dwoName.form != 0 && u.skeleton == nil {
		body, err := d.split(u)
		if err = d.warnings.Pass(err); err != nil {
			return nil, err
		}
		if body != nil {
			data.body = body
		}
		data.splitMissing = body == nil
	}
	var err error
	if read == outermost {
		data.skimmed, err = d.skim(data)
		if err = d.warnings.Pass(err); err != nil {
			return nil, err
		}
	}
	if !data.skimmed {
		data.fns, data.spans = nil, nil
		if err := d.warnings.Pass(d.walk(data, read == allCalls)); err != nil {
			return nil, err
		}
	}
	data.buildIndex()
	data.table, err = d.lines(u)
	return data, d.warnings.Pass(err)
}

// level is the state of the walk for the children of an entry: the function that they are part of
// (-1 if none), the number of inlined calls around them, and whether they are in a namespace or
// class.
type level struct {
	fn     int32
	depth  uint16
	scoped bool
}

// walk reads the functions of a unit, with their inlined calls if calls is set.
func (d *Data) walk(data *unitData, calls bool) error {
	u := data.body
	b, err := u.sec().bytes(u.root, u.end-u.root)
	if err != nil {
		return err
	}
	return d.entries(data, &reader{b: b, big: u.obj.big}, u.root, []level{{fn: -1}}, true, calls)
}

// entries reads functions, inlined calls or both from base on. inner has a level for each entry that is
// open at base. The walk ends when the second of them, the unit's first entry or the function that
// expand reads, is closed. An entry with children is followed by them and by a code of 0, which
// closes it (DWARF 5, section 2.3).
//
// Invariant: r.p is at an entry or a closing 0, and inner has a level for each entry whose children
// are being read.
//
//	entry                       inner after it (the first level is outside of the unit)
//	compile_unit                –, unit
//	  subprogram f              –, unit, f
//	    formal_parameter        –, unit, f          no children
//	    inlined_subroutine g    –, unit, f, g       g: depth 1
//	      formal_parameter      –, unit, f, g
//	      0                     –, unit, f
//	    0                       –, unit
//	  0                         the walk ends
func (d *Data) entries(data *unitData, r *reader, base int64, inner []level, functions, calls bool) error {
	u := data.body
	sec := u.sec()
	t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
	if err != nil {
		return err
	}
	var bad error
	for r.p < len(r.b) {
		at := r.p
		code := r.uleb()
		if code == 0 {
			if len(inner) <= 2 {
				break
			}
			last := len(inner) - 1
			if fn := inner[last].fn; fn >= 0 && fn != inner[last-1].fn {
				data.fns[fn].end = base + int64(r.p)
			}
			inner = inner[:last]
			continue
		}
		a := t.get(code)
		if a == nil {
			return sec.errorf(base+int64(at), "an abbreviation of the unit at 0x"+hex(uint64(u.off)), "code %d", code)
		}
		// Attributes may take no bytes, so that a byte can ask for many.
		if err := sec.src.Draw(input.Work, 1+int64(len(a.attrs))); err != nil {
			return sec.src.Wrap("", base+int64(at), err)
		}
		here := inner[len(inner)-1]
		switch a.kind {
		case kindFunction:
			// A declaration, or the abstract instance of an inlined function. Nested functions may
			// have code.
			if !a.code || !functions {
				r.skipEntry(a.skips, u.encoding)
				here = level{fn: -1, scoped: here.scoped}
				break
			}
			fn, err := d.function(data, r, a, base+int64(at), here)
			bad = worse(bad, err)
			here = level{fn: fn, scoped: here.scoped}
			if fn >= 0 {
				data.fns[fn].end, data.fns[fn].open = u.end, a.children && !calls
			}
		// An inlined call in no function with code is in an abstract instance: it says nothing of
		// addresses.
		case kindInlined:
			if here.fn < 0 || !calls {
				r.skipEntry(a.skips, u.encoding)
				break
			}
			made, err := d.inlined(data, r, a, base+int64(at), here)
			bad = worse(bad, err)
			if made {
				here.depth++
			}
		default:
			if a.children && a.kind == kindLeaf {
				// Types have many children and no functions among them, so the sibling skips them
				// at once.
				if to := u.siblingOf(r, a, base, r.p); to > 0 && to-base <= int64(len(r.b)) {
					r.p = int(to - base)
					continue
				}
			}
			r.skipEntry(a.skips, u.encoding)
			if a.kind == kindType || a.tag == tagNamespace || a.tag == tagModule {
				here.scoped = true
			}
		}
		if r.bad {
			return sec.errorf(base+int64(at), "an entry", "the end of the unit at 0x%x", u.off)
		}
		if a.children {
			if len(inner) >= maxDepth {
				return sec.errorf(base+int64(at), "entries at most 16384 deep", "more")
			}
			inner = append(inner, here)
			// The unit's first entry has no children.
		} else if len(inner) == 1 {
			break
		}
	}
	return bad
}

// worse returns the first of two errors that is one; before others, one of bytes that are missing, with
// which the entries are read again.
func worse(a, b error) error {
	if a == nil || input.Needs(b) {
		return b
	}
	return a
}

// codeWords are the attributes that say which code an entry has.
type codeWords struct{ low, high, ranges word }

// take keeps an attribute's value, if it is one of these.
func (c *codeWords) take(at uint16, w word) {
	switch at {
	case atLowPC:
		c.low = w
	case atHighPC:
		c.high = w
	case atRanges:
		c.ranges = w
	}
}

// function reads a DW_TAG_subprogram and returns its index in data.fns, or -1 if it has no code.
func (d *Data) function(data *unitData, r *reader, a *abbrev, off int64, in level) (int32, error) {
	u := data.body
	var code codeWords
	for i := range a.attrs {
		row := &a.attrs[i]
		code.take(row.at, r.word(u.encoding, row, u.root))
	}
	if r.bad || code.low.form == 0 && code.ranges.form == 0 {
		return -1, nil
	}
	s, err := d.spansOf(data, &code, false)
	if s.from == s.to {
		return -1, err
	}
	data.fns = append(data.fns, function{off: off, spans: s, top: !in.scoped})
	return int32(len(data.fns) - 1), err
}

// spansOf appends an entry's ranges to data.spans, sorted and merged (see merge).
func (d *Data) spansOf(data *unitData, c *codeWords, join bool) (indexRange, error) {
	from := len(data.spans)
	var err error
	if c.ranges.form != 0 {
		data.spans, err = data.body.rangeList(data.spans, c.ranges)
	} else {
		data.spans, err = data.body.lowHigh(data.spans, c.low, c.high)
	}
	data.spans = data.spans[:from+len(merge(data.spans[from:], join))]
	return indexRange{int32(from), int32(len(data.spans))}, err
}

// merge sorts ranges and merges those that overlap, and adjacent ones too if join is set.
func merge(spans []span, join bool) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	kept := spans[:1]
	for _, s := range spans[1:] {
		last := &kept[len(kept)-1]
		if s.start < last.end || join && s.start == last.end {
			last.end = max(last.end, s.end)
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// inlined reads a DW_TAG_inlined_subroutine. made is false if it has no code.
func (d *Data) inlined(data *unitData, r *reader, a *abbrev, off int64, in level) (made bool, err error) {
	u := data.body
	c := call{origin: noRef, off: off, fn: in.fn, file: noFile, depth: in.depth}
	var code codeWords
	for i := range a.attrs {
		row := &a.attrs[i]
		w := r.word(u.encoding, row, u.root)
		switch code.take(row.at, w); row.at {
		case atCallFile:
			c.file = uint32(min(w.v, 1<<32-1))
		case atCallLine:
			c.line = uint32(min(w.v, 1<<32-1))
		case atAbstractOrigin:
			c.origin = u.refer(w)
		}
	}
	if r.bad || in.depth >= maxInlined {
		return false, nil
	}
	if c.spans, err = d.spansOf(data, &code, true); c.spans.from == c.spans.to {
		return false, err
	}
	// A function that is nested in another one comes between the calls of the outer one.
	if n := len(data.calls); n > 0 && data.calls[n-1].fn > in.fn {
		data.unsortedCalls = true
	}
	data.calls = append(data.calls, c)
	return true, err
}

// buildIndex sorts the ranges by address. Of two that overlap it keeps the one that starts first,
// and of two that start together the first in the file, as symfile does with a .sym file.
//
// In order: the calls are sorted by function, if a nested function interrupted them; each function
// gets its range of calls; the ranges of all functions are sorted; overlaps are dropped. A dropped
// range with the start of the one before it is noted in folded.
func (d *unitData) buildIndex() {
	if d.unsortedCalls {
		slices.SortStableFunc(d.calls, func(a, b call) int { return cmp.Compare(a.fn, b.fn) })
	}
	for from := 0; from < len(d.calls); {
		to := from + 1
		for to < len(d.calls) && d.calls[to].fn == d.calls[from].fn {
			to++
		}
		d.fns[d.calls[from].fn].calls = indexRange{int32(from), int32(to)}
		from = to
	}
	for i := range d.fns {
		for _, s := range d.of(d.fns[i].spans) {
			d.index = append(d.index, owned{span: s, fn: int32(i)})
		}
	}
	slices.SortStableFunc(d.index, func(a, b owned) int { return cmp.Compare(a.start, b.start) })
	kept := d.index[:0]
	for _, o := range d.index {
		if n := len(kept); n > 0 && o.start < kept[n-1].end {
			if o.start == kept[n-1].start && len(d.folded) < maxFolded {
				d.folded = append(d.folded, [2]int32{kept[n-1].fn, o.fn})
			}
			continue
		}
		kept = append(kept, o)
	}
	d.index = kept
}

// at returns the function's range that covers an address.
func (d *unitData) at(rva uint64) (owned, bool) {
	i, exact := slices.BinarySearchFunc(d.index, rva, func(o owned, v uint64) int { return cmp.Compare(o.start, v) })
	if !exact {
		i--
	}
	if i < 0 || rva >= d.index[i].end {
		return owned{}, false
	}
	return d.index[i], true
}
