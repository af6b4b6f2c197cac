// Package lazy searches a large symbol file without an index of it.
//
// A file is a sequence of sections, each sorted by one key, as all writers leave them (but for
// STACK CFI, which Linux linkers leave in the order of the object files). Opening a file reads
// evenly spaced blocks. Every block that was read gives fence keys: the first and the last key that
// it has of a section. A lookup is bracketed by two fences, guesses the block between them by
// interpolation, and bisects where that misses. A batch of lookups runs in rounds: each round reads
// the blocks that all of them lack at once.
//
// Fences out of order mean that a section is not sorted. A lookup there returns Unsorted, and its
// caller indexes that section. Disorder in blocks that were not read stays unnoticed, so lookups
// are made again when there is a full index.
package lazy

import (
	"fmt"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// Section is a run of a file's records of one kind, in the order in which writers put them.
type Section uint8

const (
	// None is for lines that may be anywhere: blank ones, MODULE, INFO.
	None Section = iota
	Files
	Origins
	// Funcs are FUNC records and their lines; PUBLIC records too where a writer sorts both
	// together.
	Funcs
	Publics
	// Win are the STACK WIN records. They are nested and not searched.
	Win
	CFI
	// both are the FUNC and PUBLIC records together: their order counts where they are mixed.
	both
	numSections
	// All is the whole file, in Unsorted: its sections are not in order.
	All = numSections
)

// Line is what a search needs to know about a line. symfile's searchedLine makes it.
type Line struct {
	Section Section
	// Head: the line is a record that is searched for. Others belong to the record before, or
	// cannot be used.
	Head bool
	// Bad: the line is a record that would be searched for if its fields could be used.
	Bad bool
	// Key is the record's address or number, Size its code in bytes; 0 for records without one.
	Key, Size uint64
}

// Entry is a record that was found, and its offset in the file.
type Entry struct {
	Key, Size uint64
	Off       int64
}

// Has reports whether the record's code covers an address.
func (e *Entry) Has(key uint64) bool { return key >= e.Key && key-e.Key < e.Size }

// Unsorted is the error of a lookup in a section that is not sorted.
type Unsorted struct{ Section Section }

func (u Unsorted) Error() string {
	return fmt.Sprintf("section %d of the symbol file is not sorted", u.Section)
}

const (
	// BlockSize is the unit of reading in a browser, in bytes. A read costs little more up to 64
	// KiB, but what comes has to be looked at.
	BlockSize = 16 << 10
	// probes is how many blocks opening a file reads.
	probes = 64
)

// fence has the first and the last record of a section in one block: their keys and file offsets.
//
//	fence of block 10    FUNC 4000 … FUNC 4f00
//	fence of block 40    FUNC 9000 … FUNC 9a80
//	                     the FUNC that covers 6123 is in block 10, if at all, or between the two
type fence struct {
	n                 int64 // of the block
	first, last       uint64
	lastEnd           uint64 // where the code of the last record ends
	firstOff, lastOff int64
}

// File is a symbol file that is searched. It is not safe for use by several goroutines at once.
type File struct {
	*Text
	classify func(line []byte) Line
	count    int64 // of blocks

	fences [numSections][]fence // by block
	// bounds are the first and the last block that may have lines of a section.
	bounds [numSections][2]int64
	// spans are the first and the last block that are known to have some.
	spans    [numSections][2]int64
	unsorted [numSections]bool
	seen     map[int64]bool // blocks that were read
	// mixed: PUBLIC records are among the FUNC records.
	mixed bool
	// broken: the sections are not in order. Nothing can be found any more.
	broken bool
}

// Open reads evenly spaced blocks of a file. classify describes a line; Open passes it a line
// without its end, which may be cut. The errors are the reader's, and Unsorted{All} if the sections
// are not in order.
//
// After the probes it looks for a block of each section that none of them has, until the bounds of
// the section leave no block: a section may be smaller than the distance between two probes.
func Open(src *input.Source, blockSize int64, classify func(line []byte) Line) (*File, error) {
	f := &File{Text: NewText(src, blockSize), classify: classify}
	f.count = (src.Size + f.step - 1) / f.step
	f.came = f.admitAll
	f.reset()
	var list []int64
	for i := range int64(probes) {
		if n := (f.count - 1) * i / (probes - 1); len(list) == 0 || n > list[len(list)-1] {
			list = append(list, n)
		}
	}
	if err := f.read(list); err != nil {
		return nil, err
	}
	for s := Files; s <= CFI; s++ {
		if err := f.locate(s); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// reset removes all fences and bounds, after which every block that was read must be admitted
// again.
func (f *File) reset() {
	f.fences = [numSections][]fence{}
	f.seen = map[int64]bool{}
	for s := range f.bounds {
		f.bounds[s], f.spans[s] = [2]int64{0, f.count - 1}, [2]int64{f.count, -1}
	}
}

// Present reports whether the file has lines of a section.
func (f *File) Present(s Section) bool { return f.spans[s][1] >= 0 }

// SetIndexed tells the File that the caller has an index of a section. Its blocks need no order
// from then on, and Find does not search them.
func (f *File) SetIndexed(s Section) { f.unsorted[s], f.fences[s] = true, nil }

// Sorted reports whether no block that was read so far shows a section out of order. That FUNC and
// PUBLIC records are not in order together counts only where they are mixed, and is an error there.
func (f *File) Sorted() bool { return !slices.Contains(f.unsorted[:both], true) }

// locate reads blocks until one has lines of a section, or until none can have any. Each block that
// is read narrows the bounds, so the halving takes few reads.
func (f *File) locate(s Section) error {
	for !f.Present(s) {
		n, ok := f.unread(f.bounds[s][0]-1, f.bounds[s][1]+1, (f.bounds[s][0]+f.bounds[s][1])/2)
		if !ok {
			return nil
		}
		if _, err := f.block(n); err != nil {
			return err
		}
	}
	return nil
}

// Range returns the part of the file that has a section's lines, as offsets in bytes. Lines of
// other sections may be at its ends. It bisects for the first and the last block of the section.
func (f *File) Range(s Section) (from, to int64, err error) {
	if err := f.locate(s); err != nil || !f.Present(s) {
		return 0, 0, err
	}
	for side := range 2 { // it begins between a block that has none of it and the first that is known to have it, and ends likewise
		for {
			lo, hi := f.bounds[s][0]-1, f.spans[s][0]
			if side == 1 {
				lo, hi = f.spans[s][1], f.bounds[s][1]+1
			}
			n, ok := f.unread(lo, hi, (lo+hi)/2)
			if !ok {
				break
			}
			if _, err := f.block(n); err != nil {
				return 0, 0, err
			}
		}
	}
	return f.bounds[s][0] * f.step, min(f.src.Size, (f.bounds[s][1]+1)*f.step+1), nil
}

// unread returns the block nearest to n that was not read, among those strictly between lo and hi.
func (f *File) unread(lo, hi, n int64) (int64, bool) {
	for d := int64(0); n-d > lo || n+d < hi; d++ {
		if m := n + d; m > lo && m < hi && !f.seen[m] {
			return m, true
		}
		if m := n - d; m > lo && m < hi && !f.seen[m] {
			return m, true
		}
	}
	return 0, false
}

// Find returns the last record of a section whose key is at or below key. Of records whose code
// overlaps, the one that starts first counts. The errors are the reader's, Unsorted, and in a Batch
// ErrMissing.
//
// Each round brackets the key by two fences. If the block of the lower one has the key, or no
// unread block is between the two, the record is in that block. Otherwise one block between them is
// read, which adds a fence: twice the one where interpolation expects the key, then the middle,
// since keys may be spread unevenly. In a batch ErrMissing ends a lookup after each block, so the
// guesses are counted by the rounds.
func (f *File) Find(s Section, key uint64) (e Entry, ok bool, err error) {
	for misses := f.round; ; misses++ {
		switch {
		case f.broken:
			return e, false, Unsorted{All}
		case f.unsorted[s]:
			return e, false, Unsorted{s}
		}
		fs := f.fences[s]
		i := sort.Search(len(fs), func(i int) bool { return fs[i].first > key })
		lo, hi := f.bounds[s][0]-1, f.bounds[s][1]+1
		if i < len(fs) {
			hi = fs[i].n
		}
		if i > 0 {
			at := fs[i-1]
			if lo = at.n; key <= at.last || key < at.lastEnd {
				e, ok, again, err := f.in(s, i-1, key)
				if !again || err != nil {
					return e, ok, err
				}
				misses--
				continue
			}
		}
		guess := (lo + hi) / 2
		if misses%3 < 2 && len(fs) > 0 {
			guess = guessBetween(fs, i, key) / f.step
		}
		n, more := f.unread(lo, hi, min(max(guess, lo+1), hi-1))
		switch {
		case !more && i == 0:
			return e, false, nil
		case !more:
			e, ok, again, err := f.in(s, i-1, key)
			if !again || err != nil {
				return e, ok, err
			}
			misses--
			continue
		}
		if _, err := f.block(n); err != nil {
			return e, false, err
		}
	}
}

// guessBetween returns about the file offset of a key that is between the fences i-1 and i, by
// linear interpolation. Below the first fence or above the last, it extrapolates from the keys of
// that fence.
//
// Example: the last key of fence i-1 is 0x4f00 at offset 170,000, the first key of fence i 0x9000
// at 640,000. For 0x6123 the guess is 170,000 + (0x6123-0x4f00)/(0x9000-0x4f00) * 470,000, about
// 301,000.
func guessBetween(fs []fence, i int, key uint64) int64 {
	var from, to uint64
	var fromOff, toOff int64
	switch at := fs[min(i, len(fs)-1)]; {
	case i > 0 && i < len(fs):
		from, fromOff, to, toOff = fs[i-1].last, fs[i-1].lastOff, at.first, at.firstOff
	default:
		from, fromOff, to, toOff = at.first, at.firstOff, at.last, at.lastOff
	}
	if from == to {
		return fromOff
	}
	const most = 1 << 50
	off := float64(fromOff) + (float64(key)-float64(from))/(float64(to)-float64(from))*float64(toOff-fromOff)
	return int64(min(max(off, 0), most))
}

// in is Find for a record in the block of fence i. If it is the first of the block, a record before
// the block may have the same key, or code that covers it, and then counts. So in looks at the
// block before; again is true if it had to read that one, and Find must begin again.
func (f *File) in(s Section, i int, key uint64) (e Entry, ok, again bool, err error) {
	for {
		at := f.fences[s][i]
		b, err := f.block(at.n)
		if err != nil {
			return e, false, false, err
		}
		list := b.entries[s]
		k := sort.Search(len(list), func(i int) bool { return list[i].Key > key }) - 1
		if k < 0 {
			return e, false, false, nil
		}
		if k > 0 {
			return list[k], true, false, nil
		}
		// One before this block may be at the same address, or reach into its code.
		before := f.bounds[s][0] - 1
		if i > 0 {
			before = f.fences[s][i-1].n
		}
		if n, unread := f.unread(before, at.n, at.n-1); unread {
			_, err := f.block(n)
			return e, false, true, err
		}
		if i == 0 || f.fences[s][i-1].last != at.first {
			return list[0], true, false, nil
		}
		i--
	}
}

// Public returns the last PUBLIC record at or below key. after is the offset of the last FUNC
// record at or below key, or 0. The errors are those of Find.
//
// If a writer sorts both kinds together, the PUBLIC records are not searched: Public reads on
// from that FUNC until a FUNC above the key, and finds none that is before. A read may be the one
// that shows that a file is so.
func (f *File) Public(after int64, key uint64) (e Entry, ok bool, err error) {
	if !f.mixed {
		e, ok, err = f.Find(Publics, key)
		if !f.mixed || err != nil {
			return e, ok, err
		}
	}
	e, ok = Entry{}, false
	for n := max(f.bounds[Funcs][0], max(0, after-1)/f.step); n <= f.bounds[Funcs][1]; n++ {
		b, err := f.block(n)
		if err != nil {
			return e, false, err
		}
		for _, p := range b.entries[Publics] {
			if p.Off > after && p.Key <= key && (!ok || p.Key > e.Key) {
				e, ok = p, true
			}
		}
		if fs := b.entries[Funcs]; len(fs) > 0 && fs[len(fs)-1].Key > key {
			break
		}
	}
	return e, ok, nil
}

// block returns a block of the file, or Unsorted{All} if the sections are not in order.
func (f *File) block(n int64) (*block, error) {
	if f.broken {
		return nil, Unsorted{All}
	}
	return f.Text.block(n)
}

// admitAll finds the records of blocks that were read, and adds their fences. Text.read calls it.
func (f *File) admitAll(blocks []*block) error {
	for _, b := range blocks {
		f.parse(b)
	}
	for _, b := range blocks {
		if err := f.admit(b); err != nil {
			f.broken = true
			return err
		}
	}
	return nil
}
