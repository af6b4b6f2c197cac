package binary_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// accepted are the differences that are known, with how many of each kind and why: a line each of
// file, kind, count and reason, between tabs.
type accepted struct {
	path    string
	header  []string
	count   map[[2]string]int
	reasons map[[2]string]string
}

func readAccepted(t *testing.T, path string) *accepted {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := &accepted{path: path, count: map[[2]string]int{}, reasons: map[[2]string]string{}}
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		w := strings.Split(sc.Text(), "\t")
		if len(w) != 4 {
			a.header = append(a.header, sc.Text())
			continue
		}
		n, err := strconv.Atoi(w[2])
		if err != nil || w[3] == "" {
			t.Errorf("%s: a line without a count or a reason: %s", path, sc.Text())
		}
		a.count[[2]string{w[0], w[1]}], a.reasons[[2]string{w[0], w[1]}] = n, w[3]
	}
	return a
}

// check compares what was found for a file with what is known about it.
func (a *accepted) check(t *testing.T, file string, d *differences) {
	t.Helper()
	bad := false
	for kind, n := range d.count {
		if known := a.count[[2]string{file, kind}]; known != n {
			t.Errorf("%s: %s: %d, %d are known", file, kind, n, known)
			bad = true
		}
	}
	for k, n := range a.count {
		if k[0] == file && d.count[k[1]] == 0 {
			t.Errorf("%s: %s: %d are known and there are none", file, k[1], n)
		}
	}
	if bad {
		t.Logf("%s:\n%s", file, d)
	}
}

// write keeps the reasons and rewrites the counts.
func (a *accepted) write(t *testing.T, found map[string]*differences, order []string) {
	var b strings.Builder
	for _, h := range a.header {
		b.WriteString(h + "\n")
	}
	for _, file := range order {
		var kinds []string
		for kind := range found[file].count {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		for _, kind := range kinds {
			reason := a.reasons[[2]string{file, kind}]
			fmt.Fprintf(&b, "%s\t%s\t%d\t%s\n", file, kind, found[file].count[kind], reason)
		}
	}
	if err := os.WriteFile(a.path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
