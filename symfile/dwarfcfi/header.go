package dwarfcfi

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// header is an .eh_frame_hdr (LSB Core, "DWARF Extensions", section 10.6.2): pairs of a function's
// start and its FDE, sorted for binary search.
//
//	version 1 | eh_frame_ptr_enc 1 | fde_count_enc 1 | table_enc 1 | eh_frame_ptr | fde_count | {start, FDE} …
//
// Example, that of GNU ld and LLD:
//
//	01 1b 03 3b    pointers to .eh_frame relative to themselves, signed 4 bytes; a count of 4 bytes;
//	               pairs relative to the start of .eh_frame_hdr, signed 4 bytes
//	d4 0f 00 00    .eh_frame begins 0xfd4 bytes after the start of this field
//	06 00 00 00    6 pairs follow, of 8 bytes each
type header struct {
	section
	table int64 // offset of the first pair
	count int
	width int // of one pair in bytes

	countEnc, enc uint8 // encodings of the count and of the pairs

	// probeStarts has the starts of the pairs that openHeader read. A search begins between two of
	// them, so that it needs one read of the table instead of one for each halving.
	probeStarts []uint64
}

// probes is how many pairs openHeader reads, and checked how many of those it compares with their
// FDE.
const (
	probes  = 64
	checked = 4
	// probeSize is the size of each of these reads in bytes.
	probeSize = 64
)

// FrameAddress returns the link-time address of the .eh_frame that belongs to an .eh_frame_hdr. In
// a file without section headers, the segment PT_GNU_EH_FRAME gives the .eh_frame_hdr. The size of
// the .eh_frame is then unknown (see Config.Terminated).
func FrameAddress(hdr *input.Source, address uint64, cfg Config) (uint64, error) {
	if err := cfg.check(); err != nil {
		return 0, err
	}
	h := header{section: section{src: hdr, name: ".eh_frame_hdr", address: address, eh: true, Config: cfg}}
	_, frame, ok, err := h.start()
	if err == nil && !ok {
		err = h.bad(1, "the address of .eh_frame", "none")
	}
	return frame, err
}

// start reads the header up to the address of .eh_frame.
func (h *header) start() (r reader, frame uint64, ok bool, err error) {
	p, err := h.bytes(0, min(64, h.src.Size))
	if err != nil {
		return r, 0, false, err
	}
	r = h.reader(p, 0)
	version, frameEnc := r.u8(), r.u8()
	h.countEnc, h.enc = r.u8(), r.u8()
	if r.err == nil && version != 1 {
		return r, 0, false, h.bad(0, "version 1", fmt.Sprintf("version %d", version))
	}
	frame, ok = r.pointer(frameEnc, h.AddressSize, 0, h.address)
	return r, frame, ok, r.err
}

// openHeader reads the header and checks that it belongs to the section and can be searched. It
// returns nil, nil for a header without a table, which a linker writes if it could not sort the
// entries.
//
// It compares the address of .eh_frame, the order of the probes, and some probes with their FDEs: a
// tool that rewrites a program may leave the .eh_frame_hdr of the .eh_frame before. The lookup of
// an address compares the pair that it finds and its neighbors too (find).
func (t *table) openHeader(src *input.Source, address uint64) (*header, error) {
	h := &header{section: section{src: src, name: ".eh_frame_hdr", address: address, eh: true, near: probeSize, Config: t.Config}}
	r, frame, ok, err := h.start()
	if err != nil {
		return nil, err
	}
	if ok && frame != t.address {
		return nil, h.bad(4, fmt.Sprintf("the address of .eh_frame, 0x%x", t.address), fmt.Sprintf("0x%x", frame))
	}
	at := r.at()
	count, ok := r.pointer(h.countEnc, h.AddressSize, 0, address)
	switch {
	case r.err != nil:
		return nil, r.err
	case !ok || h.enc == peOmit || count == 0:
		return nil, nil
	}
	h.table = r.at()
	size := fixedSize(h.enc, h.AddressSize)
	if size == 0 || h.enc&peIndirect != 0 || h.enc&peRelative == peAligned || h.enc&peRelative == peFunction {
		return nil, h.bad(3, "an encoding that can be searched", fmt.Sprintf("0x%02x", h.enc))
	}
	h.width = 2 * size
	if room := (src.Size - h.table) / int64(h.width); count > uint64(room) {
		return nil, h.bad(at, fmt.Sprintf("at most %d pairs, which fit the section", room), fmt.Sprintf("%d", count))
	}
	h.count = int(count)
	defer func() { h.near, h.back = windowSize, windowSize/2 }()
	var missing error // the probes are read together, see input.Rounds
	for i := 0; i <= probes; i++ {
		pos := h.table + int64(h.probe(i))*int64(h.width)
		missing = cmp.Or(src.Want(pos, min(probeSize, src.Size-pos)), missing)
	}
	if missing != nil {
		return nil, missing
	}
	var last uint64
	h.probeStarts = make([]uint64, 0, probes+1)
	for i := 0; i <= probes; i++ {
		n := h.probe(i)
		start, off, err := h.pair(t, n)
		if err != nil {
			return nil, err
		}
		if start < last {
			return nil, h.unsorted(n, start, last)
		}
		last = start
		h.probeStarts = append(h.probeStarts, start)
		if i%(probes/checked) == 0 {
			if _, err := h.fde(t, n, start, off); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// probe returns the index of the pair that is probe i.
func (h *header) probe(i int) int { return int(int64(h.count-1) * int64(i) / probes) }

// unsorted is the error for pair i, whose start is below that of a pair before it.
func (h *header) unsorted(i int, start, last uint64) error {
	return h.bad(h.table+int64(i)*int64(h.width), fmt.Sprintf("pairs by address, after 0x%x", last), fmt.Sprintf("0x%x", start))
}

// pair returns pair i: the start of a function, and the offset of its FDE in the section.
func (h *header) pair(t *table, i int) (start uint64, off int64, err error) {
	pos := h.table + int64(i)*int64(h.width)
	p, err := h.bytes(pos, int64(h.width))
	if err != nil {
		return 0, 0, err
	}
	r := h.reader(p, pos)
	start, _ = r.pointer(h.enc, h.AddressSize, 0, h.address)
	entry, _ := r.pointer(h.enc, h.AddressSize, 0, h.address)
	if r.err != nil {
		return 0, 0, r.err
	}
	if entry < t.address || entry-t.address >= uint64(t.src.Size) {
		return 0, 0, h.bad(pos, "the address of an entry in .eh_frame", fmt.Sprintf("0x%x", entry))
	}
	return start, int64(entry - t.address), nil
}

// fde reads the FDE of pair i, and checks that it has the pair's start.
func (h *header) fde(t *table, i int, start uint64, off int64) (fde, error) {
	f, err := t.fdeAt(off)
	if err == nil && f.start != start {
		err = h.bad(h.table+int64(i)*int64(h.width), fmt.Sprintf("an entry for 0x%x", start), fmt.Sprintf("one for 0x%x", f.start))
	}
	return f, err
}

// guesses is how often narrow interpolates before it bisects.
const guesses = 3

// narrow narrows the range of pairs [from, to) until it fits one window of the file. The result
// still has, or begins after, the last pair that starts at or below pc. narrow interpolates, since
// functions are of similar size all over a file and a guess mostly hits. k is the index of the
// first probe above pc.
func (h *header) narrow(t *table, from, to int, pc uint64, k int) (int, int, error) {
	if h.src.Memory() != nil {
		return from, to, nil
	}
	low, high := h.probeStarts[k-1], ^uint64(0)
	if k < len(h.probeStarts) {
		high = h.probeStarts[k]
	}
	// side compares pair i with pc and moves one end of the range to it.
	side := func(i int) (above bool, err error) {
		start, _, err := h.pair(t, i)
		if err != nil {
			return false, err
		}
		if start > pc {
			to, high = i, start
			return true, nil
		}
		from, low = i+1, start
		return false, nil
	}
	// Each round reads one window of the file around the guess, and compares its first and its last
	// pair with pc. The range then ends in the window, begins after it, or is inside of it.
	for n := 0; int64(to-from)*int64(h.width) > h.near/2; n++ {
		guess := from + (to-from)/2
		if n < guesses && high > low && pc >= low {
			guess = from + int(float64(to-from)*(float64(pc-low)/float64(high-low)))
			guess = min(max(guess, from), to-1)
		}
		pos := h.table + int64(guess)*int64(h.width)
		w, err := h.window(pos, int64(h.width))
		if err != nil {
			return 0, 0, h.src.Wrap(h.name, pos, err)
		}
		first := max(from, int((w.at-h.table+int64(h.width)-1)/int64(h.width)))
		last := min(to, int((w.at+int64(len(w.data))-h.table)/int64(h.width))) - 1
		if above, err := side(first); err != nil {
			return 0, 0, err
		} else if above || last <= first {
			continue
		}
		if _, err := side(last); err != nil {
			return 0, 0, err
		}
	}
	return from, to, nil
}

// find searches the table for the FDE that covers an address. An error that is not one of reading
// means that the header is unusable.
//
// In order: the two probes around the address; narrow, to one window of the file; a binary search
// in that; the neighbors of the result, which show an unsorted table; the FDE.
func (h *header) find(t *table, pc uint64) (fde, bool, error) {
	var broken error
	from, to := 0, h.count
	k := sort.Search(len(h.probeStarts), func(k int) bool { return h.probeStarts[k] > pc })
	if k == 0 {
		return fde{}, false, nil
	}
	// The pair at probe k-1 starts at or below pc, and that at probe k above it, so the result is
	// between them.
	from = h.probe(k-1) + 1
	if k < len(h.probeStarts) {
		to = h.probe(k)
	}
	if from, to, broken = h.narrow(t, from, to, pc, k); broken != nil {
		return fde{}, false, broken
	}
	i := from + sort.Search(to-from, func(i int) bool {
		start, _, err := h.pair(t, from+i)
		if err != nil && broken == nil {
			broken = err
		}
		return err != nil || start > pc
	}) - 1
	if broken != nil || i < 0 {
		return fde{}, false, broken
	}
	start, off, err := h.pair(t, i)
	if err != nil {
		return fde{}, false, err
	}
	// In an unsorted table the search finds some entry too, mostly a wrong one. Comparing the
	// neighbours of the result finds most such tables.
	for _, n := range [...]int{i - 1, i + 2} {
		if n < 0 || n >= h.count {
			continue
		}
		other, _, err := h.pair(t, n)
		if err != nil {
			return fde{}, false, err
		}
		if n < i && other > start || n > i && other <= pc {
			return fde{}, false, h.unsorted(n, other, start)
		}
	}
	f, err := h.fde(t, i, start, off)
	if err != nil {
		return fde{}, false, err
	}
	return f, pc-f.start < f.size, nil
}
