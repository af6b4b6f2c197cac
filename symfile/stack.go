package symfile

import (
	"cmp"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// CFIRecord is a STACK CFI INIT record with the deltas that are in force at an address.
type CFIRecord struct {
	// Start and Size are the code that the INIT record covers: a module-relative address and bytes.
	Start, Size uint64
	// Line is the INIT record's line in the file, 0 if it is not known (see OpenSparse); Offset is where it lies, in bytes.
	Line   int
	Offset int64
	// Rules are the INIT record's rules.
	Rules string
	// Deltas are the STACK CFI records at or below the address, by address; those at one address in the order of the file.
	Deltas []CFIDelta
}

// CFIDelta is one STACK CFI record.
type CFIDelta struct {
	Address uint64
	Line    int
	Rules   string
}

// CFI is the STACK CFI record that covers a module-relative address, as it stands in the file; false if none does. A delta
// belongs to the INIT record before it in the file; one that lies outside of its INIT is not used. An error is one of the
// Source.
func (f *File) CFI(rva uint64) (CFIRecord, bool, error) {
	if e, ok := f.found.get(rva); ok {
		return e.cfi, e.covered, nil
	}
	return settled(f, func() (CFIRecord, bool, error) { return f.cfi(rva) })
}

func (f *File) cfi(rva uint64) (CFIRecord, bool, error) {
	r, covers, err := f.cfiAt(rva)
	if err != nil || !covers {
		return CFIRecord{}, false, err
	}
	c := CFIRecord{Start: r.rva, Size: r.size, Line: int(r.line), Offset: r.off}
	sure := false
	err = f.spans(&r, func(b []byte, line int) {
		rest, _ := keyword(b, "STACK")
		rest, _ = keyword(rest, "CFI")
		d, ok := parseCFI(rest)
		switch {
		case !ok:
		case d.init:
			c.Rules, sure = string(d.rules), d.rva == r.rva
		case d.rva >= r.rva && d.rva <= rva:
			c.Deltas = append(c.Deltas, CFIDelta{Address: d.rva, Line: line, Rules: string(d.rules)})
		}
	})
	if err == nil {
		err = f.sure(sure)
	}
	if err != nil {
		return CFIRecord{}, false, err
	}
	sortFew(c.Deltas, func(a, b CFIDelta) int { return cmp.Compare(a.Address, b.Address) })
	return c, true, nil
}

// Row is the unwind rules of STACK CFI at a module-relative address, for a CPU. No says that no record covers the address;
// with a *unwind.RuleError, that one does and gives no rules, and why; the Row then has its Origin. Other errors are those of
// the Source, with the Answer Needs if it is a *input.NeedError. The Row is shared: its Saved must not be changed.
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
	start := c.Start
	for _, d := range c.Deltas {
		rules = append(rules, d.Rules)
		origin.Line, start = d.Line, d.Address
	}
	row, notes, err := unwind.ParseCFI(arch, c.Rules, rules)
	e := rowEntry{row: row, answer: symbol.Yes, err: err, notes: notes}
	if err != nil {
		e.row, e.answer = unwind.Row{}, symbol.No
	}
	e.row.Origin, e.row.Start = origin, start
	f.rows.put(rva, e)
	return e.row, e.answer, e.err
}

// FrameData is the STACK WIN record that covers a module-relative address: one of type 4 before one of type 0; among those
// of a type, the one that starts last and is shortest. The Answer is as of Lookup.
func (f *File) FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	if e, ok := f.found.get(rva); ok && !e.noWin {
		return e.win, e.answer, nil
	}
	return settled(f, func() (unwind.FrameData, symbol.Answer, error) { return f.frameData(rva) })
}

func (f *File) frameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	for i, typ := range [2]int{4, 0} {
		r, ok, err := f.winAt(i, rva)
		if err != nil {
			return unwind.FrameData{}, answerOf(err), err
		}
		if !ok {
			continue
		}
		b, err := f.lineAt(r.off)
		if err != nil {
			return unwind.FrameData{}, answerOf(err), err
		}
		rest, _ := keyword(b, "STACK")
		rest, _ = keyword(rest, "WIN")
		w, ok := parseWin(rest)
		if err := f.sure(ok && w.rva == r.rva); err != nil {
			return unwind.FrameData{}, symbol.No, err
		}
		d := unwind.FrameData{
			Type: typ, Start: w.rva, Size: w.size,
			Prolog: w.prolog, Epilog: w.epilog, Params: w.params,
			SavedRegs: w.savedRegs, Locals: w.locals, MaxStack: w.maxStack,
			Program: string(w.program), HasProgram: w.hasProgram, AllocatesBP: w.allocatesBP,
			Origin: unwind.Origin{File: f.src.Name, Part: "STACK WIN 4", Line: int(r.line)},
		}
		if r.line == 0 {
			d.Origin.Offset = r.off
		}
		if typ == 0 {
			d.Origin.Part = "STACK WIN 0"
		}
		return d, symbol.Yes, nil
	}
	return unwind.FrameData{}, symbol.No, nil
}
