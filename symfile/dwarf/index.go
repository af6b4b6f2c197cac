package dwarf

import (
	"cmp"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
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

// sort sorts the ranges and computes high, which searches rely on.
func (s unitRanges) sort() {
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

// addressIndex finds the units that cover an address. functionAt searches .debug_aranges and
// .gdb_index first. Compilers leave units out of the former (clang writes it for assembler sources
// alone), so it then searches the ranges in the first entry of every unit.
type addressIndex struct {
	arangesRead bool
	aranges     unitRanges
	named       map[int64]bool // units in .debug_aranges
	// listed are the offsets of units that some section lists. They are not trusted to be all.
	listed []int64

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

// addRange adds a range of a unit. dsymutil lists each function, so ranges with padding between them
// become one: what is in the padding is the unit's functions to say.
func (x *addressIndex) addRange(s span, unit int64) {
	const padding = 64
	if n := len(x.aranges); n > 0 {
		if last := &x.aranges[n-1]; last.unit == unit && s.start >= last.end && s.start-last.end < padding {
			last.end = s.end
			return
		}
	}
	x.aranges = append(x.aranges, unitRange{span: s, unit: unit})
}

// readAranges reads .debug_aranges (DWARF 5, section 6.1.2), .gdb_index and .debug_names.
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
	x.named, x.listed, x.aranges = map[int64]bool{}, nil, nil
	for _, read := range []func() error{d.readGdbIndex, d.readNames} {
		if err := d.warnings.Pass(read()); err != nil {
			return err
		}
	}
	for at := int64(0); sec != nil && info != nil && at < sec.size; {
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
	x.aranges.sort()
	x.arangesRead = true
	return nil
}

// readGdbIndex reads which units have which code from .gdb_index, which linkers make
// (--gdb-index), and lists its units. Its numbers are little-endian. Format:
// https://sourceware.org/gdb/current/onlinedocs/gdb.html/Index-Section-Format.html, versions 4 to 9.
//
//	version 4 | offset of the units 4 | of the type units 4 | of the ranges 4 | of the names 4 | …
//	units      {offset in .debug_info 8, length 8} …
//	ranges     {start 8, end 8, index of the unit 4} …
func (d *Data) readGdbIndex() error {
	x := &d.byAddress
	sec, err := d.main.section(secGdbIndex)
	if err != nil || sec == nil {
		return err
	}
	b, err := sec.bytes(0, min(20, sec.size))
	if err != nil {
		return err
	}
	r := reader{b: b}
	version := r.u32()
	units, types, ranges, names := int64(r.u32()), int64(r.u32()), int64(r.u32()), int64(r.u32())
	if r.bad || version < 4 || version > 9 || units > types || types > ranges || ranges > names || names > sec.size {
		return sec.errorf(0, "an index of version 4 to 9 with its parts in order", "version %d, parts at 0x%x, 0x%x, 0x%x, 0x%x of 0x%x", version, units, types, ranges, names, sec.size)
	}
	if b, err = sec.bytes(units, types-units); err != nil {
		return err
	}
	if err := sec.src.Draw(input.Work, names-units); err != nil {
		return sec.src.Wrap("", units, err)
	}
	first := len(x.listed)
	for r = (reader{b: b}); r.left() >= 16; {
		x.listed = append(x.listed, int64(r.u64()))
		r.u64()
	}
	if b, err = sec.bytes(ranges, names-ranges); err != nil {
		return err
	}
	u := &unit{obj: d.main}
	u.addr = 8
	var dst [1]span
	for r = (reader{b: b}); r.left() >= 20; {
		lo, hi, n := r.u64(), r.u64(), int64(r.u32())
		if n >= int64(len(x.listed)-first) { // a type unit, which has no code
			continue
		}
		for _, s := range u.add(dst[:0], lo, hi) {
			x.addRange(s, x.listed[first+int(n)])
		}
	}
	return nil
}

// readNames lists the units of .debug_names (DWARF 5, section 6.1.1.4). o is 4 bytes, or 8 in
// 64-bit DWARF:
//
//	unit_length 4 or 12 | version 2 | padding 2 | comp_unit_count 4 | local_type_unit_count 4 |
//	foreign_type_unit_count 4 | bucket_count 4 | name_count 4 | abbrev_table_size 4 |
//	augmentation_string_size 4 | augmentation string | offsets of comp_unit_count units, o each | …
//
// A section may have several indexes. The first is that of the whole file if the linker merged them.
func (d *Data) readNames() error {
	x := &d.byAddress
	sec, err := d.main.section(secNames)
	if err != nil || sec == nil {
		return err
	}
	b, err := sec.upTo(0, 64)
	if err != nil {
		return err
	}
	r := reader{b: b, big: d.main.big}
	size := int64(4)
	if r.u32() == 0xffffffff {
		r.u64()
		size = 8
	}
	version := r.u16()
	r.u16()
	count := int64(r.u32())
	r.skip(5 * 4)
	augmentation := int64(r.u32())
	at := int64(r.p) + augmentation
	if r.bad || version != 5 || at > sec.size || count > (sec.size-at)/size {
		return sec.errorf(0, "an index of names of version 5", "version %d, %d units in 0x%x bytes", version, count, sec.size)
	}
	if b, err = sec.bytes(at, count*size); err != nil {
		return err
	}
	for r = (reader{b: b, big: d.main.big}); r.left() > 0; {
		x.listed = append(x.listed, int64(r.uint(int(size))))
	}
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
	x.listed = append(x.listed, off)
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
			x.addRange(s, off)
		}
	}
	return end, nil
}

// readRoots reads the ranges in the first entry of every unit. Only the
// unit before it says where a unit begins, but sections that list units are read first. Bytes that are missing do not end a
// pass, so that those of all units are read together (input.Rounds).
func (d *Data) readRoots() error {
	x := &d.byAddress
	if x.rootsRead {
		return nil
	}
	var missing error
	if sec, err := d.main.section(secInfo); sec != nil && err == nil && !d.main.scanned {
		for _, off := range x.listed {
			missing = cmp.Or(sec.src.Want(off, min(2*sec.least, sec.size-off)), missing)
		}
	}
	if missing != nil {
		return missing
	}
	var units []*unit
	err := d.main.scan(func(u *unit) error {
		if u.kind == utType || u.kind == utPartial || u.kind == utSplitType {
			return nil
		}
		err := u.rootOf() // while its bytes are in the cache
		if err == nil {
			units = append(units, u)
		}
		return passMissing(d.warnings.Pass(err), &missing)
	})
	if err = cmp.Or(err, missing); err != nil {
		return err
	}
	var spans []span
	x.roots, x.unlocated = x.roots[:0], x.unlocated[:0]
	for _, u := range units {
		var sure bool
		spans, sure, err = d.rootSpans(spans[:0], u)
		if err = passMissing(d.warnings.Pass(err), &missing); err != nil {
			return err
		}
		for _, s := range spans {
			x.roots = append(x.roots, unitRange{span: s, unit: u.off})
		}
		if !sure {
			x.unlocated = append(x.unlocated, u.off)
		}
	}
	if missing != nil {
		return missing
	}
	x.roots.sort()
	x.rootsRead = true
	return nil
}

// passMissing keeps an error of bytes that are missing for the end of a pass, and returns others.
func passMissing(err error, missing *error) error {
	if input.Needs(err) {
		*missing, err = err, nil
	}
	return err
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

// rootHas reports whether an address is in the ranges of the first entry of the unit at an offset.
func (d *Data) rootHas(off int64, rva uint64) (bool, error) {
	u, err := d.main.unitAt(off)
	if err != nil {
		return false, d.warnings.Pass(err)
	}
	spans, _, err := d.rootSpans(nil, u)
	return slices.ContainsFunc(spans, func(s span) bool { return s.start <= rva && rva < s.end }), d.warnings.Pass(err)
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
	x.roots.sort()
	x.unlocatedRead = true
	return nil
}
