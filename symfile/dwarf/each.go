package dwarf

import (
	"cmp"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// collector holds what Each needs of all units until it can sort the functions by address. Lines
// and inlined calls are encoded as LEB128 numbers, a few bytes each, so that a file with millions
// of lines fits in memory.
type collector struct {
	spans []owned // ranges of all functions; fn is an index in fns
	fns   []keptFunction
	units []keptUnit
	// names are those of inlined functions; numbers has their indexes.
	names   []string
	numbers map[nameKey]uint32
	paths   map[string]string

	// Buffers of unitEncoder.function, used again for each function.
	pieces, within []lineSpan
	// Arrays from which allocate takes the slices of the next functions.
	lines  []symbol.Line
	calls  []symbol.InlineCall
	ranges []symbol.Range
}

// nameKey identifies an inlined function by its entry.
type nameKey struct {
	o *object
	r ref
}

// keptFunction is a function whose lines and calls are encoded in its unit's bytes.
type keptFunction struct {
	name string
	unit int32
	at   uint32 // offset of its lines and calls in the unit's bytes
	// nspans is how many of its ranges dropOverlaps kept. lost: it dropped some.
	nspans uint16
	lost   bool
	done   bool // emitted
	// multiple: a function of another name has the same code.
	multiple bool
	// symbol: the function has no entry, see symbolFunctions.
	symbol bool
}

// keptUnit is the encoded functions of a unit and the paths that they refer to by index. add writes
// the bytes, fill reads them.
//
//	function: start, number of lines,  {gap, size, file, line difference} …,
//	                 number of calls,  {depth, name, file, line, number of ranges, {gap, size} …} …
//
// A start, size, gap or index is unsigned LEB128; a line difference and the gap of a call's range
// are signed (putInt), since a call's range may begin before the function's first one. A gap counts
// from the end of the range before it, the first gap from the function's start.
//
// Example: a function at 0x1000 with line 10 for 4 bytes, then line 12 for 6, both of file 0, and
// no calls:
//
//	80 20   02   00 04 00 14   00 06 00 04   00
//	start   2    line 10       line 12 (+2)  no calls
type keptUnit struct {
	files []string
	bytes []byte
}

// Each calls f for every function with code, sorted by the address of its first range, and stops
// with f's first error. It reports the lines, inlined calls and ranges that Lookup does. If
// functions overlap, the code belongs to the one that starts first, and of two that start together
// to the first in the file. Each leaves out a function that loses all its code, and sets Multiple
// of the other if their names differ.
//
// Each decodes every unit once and keeps about four bytes a line. f may keep a Function's slices.
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
	all := &collector{numbers: map[nameKey]uint32{}, paths: map[string]string{}}
	if err := d.collect(all); err != nil {
		return err
	}
	// Functions overlap across units too, so all must be known before the first is emitted.
	all.dropOverlaps()
	return all.emit(f)
}

// collect decodes all units that have code and adds them to all.
func (d *Data) collect(all *collector) error {
	if err := d.readAranges(); err != nil {
		return err
	}
	var spans []span
	return d.main.scan(func(u *unit) error {
		if u.kind == utType || u.kind == utPartial || u.kind == utSplitType {
			return nil
		}
		var sure bool
		var err error
		spans, sure, err = d.rootSpans(spans[:0], u)
		if err := d.warnings.Pass(err); err != nil {
			return err
		}
		if sure && len(spans) == 0 && !d.byAddress.named[u.off] {
			return nil
		}
		data, err := d.decode(u, allCalls)
		if err != nil {
			return err
		}
		if !sure {
			spans = append(spans[:0], span{0, ^uint64(0)}) // readUnlocated looks everywhere
		}
		err = all.add(data, spans)
		data.body.dropScopes()
		return err
	})
}

// add encodes the functions of a unit whose ranges are spans, those with entries first.
//
// keptFunction counts ranges in 16 bits. A function with more than 65,535 is encoded several times,
// with the rest of its ranges each time.
func (all *collector) add(d *unitData, ranges []span) error {
	e := &unitEncoder{all: all, d: d, number: int32(len(all.units)), files: map[uint32]uint64{},
		b: make([]byte, 0, 4*len(d.table.rows)+16*len(d.calls))}
	// d.index is by address; sorted by function, the ranges of one function follow each other.
	owns := slices.Clone(d.index)
	slices.SortStableFunc(owns, func(a, b owned) int { return cmp.Compare(a.fn, b.fn) })
	folded := map[int32][]int32{} // by function: up to 8 others that start at the same address
	for _, pair := range d.folded {
		if list := folded[pair[0]]; len(list) < 8 {
			folded[pair[0]] = append(list, pair[1])
		}
	}
	var spans []span
	for len(owns) > 0 {
		n := owns[0].fn
		spans = spans[:0]
		for len(owns) > 0 && owns[0].fn == n && len(spans) < 1<<16-1 {
			spans = append(spans, owns[0].span)
			owns = owns[1:]
		}
		if err := e.function(&d.fns[n], spans, folded[n]); err != nil {
			return err
		}
	}
	if err := e.symbolFunctions(ranges); err != nil {
		return err
	}
	if len(e.b) == 0 {
		return nil
	}
	if len(e.b) < cap(e.b)*3/4 {
		e.b = slices.Clone(e.b)
	}
	all.units = append(all.units, keptUnit{e.paths, e.b})
	return nil
}

// unitEncoder encodes the functions of one unit for a collector.
type unitEncoder struct {
	all    *collector
	d      *unitData
	number int32             // of the unit
	files  map[uint32]uint64 // file numbers of the line table to indexes in paths
	paths  []string
	b      []byte
}

// function encodes a function and its ranges, one or more. folded are functions
// with the same code.
func (e *unitEncoder) function(fn *function, spans []span, folded []int32) error {
	all := e.all
	name, err := e.name(fn)
	if err != nil {
		return err
	}
	all.pieces = all.pieces[:0]
	for _, s := range spans {
		all.spans = append(all.spans, owned{s, int32(len(all.fns))})
		all.within = e.d.table.within(all.within[:0], s.start, s.end)
		all.pieces = append(all.pieces, all.within...)
	}
	multiple := false
	for _, n := range folded {
		other, err := e.name(&e.d.fns[n])
		if err != nil {
			return err
		}
		multiple = multiple || other != name
	}
	all.fns = append(all.fns, keptFunction{name: name, unit: e.number, at: uint32(len(e.b)), multiple: multiple})
	if err := e.lines(spans[0].start, all.pieces); err != nil {
		return err
	}
	return e.calls(spans[0].start, e.d.calls[fn.calls.from:fn.calls.to])
}

// lines encodes the lines of a function that starts at start.
func (e *unitEncoder) lines(start uint64, lines []lineSpan) error {
	e.uint(start)
	e.uint(uint64(len(lines)))
	last, line := start, int64(0)
	for _, p := range lines {
		n, err := e.file(p.file)
		if err != nil {
			return err
		}
		// Gaps and differences are small numbers, which LEB128 writes in one byte mostly.
		e.uint(p.start - last)
		e.uint(p.end - p.start)
		e.uint(n)
		e.b = putInt(e.b, int64(p.line)-line)
		last, line = p.end, int64(p.line)
	}
	return nil
}

// calls encodes the inlined calls of a function that starts at start.
func (e *unitEncoder) calls(start uint64, calls []call) error {
	e.uint(uint64(len(calls)))
	for j := range calls {
		c := &calls[j]
		name, err := e.all.name(e.d, c)
		if err != nil {
			return err
		}
		n, err := e.file(c.file)
		if err != nil {
			return err
		}
		e.uint(uint64(c.depth))
		e.uint(uint64(name))
		e.uint(n)
		e.uint(uint64(c.line))
		at := e.d.of(c.spans)
		e.uint(uint64(len(at)))
		last := start
		for _, s := range at {
			e.b = putInt(e.b, int64(s.start-last))
			e.uint(s.end - s.start)
			last = s.end
		}
	}
	return nil
}

// uint appends an unsigned number.
func (e *unitEncoder) uint(v uint64) { e.b = putUint(e.b, v) }

// file returns the index in paths of a file of the line table. Units share equal paths.
func (e *unitEncoder) file(n uint32) (uint64, error) {
	if i, ok := e.files[n]; ok {
		return i, nil
	}
	path, err := e.d.table.path(n)
	if err != nil {
		return 0, err
	}
	if same, ok := e.all.paths[path]; ok {
		path = same
	} else {
		e.all.paths[path] = path
	}
	i := uint64(len(e.paths))
	for j, have := range e.paths[:min(len(e.paths), 2)] { // compilers of DWARF 5 list the main file twice
		if have == path {
			i = uint64(j)
		}
	}
	if i == uint64(len(e.paths)) {
		e.paths = append(e.paths, path)
	}
	e.files[n] = i
	return i, nil
}

// name returns a function's name.
func (e *unitEncoder) name(fn *function) (string, error) {
	name, err := e.d.u.obj.d.linkedName(e.d, fn)
	return cmp.Or(name, nameless), err
}

// name returns the index in names of an inlined function.
func (all *collector) name(d *unitData, c *call) (uint32, error) {
	o, r := d.body.obj, c.origin
	// A call without an origin names its function itself.
	if r == noRef {
		r = d.body.ref(c.off)
	}
	key := nameKey{o, r}
	if n, ok := all.numbers[key]; ok {
		return n, nil
	}
	name, _, err := o.resolve(r, d.body, d.body.lang, false)
	if err = o.d.warnings.Pass(err); err != nil {
		return 0, err
	}
	n := uint32(len(all.names))
	all.names = append(all.names, cmp.Or(name, nameless))
	all.numbers[key] = n
	return n, nil
}

// putUint appends v as unsigned LEB128 (DWARF 5, section 7.6). Example: 624485 is e5 8e 26.
func putUint(b []byte, v uint64) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// putInt appends v so that small negative numbers are short too: 0, -1, 1, -2 become 0, 1, 2, 3.
func putInt(b []byte, v int64) []byte { return putUint(b, uint64(v)<<1^uint64(v>>63)) }

// unzig is the reverse of putInt's mapping.
func unzig(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// dropOverlaps sorts the ranges by address and drops each that overlaps the one before it. The code
// of a function without an entry ends where an entry begins.
func (all *collector) dropOverlaps() {
	bySymbol := func(o owned) int {
		if all.fns[o.fn].symbol {
			return 1
		}
		return 0
	}
	slices.SortFunc(all.spans, func(a, b owned) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(bySymbol(a), bySymbol(b)), cmp.Compare(a.fn, b.fn))
	})
	left := all.spans[:0]
	for _, o := range all.spans {
		if n := len(left); n > 0 && o.start < left[n-1].end {
			winner, loser := &all.fns[left[n-1].fn], &all.fns[o.fn]
			if loser.symbol {
				continue
			}
			if winner.symbol {
				winner.lost = true
				left[n-1].end = o.start
				all.fns[o.fn].nspans++
				left = append(left, o)
				continue
			}
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

// emit calls f for the functions, by address.
//
// A function with several ranges, such as one whose cold part GCC moves to .text.unlikely, is
// emitted once, at its lowest range.
func (all *collector) emit(f func(symbol.Function) error) error {
	several := map[int32][]symbol.Range{} // the ranges of functions with more than one
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
			out.Ranges = allocate(&all.ranges, 1)
			out.Ranges[0] = symbol.Range{Start: o.start, Size: o.end - o.start}
		}
		all.fill(&out, fn)
		if err := f(out); err != nil {
			return err
		}
	}
	return nil
}

// allocate takes n values from the free array, which it renews when it is used up: one allocation
// for many small slices.
func allocate[T any](free *[]T, n int) []T {
	if n > len(*free) {
		*free = make([]T, max(n, 1024))
	}
	out := (*free)[:n:n]
	*free = (*free)[n:]
	return out
}

// fill decodes a function's lines and calls, and clips them to the ranges that the function kept.
//
// A line is kept or dropped as a whole, by its first address: no line crosses the end of a
// function's range. A call's range may cover several of the function's ranges, so it is clipped.
func (all *collector) fill(out *symbol.Function, fn *keptFunction) {
	u := &all.units[fn.unit]
	r := reader{b: u.bytes, p: int(fn.at)}
	first := r.uleb()
	lines := allocate(&all.lines, int(r.uleb()))
	at, line, n := first, int64(0), 0
	for range lines {
		start := at + r.uleb()
		size := r.uleb()
		file := u.files[r.uleb()]
		line += unzig(r.uleb())
		at = start + size
		// dropOverlaps gave this part of the function's code to another one.
		if fn.lost && !inside(out.Ranges, start) {
			continue
		}
		if fn.symbol { // dropOverlaps may have moved its end
			size = min(size, out.Ranges[0].Start+out.Ranges[0].Size-start)
		}
		lines[n] = symbol.Line{Range: symbol.Range{Start: start, Size: size}, File: file, Line: uint32(line)}
		n++
	}
	out.Lines = lines[:n]
	calls := allocate(&all.calls, int(r.uleb()))
	n = 0
	limit := 1000 + 64*len(out.Ranges) // of additional ranges, for calls that span several of the function's
	for range calls {
		c := symbol.InlineCall{Depth: int(r.uleb()), Name: all.names[r.uleb()], CallFile: u.files[r.uleb()], CallLine: uint32(r.uleb())}
		spans := int(r.uleb())
		at := first
		if spans == 1 {
			c.Ranges = allocate(&all.ranges, 1)[:0]
		}
		for range spans {
			start := at + uint64(unzig(r.uleb()))
			at = start + r.uleb()
			had := len(c.Ranges)
			if c.Ranges = clip(c.Ranges, out.Ranges, start, at); len(c.Ranges)-had > 1 {
				if limit -= len(c.Ranges) - had; limit < 0 {
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

// from returns the ranges, which are sorted, that end after addr.
func from(ranges []symbol.Range, addr uint64) []symbol.Range {
	if len(ranges) > 0 && addr < ranges[0].Start+ranges[0].Size {
		return ranges
	}
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].Start+ranges[i].Size > addr })
	return ranges[i:]
}

// inside reports whether one of the ranges contains addr.
func inside(ranges []symbol.Range, addr uint64) bool {
	ranges = from(ranges, addr)
	return len(ranges) > 0 && ranges[0].Start <= addr
}

// clip appends to dst the intersections of [lo, hi) with the ranges.
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
