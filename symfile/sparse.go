package symfile

import (
	"errors"

	"github.com/crashpane/crashpane/core/input"
)

// smallFile is the size in bytes up to which OpenSparse makes the pass at once: it takes some milliseconds.
const smallFile = 4 << 20

// OpenSparse opens a symbol file without reading it: after some tens of reads that find its sections, lookups search the
// file where it lies. What they answer is what Open's File answers, as far as the file is sorted as all writers sort it; a
// group of sections that turns out not to be is indexed by a pass over that group, and a file whose sections are mixed up
// by one over all of it. Only what was read can be noticed: Complete reads the rest. Small files are read at once.
//
// Numbers of lines are not known (0), and neither are Counts and Warnings, until the file is Exact. Errors are as of Open.
func OpenSparse(src *input.Source, opt Options) (*File, error) {
	if src.Size < smallFile {
		return Open(src, opt)
	}
	return openSparse(src, opt)
}

func openSparse(src *input.Source, opt Options) (*File, error) {
	f := newFile(src, opt)
	f.given = map[ask]uint64{}
	f.reset()
	f.sparse = newSparse(src, opt)
	err := f.sparse.survey()
	if err == error(disorder{groupAll}) {
		// Mozilla's dump_syms writes STACK WIN records of type 0 first, Breakpad's those of type 4.
		f.sparse = newSparse(src, opt)
		f.sparse.win0First = true
		err = f.sparse.survey()
	}
	for g := groupFiles; g < groupAll && err == nil; g++ {
		if f.sparse.broken[g] {
			err = f.makeExact(g)
		}
	}
	for err == nil && f.sparse != nil {
		err = f.header()
		var d disorder
		if err == nil || !errors.As(err, &d) || d.group == groupAll || f.sparse.exact[d.group] {
			break
		}
		err = f.makeExact(d.group)
	}
	var d disorder
	if errors.As(err, &d) {
		err = f.readAll(opt.Progress)
	}
	if err == nil {
		_, _, err = settled(f, func() (struct{}, struct{}, error) { return struct{}{}, struct{}{}, f.sparse.sample() })
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// header reads the records that stand at the very beginning, and those that suppliers of symbols append to the end.
func (f *File) header() error {
	first := true
	err := f.sparse.eachLine(0, func(b []byte) bool {
		if first {
			b = trimBOM(b)
		}
		if rest, ok := keyword(b, "MODULE"); ok && !f.HasModule {
			f.Module, f.HasModule = parseModule(rest)
		} else if rest, ok := keyword(b, "INFO"); ok {
			f.info(rest)
		} else if len(b) > 0 {
			return false
		}
		first = false
		return true
	})
	if err != nil {
		return err
	}
	if !f.HasModule {
		return disorder{groupAll}
	}
	// A record of this length is found wherever slices begin.
	const near = 1 << 10
	for n := max(0, f.src.Size-near) / f.sparse.step; n < f.sparse.count; n++ {
		last, err := f.sparse.load(n)
		if err != nil {
			return err
		}
		if last.first < 0 {
			continue
		}
		return f.sparse.eachLine(last.first, func(b []byte) bool {
			if rest, ok := keyword(b, "INFO"); ok {
				f.info(rest)
			}
			return true
		})
	}
	return nil
}

// Exact reports whether lookups are answered from an index of the whole file.
func (f *File) Exact() bool { return f.sparse == nil }

// Reads are how many reads lookups and opening have made of a file that is not Exact, and how many bytes these were; 0 of one that is.
func (f *File) Reads() (reads, bytes int64) {
	if f.sparse == nil {
		return 0, 0
	}
	return f.sparse.reads, f.sparse.bytes
}

// HasSymbols reports whether the file can name any code. It is known without reading the file.
func (f *File) HasSymbols() bool {
	if f.sparse == nil {
		return f.Counts.HasSymbols()
	}
	return f.sparse.present[phaseBody]
}

// HasUnwind reports whether the file can unwind any code. It is known without reading the file.
func (f *File) HasUnwind() bool {
	if f.sparse == nil {
		return f.Counts.HasUnwind()
	}
	return f.sparse.present[phaseWin] || f.sparse.present[phaseWinNext] || f.sparse.present[phaseCFI]
}

// HasLines reports whether the file knows source files, and HasInlines whether it knows calls that were inlined. Both are known without
// reading the file.
func (f *File) HasLines() bool {
	if f.sparse == nil {
		return f.Counts.LineRecords > 0
	}
	return f.sparse.present[phaseFiles]
}

// HasInlines is described at HasLines.
func (f *File) HasInlines() bool {
	if f.sparse == nil {
		return f.Counts.Inlines > 0
	}
	return f.sparse.present[phaseOrigins]
}

// Complete reads the whole file, and from then on answers come from its index. It reports whether any answer that was given
// before is now another one. Nothing is changed by an error, which is one of the Source.
func (f *File) Complete(progress func(done, total int64)) (changed bool, err error) {
	if f.sparse != nil {
		if err := f.readAll(progress); err != nil {
			return false, err
		}
		f.recheck()
	}
	return f.Revised(), nil
}

// Revised reports, once, whether answers were given that are others by now, because the file turned out not to be sorted
// or was completed.
func (f *File) Revised() bool {
	r := f.revised
	f.revised = false
	return r
}

// readAll makes the pass over the whole file.
func (f *File) readAll(progress func(done, total int64)) error {
	s := &scanner{f: newFile(f.src, f.opt)}
	if err := s.runAhead(f.src, 0, f.src.Size, f.opt.Workers, progress); err != nil {
		return err
	}
	s.f.finish(s)
	f.become(s.f)
	return nil
}

// become takes the index of another File.
func (f *File) become(n *File) {
	n.given, n.lost, n.revised = f.given, f.lost, f.revised
	*f = *n
	f.reset()
}

// makeExact indexes one group of sections by a pass over them.
func (f *File) makeExact(g group) error {
	sp := f.sparse
	err := sp.findBorders()
	var d disorder
	if unsorted := errors.As(err, &d); err != nil && !unsorted {
		return err
	} else if unsorted && d.group != g { // more than this group, and maybe all
		return f.readAll(f.opt.Progress)
	}
	from, to := sp.groupRange(g)
	n := newFile(f.src, Options{})
	s := &scanner{f: n}
	if err := s.runAhead(f.src, from, to, f.opt.Workers, f.opt.Progress); err != nil {
		return err
	}
	n.finish(s)
	for k := range n.tables {
		if tableGroup[k] == g {
			f.tables[k] = n.tables[k]
		}
	}
	f.extras = mergeExtras(f.extras, n.extras)
	sp.exact[g] = true
	f.reset()
	return nil
}

// tableGroup is the group that a table is of.
var tableGroup = [numTables]group{groupBody, groupStack, groupStack, groupStack, groupBody, groupFiles, groupOrigins}

// groupRange is the part of the file that holds a group's sections, from and up to the start of a line.
func (s *sparse) groupRange(g group) (from, to int64) {
	low, high := map[group]phase{groupFiles: phaseFiles, groupOrigins: phaseOrigins, groupBody: phaseBody, groupStack: phaseWin}[g], phase(0)
	if high = low; g == groupStack {
		high = phaseCFI
	}
	// A line that begins before a boundary belongs to the piece before it, and is cut off by the scanner.
	return s.sections[low][0] * s.step, min(s.src.Size, (s.sections[high][1]+1)*s.step)
}

// settled runs a lookup until nothing stops it that the file's order explains.
func settled[T, A any](f *File, do func() (T, A, error)) (v T, a A, err error) {
	for {
		v, a, err = do()
		var d disorder
		if err == nil || !errors.As(err, &d) {
			return v, a, err
		}
		var failed error
		if f.sparse == nil { // see sure; what was answered was not noted
			f.revised = true
		}
		if f.sparse == nil || d.group == groupAll || f.sparse.exact[d.group] {
			failed = f.readAll(f.opt.Progress)
		} else {
			failed = f.makeExact(d.group)
		}
		if failed != nil {
			return v, a, failed
		}
		f.recheck()
	}
}
