package symfile

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// function is a FUNC with what belongs to it, decoded.
type function struct {
	name     string
	params   uint32
	multiple bool
	lines    []fnLine   // by address, without overlaps
	inlines  []fnInline // in the order of the file
}

type fnLine struct {
	start, size uint64
	line, file  uint32
}

type fnInline struct {
	start, size                       uint64
	level, callLine, callFile, origin uint32
}

const (
	// maxFns and maxFnLines bound the cache of decoded functions, in functions and in their lines
	// and inlined ranges.
	maxFns     = 1024
	maxFnLines = 256 << 10
	// maxInlined bounds how many inlined calls one address has; the deepest seen in a real program
	// is 27.
	maxInlined = 1000
	// inlinesPerStep is how many ranges of inlined calls are compared with an address in a step of work.
	inlinesPerStep = 16
)

// function decodes a FUNC of the index, or takes it from the cache: a recursion asks for the same
// one again and again.
func (f *File) function(r *rec) (*function, error) {
	if fn := f.fns[r.off]; fn != nil {
		return fn, nil
	}
	fn, err := f.decode(r)
	if err != nil {
		return nil, err
	}
	n := len(fn.lines) + len(fn.inlines)
	if len(f.fns) >= maxFns || f.fnLines+n > maxFnLines {
		clear(f.fns)
		f.fnLines = 0
	}
	f.fnLines += n
	f.fns[r.off] = fn
	return fn, nil
}

func (f *File) decode(r *rec) (*function, error) {
	fn := &function{}
	first, sure := true, false
	err := f.spans(r, func(b []byte, _ int) {
		if first {
			first = false
			rest, _ := keyword(b, "FUNC")
			rec, ok := parseFunc(rest)
			sure = ok && rec.rva == r.rva
			fn.name, fn.params, fn.multiple = string(rec.name), rec.params, rec.multiple
			fn.name = cmp.Or(fn.name, nameless)
		} else if rest, ok := keyword(b, "INLINE"); ok {
			fn.addInline(rest)
		} else if l, ok := parseLine(b); ok && l.rva+l.size > l.rva {
			fn.lines = append(fn.lines, fnLine{start: l.rva, size: l.size, line: l.line, file: l.file})
		}
	})
	if err == nil {
		err = f.sure(sure)
	}
	if err != nil {
		return nil, err
	}
	fn.settle()
	return fn, nil
}

// addInline takes an INLINE record in, unless a field of it is wrong. Code of no bytes, or beyond
// the last address, is left out.
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
		if start+size > start {
			fn.inlines = append(fn.inlines, fnInline{start, size, r.level, r.callLine, r.callFile, r.origin})
		}
	}
}

// settle sorts the lines and drops those that overlap one before them, as File.settle does with
// FUNCs.
func (fn *function) settle() {
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

// inlinesAt returns the inlined calls that cover an address, the outermost first: of each nest
// level the one that starts last, of these the shortest. The nest level and the address say which
// call holds which, never the order of the records: Mozilla's dump_syms writes them by address, a
// child sometimes before its parent.
//
// Example: INLINE 0 at [10, 50), INLINE 1 at [18, 20) and [30, 40), INLINE 2 at [44, 48). At 34 the
// calls are levels 0 and 1; at 44 only level 0, since no call of level 1 holds that of level 2.
func (fn *function) inlinesAt(rva uint64) (calls []*fnInline) {
	for i := range fn.inlines {
		in := &fn.inlines[i]
		if rva-in.start >= in.size || in.level >= maxInlined {
			continue
		}
		for len(calls) <= int(in.level) {
			calls = append(calls, nil)
		}
		if was := calls[in.level]; was == nil || in.start > was.start || in.start == was.start && in.size <= was.size {
			calls[in.level] = in
		}
	}
	if i := slices.Index(calls, nil); i >= 0 {
		calls = calls[:i]
	}
	return calls
}

// Lookup returns the function, source line and inlined calls at a module-relative address. The
// caller gives the address inside the call, not the return address.
//
// A FUNC that covers the address wins. Else it is the nearest PUBLIC at or below it, which reaches
// to the next PUBLIC or to the start of the next FUNC: if a FUNC starts between the two, or where
// the PUBLIC does, there is no symbol. Both peers do so.
//
// Line records describe the innermost inlined call; each call further out has the place of the call
// site in it. A line number of 0 (code of no line) is returned as it is, with HasLine. A FILE
// number without a record gives a line without File.
//
// The Answer is Yes or No. With an error of the Source the Answer is Needs if it is a
// *input.NeedError, else No. The Inlines of two Symbols never share memory.
func (f *File) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	if s, ok := f.symbols.get(rva); ok { // a recursion asks for the same few again and again
		s.Inlines = slices.Clone(s.Inlines)
		return s, symbol.Yes, nil
	}
	s, ans, err := settled(f, func() (symbol.Symbol, symbol.Answer, error) { return f.lookup(rva) })
	if ans == symbol.Yes {
		kept := s
		kept.Inlines = slices.Clone(s.Inlines)
		f.symbols.put(rva, kept, weightOf(&kept))
	}
	return s, ans, err
}

func (f *File) lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	at, ans, err := f.locate(rva)
	if err != nil || ans != symbol.Yes {
		return symbol.Symbol{}, ans, err
	}
	s, err := f.named(at)
	if err != nil {
		return symbol.Symbol{}, answerOf(err), err
	}
	return s, symbol.Yes, nil
}

// located is a Symbol whose files and inlined calls are known by their numbers.
type located struct {
	symbol.Symbol
	// file is the number of Symbol.File; noFile if the line has none.
	file    uint32
	inlines []locatedInline // those of Symbol.Inlines
}

type locatedInline struct {
	start        uint64
	origin, file uint32
	line         uint32
	hasLine      bool
}

// End returns the address after the last function, or 0 if no function is known or it cannot be
// read now.
func (f *File) End() uint64 {
	if !f.searches(lazy.Funcs) {
		end, _ := f.tables[tableFuncs].end()
		return end
	}
	last, ok, err := f.find(tableFuncs, ^uint64(0))
	if err != nil || !ok {
		return 0
	}
	return last.rva + last.size
}

// CodeBounds returns the bounds of the code that has functions or STACK CFI records. Without any, or
// without the full index, both are 0.
func (f *File) CodeBounds() (from, to uint64) {
	if !f.FullyIndexed() {
		return 0, 0
	}
	from = ^uint64(0)
	for _, k := range []tableKind{tableFuncs, tableInits} {
		t := &f.tables[k]
		if end, err := t.end(); err == nil && len(t.heads) > 0 {
			from, to = min(from, t.heads[0].rva), max(to, end)
		}
	}
	if to <= from {
		return 0, 0
	}
	return from, to
}

// locate finds what is at an address, without the names of its files and inlined calls: these are
// in other sections, and Prefetch reads the blocks of all names at once. The Answer is that of
// Lookup.
func (f *File) locate(rva uint64) (located, symbol.Answer, error) {
	fn, found, err := f.find(tableFuncs, rva)
	if err != nil {
		return located{}, answerOf(err), err
	}
	if found && fn.has(rva) {
		at, err := f.locateIn(&fn, rva)
		if err != nil {
			return located{}, answerOf(err), err
		}
		return at, symbol.Yes, nil
	}
	p, ok, err := f.find(tablePublics, rva)
	if err != nil {
		return located{}, answerOf(err), err
	}
	if !ok {
		return located{}, symbol.No, nil
	}
	s, err := f.public(p)
	if err == nil {
		s.Extent, err = f.extent(p.rva, rva)
	}
	if err != nil {
		return located{}, answerOf(err), err
	}
	return located{Symbol: s, file: noFile}, symbol.Yes, nil
}

// maxParts is how many records of one function on Windows extent follows.
const maxParts = 64

// extent says by the unwind records how far the function of a PUBLIC record reaches.
func (f *File) extent(public, rva uint64) (symbol.Extent, error) {
	if rva == public {
		return symbol.Covers, nil
	}
	r, covers, err := f.find(tableInits, rva)
	if err != nil {
		return 0, err
	}
	if r == (rec{}) {
		return f.extentByWin(public, rva)
	}
	// If a function may have several records, the code of two functions may touch as well. So
	// nothing is known about a name from which records lead to the address without a gap.
	for n := 0; f.Module.inParts() && covers && r.rva > public && n < maxParts; n++ {
		before, touches, err := f.find(tableInits, r.rva-1)
		if err != nil || !touches {
			return symbol.Passed, err
		}
		if r = before; r.rva <= public {
			return symbol.Nearest, nil
		}
	}
	return symbol.ExtentOf(public, r.rva, r.rva+r.size, rva), nil
}

// extentByWin is extent by STACK WIN records. One describes a whole function, and those
// inside it describe parts.
func (f *File) extentByWin(public, rva uint64) (symbol.Extent, error) {
	extent := symbol.Nearest
	for _, kind := range [2]tableKind{tableWin4, tableWin0} {
		_, at, err := f.find(kind, rva)
		if err != nil {
			return 0, err
		}
		_, own, err := f.find(kind, public)
		if err != nil {
			return 0, err
		}
		r, both, err := f.innermost(kind, public, rva)
		switch {
		case err != nil:
			return 0, err
		case both:
			return symbol.ExtentOf(public, r.rva, r.rva+r.size, rva), nil
		case at || own:
			extent = symbol.Passed
		}
	}
	return extent, nil
}

func (f *File) public(p rec) (symbol.Symbol, error) {
	if s, ok := f.pubNames.get(p.off); ok {
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
	s.Name = cmp.Or(s.Name, nameless)
	return f.pubNames.put(p.off, s, weightOf(&s)), nil
}

// locateIn is locate for an address in a FUNC.
func (f *File) locateIn(r *rec, rva uint64) (located, error) {
	fn, err := f.function(r)
	if err != nil {
		return located{}, err
	}
	at := located{Symbol: symbol.Symbol{Name: fn.name, Start: r.rva, Size: r.size, ParamSize: fn.params, Multiple: fn.multiple}, file: noFile}
	line, has := fn.lineAt(rva)
	own := uint32(noFile) // the file of the line record
	if has {
		own = line.file
		at.file, at.Line, at.HasLine, at.LineStart = own, line.line, true, line.start
	}
	if err := f.src.Draw(input.Work, int64(len(fn.inlines)/inlinesPerStep)); err != nil {
		return located{}, f.src.Wrap("FUNC record", r.off, err)
	}
	calls := fn.inlinesAt(rva)
	depth := uint32(len(calls))
	if depth == 0 {
		return at, nil
	}
	// The place inside a call is the call site of the next inner one; of the innermost it is the
	// line record.
	at.inlines = make([]locatedInline, depth)
	for level := uint32(0); level < depth; level++ {
		in := calls[level]
		out := &at.inlines[depth-1-level]
		out.origin, out.start = in.origin, in.start
		// INLINE records of the old form do not have the file of the call site; Breakpad then takes
		// the file of the line record, which is right as long as all is in one file.
		site := in.callFile
		if site == noFile {
			site = own
		}
		if level == 0 {
			at.file, at.Line, at.HasLine = site, in.callLine, true
			if !has {
				at.LineStart = in.start
			}
		} else {
			o := &at.inlines[depth-level]
			o.file, o.line, o.hasLine = site, in.callLine, true
		}
	}
	in := &at.inlines[0]
	in.file = noFile
	if has {
		in.file, in.line, in.hasLine = own, line.line, true
	}
	return at, nil
}

// named adds the names of files and inlined calls to what was located. In a Prefetch it goes on
// after a missing block, so that one round of reads has the blocks of all names, and returns
// lazy.ErrMissing at the end.
func (f *File) named(at located) (symbol.Symbol, error) {
	s := at.Symbol
	var missing error // of a Prefetch: the blocks of all names are read together
	s.File, missing = f.fileOf(at.file)
	if len(at.inlines) == 0 || missing != nil && missing != lazy.ErrMissing {
		return s, missing
	}
	s.Inlines = make([]symbol.Inline, len(at.inlines))
	for i, in := range at.inlines {
		out := &s.Inlines[i]
		out.Start, out.Line, out.HasLine = in.start, in.line, in.hasLine
		var err, problem error
		out.Name, err = f.originName(in.origin)
		out.File, problem = f.fileOf(in.file)
		if err = cmp.Or(err, problem); err != nil && err != lazy.ErrMissing {
			return s, err
		}
		missing = cmp.Or(missing, err)
	}
	return s, missing
}

// fileOf returns the name of a file, "" of none.
func (f *File) fileOf(num uint32) (string, error) {
	if num == noFile {
		return "", nil
	}
	return f.fileName(num)
}
