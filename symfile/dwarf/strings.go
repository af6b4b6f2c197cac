package dwarf

import (
	"bytes"
	"strconv"
)

// hex and decimal are used in place of fmt, on paths that many entries take.
func hex(v uint64) string     { return strconv.FormatUint(v, 16) }
func decimal(v uint64) string { return strconv.FormatUint(v, 10) }

const (
	// maxName limits names and paths, in bytes. Mangled names of real programs reach 50,000.
	maxName = 128 << 10
	// shortName is the limit once the names of one call exceed its work limit (Data.allow).
	shortName = 256
)

// text returns the string of an attribute of class string, cut to most bytes, or "" for other
// forms.
func (u *unit) text(w word, most int64) (string, error) {
	o := u.obj
	off := int64(w.v)
	id := secStr
	switch w.form {
	case formString:
		id = secInfo
		if u.types {
			id = secTypes
		}
	case formStrp:
	case formLineStrp:
		id = secLineStr
	case formStrpSup, formGNUStrpAlt:
		if o.alt == nil {
			o.d.want(supplementary)
			return "", nil
		}
		o = o.alt
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		var err error
		if off, err = u.stringOffset(w.v); err != nil {
			return "", err
		}
	default:
		return "", nil
	}
	return o.cstring(id, off, most)
}

const supplementary = "the supplementary file (.gnu_debugaltlink)"

// cstring returns the NUL-terminated string at an offset of a section, cut to most bytes.
func (o *object) cstring(id sectionID, off, most int64) (string, error) {
	sec, err := o.section(id)
	if err != nil {
		return "", err
	}
	if sec == nil {
		return "", o.missing(id)
	}
	// Most names are short, so the first read is.
	for n := min(most, 120); ; n = min(4*n, most) {
		b, err := sec.upTo(off, n)
		if err != nil {
			return "", err
		}
		if int64(len(b)) > most {
			b = b[:most]
		}
		end := bytes.IndexByte(b, 0)
		if end < 0 && n < most && int64(len(b)) < sec.size-off {
			continue
		}
		if end >= 0 {
			b = b[:end]
		}
		if !o.d.allow(workNames, int64(len(b)), sec.size) && len(b) > shortName {
			b = b[:shortName]
		}
		return string(b), nil
	}
}

// stringOffset returns the offset in .debug_str of string i, which is element i of
// .debug_str_offsets (DWARF 5, section 7.26). The elements are offsets of 4 bytes, 8 in 64-bit
// DWARF, from the unit's DW_AT_str_offsets_base on, which is after this header:
//
//	unit_length 4 or 12 | version 2 | padding 2
func (u *unit) stringOffset(i uint64) (int64, error) {
	sec, err := u.obj.section(secStrOffsets)
	if err != nil {
		return 0, err
	}
	if sec == nil {
		return 0, u.obj.missing(secStrOffsets)
	}
	v, err := u.element(sec, u.strBase, i, int(u.encoding.off), "string")
	return int64(v), err
}

// element returns element i of an array in a section, from a unit's base on. A split unit has no base:
// its array follows the section's header, which GNU's extension of DWARF 4 lacks.
func (u *unit) element(sec *section, base int64, i uint64, size int, what string) (uint64, error) {
	if base < 0 {
		if base = 0; u.version >= 5 {
			base = 2 * int64(u.encoding.off)
		}
	}
	if i > uint64(sec.size) || base > sec.size {
		return 0, sec.errorf(base, "the "+what+" with the number "+decimal(i), "a section of %d bytes", sec.size)
	}
	return sec.number(base+int64(i)*int64(size), size, u.obj.big)
}
