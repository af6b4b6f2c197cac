package symfile

import (
	"cmp"
	"slices"
	"strings"
)

// RecordLine is a line of the file as it stands there, without its end.
type RecordLine struct {
	// Line counts from 1.
	Line int
	Text string
}

// RowNotes are what was passed over when the rules of the last Row at an address were read (see unwind.ParseCFI); nil if there is
// nothing to say, or Row was not asked for the address.
func (f *File) RowNotes(rva uint64) []string { return f.rows[rva].notes }

// CFIText is the STACK CFI INIT record that covers a module-relative address and the deltas in force there, as text, by
// address; nil if none does. An error is one of the Source.
func (f *File) CFIText(rva uint64) ([]RecordLine, error) {
	at, covers := covering(f.cfis, rva)
	if !covers {
		return nil, nil
	}
	type located struct {
		RecordLine
		rva  uint64
		init bool
	}
	var all []located
	r := &f.cfis[at]
	err := f.spans(r, func(b []byte, line int) {
		rest, _ := keyword(b, "STACK")
		rest, _ = keyword(rest, "CFI")
		d, ok := parseCFI(rest)
		if ok && (d.init || d.rva >= r.rva && d.rva <= rva) {
			all = append(all, located{RecordLine{line, strings.TrimRight(string(b), "\r\n")}, d.rva, d.init})
		}
	})
	slices.SortStableFunc(all, func(a, b located) int {
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
	return out, err
}

// WinText is the STACK WIN record that FrameData gives, as text; false if none covers the address.
func (f *File) WinText(rva uint64) (RecordLine, bool, error) {
	for i := range f.wins {
		if r, ok := innermost(f.wins[i], rva); ok {
			b, err := f.lineAt(r.off)
			return RecordLine{int(r.line), strings.TrimRight(string(b), "\r\n")}, err == nil, err
		}
	}
	return RecordLine{}, false, nil
}
