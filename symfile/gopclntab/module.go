package gopclntab

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// module is what runtime.moduledata says about the program: where its text begins, and from where
// funcdata counts. Both are 0 before Go 1.18, whose records have addresses.
type module struct {
	text, funcdata uint64
	sections       []section
}

// section is a part of a text that the linker has divided, because branches would not reach far
// enough on arm and ppc64: distances from start to end are those in the part at an address. The
// system's linker puts stubs between the parts.
type section struct{ start, end, address uint64 }

// address returns the address at a distance from the start of the text (runtime/symtab.go, textAddr).
func (m *module) address(distance uint64) uint64 {
	last := len(m.sections) - 1
	i := sort.Search(len(m.sections), func(i int) bool {
		// The end of the last function is that of the last part.
		return distance < m.sections[i].end || i == last && distance == m.sections[i].end
	})
	if i <= last && distance >= m.sections[i].start {
		return m.sections[i].address + distance - m.sections[i].start
	}
	return m.text + distance
}

// Words of runtime.moduledata. It begins with a pointer to the header and six slices of three words
// each: names, cutab, files, pctab, records, functab. So it has been since Go 1.16; Go 1.20 put two
// words before gofunc. The slice of the text's sections follows it, since Go 1.26 after a word.
const (
	wordNames    = 1
	wordFunctab  = 16
	wordText     = 22
	wordGofunc18 = 38
	wordGofunc20 = 40
)

// findModule finds the program's moduledata: the place that points to the table's header, names and
// functab. Without it there is the header's start of the text before Go 1.26, and no inlined call.
func (t *Table) findModule() error {
	if t.version < go18 {
		return nil
	}
	text, err := t.pointer(t.address + 8 + 2*uint64(t.word))
	if err != nil {
		return err
	}
	found := errors.New("found")
	see := func(at, value uint64) error {
		if value != t.address {
			return nil
		}
		m, ok, err := t.moduleAt(at, text)
		if ok {
			t.module, err = m, found
		}
		return err
	}
	if t.cfg.Relocated != nil {
		err = t.cfg.Relocated.Each(see)
	}
	for i := 0; i < len(t.cfg.Data) && err == nil; i++ {
		err = t.cfg.Data[i].words(t.order, t.word, see)
	}
	switch {
	case err == found:
		return nil
	case err == nil && text == 0:
		return t.bad(-1, "runtime.moduledata, which has the start of the text", "none that points to the table")
	}
	t.module.text = text
	return err
}

// words calls fn for the aligned words of a part.
func (p Part) words(order binary.ByteOrder, size int, fn func(at, value uint64) error) error {
	const most = 64 << 10
	for off := p.aligned(size); off < p.Src.Size; off += most {
		b, err := p.Src.Bytes(off, min(most, p.Src.Size-off))
		if err != nil {
			return err
		}
		for i := 0; i+size <= len(b); i += size {
			if err := fn(p.Address+uint64(off)+uint64(i), number(order, b[i:], size)); err != nil {
				return err
			}
		}
	}
	return nil
}

// aligned returns the offset of the first aligned word.
func (p Part) aligned(word int) int64 { return int64(-p.Address & uint64(word-1)) }

// moduleAt checks and reads a moduledata. text is the start of the text by the header, or 0.
func (t *Table) moduleAt(address, text uint64) (m module, ok bool, err error) {
	gofunc := wordGofunc20
	if t.version == go18 {
		gofunc = wordGofunc18
	}
	sections := gofunc + 1
	if text == 0 { // since Go 1.26
		sections++
	}
	var v [6]uint64
	for i, n := range []int{wordNames, wordFunctab, wordText, gofunc, sections, sections + 1} {
		if v[i], err = t.pointer(address + uint64(n*t.word)); input.Needs(err) {
			return m, false, err
		}
		// The end of the file proves that it is another word.
		if err != nil || i == 1 && (v[0] != t.address+uint64(t.names) || v[1] != t.address+uint64(t.functab)) {
			return m, false, nil
		}
	}
	m = module{text: v[2], funcdata: v[3]}
	// A text that is not divided has one section. Each has a function.
	if n := v[5]; n > 1 && n <= uint64(t.count) {
		err = t.readSections(&m, v[4], n)
	}
	return m, err == nil, err
}

// readSections reads the sections of the text (runtime.textsect).
//
//	vaddr w | end w | baseaddr w
func (t *Table) readSections(m *module, at, count uint64) error {
	w, last := uint64(t.word), uint64(0)
	for i := range count {
		var v [3]uint64
		for n := range v {
			var err error
			if v[n], err = t.pointer(at + (3*i+uint64(n))*w); err != nil {
				return err
			}
		}
		if v[0] < last || v[1] < v[0] {
			return t.bad(-1, "sections of the text in ascending order", hex(v[0])+" to "+hex(v[1]))
		}
		last = v[1]
		m.sections = append(m.sections, section{v[0], v[1], v[2]})
	}
	return nil
}

// inCode returns the end of the code around an address, or false if the file has no code there.
func (t *Table) inCode(address uint64) (end uint64, ok bool) {
	code := t.cfg.Code
	i := sort.Search(len(code), func(i int) bool { return code[i][1] > address })
	if i == len(code) || code[i][0] > address {
		return 0, false
	}
	return code[i][1], true
}

// merge sorts ranges and merges those that overlap.
func merge(code [][2]uint64) (out [][2]uint64) {
	code = slices.Clone(code)
	slices.SortFunc(code, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	for _, r := range code {
		if n := len(out) - 1; n >= 0 && r[0] < out[n][1] {
			out[n][1] = max(out[n][1], r[1])
		} else {
			out = append(out, r)
		}
	}
	return out
}

// hex is an address for messages.
func hex(v uint64) string { return fmt.Sprintf("0x%x", v) }
