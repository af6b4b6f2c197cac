//go:build !js

package database

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/batch"
)

// onlyInTheLine are the fields of a record without a column of their own: the column record has them.
var onlyInTheLine = []string{"PID", "Hang.", "Modules[0].", "Missing[0].", "Annotations[0].", "Problems[0]", "Took", "Threads[0].Index", "Threads[0].ID", "Threads[0].Name",
	"Threads[0].Crashed", "Threads[0].Total", "Threads[0].Complete", "Threads[0].Frames[0].Number", "Threads[0].Frames[0].Skipped"}

// schemas are the checksums of the schema's versions.
var schemas = map[int]string{1: "87e353ba"}

// TestVersion: another schema has another version, by which batch refuses files of older commands.
func TestVersion(t *testing.T) {
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(schema))); sum[:8] != schemas[Version] {
		t.Errorf("the schema has changed: raise Version, and add a row for it with %q", sum[:8])
	}
}

// TestEveryFieldHasAColumn: each field of a record is in a column, or on the list above, and docs/COMMAND.md names
// each column.
func TestEveryFieldHasAColumn(t *testing.T) {
	var r batch.Record
	testfile.Fill(&r)
	r.Error = "" // a record with an error has nothing else
	columns := map[string]bool{}
	unused := testfile.Unused(&r, func() string {
		db, err := Open(":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.Add([]Added{{File{"a", 1, 1}, []batch.Record{r}}}); err != nil {
			t.Fatal(err)
		}
		return tables(t, db, columns)
	})
	for _, field := range unused {
		if !slices.ContainsFunc(onlyInTheLine, func(prefix string) bool { return strings.HasPrefix(field, prefix) }) {
			t.Errorf("%s is in no column", field)
		}
	}
	for _, prefix := range onlyInTheLine {
		if !slices.ContainsFunc(unused, func(field string) bool { return strings.HasPrefix(field, prefix) }) {
			t.Errorf("%s has a column, or is no field", prefix)
		}
	}
	doc, err := os.ReadFile("../../../docs/COMMAND.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "**Database.**")
	section, _, found := strings.Cut(section, "**Assistants.**")
	if !found || len(columns) < 20 {
		t.Fatalf("docs/COMMAND.md has no section on the database, or there are only %d columns", len(columns))
	}
	for name := range columns {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("docs/COMMAND.md does not name the column %s", name)
		}
	}
}

// tables returns the rows of dumps and frames without the column record, and notes the names of all columns.
func tables(t *testing.T, db *DB, columns map[string]bool) (out string) {
	t.Helper()
	for _, table := range []string{"dumps", "frames", "files", "errors"} {
		rows, err := db.db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			columns[name] = true
		}
		for rows.Next() {
			cells, to := make([]any, len(names)), make([]any, len(names))
			for i := range cells {
				to[i] = &cells[i]
			}
			if err := rows.Scan(to...); err != nil {
				t.Fatal(err)
			}
			for i, name := range names {
				if name != "record" {
					out += fmt.Sprintf("%s.%s = %v\n", table, name, cells[i])
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
