package engine

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// secret is in every part of a dump that has private data; linux is where users' folders are.
const secret, linux = "hunter2", "/" + "home"

// Sends every request, with and without Redact: private data must be in the answers only without
// it.
func TestNothingPrivateLeaves(t *testing.T) {
	dump, symbols := dumptest.Secretive(secret)
	for _, redact := range []bool{false, true} {
		said := map[string]string{} // of each question, the answers as they go to the page
		what := ""
		var e *Engine
		e = New(func(a protocol.Answer) { said[what] += string(protocol.AppendAnswer(nil, a, e.Text())) }, Options{})
		ask := func(name string, req protocol.Request, src *input.Source) {
			what = name
			e.Handle(protocol.Call{Redact: redact, Request: req}, src)
		}
		upload := "--b\r\nContent-Disposition: form-data; name=\"comment\"\r\n\r\n" + secret + "\r\n--b\r\n" +
			"Content-Disposition: form-data; name=\"upload_file_minidump\"; filename=\"a.dmp\"\r\n\r\n" + string(dump) + "\r\n--b--\r\n"
		ask("add", &protocol.Add{Names: []string{"a.dmp"}}, input.FromBytes("a.dmp", []byte(upload)))
		ask("symbols", &protocol.Add{Names: []string{"a.sym"}}, input.FromBytes("a.sym", symbols))
		for e.Idle() {
		}
		all := protocol.Span{Count: 100}
		look := protocol.Query{Summary: true, Threads: &protocol.ThreadsQuery{Span: all}, Stack: &all, Detail: true, Modules: &protocol.ModulesQuery{Span: all}, Missing: &all,
			Files: &all, Code: &protocol.CodeQuery{Before: 50, After: 50, Span: protocol.Span{From: -50, Count: 100}}, Compare: &protocol.CompareQuery{Span: all}, Overview: protocol.OverviewQuery{Merged: &protocol.MergedQuery{Span: all}, Difference: &protocol.DifferenceQuery{Span: all}}, System: &protocol.SystemQuery{CommandLine: true, Environment: true}, Memory: protocol.MemoryQuery{Places: &protocol.PlacesQuery{Text: "a"}, Symbols: &protocol.SymbolsQuery{Text: "main"}}}
		look.Overview.Outline = &protocol.OutlineQuery{Item: -1, List: true, Files: true, Span: all, Place: true, At: 0x1000, Lines: all}
		for i, v := 0, reflect.ValueOf(look); i < v.NumField(); i++ {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains([]string{"Selection", "Search", "Rest", "Wanted", "Grid", "Content", "Find"}, name) {
				t.Errorf("nothing is asked for Query.%s", name)
			}
		}
		for frame := range 3 {
			look.Frame = frame
			ask(fmt.Sprint("look ", frame), &look, nil)
		}
		ask("table of dumps", &protocol.Query{Overview: protocol.OverviewQuery{Dumps: &protocol.DumpTableQuery{Dumps: all, Groups: all}}}, nil)
		for kind := range dumpWriters {
			for range 100 { // the first parts are empty until all dumps are described
				ask("dumps as "+kind, &protocol.ExportDumps{Kind: kind, From: 0}, nil)
				if strings.Contains(said["dumps as "+kind], "a.dmp") {
					break
				}
			}
			if strings.Contains(said["dumps as "+kind], secret) || !strings.Contains(said["dumps as "+kind], "a.dmp") {
				t.Errorf("dumps as %s: %q", kind, said["dumps as "+kind])
			}
		}
		for _, grid := range gridTables {
			ask(grid.id, &protocol.Query{Grid: &protocol.GridQuery{Name: grid.id, Span: all}}, nil)
		}
		for form := range view.MemoryUnits {
			ask("memory as "+form, &protocol.Query{Memory: protocol.MemoryQuery{Rows: &protocol.MemoryRows{Form: form, Span: all, Texts: true}}}, nil)
			if a, err := protocol.ReadAnswer([]byte(said["memory as "+form])); redact {
				checkHidden(t, form, a, err)
			}
			ask("without texts "+form, &protocol.Query{Memory: protocol.MemoryQuery{Rows: &protocol.MemoryRows{Form: form, Span: all}}}, nil)
		}
		ask("without texts stack", &protocol.Query{Memory: protocol.MemoryQuery{Stack: &protocol.StackWordsQuery{Span: all}}}, nil)
		if !strings.Contains(said["without texts stack"], "stack of thread 0") && !strings.Contains(said["without texts stack"], "main") {
			t.Errorf("no words: %q", said["without texts stack"])
		}
		word := fmt.Sprintf("%016x", binary.LittleEndian.Uint64([]byte(secret+"\x00")))
		for question, answer := range said {
			if has := strings.Contains(answer, word) || strings.Contains(answer, strings.TrimSpace(fmt.Sprintf("% x", secret))); redact && has {
				t.Errorf("%s tells it in digits: %q", question, answer)
			}
		}
		for _, kind := range []string{protocol.FindText, protocol.FindBytes, protocol.FindStackTexts} {
			ask("find "+kind, &protocol.FindMemory{Kind: kind, Text: map[string]string{protocol.FindText: secret, protocol.FindBytes: hex.EncodeToString([]byte(secret))}[kind]}, nil)
			var a protocol.Answer
			if a, _ = protocol.ReadAnswer([]byte(said["find "+kind])); redact && (a.Error == "" || a.Reply.(*protocol.MemoryFound).Hits > 0) {
				t.Errorf("a search for %s tells it: %+v", kind, a)
			}
			ask("hits of "+kind, &protocol.Query{Memory: protocol.MemoryQuery{Hits: &all}}, nil)
		}
		for i := range e.files.Session(0).Dump.Streams {
			for _, bytes := range []bool{false, true} {
				ask(fmt.Sprint("stream ", i, bytes), &protocol.Query{Content: &protocol.ContentQuery{Stream: i, Bytes: bytes, Private: true, Span: all}}, nil)
			}
		}
		for _, kind := range protocol.Exports {
			ask("export "+kind.ID, &protocol.Export{Kind: kind.ID, Thread: -1}, nil)
			ask("private "+kind.ID, &protocol.Export{Kind: kind.ID, Thread: -1, Private: true}, nil)
			if !strings.Contains(said["export "+kind.ID], "a.") && !strings.Contains(said["export "+kind.ID], "main") {
				t.Errorf("%s is not about the dump: %q", kind.ID, said["export "+kind.ID])
			}
		}
		found := 0
		for question, answer := range said {
			if strings.Contains(answer, secret) {
				found++
				if redact || strings.HasPrefix(question, "export ") || strings.HasPrefix(question, "without texts ") {
					t.Errorf("%s tells it: %q", question, answer)
				}
			}
		}
		if !redact && !strings.Contains(said["private stack"], secret) {
			t.Errorf("what is private is hidden, too: %q", said["private stack"])
		}
		if !redact && found < 10 {
			t.Errorf("without redact %d of %d answers tell it", found, len(said))
		}
		if redact && !strings.Contains(said["memory"], linux+"/USER/bin/app") {
			t.Errorf("more is lost: %s", said["memory"])
		}
	}
}

// placesOnly are the texts of a row of memory that are no contents of it. Word and Points are left of words that point
// into a module or a stack.
var placesOnly = []string{"Address", "Gap", "From", "Word", "Points"}

// checkHidden checks that the rows of memory in an answer with redact have no other texts.
func checkHidden(t *testing.T, form string, a protocol.Answer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	page := a.Reply.(*protocol.QueryResult).Memory.Rows
	if page == nil || len(page.Rows) == 0 {
		t.Fatalf("memory as %s: no rows", form)
	}
	for i := range page.Rows {
		row := reflect.ValueOf(page.Rows[i])
		for k := range row.NumField() {
			if name := row.Type().Field(k).Name; row.Field(k).Kind() == reflect.String && !slices.Contains(placesOnly, name) && row.Field(k).String() != "" {
				t.Errorf("memory as %s: %s tells %q", form, name, row.Field(k).String())
			}
		}
	}
}

// The report's threads and frames are the same with Redact.
func TestRedactKeepsTheStack(t *testing.T) {
	stack := func(redact bool) string {
		k := newTalk(t)
		for _, name := range []string{"tilecruncher.dmp", "libtilecodec.so.sym"} {
			content, err := os.ReadFile(sample + name)
			if err != nil {
				t.Fatal(err)
			}
			k.call(protocol.Call{Redact: redact, Request: &protocol.Add{Names: []string{name}}}, input.FromBytes(name, content))
		}
		k.call(protocol.Call{Redact: redact, Request: &protocol.Export{Kind: "machine", Thread: -1}}, nil)
		r, _ := last[*protocol.Exported](k)
		return r.Text
	}
	if open, redacted := stack(false), stack(true); report.HideUsers(open) != redacted || !strings.Contains(open, "codec.cc") {
		t.Errorf("%s\nbut with redact\n%s", open, redacted)
	}
}
