package dwarf

// entry reads the entry at an offset and calls see for each attribute. It reads 256 bytes first,
// which suffice for most entries. If they do not, it reads more and calls see for all attributes
// again.
//
// So see must only assign: it may be called twice for one attribute.
func (u *unit) entry(off int64, see func(tag uint16, a *attribute, w word)) error {
	sec := u.sec()
	if off < u.root || off >= u.end {
		return sec.errorf(off, "an entry of the unit at 0x"+hex(uint64(u.off)), "an offset outside of it")
	}
	for n := int64(256); ; n *= 8 {
		n = min(n, u.end-off)
		b, err := sec.upTo(off, n)
		if err != nil {
			return err
		}
		if int64(len(b)) > u.end-off {
			b = b[:u.end-off]
		}
		r := reader{b: b, big: u.obj.big}
		code := r.uleb()
		// A code of 0 closes the list of children and is not an entry.
		if !r.bad && code == 0 {
			return nil
		}
		if !r.bad {
			t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
			if err != nil {
				return err
			}
			a := t.get(code)
			if a == nil {
				return sec.errorf(off, "an abbreviation of the unit at 0x"+hex(uint64(u.off)), "code %d", code)
			}
			for i := range a.attrs {
				w := r.word(u.encoding, &a.attrs[i], off)
				if r.bad {
					break
				}
				see(a.tag, &a.attrs[i], w)
			}
			if !r.bad {
				return nil
			}
		}
		if n >= u.end-off {
			return sec.errorf(off, "an entry", "the end of the unit at 0x%x", u.off)
		}
	}
}

// word reads an attribute's value (DWARF 5, section 7.5.5). base is the section offset of the
// reader's first byte.
//
// Blocks and expressions are skipped: no attribute that is read has one. For a string in place, the
// value is its section offset.
//
// The value is the number as stored: a reference still counts from its unit, an index (strx, addrx,
// rnglistx) is not looked up. unit.refer, unit.text, unit.address and unit.rangeList resolve them,
// so that a walk pays only for the attributes that it uses.
func (r *reader) word(e encoding, a *attribute, base int64) word {
	form := a.form
	if form == formIndirect {
		form = uint16(min(r.uleb(), 0xffff))
		// DW_FORM_indirect has the form in the entry. An implicit constant has its value in the
		// abbreviation, so it cannot be indirect.
		if form == formIndirect || form == formImplicitConst {
			r.fail()
			return word{}
		}
	}
	w := word{form: form}
	switch form {
	case formImplicitConst:
		w.v = uint64(a.value)
	case formFlagPresent:
		w.v = 1
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		w.v = uint64(r.u8())
	case formData2, formRef2, formStrx2, formAddrx2:
		w.v = uint64(r.u16())
	case formStrx3, formAddrx3:
		w.v = r.uint(3)
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		w.v = uint64(r.u32())
	case formData8, formRef8, formRefSig8, formRefSup8:
		w.v = r.u64()
	case formData16:
		r.skip(16)
	case formAddr:
		w.v = r.uint(int(e.addr))
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		w.v = r.uint(int(e.off))
	case formRefAddr:
		w.v = r.uint(int(e.refAddr()))
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		w.v = r.uleb()
	case formSdata:
		w.v = uint64(r.sleb())
	case formString:
		w.v = uint64(base) + uint64(r.p)
		r.skipText()
	case formBlock1:
		r.skip(uint64(r.u8()))
	case formBlock2:
		r.skip(uint64(r.u16()))
	case formBlock4:
		r.skip(uint64(r.u32()))
	case formBlock, formExprloc:
		r.skip(r.uleb())
	default:
		r.fail()
	}
	return w
}

// home returns the unit to which address attributes refer: a split unit's skeleton, else the unit
// itself.
func (u *unit) home() *unit {
	if u.skeleton != nil {
		return u.skeleton
	}
	return u
}

// address returns an attribute's address, which is the value itself or an index in .debug_addr.
func (u *unit) address(w word) (uint64, error) {
	switch w.form {
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
		return u.indexed(w.v)
	}
	return w.v, nil
}

// indexed returns address i of .debug_addr (DWARF 5, section 7.27): the 8 bytes at base + i*8, or 4
// for 32-bit addresses. base is the skeleton's DW_AT_addr_base. Without it, it is the end of the
// section's header: 8 bytes, 16 in 64-bit DWARF, none before DWARF 5.
//
// The header of DWARF 5:
//
//	unit_length 4 or 12 | version 2 | address_size 1 | segment_selector_size 1
func (u *unit) indexed(i uint64) (uint64, error) {
	home := u.home()
	sec, err := home.obj.section(secAddr)
	if err != nil {
		return 0, err
	}
	if sec == nil {
		return 0, home.obj.missing(secAddr)
	}
	base := home.addrBase
	// A unit of GNU's extension may have the base in the split unit itself.
	if base < 0 {
		base = u.addrBase
	}
	return u.element(sec, base, i, int(u.addr), "address")
}

// constant reports whether the form is of class constant. DW_AT_high_pc is then an offset from
// DW_AT_low_pc (DWARF 5, section 2.17.2).
//
// Example: GCC's low_pc 0x401126 (DW_FORM_addr) and high_pc 0x16 (DW_FORM_data8) are the range
// 0x401126 to 0x40113c. DWARF 2 and 3 have the end itself, as DW_FORM_addr.
func (w word) constant() bool {
	switch w.form {
	case formData1, formData2, formData4, formData8, formUdata, formSdata, formImplicitConst:
		return true
	}
	return false
}
