package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestUnusedIsTold: one notice names the files that no dump uses, once, and not while others are
// still to be read.
func TestUnusedIsTold(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	row := protocol.FileRow{Name: "in/x.sym", Kind: "sym", Usable: true, Unused: "its id is another"}
	answer := func(files ...protocol.FileRow) {
		p.Pace.show(&protocol.QueryResult{Files: &protocol.FilePage{Rows: files, Unused: files}}, "")
	}
	p.Reading.Add([]host.File{fakeFile("x.sym"), fakeFile("y.sym")})
	answer(row)
	if len(p.Notices.List) != 0 {
		t.Errorf("too early: %+v", p.Notices.List)
	}
	for range 2 {
		say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{row}})
	}
	for range 2 {
		answer(row)
	}
	if n := p.Notices.List; len(n) != 1 || n[0].Text != "x.sym is not used: its id is another." || n[0].Arg != "files" {
		t.Errorf("%+v", n)
	}
	if out := render(t, p); !strings.Contains(out, "x.sym is not used") {
		t.Error("the notice is not shown")
	}
	status := protocol.FileColumns[slices.IndexFunc(protocol.FileColumns, func(c rows.Column[protocol.FileRow]) bool { return c.Title == "Status" })]
	if text := status.Text(row); text != "Not used: its id is another" {
		t.Error(text)
	}
}

// TestTroubleOfFolders: the files of a folder that cannot be used share a notice, which leads to the
// list of files.
func TestTroubleOfFolders(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	bad := func(name string) protocol.FileRow {
		return protocol.FileRow{Name: name, Message: name + ": a picture."}
	}
	tell := func(rows ...protocol.FileRow) {
		p.Reading.unreported = rows
		p.Reading.reportProblems()
	}
	tell(bad("logs/a.png"), bad("b.png"))
	tell(protocol.FileRow{Name: "syms/x.sym", Usable: true, Assign: true}, protocol.FileRow{Name: "syms/y.sym", Usable: true, Assign: true})
	tell(bad("logs/in/c.png"))
	tell(bad("logs/d.png"), bad("logs/a.png"), bad("e.png"))
	var have []string
	for _, n := range p.Notices.List {
		have = append(have, n.Text+" "+n.Do)
	}
	want := []string{"3 files of logs cannot be used: a.png, c.png and 1 more. Show files", "b.png: a picture. Show files",
		"2 files of syms have no MODULE line and can be assigned under Modules, Files: x.sym and y.sym. Show files",
		"e.png: a picture. Show files"}
	if !slices.Equal(have, want) {
		t.Errorf("%q\nwant %q", have, want)
	}
}
