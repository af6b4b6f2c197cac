package symfile

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// function is a FUNC with what belongs to it, decoded.
type function struct {
	name     string
	params   uint32
	multiple bool
	lines    []fnLine   // by address, without overlaps
	inlines  []fnInline // by nest level, then address
}

type fnLine struct {
	start, size uint64
	line, file  uint32
}

type fnInline struct {
	start, size uint64
	// high is the highest end address of the ranges of this level up to this one: where a search backwards can stop.
	high                              uint64
	level, callLine, callFile, origin uint32
}

const (
	// maxFns and maxFnLines bound the cache of decoded functions, in functions and in their lines and inlined ranges.
	maxFns     = 1024
	maxFnLines = 256 << 10
	// maxInlined bounds how many inlined calls one address has; the deepest seen in a real program is 27.
	maxInlined = 1000
)

// function decodes a FUNC of the index, or takes it from the cache: a recursion asks for the same one again and again.
func (f *File) function(r *rec) (*function, error) {
	if fn, ok := f.fns[r.off]; ok {
		return fn, nil
	}
	fn := &function{lines: f.decoded.lines[:0], inlines: f.decoded.inlines[:0]}
	first, sure := true, false
	err := f.spans(r, func(b []byte, _ int) {
		if first {
			first = false
			rest, _ := keyword(b, "FUNC")
			rec, ok := parseFunc(rest)
			sure = ok && rec.rva == r.rva
			fn.name, fn.params, fn.multiple = string(rec.name), rec.params, rec.multiple
			if fn.name == "" {
				fn.name = nameless
			}
			return
		}
		l, ok := plainLine(b)
		if !ok {
			if rest, ok := keyword(b, "INLINE"); ok {
				fn.addInline(rest)
				return
			}
			l, ok = parseLine(b)
		}
		if ok && l.size > 0 && l.rva+l.size > l.rva {
			fn.lines = append(fn.lines, fnLine{start: l.rva, size: l.size, line: l.line, file: l.file})
		}
	})
	if f.decoded.lines, f.decoded.inlines = fn.lines, fn.inlines; cap(fn.lines)+cap(fn.inlines) > maxDecoded {
		f.decoded = decoded{} // what is so large comes once
	}
	if err == nil {
		err = f.sure(sure)
	}
	if err != nil {
		return nil, err
	}
	fn.settle(&f.decoded.dealt)
	fn.lines, fn.inlines = slices.Clone(fn.lines), slices.Clone(fn.inlines)
	n := len(fn.lines) + len(fn.inlines)
	if len(f.fns) >= maxFns || f.fnLines+n > maxFnLines {
		clear(f.fns)
		f.fnLines = 0
	}
	f.fnLines += n
	f.fns[r.off] = fn
	return fn, nil
}

// addInline takes an INLINE record in, unless a field of it is wrong.
func (fn *function) addInline(rest []byte) {
	r, ok := parseInline(rest)
	if !ok {
		return
	}
	have := len(fn.inlines)
	for {
		start, size, ok := r.ranges.next()
		if !ok {
			if r.ranges.bad {
				fn.inlines = fn.inlines[:have]
			}
			return
		}
		if size > 0 && start+size > start {
			fn.inlines = append(fn.inlines, fnInline{start: start, size: size, level: r.level,
				callLine: r.callLine, callFile: r.callFile, origin: r.origin})
		}
	}
}

// maxDecoded bounds the room that is kept, in lines and inlined ranges.
const maxDecoded = 32 << 10

// decoded is room to decode a FUNC in, since it is not known before how much belongs to it.
type decoded struct {
	lines          []fnLine
	inlines, dealt []fnInline
}

// settle sorts what was decoded. Of lines that overlap one stays, as of FUNCs (see exclusive). dealt is room for sortInlines.
func (fn *function) settle(dealt *[]fnInline) {
	for i := 1; i < len(fn.lines); i++ {
		if a, b := &fn.lines[i-1], &fn.lines[i]; b.start < a.start || b.start == a.start && b.size < a.size {
			sortFew(fn.lines, func(a, b fnLine) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.size, b.size)) })
			break
		}
	}
	kept := fn.lines[:0]
	for _, l := range fn.lines {
		if n := len(kept); n > 0 && l.start-kept[n-1].start < kept[n-1].size {
			continue
		}
		kept = append(kept, l)
	}
	fn.lines = kept

	// The nest level and the address say which call holds which, never the order of the records: Mozilla's dump_syms writes
	// them by address, a child sometimes before its parent. Among ranges with the same start the shortest comes last and is
	// found first.
	sortInlines(fn.inlines, dealt)
	for i := range fn.inlines {
		in := &fn.inlines[i]
		in.high = in.start + in.size
		if i > 0 && fn.inlines[i-1].level == in.level {
			in.high = max(in.high, fn.inlines[i-1].high)
		}
	}
}

// sortInlines sorts by nest level, then address. Writers have the ranges of a level by address already, so that they need
// only be dealt out by level, into room that is made if there is too little.
func sortInlines(all []fnInline, room *[]fnInline) {
	var top uint32
	for i := range all {
		top = max(top, all[i].level)
	}
	// after: a belongs behind b.
	after := func(a, b *fnInline) bool {
		switch {
		case a.level != b.level:
			return a.level > b.level
		case a.start != b.start:
			return a.start > b.start
		}
		return a.size < b.size
	}
	if top < maxInlined && len(all) > 16 {
		from := make([]int, top+2) // where each level begins
		for i := range all {
			from[all[i].level+1]++
		}
		for level := range top {
			from[level+1] += from[level]
		}
		if cap(*room) < len(all) {
			*room = make([]fnInline, 2*len(all))
		}
		dealt := (*room)[:len(all)]
		for i := range all {
			at := &from[all[i].level]
			dealt[*at] = all[i]
			*at++
		}
		copy(all, dealt)
	}
	// Most are in their places by now, the others not far from them.
	moves := 16 * len(all)
	for i := 1; i < len(all); i++ {
		if !after(&all[i-1], &all[i]) {
			continue
		}
		in, at := all[i], i
		for ; at > 0 && after(&all[at-1], &in); at-- {
			all[at] = all[at-1]
			if moves--; moves == 0 {
				all[at-1] = in
				sortFew(all, func(a, b fnInline) int {
					return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.start, b.start), cmp.Compare(b.size, a.size))
				})
				return
			}
		}
		all[at] = in
	}
}

func (fn *function) lineAt(rva uint64) (fnLine, bool) {
	i, exact := slices.BinarySearchFunc(fn.lines, rva, func(l fnLine, v uint64) int { return cmp.Compare(l.start, v) })
	if !exact {
		i--
	}
	if i < 0 || rva-fn.lines[i].start >= fn.lines[i].size {
		return fnLine{}, false
	}
	return fn.lines[i], true
}

// inlineAt is the inlined call of a nest level that covers an address.
func (fn *function) inlineAt(level uint32, rva uint64) (*fnInline, bool) {
	i, _ := slices.BinarySearchFunc(fn.inlines, rva, func(in fnInline, v uint64) int {
		if c := cmp.Compare(in.level, level); c != 0 {
			return c
		}
		if in.start <= v {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && fn.inlines[i].level == level && fn.inlines[i].high > rva; i-- {
		if in := &fn.inlines[i]; rva-in.start < in.size {
			return in, true
		}
	}
	return nil, false
}

// Lookup is the function, source line and inlined calls at a module-relative address. The caller gives the address inside
// the call, not the return address.
//
// A FUNC that covers the address wins. Else it is the nearest PUBLIC at or below it, which reaches to the next PUBLIC or to
// the start of the next FUNC: if a FUNC starts between the two, or where the PUBLIC does, there is no symbol. Both peers do
// so.
//
// Line records describe the innermost inlined call; each call further out has the place of the call site in it. A line
// number of 0 (code of no line) is given as it stands, with HasLine. A FILE number without a record gives a line without
// File.
//
// The Answer is Yes or No. With an error of the Source the Answer is Needs if it is a *input.NeedError, else No. The
// Inlines of two Symbols never share memory.
func (f *File) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	if s, ok := f.symbols[rva]; ok { // a recursion asks for the same few again and again
		s.Inlines = slices.Clone(s.Inlines)
		return s, symbol.Yes, nil
	}
	s, ans, err := settled(f, func() (symbol.Symbol, symbol.Answer, error) { return f.lookup(rva) })
	if ans == symbol.Yes {
		kept := s
		kept.Inlines = slices.Clone(s.Inlines)
		remember(f.symbols, rva, kept)
	}
	return s, ans, err
}

func (f *File) lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	fn, found, err := f.funcAt(rva)
	if err != nil {
		return symbol.Symbol{}, answerOf(err), err
	}
	if found && fn.has(rva) {
		s, err := f.symbolAt(&fn, rva)
		if err != nil {
			return symbol.Symbol{}, answerOf(err), err
		}
		return s, symbol.Yes, nil
	}
	p, ok, err := f.publicAt(rva, fn, found)
	if err != nil {
		return symbol.Symbol{}, answerOf(err), err
	}
	if !ok {
		return symbol.Symbol{}, symbol.No, nil
	}
	s, err := f.public(p)
	if err != nil {
		return symbol.Symbol{}, answerOf(err), err
	}
	return s, symbol.Yes, nil
}

func (f *File) public(p rec) (symbol.Symbol, error) {
	if s, ok := f.pubNames[p.off]; ok {
		return s, nil
	}
	b, err := f.lineAt(p.off)
	if err != nil {
		return symbol.Symbol{}, err
	}
	rest, _ := keyword(b, "PUBLIC")
	r, ok := parsePublic(rest)
	if err := f.sure(ok && r.rva == p.rva); err != nil {
		return symbol.Symbol{}, err
	}
	s := symbol.Symbol{Name: string(r.name), Start: r.rva, ParamSize: r.params, Public: true, Multiple: r.multiple}
	if s.Name == "" {
		s.Name = nameless
	}
	return remember(f.pubNames, p.off, s), nil
}

func (f *File) symbolAt(r *rec, rva uint64) (symbol.Symbol, error) {
	fn, err := f.function(r)
	if err != nil {
		return symbol.Symbol{}, err
	}
	s := symbol.Symbol{Name: fn.name, Start: r.rva, Size: r.size, ParamSize: fn.params, Multiple: fn.multiple}

	line, has := fn.lineAt(rva)
	own := "" // the file of the line record
	if has {
		if own, err = f.fileName(line.file); err != nil {
			return s, err
		}
		s.File, s.Line, s.HasLine, s.LineStart = own, line.line, true, line.start
	}
	var depth uint32
	for depth < maxInlined {
		if _, ok := fn.inlineAt(depth, rva); !ok {
			break
		}
		depth++
	}
	if depth == 0 {
		return s, nil
	}
	// The place inside a call is the call site of the next inner one; of the innermost it is the line record.
	s.Inlines = make([]symbol.Inline, depth)
	for level := uint32(0); level < depth; level++ {
		in, _ := fn.inlineAt(level, rva)
		out := &s.Inlines[depth-1-level]
		if out.Name, err = f.originName(in.origin); err != nil {
			return s, err
		}
		out.Start = in.start
		site, err := f.callFile(in.callFile, own)
		if err != nil {
			return s, err
		}
		if level == 0 {
			s.File, s.Line, s.HasLine = site, in.callLine, true
			if !has {
				s.LineStart = in.start
			}
		} else {
			o := &s.Inlines[depth-level]
			o.File, o.Line, o.HasLine = site, in.callLine, true
		}
	}
	if has {
		in := &s.Inlines[0]
		in.File, in.Line, in.HasLine = own, line.line, true
	}
	return s, nil
}

// callFile is the file of a call site. INLINE records of the old form do not have it; Breakpad then takes the file of the
// line record, which is right as long as all is in one file.
func (f *File) callFile(num uint32, own string) (string, error) {
	if num == noFile {
		return own, nil
	}
	return f.fileName(num)
}
