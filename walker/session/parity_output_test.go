package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
)

// TestOutputBreakpad compares whole outputs with Breakpad's policy, byte for byte. It counts and
// shows the first differing line of each; the stacks in them are TestParityBreakpad's.
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
			t.Logf("%s%s differs\n%s", c.name, f.ext, firstDifference(got.String(), string(want)))
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

// stackFields are the fields of rust-minidump's schema that the walk decides.
var stackFields = []string{"frame_count", "file", "frame", "function", "function_offset", "inlines", "line", "missing_symbols",
	"module", "module_offset", "offset", "registers", "trust", "unloaded_modules"}

// TestOutputRust compares the JSON with rust-minidump's policy, field by field. Every field that
// differs is in differences.tsv with the kind "json", where the column of threads has the field's
// path; and that file has none that does not occur.
func TestOutputRust(t *testing.T) {
	known := readDifferences(t)
	dumps, equal, stacksEqual, fields, same := 0, 0, 0, 0, 0
	by := map[string][]string{}
	for _, c := range corpus(t) {
		want := golden(t, c.golden+".rust.json")
		r := c.walked(t, walker.RustMinidump, "mips64")
		if len(want) == 0 || r == nil {
			continue
		}
		dumps++
		var got bytes.Buffer
		if err := jsonreport.Write(&got, r, jsonreport.Options{}); err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(got.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(want, &b); err != nil {
			t.Fatal(err)
		}
		sortLimits(a)
		sortLimits(b)
		all, stack := true, true
		compareJSON(a, b, "", func(path string, equal bool, x, y any) {
			fields++
			if equal {
				same++
				return
			}
			all = false
			name := path[strings.LastIndex(path, ".")+1:]
			if strings.Contains(path, "threads") && slices.Contains(stackFields, strings.TrimSuffix(name, "[]")) {
				stack = false
			}
			if !known.field(c.name, path) {
				t.Errorf("%s %s: ours %s, golden %s", c.name, path, short(x), short(y))
			}
			by[path] = append(by[path], c.name+": "+short(x)+", golden "+short(y))
		})
		if all {
			equal++
		}
		if stack {
			stacksEqual++
		}
	}
	paths := make([]string, 0, len(by))
	for p := range by {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	for _, p := range paths {
		t.Logf("%s: %d differences, as in %s", p, len(by[p]), strings.Join(by[p][:min(3, len(by[p]))], "; "))
	}
	known.finish(t, "json")
	t.Logf("json: %d of %d dumps equal in every field, %d in every field of the stacks; %d of %d fields equal", equal, dumps, stacksEqual, same, fields)
}

// sortLimits puts proc_limits.limits in order: rust-minidump's comes from a hash table and changes
// from run to run.
func sortLimits(v any) {
	limits, _ := v.(map[string]any)["proc_limits"].(map[string]any)
	list, _ := limits["limits"].([]any)
	name := func(i int) string { return list[i].(map[string]any)["name"].(string) }
	sort.Slice(list, func(i, j int) bool { return name(i) < name(j) })
}

// field looks up a difference of the kind "json".
func (d *differences) field(dump, path string) bool {
	for i := range d.all {
		k := &d.all[i]
		if k.kind == "json" && k.dump == dump && k.thread == path {
			k.hits++
			return true
		}
	}
	return false
}

// short prints a value in at most 60 bytes.
func short(v any) string {
	s := fmt.Sprint(v)
	return s[:min(60, len(s))]
}

// compareJSON tells of every leaf, and of every place where the two have not the same shape. Our
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
			if has != had {
				tell(path+"."+k, false, u, v)
				continue
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
