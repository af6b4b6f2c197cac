package binary

import (
	"cmp"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// table is a section of unwind rules.
type table = onDemand[unwind.Table]

// unwindTables returns the sections of unwind rules, in the order in which Row asks them.
func (f *File) unwindTables() []*table {
	if f.tables == nil {
		f.tables = []*table{}
		if f.program.arch() != nil {
			f.tables = f.program.unwindTables()
		}
	}
	return f.tables
}

// Row returns the unwind rules at an RVA. The answer is No if no section has rules there. If a
// section covers the RVA but has no rules, the returned Row has its Origin, with the reason in
// Note. An error is that of the first section that could not be read; a later section may have
// answered.
//
// Needs is not cached, since the same call succeeds once the bytes are there.
func (f *File) Row(rva uint64) (unwind.Row, symbol.Answer, error) {
	if known, ok := f.rows[rva]; ok {
		return known.row, known.answer, known.err
	}
	row, answer, err := f.findRow(rva)
	if answer == symbol.Needs {
		return row, answer, err
	}
	f.keepRow(rva, cachedRow{row, answer, err})
	return row, answer, err
}

// keepRow caches an answer, unless the call was interrupted: the threads of a program often wait in
// the same functions.
func (f *File) keepRow(rva uint64, known cachedRow) {
	if f.src.Interrupted(known.err) {
		return
	}
	if f.rows == nil || len(f.rows) >= maxRows {
		f.rows = make(map[uint64]cachedRow)
	}
	f.rows[rva] = known
}

// cachedRow is the result of Row for an RVA. At most maxRows are cached.
type cachedRow struct {
	row    unwind.Row
	answer symbol.Answer
	err    error
}

const maxRows = 4096

// findRow asks the tables in their order. An entry without usable rules does not end the search,
// since another section may have some.
func (f *File) findRow(rva uint64) (unwind.Row, symbol.Answer, error) {
	var noRules unwind.Row // its Origin is that of the first section that covers the RVA without rules
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
			failed = cmp.Or(failed, err)
		case ok:
			return row, symbol.Yes, failed
		case noRules.Origin.Part == "":
			noRules.Origin = row.Origin
		}
	}
	return noRules, symbol.No, failed
}

// maxParts is how many parts of one function Function joins.
const maxParts = 64

// Function returns the code of the function at an address, as the unwind tables have it: its first
// entry and what follows of it (x64's chained unwind information). It is more than the function where
// the table merges equal entries (.ARM.exidx). ok is false if no entry covers the address, or one
// that is apart from the function's others.
//
// A Mach-O file has a list of functions, which is asked first.
func (f *File) Function(rva uint64) (code symbol.Range, ok bool, err error) {
	if m, is := f.program.(*machoProgram); is {
		if code, ok := m.function(rva); ok {
			return code, true, nil
		}
	}
	for _, t := range f.unwindTables() {
		u, err := t.get()
		if input.Needs(err) {
			return code, false, err
		}
		functions, knows := u.(unwind.Functions)
		if err != nil || !knows {
			continue // Warnings has the error
		}
		start, _, ok, err := functions.Function(rva)
		end := start
		for n := 0; ok && err == nil && n < maxParts; n++ {
			first, last, more, failed := functions.Function(end)
			if input.Needs(failed) {
				err = failed
			}
			if !more || first != start || last <= end {
				break
			}
			end = last
		}
		ok = ok && rva >= start && rva < end
		switch {
		case input.Needs(err):
			return code, false, err
		case ok && err == nil: // Row has other errors
			return symbol.Range{Start: start, Size: end - start}, true, nil
		}
	}
	return code, false, nil
}

// Unwind returns the readable sections of unwind rules, in the order in which Row asks them.
// Warnings has the errors of the others.
func (f *File) Unwind() ([]unwind.Table, error) {
	var out []unwind.Table
	for _, t := range f.unwindTables() {
		switch u, err := t.get(); {
		case input.Needs(err):
			return nil, err
		case err == nil: // Warnings has the errors of the others
			out = append(out, u)
		}
	}
	return out, nil
}

// Section is a section of unwind rules. Kind is its name (".eh_frame"). If bytes are not loaded yet,
// the error of Open is an *input.NeedError.
type Section struct {
	Kind string
	Open func() (unwind.Table, error)
}

// UnwindSections returns the sections of unwind rules, in the order in which Row asks them.
func (f *File) UnwindSections() []Section {
	var out []Section
	for _, t := range f.unwindTables() {
		out = append(out, Section{t.section, t.get})
	}
	return out
}
