package symfile

import (
	"bytes"
	"cmp"
	"slices"
)

// Where records lie is asked here: of the index, or of the slices of a file that has none.

// findFunc is the last FUNC that counts and starts at or below an address; it need not cover it.
func (f *File) findFunc(rva uint64) (rec, bool, error) {
	if f.sparse != nil && !f.sparse.exact[groupBody] {
		return f.sparse.exclusive(markFunc, rva)
	}
	r, ok := f.tables[tableFuncs].last(rva)
	return r, ok, nil
}

// findPublic is the PUBLIC record that an address belongs to, where fn is what findFunc gave.
func (f *File) findPublic(rva uint64, fn rec, hasFn bool) (rec, bool, error) {
	if f.sparse != nil && !f.sparse.exact[groupBody] {
		return f.sparse.publicAt(rva, fn, hasFn)
	}
	p, ok := f.tables[tablePublics].last(rva)
	return p, ok && !(hasFn && fn.rva >= p.rva), nil
}

// findInit is the STACK CFI INIT record that covers an address.
func (f *File) findInit(rva uint64) (rec, bool, error) {
	if f.sparse != nil && !f.sparse.exact[groupStack] {
		r, ok, err := f.sparse.exclusive(markInit, rva)
		return r, ok && r.has(rva), err
	}
	r, ok := f.tables[tableInits].last(rva)
	if f.sparse != nil {
		r.line = 0 // counted from the start of the group
	}
	return r, ok && r.has(rva), nil
}

// findWin is the best STACK WIN record for an address, of type 4 (i is 0) or 0 (i is 1).
func (f *File) findWin(i int, rva uint64) (rec, bool, error) {
	if f.sparse != nil && !f.sparse.exact[groupStack] {
		return f.sparse.innermost([2]markKind{markWin4, markWin0}[i], rva)
	}
	r, ok := f.tables[tableWin4+tableKind(i)].innermost(rva)
	if f.sparse != nil {
		r.line = 0
	}
	return r, ok, nil
}

// findFile is the offset of a FILE record.
func (f *File) findFile(num uint32) (int64, bool, error) {
	if f.sparse != nil && !f.sparse.exact[groupFiles] {
		return f.sparse.number(markFile, num)
	}
	off, ok := f.tables[tableFiles].number(num)
	return off, ok, nil
}

// findOrigin is the offset of an INLINE_ORIGIN record.
func (f *File) findOrigin(num uint32) (int64, bool, error) {
	if f.sparse != nil && !f.sparse.exact[groupOrigins] {
		return f.sparse.number(markOrigin, num)
	}
	off, ok := f.tables[tableOrigins].number(num)
	return off, ok, nil
}

// The same, asked for an answer: where a search found it is remembered, to be compared with where an index has it.

func (f *File) funcAt(rva uint64) (rec, bool, error) {
	r, ok, err := f.findFunc(rva)
	f.gave(askFunc, rva, &r, ok, err)
	return r, ok, err
}

func (f *File) publicAt(rva uint64, fn rec, hasFn bool) (rec, bool, error) {
	r, ok, err := f.findPublic(rva, fn, hasFn)
	f.gave(askPublic, rva, &r, ok, err)
	return r, ok, err
}

func (f *File) cfiAt(rva uint64) (rec, bool, error) {
	r, ok, err := f.findInit(rva)
	f.gave(askInit, rva, &r, ok, err)
	return r, ok, err
}

func (f *File) winAt(i int, rva uint64) (rec, bool, error) {
	r, ok, err := f.findWin(i, rva)
	f.gave(askWin4+askKind(i), rva, &r, ok, err)
	return r, ok, err
}

func (f *File) fileAt(num uint32) (int64, bool, error) {
	off, ok, err := f.findFile(num)
	f.gave(askFile, uint64(num), &rec{off: off}, ok, err)
	return off, ok, err
}

func (f *File) originAt(num uint32) (int64, bool, error) {
	off, ok, err := f.findOrigin(num)
	f.gave(askOrigin, uint64(num), &rec{off: off}, ok, err)
	return off, ok, err
}

// lineAt is the line at a file offset, without its end. It is valid until the next read.
func (s *sparse) lineAt(off int64) (line []byte, err error) {
	err = s.eachLine(off, func(b []byte) bool {
		line = b
		return false
	})
	return line, err
}

// spans calls fn with the lines that belong to the FUNC or STACK CFI INIT record at an offset: first its own, then those up
// to the next record.
func (s *sparse) spans(off int64, fn func(b []byte, line int)) error {
	var own recordKind
	return s.eachLine(off, func(b []byte) bool {
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
		fn(b, 0)
		return true
	})
}

// trimBOM takes the mark off that some editors put in front of a text.
func trimBOM(b []byte) []byte { return bytes.TrimPrefix(b, bom) }

// mergeExtras joins two indexes of the runs of lines that stand apart from their records.
func mergeExtras(a, b []extra) []extra {
	a = append(a, b...)
	slices.SortFunc(a, func(a, b extra) int { return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.off, b.off)) })
	return a
}
