package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
)

// otherInlines are the cases whose text differs: Breakpad wants INLINE records parents first, and
// drops or swaps calls of Mozilla's files, which have them by address.
var otherInlines = []string{"bigcrash.mozilla"}

// TestOutputBreakpad compares whole outputs with Breakpad's policy, byte for byte.
func TestOutputBreakpad(t *testing.T) {
	forms := []struct {
		ext           string
		write         func(io.Writer, *report.Report) error
		dumps, equals int
	}{
		{".breakpad.txt", text.Write, 0, 0},
		{".breakpad-m.txt", text.WriteMachine, 0, 0},
	}
	for _, c := range corpus(t) {
		r := c.walked(t, walker.Breakpad)
		if r == nil {
			continue
		}
		for i := range forms {
			f := &forms[i]
			want := golden(t, c.golden+f.ext)
			if len(want) == 0 {
				continue
			}
			f.dumps++
			var got bytes.Buffer
			if err := f.write(&got, r); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(got.Bytes(), want) {
				f.equals++
				continue
			}
			if !slices.Contains(otherInlines, c.name) {
				t.Errorf("%s%s differs\n%s", c.name, f.ext, firstDifference(got.String(), string(want)))
			}
		}
	}
	for _, f := range forms {
		t.Logf("%s: %d of %d outputs equal byte for byte", f.ext, f.equals, f.dumps)
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("  line %d\n  ours:   %q\n  golden: %q", i+1, x, y)
		}
	}
	return ""
}

// TestOutputRust compares the JSON with rust-minidump's policy, field by field, with its stored
// outputs.
func TestOutputRust(t *testing.T) {
	cmp := newFieldComparison(t)
	for _, c := range corpus(t) {
		want := golden(t, c.golden+".rust.json")
		r := c.walked(t, walker.RustMinidump, "mips64")
		if len(want) == 0 || r == nil {
			continue
		}
		var got bytes.Buffer
		if err := jsonreport.Write(&got, r, jsonreport.Options{}); err != nil {
			t.Fatal(err)
		}
		cmp.dump(t, c.name, got.Bytes(), want)
	}
	cmp.finish(t)
}

// TestFieldsInDocs: the differences of all dumps are the rows of the command's documentation.
func TestFieldsInDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/COMMAND.md")
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ = bytes.Cut(doc, []byte("## Where the JSON differs"))
	var listed, documented []string
	for _, r := range newFieldComparison(t).rows {
		if r.everywhere() {
			listed = append(listed, strings.Trim(r.field, ".*"))
		}
	}
	for line := range strings.Lines(string(doc)) {
		if field, ok := strings.CutPrefix(line, "| `"); ok {
			field, _, _ = strings.Cut(field, "`")
			documented = append(documented, field)
		}
	}
	slices.Sort(listed)
	slices.Sort(documented)
	if listed = slices.Compact(listed); !slices.Equal(listed, documented) {
		t.Errorf("%s has %q, docs/COMMAND.md %q", fieldsFile, listed, documented)
	}
}

const fieldsFile = "testdata/parity/fields.tsv"

// fieldComparison compares our JSON with rust-minidump's. Every field that differs is in fieldsFile
// with both values, and that file has none that does not occur.
type fieldComparison struct {
	rows                       []fieldDifference
	compared                   map[string]bool
	all                        bool // also dumps without stored outputs
	dumps, equal, fields, same int
}

// fieldDifference is a line of fieldsFile: dump, field, theirs, ours, cause. A field that ends in
// "*" is all that begin so; a value "*" is any. A dump "*" or "+" is any; a line with "+" has no
// stored output. docs/COMMAND.md has these lines too.
type fieldDifference struct {
	line                             int
	name, field, theirs, ours, cause string
	hits                             int
}

func (d *fieldDifference) everywhere() bool { return d.name == "*" || d.name == "+" }

func newFieldComparison(t *testing.T) *fieldComparison {
	t.Helper()
	data, err := os.ReadFile(fieldsFile)
	if err != nil {
		t.Fatal(err)
	}
	c := &fieldComparison{compared: map[string]bool{}}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			t.Fatalf("%s:%d: %d fields, not 5", fieldsFile, n, len(f))
		}
		c.rows = append(c.rows, fieldDifference{n, f[0], f[1], f[2], f[3], f[4], 0})
	}
	return c
}

// dump compares two outputs; what is not JSON is the word of an error, or nothing.
func (c *fieldComparison) dump(t *testing.T, name string, ours, theirs []byte) {
	t.Helper()
	c.dumps++
	c.compared[name] = true
	var a, b any
	errOurs, errTheirs := json.Unmarshal(ours, &a), json.Unmarshal(theirs, &b)
	switch {
	case errOurs != nil && errTheirs != nil:
		c.equal++
		return
	case errOurs != nil || errTheirs != nil:
		read := func(err error, word []byte) string {
			if err == nil {
				return "read"
			}
			return "refused " + string(word)
		}
		c.tell(t, name, ".", read(errOurs, ours), read(errTheirs, theirs))
		return
	}
	sortLimits(a)
	sortLimits(b)
	all := true
	compareJSON(a, b, "", func(path string, equal bool, x, y any) {
		c.fields++
		if equal {
			c.same++
			return
		}
		all = false
		c.tell(t, name, path, short(x), short(y))
	})
	if all {
		c.equal++
	}
}

// tell looks a difference up.
func (c *fieldComparison) tell(t *testing.T, name, field, ours, theirs string) {
	t.Helper()
	for i := range c.rows {
		r := &c.rows[i]
		prefix, open := strings.CutSuffix(r.field, "*")
		if (r.name == name || r.everywhere()) && (r.field == field || open && strings.HasPrefix(field, prefix)) &&
			(r.ours == ours || r.ours == "*") && (r.theirs == theirs || r.theirs == "*") {
			r.hits++
			return
		}
	}
	t.Errorf("%s %s: rust-minidump's %s, ours %s, which %s does not list", name, field, theirs, ours, fieldsFile)
}

// finish fails for listed differences of the compared dumps that did not occur.
func (c *fieldComparison) finish(t *testing.T) {
	t.Helper()
	for _, r := range c.rows {
		if (c.compared[r.name] || r.name == "*" || r.name == "+" && c.all) && r.hits == 0 {
			t.Errorf("%s:%d: the difference of %s no longer occurs", fieldsFile, r.line, r.name)
		}
	}
	t.Logf("json: %d of %d dumps equal in every field; %d of %d fields equal", c.equal, c.dumps, c.same, c.fields)
}

// sortLimits puts proc_limits.limits in order: rust-minidump's comes from a hash table and changes
// from run to run.
func sortLimits(v any) {
	limits, _ := v.(map[string]any)["proc_limits"].(map[string]any)
	list, _ := limits["limits"].([]any)
	name := func(i int) string { return list[i].(map[string]any)["name"].(string) }
	sort.Slice(list, func(i, j int) bool { return name(i) < name(j) })
}

// absent is the value of a member that an object does not have.
type absent struct{}

// short prints a value in at most 60 bytes.
func short(v any) string {
	switch v := v.(type) {
	case absent:
		return "absent"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return "an object"
	}
	s := fmt.Sprint(v)
	return s[:min(60, len(s))]
}

// compareJSON reports every leaf, and every place where the two differ in shape. Our
// additions are left out.
func compareJSON(a, b any, path string, tell func(path string, equal bool, a, b any)) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := map[string]bool{}
		for k := range x {
			keys[k] = true
		}
		for k := range y {
			keys[k] = true
		}
		delete(keys, "crashpane")
		for k := range keys {
			u, has := x[k]
			v, had := y[k]
			if !has {
				u = absent{}
			}
			if !had {
				v = absent{}
			}
			compareJSON(u, v, path+"."+k, tell)
		}
		return
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			compareJSON(x[i], y[i], path+"[]", tell)
		}
		return
	default:
		switch b.(type) {
		case map[string]any, []any:
		default:
			tell(path, a == b, a, b)
			return
		}
	}
	tell(path, false, a, b)
}
