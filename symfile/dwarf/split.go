package dwarf

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// split returns the split unit of a skeleton (DWARF 5, section 7.3.2), from a .dwo or .dwp file
// that Options.Split returns, or nil if the file is missing.
//
// "gcc -gsplit-dwarf" leaves in the program a skeleton of a few attributes: ranges, the line
// program, the name of the .dwo file, and an id. The functions are in the .dwo file, whose address
// attributes are indexes in the program's .debug_addr. dwp packs many .dwo files into one .dwp
// file, with an index by id.
//
// In order: the file, by the skeleton's DW_AT_dwo_name; in a .dwp file the
// unit's parts, by its id; the unit in .debug_info.dwo, or in the further sections of that name. A
// file that lacks the unit is wanted like a missing one: it is of another build.
func (d *Data) split(u *unit) (*unit, error) {
	name, err := u.text(u.dwoName, maxName)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%s (split unit %016x)", name, u.id)
	if d.opt.Split == nil {
		d.want(what)
		return nil, nil
	}
	s, ok := d.opt.Split(name)
	if !ok || s == nil {
		d.want(what)
		return nil, nil
	}
	o := d.dwps[s]
	if o == nil {
		o = newObject(d, *s, true)
		o.alt = d.alt
		if len(d.dwps) > 64 { // .dwo files, one for each unit
			clear(d.dwps)
		}
		d.dwps[s] = o
	}
	index, err := o.section(secCUIndex)
	if err != nil {
		return nil, err
	}
	if index != nil {
		part, err := o.part(secCUIndex, u.id)
		if err != nil {
			return nil, err
		}
		if part == nil {
			d.want(fmt.Sprintf("%s: split unit %016x (%s)", s.File, u.id, name))
			return nil, nil
		}
		o = part
	}
	body, err := o.splitUnit(u)
	if err != nil {
		return nil, err
	}
	// With type units in sections of their own, .debug_info.dwo occurs several times, and the unit
	// may be in any of them.
	if body == nil {
		if err := o.readOthers(); err != nil {
			return nil, err
		}
		for _, other := range o.others {
			if body, err = other.splitUnit(u); body != nil || err != nil {
				break
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if body == nil {
		d.want(what)
		return nil, d.warnings.Pass(&input.FormatError{File: s.File, Part: ".debug_info.dwo", Offset: -1,
			Want: fmt.Sprintf("the unit %016x", u.id), Have: "none with this id"})
	}
	body.skeleton = u
	return body, nil
}

// maxOthers limits the further sections of a .dwo file.
const maxOthers = 1 << 16

// readOthers makes an object for each further section of a .dwo file.
func (o *object) readOthers() error {
	if o.othersRead || o.s.More == nil {
		return nil
	}
	var all []*object
	for _, id := range []sectionID{secInfo, secTypes} {
		kind := &sectionKinds[id]
		list, err := o.s.More(kind.name + ".dwo")
		if err != nil {
			return err
		}
		for _, src := range list[:min(len(list), maxOthers)] {
			if src == nil || src.Size == 0 {
				continue
			}
			part := newObject(o.d, o.s, true)
			part.alt, part.first = o.alt, o
			for i := range numSections {
				if i != secInfo && i != secTypes {
					if part.secs[i], err = o.section(i); err != nil {
						return err
					}
				}
				part.looked[i] = true
			}
			s := &section{name: kind.name + ".dwo", file: o.s.File, src: src, size: src.Size, least: kind.least}
			if err := s.useMemory(); err != nil {
				return err
			}
			part.secs[id] = s
			all = append(all, part)
		}
	}
	o.others, o.othersRead = all, true
	return nil
}

// splitUnit returns the unit of a .dwo file that has the skeleton's id, or nil.
func (o *object) splitUnit(skeleton *unit) (*unit, error) {
	if err := o.scan(nil); err != nil {
		return nil, err
	}
	for _, u := range o.units {
		if u.kind != utCompile && u.kind != utSplitCompile {
			continue
		}
		u.skeleton = skeleton // rootOf needs its .debug_addr and bases
		if err := u.rootOf(); err != nil {
			return nil, err
		}
		if u.id == skeleton.id {
			return u, nil
		}
		u.skeleton = nil
	}
	return nil, nil
}

// partIDs maps the section numbers (DW_SECT_…) of a .dwp file's index, by the index's version: 2 is
// GNU's, 5 is DWARF 5's (section 7.3.5.3). Left out are the sections that the package does not read
// from a .dwp file: .debug_line.dwo (4) has the files of type units only, the others are locations
// (5) and macros (7, and 8 in version 2).
var partIDs = map[uint32]map[uint32]sectionID{
	2: {1: secInfo, 2: secTypes, 3: secAbbrev, 6: secStrOffsets},
	5: {1: secInfo, 3: secAbbrev, 6: secStrOffsets, 8: secRnglists},
}

// part returns one unit's or type's parts of a .dwp file as an object, or nil if the index lacks
// the id. The index (DWARF 5, section 7.3.5.3) is a hash table, and below it two tables of 4-byte
// numbers with a row for each unit and a column for each section:
//
//	version 4 | columns 4 | rows 4 | slots 4
//	ids        slots × 8
//	rows       slots × 4     row of the id in the same slot, counted from 1; 0 is an empty slot
//	sections   columns × 4
//	offsets    rows × columns × 4
//	sizes      rows × columns × 4
//
// The search for an id begins at slot id mod slots and steps by the id's upper half, made odd.
func (o *object) part(index sectionID, id uint64) (*object, error) {
	sec, err := o.section(index)
	if err != nil || sec == nil {
		return nil, err
	}
	x, err := o.unitIndex(sec)
	if err != nil {
		return nil, err
	}
	row, err := x.row(id)
	if err != nil || row == 0 {
		return nil, err
	}
	part := newObject(o.d, o.s, true)
	part.alt, part.pack = o.alt, o
	for i := range numSections { // units share the sections without a column, such as .debug_str
		if i != secInfo && i != secTypes {
			if part.secs[i], err = o.section(i); err != nil {
				return nil, err
			}
		}
		part.looked[i] = true
	}
	for c := range x.columns {
		which, s, err := x.section(o, row, c)
		if err != nil {
			return nil, err
		}
		if which < numSections {
			part.secs[which] = s
		}
	}
	return part, nil
}

// unitIndex is the header of a .debug_cu_index or .debug_tu_index section.
type unitIndex struct {
	sec                  *section
	big                  bool
	ids                  map[uint32]sectionID // the sections by their numbers in this version
	columns, rows, slots int64
}

// unitIndex reads the header.
func (o *object) unitIndex(sec *section) (*unitIndex, error) {
	head, err := sec.bytes(0, 16)
	if err != nil {
		return nil, err
	}
	r := reader{b: head, big: o.big}
	version := r.u32()
	if first := uint32(head[0])<<8 | uint32(head[1]); version != 2 && (o.big && first == 5 || !o.big && version&0xffff == 5) {
		version = 5 // in version 5 the number has two bytes, followed by two of padding
	}
	x := &unitIndex{sec: sec, big: o.big, ids: partIDs[version]}
	if x.ids == nil {
		return nil, sec.errorf(0, "an index of version 2 or 5", "0x%x", version)
	}
	x.columns, x.rows, x.slots = int64(r.u32()), int64(r.u32()), int64(r.u32())
	need := 16 + 12*x.slots + 4*x.columns + 8*x.columns*x.rows
	if x.columns > 16 || x.slots > sec.size || x.rows > sec.size || need > sec.size || x.slots&(x.slots-1) != 0 {
		return nil, sec.errorf(0, "an index inside the section", "%d sections, %d units, %d slots in %d bytes", x.columns, x.rows, x.slots, sec.size)
	}
	return x, nil
}

// row returns the row of an id, counted from 1, or 0 if the index lacks it.
// slots is a power of two and the step is odd, so that a search meets every slot once.
//
// Example: with 8 slots, the id 0x0000_0007_0000_000d begins at slot 0xd & 7 = 5 and steps by 7 & 7
// | 1 = 7: slots 5, 4, 3, 2 …
func (x *unitIndex) row(id uint64) (int64, error) {
	slot, step := id&uint64(x.slots-1), (id>>32)&uint64(x.slots-1)|1
	for range x.slots {
		sig, err := x.sec.number(16+8*int64(slot), 8, x.big)
		if err != nil {
			return 0, err
		}
		n, err := x.sec.number(16+8*x.slots+4*int64(slot), 4, x.big)
		// An empty slot: the id would have been put here.
		if err != nil || n == 0 {
			return 0, err
		}
		if sig == id {
			if int64(n) > x.rows {
				return 0, x.sec.errorf(16+8*x.slots, "the number of a row up to "+decimal(uint64(x.rows)), "%d", n)
			}
			return int64(n), nil
		}
		slot = (slot + step) & uint64(x.slots-1)
	}
	return 0, nil
}

// section returns the section of column c and the row's part of it, or nil if the row has none.
// which is numSections if the column's section is unknown.
func (x *unitIndex) section(o *object, row, c int64) (which sectionID, part *section, err error) {
	table := 16 + 12*x.slots
	number, err := x.sec.number(table+4*c, 4, x.big)
	if err != nil {
		return numSections, nil, err
	}
	which, ok := x.ids[uint32(number)]
	if !ok {
		return numSections, nil, nil
	}
	// Row 0 of the tables would be the list of section numbers, so row 1 begins right after it.
	at := table + 4*x.columns*row + 4*c
	off, err := x.sec.number(at, 4, x.big)
	if err != nil {
		return numSections, nil, err
	}
	size, err := x.sec.number(at+4*x.columns*x.rows, 4, x.big)
	if err != nil {
		return numSections, nil, err
	}
	whole, err := o.section(which)
	if err != nil {
		return numSections, nil, err
	}
	if size == 0 {
		return which, nil, nil
	}
	if whole == nil || int64(off) > whole.size || int64(size) > whole.size-int64(off) {
		return numSections, nil, x.sec.errorf(at, "a part of "+sectionKinds[which].name+".dwo", "0x%x bytes at 0x%x", size, off)
	}
	s := &section{name: whole.name, file: whole.file, size: int64(size), least: whole.least}
	s.src = whole.src.Sub(whole.src.Name, int64(off), int64(size))
	if whole.mem != nil {
		s.mem = whole.mem[off : off+size]
	}
	return which, s, nil
}
