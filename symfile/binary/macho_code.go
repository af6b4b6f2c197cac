package binary

import (
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/framecode"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// codeTable has the rules of a Mach-O program for its symbol file, whose readers do not have the code:
// those of its tables, and where these say nothing or describe a function's body alone, what the code
// shows of prologues, epilogues and functions without rules.
type codeTable struct {
	f      *machoProgram
	tables []unwind.Table
}

// Row implements unwind.Table. A walk asks the tables, and reads the code itself.
func (t codeTable) Row(uint64) (row unwind.Row, ok bool, err error) { return row, false, nil }

// Warnings implements unwind.Table.
func (t codeTable) Warnings() []string { return nil }

// Each implements unwind.Table. The entries are functions.
func (t codeTable) Each(fn func(start, end uint64, row unwind.Row) error) error {
	m := t.f.macho
	t.f.bounds(0) // reads starts
	// On i386 calls take their arguments from the stack: what is behind one depends on the callee.
	if t.f.starts == nil || !m.HasCode() || !framecode.Knows(m.Arch) || m.Arch == cpu.X86 {
		return nil
	}
	reader := framecode.NewReader(m.Arch, m.Order)
	for _, start := range *t.f.starts {
		code, ok := t.f.function(uint64(start))
		if !ok {
			continue
		}
		known, err := t.known(code.Start)
		if err != nil {
			return err
		}
		size := min(code.Size, framecode.MaxSized)
		b, err := m.At(m.Base+code.Start, int64(size))
		if input.Needs(err) {
			return err
		} else if err != nil {
			continue
		}
		steps := 16*len(b) + 4096
		f := framecode.Function{Code: b, Start: code.Start, Sized: true, Callee: t.callee}
		byAddress := known != nil && !known.WholeFunction
		ask := func(at uint64) *unwind.Row {
			if byAddress && err == nil {
				known, err = t.known(at)
			}
			return known
		}
		rows := reader.Rows(&f, ask, &steps)
		if err != nil {
			return err
		}
		for _, r := range rows {
			row := *r.Row
			row.Origin = unwind.Origin{File: m.Src.Name, Part: "code", Offset: int64(code.Start)}
			if err := fn(r.Start, r.End, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// known returns the rules that the tables have at the start of a function, or nil.
func (t codeTable) known(rva uint64) (*unwind.Row, error) {
	for _, table := range t.tables {
		row, ok, err := table.Row(rva)
		if input.Needs(err) {
			return nil, err
		} else if ok {
			return &row, nil
		}
	}
	return nil, nil
}

// callee returns a function that is called.
func (t codeTable) callee(at uint64) (f framecode.Function, ok bool) {
	code, ok := t.f.function(at)
	if !ok || code.Start != at {
		return f, false
	}
	b, err := t.f.macho.At(t.f.macho.Base+at, int64(min(code.Size, framecode.MaxEpilogue)))
	return framecode.Function{Code: b, Start: at, Sized: true}, err == nil
}
