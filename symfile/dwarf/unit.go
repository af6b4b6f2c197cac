package dwarf

import "sort"

// word is an attribute's value: its form, and the number in the file. For DW_FORM_string the number
// is the section offset of the text.
type word struct {
	form uint16
	v    uint64
}

// unit is a compilation, partial, type, skeleton or split unit.
type unit struct {
	encoding
	obj    *object
	types  bool  // in .debug_types
	kind   uint8 // DW_UT_…, also for versions before 5
	off    int64 // of its header in the section
	root   int64 // of its first entry in the section
	end    int64
	abbrev int64
	// id is the signature of a type unit, or the id that a skeleton and its split unit share.
	// typeOff is the offset of the type's entry in the unit.
	id      uint64
	typeOff int64

	// The attributes of its first entry, valid if rooted.
	rooted                                bool
	gnu                                   bool // compiled by GCC
	partial                               bool // a DW_TAG_partial_unit: types and names that several units import, no code
	hasLow, hasStmts                      bool
	lang                                  uint64
	stmts                                 int64
	low, high, ranges                     word
	compDir, dwoName                      word
	strBase, addrBase, rngBase, gnuRanges int64

	// skeleton is the unit in the main file that a split unit completes.
	skeleton *unit
	scopes   []scope
	scoped   bool
}

// sec returns the section that has the unit.
func (u *unit) sec() *section {
	if u.types {
		return u.obj.secs[secTypes]
	}
	return u.obj.secs[secInfo]
}

// maxHeader is the size of the largest unit header: that of a type unit of 64-bit DWARF 5.
//
//	unit_length 12 | version 2 | unit_type 1 | address_size 1 | debug_abbrev_offset 8 | type_signature 8 | type_offset 8
const maxHeader = 12 + 2 + 1 + 1 + 8 + 8 + 8

// header reads a unit's header (DWARF 5, section 7.5.1). With an error it still returns the unit if
// its end is known, so that the next unit can be read. o is 4 bytes, or 8 in 64-bit DWARF:
//
//	DWARF 5         unit_length 4 or 12 | version 2 | unit_type 1 | address_size 1 |
//	                debug_abbrev_offset o
//	  skeleton      … | dwo_id 8          split units too
//	  type unit     … | type_signature 8 | type_offset o
//	DWARF 2 to 4    unit_length 4 or 12 | version 2 | debug_abbrev_offset o | address_size 1
//	  .debug_types  … | type_signature 8 | type_offset o
func (o *object) header(sec *section, types bool, off int64) (*unit, error) {
	b, err := sec.upTo(off, maxHeader)
	if err != nil {
		return nil, err
	}
	r := reader{b: b, big: o.big}
	u := &unit{obj: o, types: types, off: off, kind: utCompile, strBase: -1, addrBase: -1, rngBase: -1}
	u.encoding.off = 4
	// 64-bit DWARF begins with 0xffffffff and then has a length of 8 bytes (section 7.4).
	length := uint64(r.u32())
	switch {
	case length == 0xffffffff:
		length = r.u64()
		u.encoding.off = 8
	case length >= 0xfffffff0:
		return nil, sec.errorf(off, "the length of a unit", "0x%x, which is reserved", length)
	}
	if r.bad || length > uint64(sec.size-off-int64(r.p)) {
		return nil, sec.errorf(off, "a unit inside the section", "one of 0x%x bytes, with 0x%x to the end of the section", length, sec.size-off)
	}
	u.end = off + int64(r.p) + int64(length)
	version := r.u16()
	u.version = uint8(min(version, 255))
	switch {
	case version < 2 || version > 5:
		return u, sec.errorf(off, "a unit of DWARF 2 to 5", "version %d", version)
	// DWARF 5 put the unit's type and the address size before the offset of the abbreviations.
	case version == 5:
		u.kind = r.u8()
		u.addr = r.u8()
		u.abbrev = int64(r.uint(int(u.encoding.off)))
		switch u.kind {
		case utSkeleton, utSplitCompile:
			u.id = r.u64()
		case utType, utSplitType:
			u.id = r.u64()
			u.typeOff = int64(r.uint(int(u.encoding.off)))
		case utCompile, utPartial:
		default:
			return u, sec.errorf(off, "a type of unit of DWARF 5", "0x%x", u.kind)
		}
	default:
		u.abbrev = int64(r.uint(int(u.encoding.off)))
		u.addr = r.u8()
		if types {
			u.kind = utType
			u.id = r.u64()
			u.typeOff = int64(r.uint(int(u.encoding.off)))
		}
	}
	u.root = off + int64(r.p)
	if r.bad || u.root > u.end {
		return u, sec.errorf(off, "the header of a unit", "a unit of %d bytes", u.end-off)
	}
	if u.addr != 4 && u.addr != 8 && u.addr != 2 {
		return u, sec.errorf(off, "addresses of 4 or 8 bytes", "%d", u.addr)
	}
	return u, nil
}

// scan reads the headers of all units of .debug_info and calls visit, which may be nil, for each
// while its bytes are in the cache.
func (o *object) scan(visit func(*unit) error) error {
	if o.scanned {
		for _, u := range o.units {
			if visit == nil {
				break
			}
			if err := visit(u); err != nil {
				return err
			}
		}
		return nil
	}
	sec, err := o.section(secInfo)
	if err != nil || sec == nil {
		o.scanned = err == nil
		return err
	}
	units, err := o.headers(sec, false, visit)
	if err != nil {
		return err
	}
	o.units, o.scanned = units, true
	return nil
}

// headers reads the headers of all units of a section. A unit whose header is bad is skipped.
func (o *object) headers(sec *section, types bool, visit func(*unit) error) ([]*unit, error) {
	var units []*unit
	for off := int64(0); off < sec.size; {
		u := (*unit)(nil)
		if !types {
			u = o.byOff[off]
		}
		if u == nil {
			var err error
			if u, err = o.header(sec, types, off); err != nil {
				if err := o.d.warnings.Pass(err); err != nil {
					return nil, err
				}
				// The length of this unit is wrong, so the next one cannot be found.
				if u == nil {
					break
				}
				off = u.end
				continue
			}
			if !types {
				if err := o.keepUnit(sec, u); err != nil {
					return nil, err
				}
			}
		}
		units = append(units, u)
		if visit != nil {
			if err := visit(u); err != nil {
				return nil, err
			}
		}
		off = u.end
	}
	return units, nil
}

// unitAt returns the unit whose header is at an offset of .debug_info.
func (o *object) unitAt(off int64) (*unit, error) {
	if u := o.byOff[off]; u != nil {
		return u, nil
	}
	sec, err := o.section(secInfo)
	if err != nil {
		return nil, err
	}
	if sec == nil {
		return nil, o.missing(secInfo)
	}
	u, err := o.header(sec, false, off)
	if err != nil {
		return nil, err
	}
	return u, o.keepUnit(sec, u)
}

// unitMemory is how many bytes a unit takes, with its entries of byOff and units. The smallest has 11 in
// the file.
const unitMemory = 300

// keepUnit keeps a unit of .debug_info for later calls.
func (o *object) keepUnit(sec *section, u *unit) error {
	if err := o.hold(sec, unitMemory); err != nil {
		return err
	}
	o.byOff[u.off] = u
	return nil
}

// unitContaining returns the unit whose entries include an offset, or nil.
func (o *object) unitContaining(types bool, off int64) (*unit, error) {
	var units []*unit
	if types {
		if err := o.readTypes(); err != nil {
			return nil, err
		}
		units = o.typeUnits
	} else {
		if err := o.scan(nil); err != nil {
			return nil, err
		}
		units = o.units
	}
	i := sort.Search(len(units), func(i int) bool { return units[i].off > off }) - 1
	if i < 0 || off < units[i].root || off >= units[i].end {
		return nil, nil
	}
	return units[i], nil
}

// readTypes reads the headers of .debug_types.
func (o *object) readTypes() error {
	if o.typesRead {
		return nil
	}
	sec, err := o.section(secTypes)
	if err != nil {
		return err
	}
	if sec != nil {
		units, err := o.headers(sec, true, nil)
		if err == nil {
			err = o.hold(sec, int64(len(units))*unitMemory)
		}
		if err != nil {
			return err
		}
		o.typeUnits = units
	}
	o.typesRead = true
	return nil
}

// typeUnit returns the type unit with a signature, or nil. In a .dwo file it may be in any of the sections
// of a name.
func (o *object) typeUnit(sig uint64) (*unit, error) {
	if o.first != nil {
		o = o.first
	}
	if o.bySig == nil {
		if o.pack == nil {
			if err := o.readOthers(); err != nil {
				return nil, err
			}
		}
		types := map[uint64]*unit{}
		for _, part := range append([]*object{o}, o.others...) {
			if err := part.readTypes(); err != nil {
				return nil, err
			}
			if err := part.scan(nil); err != nil {
				return nil, err
			}
			for _, list := range [][]*unit{part.typeUnits, part.units} {
				for _, u := range list {
					if (u.kind == utType || u.kind == utSplitType) && types[u.id] == nil {
						types[u.id] = u
					}
				}
			}
		}
		o.bySig = types
	}
	u, known := o.bySig[sig]
	if known || o.pack == nil {
		return u, nil
	}
	// In a .dwp file each type unit has a row of its own in .debug_tu_index.
	part, err := o.pack.part(secTUIndex, sig)
	if err != nil || part == nil {
		return nil, err
	}
	part.pack = nil
	u, err = part.typeUnit(sig)
	if err == nil {
		o.bySig[sig] = u
	}
	return u, err
}

// rootOf reads the attributes of a unit's first entry. A split unit of DWARF 5 has its id in the
// header, one of GNU's extension in DW_AT_GNU_dwo_id.
func (u *unit) rootOf() error {
	if u.rooted {
		return nil
	}
	sec := u.sec()
	var producer word
	err := u.entry(u.root, func(tag uint16, a *attribute, w word) {
		u.partial = tag == tagPartialUnit
		switch a.at {
		case atStmtList:
			u.stmts, u.hasStmts = int64(w.v), true
		case atLowPC:
			u.low, u.hasLow = w, true
		case atHighPC:
			u.high = w
		case atRanges:
			u.ranges = w
		case atLanguage:
			u.lang = w.v
		case atCompDir:
			u.compDir = w
		case atDwoName, atGNUDwoName:
			u.dwoName = w
		case atGNUDwoID:
			u.id = w.v
		case atStrOffsetsBase:
			u.strBase = int64(w.v)
		case atAddrBase, atGNUAddrBase:
			u.addrBase = int64(w.v)
		case atRnglistsBase:
			u.rngBase = int64(w.v)
		case atGNURangesBase:
			u.gnuRanges = int64(w.v)
		case atProducer:
			producer = w
		}
	})
	if err != nil {
		return err
	}
	if u.hasStmts && u.stmts < 0 {
		return sec.errorf(u.root, "the offset of a line program", "0x%x", uint64(u.stmts))
	}
	// "GNU C17 13.2.0 …": see skim.
	if producer.form != 0 {
		text, err := u.text(producer, 8)
		if u.obj.d.warnings.Pass(err) != nil {
			return err
		}
		u.gnu = len(text) >= 4 && text[:4] == "GNU "
	}
	u.rooted = true
	return nil
}
