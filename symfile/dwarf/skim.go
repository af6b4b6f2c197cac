package dwarf

// skimFrom is the size of a unit, in bytes, from which on lookups skim it.
var skimFrom = int64(16 << 10)

// skimStep is how much is read at a time of a unit that is skimmed: functions are about as large, and those that an address does
// not lie in are not read.
const skimStep = 1 << 10

// skim reads the functions of a unit that stand directly in it, and passes over what is inside of anything, by DW_AT_sibling.
// GCC writes that, and puts nearly all functions there; the others are found by reading the unit as a whole, when no function
// covers an address. ok is false if the unit is not made so.
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
	sec.step = skimStep
	defer func() { sec.step = 0 }()
	for at, n := u.root, int64(64); at < u.end; {
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
			return false, nil // whoever reads all of it says what is wrong
		}
		first, fn := r.p, int32(-1)
		if a.kind == kindFunction && a.code {
			if fn, err = d.function(data, &r, a, at, level{fn: -1}); err != nil {
				return false, nil
			}
		} else {
			r.pass(a.passes, u.encoding)
		}
		if r.bad {
			if int64(len(r.b)) >= u.end-at {
				return false, nil
			}
			n *= 8
			continue
		}
		if !a.children && at == u.root {
			return true, nil
		}
		n = 64
		next := at + int64(r.p)
		if a.children && at > u.root {
			if next = u.siblingOf(&r, a, at, first); next == 0 { // the last one
				next = u.end
			}
		}
		if fn >= 0 {
			data.fns[fn].end, data.fns[fn].open = next, a.children
		}
		at = next
	}
	return true, nil
}

// expand reads the inlined calls of a function of a unit that was skimmed.
func (d *Data) expand(data *unitData, n int32) error {
	fn := &data.fns[n]
	if !fn.open {
		return nil
	}
	u := data.body
	b, err := u.sec().bytes(fn.off, fn.end-fn.off)
	if err != nil {
		return d.note(err)
	}
	t, err := u.obj.abbrevsOf(u.abbrev, u.encoding)
	if err != nil {
		return d.note(err)
	}
	r := &reader{b: b, big: u.obj.big}
	a := t.get(r.uleb())
	if a == nil {
		return nil
	}
	r.pass(a.passes, u.encoding)
	fn.open = false
	from := len(data.calls)
	err = d.entries(data, r, fn.off, []level{{fn: -1}, {fn: n}})
	if d.note(err) != nil {
		data.fns[n].open = true
		return err
	}
	kept := data.calls[:from] // without those of functions inside of this one
	for _, c := range data.calls[from:] {
		if c.fn == n {
			kept = append(kept, c)
		}
	}
	data.calls = kept
	data.fns[n].calls = stretchOf{int32(from), int32(len(kept))}
	data.size += 40 * (len(kept) - from)
	return nil
}
