package dwarf

// encoding is what the sizes of forms depend on.
type encoding struct {
	version uint8
	addr    uint8 // bytes of an address
	off     uint8 // bytes of an offset: 4, or 8 in 64-bit DWARF
}

// refAddr is the size of DW_FORM_ref_addr, which DWARF 2 made as large as an address.
func (e encoding) refAddr() uint8 {
	if e.version <= 2 {
		return e.addr
	}
	return e.off
}

// attribute is a row of an abbreviation.
type attribute struct {
	at, form uint16
	value    int64 // of DW_FORM_implicit_const
}

// kind is what the walk over a unit does with an entry.
type kind uint8

const (
	kindPass     kind = iota // nothing of interest in it, but perhaps below it
	kindLeaf                 // nothing of interest below it either: most types, parameters, call sites
	kindType                 // classes: functions below it have their name in front
	kindFunction             // DW_TAG_subprogram
	kindInlined              // DW_TAG_inlined_subroutine
)

// abbrev is one declaration of .debug_abbrev, and how to pass over an entry of it.
type abbrev struct {
	tag      uint16
	children bool
	kind     kind
	code     bool // DW_AT_low_pc or DW_AT_ranges is among its attributes
	// sibling is the number of DW_AT_sibling among attrs, -1 if there is none; sibBytes is how many bytes after the code it
	// stands if all before it has a fixed size, else -1.
	sibling, sibBytes int32
	attrs             []attribute
	passes            []pass
}

// pass is one step of passing over an entry: a number of bytes, or a form of variable size.
type pass uint32

const (
	passBytes    pass = iota // as many as stand in the upper bits
	passLEB                  // a LEB128 number
	passText                 // up to a NUL
	passBlock1               // a length of one byte, and so many bytes
	passBlock2               // of two
	passBlock4               // of four
	passBlock                // a LEB128 number, and so many bytes
	passIndirect             // a form, and what it says
	passBits     = 3
)

// fixed is the size of a form, or -1 with the kind of step.
func (e encoding) fixed(form uint64) (int, pass, bool) {
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
		return -1, passLEB, true
	case formString:
		return -1, passText, true
	case formBlock1:
		return -1, passBlock1, true
	case formBlock2:
		return -1, passBlock2, true
	case formBlock4:
		return -1, passBlock4, true
	case formBlock, formExprloc:
		return -1, passBlock, true
	case formIndirect:
		return -1, passIndirect, true
	}
	return 0, 0, false
}

// pass goes over an entry's attributes.
func (r *reader) pass(steps []pass, e encoding) {
	for _, s := range steps {
		switch s & (1<<passBits - 1) {
		case passBytes:
			r.p += int(s >> passBits)
			if r.p > len(r.b) {
				r.fail()
				return
			}
		case passLEB:
			r.skipLEB()
		case passText:
			r.text()
		case passBlock1:
			r.skip(uint64(r.u8()))
		case passBlock2:
			r.skip(uint64(r.u16()))
		case passBlock4:
			r.skip(uint64(r.u32()))
		case passBlock:
			r.skip(r.uleb())
		case passIndirect:
			form := r.uleb()
			n, step, ok := e.fixed(form)
			if !ok || step == passIndirect {
				r.fail()
				return
			}
			if n >= 0 {
				r.skip(uint64(n))
				continue
			}
			r.pass([]pass{step}, e)
		}
	}
}

type abbrevKey struct {
	off int64
	encoding
}

// abbrevTable is a unit's abbreviations by code.
type abbrevTable struct {
	dense  []abbrev // codes 1, 2, 3 ... as every compiler numbers them
	others map[uint64]*abbrev
	size   int
	// code: a function with an address of its own is declared. Units without one have no code. inlines: inlined calls are;
	// split: a unit that another file completes is.
	code, inlines, split bool
}

func (t *abbrevTable) get(code uint64) *abbrev {
	if i := code - 1; i < uint64(len(t.dense)) {
		return &t.dense[i]
	}
	return t.others[code]
}

// maxAbbrevs bounds the tables an object keeps, in bytes of the section.
const maxAbbrevs = 2 << 20

// abbrevsOf is the table at an offset of .debug_abbrev.
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
		rest := sec.size - off
		var enough bool
		t, enough, err = parseAbbrevs(reader{b: b, big: o.big}, e, sec, off)
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
		clear(o.abbrevs)
		o.abbrevLen = 0
	}
	o.abbrevLen += t.size
	o.abbrevs[key] = t
	return t, nil
}

// parseAbbrevs reads a table; enough is false if it goes on beyond the bytes that were given.
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
		a := abbrev{sibling: -1, sibBytes: -1}
		tag := r.uleb()
		a.tag = uint16(min(tag, 0xffff))
		a.children = r.u8() != 0
		first := len(attrs)
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
					a.passes = append(a.passes, pass(run)<<passBits)
					run = 0
				}
				a.passes = append(a.passes, step)
			}
			attrs = append(attrs, row)
		}
		if run > 0 {
			a.passes = append(a.passes, pass(run)<<passBits)
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
		if t.get(code) == nil { // of two with one code the first counts
			if t.others == nil {
				t.others = map[uint64]*abbrev{}
			}
			t.others[code] = &a
		}
	}
}

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

func kindOf(tag uint16) kind {
	switch tag {
	case tagSubprogram:
		return kindFunction
	case tagInlinedSubroutine:
		return kindInlined
	case tagClassType, tagStructureType, tagUnionType, tagInterfaceType:
		return kindType
	case tagLexicalBlock, tagNamespace, tagModule, tagCompileUnit, tagPartialUnit, tagSkeletonUnit, tagTryBlock, tagCatchBlock, tagWithStmt, tagEntryPoint, tagEnumerationType:
		return kindPass
	case 0x01, 0x05, 0x0d, 0x15, 0x16, 0x24, 0x28, 0x34, 0x48, 0x49, 0x4109, 0x410a: // array_type, formal_parameter, member, subroutine_type, typedef, base_type, enumerator, variable, call_site, call_site_parameter and GNU's of the two
		return kindLeaf
	}
	return kindPass
}

func (o *object) missing(id sectionID) error {
	name := sectionKinds[id].name
	if o.dwo && sectionKinds[id].dwo {
		name += ".dwo"
	}
	return (&section{name: name, file: o.s.File}).errorf(-1, "the section, which another one refers to", "none")
}
