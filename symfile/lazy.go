package symfile

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// smallFile is the size in bytes up to which OpenOnDemand makes the full index at once: it takes
// some milliseconds.
const smallFile = 4 << 20

// OpenOnDemand opens a symbol file so that lookups read only some of its blocks (see package lazy). They
// answer what Open's File answers, if the file is sorted as all writers sort it. A STACK section
// that is not sorted is indexed by a pass over that section, any other file by one over all of it.
// Blocks that were not read may be out of order without being noticed: Complete reads them. Files
// below 4 MiB are read at once.
//
// Numbers of lines are 0, and Counts and Warnings are empty, until the file is FullyIndexed. It is
// FullyIndexed from the start with an index next to the file (input.Source.Index); an index that
// cannot be used leaves a warning. Errors are as of Open.
func OpenOnDemand(src *input.Source, opt Options) (*File, error) {
	if src.Size < smallFile {
		return Open(src, opt)
	}
	return openOnDemand(src, opt)
}

// openWithout is openOnDemand for a file whose index cannot be used. why becomes a warning.
func openWithout(src *input.Source, opt Options, why error) (*File, error) {
	src.Index = nil
	f, err := openOnDemand(src, opt)
	if err == nil && f.warn(unusedIndex, 0) {
		f.say("the index next to the file is not used: %v", why)
	}
	return f, err
}

func openOnDemand(src *input.Source, opt Options) (*File, error) {
	if src.Index != nil {
		f, err := OpenIndexed(src, src.Index, opt)
		if err != nil && !src.Interrupted(err) {
			return openWithout(src, opt, err)
		}
		return f, err
	}
	f := newFile(src, opt)
	f.reset()
	var err error
	if f.lazy, err = lazy.Open(src, cmp.Or(opt.Slice, lazy.BlockSize), searchedLine); err == nil {
		f.text = f.lazy.Text
		err = f.header()
	}
	if errors.As(err, new(lazy.Unsorted)) {
		err = f.readAll(opt.Progress)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// sections has the section of each kind of record. Lines and INLINE records belong to the section
// of their FUNC.
var sections = [...]lazy.Section{recordFile: lazy.Files, recordOrigin: lazy.Origins, recordFunc: lazy.Funcs, recordInline: lazy.Funcs,
	recordLine: lazy.Funcs, recordPublic: lazy.Publics, recordWin: lazy.Win, recordInit: lazy.CFI, recordDelta: lazy.CFI, recordInfo: lazy.None}

// searchedLine returns what package lazy needs to know about a line. Head is set for the records that
// a search finds. A PUBLIC at address 0 is left out, as in the index (gotPublic).
func searchedLine(line []byte) lazy.Line {
	if len(line) == 0 {
		return lazy.Line{}
	}
	switch c := line[0]; { // most lines of a file by far
	case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		return lazy.Line{Section: lazy.Funcs}
	case c == bom[0]:
		line = bytes.TrimPrefix(line, bom)
	}
	r := classify(line)
	searched := r.is == recordFile || r.is == recordOrigin || r.is == recordFunc || r.is == recordInit || r.is == recordPublic
	return lazy.Line{Section: sections[r.is], Head: searched && r.ok && !(r.is == recordPublic && r.key == 0), Bad: searched && !r.ok, Key: r.key, Size: r.size}
}

// header reads the MODULE and INFO records at the beginning, and the INFO records that suppliers of
// symbols append to the end, such as INFO URL. A file without a MODULE record is indexed as a
// whole.
func (f *File) header() error {
	err := f.lazy.Lines(0, 0, func(b []byte) bool {
		b = trimEOL(bytes.TrimPrefix(b, bom))
		if rest, ok := keyword(b, "MODULE"); ok && !f.HasModule {
			f.Module, f.HasModule = parseModule(rest)
		} else if rest, ok := keyword(b, "INFO"); ok {
			f.info(rest)
		} else if len(b) > 0 {
			return false
		}
		return true
	})
	if err == nil && !f.HasModule {
		err = lazy.Unsorted{Section: lazy.All}
	}
	if err != nil {
		return err
	}
	const near = 1 << 10
	whole := false // the first line may be cut
	return f.lazy.Lines(max(0, f.src.Size-near), 0, func(b []byte) bool {
		if rest, ok := keyword(b, "INFO"); ok && whole {
			f.info(rest)
		}
		whole = true
		return true
	})
}

// FullyIndexed reports whether lookups use an index of the whole file.
func (f *File) FullyIndexed() bool { return f.lazy == nil }

// Sorted reports whether lookups need no pass over a part of the file, as far as they know: it is
// fully indexed, or they have met no section out of order.
func (f *File) Sorted() bool { return f.lazy == nil || f.lazy.Sorted() }

// HasSymbols reports whether the file can name any code. It, HasUnwind, HasLines and HasInlines are
// known without reading the file.
func (f *File) HasSymbols() bool {
	return f.has(f.Counts.HasSymbols(), lazy.Funcs, lazy.Publics)
}

// HasUnwind reports whether the file can unwind any code.
func (f *File) HasUnwind() bool { return f.has(f.Counts.HasUnwind(), lazy.Win, lazy.CFI) }

// HasLines reports whether the file knows source files.
func (f *File) HasLines() bool { return f.has(f.Counts.LineRecords > 0, lazy.Files) }

// HasInlines reports whether the file knows calls that were inlined.
func (f *File) HasInlines() bool { return f.has(f.Counts.Inlines > 0, lazy.Origins) }

// has returns what the counts of a file say, or, of a file that is searched, whether one of the
// sections is present.
func (f *File) has(counted bool, sections ...lazy.Section) bool {
	if f.lazy == nil {
		return counted
	}
	return slices.ContainsFunc(sections, f.lazy.Present)
}

// Complete reads the whole file, after which lookups use its full index. An error, which is one of
// the Source, changes nothing.
func (f *File) Complete(progress func(done, total int64)) error {
	if f.lazy != nil || f.index != nil {
		return f.readAll(progress)
	}
	return nil
}

// Adopt takes the index of another File of the same Source, which Open or OpenIndexed made
// meanwhile.
func (f *File) Adopt(full *File) { f.become(full) }

// Revised reports, once, whether lookups must be repeated, because an index has replaced a search
// or a search an index. The session then walks the stacks again.
func (f *File) Revised() bool {
	r := f.revised
	f.revised = false
	return r
}

// readAll makes the pass over the whole file.
func (f *File) readAll(progress func(done, total int64)) error {
	opt := f.opt
	opt.Progress = progress
	n, err := Open(f.src, opt)
	if err != nil {
		return err
	}
	n.opt = f.opt
	f.become(n)
	return nil
}

// dropIndex replaces an index that turned out wrong by a search.
func (f *File) dropIndex() error {
	n, err := openWithout(f.src, f.opt, f.wrong)
	if err == nil {
		f.become(n)
	}
	return err
}

// become replaces f's index or search by that of n. The warning about an unusable index is kept.
func (f *File) become(n *File) {
	n.revised = true
	for _, w := range f.Warnings {
		if w.kind == unusedIndex && n.warn(unusedIndex, 0) {
			n.say("%s", w.Text)
			sortFew(n.Warnings, func(a, b Warning) int { return a.Line - b.Line })
		}
	}
	*f = *n
	f.reset()
}

// indexSection indexes a STACK section by a pass over it. Lookups read the deltas of an INIT as in
// a search.
func (f *File) indexSection(section lazy.Section) error {
	from, to, err := f.lazy.Range(section)
	if err != nil {
		return err
	}
	s := &scanner{f: newFile(f.src, f.opt), section: section}
	progress := f.opt.Progress
	if progress != nil { // the size is reported before anything is read
		progress = func(done, _ int64) { f.opt.Progress(done-from, to-from) }
		progress(from, 0)
	}
	if err := s.runAll(f.src, from, to, progress); err != nil {
		return err
	}
	for k := range f.tables {
		if t := tableKind(k); tableSection[k] == section {
			s.f.settle(t)
			f.tables[k] = s.f.tables[k]
		}
	}
	f.indexed[section], f.revised = true, true
	f.lazy.SetIndexed(section)
	f.reset()
	return nil
}

// tableSection has the section that each table's records are in.
var tableSection = [numTables]lazy.Section{lazy.Funcs, lazy.CFI, lazy.Win, lazy.Win, lazy.Publics, lazy.Files, lazy.Origins}

// settled runs a lookup, and repeats it as long as it fails with lazy.Unsorted. Before each
// repetition it makes what the lookup needs:
//
//	a STACK section out of order         an index of that section
//	a wrong index next to the file        a search without it
//	anything else                        the full index, by a pass over the file
//
// In a Prefetch it does none of this: the lookup that follows does.
func settled[T, A any](f *File, do func() (T, A, error)) (v T, a A, err error) {
	for {
		v, a, err = do()
		var u lazy.Unsorted
		if err == nil || f.batch || !errors.As(err, &u) {
			return v, a, err
		}
		var failed error
		if f.lazy != nil && (u.Section == lazy.CFI || u.Section == lazy.Win) && !f.indexed[u.Section] {
			failed = f.indexSection(u.Section)
		} else if f.index != nil && f.index == f.src.Index {
			failed = f.dropIndex()
		} else {
			failed = f.readAll(f.opt.Progress)
		}
		if errors.As(failed, &u) {
			failed = f.readAll(f.opt.Progress)
		}
		if failed != nil {
			return v, a, failed
		}
	}
}

// Prefetch looks up the unwind records at the addresses in rules, and the symbols at those in
// functions, where the Source reads many ranges at once faster than one after the other. The
// results are cached for the lookups that follow. Prefetching never changes a result, and its
// errors are dropped: the lookup that needs the bytes reports them.
func (f *File) Prefetch(rules, functions []uint64) {
	if !input.ReadsMany(f.src) {
		return
	}
	rule := func(rva uint64) error {
		c, covered, err := f.cfi(rva)
		if err == nil && covered {
			f.cfis.put(rva, c, c.weight())
		} else if err == nil {
			_, _, err = f.frameData(rva)
		}
		return err
	}
	name := func(rva uint64) error {
		s, ok, err := f.lookup(rva)
		if err == nil && ok == symbol.Yes {
			f.symbols.put(rva, s, weightOf(&s))
		}
		return err
	}
	rules = lacking(rules, f.NeedsPrefetch)
	functions = lacking(functions, func(rva uint64) bool { return !f.symbols.has(rva) })
	f.batch = true
	defer func() { f.batch = false }()
	// The next lookup of what is lacking returns the error.
	f.text.Batch(len(rules)+len(functions), func(i int) error {
		if i < len(rules) {
			return rule(rules[i])
		}
		return name(functions[i-len(rules)])
	})
}

// lacking returns those addresses that are lacking, sorted and each once.
func lacking(list []uint64, isLacking func(uint64) bool) []uint64 {
	list = slices.DeleteFunc(slices.Clone(list), func(rva uint64) bool { return !isLacking(rva) })
	slices.Sort(list)
	return slices.Compact(list)
}

// NeedsPrefetch reports whether Prefetch would help to find the unwind records at an address.
func (f *File) NeedsPrefetch(rva uint64) bool {
	return input.ReadsMany(f.src) && !f.rows.has(rva) && !f.cfis.has(rva)
}
