package dwarf

import (
	"cmp"
	"slices"
)

const (
	// maxDepth bounds how deep entries lie in each other.
	maxDepth = 1 << 14
	// maxInlined bounds how many inlined calls one address has; the deepest seen in a real program is 27.
	maxInlined = 1000
	// maxFolded bounds the functions of a unit that are known to have the code of another one.
	maxFolded = 64 << 10
)

// function is a function with code. Its ranges and inlined calls are stretches of the unit's.
type function struct {
	off   int64 // of its entry
	end   int64 // where that ends, if the unit was skimmed
	spans stretchOf
	calls stretchOf
	top   bool // no namespace or class is around its entry
	open  bool // its calls have not been read
}

type stretchOf struct{ from, to int32 }

// call is an inlined call.
type call struct {
	origin     ref
	off        int64
	fn         int32
	file, line uint32
	depth      uint16
	spans      stretchOf
}

// noFile is the number of no file.
const noFile = ^uint32(0)

// owned is a range of a function.
type owned struct {
	span
	fn int32
}

// unitData is what is kept of a unit.
type unitData struct {
	u     *unit // the one in the main file
	body  *unit // where its functions are: the split unit, or u
	fns   []function
	calls []call
	spans []span
	index []owned // ranges of functions by address, none over another
	table *lineTable
	size  int
	// folded are pairs of functions that start at one address; the first is the one that counts.
	folded [][2]int32
	// lacks: the file of the split unit was not at hand.
	lacks bool
	// skimmed: only functions that lie in nothing else were read, without their calls.
	skimmed bool
	// mixed: the calls of some function are not side by side yet.
	mixed bool
	// The lines of the range that was asked for last.
	lastRange span
	lastLines []piece
}

func (d *unitData) of(s stretchOf) []span { return d.spans[s.from:s.to] }

// load is a unit's functions and lines. What could not be read of them is missing, and a warning says so.
func (d *Data) load(u *unit) (*unitData, error) {
	for i, c := range d.cache {
		if c.u == u {
			if c.lacks {
				body, err := d.split(u)
				if err = d.note(err); err != nil {
					return nil, err
				}
				if body != nil {
					d.cache = slices.Delete(d.cache, i, i+1)
					break
				}
			}
			copy(d.cache[1:i+1], d.cache[:i])
			d.cache[0] = c
			return c, nil
		}
	}
	data, err := d.decode(u, false)
	if err != nil {
		return nil, err
	}
	d.remember(data)
	return data, nil
}

// loadWhole is load for who needs all functions.
func (d *Data) loadWhole(u *unit) (*unitData, error) {
	data, err := d.load(u)
	if err != nil || !data.skimmed {
		return data, err
	}
	if data, err = d.decode(u, true); err != nil {
		return nil, err
	}
	d.cache = d.cache[1:]
	d.remember(data)
	return data, nil
}

// remember keeps a unit, and drops those that were not used for the longest time.
func (d *Data) remember(data *unitData) {
	d.cache = slices.Insert(d.cache, 0, data)
	total := 0
	for i, c := range d.cache {
		if total += c.size; total > maxCached && i > 0 {
			for _, old := range d.cache[i:] {
				old.body.scopes, old.body.scoped = nil, false
			}
			clear(d.cache[i:])
			d.cache = d.cache[:i]
			break
		}
	}
}

// decode reads a unit: whole, or as little of it as a lookup needs.
func (d *Data) decode(u *unit, whole bool) (*unitData, error) {
	if err := d.note(u.rootOf()); err != nil {
		return nil, err
	}
	data := &unitData{u: u, body: u}
	if u.dwoName.form != 0 && u.skeleton == nil {
		body, err := d.split(u)
		if err = d.note(err); err != nil {
			return nil, err
		}
		if body != nil {
			data.body = body
		}
		data.lacks = body == nil
	}
	var err error
	if !whole {
		data.skimmed, err = d.skim(data)
		if err = d.note(err); err != nil {
			return nil, err
		}
	}
	if !data.skimmed {
		data.fns, data.spans = nil, nil
		if err := d.note(d.walk(data)); err != nil {
			return nil, err
		}
	}
	data.settle()
	data.table, err = d.lines(u)
	if err = d.note(err); err != nil {
		return nil, err
	}
	data.size = 1000 + 88*len(data.fns) + 40*len(data.calls) + 16*len(data.spans) + 40*len(data.index) + 16*len(data.table.rows) + 40*len(data.table.files)
	return data, nil
}

// level is an entry under way: the function whose code it is part of, -1 if none, how many inlined calls are around it, and
// whether namespaces or classes are.
type level struct {
	fn     int32
	depth  uint16
	scoped bool
}

// walk goes over the entries of a unit once.
func (d *Data) walk(data *unitData) error {
	u := data.body
	b, err := u.sec().bytes(u.root, u.end-u.root)
	if err != nil {
		return err
	}
	return d.entries(data, &reader{b: b, big: u.obj.big}, u.root, []level{{fn: -1}})
}

// entries goes over entries from base on, inside of those that are under way, and to the end of the outermost but one.
func (d *Data) entries(data *unitData, r *reader, base int64, inner []level) error {
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
			inner = inner[:len(inner)-1]
			continue
		}
		a := t.get(code)
		if a == nil {
			return sec.errorf(base+int64(at), "an abbreviation of the unit at 0x"+hex(uint64(u.off)), "code %d", code)
		}
		here := inner[len(inner)-1]
		switch a.kind {
		case kindFunction:
			if !a.code {
				r.pass(a.passes, u.encoding)
				here = level{fn: -1, scoped: here.scoped}
				break
			}
			fn, err := d.function(data, r, a, base+int64(at), here)
			if err != nil && bad == nil {
				bad = err
			}
			here = level{fn: fn, scoped: here.scoped}
		case kindInlined:
			if here.fn < 0 {
				r.pass(a.passes, u.encoding)
				break
			}
			made, err := d.inlined(data, r, a, base+int64(at), here)
			if err != nil && bad == nil {
				bad = err
			}
			if made {
				here.depth++
			}
		default:
			if a.children && a.kind == kindLeaf {
				if to := u.siblingOf(r, a, base, r.p); to > 0 && to-base <= int64(len(r.b)) {
					r.p = int(to - base)
					continue
				}
			}
			r.pass(a.passes, u.encoding)
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
		} else if len(inner) == 1 {
			break
		}
	}
	return bad
}

// function reads a DW_TAG_subprogram. It answers its number, -1 if it has no code.
func (d *Data) function(data *unitData, r *reader, a *abbrev, off int64, in level) (int32, error) {
	u := data.body
	var low, high, ranges word
	for i := range a.attrs {
		row := &a.attrs[i]
		w := r.word(u.encoding, row, u.root)
		switch row.at {
		case atLowPC:
			low = w
		case atHighPC:
			high = w
		case atRanges:
			ranges = w
		}
	}
	if r.bad || low.form == 0 && ranges.form == 0 {
		return -1, nil
	}
	s, err := d.spansOf(data, low, high, ranges, false)
	if s.from == s.to {
		return -1, err
	}
	data.fns = append(data.fns, function{off: off, spans: s, top: !in.scoped})
	return int32(len(data.fns) - 1), err
}

// spansOf reads an entry's code by address. Ranges that lie over each other become one, those side by side if join asks for it.
func (d *Data) spansOf(data *unitData, low, high, ranges word, join bool) (stretchOf, error) {
	from := len(data.spans)
	var err error
	if ranges.form != 0 {
		data.spans, err = data.body.rangeList(data.spans, ranges)
	} else {
		data.spans, err = data.body.lowHigh(data.spans, low, high)
	}
	mine := data.spans[from:]
	if len(mine) > 1 {
		slices.SortFunc(mine, func(a, b span) int { return cmp.Compare(a.start, b.start) })
		kept := mine[:1]
		for _, s := range mine[1:] {
			last := &kept[len(kept)-1]
			if s.start < last.end || join && s.start == last.end {
				last.end = max(last.end, s.end)
				continue
			}
			kept = append(kept, s)
		}
		data.spans = data.spans[:from+len(kept)]
	}
	return stretchOf{int32(from), int32(len(data.spans))}, err
}

// inlined reads a DW_TAG_inlined_subroutine; made is false if it has no code.
func (d *Data) inlined(data *unitData, r *reader, a *abbrev, off int64, in level) (made bool, err error) {
	u := data.body
	c := call{origin: noRef, off: off, fn: in.fn, file: noFile, depth: in.depth}
	var low, high, ranges word
	for i := range a.attrs {
		row := &a.attrs[i]
		w := r.word(u.encoding, row, u.root)
		switch row.at {
		case atLowPC:
			low = w
		case atHighPC:
			high = w
		case atRanges:
			ranges = w
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
	if c.spans, err = d.spansOf(data, low, high, ranges, true); c.spans.from == c.spans.to {
		return false, err
	}
	if n := len(data.calls); n > 0 && data.calls[n-1].fn > in.fn {
		data.mixed = true
	}
	data.calls = append(data.calls, c)
	return true, err
}

// settle makes the index of ranges by address. Of two over each other the one that starts first counts, of two that start
// together the file's first: whoever reads a .sym file does the same.
func (d *unitData) settle() {
	if d.mixed {
		slices.SortStableFunc(d.calls, func(a, b call) int { return cmp.Compare(a.fn, b.fn) })
	}
	for from := 0; from < len(d.calls); {
		to := from + 1
		for to < len(d.calls) && d.calls[to].fn == d.calls[from].fn {
			to++
		}
		d.fns[d.calls[from].fn].calls = stretchOf{int32(from), int32(to)}
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

// at is the function's range that covers an address.
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
