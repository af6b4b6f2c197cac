package symfile

import (
	"cmp"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// CFIRecord is a STACK CFI INIT record with the deltas that are in force at an address.
type CFIRecord struct {
	// Start and Size are the code that the INIT record covers: a module-relative address and bytes.
	Start, Size uint64
	// Line is the INIT record's line in the file, 0 if it is not known (see OpenOnDemand); Offset
	// is its file offset.
	Line   int
	Offset int64
	// Rules are the INIT record's rules.
	Rules string
	// Deltas are the STACK CFI records at or below the address, by address; those at one address in
	// the order of the file.
	Deltas []CFIDelta
}

// CFIDelta is one STACK CFI record.
type CFIDelta struct {
	Address uint64
	Line    int
	Rules   string
}

// stepsPerByte is the work of parsing a byte of rules.
const stepsPerByte = 2

// CFI returns the STACK CFI record that covers a module-relative address, as it is in the file, or
// false if none does. A delta belongs to the INIT record before it in the file; one that is outside
// of its INIT is not used. An error is one of the Source.
//
// For 0x804c4b2 and these records the Rules are the first line's and Deltas has the second:
//
//	STACK CFI INIT 804c4b0 40 .cfa: $esp 4 + $eip: .cfa 4 - ^
//	STACK CFI 804c4b1 .cfa: $esp 8 + $ebp: .cfa 8 - ^
//	STACK CFI 804c4b3 .cfa: $ebp 8 +
func (f *File) CFI(rva uint64) (CFIRecord, bool, error) {
	if c, ok := f.cfis.get(rva); ok {
		return c, true, nil
	}
	return settled(f, func() (CFIRecord, bool, error) { return f.cfi(rva) })
}

// Function returns the code of the STACK CFI INIT record that covers an address: a function's, or that
// of several with equal rules. Nothing is returned where it may be a part of one.
func (f *File) Function(rva uint64) (code symbol.Range, ok bool, err error) {
	if f.Module.inParts() {
		return code, false, nil
	}
	return settled(f, func() (symbol.Range, bool, error) {
		r, covers, err := f.find(tableInits, rva)
		return symbol.Range{Start: r.rva, Size: r.size}, covers && err == nil, err
	})
}

func (f *File) cfi(rva uint64) (CFIRecord, bool, error) {
	r, covers, err := f.find(tableInits, rva)
	if err != nil || !covers {
		return CFIRecord{}, false, err
	}
	c := CFIRecord{Start: r.rva, Size: r.size, Line: int(r.line), Offset: r.off}
	err = f.cfiLines(&r, func(d cfiRecord, _ []byte, line int) {
		switch {
		case d.init:
			c.Rules = string(d.rules)
		case d.rva >= r.rva && d.rva <= rva:
			c.Deltas = append(c.Deltas, CFIDelta{Address: d.rva, Line: line, Rules: string(d.rules)})
		}
	})
	if err != nil {
		return CFIRecord{}, false, err
	}
	sortFew(c.Deltas, func(a, b CFIDelta) int { return cmp.Compare(a.Address, b.Address) })
	return c, true, nil
}

// cfiLines calls fn with the STACK CFI INIT record and its deltas, in the order of the file.
func (f *File) cfiLines(r *rec, fn func(d cfiRecord, text []byte, line int)) error {
	sure := false
	err := f.spans(r, func(b []byte, line int) {
		if d, ok := stackCFI(b); ok {
			sure = sure || d.init && d.rva == r.rva
			fn(d, b, line)
		}
	})
	if err == nil {
		err = f.sure(sure)
	}
	return err
}

// Row returns the unwind rules of STACK CFI at a module-relative address, for a CPU.
//
// The Answer is No without an error if no record covers the address, and No with a
// *unwind.RuleError if one does and its rules cannot be used; the Row then has its Origin. Other
// errors are those of the Source, with the Answer Needs if it is a *input.NeedError. The Row is
// shared: its Saved must not be changed.
//
// The Row's Start and the line of its Origin are those of the last delta in force, or else of the
// INIT record.
func (f *File) Row(arch *cpu.Arch, rva uint64) (unwind.Row, symbol.Answer, error) {
	if f.rowArch != arch {
		f.rows.clear()
		f.rowArch = arch
	}
	if e, ok := f.rows.get(rva); ok {
		return e.row, e.answer, e.err
	}
	c, found, err := f.CFI(rva)
	if err != nil {
		return unwind.Row{}, answerOf(err), err
	}
	if !found {
		return unwind.Row{}, symbol.No, nil
	}
	var few [16]string
	rules := few[:0]
	origin := unwind.Origin{File: f.src.Name, Part: "STACK CFI", Line: c.Line}
	if origin.Line == 0 {
		origin.Offset = c.Offset
	}
	start, size := c.Start, len(c.Rules)
	for _, d := range c.Deltas {
		size += len(d.Rules)
		rules = append(rules, d.Rules)
		origin.Line, start = d.Line, d.Address
	}
	if err := f.src.Draw(input.Work, stepsPerByte*int64(size)); err != nil {
		return unwind.Row{}, symbol.No, f.src.Wrap("STACK CFI record", c.Offset, err)
	}
	row, notes, err := unwind.ParseCFI(arch, c.Rules, rules)
	e := rowEntry{row: row, answer: symbol.Yes, err: err, notes: notes}
	if err != nil {
		e.row, e.answer = unwind.Row{}, symbol.No
	}
	e.row.Origin, e.row.Start = origin, start
	f.rows.put(rva, e, int(row.Ops())/usualOps)
	return e.row, e.answer, e.err
}

// FrameData returns the STACK WIN record that covers a module-relative address: one of type 4
// before one of type 0; among those of a type, the one that starts last and is shortest. The Answer
// is as of Lookup.
func (f *File) FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	return settled(f, func() (unwind.FrameData, symbol.Answer, error) { return f.frameData(rva) })
}

func (f *File) frameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	r, text, ok, err := f.win(rva)
	if err != nil || !ok {
		return unwind.FrameData{}, answerOf(err), err
	}
	w, _ := stackWin(text)
	if err := f.src.Draw(input.Work, stepsPerByte*int64(len(w.program))); err != nil {
		return unwind.FrameData{}, symbol.No, f.src.Wrap("STACK WIN record", r.off, err)
	}
	d := unwind.FrameData{
		Type: int(w.typ), Start: w.rva, Size: w.size,
		Prolog: w.prolog, Epilog: w.epilog, Params: w.params,
		SavedRegs: w.savedRegs, Locals: w.locals, MaxStack: w.maxStack,
		Program: string(w.program), HasProgram: w.hasProgram, AllocatesBP: w.allocatesBP,
		Origin: unwind.Origin{File: f.src.Name, Part: fmt.Sprintf("STACK WIN %d", w.typ), Line: int(r.line)},
	}
	if r.line == 0 {
		d.Origin.Offset = r.off
	}
	return d, symbol.Yes, nil
}

// win returns the STACK WIN record that covers an address: one of type 4 before one of type 0.
func (f *File) win(rva uint64) (r rec, text []byte, ok bool, err error) {
	for _, k := range [2]tableKind{tableWin4, tableWin0} {
		if r, ok, err = f.find(k, rva); err != nil {
			return r, nil, false, err
		}
		if !ok {
			continue
		}
		if text, err = f.lineAt(r.off); err != nil {
			return r, nil, false, err
		}
		w, ok := stackWin(text)
		is := k == tableWin4 && w.typ == 4 || k == tableWin0 && w.typ == 0
		return r, text, ok, f.sure(ok && is && w.rva == r.rva)
	}
	return r, nil, false, nil
}

// RecordLine is a line of the file, without its end.
type RecordLine struct {
	// Line counts from 1; 0 if it is not known.
	Line int
	Text string
}

// RowNotes returns what the parser of the rules skipped in the last Row at an address (see
// unwind.ParseCFI). It is nil if it skipped nothing, or if Row was not called for the address.
func (f *File) RowNotes(rva uint64) []string {
	e, _ := f.rows.get(rva)
	return e.notes
}

// CFIText returns the STACK CFI INIT record that covers a module-relative address and the deltas in
// force there, as text, by address; nil if none does. An error is one of the Source.
func (f *File) CFIText(rva uint64) ([]RecordLine, error) {
	text, _, err := settled(f, func() ([]RecordLine, bool, error) { return f.cfiText(rva) })
	return text, err
}

func (f *File) cfiText(rva uint64) ([]RecordLine, bool, error) {
	r, covers, err := f.find(tableInits, rva)
	if err != nil || !covers {
		return nil, false, err
	}
	type record struct {
		RecordLine
		rva uint64
	}
	var all []record // the first is the INIT record
	err = f.cfiLines(&r, func(d cfiRecord, text []byte, line int) {
		if d.rva >= r.rva && d.rva <= rva {
			all = append(all, record{RecordLine{line, string(text)}, d.rva})
		}
	})
	sortFew(all, func(a, b record) int { return cmp.Compare(a.rva, b.rva) })
	out := make([]RecordLine, len(all))
	for i := range all {
		out[i] = all[i].RecordLine
	}
	return out, true, err
}

// WinText returns the STACK WIN record that FrameData uses, as text, or false if none covers the
// address.
func (f *File) WinText(rva uint64) (RecordLine, bool, error) {
	return settled(f, func() (RecordLine, bool, error) {
		r, text, ok, err := f.win(rva)
		return RecordLine{int(r.line), string(text)}, ok, err
	})
}

// cfiTable is a file's STACK CFI records as an unwind.Table.
type cfiTable struct {
	f        *File
	arch     *cpu.Arch
	warnings input.Warnings
}

// CFITable returns the file's STACK CFI records for a CPU as an unwind.Table, so that "crashpane
// rules" lists them like those of a binary.
func (f *File) CFITable(arch *cpu.Arch) unwind.Table { return &cfiTable{f: f, arch: arch} }

// Row implements unwind.Table.
func (t *cfiTable) Row(rva uint64) (unwind.Row, bool, error) {
	row, answer, err := t.f.Row(t.arch, rva)
	if rule, bad := err.(*unwind.RuleError); bad {
		row.Origin.Note = rule.Error()
		return row, false, nil
	}
	return row, answer == symbol.Yes, err
}

// maxDeltas limits the deltas of one INIT record. Each range is parsed with all deltas before it,
// so n deltas take n² steps.
const maxDeltas = 4096

// Each implements unwind.Table. A file that was opened by OpenOnDemand is read as a whole.
func (t *cfiTable) Each(fn func(start, end uint64, row unwind.Row) error) error {
	f := t.f
	if err := f.Complete(nil); err != nil {
		return err
	}
	for _, r := range f.tables[tableInits].all() {
		if r.size == 0 {
			continue
		}
		var init string
		var deltas []CFIDelta
		err := f.cfiLines(&r, func(d cfiRecord, _ []byte, line int) {
			switch {
			case d.init:
				init = string(d.rules)
			case d.rva < r.rva || d.rva-r.rva >= r.size:
			case len(deltas) < maxDeltas:
				deltas = append(deltas, CFIDelta{Address: d.rva, Line: line, Rules: string(d.rules)})
			default:
				t.pass(line, fmt.Sprintf("a record with more than %d others before it", maxDeltas))
			}
		})
		if err != nil {
			return err
		}
		sortFew(deltas, func(a, b CFIDelta) int { return cmp.Compare(a.Address, b.Address) })
		if err := t.record(&r, init, deltas, fn); err != nil {
			return err
		}
	}
	return nil
}

// record calls fn for the ranges of one INIT record: from its start to the first delta, from each
// delta to the next, and from the last to the record's end. Several deltas at one address begin one
// range.
func (t *cfiTable) record(r *rec, init string, deltas []CFIDelta, fn func(start, end uint64, row unwind.Row) error) error {
	rules := make([]string, 0, len(deltas))
	start, line, size := r.rva, int(r.line), len(init)
	for i := 0; ; {
		for i < len(deltas) && deltas[i].Address == start {
			rules, line = append(rules, deltas[i].Rules), deltas[i].Line
			size += len(deltas[i].Rules)
			i++
		}
		end := r.rva + r.size
		if i < len(deltas) {
			end = deltas[i].Address
		}
		if err := t.f.src.Draw(input.Work, stepsPerByte*int64(size)); err != nil {
			return t.f.src.Wrap("STACK CFI record", r.off, err)
		}
		row, _, err := unwind.ParseCFI(t.arch, init, rules)
		if err != nil {
			t.pass(line, err.Error())
		} else {
			row.Start, row.Origin = start, unwind.Origin{File: t.f.src.Name, Part: "STACK CFI", Line: line}
			if err := fn(start, end, row); err != nil {
				return err
			}
		}
		if i == len(deltas) {
			return nil
		}
		start = end
	}
}

func (t *cfiTable) pass(line int, why string) {
	t.warnings.AddKind("record", &input.FormatError{File: t.f.src.Name, Part: "STACK CFI", Line: line, Have: why})
}

// Warnings implements unwind.Table.
func (t *cfiTable) Warnings() []string { return t.warnings.List(t.f.src.Name + ": STACK CFI") }
