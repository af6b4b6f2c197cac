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

// WriteModules writes all modules as CSV.
func WriteModules(w io.Writer, t *Ticket) error {
	var titles []string
	for _, c := range moduleColumns {
		titles = append(titles, c.title)
	}
	return WriteCSV(w, titles, len(t.AllModules), func(k, i int) string { return moduleColumns[i].cell(&t.AllModules[k]) })
}

// WriteCSV writes a table of n rows as CSV (RFC 4180, with lines that end in LF alone).
func WriteCSV(w io.Writer, titles []string, n int, cell func(row, column int) string) error {
	err := WriteCSVRow(w, titles)
	cells := make([]string, len(titles))
	for k := 0; k < n && err == nil; k++ {
		for i := range titles {
			cells[i] = cell(k, i)
		}
		err = WriteCSVRow(w, cells)
	}
	return err
}

// WriteCSVRow writes one line of a table as CSV.
func WriteCSVRow(w io.Writer, cells []string) error {
	p := &printer{w: w}
	for i, cell := range cells {
		p.print(comma(i), csvCell(cell))
	}
	p.print("\n")
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
