package dwarf

import (
	"cmp"
	"slices"
	"sort"
)

// unitRange is a range of code and the unit that has it.
type unitRange struct {
	span
	unit int64  // offset of its header in .debug_info
	high uint64 // the highest end of this range and all before it in a sorted list
}

// unitRanges are sorted by start. Ranges may overlap, so a search goes backwards from the last that
// starts at or before the address, and stops where high is not above it.
//
//	start  end   high
//	0x100  0x900 0x900
//	0x200  0x280 0x900
//	0x300  0x380 0x900   a search for 0x400 begins here and finds the first range
//	0xa00  0xa40 0xa40   a search for 0xa80 stops here at once
type unitRanges []unitRange

// settle sorts the ranges and computes high, which searches rely on.
func (s unitRanges) settle() {
	slices.SortStableFunc(s, func(a, b unitRange) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.unit, b.unit)) })
	var high uint64
	for i := range s {
		high = max(high, s[i].end)
		s[i].high = high
	}
}

// maxOver limits how many units are searched for one address. Most addresses are in one unit.
// Several cover it if the linker folded functions with the same code.
const maxOver = 32

// over appends to dst the units that have code from lo to hi, each once.
func (s unitRanges) over(dst []int64, lo, hi uint64) []int64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].start >= hi }) - 1
	for steps := 0; i >= 0 && s[i].high > lo && steps < 4096 && len(dst) < maxOver; i, steps = i-1, steps+1 {
		if lo < s[i].end && !slices.Contains(dst, s[i].unit) {
			dst = append(dst, s[i].unit)
		}
	}
	return dst
}

// addressIndex finds the units that cover an address. functionAt searches .debug_aranges first.
// Compilers leave units out of that section (clang writes it for assembler sources alone), so it
// then searches the ranges in the first entry of every unit.
type addressIndex struct {
	arangesRead bool
	aranges     unitRanges
	named       map[int64]bool // units in .debug_aranges

	rootsRead bool
	roots     unitRanges
	// unlocated are units that have code but no ranges in their first entry.
	unlocated     []int64
	unlocatedRead bool
}

// over appends to dst the units that have code from lo to hi by either.
func (x *addressIndex) over(dst []int64, lo, hi uint64) []int64 {
	return x.roots.over(x.aranges.over(dst, lo, hi), lo, hi)
}

// readAranges reads .debug_aranges (DWARF 5, section 6.1.2).
func (d *Data) readAranges() error {
	x := &d.byAddress
	if x.arangesRead {
		return nil
	}
	o := d.main
	sec, err := o.section(secAranges)
	if err != nil {
		return err
	}
	info, err := o.section(secInfo)
	if err != nil {
		return err
	}
	x.named = map[int64]bool{}
	if sec == nil || info == nil {
		x.arangesRead = true
		return nil
	}
	for at := int64(0); at < sec.size; {
		end, err := d.arangeSet(sec, info, at)
		if err != nil {
			if err := d.warnings.Pass(err); err != nil {
				return err
			}
		}
		if end <= at {
			break
		}
		at = end
	}
	x.aranges.settle()
	x.arangesRead = true
	return nil
}

// arangeSet reads the set of one unit and returns the offset of the next set, or 0 if it cannot be
// known. Layout (o is 4 bytes, or 8 in 64-bit DWARF):
//
//	unit_length 4 or 12 | version 2 | debug_info_offset o | address_size 1 | segment_selector_size 1 | padding to 2*address_size
//	{address, length} … , each of address_size bytes; the last is {0, 0}
//
// A set is aligned as a pair of addresses is, so the first pair begins at a multiple of two
// addresses from the set's start.
func (d *Data) arangeSet(sec, info *section, at int64) (int64, error) {
	x := &d.byAddress
	b, err := sec.upTo(at, 32)
	if err != nil {
		return 0, err
	}
	r := reader{b: b, big: d.main.big}
	u := &unit{obj: d.main}
	u.encoding.off = 4
	length := uint64(r.u32())
	if length == 0xffffffff {
		length = r.u64()
		u.encoding.off = 8
	}
	if r.bad || length > uint64(sec.size-at-int64(r.p)) {
		return 0, sec.errorf(at, "a set of ranges inside the section", "one of 0x%x bytes", length)
	}
	end := at + int64(r.p) + int64(length)
	version := r.u16()
	off := int64(r.uint(int(u.encoding.off)))
	u.addr = r.u8()
	segment := r.u8()
	if r.bad || version != 2 || segment != 0 || u.addr != 4 && u.addr != 8 {
		return end, sec.errorf(at, "a set of ranges of version 2", "version %d, addresses of %d bytes, segments of %d", version, u.addr, segment)
	}
	if off < 0 || off >= info.size {
		return end, sec.errorf(at, "the offset of a unit", "0x%x", uint64(off))
	}
	two := 2 * int64(u.addr)
	first := at + (int64(r.p)+two-1)/two*two
	x.named[off] = true
	if first > end {
		return end, nil
	}
	b, err = sec.bytes(first, end-first)
	if err != nil {
		return end, err
	}
	r = reader{b: b, big: d.main.big}
	var dst [1]span
	for int64(r.left()) >= two {
		lo, n := r.uint(int(u.addr)), r.uint(int(u.addr))
		// add leaves out empty and discarded ranges, and with them the last pair, {0, 0}.
		for _, s := range u.add(dst[:0], lo, lo+n) {
			x.aranges = append(x.aranges, unitRange{span: s, unit: off})
		}
	}
	return end, nil
}

// readRoots reads the ranges in the first entry of every unit.
func (d *Data) readRoots() error {
	x := &d.byAddress
	if x.rootsRead {
		return nil
	}
	x.roots, x.unlocated = x.roots[:0], x.unlocated[:0]
	var spans []span
	err := d.main.scan(func(u *unit) error {
		if u.kind == utType || u.kind == utPartial || u.kind == utSplitType {
			return nil
		}
		var sure bool
		var err error
		spans, sure, err = d.rootSpans(spans[:0], u)
		if err = d.warnings.Pass(err); err != nil {
			return err
		}
		for _, s := range spans {
			x.roots = append(x.roots, unitRange{span: s, unit: u.off})
		}
		if !sure {
			x.unlocated = append(x.unlocated, u.off)
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.roots.settle()
	x.rootsRead = true
	return nil
}

// rootSpans appends the ranges in a unit's first entry. sure is false if the unit has code and its
// first entry has no ranges.
//
// A skeleton's functions are in the .dwo file, so its own abbreviations do not say whether it has
// code.
func (d *Data) rootSpans(dst []span, u *unit) (_ []span, sure bool, err error) {
	if err := u.rootOf(); err != nil {
		return dst, true, err
	}
	switch {
	// Types and names that other units import: no code.
	case u.partial:
		return dst, true, nil
	case u.ranges.form != 0:
		dst, err = u.rangeList(dst, u.ranges)
		return dst, err == nil, err
	case u.low.form != 0 && u.high.form != 0:
		dst, err = u.lowHigh(dst, u.low, u.high)
		return dst, err == nil, err
	}
	// Without ranges in the first entry, the abbreviations say whether a function with an address
	// can be in the unit.
	t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
	if err != nil {
		return dst, true, err
	}
	return dst, !t.code && u.dwoName.form == 0, nil
}

// readUnlocated decodes the unlocated units and adds the ranges of their functions.
func (d *Data) readUnlocated() error {
	x := &d.byAddress
	if x.unlocatedRead {
		return nil
	}
	var found unitRanges
	for _, off := range x.unlocated {
		u, err := d.main.unitAt(off)
		if err != nil {
			return err
		}
		data, err := d.loadWhole(u)
		if err != nil {
			return err
		}
		for _, e := range data.index {
			found = append(found, unitRange{span: e.span, unit: off})
		}
		for _, q := range data.table.seqs {
			found = append(found, unitRange{span: q.span, unit: off})
		}
	}
	x.roots = append(x.roots, found...)
	x.roots.settle()
	x.unlocatedRead = true
	return nil
}
