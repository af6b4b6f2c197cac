package rows

import (
	"fmt"
	"strings"
)

// DumpRow is a dump in the table of dumps. Its texts are cleaned, and empty where the dump does not say
// it. Time is in UTC.
type DumpRow struct {
	Dump                                               int
	Name, Signature, Reason, Process, Version, Product string
	Time, OS, CPU, Verdict                             string
	// Known: its stack was walked. Else there is only what can be said without.
	Known bool
	// Missing is how many symbol files its stack lacks.
	Missing int
}

// DumpColumns are the columns of the table of dumps. All are copied.
var DumpColumns = []Column[*DumpRow]{
	{Head: Head{Title: "Time (UTC)", Class: "time", Width: "142px", Medium: "142px", Narrow: "88px"}, Text: func(d *DumpRow) string { return d.Time }},
	{Head: Head{Title: "Signature", Class: "fn", Width: "minmax(0, 4fr)", Medium: "minmax(0, 3fr)"}, Text: (*DumpRow).SignatureText,
		Tip: func(d *DumpRow) string { return strings.TrimSpace(d.Signature + "\n" + d.Verdict) }, Find: func(d *DumpRow) []string { return []string{d.Signature, d.Verdict} }, Copy: func(d *DumpRow) string { return d.Signature }},
	{Head: Head{Title: "Reason", Width: "minmax(0, 2fr)", Narrow: "minmax(0, 1fr)"}, Text: func(d *DumpRow) string { return d.Reason }, Tip: func(d *DumpRow) string { return d.Reason }},
	{Head: Head{Title: "Process", Width: "minmax(0, 1.4fr)"}, Text: func(d *DumpRow) string { return d.Process }, Tip: func(d *DumpRow) string { return d.Process }},
	{Head: Head{Title: "Version", Class: "dim", Width: "minmax(0, 1fr)", Narrow: "-"}, Text: func(d *DumpRow) string { return d.Version }, Tip: func(d *DumpRow) string { return d.Version }},
	{Head: Head{Title: "Product", Class: "dim", Width: "minmax(0, 1fr)", Medium: "-"}, Text: func(d *DumpRow) string { return d.Product }, Tip: func(d *DumpRow) string { return d.Product }},
	{Head: Head{Title: "System", Class: "dim", Width: "minmax(0, 1fr)", Medium: "-"}, Text: func(d *DumpRow) string { return strings.TrimSpace(d.OS + " " + d.CPU) }},
	{Head: Head{Title: "Missing", Class: "num", Width: "64px", Narrow: "-"}, Text: func(d *DumpRow) string { return Some(d.Missing) },
		Tip: func(*DumpRow) string { return "Symbol files that the stack lacks" }},
	{Head: Head{Title: "File", Class: "dim", Width: "minmax(0, 1.4fr)", Narrow: "-"}, Text: func(d *DumpRow) string { return BaseName(d.Name) }, Tip: func(d *DumpRow) string { return d.Name },
		Find: func(d *DumpRow) []string { return []string{d.Name} }, Copy: func(d *DumpRow) string { return d.Name }},
}

// SignatureText is the cell of the signature, or says why the dump has no signature.
func (d *DumpRow) SignatureText() string {
	switch {
	case !d.Known:
		return "…"
	case d.Signature == "":
		return NoSignature
	}
	return d.Signature
}

// NoSignature is in place of the signature of a dump without a crash.
const NoSignature = "no crash"

// DumpPage is a window of the table of dumps. Selected is the row number of the selected dump, or -1.
type DumpPage struct {
	Page
	Rows     []DumpRow
	Selected int
}

// DumpGroupRow is the dumps with one signature. First and Last are times in UTC.
type DumpGroupRow struct {
	Signature, Reason, Process string
	Dumps, Versions            int
	First, Last                string
	Days                       []Bar
}

// DumpGroupColumns are the columns of the table of groups.
var DumpGroupColumns = []Column[*DumpGroupRow]{
	{Head: Head{Title: "Dumps", Class: "num", Width: "64px"}, Text: func(g *DumpGroupRow) string { return Number(g.Dumps) }},
	{Head: Head{Title: "Signature", Class: "fn", Width: "minmax(0, 4fr)"}, Text: (*DumpGroupRow).Title, Tip: (*DumpGroupRow).Title},
	{Head: Head{Title: "Reason", Width: "minmax(0, 2fr)", Narrow: "-"}, Text: func(g *DumpGroupRow) string { return g.Reason }, Tip: func(g *DumpGroupRow) string { return g.Reason }},
	{Head: Head{Title: "Process", Width: "minmax(0, 1.2fr)", Narrow: "-"}, Text: func(g *DumpGroupRow) string { return g.Process }, Tip: func(g *DumpGroupRow) string { return g.Process }},
	{Head: Head{Title: "Versions", Class: "num", Width: "70px", Narrow: "-"}, Text: func(g *DumpGroupRow) string { return Some(g.Versions) }},
	{Head: Head{Title: "First seen", Class: "time", Width: "142px", Medium: "92px", Narrow: "-"}, Text: func(g *DumpGroupRow) string { return g.First }, Tip: func(g *DumpGroupRow) string { return g.First }},
	{Head: Head{Title: "Last seen", Class: "time", Width: "142px", Medium: "92px"}, Text: func(g *DumpGroupRow) string { return g.Last }, Tip: func(g *DumpGroupRow) string { return g.Last }},
	{Head: Head{Title: "By day", Class: "days", Width: "132px", Medium: "104px", Narrow: "72px"}, Text: func(g *DumpGroupRow) string { return DaysText(g.Days, 1) }},
}

// Title is the group's signature in words.
func (g *DumpGroupRow) Title() string {
	if g.Signature == "" {
		return NoSignature
	}
	return g.Signature
}

// DumpGroupPage is a window of the table of groups. Selected is the row number of the selected group, or -1.
type DumpGroupPage struct {
	Page
	Rows     []DumpGroupRow
	Selected int
}

// Bar is a bar of a chart: the dumps of a day, or of several days from one on.
type Bar struct {
	Day   string // "2026-11-03"
	Dumps int
}

// DaysText says what a chart of bars of so many days shows.
func DaysText(bars []Bar, days int) string {
	if len(bars) == 0 {
		return "no dump has a time"
	}
	most, total := 0, 0
	for i := range bars {
		total += bars[i].Dumps
		if bars[i].Dumps > bars[most].Dumps {
			most = i
		}
	}
	if len(bars) == 1 {
		return fmt.Sprintf("%s on %s", dumps(total), bars[0].Day)
	}
	when := "on"
	if days > 1 {
		when = fmt.Sprintf("in the %d days from", days)
	}
	return fmt.Sprintf("%s from %s to %s, most %s %s: %s", dumps(total), bars[0].Day, bars[len(bars)-1].Day, when, bars[most].Day, Number(bars[most].Dumps))
}

func dumps(n int) string {
	if n == 1 {
		return "1 dump"
	}
	return Number(n) + " dumps"
}
