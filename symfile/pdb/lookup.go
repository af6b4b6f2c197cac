package pdb

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// answerOf is the answer that goes with an error: Needs if bytes are missing that the caller can
// fetch, else No.
func answerOf(err error) symbol.Answer {
	if input.Needs(err) {
		return symbol.Needs
	}
	return symbol.No
}

// Lookup is the function, source line and inlined calls at an address of the module; where no
// function is known, the name that the linker has for it, as a public symbol. Of bytes that are not
// here yet the error is a *input.NeedError.
func (f *File) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	s, ok, err := f.lookup(rva)
	switch {
	case err != nil:
		return symbol.Symbol{}, answerOf(err), err
	case !ok:
		return symbol.Symbol{}, symbol.No, nil
	}
	return s, symbol.Yes, nil
}

// around is the part in the module of a range of addresses, as they were linked, that an address of
// the module is in. The address is linked there; if it is not exact, it may be outside of the range
// for all that.
func (f *File) around(rva, linked uint64, exact bool, start, size uint64) (symbol.Range, bool, error) {
	if f.toSource == nil {
		return symbol.Range{Start: start, Size: size}, true, nil
	}
	parts, err := f.moved(start, size)
	if err != nil {
		return symbol.Range{}, false, err
	}
	for _, p := range parts {
		if rva-p.Start < p.Size {
			return p, true, nil
		}
	}
	return symbol.Range{Start: start + (rva - linked), Size: size}, exact, nil
}

// lookup is Lookup, with false for an address that nothing is known about. The way from an address to
// a name has five steps:
//
//	rva       by OMAP    the address as it was linked
//	linked    split      section and offset
//	section   contributions.find   the object file ("module") that gave this code
//	module    function   the function's record in the module's stream
//	record    describe   name, line, inlined calls
//
// Code of an object file without symbols has the nearest public name instead.
func (f *File) lookup(rva uint64) (symbol.Symbol, bool, error) {
	linked, exact, ok, err := f.linked(rva)
	if err != nil || !ok || f.contributions == nil {
		return symbol.Symbol{}, false, err
	}
	number, off, ok := f.split(linked)
	if !ok {
		return symbol.Symbol{}, false, nil
	}
	key := sectionOffset(number, off)
	// Where a range of the section that the address is in begins in the module.
	begin := func(at uint64, size uint32) (uint64, bool, error) {
		in, ok, err := f.around(rva, linked, exact, linked-(key-at), uint64(size))
		return in.Start, ok, err
	}

	from, covered, err := f.contributions.find(number, off)
	if err != nil {
		return symbol.Symbol{}, false, err
	}
	var m *moduleData
	if covered {
		if m, err = f.module(from.module); err != nil {
			return symbol.Symbol{}, false, err
		}
		fn, at, size, err := m.function(key)
		if err != nil {
			return symbol.Symbol{}, false, err
		}
		if fn != nil {
			in, ok, err := f.around(rva, linked, exact, linked-(key-at), uint64(size))
			if err != nil || !ok {
				return symbol.Symbol{}, false, err
			}
			s, err := m.describe(fn, key, at, size, begin)
			s.Start, s.Size = in.Start, in.Size
			return s, true, err
		}
	}
	// Code that was put in after linking may be in a function, which a size bounds. A public name
	// has no size, so it may be the name of other code.
	if !exact {
		return symbol.Symbol{}, false, nil
	}
	s, ok, err := f.publicAt(m, key, rva, from, covered)
	if err != nil || !ok || m == nil || m.s == nil {
		return s, ok, err
	}
	// Assembler code has lines and no functions.
	lines, err := m.linesIn(from.key(), from.size)
	if err != nil {
		return s, false, err
	}
	if l := spanAt(lines, off); l != nil {
		s.Line, s.HasLine = l.line, true
		if s.File, err = m.file(l.file); err == nil {
			s.LineStart, _, err = begin(sectionOffset(number, l.start), l.end-l.start)
		}
	}
	return s, true, err
}

// beginning is a function that says where a range of a section, which the address that is looked up
// had when it was linked, begins in the module; false if the address is not in it now.
type beginning func(at uint64, size uint32) (uint64, bool, error)

// describe is what a module says about an address (key) in a function, whose part around it begins at
// at and has size bytes.
func (m *moduleData) describe(fn *function, key, at uint64, size uint32, begin beginning) (symbol.Symbol, error) {
	// The spans of sites are nested, so the deepest one that covers the address has all the others
	// around it.
	s := symbol.Symbol{Inlines: []symbol.Inline{}}
	var err error
	if s.Name, err = m.name(fn); err != nil {
		return s, err
	}
	lines, err := m.linesIn(at, size)
	if err != nil {
		return s, err
	}
	off, section := uint32(key), uint16(key>>32)
	sites, err := m.inlineSites(fn)
	if err := m.f.pass(err); err != nil {
		return s, err
	}
	// A line begins where a symbol file's record of it does: after or before calls that were
	// inlined.
	if m.inner == nil || m.innerOf != at {
		m.inner, m.innerOf = innermost(lines, sites), at
	}
	if l := spanAt(m.inner, off); l != nil {
		start, ok, err := begin(sectionOffset(section, l.start), l.end-l.start)
		if err != nil || !ok {
			return s, err
		}
		s.LineStart = start
	}
	if l := spanAt(lines, off); l != nil {
		s.Line, s.HasLine = l.line, true
		if s.File, err = m.file(l.file); err != nil {
			return s, err
		}
	}
	deepest := -1
	for i := range sites {
		if (deepest < 0 || sites[i].depth > sites[deepest].depth) && spanAt(sites[i].lines, off) != nil {
			deepest = i
		}
	}
	// From the innermost call outwards, as symbol.Symbol has them. Each site's line is one inside
	// of it.
	for i := deepest; i >= 0; i = sites[i].parent {
		l, r := spanAt(sites[i].lines, off), spanAt(sites[i].ranges, off)
		in := symbol.Inline{Line: l.line, HasLine: true}
		if in.Start, _, err = begin(sectionOffset(section, r.start), r.end-r.start); err != nil {
			return s, err
		}
		if in.Name, err = m.callName(sites[i].id); err != nil {
			return s, err
		}
		if in.File, err = m.file(l.file); err != nil {
			return s, err
		}
		s.Inlines = append(s.Inlines, in)
	}
	return s, nil
}

// name is a function's name with its parameters.
func (m *moduleData) name(fn *function) (string, error) {
	rec, err := m.record(int64(fn.off))
	if err != nil {
		return "", err
	}
	// The record has the bare name with its namespaces, "std::swap<int>". The parameters come from
	// its type.
	text := name(fn.kind, rec, procName)
	number := u32(rec, 28)
	if typeIsID(fn.kind) {
		if number, err = m.f.idType(number); err != nil {
			return text, m.f.pass(err)
		}
	}
	args, err := m.f.parameters(number)
	return text + args, err
}

// publicAt is the linker's name for an address: the nearest before it that is in the same
// contribution, if one covers it, and not that of a function which ends before the address. A thunk
// that has no name of its own there has that of its module.
func (f *File) publicAt(m *moduleData, key, rva uint64, from contribution, covered bool) (symbol.Symbol, bool, error) {
	p, err := f.openPublics()
	if err != nil {
		return symbol.Symbol{}, false, err
	}
	// With an OMAP it is only right as far as nothing between the name and the address was moved.
	address := func(at uint64) uint64 { return rva - (key - at) }
	text, at, ok, err := p.find(key)
	if err := f.pass(err); err != nil {
		return symbol.Symbol{}, false, err
	}
	// A name before the start of the contribution belongs to another object file.
	if covered && at < from.key() {
		ok = false
	}
	s := symbol.Symbol{Name: text, Start: address(at), Public: true, Inlines: []symbol.Inline{}}
	if m == nil {
		return s, ok, nil
	}
	if err := m.index(); err != nil {
		return s, false, err
	}
	if i := lastUpTo(m.functions, key, (*function).start); i >= 0 && m.functions[i].at >= at {
		ok = false // that function is known to have ended before the address
	}
	if t := m.thunk(key); t != nil && (!ok || at < t.at) {
		s.Name, s.Start, s.Size = t.name, address(t.at), uint64(t.size)
		if t.name == "" {
			if s.Name, err = f.nameOf(t.target); err != nil {
				return s, false, err
			}
		}
		return s, s.Name != "", nil
	}
	return s, ok, nil
}

// nameOf is the name of the function at a section's byte, "" if none is known.
func (f *File) nameOf(key uint64) (string, error) {
	from, covered, err := f.contributions.find(uint16(key>>32), uint32(key))
	if err != nil {
		return "", err
	}
	if covered {
		m, err := f.module(from.module)
		if err != nil {
			return "", err
		}
		if fn, at, _, err := m.function(key); err != nil {
			return "", err
		} else if fn != nil && at == key {
			return m.name(fn)
		}
	}
	p, err := f.openPublics()
	if err != nil {
		return "", err
	}
	text, at, ok, err := p.find(key)
	if err != nil || !ok || at != key {
		return "", err
	}
	return text, nil
}
