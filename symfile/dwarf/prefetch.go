package dwarf

import (
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

const (
	// prefetchBytes is how many bytes of units, without their lines, Prefetch handles at a time, so
	// that what was read for them is still there when they are decoded.
	prefetchBytes = 8 << 20
	// wholeUnit is the size in bytes of a unit or a line program up to which it is read at once.
	wholeUnit = 4 << 20
)

// Prefetch decodes the units that have the addresses, for lookups that follow. It reads in rounds,
// for all units together:
//
//	the sections that say which units cover the addresses; if these do not know an address, the
//	  headers and first entries of all units, and then their ranges
//	headers, first entries and abbreviations
//	entries, line programs, and their parts of the tables of addresses and of offsets of strings
//
// Errors are dropped: the lookups meet them again.
func (d *Data) Prefetch(rvas []uint64, rounds *input.Rounds) {
	units, ok := d.covering(rvas, rounds)
	if !ok {
		return
	}
	units = slices.DeleteFunc(units, func(off int64) bool {
		return slices.ContainsFunc(d.cache, func(c *unitData) bool { return c.u.off == off })
	})
	for len(units) > 0 {
		batch, rest := units, []int64(nil)
		bytes := int64(0)
		rounds.Run(len(batch), func(i int) { d.open(batch[i]) }, nil)
		for i, off := range batch {
			if u := d.main.byOff[off]; u != nil {
				bytes += min(u.end-u.off, wholeUnit)
			}
			if bytes > prefetchBytes {
				batch, rest = batch[:i+1], batch[i+1:]
				break
			}
		}
		rounds.Run(len(batch), func(i int) { d.request(batch[i]) }, nil)
		for _, off := range batch {
			if _, err := d.loadAt(off); err != nil {
				return
			}
		}
		units = rest
	}
}

// covering returns the offsets of the units that have any of the addresses, in their order.
func (d *Data) covering(rvas []uint64, rounds *input.Rounds) (units []int64, ok bool) {
	if d.readAranges() != nil {
		return nil, false
	}
	unknown := false
	add := func(ranges unitRanges, rva uint64) {
		var list [maxOver]int64
		found := ranges.over(list[:0], rva, rva+1)
		unknown = unknown || len(found) == 0
		units = append(units, found...)
	}
	for _, rva := range rvas {
		add(d.byAddress.aranges, rva)
	}
	if unknown {
		rounds.Run(1, func(int) { d.readRoots() }, nil)
		if d.readRoots() != nil {
			return nil, false
		}
		for _, rva := range rvas {
			add(d.byAddress.roots, rva)
		}
	}
	slices.Sort(units)
	return slices.Compact(units), true
}

// open reads the header, the first entry and the abbreviations of the unit at an offset.
func (d *Data) open(off int64) error {
	u, err := d.main.unitAt(off)
	if err != nil {
		return err
	}
	if err := u.rootOf(); err != nil {
		return err
	}
	_, err = u.obj.abbrevsOf(u.abbrev, u.encoding)
	return err
}

// request asks for the entries and the line program of the unit at an offset, and for its parts of tables
// (DWARF 5, sections 7.26 and 7.27), which have a header of 8 bytes before the base: the length, which counts
// from after itself, the version and two more bytes. Errors are those of the readers, which meet them
// again. The tables of 64-bit DWARF are left to their readers, too.
func (d *Data) request(off int64) {
	u := d.main.byOff[off]
	if u == nil || !u.rooted {
		return
	}
	want(u.sec(), u.off, u.end-u.off)
	if u.hasStmts {
		d.wantFrom(secLine, u.stmts)
	}
	if u.version >= 5 && u.encoding.off == 4 {
		d.wantFrom(secAddr, u.addrBase-8)
		d.wantFrom(secStrOffsets, u.strBase-8)
	}
}

// wantFrom asks for what begins with its length at an offset of a section.
func (d *Data) wantFrom(id sectionID, at int64) {
	sec, err := d.main.section(id)
	if sec == nil || err != nil || at < 0 {
		return
	}
	if length, err := sec.number(at, 4, d.main.big); err == nil {
		want(sec, at, 4+int64(length))
	}
}

// want asks for n bytes of a section. Many are left to their readers, which read them piece by piece.
func want(sec *section, at, n int64) {
	if n <= wholeUnit && n <= sec.size-at {
		sec.src.Want(at, n)
	}
}
