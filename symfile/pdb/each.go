package pdb

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// Each calls fn for every function, module by module, those of a module by address: to have those
// of all modules by address would take their streams in memory, or each of them many times. It is
// otherwise as symbol.Functions asks.
func (f *File) Each(fn func(symbol.Function) error) error {
	list, err := f.modules()
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].stream == noStream {
			continue
		}
		m, err := f.module(i)
		if err == nil {
			err = m.index()
		}
		if err == nil {
			err = m.indexLines()
		}
		if err != nil {
			return err
		}
		parts := m.parts()
		// end is how far the functions before reach. A function that begins before it is inside of
		// another.
		end := uint64(0)
		for k := range m.functions {
			of := &m.functions[k]
			if err := m.each(of, of.at < end, parts, fn); err != nil {
				return err
			}
			end = max(end, of.at+uint64(of.size))
		}
	}
	return nil
}

// parts are the separated parts by the functions that they belong to, then by address. One that begins
// inside of another is left out, as of functions that became one.
func (m *moduleData) parts() (out []separated) {
	end := uint64(0)
	for _, s := range m.separated {
		if s.at >= end {
			out, end = append(out, s), s.at+uint64(s.size)
		}
	}
	slices.SortStableFunc(out, func(a, b separated) int { return cmp.Compare(a.parent, b.parent) })
	return out
}

// each describes one function, with those of the module's parts that belong to it. For a function inside
// another it only says that it is there.
func (m *moduleData) each(f *function, inside bool, parts []separated, fn func(symbol.Function) error) error {
	d := described{m: m, section: f.at &^ 0xffffffff, files: map[uint32]string{}}
	var err error
	if d.out.Ranges, err = m.f.appendMoved(nil, f.at, f.size); err != nil || len(d.out.Ranges) == 0 {
		return err
	}
	if d.out.Name, err = m.name(f); err != nil {
		return err
	}
	if inside {
		return fn(d.out)
	}
	lines, err := m.linesIn(f.at, f.size)
	if err != nil {
		return err
	}
	first, _ := slices.BinarySearchFunc(parts, f.at, func(s separated, at uint64) int { return cmp.Compare(s.parent, at) })
	for _, s := range parts[first:] {
		if s.parent != f.at {
			break
		}
		if lines, err = d.addPart(s, lines); err != nil {
			return err
		}
	}
	slices.SortStableFunc(lines, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	sites, err := m.inlineSites(f)
	if err := m.f.pass(err); err != nil {
		return err
	}
	if err := d.addLines(d.section, innermost(lines, sites)); err != nil {
		return err
	}
	slices.SortStableFunc(d.out.Ranges, func(a, b symbol.Range) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(d.out.Lines, func(a, b symbol.Line) int { return cmp.Compare(a.Start, b.Start) })
	if err := d.addCalls(sites, lines, len(lines)+int(f.limit-f.off)); err != nil {
		return err
	}
	if d.err != nil {
		return d.err
	}
	return fn(d.out)
}

// described is a function that each reports, as far as it is known.
type described struct {
	m   *moduleData
	out symbol.Function
	// section is that in which the function begins, as the upper half of an address. Calls have
	// offsets only, and are in it.
	section uint64
	files   map[uint32]string // most lines of a function are of one file, so its path is read once
	err     error             // of reading a path, which ends the description
}

// file is the path of an entry of the module's files.
func (d *described) file(entry uint32) string {
	path, ok := d.files[entry]
	if !ok && d.err == nil {
		path, d.err = d.m.file(entry)
		d.files[entry] = path
	}
	return path
}

// addLines adds lines of a section, which is as in described.
func (d *described) addLines(section uint64, list []span) error {
	d.out.Lines = slices.Grow(d.out.Lines, len(list))
	var parts []symbol.Range
	for _, l := range list {
		var err error
		if parts, err = d.m.f.appendMoved(parts[:0], section|uint64(l.start), l.end-l.start); err != nil {
			return err
		}
		for _, r := range parts {
			d.out.Lines = append(d.out.Lines, symbol.Line{Range: r, File: d.file(l.file), Line: l.line})
		}
	}
	return nil
}

// addPart adds a part of a function that the linker moved away, such as the code of rare branches. It
// returns its lines after those that are given. Only lines of the function's own section may have
// inlined calls, so those of another one are added here.
func (d *described) addPart(s separated, lines []span) ([]span, error) {
	more, err := d.m.linesIn(s.at, s.size)
	if err != nil {
		return nil, err
	}
	if d.out.Ranges, err = d.m.f.appendMoved(d.out.Ranges, s.at, s.size); err != nil {
		return nil, err
	}
	if section := s.at &^ 0xffffffff; section != d.section {
		return lines, d.addLines(section, more)
	}
	return append(lines, more...), nil
}

// addCalls adds the inlined calls. A site's lines are those of the inlined function's source. Where
// it was called is the line that the code around it has at the same addresses: a line of the outer
// site, or of the function itself.
//
// Calls that are over each other would be cut by all lines, each of them; left bounds the parts.
func (d *described) addCalls(sites []site, lines []span, left int) error {
	for i := range sites {
		around := lines
		if p := sites[i].parent; p >= 0 {
			around = sites[p].lines
		}
		parts := byLine(sites[i].ranges, around, left)
		if left -= len(parts); left <= 0 {
			d.m.f.notes.Add(fmt.Errorf("%s: the inlined calls of %s are over each other", d.m.s.Name, d.out.Name))
			break
		}
		calls, err := d.m.calls(&sites[i], parts, d.section, d.file)
		if err != nil {
			return err
		}
		d.out.Inlines = append(d.out.Inlines, calls...)
	}
	return nil
}

// calls are the records of an inlined call: one for each line that the code around it gives to
// parts of it, which is where it was called.
func (m *moduleData) calls(s *site, parts []span, section uint64, file func(uint32) string) ([]symbol.InlineCall, error) {
	name, err := m.callName(s.id)
	if err != nil {
		return nil, err
	}
	var out []symbol.InlineCall
	// of is the index in out by calling line: a span without a range, of the file and line only.
	of := map[span]int{}
	for _, r := range parts {
		from := span{file: r.file, line: r.line}
		i, ok := of[from]
		if !ok {
			i = len(out)
			of[from] = i
			out = append(out, symbol.InlineCall{Depth: s.depth, Name: name, CallLine: from.line})
			// The calling line is not known where the code around has no line. Then the record has
			// no file.
			if from != (span{}) {
				out[i].CallFile = file(from.file)
			}
		}
		if out[i].Ranges, err = m.f.appendMoved(out[i].Ranges, section|uint64(r.start), r.end-r.start); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(out, func(c symbol.InlineCall) bool { return len(c.Ranges) == 0 }), nil
}

// byLine cuts ranges where the lines of the code around change, into most parts at most. Parts
// without a line have line 0 of file 0.
func byLine(ranges, lines []span, most int) []span {
	var out []span
	for _, r := range ranges {
		// A range may begin in the middle of a line, so the search begins with the last line up to
		// it.
		i := max(lastUpTo(lines, uint64(r.start), func(l *span) uint64 { return uint64(l.start) }), 0)
		for at := r.start; at < r.end && len(out) < most; {
			for i < len(lines) && lines[i].end <= at {
				i++
			}
			part := span{start: at, end: r.end}
			switch {
			case i == len(lines):
			case lines[i].start > at:
				part.end = min(r.end, lines[i].start)
			default:
				part.end, part.file, part.line = min(r.end, lines[i].end), lines[i].file, lines[i].line
			}
			// Two ranges that touch, with the same line, are one part.
			if n := len(out); n > 0 && out[n-1].end == at && out[n-1].file == part.file && out[n-1].line == part.line {
				out[n-1].end = part.end
			} else {
				out = append(out, part)
			}
			at = part.end
		}
	}
	return out
}

// layer is a span of a function's own lines (depth 0) or of an inlined call.
type layer struct {
	span
	depth, order int
}

// layers are those that cover an offset, the deepest first.
type layers []layer

func (h layers) Len() int { return len(h) }
func (h layers) Less(i, j int) bool {
	return h[i].depth > h[j].depth || h[i].depth == h[j].depth && h[i].order < h[j].order
}
func (h layers) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *layers) Push(x any)   { *h = append(*h, x.(layer)) }
func (h *layers) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// push and pop are those of container/heap without values of type any, which would be allocated.
func (h *layers) push(l layer) {
	*h = append(*h, l)
	heap.Fix(h, len(*h)-1)
}

func (h *layers) pop() {
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	if *h = (*h)[:last]; last > 0 {
		heap.Fix(h, 0)
	}
}

// innermost are the lines of code where it was written: of the deepest inlined call that it is in.
// A line of the function in which a call was inlined goes on after it as a record of its own.
//
// Example: the function's line 10 covers 0 to 20, and a call inlined there has line 3 at 5 to 9.
// The result is 0-5 line 10, 5-9 line 3, 9-20 line 10.
//
// It sweeps over the addresses once. The heap has the spans that cover the current address; its
// first element is the deepest, whose line counts up to its end or to where the next span begins.
func innermost(lines []span, sites []site) []span {
	if len(sites) == 0 {
		return lines
	}
	n := len(lines)
	for i := range sites {
		n += len(sites[i].lines)
	}
	all := make([]layer, 0, n)
	for _, l := range lines {
		all = append(all, layer{l, 0, 0})
	}
	for i := range sites {
		for _, l := range sites[i].lines {
			all = append(all, layer{l, sites[i].depth + 1, i})
		}
	}
	slices.SortStableFunc(all, func(a, b layer) int { return cmp.Compare(a.start, b.start) })
	out := make([]span, 0, n)
	var covering layers
	at := uint32(0)
	for i := 0; i < len(all) || len(covering) > 0; {
		// Nothing covers the address: go on where the next span begins.
		if len(covering) == 0 {
			at = all[i].start
		}
		for ; i < len(all) && all[i].start <= at; i++ {
			covering.push(all[i])
		}
		top := covering[0]
		// A span that ended while a deeper one was on top is dropped when it comes up.
		if top.end <= at {
			covering.pop()
			continue
		}
		end := top.end
		if i < len(all) {
			end = min(end, all[i].start)
		}
		// A new span may begin below the top one, which cuts nothing: the top one is continued. One
		// that begins here (top.start == at) stays a record of its own, even with an equal line.
		if n := len(out); n > 0 && out[n-1].end == at && out[n-1].file == top.file && out[n-1].line == top.line && top.start < at {
			out[n-1].end = end
		} else {
			out = append(out, span{at, end, top.file, top.line})
		}
		at = end
	}
	return out
}

// appendMoved adds where a range of a section is in the module to a list.
func (f *File) appendMoved(to []symbol.Range, at uint64, size uint32) ([]symbol.Range, error) {
	rva, ok := f.rva(uint16(at>>32), uint32(at))
	if !ok {
		return to, nil
	}
	if f.fromSource == nil {
		return append(to, symbol.Range{Start: rva, Size: uint64(size)}), nil
	}
	parts, err := f.moved(rva, uint64(size))
	return append(to, parts...), err
}

// Publics calls fn for every public name of code, in the order of the table, which linkers sort by
// address.
func (f *File) Publics(fn func(rva uint64, name string) error) error {
	p, err := f.openPublics()
	if err != nil {
		return err
	}
	for i := range p.ordered.N {
		rva, text := uint64(0), ""
		at, off, err := p.at(i)
		if err == nil {
			rva, text, err = f.publicCode(at, off)
		}
		if err := f.pass(err); err != nil {
			return err
		}
		if text != "" && err == nil {
			if err := fn(rva, text); err != nil {
				return err
			}
		}
	}
	return nil
}
