package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// table is a section of unwind rules of one of the files, opened when it is needed.
type table struct {
	kind  string // the section's name
	file  string // the name of the file that has it
	open  func() (unwind.Table, error)
	table unwind.Table
	// err is why it could not be opened, if that will not change.
	err error
}

// unwindTables are the sections of rules that the files have, in the order in which they are asked.
func (f *File) unwindTables() []*table {
	if f.tables == nil {
		f.tables = []*table{}
		if f.program.arch() != nil {
			f.tables = f.program.unwindTables()
		}
	}
	return f.tables
}

// get opens the table. Of bytes that are not here yet the error is a *input.NeedError; others are kept.
func (t *table) get() (unwind.Table, error) {
	if t.table == nil && t.err == nil {
		u, err := t.open()
		if input.Needs(err) {
			return nil, err
		}
		if t.err = err; err == nil {
			t.table = u
		}
	}
	return t.table, t.err
}

// Row is the unwind rules at an RVA. No says that no section covers it; with an Origin, that one does and gives no rules, and the
// Origin's Note why. The error is that of the first section that should have answered and cannot be read; another one may have
// answered in its place.
func (f *File) Row(rva uint64) (unwind.Row, symbol.Answer, error) {
	if known, ok := f.rows[rva]; ok {
		return known.row, known.answer, known.err
	}
	row, answer, err := f.findRow(rva)
	if answer == symbol.Needs {
		return row, answer, err
	}
	// Threads of a program wait in the same places.
	if f.rows == nil || len(f.rows) >= maxRows {
		f.rows = make(map[uint64]rowAnswer)
	}
	f.rows[rva] = rowAnswer{row, answer, err}
	return row, answer, err
}

// rowAnswer is what Row answered for an address; maxRows of them are kept.
type rowAnswer struct {
	row    unwind.Row
	answer symbol.Answer
	err    error
}

const maxRows = 4096

func (f *File) findRow(rva uint64) (unwind.Row, symbol.Answer, error) {
	var silent unwind.Row
	var failed error
	for _, t := range f.unwindTables() {
		u, err := t.get()
		var row unwind.Row
		ok := false
		if err == nil {
			row, ok, err = u.Row(rva)
		}
		switch {
		case input.Needs(err):
			return unwind.Row{}, symbol.Needs, err
		case err != nil:
			if failed == nil {
				failed = err
			}
		case ok:
			return row, symbol.Yes, failed
		case silent.Origin.Part == "":
			silent.Origin = row.Origin
		}
	}
	return silent, symbol.No, failed
}

// Unwind are the sections of rules that can be read, in the order in which they are asked. What cannot is among the Warnings.
func (f *File) Unwind() ([]unwind.Table, error) {
	var out []unwind.Table
	for _, t := range f.unwindTables() {
		switch u, err := t.get(); {
		case input.Needs(err):
			return nil, err
		case err == nil: // of others Warnings tells
			out = append(out, u)
		}
	}
	return out, nil
}

// Section is one section of unwind rules of the files.
type Section struct {
	// Kind is the section's name (".eh_frame"), File that of the file which has it.
	Kind, File string
	table      *table
}

// Open is the section's rules. Of bytes that are not here yet the error is a *input.NeedError.
func (s *Section) Open() (unwind.Table, error) { return s.table.get() }

// UnwindSections are the sections of rules that the files have, in the order in which Row asks them.
func (f *File) UnwindSections() []Section {
	var out []Section
	for _, t := range f.unwindTables() {
		out = append(out, Section{Kind: t.kind, File: t.file, table: t})
	}
	return out
}
