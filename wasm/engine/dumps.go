package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/crashpane/crashpane/walker/batch"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/signature"
	"github.com/crashpane/crashpane/walker/report/ticket"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// This file makes the table of all dumps. A dump costs what its record takes: the sessions of those that
// were not used lately are released, and a dump is read again when it is opened.

// described is what is known about a dump that is or was listed.
type described struct {
	name   protocol.DumpName
	record batch.Record // without ID, which an export needs alone
	row    rows.DumpRow
	// known: the record is made. stale: symbols or the policy have changed since.
	known, stale bool
}

// dumpTable has all dumps, by their numbers.
type dumpTable struct {
	all      []*described
	names    map[string]int // how many dumps have a name
	live     []int          // the dumps with a session, the one that was used last at the end
	wanted   bool           // the page has shown the table
	next     int            // no dump before it is to be described
	first    []int          // the dumps of the last window, which are described first
	changes  int            // counts what changes the table
	notified time.Time      // when the last Described was sent
	cost     time.Duration  // of selecting and sorting the rows
	wants    map[string]map[int]bool
	shown    shownDumps
	// exported are the rows of the export exporting in parts, as they were when its first part was made.
	exporting protocol.ExportDumps
	exported  []*rows.DumpRow
}

// shownDumps are the dumps of a query in its order, made once for a filter and a state of the table.
type shownDumps struct {
	of      protocol.DumpTableQuery // without windows
	changes int
	rows    []*rows.DumpRow // with the group alone
	groups  []*rows.DumpGroupRow
	records []*batch.Record // of all groups
	days    []rows.Bar
	each    int
}

const (
	// mostLive is how many dumps have a session: the open one, and those that the user may go back to.
	mostLive = 8
	// notifyEvery is how often the page is notified that there are more records, and then queries and draws them. A table
	// that takes long to make is queried so seldom that this takes a tenth of the time.
	notifyEvery, notifyCost = 250 * time.Millisecond, 10
	// chartBars and rowBars are the most bars of the chart and of that in a row.
	chartBars, rowBars = 60, 24
)

// recordFrames is how many frames of a stack crashpane batch writes.
const recordFrames = 10

// list adds a new dump to the table, and returns its name.
func (e *Engine) list(it session.Item) protocol.DumpName {
	t := &e.table
	for len(t.all) <= it.Dump {
		t.all = append(t.all, nil)
	}
	d := &described{record: batch.Record{Name: it.Name, Size: it.Size}}
	d.name = protocol.DumpName{Dump: it.Dump, Name: rows.Clean(it.Name), ID: e.files.FileID(it.Dump)}
	if t.names[d.name.Name]++; t.names[d.name.Name] > 1 {
		d.name.Name = fmt.Sprintf("%s (%d)", d.name.Name, t.names[d.name.Name]) // names are unique, because the page's address has the open dump's
	}
	if s := e.session(it.Dump); s != nil {
		b := s.Brief()
		d.name.Brief = view.Brief(b.Reason, b.Time, b.Process, b.PID)
		d.record.Reason, d.record.Time, d.record.Process = b.Reason, b.Time, b.Process
	}
	t.all[it.Dump] = d
	d.fillRow()
	t.changes++
	return d.name
}

// fillRow makes the row of the table again.
func (d *described) fillRow() {
	r := &d.record
	d.row = rows.DumpRow{Dump: d.name.Dump, Name: d.name.Name, Signature: rows.Clean(r.Signature), Reason: rows.Clean(r.Reason), Process: rows.Clean(r.Process),
		Version: rows.Clean(r.Version), Product: rows.Clean(r.Product), OS: rows.Clean(r.OS), CPU: rows.Clean(r.CPU), Verdict: rows.Clean(r.Verdict), Known: d.known, Missing: len(r.Missing)}
	if r.Time != 0 {
		d.row.Time = strings.TrimSuffix(view.Time(r.Time), " UTC")
	}
}

// touch notes that a dump's session is used.
func (e *Engine) touch(dump int) {
	live := e.table.live
	if n := len(live); n > 0 && live[n-1] == dump {
		return
	}
	if i := slices.Index(live, dump); i >= 0 {
		live = slices.Delete(live, i, i+1)
	}
	e.table.live = append(live, dump)
}

// releaseOthers releases the sessions that were not used lately, but not that of the open dump.
func (e *Engine) releaseOthers() {
	t := &e.table
	for i := 0; len(t.live)-i > mostLive; {
		dump := t.live[i]
		if dump == e.lastDump {
			i++
			continue
		}
		e.release(dump)
	}
}

// release gives back what there is of a dump but its record.
func (e *Engine) release(dump int) {
	e.table.live = slices.DeleteFunc(e.table.live, func(d int) bool { return d == dump })
	e.files.Release(dump)
	delete(e.views, dump)
	delete(e.viewed, dump)
}

// listed calls do with each dump that is listed.
func (t *dumpTable) listed(unlisted map[int]bool, do func(dump int, d *described)) {
	for i, d := range t.all {
		if d != nil && !unlisted[i] {
			do(i, d)
		}
	}
}

// count returns how many dumps are listed, and how many of these are described.
func (e *Engine) count() (all, known int) {
	e.table.listed(e.unlisted, func(_ int, d *described) {
		all++
		if d.known && !d.stale {
			known++
		}
	})
	return all, known
}

// outdate marks the records of the given dumps, or of all, to be made again.
func (e *Engine) outdate(dumps map[int]bool, all bool) {
	t := &e.table
	t.listed(e.unlisted, func(i int, d *described) {
		if d.known && (all || dumps[i]) {
			d.stale, t.next = true, min(t.next, i)
			t.changes++
		}
	})
}

// symbolsCame outdates the dumps that lack what a new file may have.
func (e *Engine) symbolsCame(it session.Item) {
	if it.Kind != session.KindSym && it.Kind != session.KindBinary || !it.Usable {
		return
	}
	for _, key := range wantedKeys(rows.BaseName(it.Name), it.SymName, it.SymID) {
		if dumps := e.table.wants[key]; len(dumps) > 0 {
			delete(e.table.wants, key)
			e.outdate(dumps, false)
		}
	}
}

// wantedKeys makes the keys of a module or a symbol file: ids, and beginnings of names, since tile.so.debug and
// tile.sym may belong to tile.so. A symbol file and its module have a key in common.
func wantedKeys(texts ...string) (keys []string) {
	for _, s := range texts {
		s, _, _ = strings.Cut(strings.ToLower(s), ".")
		if s != "" && !slices.Contains(keys, s) {
			keys = append(keys, s)
		}
	}
	return keys
}

// describeNext makes the next record, and reports whether there are more to make.
func (e *Engine) describeNext() (more bool) {
	t := &e.table
	if !t.wanted {
		return false
	}
	wants := func(i int) bool {
		return i < len(t.all) && t.all[i] != nil && !e.unlisted[i] && (!t.all[i].known || t.all[i].stale)
	}
	dump := -1
	for len(t.first) > 0 && dump < 0 {
		if i := t.first[0]; wants(i) {
			dump = i
		}
		t.first = t.first[1:]
	}
	for ; dump < 0 && t.next < len(t.all); t.next++ {
		if wants(t.next) {
			dump = t.next
		}
	}
	if dump >= 0 {
		if !e.describeDump(dump, true) {
			t.first = append([]int{dump}, t.first...)
		}
		e.releaseOthers()
	}
	if dump >= 0 && time.Since(t.notified) < max(notifyEvery, notifyCost*t.cost) {
		return true
	}
	if all, known := e.count(); dump >= 0 || known == all && !t.notified.IsZero() {
		t.notified = time.Now()
		if dump < 0 {
			t.notified = time.Time{} // of all records
		}
		e.post(protocol.Answer{Reply: &protocol.Described{Known: known, All: all}})
	}
	return dump >= 0
}

// describeTurn is how long the threads of a dump without a crash are walked before requests are answered.
const describeTurn = 50 * time.Millisecond

// describeDump makes a dump's record. With turns it may return before that: then it is to be called again.
func (e *Engine) describeDump(dump int, turns bool) (done bool) {
	t, d, began := &e.table, e.table.all[dump], time.Now()
	s := e.session(dump)
	if turns && s != nil && batch.Hangs(s.PartialReport(-1)) {
		for left := 1; left > 0; {
			if left = s.WalkOn(); left > 0 && time.Since(began) > describeTurn {
				return false
			}
		}
	}
	first := !d.known
	d.known, d.stale = true, false
	t.changes++
	if s == nil {
		d.record.Error = d.record.Name + ": it cannot be read again"
		d.fillRow()
		return true
	}
	was := d.record
	d.record = batch.OfSession(s, &batch.Options{Lists: signature.Own, Frames: recordFrames, Demangle: e.demangle})
	d.record.Name, d.record.Size, d.record.AddressSignature = was.Name, was.Size, was.AddressSignature
	switch {
	case !first: // symbols do not change it
	case !e.files.HasSymbols():
		d.record.AddressSignature = signature.Address(s.PartialReport(-1))
	default:
		d.record.AddressSignature = batch.AddressSignature(s.Dump.Another(), e.opt.Session)
	}
	for i := range d.record.Missing {
		m := &d.record.Missing[i]
		for _, key := range wantedKeys(m.DebugFile, m.DebugID) {
			if t.wants[key] == nil {
				t.wants[key] = map[int]bool{}
			}
			t.wants[key][dump] = true
		}
	}
	d.record.Took = time.Since(began)
	d.fillRow()
	return true
}

// dumpPage makes the windows of the table of dumps.
func (e *Engine) dumpPage(q *protocol.DumpTableQuery) *protocol.DumpTablePage {
	t := &e.table
	t.wanted, e.walking = true, false // nothing else is shown
	shown := e.showDumps(q)
	out := &protocol.DumpTablePage{Days: shown.days, DaysEach: shown.each}
	out.All, out.Known = e.count()
	d := &out.Dumps
	d.Page, d.Rows, d.Selected = window(len(shown.rows), q.Dumps), []rows.DumpRow{}, slices.IndexFunc(shown.rows, func(r *rows.DumpRow) bool { return r.Dump == q.Selected })
	t.first = nil
	for _, r := range shown.rows[d.From:min(d.From+q.Dumps.Count, d.Total)] {
		d.Rows = append(d.Rows, *r)
		t.first = append(t.first, r.Dump)
	}
	g := &out.Groups
	g.Page, g.Rows, g.Selected = window(len(shown.groups), q.Groups), []rows.DumpGroupRow{}, -1
	if q.Grouped {
		g.Selected = slices.IndexFunc(shown.groups, func(r *rows.DumpGroupRow) bool { return r.Signature == q.Group })
	}
	lo, hi := timesOf(shown.records)
	for _, row := range shown.groups[g.From:min(g.From+q.Groups.Count, g.Total)] {
		if row.Days == nil {
			row.Days, _ = bars(shown.records, lo, hi, rowBars, func(r *batch.Record) bool { return rows.Clean(r.Signature) == row.Signature })
		}
		g.Rows = append(g.Rows, *row)
	}
	return out
}

func window(total int, span protocol.Span) rows.Page {
	return rows.Page{From: max(0, min(span.From, total)), Total: total}
}

// showDumps selects and sorts the dumps and the groups of a query.
func (e *Engine) showDumps(q *protocol.DumpTableQuery) *shownDumps {
	t := &e.table
	key := *q
	key.Dumps, key.Groups, key.Selected = protocol.Span{}, protocol.Span{}, 0
	if t.shown.of == key && t.shown.changes == t.changes && t.shown.rows != nil {
		return &t.shown
	}
	began := time.Now()
	defer func() { t.cost = time.Since(began) }()
	out := shownDumps{of: key, changes: t.changes, rows: []*rows.DumpRow{}}
	matches := filterOf(q.Filter)
	var chart []*batch.Record
	t.listed(e.unlisted, func(_ int, d *described) {
		if !matches(&d.row) {
			return
		}
		if d.known {
			out.records = append(out.records, &d.record)
		}
		if !q.Grouped || d.known && d.row.Signature == q.Group {
			out.rows = append(out.rows, &d.row)
			chart = append(chart, &d.record)
		}
	})
	for _, g := range batch.Groups(out.records) {
		out.groups = append(out.groups, &rows.DumpGroupRow{Signature: rows.Clean(g.Signature), Reason: rows.Clean(g.Reason), Process: rows.Clean(g.Process),
			Dumps: g.Dumps, Versions: g.Versions, First: day(g.First), Last: day(g.Last)})
	}
	sortRows(out.groups, rows.DumpGroupColumns, q.SortGroups)
	// The usual order is that of time, the latest first.
	slices.SortStableFunc(out.rows, func(a, b *rows.DumpRow) int { return cmp.Compare(b.Time, a.Time) })
	sortRows(out.rows, rows.DumpColumns, q.SortDumps)
	lo, hi := timesOf(chart)
	out.days, out.each = bars(chart, lo, hi, chartBars, nil)
	t.shown = out
	return &t.shown
}

// sortRows sorts by a column as ModulesQuery.Sort has it; equal rows stay, and all do if that is 0.
func sortRows[R any](list []R, columns []rows.Column[R], sort int) {
	column := max(sort, -sort) - 1
	if column < 0 || column >= len(columns) {
		return
	}
	text := columns[column].Text
	slices.SortStableFunc(list, func(a, b R) int {
		if sort < 0 {
			a, b = b, a
		}
		return rows.Natural(text(a), text(b))
	})
}

// filterOf returns what decides whether a dump has each word of a filter.
func filterOf(filter string) func(d *rows.DumpRow) bool {
	words := strings.Fields(strings.ToLower(filter))
	return func(d *rows.DumpRow) bool {
		for _, word := range words {
			found := false
			name, rest, ok := strings.Cut(word, ":")
			for i := range rows.DumpColumns {
				c := &rows.DumpColumns[i]
				if ok && len(name) > 1 && strings.HasPrefix(strings.ToLower(c.Title), name) {
					// The column alone, even if another has the word as it is.
					if found = hasText(c, d, rest); found {
						break
					}
				} else if found = found || hasText(c, d, word); found {
					break
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
}

// hasText reports whether a column of a dump has a text in lower case.
func hasText(c *rows.Column[*rows.DumpRow], d *rows.DumpRow, text string) bool {
	texts := []string{c.Text(d)}
	if c.Find != nil {
		texts = c.Find(d)
	}
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

// secondsOfDay are those of a day of UTC.
const secondsOfDay = 24 * 60 * 60

// day is the day of a time, or "".
func day(t uint32) string {
	if t == 0 {
		return ""
	}
	return view.Time(t)[:len("2006-01-02")]
}

// timesOf returns the first and the last day of records, counted from 1970. Without any the first is after the last.
func timesOf(records []*batch.Record) (lo, hi uint32) {
	lo = 1
	for _, r := range records {
		if r.Time == 0 {
			continue
		}
		d := r.Time / secondsOfDay
		if hi < lo {
			lo, hi = d, d
		}
		lo, hi = min(lo, d), max(hi, d)
	}
	return lo, hi
}

// bars makes the bars of a chart of the days from lo to hi, each of so many days that there are at most most.
func bars(records []*batch.Record, lo, hi uint32, most int, only func(*batch.Record) bool) (out []rows.Bar, each int) {
	if hi < lo {
		return nil, 0
	}
	n := int(hi-lo) + 1
	each = (n + most - 1) / most
	for i := 0; i < n; i += each {
		out = append(out, rows.Bar{Day: day((lo+uint32(i))*secondsOfDay + 1)})
	}
	for _, r := range records {
		if d := r.Time / secondsOfDay; r.Time != 0 && d >= lo && d <= hi && (only == nil || only(r)) {
			out[int(d-lo)/each].Dumps++
		}
	}
	return out, each
}

// dumpWriters write a row of protocol.DumpExports, by its ID: begin what precedes all rows, one each.
var dumpWriters = map[string]struct {
	begin func(w io.Writer) error
	one   func(e *Engine, w io.Writer, d *rows.DumpRow) error
}{
	"csv": {func(w io.Writer) error {
		var titles []string
		for _, h := range rows.Heads(rows.DumpColumns) {
			titles = append(titles, h.Title)
		}
		return ticket.WriteCSVRow(w, titles)
	}, func(_ *Engine, w io.Writer, d *rows.DumpRow) error {
		var cells []string
		for i := range rows.DumpColumns {
			text := rows.DumpColumns[i].Copy
			if text == nil {
				text = rows.DumpColumns[i].Text
			}
			cells = append(cells, text(d))
		}
		return ticket.WriteCSVRow(w, cells)
	}},
	"json": {func(io.Writer) error { return nil }, func(e *Engine, w io.Writer, d *rows.DumpRow) error {
		record := e.table.all[d.Dump].record
		src := e.files.DumpSource(d.Dump)
		record.ID = batch.IDOf(src)
		if !slices.Contains(e.table.live, d.Dump) {
			src.Forget()
		}
		return batch.WriteJSON(w, &record)
	}},
}

// exportPart is the size of a part of an export, in bytes. The page decodes it in some milliseconds.
const exportPart = 128 << 10

// exportDumps makes the next part of a text about all dumps of a table. It describes those that are not yet, in turns
// whose parts are empty: their Next is -1.
func (e *Engine) exportDumps(req *protocol.ExportDumps) (*protocol.Exported, error) {
	write, ok := dumpWriters[req.Kind]
	if !ok {
		return &protocol.Exported{}, errors.New("there is no such export of dumps")
	}
	t, began := &e.table, time.Now()
	more := func() bool { return time.Since(began) < describeTurn }
	var b strings.Builder
	w := e.files.Budget().Writer(&b)
	from := req.From
	if from <= 0 {
		left := false
		t.listed(e.unlisted, func(i int, d *described) {
			if d.known && !d.stale {
				return
			}
			if left = left || !more(); !left {
				left = !e.describeDump(i, true)
				e.releaseOthers()
			}
		})
		if left {
			return &protocol.Exported{Next: -1}, nil
		}
		from = 0
		if err := write.begin(w); err != nil {
			return &protocol.Exported{}, err
		}
	}
	if of := (protocol.ExportDumps{Kind: req.Kind, Table: req.Table}); req.From <= 0 || t.exporting != of {
		t.exporting, t.exported = of, e.showDumps(&req.Table).rows
	}
	// A part with the titles has a row too: its Next says that they are there.
	for first := from; from < len(t.exported) && b.Len() < exportPart && (from == first || more()); from++ {
		if err := write.one(e, w, t.exported[from]); err != nil {
			return &protocol.Exported{}, err
		}
	}
	out := &protocol.Exported{Text: report.HideUsers(b.String()), FileName: "dumps"}
	for _, k := range protocol.DumpExports {
		if k.ID == req.Kind {
			out.FileName += k.Ending
		}
	}
	if from < len(t.exported) {
		out.Next = from
	}
	return out, nil
}
