package gopclntab

import (
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core/input"
)

// module is what runtime.moduledata says of the program: where its text begins, and from where
// funcdata counts. Both are 0 before Go 1.18, whose records have addresses.
type module struct{ text, funcdata uint64 }

// Words of runtime.moduledata. It begins with a pointer to the header and six slices of three words
// each: names, cutab, files, pctab, records, functab. So it has been since Go 1.16; Go 1.20 put two
// words before gofunc.
const (
	wordNames    = 1
	wordFunctab  = 16
	wordText     = 22
	wordGofunc18 = 38
	wordGofunc20 = 40
	moduleWords  = 41
)

// findModule finds the program's moduledata: the place that points to the table's header, names and
// functab. Without it there is the header's start of the text before Go 1.26, and no inlined call.
func (t *Table) findModule() error {
	if t.version < go18 {
		return nil
	}
	m, ok, err := t.moduleInRelocations()
	for _, p := range t.cfg.Data {
		if ok || err != nil {
			break
		}
		m, ok, err = t.moduleIn(p)
	}
	if err != nil {
		return err
	}
	if !ok {
		if t.text == 0 {
			return t.bad(-1, "runtime.moduledata, which has the start of the text", "none that points to the table")
		}
		m.text = t.text
	}
	t.module = m
	return nil
}

// moduleIn searches a part of the program's data.
func (t *Table) moduleIn(p Part) (m module, ok bool, err error) {
	const most = 64 << 10
	w := int64(t.word)
	buf := make([]byte, most)
	for off := p.aligned(t.word); off < p.Src.Size; off += most {
		n, err := p.Src.ReadAt(buf[:min(most, p.Src.Size-off)], off)
		if err != nil && err != io.EOF {
			return m, false, p.Src.Wrap(part, off, err)
		}
		for i := int64(0); i+w <= int64(n); i += w {
			if number(t.order, buf[i:], t.word) != t.address {
				continue
			}
			at := off + i
			words := func(n int) (uint64, error) {
				b, err := p.Src.Bytes(at+int64(n)*w, w)
				if err != nil {
					return 0, err
				}
				return number(t.order, b, t.word), nil
			}
			if m, ok, err := t.moduleAt(words); ok || input.Needs(err) {
				return m, ok, err
			}
		}
	}
	return m, false, nil
}

// aligned returns the offset of the first aligned word.
func (p Part) aligned(word int) int64 { return int64(-p.Address & uint64(word-1)) }

// moduleInRelocations searches the words that have no value in the file.
func (t *Table) moduleInRelocations() (m module, ok bool, err error) {
	if t.cfg.Relocations == nil {
		return m, false, nil
	}
	const most = 16 // places that point to the header: the program has one
	var places []uint64
	err = t.cfg.Relocations(func(at, value uint64) error {
		if value == t.address && len(places) < most {
			places = append(places, at)
		}
		return nil
	})
	if err != nil || len(places) == 0 {
		return m, false, err
	}
	words := map[uint64]uint64{}
	size := uint64(moduleWords * t.word)
	err = t.cfg.Relocations(func(at, value uint64) error {
		for _, p := range places {
			if at-p < size {
				words[at] = value
			}
		}
		return nil
	})
	for _, p := range places {
		m, ok, _ := t.moduleAt(func(n int) (uint64, error) { return words[p+uint64(n*t.word)], nil })
		if ok {
			return m, true, err
		}
	}
	return m, false, err
}

// moduleAt checks and reads a moduledata.
func (t *Table) moduleAt(word func(n int) (uint64, error)) (m module, ok bool, err error) {
	gofunc := wordGofunc20
	if t.version == go18 {
		gofunc = wordGofunc18
	}
	var v [4]uint64
	for i, n := range []int{wordNames, wordFunctab, wordText, gofunc} {
		if v[i], err = word(n); err != nil {
			return m, false, err
		}
	}
	if v[0] != t.address+uint64(t.names) || v[1] != t.address+uint64(t.functab) {
		return m, false, nil
	}
	return module{v[2], v[3]}, true, nil
}

// inCode returns the end of the code around an address, or false if the file has no code there.
func (t *Table) inCode(address uint64) (end uint64, ok bool) {
	for _, r := range t.cfg.Code {
		if address >= r[0] && address < r[1] {
			return r[1], true
		}
	}
	return 0, false
}

// hex is an address for messages.
func hex(v uint64) string { return fmt.Sprintf("0x%x", v) }
