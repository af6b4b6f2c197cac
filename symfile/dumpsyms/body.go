package dumpsyms

import (
	"cmp"
	"math"
)

// body writes FUNC and PUBLIC records by address, as Mozilla's dump_syms does.
//
// A PUBLIC inside of a FUNC would never be found: readers ask for functions first. Functions of one
// address become one record, with the name of the first, marked "m" (several functions) if their
// names differ. Of several PUBLIC records at one address the first counts.
//
// A PUBLIC counts up to the next one. If the code of a function without a name begins before that,
// a PUBLIC "<unknown in app.exe>" says so, as Mozilla's dump_syms calls such functions. The unwind
// rules of a PE file would not show it: a function may have several records.
func (o *output) body(s *sorter, nameEnd func(start, limit uint64) (uint64, error)) error {
	var last record // the function that is to be written, or one of size 0
	var text []byte
	flush := func() {
		if last.size > 0 {
			o.function(text, &last)
		}
		last.size = 0
	}
	covered, public := uint64(0), uint64(0) // where the last function ends; the address of the last PUBLIC
	open := false                           // whether the last record is a PUBLIC
	closePublic := func(next uint64) error {
		if !open || nameEnd == nil || next <= public {
			return nil
		}
		open = false
		end, err := nameEnd(public, next)
		if err == nil && end < next {
			o.public(end, "<unknown in "+o.program+">")
		}
		return err
	}
	err := s.each(func(r *record, of unpacker) error {
		isPublic := r.size == 0
		if r.start >= covered {
			if err := closePublic(r.start); err != nil {
				return err
			}
		}
		switch {
		case r.start < covered && isPublic:
		case r.start < covered:
			if u, v := of, unpacker(text); r.start == last.start && u.text() != v.text() {
				last.multiple = true
			}
			o.n.Overlapping++
		case isPublic:
			if flush(); r.start != public {
				o.public(r.start, of.text())
				open = true
			}
			public = r.start
		default:
			flush()
			last, text = *r, append(text[:0], of...)
			covered = r.start + r.size
		}
		return o.err
	})
	flush()
	return cmp.Or(err, closePublic(math.MaxUint32))
}

// public writes a PUBLIC record. The size of its parameters is not known and written as 0.
func (o *output) public(rva uint64, name string) {
	o.n.Publics++
	o.str("PUBLIC")
	o.hex(rva)
	o.str(" 0")
	o.name(name)
	o.end()
}

// function writes FUNC [m] address size parameter_size name, and the records under it: INLINE
// nest_level call_line call_file origin [address size]+ and address size line file.
func (o *output) function(u unpacker, r *record) {
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

	// Inlined calls are written before the lines, but the packed form has them after.
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
