package dwarf

import (
	"errors"
	"sort"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// Lookup returns the function, source line and inlined calls at a module-relative address. The
// result equals that of symfile.File.Lookup on a .sym file of the same functions: Start and Size
// are those of the function's range that covers the address, and LineStart is the first address of
// the line in that range. File and Line are the position in the function itself, which is the
// outermost inlined call's site if there are inlined calls.
//
// A function without an entry is found by its symbol, see Symbols.
//
// The Answer is Yes or No. It is No for code without a function. If a read fails, the error is set and the Answer is Needs for an *input.NeedError, else No. Damage in the file is a
// warning, not an error. Symbols never share an Inlines slice.
func (d *Data) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	d.begin()
	data, o, err := d.functionAt(rva)
	if err != nil {
		return symbol.Symbol{}, answerOf(err), err
	}
	if data == nil {
		return d.unlisted(rva)
	}
	s, err := d.symbol(data, o, rva)
	if err != nil {
		return symbol.Symbol{}, answerOf(err), err
	}
	return s, symbol.Yes, nil
}

// functionAt returns the function's range that covers an address, and its unit, or nil. It searches
// from cheap to dear: .debug_aranges, the first entries of all units, and last the functions of
// units that state no ranges.
//
// A unit that .debug_aranges names may still lack the address there: then the units' first entries
// are searched too. If that unit's own first entry has the address, too, the code is its own and has
// no function: GCC folds equal functions and describes one of them.
func (d *Data) functionAt(rva uint64) (*unitData, owned, error) {
	var list [maxOver]int64
	if err := d.readAranges(); err != nil {
		return nil, owned{}, err
	}
	named := d.byAddress.aranges.over(list[:0], rva, rva+1)
	if data, o, err := d.best(named, rva); data != nil || err != nil {
		return data, o, err
	}
	for _, off := range named {
		if has, err := d.rootHas(off, rva); has || err != nil {
			return nil, owned{}, err
		}
	}
	if err := d.readRoots(); err != nil {
		return nil, owned{}, err
	}
	if data, o, err := d.best(d.byAddress.roots.over(list[:0], rva, rva+1), rva); data != nil || err != nil {
		return data, o, err
	}
	if d.byAddress.unlocatedRead || len(d.byAddress.unlocated) == 0 {
		return nil, owned{}, nil
	}
	if err := d.readUnlocated(); err != nil {
		return nil, owned{}, err
	}
	return d.best(d.byAddress.roots.over(list[:0], rva, rva+1), rva)
}

// best returns the function's range, among those of several units that cover the address, that
// starts first. Of two that start together it is the one whose unit comes first. best sets
// d.overlaps.
func (d *Data) best(units []int64, rva uint64) (*unitData, owned, error) {
	var found *unitData
	var of owned
	d.overlaps = d.overlaps[:0]
	for _, off := range units {
		data, err := d.loadAt(off)
		if err != nil {
			return nil, owned{}, err
		}
		if data == nil {
			continue
		}
		o, ok := data.at(rva)
		if !ok && data.skimmed { // skim reads outermost functions only
			if data, err = d.loadWhole(data.u); err != nil {
				return nil, owned{}, err
			}
			o, ok = data.at(rva)
		}
		if ok {
			d.overlaps = append(d.overlaps, overlap{data, o})
		}
		if ok && (found == nil || o.start < of.start || o.start == of.start && data.u.off < found.u.off) {
			found, of = data, o
		}
	}
	return found, of, nil
}

// loadAt loads the unit whose header is at an offset. It returns nil if the header cannot be
// parsed.
func (d *Data) loadAt(off int64) (*unitData, error) {
	u, err := d.main.unitAt(off)
	if err != nil {
		return nil, d.warnings.Pass(err)
	}
	return d.load(u)
}

// symbol makes the answer for an address in a function's range.
//
// In order: the function's name; whether a function of another name has the same code; the lines of
// the range, and the one at the address; the function's inlined calls; their names and positions.
func (d *Data) symbol(data *unitData, o owned, rva uint64) (symbol.Symbol, error) {
	fn := &data.fns[o.fn]
	s := symbol.Symbol{Start: o.start, Size: o.end - o.start}
	var err error
	if s.Name, err = d.functionName(data, fn); err != nil {
		return s, err
	}
	if s.Multiple, err = d.multiple(data, o, s.Name); err != nil {
		return s, err
	}
	if err := d.addLine(&s, data, o.span, rva); err != nil {
		return s, err
	}
	innermost := s
	if err := d.expand(data, o.fn); err != nil {
		return s, err
	}
	calls, starts := data.callsAt(&data.fns[o.fn], rva)
	if len(calls) == 0 {
		return s, nil
	}
	// The position inside an inlined call is the call site of the next inner call. For the
	// innermost it is the line.
	//
	//	calls, outermost first    h inlined in g at g.c:7, g inlined in f at f.c:3; the line is h.c:9
	//	s                         f, f.c:3
	//	s.Inlines, innermost first  h at h.c:9, g at g.c:7
	s.Inlines = make([]symbol.Inline, len(calls))
	for level, c := range calls {
		out := &s.Inlines[len(calls)-1-level]
		if out.Name, err = data.callName(c); err != nil {
			return s, err
		}
		out.Start = max(starts[level], o.start)
		site, err := data.table.path(c.file)
		if err != nil {
			return s, err
		}
		if level == 0 {
			s.File, s.Line, s.HasLine = site, c.line, true
			if !innermost.HasLine {
				s.LineStart = max(starts[0], o.start)
			}
		} else {
			outer := &s.Inlines[len(calls)-level]
			outer.File, outer.Line, outer.HasLine = site, c.line, true
		}
	}
	if innermost.HasLine {
		in := &s.Inlines[0]
		in.File, in.Line, in.HasLine = innermost.File, innermost.Line, true
	}
	return s, nil
}

// addLine adds the line at an address in a function's range to the answer.
func (d *Data) addLine(s *symbol.Symbol, data *unitData, in span, rva uint64) error {
	// A recursive function is looked up again and again, so the lines of the last one are kept.
	if data.lastRange != in {
		data.lastLines = data.table.within(data.lastLines[:0], in.start, in.end)
		data.lastRange = in
	}
	lines := data.lastLines
	i := sort.Search(len(lines), func(i int) bool { return lines[i].start > rva }) - 1
	if i < 0 || rva >= lines[i].end {
		return nil
	}
	path, err := data.table.path(lines[i].file)
	if err != nil {
		return err
	}
	s.File, s.Line, s.HasLine, s.LineStart = path, lines[i].line, true, lines[i].start
	return nil
}

// overlap is a function's range that covers the address of the current lookup.
type overlap struct {
	data *unitData
	of   owned
}

// multiple reports whether a function of another name starts at the same address as o, in the same
// unit or in another unit that best searched. Linkers fold functions with the same code into one.
func (d *Data) multiple(data *unitData, o owned, name string) (bool, error) {
	other := func(in *unitData, fn *function) (bool, error) {
		n, err := d.functionName(in, fn)
		return n != name, err
	}
	for _, pair := range data.folded {
		if pair[0] == o.fn {
			if is, err := other(data, &data.fns[pair[1]]); is || err != nil {
				return is, err
			}
		}
	}
	for _, t := range d.overlaps {
		if t.data != data && t.of.start == o.start {
			if is, err := other(t.data, &t.data.fns[t.of.fn]); is || err != nil {
				return is, err
			}
		}
	}
	return false, nil
}

// callName returns the name of the function that was inlined.
func (d *unitData) callName(c *call) (string, error) {
	r := c.origin
	if r == noRef {
		r = d.body.ref(c.off)
	}
	return d.body.obj.nameOf(r, d.body, d.body.lang)
}

// callsAt returns the inlined calls that cover an address, outermost first, and the start of each
// one's range. If calls of one depth overlap, the range that starts last counts, and of two that
// start together the shorter. The list ends at the first depth without a call.
// Nested calls are nested in their ranges too, but optimizers move code: what a depth lacks ends
// the list.
func (d *unitData) callsAt(fn *function, rva uint64) ([]*call, []uint64) {
	var calls []*call
	var at []span
	for i := fn.calls.from; i < fn.calls.to; i++ {
		c := &d.calls[i]
		spans := d.of(c.spans)
		k := sort.Search(len(spans), func(k int) bool { return spans[k].start > rva }) - 1
		if k < 0 || rva >= spans[k].end {
			continue
		}
		for int(c.depth) >= len(calls) {
			calls, at = append(calls, nil), append(at, span{})
		}
		have := at[c.depth]
		if calls[c.depth] == nil || spans[k].start > have.start || spans[k].start == have.start && spans[k].end <= have.end {
			calls[c.depth], at[c.depth] = c, spans[k]
		}
	}
	starts := make([]uint64, 0, len(calls))
	for i, c := range calls {
		if c == nil {
			calls = calls[:i]
			break
		}
		starts = append(starts, at[i].start)
	}
	return calls, starts
}

// maxAsked limits how many units Has reads: a kind that none of the first thousands has is hardly
// in the others.
const maxAsked = 4096

var errEnough = errors.New("enough seen")

// Has reports whether the file has functions, lines and inlined calls. It reads the units'
// abbreviations until it has seen each.
//
// For a skeleton it reads the abbreviations of the .dwo file, if that is there.
func (d *Data) Has() (functions, lines, inlines bool) {
	d.begin()
	o := d.main
	line, err := o.section(secLine)
	d.warnings.Pass(err) // an error of reading is dropped here: the lookup that meets it again reports it
	lines = line != nil
	sec, err := o.section(secAbbrev)
	d.warnings.Pass(err)
	if sec == nil {
		return false, lines, false
	}
	units := 0
	err = o.scan(func(u *unit) error {
		if units++; functions && inlines || units > maxAsked {
			return errEnough
		}
		if u.kind == utType || u.kind == utPartial || u.kind == utSplitType {
			return nil
		}
		t, err := o.abbrevsOf(u.abbrev, u.encoding)
		if err != nil {
			d.warnings.Pass(err)
			return nil
		}
		functions = functions || t.code
		inlines = inlines || t.inlines
		if t.split {
			if u.rootOf() != nil || u.dwoName.form == 0 {
				return nil
			}
			body, err := d.split(u)
			if err != nil || body == nil {
				d.warnings.Pass(err)
				return nil
			}
			if t, err = body.obj.abbrevsOf(body.abbrev, body.encoding); err != nil {
				d.warnings.Pass(err)
				return nil
			}
			functions = functions || t.code
			inlines = inlines || t.inlines
		}
		return nil
	})
	if err != errEnough {
		d.warnings.Pass(err)
	}
	// Lines and a symbol table are functions too, see Symbols.
	return functions || lines && d.opt.Symbols != nil && d.opt.Symbols.Len() > 0, lines, inlines
}
