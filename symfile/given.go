package symfile

// What a search has answered is compared with what an index says when there is one. An answer is made of the text at the places where
// its records were found, so the places are remembered and compared, and nothing is read again for it.

// ask is a question where a record lies: an address, or a number.
type ask struct {
	kind askKind
	arg  uint64
}

type askKind uint8

const (
	askFunc askKind = iota
	askPublic
	askInit
	askWin4
	askWin0
	askFile
	askOrigin
	// maxGiven bounds how many answers are remembered.
	maxGiven = 1 << 17
)

// askGroup is the group of sections that a question is about.
var askGroup = [...]group{askFunc: groupBody, askPublic: groupBody, askInit: groupStack, askWin4: groupStack, askWin0: groupStack,
	askFile: groupFiles, askOrigin: groupOrigins}

// gave remembers an answer of a search.
func (f *File) gave(kind askKind, arg uint64, r *rec, ok bool, err error) {
	if f.sparse == nil || err != nil {
		return
	}
	q := ask{kind, arg}
	if _, has := f.given[q]; has {
		return
	}
	if len(f.given) >= maxGiven {
		f.lost = true
		return
	}
	f.given[q] = sumPlace(r, ok)
}

// recheck asks everything again that was asked before, as far as there is an index to answer it.
func (f *File) recheck() {
	for q, was := range f.given {
		if f.sparse != nil && !f.sparse.exact[askGroup[q.kind]] {
			continue
		}
		var r rec
		var ok bool
		var err error
		switch q.kind {
		case askFunc:
			r, ok, err = f.findFunc(q.arg)
		case askPublic:
			var fn rec
			var has bool
			if fn, has, err = f.findFunc(q.arg); err == nil {
				r, ok, err = f.findPublic(q.arg, fn, has)
			}
		case askInit:
			r, ok, err = f.findInit(q.arg)
		case askWin4, askWin0:
			r, ok, err = f.findWin(int(q.kind-askWin4), q.arg)
		case askFile:
			r.off, ok, err = f.findFile(uint32(q.arg))
		case askOrigin:
			r.off, ok, err = f.findOrigin(uint32(q.arg))
		}
		// Lines that stand apart from their record were not found by going on from it.
		apart := ok && (q.kind == askFunc || q.kind == askInit) && len(f.extrasOf(&r)) > 0
		if err != nil || apart || sumPlace(&r, ok) != was {
			f.revised = true
			delete(f.given, q)
		}
	}
	if f.lost {
		f.revised, f.lost = true, false
	}
}

// sum is a checksum in the making.
type sum uint64

func (h *sum) add(v uint64) { *h = (*h ^ sum(v)) * 0x9e3779b97f4a7c15; *h ^= *h >> 29 }

func sumPlace(r *rec, ok bool) uint64 {
	if !ok {
		return 0
	}
	h := sum(1)
	h.add(uint64(r.off))
	h.add(r.rva)
	h.add(r.size)
	return uint64(h)
}
