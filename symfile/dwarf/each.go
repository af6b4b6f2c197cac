package dwarf

import (
	"cmp"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// everything is what Each keeps of all units until they are in the order of addresses: of each function its name and, in a few
// bytes a line and a call, what belongs to it.
type everything struct {
	spans []owned // of all functions, fn counts in fns
	fns   []kept
	units []keptUnit
	// calls' names, by number
	names   []string
	numbers map[nameKey]uint32
	paths   map[string]string

	pieces, within []piece
	// Room for what is handed out next.
	lines  []symbol.Line
	calls  []symbol.InlineCall
	ranges []symbol.Range
}

type nameKey struct {
	o *object
	r ref
}

type kept struct {
	name string
	unit int32
	at   uint32 // in the unit's bytes
	// nspans are its ranges that are left in spans; lost: others are not.
	nspans uint16
	lost   bool
	done   bool
	// multiple: other functions have the same code.
	multiple bool
}

type keptUnit struct {
	files []string
	bytes []byte
}

// Each calls f for every function with code, by the address of its first range, and ends with f's first error. Lines, inlined
// calls and ranges are those that lookups answer. Of functions over each other the one that starts first counts, of two that
// start together the file's first; a function that lost all its code so is left out, and the other one is Multiple if their
// names differ.
//
// Each unit is decoded once; what is kept of all of them grows with the numbers of functions, lines and calls, by some four
// bytes a line. A Function's slices belong to f, which may keep them.
func (d *Data) Each(f func(symbol.Function) error) error {
	d.begin()
	done, err := d.main.keep()
	if err != nil {
		return err
	}
	defer done()
	if d.alt != nil {
		done, err := d.alt.keep()
		if err != nil {
			return err
		}
		defer done()
	}
	all := &everything{numbers: map[nameKey]uint32{}, paths: map[string]string{}}
	if err := d.collect(all); err != nil {
		return err
	}
	all.settle()
	return all.tell(f)
}

// collect decodes all units that have code.
func (d *Data) collect(all *everything) error {
	var spans []span
	return d.main.scan(func(u *unit) error {
		if u.kind == utType || u.kind == utPartial || u.kind == utSplitType {
			return nil
		}
		var sure bool
		var err error
		spans, sure, err = d.rootSpans(spans[:0], u)
		if err := d.note(err); err != nil {
			return err
		}
		if sure && len(spans) == 0 {
			return nil
		}
		data, err := d.decode(u, true)
		if err != nil {
			return err
		}
		err = all.add(data)
		data.body.scopes, data.body.scoped = nil, false
		return err
	})
}

// add keeps a unit.
func (all *everything) add(d *unitData) error {
	if len(d.fns) == 0 {
		return nil
	}
	number := int32(len(all.units))
	u := keptUnit{}
	files := map[uint32]uint64{} // numbers of the line table to ours
	file := func(n uint32) (uint64, error) {
		if i, ok := files[n]; ok {
			return i, nil
		}
		path, err := d.table.path(n)
		if err != nil {
			return 0, err
		}
		if same, ok := all.paths[path]; ok {
			path = same
		} else {
			all.paths[path] = path
		}
		i := uint64(len(u.files))
		for j, have := range u.files[:min(len(u.files), 2)] { // the main file comes twice in DWARF 5
			if have == path {
				i = uint64(j)
			}
		}
		if i == uint64(len(u.files)) {
			u.files = append(u.files, path)
		}
		files[n] = i
		return i, nil
	}
	b := make([]byte, 0, 4*len(d.table.rows)+16*len(d.calls))
	owns := slices.Clone(d.index)
	slices.SortStableFunc(owns, func(a, b owned) int { return cmp.Compare(a.fn, b.fn) })
	folded := map[int32][]int32{} // a few of the functions with another one's code
	for _, pair := range d.folded {
		if list := folded[pair[0]]; len(list) < 8 {
			folded[pair[0]] = append(list, pair[1])
		}
	}
	var spans []span
	for len(owns) > 0 {
		n := owns[0].fn
		fn := &d.fns[n]
		spans = spans[:0]
		for len(owns) > 0 && owns[0].fn == n && len(spans) < 1<<16-1 {
			spans = append(spans, owns[0].span)
			owns = owns[1:]
		}
		name, err := all.function(d, fn)
		if err != nil {
			return err
		}
		at := len(b)
		all.pieces = all.pieces[:0]
		for _, s := range spans {
			all.spans = append(all.spans, owned{s, int32(len(all.fns))})
			all.within = d.table.within(all.within[:0], s.start, s.end)
			all.pieces = append(all.pieces, all.within...)
		}
		multiple := false
		for _, loser := range folded[n] {
			other, err := all.function(d, &d.fns[loser])
			if err != nil {
				return err
			}
			multiple = multiple || other != name
		}
		all.fns = append(all.fns, kept{name: name, unit: number, at: uint32(at), multiple: multiple})
		b = putUint(b, spans[0].start)
		b = putUint(b, uint64(len(all.pieces)))
		last, line := spans[0].start, int64(0)
		for _, p := range all.pieces {
			n, err := file(p.file)
			if err != nil {
				return err
			}
			b = putUint(b, p.start-last)
			b = putUint(b, p.end-p.start)
			b = putUint(b, n)
			b = putInt(b, int64(p.line)-line)
			last, line = p.end, int64(p.line)
		}
		calls := d.calls[fn.calls.from:fn.calls.to]
		b = putUint(b, uint64(len(calls)))
		for j := range calls {
			c := &calls[j]
			name, err := all.name(d, c)
			if err != nil {
				return err
			}
			n, err := file(c.file)
			if err != nil {
				return err
			}
			b = putUint(b, uint64(c.depth))
			b = putUint(b, uint64(name))
			b = putUint(b, n)
			b = putUint(b, uint64(c.line))
			at := d.of(c.spans)
			b = putUint(b, uint64(len(at)))
			last := spans[0].start
			for _, s := range at {
				b = putInt(b, int64(s.start-last))
				b = putUint(b, s.end-s.start)
				last = s.end
			}
		}
	}
	u.bytes = b
	if len(b) < cap(b)*3/4 {
		u.bytes = slices.Clone(b)
	}
	all.units = append(all.units, u)
	return nil
}

// function is a function's name.
func (all *everything) function(d *unitData, fn *function) (string, error) {
	name, err := d.body.obj.resolve(d.body.ref(fn.off), d.body, d.body.lang, fn.top)
	if name == "" {
		name = nameless
	}
	return name, d.u.obj.d.note(err)
}

// name is the number of the name of a function that was inlined.
func (all *everything) name(d *unitData, c *call) (uint32, error) {
	o, r := d.body.obj, c.origin
	if r == noRef {
		r = d.body.ref(c.off)
	}
	key := nameKey{o, r}
	if n, ok := all.numbers[key]; ok {
		return n, nil
	}
	name, err := o.resolve(r, d.body, d.body.lang, false)
	if err = o.d.note(err); err != nil {
		return 0, err
	}
	if name == "" {
		name = nameless
	}
	n := uint32(len(all.names))
	all.names = append(all.names, name)
	all.numbers[key] = n
	return n, nil
}

func putUint(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func putInt(b []byte, v int64) []byte { return putUint(b, uint64(v)<<1^uint64(v>>63)) }

func unzig(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// settle brings the ranges in order and drops those over another one.
func (all *everything) settle() {
	slices.SortFunc(all.spans, func(a, b owned) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.fn, b.fn)) })
	left := all.spans[:0]
	for _, o := range all.spans {
		if n := len(left); n > 0 && o.start < left[n-1].end {
			winner, loser := &all.fns[left[n-1].fn], &all.fns[o.fn]
			if o.start == left[n-1].start && winner.name != loser.name {
				winner.multiple = true
			}
			loser.lost = true
			continue
		}
		all.fns[o.fn].nspans++
		left = append(left, o)
	}
	all.spans = left
}

// tell hands out the functions.
func (all *everything) tell(f func(symbol.Function) error) error {
	several := map[int32][]symbol.Range{} // of functions with more than one range
	for _, o := range all.spans {
		if all.fns[o.fn].nspans > 1 {
			several[o.fn] = append(several[o.fn], symbol.Range{Start: o.start, Size: o.end - o.start})
		}
	}
	for _, o := range all.spans {
		fn := &all.fns[o.fn]
		if fn.done {
			continue
		}
		fn.done = true
		out := symbol.Function{Name: fn.name, Multiple: fn.multiple}
		if fn.nspans > 1 {
			out.Ranges = several[o.fn]
		} else {
			out.Ranges = carve(&all.ranges, 1)
			out.Ranges[0] = symbol.Range{Start: o.start, Size: o.end - o.start}
		}
		all.fill(&out, fn)
		if err := f(out); err != nil {
			return err
		}
	}
	return nil
}

// carve is room for n values out of a larger piece, so that few pieces are made.
func carve[T any](room *[]T, n int) []T {
	if n > len(*room) {
		*room = make([]T, max(n, 1024))
	}
	out := (*room)[:n:n]
	*room = (*room)[n:]
	return out
}

// fill decodes a function's lines and calls.
func (all *everything) fill(out *symbol.Function, fn *kept) {
	u := &all.units[fn.unit]
	r := reader{b: u.bytes, p: int(fn.at)}
	first := r.uleb()
	lines := carve(&all.lines, int(r.uleb()))
	at, line, n := first, int64(0), 0
	for range lines {
		start := at + r.uleb()
		size := r.uleb()
		file := u.files[r.uleb()]
		line += unzig(r.uleb())
		at = start + size
		if fn.lost && !inside(out.Ranges, start) {
			continue
		}
		lines[n] = symbol.Line{Range: symbol.Range{Start: start, Size: size}, File: file, Line: uint32(line)}
		n++
	}
	out.Lines = lines[:n]
	calls := carve(&all.calls, int(r.uleb()))
	n = 0
	room := 1000 + 64*len(out.Ranges) // for calls that reach over several ranges
	for range calls {
		c := symbol.InlineCall{Depth: int(r.uleb()), Name: all.names[r.uleb()], CallFile: u.files[r.uleb()], CallLine: uint32(r.uleb())}
		spans := int(r.uleb())
		at := first
		if spans == 1 {
			c.Ranges = carve(&all.ranges, 1)[:0]
		}
		for range spans {
			start := at + uint64(unzig(r.uleb()))
			at = start + r.uleb()
			had := len(c.Ranges)
			if c.Ranges = clip(c.Ranges, out.Ranges, start, at); len(c.Ranges)-had > 1 {
				if room -= len(c.Ranges) - had; room < 0 {
					c.Ranges = c.Ranges[:had]
				}
			}
		}
		if len(c.Ranges) > 0 {
			calls[n] = c
			n++
		}
	}
	out.Inlines = calls[:n]
}

// from is the first of the ranges, which are sorted, that ends behind an address.
func from(ranges []symbol.Range, addr uint64) []symbol.Range {
	if len(ranges) > 0 && addr < ranges[0].Start+ranges[0].Size {
		return ranges
	}
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].Start+ranges[i].Size > addr })
	return ranges[i:]
}

// inside reports whether an address lies in one of the ranges.
func inside(ranges []symbol.Range, addr uint64) bool {
	ranges = from(ranges, addr)
	return len(ranges) > 0 && ranges[0].Start <= addr
}

// clip adds what of the code from lo to hi lies in the ranges.
func clip(dst, ranges []symbol.Range, lo, hi uint64) []symbol.Range {
	for _, r := range from(ranges, lo) {
		if r.Start >= hi {
			break
		}
		start := max(lo, r.Start)
		dst = append(dst, symbol.Range{Start: start, Size: min(hi, r.Start+r.Size) - start})
	}
	return dst
}
