//go:build !js

package main

import (
	"flag"
	"fmt"
	"html/template"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/walker/batch"
	"github.com/crashpane/crashpane/walker/batch/database"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
)

var groupsCommand = command{
	name:  "groups",
	line:  "groups [--html] FILE",
	about: "print the groups of dumps in a file that batch --db made",
	help: `Prints a line for each signature, largest groups first: how many dumps have it, when the first and the last of them were written, how
many versions they come from, and the signature. --html prints a page in one file.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		page := fs.Bool("html", false, "print a page in one file")
		return func(args []string, stdout, _ io.Writer) error {
			if len(args) != 1 {
				return usageError("name one file")
			}
			return printGroups(stdout, args[0], *page)
		}
	},
}

// groupRow is a group with its times as texts.
type groupRow struct {
	batch.Group
	From, To string
}

func printGroups(w io.Writer, path string, page bool) error {
	if _, err := os.Stat(path); err != nil { // Open would make the file
		return err
	}
	db, err := database.Open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	var all []groupRow
	dumps, without, failed, err := db.Groups(func(g *batch.Group) error {
		row := groupRow{Group: *g}
		if g.First != 0 {
			row.From, row.To = view.Time(g.First)[:10], view.Time(g.Last)[:10]
		}
		all = append(all, row)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	summary := fmt.Sprintf("%s in %s", counted(dumps, "dump", "dumps"), counted(len(all), "group", "groups"))
	if without > 0 {
		summary += fmt.Sprintf("; %s no crash", counted(without, "dump has", "dumps have"))
	}
	if failed > 0 {
		summary += fmt.Sprintf("; %s or cannot be read", counted(failed, "file is not a dump", "files are not dumps"))
	}
	if page {
		return groupsPage.Execute(w, map[string]any{"Summary": summary, "Groups": all, "Most": most(all)})
	}
	fmt.Fprintf(w, "%s\n", summary)
	if len(all) > 0 {
		fmt.Fprintf(w, "\n%7s  %-10s  %-10s  %8s  %s\n", "Dumps", "First", "Last", "Versions", "Signature")
	}
	for _, g := range all {
		if _, err := fmt.Fprintf(w, "%7s  %-10s  %-10s  %8d  %s\n", rows.Number(g.Dumps), g.From, g.To, g.Versions, visible.Text(g.Signature)); err != nil {
			return err
		}
	}
	return nil
}

// most is the size of the largest group.
func most(all []groupRow) int {
	if len(all) == 0 {
		return 1
	}
	return slices.MaxFunc(all, func(a, b groupRow) int { return a.Dumps - b.Dumps }).Dumps
}

var groupsPage = template.Must(template.New("groups").Funcs(template.FuncMap{"clean": rows.Clean}).Parse(strings.TrimSpace(`
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Groups of crashes</title>
<style>
:root { color-scheme: light dark }
body { font: 13px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 24px }
h1 { font-size: 18px; font-weight: 600 }
table { border-collapse: collapse; width: 100% }
th, td { padding: 5px 10px; text-align: left; vertical-align: top; border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent) }
th { font-weight: 500; opacity: .75 }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
td.s { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
td.d { white-space: nowrap }
meter { width: 90px }
</style>
<h1>{{.Summary}}</h1>
<table>
<thead><tr><th>Dumps<th><th>First<th>Last<th>Versions<th>Process<th>Reason<th>Signature</tr></thead>
{{$most := .Most}}{{range .Groups}}<tr><td class="n">{{.Dumps}}<td><meter min="0" max="{{$most}}" value="{{.Dumps}}" aria-hidden="true"></meter><td class="d">{{.From}}<td class="d">{{.To}}<td class="n">{{.Versions}}<td>{{clean .Process}}<td>{{clean .Reason}}<td class="s">{{clean .Signature}}</tr>
{{end}}</table>
</html>
`) + "\n"))
