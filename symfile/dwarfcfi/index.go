package dwarfcfi

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

const (
	// chunk is the size in bytes of a read of the pass.
	chunk = 256 << 10
	// entryPrefix is how many bytes of an entry the pass needs at most: its head, a segment and two
	// pointers in their longest forms.
	entryPrefix = headSize + 8 + 2*(10+8)
)

// index lists the FDEs of the section by the code that they cover. It reads the section in one
// pass, on the first call only. It parses only the start of an entry, up to the size of the
// function.
func (t *table) index() error {
	if t.indexed {
		return nil
	}
	var list []fdeRange
	s := &t.section
	buf := make([]byte, min(chunk, s.src.Size))
	var have []byte // the filled part of buf, whose first byte is at section offset at
	var at int64
	for off := int64(0); off < s.src.Size; {
		// The next entry's first bytes must be in the buffer; the rest of an entry is never needed
		// here.
		if want := min(entryPrefix, s.src.Size-off); off < at || off+want > at+int64(len(have)) {
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
				break // without a length the next entry cannot be found
			}
		}
		if err == nil && h.empty && s.Terminated {
			break
		}
		if err == nil && !h.empty && !h.isCIE() {
			pl, ok, err := t.fdeRange(&h, p, off)
			switch {
			case s.src.Interrupted(err):
				return err
			case err != nil:
				t.warn("entry", err)
			case ok:
				list = append(list, pl)
			}
		}
		// The length leads to the next entry, whatever this one has.
		off = h.end
	}
	slices.SortStableFunc(list, func(a, b fdeRange) int { return cmp.Compare(a.start, b.start) })
	t.fdes, t.indexed = list, true
	return nil
}

// zero reports whether all bytes are 0.
func zero(p []byte) bool {
	return len(bytes.Trim(p, "\x00")) == 0
}

// fdeRange parses which code an FDE covers. p begins at the entry. It returns false for an FDE of a
// function that the linker discarded: linkers set its address to 0 or to the end of the address
// space, or its size to 0.
func (t *table) fdeRange(h *head, p []byte, off int64) (fdeRange, bool, error) {
	c, err := t.cie(h.cie)
	if err != nil {
		return fdeRange{}, false, err
	}
	if off > largest {
		return fdeRange{}, false, t.bad(off, "an entry in the first 4 GiB of the section", "one after them")
	}
	r := t.reader(p[:min(int64(len(p)), h.end-off)], off)
	r.pos = int(h.body - off)
	start, size := r.extent(c)
	switch {
	case r.err != nil:
		return fdeRange{}, false, r.err
	case size == 0 || start < t.Base:
		return fdeRange{}, false, nil
	case start+size < start || t.AddressSize == 4 && start+size > 1<<32:
		if start >= t.mask(^uint64(1)) {
			return fdeRange{}, false, nil
		}
		return fdeRange{}, false, t.bad(off, "a function inside the address space", fmt.Sprintf("one of 0x%x bytes at 0x%x", size, start))
	}
	return fdeRange{start: start, size: uint32(min(size, largest)), off: uint32(off)}, true, nil
}
