package dwarf

import (
	"cmp"
	"slices"
	"sort"
)

// stretch is a range of code and the unit that covers it.
type stretch struct {
	span
	unit int64 // offset of its header in .debug_info
	high uint64
}

// stretches are sorted by address; high is the highest end of those up to each, where a search backwards can stop.
type stretches []stretch

func (s stretches) settle() {
	slices.SortStableFunc(s, func(a, b stretch) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.unit, b.unit)) })
	var high uint64
	for i := range s {
		high = max(high, s[i].end)
		s[i].high = high
	}
}

// maxOver bounds how many units one address is looked up in.
const maxOver = 32

// over adds the units that cover an address, each once.
func (s stretches) over(dst []int64, rva uint64) []int64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].start > rva }) - 1
	for steps := 0; i >= 0 && s[i].high > rva && steps < 4096 && len(dst) < maxOver; i, steps = i-1, steps+1 {
		if rva < s[i].end && !slices.Contains(dst, s[i].unit) {
			dst = append(dst, s[i].unit)
		}
	}
	return dst
}

// addressIndex answers which units cover an address. First it is what .debug_aranges says, where there is one; compilers leave
// units out of it (clang all of them). What it does not cover is looked for in the ranges of every unit's first entry.
type addressIndex struct {
	arangesRead bool
	aranges     stretches
	named       map[int64]bool // units that .debug_aranges has

	rootsRead bool
	roots     stretches
	// vague are units that have code but do not say where.
	vague     []int64
	vagueRead bool
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
			if err := d.note(err); err != nil {
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

// arangeSet reads one unit's ranges and answers where the next begin; 0 if that is unknown.
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
		for _, s := range u.add(dst[:0], lo, lo+n) {
			x.aranges = append(x.aranges, stretch{span: s, unit: off})
		}
	}
	return end, nil
}

// readRoots goes over all units and notes the ranges of each.
func (d *Data) readRoots() error {
	x := &d.byAddress
	if x.rootsRead {
		return nil
	}
	x.roots, x.vague = x.roots[:0], x.vague[:0]
	var spans []span
	err := d.main.scan(func(u *unit) error {
		if u.kind == utType || u.kind == utPartial || u.kind == utSplitType {
			return nil
		}
		var sure bool
		var err error
		spans, sure, err = d.rootSpans(spans[:0], u)
		if err = d.note(err); err != nil {
			return err
		}
		for _, s := range spans {
			x.roots = append(x.roots, stretch{span: s, unit: u.off})
		}
		if !sure {
			x.vague = append(x.vague, u.off)
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

// rootSpans adds the ranges that a unit says it has; sure is false if it has code and does not say where.
func (d *Data) rootSpans(dst []span, u *unit) (_ []span, sure bool, err error) {
	if err := u.rootOf(); err != nil {
		return dst, true, err
	}
	switch {
	case u.partial:
		return dst, true, nil
	case u.ranges.form != 0:
		dst, err = u.rangeList(dst, u.ranges)
		return dst, err == nil, err
	case u.low.form != 0 && u.high.form != 0:
		dst, err = u.lowHigh(dst, u.low, u.high)
		return dst, err == nil, err
	}
	t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
	if err != nil {
		return dst, true, err
	}
	return dst, !t.code && u.dwoName.form == 0, nil
}

// readVague reads the units that have code and do not say where.
func (d *Data) readVague() error {
	x := &d.byAddress
	if x.vagueRead {
		return nil
	}
	var found stretches
	for _, off := range x.vague {
		u, err := d.main.unitAt(off)
		if err != nil {
			return err
		}
		data, err := d.loadWhole(u)
		if err != nil {
			return err
		}
		for _, e := range data.index {
			found = append(found, stretch{span: e.span, unit: off})
		}
	}
	x.roots = append(x.roots, found...)
	x.roots.settle()
	x.vagueRead = true
	return nil
}
