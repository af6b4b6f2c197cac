package symfile

import (
	"cmp"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// cfiTable is a file's STACK CFI records as an unwind.Table.
type cfiTable struct {
	f        *File
	arch     *cpu.Arch
	passed   int
	warnings []string
}

// CFITable is the file's STACK CFI records for a CPU, as other kinds of unwind information are asked.
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

// maxDeltas bounds the records of one INIT: each is parsed with those before it.
const maxDeltas = 4096

// Each implements unwind.Table. A file that was opened by OpenSparse is read as a whole.
func (t *cfiTable) Each(fn func(start, end uint64, row unwind.Row) error) error {
	f := t.f
	if _, err := f.Complete(nil); err != nil {
		return err
	}
	for _, r := range f.tables[tableInits].all() {
		if r.size == 0 {
			continue
		}
		var init string
		var deltas []CFIDelta
		err := f.spans(&r, func(b []byte, line int) {
			rest, _ := keyword(b, "STACK")
			rest, _ = keyword(rest, "CFI")
			switch d, ok := parseCFI(rest); {
			case !ok:
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

// record calls fn for the stretches of one INIT record.
func (t *cfiTable) record(r *rec, init string, deltas []CFIDelta, fn func(start, end uint64, row unwind.Row) error) error {
	rules := make([]string, 0, len(deltas))
	start, line := r.rva, int(r.line)
	for i := 0; ; {
		for i < len(deltas) && deltas[i].Address == start {
			rules, line = append(rules, deltas[i].Rules), deltas[i].Line
			i++
		}
		end := r.rva + r.size
		if i < len(deltas) {
			end = deltas[i].Address
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
	if t.passed++; t.passed <= warningsKept {
		t.warnings = append(t.warnings, fmt.Sprintf("%s: STACK CFI at line %d: %s", t.f.src.Name, line, why))
	}
}

// warningsKept is how many of them are.
const warningsKept = 4

// Warnings implements unwind.Table.
func (t *cfiTable) Warnings() []string {
	out := t.warnings[:len(t.warnings):len(t.warnings)]
	if more := t.passed - warningsKept; more > 0 {
		out = append(out, fmt.Sprintf("%s: STACK CFI: %d more of a kind", t.f.src.Name, more))
	}
	return out
}
