package symfile

import (
	"cmp"
	"errors"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// lineAt returns the line at a file offset, without its end, cut at 1 MiB. It is valid until the
// next read.
func (f *File) lineAt(off int64) (line []byte, err error) {
	err = f.text.Lines(off, 0, func(b []byte) bool {
		line = trimEOL(b)
		return false
	})
	return line, err
}

// bytesPerStep is how many bytes of lines that are in memory are parsed in a step of work.
const bytesPerStep = 16

// spans calls fn with every line that belongs to a record, in the order of the file: first the
// record's own line. Line numbers are 0 if the file is searched: what is before the record was not
// read, so its lines were not counted. spans draws the work of parsing, since the lines may be in
// memory: a record may have millions of them.
func (f *File) spans(r *rec, fn func(b []byte, line int)) error {
	size := int64(0)
	counted := func(b []byte, line int) {
		size += int64(len(b)) + 1
		fn(b, line)
	}
	err := f.textOf(r, counted)
	if err == nil {
		err = f.src.Wrap("symbol file", r.off, f.src.Draw(input.Work, size/bytesPerStep))
	}
	return err
}

// textOf is spans without what it costs. If the end of the record's lines is not known, they are those
// up to the next record.
func (f *File) textOf(r *rec, fn func(b []byte, line int)) error {
	if f.lazy != nil || r.end == 0 {
		return f.searchedSpans(r.off, fn)
	}
	for _, e := range append([]extra{{off: r.off, end: r.end, line: r.line}}, f.extrasOf(r)...) {
		line := int(e.line)
		if err := f.text.Lines(e.off, e.end, func(b []byte) bool {
			fn(trimEOL(b), line)
			line++
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}

// searchedSpans is spans for the FUNC or STACK CFI INIT record at an offset of a file that is
// searched: its lines are those up to the next record. INFO records and blank lines do not end
// them, as in the full index.
func (f *File) searchedSpans(off int64, fn func(b []byte, line int)) error {
	var own recordKind
	return f.text.Lines(off, 0, func(b []byte) bool {
		if own == recordFunc && len(b) > 0 && (b[0] >= '0' && b[0] <= '9' || b[0] >= 'a' && b[0] <= 'f') {
			fn(b, 0)
			return true
		}
		is := classify(b).is
		switch {
		case own == recordBlank:
			own = is
		case is == recordBlank || is == recordInfo:
			return true
		case own == recordFunc && (is == recordLine || is == recordInline) || own == recordInit && is == recordDelta:
		default:
			return false
		}
		fn(trimEOL(b), 0)
		return true
	})
}

// sure returns an error if a record is not where the stored index says: the file has changed since
// in a block that its fingerprint does not read. settled then searches or reads the file instead.
func (f *File) sure(ok bool) error {
	if f.index != nil && !ok {
		return f.distrust(f.badIndex("a record where the index says", "another line"))
	}
	return nil
}

// distrust turns the error of a lookup in a stored index into lazy.Unsorted, after which settled
// stops using the index.
func (f *File) distrust(why error) error {
	if why == nil || why == lazy.ErrMissing || errors.As(why, new(lazy.Unsorted)) || f.src.Interrupted(why) {
		return why
	}
	f.wrong = why
	return lazy.Unsorted{Section: lazy.All}
}

// fileName returns the name of a FILE record, or "" if none has the number.
func (f *File) fileName(num uint32) (string, error) {
	if s, ok := f.fileNames.get(num); ok {
		return s, nil
	}
	r, ok, err := f.find(tableFiles, uint64(num))
	if !ok {
		return "", err
	}
	b, err := f.lineAt(r.off)
	if err != nil {
		return "", err
	}
	rest, _ := keyword(b, "FILE")
	is, name, ok := parseFile(rest)
	if err := f.sure(ok && is == num); err != nil {
		return "", err
	}
	return f.fileNames.put(num, string(name), len(name)/usualText), nil
}

// originName returns the name of an INLINE_ORIGIN record. An inlined call without a name stays a
// call (Breakpad shows it so; rust-minidump leaves it out).
func (f *File) originName(num uint32) (string, error) {
	if s, ok := f.origNames.get(num); ok {
		return s, nil
	}
	r, ok, err := f.find(tableOrigins, uint64(num))
	if err != nil {
		return "", err
	}
	if !ok {
		return nameless, nil
	}
	b, err := f.lineAt(r.off)
	if err != nil {
		return "", err
	}
	rest, _ := keyword(b, "INLINE_ORIGIN")
	is, name, ok := parseOrigin(rest)
	if err := f.sure(ok && is == num); err != nil {
		return "", err
	}
	return f.origNames.put(num, cmp.Or(string(name), nameless), len(name)/usualText), nil
}

// recent keeps the values that were put into it last: at least most of them, and at most twice as
// many. A large value counts as several. It evicts half of them at once: Prefetch puts thousands in,
// and each must still be there when the walk looks it up.
type recent[K comparable, V any] struct {
	most     int
	now, old map[K]V
	weight   int // of now
}

// How many are kept of what a stack of 10,000 frames in as many functions needs: its symbols, and
// their names, are prepared together, unwind records a few thousand at a time for each walk.
const (
	mostSymbols, mostNames = 16 << 10, 16 << 10
	mostRules              = 8 << 10
)

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, now: map[K]V{}}
}

func (r *recent[K, V]) get(k K) (V, bool) {
	v, ok := r.now[k]
	if !ok {
		v, ok = r.old[k]
	}
	return v, ok
}

func (r *recent[K, V]) has(k K) bool {
	_, ok := r.get(k)
	return ok
}

// put stores a value and returns it. more is how many values a large one counts as, besides itself.
func (r *recent[K, V]) put(k K, v V, more int) V {
	if r.weight >= r.most {
		r.now, r.old, r.weight = map[K]V{}, r.now, 0
	}
	r.now[k] = v
	r.weight += 1 + more
	return v
}

func (r *recent[K, V]) clear() { r.now, r.old, r.weight = map[K]V{}, nil, 0 }

// The sizes of usual values, beyond which they count as several: some 500 bytes each.
const (
	usualText    = 512
	usualInlines = 8
	usualOps     = 32
)

// weightOf and weight return how many usual values a large one counts as, besides itself.
func weightOf(s *symbol.Symbol) int { return len(s.Name)/usualText + len(s.Inlines)/usualInlines }

func (c *CFIRecord) weight() int {
	const deltaSize = 40 // besides its text
	n := len(c.Rules) + deltaSize*len(c.Deltas)
	for i := range c.Deltas {
		n += len(c.Deltas[i].Rules)
	}
	return n / usualText
}
