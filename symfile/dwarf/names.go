package dwarf

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// ref refers to an entry, as seen from an object. The upper two bits say which section, the others
// are the offset in it.
type ref uint64

const (
	// Without either bit the entry is in .debug_info.
	refTypes ref = 1 << 62 // in .debug_types
	refAlt   ref = 2 << 62 // in the supplementary file's .debug_info
	refKind  ref = 3 << 62
	noRef        = ^ref(0)
)

// ref returns the reference to an entry of the unit, by its offset in the section.
func (u *unit) ref(off int64) ref {
	if u.types {
		return ref(off) | refTypes
	}
	return ref(off)
}

// refer returns the entry that an attribute of class reference refers to (DWARF 5, section 7.5.5).
// DW_FORM_ref1 and the like count from the unit's header, DW_FORM_ref_addr from the start of
// .debug_info.
// The offset of a DW_FORM_ref_sig8 is not known from the value; scopeName handles that form.
//
// DW_FORM_ref_sup4, ref_sup8 and GNU_ref_alt count from the start of the supplementary file's
// .debug_info (DWARF 5, section 7.5.5; dwz writes them).
func (u *unit) refer(w word) ref {
	if w.v >= 1<<62 {
		return noRef
	}
	switch w.form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		return u.ref(int64(w.v) + u.off)
	case formRefAddr:
		return ref(w.v)
	case formRefSup4, formRefSup8, formGNURefAlt:
		return ref(w.v) | refAlt
	}
	return noRef
}

// entryAt locates an entry by its unit and its section offset.
type entryAt struct {
	u   *unit
	off int64
}

// find locates the entry that a reference means. near is the unit that has the reference; it is
// checked first, since most references stay in their unit. The result's unit is nil if the entry is
// in a file that is missing.
func (o *object) find(r ref, near *unit) (entryAt, error) {
	off := int64(r &^ refKind)
	types := r&refKind == refTypes
	if r&refKind == refAlt {
		if o.alt == nil {
			o.d.want(supplementary)
			return entryAt{}, nil
		}
		o, near = o.alt, nil
	}
	if near != nil && near.obj == o && near.types == types && off >= near.root && off < near.end {
		return entryAt{near, off}, nil
	}
	u, err := o.unitContaining(types, off)
	if err != nil {
		return entryAt{}, err
	}
	if u == nil {
		id := secInfo
		if types {
			id = secTypes
		}
		sec, err := o.section(id)
		if err != nil {
			return entryAt{}, err
		}
		if sec == nil {
			return entryAt{}, o.missing(id)
		}
		return entryAt{}, sec.errorf(off, "an entry of a unit", "an offset outside of all units")
	}
	if err := u.rootOf(); err != nil {
		return entryAt{}, err
	}
	return entryAt{u, off}, nil
}

const (
	// maxHops limits a chain of DW_AT_abstract_origin and DW_AT_specification. A crafted chain can
	// be a circle.
	maxHops = 16
	// maxNames limits the names that an object caches, maxNameBytes their bytes.
	maxNames, maxNameBytes = 64 << 10, 16 << 20
)

// entryName identifies a name in the cache of names. code: it is that of a function with code, which
// the symbol table may complete, while an inlined call's is what its entry says.
type entryName struct {
	r    ref
	code bool
}

// nameOf returns the name of the function that an entry describes: the linkage name if there is
// one, else the name, with its namespaces and classes if the language needs them (see languages).
func (o *object) nameOf(r ref, near *unit, lang uint64) (string, error) {
	return o.cached(entryName{r, false}, func() (string, error) {
		name, _, err := o.resolve(r, near, lang, false)
		return name, o.d.warnings.Pass(err)
	})
}

// functionName returns the name of a function with code.
func (d *Data) functionName(data *unitData, fn *function) (string, error) {
	return data.body.obj.cached(entryName{data.body.ref(fn.off), true}, func() (string, error) { return d.linkedName(data, fn) })
}

// cached returns a name from the cache, or makes it.
func (o *object) cached(key entryName, make func() (string, error)) (string, error) {
	if name, ok := o.names[key]; ok {
		return name, nil
	}
	name, err := make()
	if err != nil {
		return "", err
	}
	name = cmp.Or(name, nameless)
	if o.nameBytes += len(name); len(o.names) >= maxNames || o.nameBytes > maxNameBytes {
		clear(o.names)
		o.nameBytes = len(name)
	}
	o.names[key] = name
	return name, nil
}

// maxStarts limits the ranges of a function whose starts are looked up in the symbol table. A
// function has few: its entry, and a part or two that compilers moved away.
const maxStarts = 8

// linkedName returns the name of a function with code, or "". If its entries lack the linkage name,
// the symbol table may have it, see Symbols.Linkage.
func (d *Data) linkedName(data *unitData, fn *function) (string, error) {
	u := data.body
	name, plain, err := u.obj.resolve(u.ref(fn.off), u, u.lang, fn.top)
	if err = d.warnings.Pass(err); err != nil || d.opt.Symbols == nil || name != "" && plain == "" {
		return name, err
	}
	var starts []uint64
	for _, s := range data.of(fn.spans)[:min(maxStarts, fn.spans.to-fn.spans.from)] {
		starts = append(starts, s.start)
	}
	linkage, err := d.opt.Symbols.Linkage(starts, plain)
	return cmp.Or(linkage, name), err
}

// resolve is nameOf without the cache. It follows an inlined call's DW_AT_abstract_origin to the
// function, and an out-of-class definition's DW_AT_specification to the declaration in the class,
// until an entry has a linkage name:
//
//	DW_TAG_inlined_subroutine ──abstract_origin──► DW_TAG_subprogram ──specification──► DW_TAG_subprogram in its class
//
// A C++ function ns::f has the linkage name "_ZN2ns1fEv". GCC writes none for a static function,
// whose name "f" becomes "ns::f", and none for one that is extern "C", whose name stays "f". In C
// the name is used as it is.
//
// plain is the name alone, "f", if the function may have a linkage name that no entry has: such a
// static one, and all functions of "clang -gline-tables-only".
func (o *object) resolve(r ref, near *unit, lang uint64, top bool) (full, plain string, err error) {
	var at entryAt
	external := false
	// Each round reads one entry. The last plain name that was met counts if no linkage name is
	// found: that of the declaration, which is in its class.
	for hop := 0; hop < maxHops && r != noRef; hop++ {
		p, err := o.find(r, near)
		if err != nil {
			return plain, "", err
		}
		if p.u == nil {
			break
		}
		var name, link word
		next := noRef
		err = p.u.entry(p.off, func(tag uint16, a *attribute, w word) {
			switch a.at {
			case atName:
				name = w
			case atLinkageName, atMIPSLinkage:
				link = w
			case atAbstractOrigin, atSpecification:
				next = p.u.refer(w)
			case atExternal:
				external = external || w.v != 0
			}
		})
		if err != nil {
			return plain, "", err
		}
		if link.form != 0 {
			if text, err := p.u.text(link, maxName); err != nil || text != "" {
				return text, "", err
			}
		}
		if name.form != 0 {
			text, err := p.u.text(name, maxName)
			if err != nil {
				return plain, "", err
			}
			plain, at = text, p
			top = top && hop == 0
		}
		r, o, near = next, p.u.obj, p.u
	}
	l, known := languages[lang]
	bare := ""
	if l.mangles {
		bare = plain
	}
	switch {
	case !known || plain == "" || top && external:
		return plain, "", nil
	case top || l.separator == "":
		return plain, bare, nil
	}
	within, class, err := at.u.within(at.off, l.separator)
	if external && !class { // extern "C": a C++ function with external linkage would have a linkage name
		return plain, "", o.d.warnings.Pass(err)
	}
	if err != nil || within == "" {
		return plain, bare, o.d.warnings.Pass(err)
	}
	return within + l.separator + plain, bare, nil
}

// scope is a namespace, class, enumeration or module: its name qualifies the functions in it.
type scope struct {
	off, end int64
	parent   int32
	class    bool
}

// scopeMemory is the size of a scope in bytes. It may have two in the file.
const scopeMemory = 32

// dropScopes gives back what readScopes has read.
func (u *unit) dropScopes() {
	u.obj.release(int64(len(u.scopes)) * scopeMemory)
	u.scopes, u.scoped = nil, false
}

// maxScopes limits the scopes in a qualified name.
const maxScopes = 32

// within returns the namespaces and classes around an entry, joined by the language's separator, and
// whether the innermost is a class.
//
// Example: the scopes of "namespace a { struct b {…}; void f(); }" are a and, with parent a, b. For
// f, which is after b, the last scope that begins before it is b; b has ended, so a is the scope.
func (u *unit) within(off int64, separator string) (_ string, class bool, err error) {
	if err := u.readScopes(); err != nil {
		return "", false, err
	}
	// The last scope that begins before the entry may have ended before it; then one of its parents
	// is the scope.
	i := int32(sort.Search(len(u.scopes), func(i int) bool { return u.scopes[i].off >= off })) - 1
	for i >= 0 && u.scopes[i].end <= off {
		i = u.scopes[i].parent
	}
	class = i >= 0 && u.scopes[i].class
	var names []string
	for ; i >= 0 && len(names) < maxScopes; i = u.scopes[i].parent {
		name, err := u.scopeName(u.scopes[i].off)
		if err != nil {
			return "", class, err
		}
		names = append(names, name)
	}
	slices.Reverse(names) // the loop went from the inside out
	return strings.Join(names, separator), class, nil
}

// scopeName returns the name of a namespace or class. A class that is described in a type unit has
// its name there, and only the unit's signature here.
//
// GCC's -fdebug-types-section leaves in the unit a DW_TAG_structure_type with DW_AT_signature and
// DW_AT_declaration. A namespace that is opened again may have DW_AT_extension, which refers to an
// earlier entry of it.
func (u *unit) scopeName(off int64) (string, error) {
	o, r := u.obj, u.ref(off)
	for hop := 0; hop < maxHops; hop++ {
		p, err := o.find(r, u)
		if err != nil || p.u == nil {
			return "", err
		}
		var name, sig word
		var kind uint16
		next := noRef
		err = p.u.entry(p.off, func(tag uint16, a *attribute, w word) {
			kind = tag
			switch a.at {
			case atName:
				name = w
			case atSignature:
				sig = w
			case atSpecification, 0x54: // DW_AT_extension
				next = p.u.refer(w)
			}
		})
		if err != nil {
			return "", err
		}
		if name.form != 0 {
			return p.u.text(name, maxName)
		}
		if sig.form == formRefSig8 {
			t, err := p.u.obj.typeUnit(sig.v)
			if err != nil {
				return "", err
			}
			if t != nil && t.typeOff >= 0 && t.typeOff < t.end-t.off {
				if err := t.rootOf(); err != nil {
					return "", err
				}
				o, u, r = t.obj, t, t.ref(t.off+t.typeOff)
				continue
			}
		}
		if next == noRef {
			if kind == tagNamespace {
				return "(anonymous namespace)", nil
			}
			return "(anonymous class)", nil
		}
		r, o, u = next, p.u.obj, p.u
	}
	return "", nil
}

// readScopes lists the scopes of a unit in one pass over its entries.
//
// The list is in the order of the entries, so parents come before their children and within can
// search it by offset. An entry's end is known when the 0 that closes it is read; until then it is
// the unit's end.
func (u *unit) readScopes() error {
	if u.scoped {
		return nil
	}
	sec := u.sec()
	if !u.obj.d.allow(workScopes, u.end-u.off, sec.size) {
		return sec.errorf(u.off, "units that few names refer to", "many that name each other")
	}
	b, err := sec.bytes(u.root, u.end-u.root)
	if err != nil {
		return err
	}
	t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
	if err != nil {
		return err
	}
	// scope is the innermost scope around the children, opened the one that ends with them (-1:
	// none).
	type level struct{ scope, opened int32 }
	stack := []level{{-1, -1}}
	r := reader{b: b, big: u.obj.big}
	for r.left() > 0 && len(stack) <= maxDepth {
		at := r.p
		code := r.uleb()
		if code == 0 {
			if n := len(stack) - 1; n > 0 {
				if s := stack[n].opened; s >= 0 {
					u.scopes[s].end = u.root + int64(r.p)
				}
				stack = stack[:n]
			}
			if len(stack) == 1 {
				break
			}
			continue
		}
		a := t.get(code)
		if a == nil {
			break
		}
		first := r.p
		in := stack[len(stack)-1].scope
		switch {
		case !a.children:
		case a.tag == tagNamespace || a.kind == kindType || a.tag == tagEnumerationType || a.tag == tagModule:
			if err := u.obj.hold(sec, scopeMemory); err != nil {
				u.dropScopes()
				return err
			}
			u.scopes = append(u.scopes, scope{u.root + int64(at), u.end, in, a.kind == kindType})
			s := int32(len(u.scopes) - 1)
			stack = append(stack, level{s, s})
		case a.kind == kindLeaf:
			if to := u.siblingOf(&r, a, u.root, first); to > 0 {
				r.p = int(to - u.root)
				continue
			}
			stack = append(stack, level{in, -1})
		default:
			stack = append(stack, level{in, -1})
		}
		r.skipEntry(a.skips, u.encoding)
		if r.bad {
			break
		}
	}
	u.scoped = true
	return nil
}

// siblingOf returns the section offset in an entry's DW_AT_sibling, or 0 if it has none or one that
// is not after it in the unit. The reader's bytes begin at section offset base, the entry's
// attributes at index first of them.
func (u *unit) siblingOf(r *reader, a *abbrev, base int64, first int) int64 {
	if a.sibling < 0 {
		return 0
	}
	s := reader{b: r.b, p: first, big: r.big}
	if a.sibBytes >= 0 {
		s.skip(uint64(a.sibBytes))
	} else {
		for i := range a.attrs[:a.sibling] {
			s.word(u.encoding, &a.attrs[i], base)
		}
	}
	w := s.word(u.encoding, &a.attrs[a.sibling], base)
	switch w.form {
	case formRef1, formRef2, formRef4, formRef8:
		if to := u.off + int64(w.v); !s.bad && w.v < 1<<40 && to > base+int64(s.p) && to <= u.end {
			return to
		}
	}
	return 0
}
