package dwarf

// span is the range of code [start, end), in module-relative addresses.
type span struct{ start, end uint64 }

// discarded reports whether addr marks code that the linker discarded. Its debug information stays
// in the file, with an address that no code has: GNU ld writes 0 (1 in .debug_ranges, where 0 would
// end the list), LLD the highest address or the one before it. An address below the file's first
// one is not in the file either.
func (u *unit) discarded(addr uint64) bool {
	d := u.obj.d
	if addr <= 1 && !d.opt.ZeroIsCode || addr < d.main.s.Base {
		return true
	}
	return u.highest()-addr <= 1
}

// highest is the largest address that fits in the unit's address size.
func (u *unit) highest() uint64 {
	switch u.addr {
	case 2:
		return 0xffff
	case 4:
		return 0xffffffff
	}
	return ^uint64(0)
}

// lowHigh appends the range from DW_AT_low_pc to DW_AT_high_pc.
// Since DWARF 4, DW_AT_high_pc may be a size: see word.constant.
func (u *unit) lowHigh(dst []span, low, high word) ([]span, error) {
	if low.form == 0 || high.form == 0 {
		return dst, nil
	}
	lo, err := u.address(low)
	if err != nil {
		return dst, err
	}
	hi := high.v
	if high.constant() {
		hi += lo
	} else if hi, err = u.address(high); err != nil {
		return dst, err
	}
	return u.add(dst, lo, hi), nil
}

// add appends the range from lo to hi, which are addresses of the file, unless it is empty or
// discarded.
//
// It subtracts Sections.Base from both, so that spans are module-relative from here on.
func (u *unit) add(dst []span, lo, hi uint64) []span {
	if u.discarded(lo) || hi <= lo {
		return dst
	}
	base := u.obj.d.main.s.Base
	return append(dst, span{lo - base, hi - base})
}

// rangeList appends the ranges of a DW_AT_ranges.
// A list has no length of its own, and many entries may refer to one long list, so its work is
// counted.
func (u *unit) rangeList(dst []span, w word) ([]span, error) {
	from := len(dst)
	dst, err := u.listed(dst, w)
	if n := int64(len(dst) - from); !u.obj.d.allow(workRanges, 4+4*n, u.sec().size) && n > 0 {
		return dst[:from], u.sec().errorf(u.off, "lists of ranges that do not overlap", "many that do")
	}
	return dst, err
}

// listed is rangeList without the limit on work. Before DWARF 5 the list is in .debug_ranges (DWARF
// 4, section 2.17.3), as pairs of addresses:
//
//	lo, hi            the range base + lo to base + hi
//	highest, base     a new base
//	0, 0              the end
func (u *unit) listed(dst []span, w word) ([]span, error) {
	base, err := u.lowest()
	if err != nil {
		return dst, err
	}
	if u.version >= 5 {
		return u.rnglist(dst, w, base)
	}
	home := u.home()
	off := int64(w.v)
	// GNU's split units count from the skeleton's DW_AT_GNU_ranges_base.
	if u.skeleton != nil {
		off += home.gnuRanges
	}
	sec, err := home.obj.section(secRanges)
	if err != nil {
		return dst, err
	}
	if sec == nil {
		return dst, home.obj.missing(secRanges)
	}
	r := reader{big: home.obj.big}
	two := 2 * int(u.addr)
	for at := off; ; {
		if r.left() < two {
			if at, err = home.more(sec, &r, at); err != nil {
				return dst, err
			}
			if r.left() < two {
				return dst, sec.errorf(at, "the end of a list of ranges", "the end of the section")
			}
		}
		lo, hi := r.uint(int(u.addr)), r.uint(int(u.addr))
		switch {
		case lo == 0 && hi == 0:
			return dst, nil
		case lo == u.highest():
			base = hi
		case u.highest()-base <= 1: // a discarded base: base + lo would wrap around to a low address
		case lo < hi:
			dst = u.add(dst, (base+lo)&u.highest(), (base+hi)&u.highest())
		}
	}
}

// more refills a reader with the section's bytes at an offset, from the first byte that the reader
// has not used. It returns the section offset after the reader's last byte.
func (u *unit) more(sec *section, r *reader, at int64) (int64, error) {
	used := int64(r.p)
	at -= int64(r.left())
	n := int64(64)
	if r.b != nil {
		n = 512
	}
	if at >= sec.size {
		r.b, r.p = nil, 0
		return at, nil
	}
	b, err := sec.upTo(at, n)
	if err != nil {
		return at, err
	}
	// Charge the bytes that the list used, not those that were read: most lists are short.
	b = b[:min(len(b), 4096)]
	if !u.obj.d.allow(workRanges, used, sec.size) {
		return at, sec.errorf(at, "lists of ranges that do not overlap", "many that do")
	}
	r.b, r.p = b, 0
	return at + int64(len(b)), nil
}

// lowest returns a unit's base address, to which its ranges are relative: DW_AT_low_pc of the unit
// (or of its skeleton).
func (u *unit) lowest() (uint64, error) {
	home := u.home()
	if home.hasLow {
		return home.address(home.low)
	}
	if u.hasLow {
		return u.address(u.low)
	}
	return 0, nil
}

// listAt returns the offset of a list in .debug_rnglists. DW_FORM_rnglistx is an index in the offsets
// after the section's header, which count from there; DW_FORM_sec_offset is the offset of the list
// itself. The header:
//
//	unit_length 4 or 12 | version 2 | address_size 1 | segment_selector_size 1 | offset_entry_count 4
func (u *unit) listAt(sec *section, w word) (int64, error) {
	if w.form != formRnglistx {
		return int64(w.v), nil
	}
	size := int64(u.encoding.off)
	from := u.rngBase
	if from < 0 { // of a split unit: after the header
		if from = 12; size == 8 {
			from = 20
		}
	}
	if w.v > uint64(sec.size) || from > sec.size {
		return 0, sec.errorf(from, "the list with the number "+decimal(w.v), "a section of %d bytes", sec.size)
	}
	v, err := sec.number(from+int64(w.v)*size, int(size), u.obj.big)
	if err == nil && v > uint64(sec.size) {
		err = sec.errorf(from, "the offset of a list", "0x%x", v)
	}
	return from + int64(v), err
}

// rnglist appends the ranges of a list of .debug_rnglists (DWARF 5, sections 2.17.3 and 7.25).
//
// A list is a sequence of entries: DW_RLE_ number 1, then operands that are LEB128 numbers (an
// index, an offset, a length) or addresses. Example, with the base 0x401000:
//
//	04 10 1c           offset_pair: 0x401010 to 0x40101c
//	04 80 02 90 02     offset_pair: 0x401100 to 0x401110
//	00                 end_of_list
func (u *unit) rnglist(dst []span, w word, base uint64) ([]span, error) {
	o := u.obj
	sec, err := o.section(secRnglists)
	if err != nil {
		return dst, err
	}
	if sec == nil {
		return dst, o.missing(secRnglists)
	}
	at, err := u.listAt(sec, w)
	if err != nil {
		return dst, err
	}
	for r := (reader{big: o.big}); ; {
		if r.left() < 32 { // no entry is longer, unless its numbers are padded
			if at, err = u.more(sec, &r, at); err != nil {
				return dst, err
			}
		}
		// DW_RLE_ numbers (section 7.25).
		op := r.u8()
		var lo, hi uint64
		switch op {
		case 0x00: // DW_RLE_end_of_list
			if r.bad {
				return dst, sec.errorf(at, "the end of a list of ranges", "the end of the section")
			}
			return dst, nil
		case 0x01: // base_addressx
			if base, err = u.indexed(r.uleb()); err != nil {
				return dst, err
			}
			continue
		case 0x02: // startx_endx
			if lo, err = u.indexed(r.uleb()); err == nil {
				hi, err = u.indexed(r.uleb())
			}
		case 0x03: // startx_length
			lo, err = u.indexed(r.uleb())
			hi = lo + r.uleb()
		// Relative to the base; a base of discarded code would wrap around to a low address.
		case 0x04: // offset_pair
			lo, hi = r.uleb(), r.uleb()
			if u.highest()-base <= 1 {
				continue
			}
			if hi <= lo {
				continue
			}
			lo, hi = (base+lo)&u.highest(), (base+hi)&u.highest()
		case 0x05: // base_address
			base = r.uint(int(u.addr))
			continue
		case 0x06: // start_end
			lo, hi = r.uint(int(u.addr)), r.uint(int(u.addr))
		case 0x07: // start_length
			lo = r.uint(int(u.addr))
			hi = lo + r.uleb()
		default:
			return dst, sec.errorf(at-int64(r.left())-1, "an entry of a list of ranges", "0x%x", op)
		}
		if err != nil {
			return dst, err
		}
		if r.bad {
			return dst, sec.errorf(at, "the end of a list of ranges", "the end of the section")
		}
		dst = u.add(dst, lo, hi)
	}
}
