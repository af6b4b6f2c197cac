package dwarfcfi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

const (
	// chunk is how much of the section a pass reads at a time.
	chunk = 256 << 10
	// enough is what has to be there of an entry to know which code it is about: its head, a segment and two pointers in their
	// longest forms.
	enough = headSize + 8 + 2*(10+8)
)

// index reads the section once, unless that has been done, and keeps where the FDE of each stretch of code lies.
func (t *table) index() error {
	if t.indexed {
		return nil
	}
	var places []place
	s := &t.section
	buf := make([]byte, min(chunk, s.src.Size))
	var have []byte // what of buf is filled, from the section offset at on
	var at int64
	for off := int64(0); off < s.src.Size; {
		if want := min(enough, s.src.Size-off); off < at || off+want > at+int64(len(have)) {
			n := min(int64(len(buf)), s.src.Size-off)
			if _, err := s.src.ReadDirect(buf[:n], off); err != nil {
				return s.src.Wrap(s.name, off, err)
			}
			have, at = buf[:n], off
		}
		p := have[off-at:]
		h, err := s.head(p[:min(len(p), headSize)], off)
		if err != nil {
			if s.src.Size-off < 4 && zero(p) {
				break // padding
			}
			t.warn("entry", err)
			if h.end <= off {
				break // without a length nothing after it can be found
			}
		}
		if err == nil && h.empty && s.Terminated {
			break
		}
		if err == nil && !h.empty && !h.isCIE() {
			pl, ok, err := t.place(&h, p, off)
			switch {
			case input.Needs(err):
				return err
			case err != nil:
				t.warn("entry", err)
			case ok:
				places = append(places, pl)
			}
		}
		off = h.end
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.start, b.start) })
	t.places, t.indexed = places, true
	return nil
}

func zero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// place reads which code an FDE is about, out of p, which begins at the entry. False says that it is about none: linkers leave
// entries of functions that they threw away, at address 0 or at the address space's end, or with no size.
func (t *table) place(h *head, p []byte, off int64) (place, bool, error) {
	c, err := t.cie(h.cie)
	if err != nil {
		return place{}, false, err
	}
	if off > largest {
		return place{}, false, t.bad(off, "an entry in the first 4 GiB of the section", "one behind them")
	}
	r := t.reader(p[:min(int64(len(p)), h.end-off)], off)
	r.pos = int(h.body - off)
	start, size := r.extent(c)
	switch {
	case r.err != nil:
		return place{}, false, r.err
	case size == 0 || start < t.Base:
		return place{}, false, nil
	case start+size < start || t.AddressSize == 4 && start+size > 1<<32:
		if start >= t.mask(^uint64(1)) {
			return place{}, false, nil
		}
		return place{}, false, t.bad(off, "a function inside of the address space", fmt.Sprintf("one of 0x%x bytes at 0x%x", size, start))
	}
	return place{start: start, size: uint32(min(size, largest)), off: uint32(off)}, true, nil
}
