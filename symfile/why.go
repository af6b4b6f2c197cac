package symfile

import (
	"cmp"
	"strings"
)

// RecordLine is a line of the file as it stands there, without its end.
type RecordLine struct {
	// Line counts from 1; 0 if it is not known.
	Line int
	Text string
}

// RowNotes are what was passed over when the rules of the last Row at an address were read (see unwind.ParseCFI); nil if there is
// nothing to say, or Row was not asked for the address.
func (f *File) RowNotes(rva uint64) []string {
	e, _ := f.rows.get(rva)
	return e.notes
}

// CFIText is the STACK CFI INIT record that covers a module-relative address and the deltas in force there, as text, by
// address; nil if none does. An error is one of the Source.
func (f *File) CFIText(rva uint64) ([]RecordLine, error) {
	text, _, err := settled(f, func() ([]RecordLine, bool, error) { return f.cfiText(rva) })
	return text, err
}

func (f *File) cfiText(rva uint64) ([]RecordLine, bool, error) {
	r, covers, err := f.cfiAt(rva)
	if err != nil || !covers {
		return nil, false, err
	}
	type located struct {
		RecordLine
		rva  uint64
		init bool
	}
	var all []located
	err = f.spans(&r, func(b []byte, line int) {
		rest, _ := keyword(b, "STACK")
		rest, _ = keyword(rest, "CFI")
		d, ok := parseCFI(rest)
		if ok && (d.init || d.rva >= r.rva && d.rva <= rva) {
			all = append(all, located{RecordLine{line, strings.TrimRight(string(b), "\r\n")}, d.rva, d.init})
		}
	})
	sortFew(all, func(a, b located) int {
		switch {
		case a.init != b.init && a.init:
			return -1
		case a.init != b.init:
			return 1
		}
		return cmp.Compare(a.rva, b.rva)
	})
	out := make([]RecordLine, len(all))
	for i := range all {
		out[i] = all[i].RecordLine
	}
	return out, true, err
}

// WinText is the STACK WIN record that FrameData gives, as text; false if none covers the address.
func (f *File) WinText(rva uint64) (RecordLine, bool, error) {
	return settled(f, func() (RecordLine, bool, error) { return f.winText(rva) })
}

func (f *File) winText(rva uint64) (RecordLine, bool, error) {
	for i := range 2 {
		r, ok, err := f.winAt(i, rva)
		if err != nil {
			return RecordLine{}, false, err
		}
		if ok {
			b, err := f.lineAt(r.off)
			return RecordLine{int(r.line), strings.TrimRight(string(b), "\r\n")}, err == nil, err
		}
	}
	return RecordLine{}, false, nil
}
