package lazy

import "slices"

// block is a block of the file and the records in it: those of the lines that begin after its first
// newline, up to where the next block begins.
//
//	block n      … FUNC 4f80 30 0 g\n4f80 1
//	block n+1                  0 g\n4f80 10 7 2\n …
//	                           the 256 bytes that both have
//
// The FUNC line is block n's, which has enough of it to read the fields. The line record begins
// after the start of block n+1, so it is that block's.
type block struct {
	n       int64
	data    []byte
	used    int64 // when it was used last, as a count of uses
	entries [numSections][]Entry
	// order are the sections in the order of the block's lines, each once for each run.
	order    []Section
	descends [numSections]bool // the keys of a section do not grow
	cut      bool              // a record goes on beyond the block before its fields end
}

// parse finds the records of a block. A line that begins exactly where the next block does is this
// block's: the next one has no newline before it.
func (f *File) parse(b *block) {
	data, base := b.data, b.n*f.step
	at := 0
	if b.n > 0 {
		at = Newline(data, 0) + 1
	}
	for int64(at) <= f.step && at < len(data) {
		end := Newline(data, at)
		l := f.classify(data[at:end])
		if l.Section != None && (len(b.order) == 0 || b.order[len(b.order)-1] != l.Section) {
			b.order = append(b.order, l.Section)
		}
		if l.Head {
			b.add(l, base+int64(at))
			if l.Section == Funcs || l.Section == Publics {
				b.add(Line{Section: both, Key: l.Key}, base+int64(at))
			}
		}
		b.cut = b.cut || l.Bad && end == len(data)
		at = end + 1
	}
}

// add adds a record to the block's entries, unless one before it in the block has its code or its
// key: the full index drops it too (of equal starts, it keeps the shorter).
func (b *block) add(l Line, off int64) {
	e := Entry{l.Key, l.Size, off}
	list := b.entries[l.Section]
	sized := l.Section == Funcs || l.Section == CFI
	if sized && (e.Size == 0 || e.Key+e.Size < e.Key) {
		return
	}
	if k := len(list); k > 0 {
		switch last := &list[k-1]; {
		case e.Key < last.Key:
			b.descends[l.Section] = true
		case e.Key == last.Key:
			if sized && e.Size < last.Size {
				*last = e
			}
			return
		case sized && last.Has(e.Key):
			return
		}
	}
	b.entries[l.Section] = append(list, e)
}

// admit compares a block with what is known about the file, and adds its fences.
//
// First it finds out whether FUNC and PUBLIC records are mixed; after that all blocks are admitted
// anew. Then it checks that the sections in the block are in order and inside their bounds.
// Sections that end before the block or begin after it get new bounds. Last, each section in the
// block gets a fence. A fence out of order makes its section unsorted.
func (f *File) admit(b *block) error {
	if f.seen[b.n] {
		return nil // it was read before
	}
	if !f.mixed && f.mixes(b) {
		f.mixed = true
		f.reset()
		for _, known := range f.blocks {
			if err := f.admit(known); err != nil {
				return err
			}
		}
		return nil
	}
	f.seen[b.n] = true
	if b.cut {
		return Unsorted{All}
	}
	first, last := numSections, None
	for _, s := range b.order {
		if s == Publics && f.mixed {
			s = Funcs
		}
		if s < last || b.n < f.bounds[s][0] || b.n > f.bounds[s][1] {
			return Unsorted{All}
		}
		first, last = min(first, s), s
		f.spans[s] = [2]int64{min(f.spans[s][0], b.n), max(f.spans[s][1], b.n)}
	}
	if last == None {
		return nil
	}
	for s := Files; s < numSections; s++ {
		if last < s {
			f.bounds[s][0] = max(f.bounds[s][0], b.n+1)
		}
		if first > s {
			f.bounds[s][1] = min(f.bounds[s][1], b.n-1)
		}
		list := b.entries[s]
		if len(list) == 0 || f.unsorted[s] {
			continue
		}
		end := list[len(list)-1]
		at := fence{b.n, list[0].Key, end.Key, end.Key + end.Size, list[0].Off, end.Off}
		fs := f.fences[s]
		i, _ := slices.BinarySearchFunc(fs, b.n, func(a fence, n int64) int { return int(a.n - n) })
		if f.unsorted[s] = b.descends[s] || i > 0 && !fs[i-1].before(&at) || i < len(fs) && !at.before(&fs[i]); !f.unsorted[s] {
			f.fences[s] = slices.Insert(fs, i, at)
		}
	}
	if f.mixed && f.unsorted[both] {
		return Unsorted{All}
	}
	return nil
}

// before reports whether a fence is in order with the next one: no record reaches into the code of
// a later one.
func (a *fence) before(b *fence) bool {
	return a.last < b.first && a.lastEnd <= b.first || a.last == b.first && a.lastEnd == a.last
}

// mixes reports whether a block shows that PUBLIC records are among the FUNC records.
func (f *File) mixes(b *block) bool {
	for i, s := range b.order {
		if s == Publics && (slices.Contains(b.order[i:], Funcs) || b.n < f.spans[Funcs][1]) || s == Funcs && b.n > f.spans[Publics][0] {
			return true
		}
	}
	return false
}
