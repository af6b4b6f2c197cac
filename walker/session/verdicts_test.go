package session_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
)

// verdictCases are the dumps of the corpus, each with what symbols there are next to it. Hostile
// files and the emulated programs are left out: they say nothing of crashes.
func verdictCases(t *testing.T) []parityCase {
	t.Helper()
	cases := corpus(t)
	have := map[string]bool{}
	for _, c := range cases {
		have[c.dump] = true
	}
	for _, pattern := range []string{"other/*/*.dmp", "other/*/*/*.dmp", "other/*/*/*/*.dmp", "chromium/*.dmp", "winapple/wine/*.dmp", "winapple/debugpy/*.dmp"} {
		dumps, _ := filepath.Glob(filepath.Join(corpusRoot, pattern))
		for _, d := range dumps {
			if have[d] {
				continue
			}
			have[d] = true
			name, _ := filepath.Rel(corpusRoot, d)
			c := parityCase{name: strings.TrimSuffix(name, ".dmp"), dump: d}
			for _, end := range []string{".moz.sym", ".sym"} {
				if sym := strings.TrimSuffix(d, ".dmp") + end; exists(sym) {
					c.symbols = append(c.symbols, sym)
				}
			}
			cases = append(cases, c)
		}
	}
	// Crashes of a Rust program, which a folder made by bench/crashgen has, with the program.
	if dir := os.Getenv("CRASHPANE_CRASHGEN"); dir != "" {
		dumps, _ := filepath.Glob(filepath.Join(dir, "*.dmp"))
		for _, d := range dumps {
			cases = append(cases, parityCase{name: "crashgen/" + strings.TrimSuffix(filepath.Base(d), ".dmp"), dump: d,
				symbols: []string{filepath.Join(dir, "target/release/crashgen")}})
		}
	} else {
		t.Log("SKIPPED: the crashes that crashgen makes; CRASHPANE_CRASHGEN names no folder of them")
	}
	// Crashes of programs of several languages, with the libraries, in a folder that testdata/crashes/make.sh made.
	if dir := os.Getenv("CRASHPANE_CRASHES"); dir != "" {
		libraries, _ := filepath.Glob(filepath.Join(dir, "lib", "*"))
		dumps, _ := filepath.Glob(filepath.Join(dir, "*-*.dmp"))
		for _, d := range dumps {
			name := strings.TrimSuffix(filepath.Base(d), ".dmp")
			program, _, _ := strings.Cut(name, "-")
			cases = append(cases, parityCase{name: "crashes/" + name, dump: d, symbols: append([]string{filepath.Join(dir, program)}, libraries...)})
		}
	} else {
		t.Log("SKIPPED: the crashes that testdata/crashes/make.sh makes; CRASHPANE_CRASHES names no folder of them")
	}
	return cases
}

// isMadeAnew reports whether a case's dump is not in the corpus, but is made where it is wanted.
func isMadeAnew(name string) bool {
	return strings.HasPrefix(name, "crashgen/") || strings.HasPrefix(name, "crashes/")
}

// randomAddress is an address of a program, a library or a stack on Linux. Those of the crashes that are
// made for the test differ each time.
var randomAddress = regexp.MustCompile(`0x[0-9a-f]{11,12}\b`)

// TestVerdicts: the first lines of every dump are those of testdata/verdicts.tsv, which a person
// has read; the page's headline, the JSON and the copied text say the same.
func TestVerdicts(t *testing.T) {
	const path = "testdata/verdicts.tsv"
	rows := map[string]string{}
	for _, c := range verdictCases(t) {
		_, r := c.openedBy(t, session.Options{Policy: walker.Best, OpenBinary: readers.Open}, "mips", "mips64", "ppc", "ppc64", "sparc", "riscv", "riscv64", "arm64-old", "")
		if r == nil {
			continue
		}
		row := verdictRow(t, c.name, r)
		if isMadeAnew(c.name) {
			row = randomAddress.ReplaceAllString(row, "0x7f…")
		}
		rows[c.name] = row
	}
	raw, err := os.ReadFile(path)
	if err != nil && !updating() {
		t.Fatal(err)
	}
	want := map[string][]string{} // several where a crash that is made for the test differs from run to run
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if name, row, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
			want[name] = append(want[name], row)
		}
	}
	if updating() {
		writeVerdicts(t, path, want, rows)
		return
	}
	compared := 0
	for name, forms := range want {
		have, ok := rows[name]
		if !ok {
			if !isMadeAnew(name) {
				t.Errorf("%s: in the table and not in the corpus", name)
			}
			continue
		}
		compared++
		if !slices.Contains(forms, have) {
			t.Errorf("%s\n have %s\n want %s", name, have, strings.Join(forms, "\n  or "))
		}
	}
	for name := range rows {
		if want[name] == nil {
			t.Errorf("%s is not in the table: rewrite it with -update, and read it", name)
		}
	}
	if compared < 60 {
		t.Errorf("%d dumps were compared; the corpus has more", compared)
	}
}

// updating: the flag -update of the package's other tests is set.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// verdictRow are a dump's first lines: headline, signature, and why the first thread's stack ends.
func verdictRow(t *testing.T, name string, r *report.Report) string {
	v := view.New(r, demangle.Name)
	s := v.Summary()
	var headline strings.Builder
	for _, span := range s.Verdict {
		headline.WriteString(span.Text)
	}
	if copied := view.Ticket(r, demangle.Name, view.TicketOptions{Thread: -1}).Verdict; copied != report.HideUsers(headline.String()) {
		t.Errorf("%s: a ticket begins with\n %s\nand the page with\n %s", name, copied, headline.String())
	}
	r.Demangle(demangle.Name)
	var b bytes.Buffer
	if err := jsonreport.Write(&b, r, jsonreport.Options{}); err != nil {
		t.Fatal(err)
	}
	var j struct {
		Crashpane struct {
			Crash *struct {
				Sentence  string
				Signature *string
				Requested bool
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	if c := j.Crashpane.Crash; c != nil && !c.Requested {
		said := strings.NewReplacer(" (", ": ", ")", "").Replace(headline.String())
		for _, part := range strings.Split(c.Sentence, ": ") {
			if part = strings.NewReplacer(" (", ": ", ")", "").Replace(part); !strings.Contains(said, part) {
				t.Errorf("%s: the JSON says %q, the page %q", name, c.Sentence, headline.String())
				break
			}
		}
		if c.Signature == nil || rows.Clean(*c.Signature) != s.Signature {
			t.Errorf("%s: the JSON's signature is not the page's, %q", name, s.Signature)
		}
	}
	stop := "no threads"
	if t := r.FirstThread; t >= 0 && t < len(r.Threads) {
		stop = r.Threads[t].Stop.Kind + ": " + r.Threads[t].Stop.Detail
	}
	return headline.String() + "\t" + s.Signature + "\t" + stop
}

// writeVerdicts writes the table. Of crashes that are made for the test it keeps those that were not made, and
// further forms, if the form that was made is among them.
func writeVerdicts(t *testing.T, path string, kept map[string][]string, rows map[string]string) {
	all := map[string][]string{}
	for name, row := range rows {
		all[name] = []string{row}
	}
	for name, forms := range kept {
		if row, ok := rows[name]; isMadeAnew(name) && (!ok || slices.Contains(forms, row)) {
			all[name] = forms
		}
	}
	var b strings.Builder
	b.WriteString("# The first lines of each dump of the corpus: name, headline, signature, why the first thread's stack ends.\n" +
		"# go test ./walker/session -run TestVerdicts -update rewrites them; read what changed.\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, row := range all[name] {
			fmt.Fprintf(&b, "%s\t%s\n", name, row)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
