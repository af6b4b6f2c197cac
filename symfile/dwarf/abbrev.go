package dwarf

import "github.com/crashpane/crashpane/core/input"

// encoding is what the sizes of forms depend on: version, address size and offset size of the unit
// (DWARF 5, section 7.5.6).
type encoding struct {
	version uint8
	addr    uint8 // bytes of an address
	off     uint8 // bytes of an offset: 4, or 8 in 64-bit DWARF
}

// refAddr returns the size of DW_FORM_ref_addr in bytes: that of an address in DWARF 2, that of an
// offset since DWARF 3.
func (e encoding) refAddr() uint8 {
	if e.version <= 2 {
		return e.addr
	}
	return e.off
}

// attribute is one attribute of an abbreviation: its name (DW_AT_…) and form (DW_FORM_…).
type attribute struct {
	at, form uint16
	value    int64 // of DW_FORM_implicit_const
}

// kind groups the tags by what the walk over a unit's entries does with them.
type kind uint8

const (
	kindOther    kind = iota // of no interest itself, but functions may be below it
	kindLeaf                 // no functions below it: most types, parameters, call sites
	kindType                 // a class: its name qualifies the functions below it
	kindFunction             // DW_TAG_subprogram
	kindInlined              // DW_TAG_inlined_subroutine
)

// abbrev is one declaration of .debug_abbrev (DWARF 5, section 7.5.3), and how to skip an entry
// that uses it.
//
// The section has, for each declaration:
//
//	code              ULEB128   0 ends the table
//	tag               ULEB128   DW_TAG_…
//	children          1         1 if entries with this code have children
//	{name, form} …    ULEB128   DW_AT_…, DW_FORM_…; {0, 0} ends the list
//	value             SLEB128   after DW_FORM_implicit_const only
type abbrev struct {
	tag      uint16
	children bool
	kind     kind
	code     bool // DW_AT_low_pc or DW_AT_ranges is among its attributes
	// sibling is the index of DW_AT_sibling in attrs, or -1. sibBytes is its distance from the
	// entry's code in bytes, or -1 if an attribute before it has a variable size.
	sibling, sibBytes int32
	attrs             []attribute
	skips             []skipStep
}

// skipStep is one step of skipping an entry: a number of bytes, or a form of variable size.
// Adjacent forms of fixed size are one step. The lower skipBits bits have the kind of step, the
// upper ones the number of bytes. An entry of
//
//	DW_FORM_strp, DW_FORM_data1, DW_FORM_udata, DW_FORM_ref4
//
// is skipped in three steps: 5 bytes, a LEB128 number, 4 bytes.
type skipStep uint32

const (
	skipBytes    skipStep = iota // the number in the upper bits
	skipLEB128                   // a LEB128 number
	skipText                     // up to a NUL
	skipBlock1                   // a length of one byte, then that many bytes
	skipBlock2                   // a length of two bytes
	skipBlock4                   // a length of four bytes
	skipBlock                    // a length as a LEB128 number
	skipIndirect                 // a form as a LEB128 number, then a value of that form
	skipBits     = 3
)

// fixed returns the size of a form in bytes, or -1 and the kind of step that skips it. It returns
// false for an unknown form: its size cannot be known, so nothing after it can be read.
func (e encoding) fixed(form uint64) (int, skipStep, bool) {
	switch form {
	case formFlagPresent, formImplicitConst:
		return 0, 0, true
	case formData1, formFlag, formRef1, formStrx1, formAddrx1:
		return 1, 0, true
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2, 0, true
	case formStrx3, formAddrx3:
		return 3, 0, true
	case formData4, formRef4, formRefSup4, formStrx4, formAddrx4:
		return 4, 0, true
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8, 0, true
	case formData16:
		return 16, 0, true
	case formAddr:
		return int(e.addr), 0, true
	case formStrp, formSecOffset, formLineStrp, formStrpSup, formGNURefAlt, formGNUStrpAlt:
		return int(e.off), 0, true
	case formRefAddr:
		return int(e.refAddr()), 0, true
	case formUdata, formSdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		return -1, skipLEB128, true
	case formString:
		return -1, skipText, true
	case formBlock1:
		return -1, skipBlock1, true
	case formBlock2:
		return -1, skipBlock2, true
	case formBlock4:
		return -1, skipBlock4, true
	case formBlock, formExprloc:
		return -1, skipBlock, true
	case formIndirect:
		return -1, skipIndirect, true
	}
	return 0, 0, false
}

// skipEntry skips an entry's attributes.
//
// Most entries of a unit are types, parameters and variables, which a lookup does not read, so
// most of the time of a walk is spent here.
func (r *reader) skipEntry(steps []skipStep, e encoding) {
	for _, s := range steps {
		switch s & (1<<skipBits - 1) {
		case skipBytes:
			r.p += int(s >> skipBits)
			if r.p > len(r.b) {
				r.fail()
				return
			}
		case skipLEB128:
			r.skipLEB()
		case skipText:
			r.skipText()
		case skipBlock1:
			r.skip(uint64(r.u8()))
		case skipBlock2:
			r.skip(uint64(r.u16()))
		case skipBlock4:
			r.skip(uint64(r.u32()))
		case skipBlock:
			r.skip(r.uleb())
		case skipIndirect:
			form := r.uleb()
			n, step, ok := e.fixed(form)
			if !ok || step == skipIndirect {
				r.fail()
				return
			}
			if n >= 0 {
				r.skip(uint64(n))
				continue
			}
			r.skipEntry([]skipStep{step}, e)
		}
	}
}

// abbrevKey identifies a table. Units of different versions may share one, and the sizes of its
// forms then differ.
type abbrevKey struct {
	off int64
	encoding
}

// abbrevTable is the abbreviations of a unit, by code.
type abbrevTable struct {
	dense  []abbrev // codes 1, 2, 3 ... as every compiler numbers them
	others map[uint64]*abbrev
	size   int
	// What the abbreviations declare. code: functions with an address (a unit without them has no
	// code). inlines: inlined calls. split: a skeleton unit, whose entries are in a .dwo file.
	code, inlines, split bool
}

// get returns the abbreviation with a code, or nil. For code 0, i wraps around and is not an index.
func (t *abbrevTable) get(code uint64) *abbrev {
	if i := code - 1; i < uint64(len(t.dense)) {
		return &t.dense[i]
	}
	return t.others[code]
}

const (
	// maxAbbrevs limits the tables that an object caches, in bytes of the section.
	maxAbbrevs = 2 << 20
	// abbrevMemory is how many bytes of memory a byte of the section takes. An abbreviation without
	// attributes has 5.
	abbrevMemory = 16
)

// abbrevsOf returns the table at an offset of .debug_abbrev. A table does not say how long it is,
// so abbrevsOf reads 4 KiB and, if that was not all of it, four times as much, and parses the table
// again from its start.
func (o *object) abbrevsOf(off int64, e encoding) (*abbrevTable, error) {
	key := abbrevKey{off, e}
	if t, ok := o.abbrevs[key]; ok {
		return t, nil
	}
	sec, err := o.section(secAbbrev)
	if err != nil {
		return nil, err
	}
	if sec == nil {
		return nil, o.missing(secAbbrev)
	}
	var t *abbrevTable
	for n := int64(4 << 10); ; n *= 4 {
		b, err := sec.upTo(off, n)
		if err != nil {
			return nil, err
		}
		if err := sec.src.Draw(input.Work, 1); err != nil {
			return nil, sec.src.Wrap("", off, err)
		}
		rest := sec.size - off
		var enough bool
		t, enough, err = parseAbbrevs(reader{b: b, big: o.big}, e, sec, off)
		// Each abbreviation is a few bytes, and becomes an entry of a map. The next table pays for
		// one that is too large.
		_ = sec.src.Draw(input.Work, 5*int64(t.size))
		// Tables may begin anywhere, so a crafted file could have each of many units read a large
		// one from another offset.
		if !o.d.allow(workAbbrevs, int64(t.size), sec.size) {
			return nil, sec.errorf(off, "tables of abbreviations that do not overlap", "many that do")
		}
		if enough || int64(len(b)) >= rest {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	if o.abbrevLen > maxAbbrevs {
		o.release(int64(o.abbrevLen) * abbrevMemory)
		clear(o.abbrevs)
		o.abbrevLen = 0
	}
	if err := o.hold(sec, int64(t.size)*abbrevMemory); err != nil {
		return nil, err
	}
	o.abbrevLen += t.size
	o.abbrevs[key] = t
	return t, nil
}

// parseAbbrevs parses a table. enough is false if the table continues beyond r's bytes.
//
// Example: 01 11 01 25 0e 13 0b 00 00 is the abbreviation with code 1, DW_TAG_compile_unit, with
// children: DW_AT_producer as DW_FORM_strp, DW_AT_language as DW_FORM_data1, and {0, 0} as the end
// of the attributes. An entry that uses it begins with 01 and then has 4 and 1 bytes.
func parseAbbrevs(r reader, e encoding, sec *section, base int64) (t *abbrevTable, enough bool, err error) {
	t = &abbrevTable{}
	var attrs []attribute
	for {
		at := r.p
		t.size = at
		code := r.uleb()
		if r.bad {
			return t, false, sec.errorf(base+int64(at), "an abbreviation's code, or 0", "the end of the section")
		}
		if code == 0 {
			t.size = r.p
			return t, true, nil
		}
		// A tag, attribute or form above 0xffff becomes 0xffff, which no specification assigns.
		a := abbrev{sibling: -1, sibBytes: -1}
		tag := r.uleb()
		a.tag = uint16(min(tag, 0xffff))
		a.children = r.u8() != 0
		first := len(attrs)
		// where is the distance from the entry's code as long as all forms have a fixed size; run
		// is the size of the step under construction.
		where, fixed := 0, true
		run := 0
		for {
			name, form := r.uleb(), r.uleb()
			if r.bad {
				return t, false, sec.errorf(base+int64(at), "an abbreviation", "the end of the section")
			}
			if name == 0 && form == 0 {
				break
			}
			row := attribute{at: uint16(min(name, 0xffff)), form: uint16(min(form, 0xffff))}
			if form == formImplicitConst {
				row.value = r.sleb()
			}
			n, step, known := e.fixed(form)
			if !known {
				return t, true, sec.errorf(base+int64(at), "a form of DWARF 2 to 5", "form 0x%x of attribute 0x%x", form, name)
			}
			if name == atSibling {
				if a.sibling = int32(len(attrs) - first); fixed {
					a.sibBytes = int32(where)
				}
			}
			if n >= 0 {
				where += n
				run += n
			} else {
				fixed = false
				if run > 0 {
					a.skips = append(a.skips, skipStep(run)<<skipBits)
					run = 0
				}
				a.skips = append(a.skips, step)
			}
			attrs = append(attrs, row)
		}
		if run > 0 {
			a.skips = append(a.skips, skipStep(run)<<skipBits)
		}
		a.attrs = attrs[first:len(attrs):len(attrs)]
		a.kind = kindOf(a.tag)
		a.code = a.has(atLowPC, atRanges)
		t.code = t.code || a.kind == kindFunction && a.code
		t.inlines = t.inlines || a.kind == kindInlined
		t.split = t.split || a.has(atDwoName, atGNUDwoName)
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, a)
			continue
		}
		if t.get(code) == nil { // if a code is declared twice, the first declaration counts
			if t.others == nil {
				t.others = map[uint64]*abbrev{}
			}
			t.others[code] = &a
		}
	}
}

// has reports whether an abbreviation has one of the attributes.
func (a *abbrev) has(names ...uint16) bool {
	for i := range a.attrs {
		for _, n := range names {
			if a.attrs[i].at == n {
				return true
			}
		}
	}
	return false
}

// kindOf returns the kind of a tag. Unknown tags are kindOther, so that functions below them are
// found.
func kindOf(tag uint16) kind {
	switch tag {
	case tagSubprogram:
		return kindFunction
	case tagInlinedSubroutine:
		return kindInlined
	case tagClassType, tagStructureType, tagUnionType, tagInterfaceType:
		return kindType
	case 0x01, 0x05, 0x0d, 0x15, 0x16, 0x24, 0x28, 0x34, 0x48, 0x49, 0x4109, 0x410a: // array_type, formal_parameter, member, subroutine_type, typedef, base_type, enumerator, variable, call_site, call_site_parameter and GNU's of the two
		return kindLeaf
	}
	return kindOther
}

// missing returns the error for a section that another section refers to and that the file lacks.
func (o *object) missing(id sectionID) error {
	name := sectionKinds[id].name
	if o.dwo && sectionKinds[id].dwo {
		name += ".dwo"
	}
	return (&section{name: name, file: o.s.File}).errorf(-1, "the section that another section refers to", "none")
}
