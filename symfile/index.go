package symfile

import (
	"cmp"
	"fmt"
	"slices"
)

// rec is one FUNC, STACK CFI INIT or STACK WIN record in the index: where its code is and where its text is. It has no
// pointers, so that the garbage collector never looks at an index of a million records.
type rec struct {
	rva, size uint64
	off       int64 // file offset of the record's line
	// end is the file offset behind the lines that belong to the record and follow it without a gap: line and INLINE records
	// of a FUNC, deltas of an INIT. In the index of STACK WIN it is the highest end address of the records up to this one.
	end  int64
	line int32 // of the record in the file, counted from 1
}

// has reports whether the record's code covers an address.
func (r *rec) has(rva uint64) bool { return rva >= r.rva && rva-r.rva < r.size }

// pub is a PUBLIC record.
type pub struct {
	rva  uint64
	off  int64
	line int32
}

// extra is a run of lines that belong to the record at offset owner but do not follow it directly.
type extra struct {
	owner, off, end int64
	line            int32
}

// numbers maps the numbers of FILE or INLINE_ORIGIN records to file offsets. Numbers count up from 0 in practice, so a
// slice serves; one that is far beyond the count so far goes to a map, lest one record claim gigabytes.
type numbers struct {
	dense  []int64 // offset + 1, 0 is absent
	sparse map[uint32]int64
	count  int
}

func (n *numbers) get(num uint32) (int64, bool) {
	if int(num) < len(n.dense) && n.dense[num] != 0 {
		return n.dense[num] - 1, true
	}
	off, ok := n.sparse[num]
	return off, ok
}

// set keeps the first record of a number (as Breakpad does; rust-minidump keeps the last) and reports whether it was new.
func (n *numbers) set(num uint32, off int64) bool {
	if _, dup := n.get(num); dup {
		return false
	}
	n.count++
	if int(num) >= len(n.dense) && int(num) <= 2*n.count+1024 {
		n.dense = append(n.dense, make([]int64, int(num)+1-len(n.dense))...)
	}
	if int(num) < len(n.dense) {
		n.dense[num] = off + 1
		return true
	}
	if n.sparse == nil {
		n.sparse = make(map[uint32]int64)
	}
	n.sparse[num] = off
	return true
}

// exclusive sorts records by address and drops those without code and those that overlap one before them.
//
// Both peers keep one record for an address and drop an overlapping one whole, so that an address which only the dropped
// one covers has none. They differ in which one stays: Breakpad's the one that comes first in the file, rust-minidump's the
// one with the lower start, then the shorter. Here it is the latter, which does not depend on the order of the file; in a
// file that is sorted, as all writers' are, the two differ only for records with the same start.
func (f *File) exclusive(recs []rec, what string) []rec {
	order := func(a, b rec) int {
		return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(a.size, b.size), cmp.Compare(a.off, b.off))
	}
	recs = sortRuns(recs, order)
	kept := recs[:0]
	for _, r := range recs {
		if r.size == 0 {
			continue // said when it was read; both peers drop it
		}
		if n := len(kept); n > 0 && kept[n-1].has(r.rva) {
			if f.warn(overlap, int(r.line)) {
				f.say("%s at 0x%x overlaps that of line %d and is not used", what, r.rva, kept[n-1].line)
			}
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// sortRuns sorts records that stand in sorted runs, as those of STACK CFI do: linkers keep the unwind data of each input file
// together. Runs are merged two by two; where there are many, an ordinary sort is as fast.
func sortRuns(recs []rec, order func(a, b rec) int) []rec {
	const most = 64
	bounds := []int{0}
	for i := 1; i < len(recs); i++ {
		if order(recs[i-1], recs[i]) > 0 {
			if bounds = append(bounds, i); len(bounds) > most {
				slices.SortFunc(recs, order)
				return recs
			}
		}
	}
	if len(bounds) == 1 {
		return recs
	}
	bounds = append(bounds, len(recs))
	other := make([]rec, 0, len(recs))
	for len(bounds) > 2 {
		next := []int{0}
		for i := 0; i+1 < len(bounds); i += 2 {
			a := recs[bounds[i]:bounds[i+1]]
			var b []rec
			if i+2 < len(bounds) {
				b = recs[bounds[i+1]:bounds[i+2]]
			}
			for len(a) > 0 && len(b) > 0 {
				if order(a[0], b[0]) <= 0 {
					other, a = append(other, a[0]), a[1:]
				} else {
					other, b = append(other, b[0]), b[1:]
				}
			}
			other = append(append(other, a...), b...)
			next = append(next, len(other))
		}
		recs, other, bounds = other, recs[:0], next
	}
	return recs
}

// nested sorts STACK WIN records so that a search from the end finds the best one first: the one with the highest start;
// among equals the shortest; among those the first in the file.
//
// For records inside one another that is Breakpad's rule (the innermost wins) and for runs that all reach to the function's
// end it is what rust-minidump cuts them to. Where two overlap in part, Breakpad drops the later in the file and
// rust-minidump shortens the first: here, as in the latter, the one that starts later counts from its start on.
func nested(recs []rec) {
	order := func(a, b rec) int {
		return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(b.size, a.size), cmp.Compare(b.off, a.off))
	}
	if !slices.IsSortedFunc(recs, order) {
		slices.SortFunc(recs, order)
	}
	var high uint64
	for i := range recs {
		high = max(high, recs[i].rva+recs[i].size)
		recs[i].end = int64(high)
	}
}

// finish makes the index searchable.
func (f *File) finish(s *scanner) {
	if !f.HasModule && f.warn(noModule, 0) {
		f.say("the file has no MODULE record")
	}
	for i := range f.Warnings {
		if w := &f.Warnings[i]; w.of > 0 {
			w.Text += fmt.Sprintf(", that of line %d", w.of)
		}
	}
	f.funcs = f.exclusive(s.funcs, "FUNC")
	f.cfis = f.exclusive(s.cfis, "STACK CFI INIT")
	f.wins = s.wins
	nested(f.wins[0])
	nested(f.wins[1])
	f.extras = s.extras
	slices.SortFunc(f.extras, func(a, b extra) int { return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.off, b.off)) })

	byAddr := func(a, b pub) int { return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(a.off, b.off)) }
	if !slices.IsSortedFunc(s.pubs, byAddr) {
		slices.SortFunc(s.pubs, byAddr)
	}
	// Of several PUBLICs at one address, the first in the file stays (Breakpad; rust-minidump takes the last by name).
	f.pubs = slices.CompactFunc(s.pubs, func(a, b pub) bool { return a.rva == b.rva })

	for _, num := range slices.Sorted(mapKeys(s.unknownFiles)) {
		if _, known := f.files.get(num); !known && f.warn(noSuchFile, int(s.unknownFiles[num])) {
			f.say("FILE number %d does not exist", num)
		}
	}
	for _, num := range slices.Sorted(mapKeys(s.unknownOrigins)) {
		if _, known := f.origins.get(num); !known && f.warn(noSuchFile, int(s.unknownOrigins[num])) {
			f.say("INLINE_ORIGIN number %d does not exist", num)
		}
	}
	sortFew(f.Warnings, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
}

// covering is the record of an exclusive index that covers an address, and the last one that starts at or below it (-1 if
// none does).
func covering(recs []rec, rva uint64) (at int, covers bool) {
	at, _ = slices.BinarySearchFunc(recs, rva, func(r rec, v uint64) int {
		if r.rva <= v {
			return -1
		}
		return 1
	})
	at--
	return at, at >= 0 && recs[at].has(rva)
}

// innermost is the record of a nested index that is best for an address.
func innermost(recs []rec, rva uint64) (*rec, bool) {
	at, _ := covering(recs, rva)
	for ; at >= 0 && uint64(recs[at].end) > rva; at-- {
		if recs[at].has(rva) {
			return &recs[at], true
		}
	}
	return nil, false
}

// extrasOf are the runs of lines that belong to a record besides those that follow it.
func (f *File) extrasOf(r *rec) []extra {
	i, _ := slices.BinarySearchFunc(f.extras, r.off, func(e extra, off int64) int { return cmp.Compare(e.owner, off) })
	j := i
	for j < len(f.extras) && f.extras[j].owner == r.off {
		j++
	}
	return f.extras[i:j]
}

// kind groups warnings, so that a thousand of one kind do not hide the one of another.
type kind uint8

const (
	badRecord kind = iota
	unknownRecord
	noModule
	orphan
	outside
	noCode
	overlap
	duplicate
	noSuchFile
	longLine
	otherType
	numKinds
)

// keepWarnings is how many warnings of one kind are kept.
const keepWarnings = 20

// Warning is something in the file that was passed over, or taken in a way that needs saying.
type Warning struct {
	// Line is the line in the file, counted from 1; 0 for the file as a whole.
	Line int
	Text string

	kind kind
	of   int32 // the line of the record that it belongs to, until the Text says so
}

func (w Warning) String() string {
	if w.Line == 0 {
		return w.Text
	}
	return fmt.Sprintf("line %d: %s", w.Line, w.Text)
}

// warn counts a warning and reports whether its text is wanted; say then gives it. Two steps, so that a file of nothing but
// mistakes does not format each.
func (f *File) warn(k kind, line int) bool {
	f.WarningCount++
	if f.warned[k]++; f.warned[k] > keepWarnings {
		return false
	}
	f.Warnings = append(f.Warnings, Warning{Line: line, kind: k})
	return true
}

func (f *File) say(format string, args ...any) {
	f.Warnings[len(f.Warnings)-1].Text = fmt.Sprintf(format, args...)
}

// sayOf is say about a record that belongs to the one at line of; the number is added when all numbers are known.
func (f *File) sayOf(of int32, format string, args ...any) {
	f.say(format, args...)
	f.Warnings[len(f.Warnings)-1].of = of
}
