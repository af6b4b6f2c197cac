package symfile

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
)

// A large file is read in chunks that begin with a record which does not depend on records before
// it, each into an index of its own, and these are joined in their order. The result is that of one
// pass to the last warning; a file whose chunks turn out to depend on each other is indexed in one
// pass after all.

// segment is what a scanner of a chunk notes for joinAll.
type segment struct {
	first bool // the chunk starts the file
	// odd: the chunk depends on those before it. It has a line, INLINE or delta record before its
	// first FUNC or INIT, or it is not the first chunk and has a MODULE record.
	odd              bool
	sawFunc, sawInit bool
}

// strayFunc reports whether what was read belongs to a FUNC of an earlier chunk.
func (s *scanner) strayFunc() bool {
	if s.seg == nil || s.seg.sawFunc || s.seg.first {
		return false
	}
	s.seg.odd = true
	return true
}

// join appends the index of the next chunk. Lines in it are counted from the chunk's start, so the
// lines of all chunks before are added.
func (s *scanner) join(p *scanner) {
	f, g := s.f, p.f
	base := int32(s.line)
	for k := range f.tables {
		f.tables[k].join(&g.tables[k], base)
	}
	for _, e := range g.extras {
		e.line += base
		f.extras = append(f.extras, e)
	}
	if g.HasModule {
		f.Module, f.HasModule = g.Module, true
	}
	if f.CodeID == "" {
		f.CodeID, f.CodeFile = g.CodeID, g.CodeFile
	}
	if g.URL != "" {
		f.URL = g.URL
	}
	for i, n := range g.Counts.numbers() { // those of lines are set by joinAll
		*f.Counts.numbers()[i] += *n
	}
	f.WarningCount += g.WarningCount
	var seen [numKinds]int
	for _, w := range g.Warnings {
		w.Line += int(base)
		if w.of > 0 {
			w.of += base
		}
		if seen[w.kind]++; f.warned[w.kind]+seen[w.kind] <= keepWarnings {
			f.Warnings = append(f.Warnings, w)
		}
	}
	for k := range g.warned {
		f.warned[k] += g.warned[k]
	}
	s.line += p.line
	s.lineCount += p.lineCount
}

// cuts divides [from, to) of a file into chunks of about size bytes, and returns their bounds, from
// and to among them. Each begins with a record that does not belong to one before it, which is
// looked for in the 256 KiB after the even division. If there is none, two chunks stay one.
func (f *File) cuts(from, to, size int64) ([]int64, error) {
	const near = 256 << 10
	bounds := []int64{from}
	for at := from + size; at < to-near; at += size {
		off := at
		err := f.text.Lines(at, 0, func(line []byte) bool {
			if l := searchedLine(line); off > at && (l.Head || l.Section == lazy.Win) { // the first line may be the rest of one
				bounds = append(bounds, off)
				return false
			}
			off += int64(len(line)) + 1
			return off < at+near
		})
		if err != nil {
			return nil, err
		}
	}
	return append(slices.Compact(bounds), to), nil
}

// ErrIndivisible means that a file cannot be indexed in chunks, because records in one chunk belong
// to a record in another.
var ErrIndivisible = errors.New("the chunks of the symbol file depend on each other")

const (
	// sharedFrom is the size in bytes from which a pass is shared.
	sharedFrom = 4 << 20
	// chunkSize is the size of a chunk, in bytes. What is in memory besides the index is a chunk's
	// index for each indexer.
	chunkSize = 8 << 20
)

// Chunk is a part of a file, from one of its cuts to the next.
type Chunk struct {
	Src      *input.Source
	From, To int64
	// Section is the only one whose records are indexed, lazy.None for all.
	Section lazy.Section
}

// ChunkIndexer indexes chunks of files, one after the other: an Indexer, or one in another process,
// as the page's workers have it.
type ChunkIndexer interface {
	// Index returns the index of a chunk as bytes. Errors are the reader's, and ErrIndivisible
	// unless the chunk is the whole file.
	Index(c Chunk) ([]byte, error)
	// Stop frees the memory after the last chunk of a file; another file may follow. A chunk that
	// is being indexed ends with an error.
	Stop()
}

// Indexer is the ChunkIndexer of this process. It reuses the memory of one chunk for the next. The
// zero Indexer is ready; it is not for use by several goroutines at once.
type Indexer struct{ s scanner }

// Index implements ChunkIndexer.
func (x *Indexer) Index(c Chunk) ([]byte, error) {
	if c.From == 0 && c.To == c.Src.Size && c.Section == lazy.None {
		f, err := Open(c.Src, Options{})
		if err != nil {
			return nil, err
		}
		return f.Index()
	}
	x.s = scanner{f: x.s.f.again(c.Src), seg: &segment{first: c.From == 0}, section: c.Section, buf: x.s.buf}
	if err := x.s.run(c.Src, c.From, c.To, nil); err != nil {
		return nil, err
	}
	if x.s.seg.odd {
		return nil, ErrIndivisible
	}
	return x.s.pack(c.From, c.To, 0), nil
}

// Stop implements ChunkIndexer.
func (x *Indexer) Stop() { x.s = scanner{} }

// indexers returns those of the options, or an Indexer for each of Workers. It returns none if the
// pass is not to be shared.
func (o *Options) indexers() (list []ChunkIndexer) {
	if o.Indexers != nil || o.Workers < 2 {
		return o.Indexers
	}
	for range o.Workers {
		list = append(list, &Indexer{})
	}
	return list
}

// runAll reads a part of a file, shared among the indexers if that is worth it. The error is
// ErrIndivisible if its chunks do not fit together.
func (s *scanner) runAll(src *input.Source, from, to int64, progress func(done, total int64)) error {
	indexers := s.f.opt.indexers()
	if len(indexers) == 0 || to-from < sharedFrom {
		return s.run(src, from, to, progress)
	}
	return s.runShared(src, from, to, indexers, min(chunkSize, (to-from)/int64(2*len(indexers))), progress)
}

// runShared indexes chunks of about size bytes, several at once, and joins their indexes.
//
// Each indexer has a goroutine that takes the next chunk until none is left, or one has failed:
// that one may have been stopped, and must not begin again. runShared returns when all have ended:
// they use indexes and src until then.
func (s *scanner) runShared(src *input.Source, from, to int64, indexers []ChunkIndexer, size int64, progress func(done, total int64)) error {
	bounds, err := s.f.cuts(from, to, size)
	if err != nil {
		return err
	}
	indexes := make([][]byte, len(bounds)-1)
	if len(indexes) == 1 && s.section == lazy.None {
		return ErrIndivisible
	}
	var mu sync.Mutex // for all that follows; an indexer holds it between two chunks
	next, done := 0, from
	work := func(x ChunkIndexer) {
		defer x.Stop()
		mu.Lock()
		defer mu.Unlock()
		for err == nil && next < len(indexes) {
			i := next
			next++
			mu.Unlock()
			index, failed := x.Index(Chunk{src, bounds[i], bounds[i+1], s.section})
			mu.Lock()
			indexes[i], err = index, cmp.Or(err, failed)
			if done += bounds[i+1] - bounds[i]; err == nil && progress != nil {
				progress(done, src.Size)
			}
		}
	}
	var all sync.WaitGroup
	for _, x := range indexers {
		all.Go(func() { work(x) })
	}
	all.Wait()
	if err != nil {
		return err
	}
	return s.joinAll(indexes, from, to)
}
