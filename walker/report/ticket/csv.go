package ticket

import (
	"fmt"
	"io"
	"strings"
)

// moduleColumns are the columns of the CSV.
var moduleColumns = []struct {
	title string
	cell  func(m *Module) string
}{
	{"Module", func(m *Module) string { return m.Name }},
	{"Version", func(m *Module) string { return m.Version }},
	{"Base", func(m *Module) string { return m.Base }},
	{"Size", func(m *Module) string { return fmt.Sprint(m.Size) }},
	{"Debug file", func(m *Module) string { return m.DebugFile }},
	{"Debug id", func(m *Module) string { return m.DebugID }},
	{"Code id", func(m *Module) string { return m.CodeID }},
	{"Symbols", func(m *Module) string { return m.Word }},
	{"Symbol file", func(m *Module) string { return m.SymbolFile }},
	{"Frames", func(m *Module) string { return fmt.Sprint(m.Frames) }},
	{"Path", func(m *Module) string { return m.Path }},
}

// WriteModules writes all modules as CSV (RFC 4180, with lines that end in LF alone).
func WriteModules(w io.Writer, t *Ticket) error {
	p := &printer{w: w}
	for i, c := range moduleColumns {
		p.print(comma(i), c.title)
	}
	p.print("\n")
	for k := range t.AllModules {
		for i, c := range moduleColumns {
			p.print(comma(i), csvCell(c.cell(&t.AllModules[k])))
		}
		p.print("\n")
	}
	return p.err
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// csvCell quotes a cell. An apostrophe keeps a spreadsheet from taking it for a formula, which could
// run a program or send what other cells have.
func csvCell(s string) string {
	if strings.IndexAny(s, "=+-@＝＋－＠\t\r") == 0 {
		s = "'" + s
	}
	if strings.ContainsAny(s, "\",\r\n") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
