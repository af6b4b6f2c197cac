package dwarf

import (
	"bytes"
	"strconv"
)

func hex(v uint64) string     { return strconv.FormatUint(v, 16) }
func decimal(v uint64) string { return strconv.FormatUint(v, 10) }

const (
	// maxName is the length to which names and paths are read, in bytes; mangled names of real programs reach 50,000.
	maxName = 128 << 10
	// shortName is that length once the names of a file add up to more than the file can honestly have.
	shortName = 256
)

// text is the string that an attribute says, up to a length.
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

// cstring is the text at an offset of a section of strings.
func (o *object) cstring(id sectionID, off, most int64) (string, error) {
	sec, err := o.section(id)
	if err != nil {
		return "", err
	}
	if sec == nil {
		return "", o.missing(id)
	}
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

// stringOffset is the offset of a string by its number in .debug_str_offsets.
func (u *unit) stringOffset(i uint64) (int64, error) {
	sec, err := u.obj.section(secStrOffsets)
	if err != nil {
		return 0, err
	}
	if sec == nil {
		return 0, u.obj.missing(secStrOffsets)
	}
	base := u.strBase
	if base < 0 { // a split unit has the section, or its part of it, for itself
		if base = 0; u.version >= 5 {
			base = 8
			if u.encoding.off == 8 {
				base = 16
			}
		}
	}
	if i > uint64(sec.size) || base > sec.size {
		return 0, sec.errorf(base, "the string with the number "+decimal(i), "a section of %d bytes", sec.size)
	}
	v, err := sec.number(base+int64(i)*int64(u.encoding.off), int(u.encoding.off), u.obj.big)
	return int64(v), err
}
