package dumpsyms

import (
	"cmp"
	"slices"
)

// public is a PUBLIC record.
type public struct {
	rva  uint64
	name string
}

// body writes FUNC and PUBLIC records by address, as Mozilla's dump_syms does.
//
// A PUBLIC inside of a FUNC would never be found: readers ask for functions first. Functions of one address become one record,
// that of the first, marked as standing for several if their names differ.
func (o *output) body(s *spool, publics func(func(uint64, string) error) error) error {
	recs := s.recs[:0]
	for _, r := range s.recs {
		if n := len(recs); n > 0 {
			last := &recs[n-1]
			if r.start == last.start {
				u, v := s.at(&r), s.at(last)
				if u.text() != v.text() {
					last.multiple = true
				}
				o.n.Overlapping++
				continue
			}
			if r.start-last.start < last.size {
				o.n.Overlapping++
				continue
			}
		}
		recs = append(recs, r)
	}
	var pubs []public
	if publics != nil {
		err := publics(func(rva uint64, name string) error {
			if rva == 0 { // no code lies at a module's first byte; readers leave such records out
				return nil
			}
			i, exact := slices.BinarySearchFunc(recs, rva, func(r spooled, v uint64) int { return cmp.Compare(r.start, v) })
			if exact || i > 0 && rva-recs[i-1].start < recs[i-1].size {
				return nil
			}
			pubs = append(pubs, public{rva, name})
			return nil
		})
		if err != nil {
			return err
		}
		slices.SortStableFunc(pubs, func(a, b public) int { return cmp.Compare(a.rva, b.rva) })
		pubs = slices.CompactFunc(pubs, func(a, b public) bool { return a.rva == b.rva })
	}
	for i := range recs {
		for len(pubs) > 0 && pubs[0].rva < recs[i].start {
			o.public(pubs[0])
			pubs = pubs[1:]
		}
		o.function(s.at(&recs[i]), &recs[i])
	}
	for _, p := range pubs {
		o.public(p)
	}
	return o.err
}

func (o *output) public(p public) {
	o.n.Publics++
	o.str("PUBLIC")
	o.hex(p.rva)
	o.str(" 0")
	o.name(p.name)
	o.end()
}

// function writes FUNC [m] address size parameter_size name, and the records under it: INLINE nest_level call_line call_file
// origin [address size]+ and address size line file.
func (o *output) function(u unpacker, r *spooled) {
	o.n.Funcs++
	name := u.text()
	o.str("FUNC")
	if r.multiple {
		o.str(" m")
	}
	o.hex(r.start)
	o.hex(r.size)
	o.hex(u.num())
	o.name(name)
	o.end()

	// Inlined calls stand before the lines, which lie before them in the packed form.
	lines := u
	for n := u.num(); n > 0; n-- {
		u.num()
		u.num()
		u.num()
		u.num()
	}
	for n := u.num(); n > 0; n-- {
		o.n.Inlines++
		o.str("INLINE")
		o.dec(u.num())
		o.dec(u.num())
		o.dec(u.num())
		o.dec(u.num())
		for k := u.num(); k > 0; k-- {
			o.hex(r.start + u.num())
			o.hex(u.num())
		}
		o.end()
	}
	at, line := r.start, int64(0)
	for n := lines.num(); n > 0; n-- {
		o.n.Lines++
		at += lines.num()
		size := lines.num()
		line += lines.signed()
		o.buf = appendHex(o.buf, at)
		o.hex(size)
		o.dec(uint64(line))
		o.dec(lines.num())
		o.end()
		at += size
	}
}
