package symfile

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// extra is a run of lines that belong to the record at offset owner but do not follow it directly.
//
//	FUNC 1000 20 0 f      owner
//	1000 8 10 1           in the record's own run
//	INFO URL …            interrupts it
//	1008 18 11 1          an extra
type extra struct {
	owner, off, end int64
	line            int32
}

// settle sorts a table by address, and drops records that have no code and those that overlap one
// before them.
//
// Both peers keep one record for an address and drop an overlapping one whole, so that an address
// which only the dropped one covers has none. They differ in which one stays: Breakpad's is the one
// that comes first in the file, rust-minidump's the one with the lower start, then the shorter.
// Here it is the latter, which does not depend on the order of the file. In a file that is sorted,
// as all writers' are, the two differ only for records with the same start.
//
// Of several PUBLICs at one address, the first in the file stays (Breakpad; rust-minidump takes the
// last by name), and so of several FILE or INLINE_ORIGIN records of one number (as in Breakpad;
// rust-minidump keeps the last).
func (f *File) settle(k tableKind) {
	t := &f.tables[k]
	if k == tableWin4 || k == tableWin0 {
		recs := t.all()
		nested(recs)
		t.fill(recs)
		return
	}
	if !t.mixed {
		return
	}
	n := table{thin: t.thin, moved: true, data: make([]byte, 0, len(t.data)), heads: make([]head, 0, len(t.heads))}
	t.inOrder(func(r *rec) {
		if r.size == 0 && !t.thin {
			return // said when it was read; both peers drop it
		}
		if last := &n.prev; n.n > 0 && (last.has(r.rva) || last.rva == r.rva) {
			switch {
			case k == tablePublics:
			case k > tablePublics:
				if f.warn(duplicate, int(r.line)) {
					f.say("%s number %d again; the first counts", tableWords[k], r.rva)
				}
			case f.warn(overlap, int(r.line)):
				f.say("%s at 0x%x overlaps that of line %d and is not used", tableWords[k], r.rva, last.line)
			}
			return
		}
		n.put(*r)
	})
	*t = n
}

// tableWords are the records of the tables, as warnings name them.
var tableWords = [numTables]string{tableFuncs: "FUNC", tableInits: "STACK CFI INIT", tableFiles: "FILE", tableOrigins: "INLINE_ORIGIN"}

// nested sorts STACK WIN records so that a search from the end finds the best one first: the one
// with the highest start; among equals the shortest; among those the first in the file.
//
// For records inside one another that is Breakpad's rule (the innermost wins) and for runs that all
// reach to the function's end it is what rust-minidump cuts them to. If two overlap in part,
// Breakpad drops the later in the file and rust-minidump shortens the first: here, as in the
// latter, the one that starts later counts from its start on.
//
//	[1000, 1100)   end 1100
//	[1010, 1100)   end 1100
//	[1020, 1040)   end 1100   wins at 1030; does not cover 1050, where the one above wins
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

// finish makes the index searchable, after the pass.
//
// In order: the warnings get the line numbers of the records that they belong to; the tables are
// sorted; the runs in extras are sorted by owner; the warnings are sorted by line.
func (f *File) finish() {
	if !f.HasModule && f.warn(noModule, 0) {
		f.say("the file has no MODULE record")
	}
	for i := range f.Warnings {
		if w := &f.Warnings[i]; w.of > 0 {
			w.Text += fmt.Sprintf(", that of line %d", w.of)
		}
	}
	for k := range f.tables {
		f.settle(tableKind(k))
	}
	slices.SortFunc(f.extras, func(a, b extra) int { return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.off, b.off)) })
	sortFew(f.Warnings, func(a, b Warning) int { return cmp.Compare(a.Line, b.Line) })
}

// extrasOf returns the runs of lines that belong to a record besides those that follow it.
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
	longLine
	otherType
	unusedIndex
	numKinds
)

// keepWarnings is how many warnings of one kind are kept.
const keepWarnings = 20

// Warning is something in the file that was not used, or used in a way that the file does not say.
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

// warn counts a warning and reports whether its text is kept; the caller then sets the text with
// say. These are two steps, so that a file of nothing but mistakes does not format each.
//
//go:noinline
func (f *File) warn(k kind, line int) bool {
	f.WarningCount++
	if f.warned[k]++; f.warned[k] > keepWarnings {
		return false
	}
	f.Warnings = append(f.Warnings, Warning{Line: line, kind: k})
	return true
}

//go:noinline
func (f *File) say(format string, args ...any) {
	f.Warnings[len(f.Warnings)-1].Text = fmt.Sprintf(format, args...)
}

// sayOf is say for a record that belongs to the one at line of. finish appends the line number: in
// a chunk, lines are counted from the chunk's start.
func (f *File) sayOf(of int32, format string, args ...any) {
	f.say(format, args...)
	f.Warnings[len(f.Warnings)-1].of = of
}

// sortFew sorts a short list, keeping equal ones in their order. slices.SortStableFunc would be
// compiled again for each type, and each copy is kilobytes of program that the page has to fetch;
// only the big lists of the index are worth that.
func sortFew[T any](s []T, order func(a, b T) int) {
	sort.SliceStable(s, func(i, j int) bool { return order(s[i], s[j]) < 0 })
}
