package dwarf

import (
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// skimFrom is the least size in bytes of a unit that lookups skim.
var skimFrom = int64(16 << 10)

// skimStep is the size in bytes of a read while skimming. A function's entries are about as large,
// so that skim reads little of the functions that do not cover the address.
const skimStep = 1 << 10

// skimFar is skimStep where a read costs as much as that many bytes.
const skimFar = 128 << 10

// skim reads the functions that are children of a unit's first entry, and skips the entries below
// them by DW_AT_sibling. GCC writes DW_AT_sibling and makes nearly all functions with code children
// of the unit, also those of classes and namespaces. If no function found so covers the address,
// the lookup decodes the whole unit (loadWhole). ok is false if the unit is small or not by GCC.
//
//	compile_unit          read
//	  base_type int       read, of no interest
//	  structure_type s    read for its sibling
//	    member …          skipped
//	  subprogram f        read: its ranges
//	    variable …        skipped; expand reads them if f covers the address
func (d *Data) skim(data *unitData) (ok bool, err error) {
	u := data.body
	if !u.gnu || u.end-u.root < skimFrom {
		return false, nil
	}
	sec := u.sec()
	t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
	if err != nil {
		return false, err
	}
	step := int64(skimStep)
	if input.ReadsMany(sec.src) {
		step = skimFar
	}
	defer func() { sec.step = 0 }()
	// Each round reads one entry: the unit's first one, then its children. at is its offset, n how
	// many bytes to ask for; an entry that is longer is read again with eight times as many.
	for at, n := u.root, int64(64); at < u.end; {
		sec.step = min(step, u.end-at)
		b, err := sec.upTo(at, min(n, u.end-at))
		if err != nil {
			return false, err
		}
		r := reader{b: b[:min(int64(len(b)), u.end-at)], big: u.obj.big}
		code := r.uleb()
		if code == 0 && !r.bad {
			return true, nil
		}
		a := t.get(code)
		if a == nil {
			return false, nil // walk will report it
		}
		first, fn := r.p, int32(-1)
		if a.kind == kindFunction && a.code {
			if fn, err = d.function(data, &r, a, at, level{fn: -1}); err != nil {
				if input.Needs(err) {
					return false, err
				}
				return false, nil
			}
		} else {
			r.skipEntry(a.skips, u.encoding)
		}
		if r.bad {
			if int64(len(r.b)) >= u.end-at {
				return false, nil
			}
			n *= 8
			continue
		}
		// A unit without children has no functions.
		if !a.children && at == u.root {
			return true, nil
		}
		n = 64
		next := at + int64(r.p)
		if a.children && at > u.root {
			if next = u.siblingOf(&r, a, at, first); next == 0 { // the last child has no sibling
				next = u.end
			}
		}
		// What is between the entry and its sibling are its variables, blocks and inlined calls.
		// expand reads them if they are needed.
		if fn >= 0 {
			data.fns[fn].end, data.fns[fn].open = next, a.children
		}
		at = next
	}
	return true, nil
}

// expand reads the inlined calls of a function, unless that is done.
func (d *Data) expand(data *unitData, n int32) error {
	fn := &data.fns[n]
	if !fn.open {
		return nil
	}
	u := data.body
	b, err := u.sec().bytes(fn.off, fn.end-fn.off)
	if err != nil {
		return d.warnings.Pass(err)
	}
	t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
	if err != nil {
		return d.warnings.Pass(err)
	}
	r := &reader{b: b, big: u.obj.big}
	a := t.get(r.uleb())
	if a == nil {
		return nil
	}
	r.skipEntry(a.skips, u.encoding)
	from, spans := len(data.calls), len(data.spans)
	// The two levels are the unit's first entry and the function, as if the walk had come here from
	// the start.
	err = d.entries(data, r, fn.off, []level{{fn: -1}, {fn: n}}, false, true)
	if err = d.warnings.Pass(err); err != nil {
		data.calls, data.spans = data.calls[:from], data.spans[:spans]
		return err
	}
	fn.open, fn.calls = false, indexRange{int32(from), int32(len(data.calls))}
	if slices.Contains(d.cache, data) { // unless it was evicted for another unit of the same lookup
		d.charge(data, data.memory()-data.size)
	}
	return nil
}
