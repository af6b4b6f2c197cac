package app

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/tabs"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestNextStep: the command is for the user's system, and any file name is one word in it.
func TestNextStep(t *testing.T) {
	for _, c := range []struct{ system, taken, name, want string }{
		{host.Linux, "a binary that is read", "dir/app.pdb", "ls -l app.pdb"}, // whole ones are read
		{host.Windows, "minidump", `C:\my dumps\a b.dmp`, "(Get-Item 'a b.dmp').Length"},
		{host.Mac, "minidump", "a b.dmp", "ls -l 'a b.dmp'"},
		{host.Linux, "packed", "it's.7z", `tar -xf 'it'\''s.7z'`},
		{host.Windows, "packed", "it's.7z", "tar -xf 'it''s.7z'"},
		{host.Windows, "packed", "’;calc;‘.7z", "tar -xf '’’;calc;‘‘.7z'"},
		{host.Linux, "packed", "--to-command=x.7z", "tar -xf './--to-command=x.7z'"},
		{host.Linux, "packed", "$(reboot).7z", "tar -xf '$(reboot).7z'"},
		{host.Linux, "cab", "ntdll.pd_", "cabextract ntdll.pd_"},
		{host.Windows, "cab", "ntdll.pd_", "expand ntdll.pd_ -F:* ."},
		{host.Linux, "text", "a.txt", ""},
		{host.Linux, "nothing known", "a", ""},
	} {
		row := protocol.FileRow{Name: c.name, Detected: c.taken, Kind: "other"}
		if c.taken == "a binary that is read" {
			row.Kind = "binary"
		}
		if _, got := tabs.NextStep(row, c.system); got != c.want {
			t.Errorf("%s, %s, %s: %s, not %s", c.system, c.taken, c.name, got, c.want)
		}
	}
}

// TestMakeCommand: the name of a module's file comes from the dump, and is one word of the command, whatever is in it.
func TestMakeCommand(t *testing.T) {
	for _, c := range []struct{ system, file, want string }{
		{host.Linux, "libfoo.so", "dumpsyms libfoo.so libfoo.so.pdb > libfoo.so.sym"},
		{host.Linux, "a FILE;reboot", "dumpsyms 'a FILE;reboot' 'a FILE;reboot.pdb' > 'a FILE;reboot.sym'"},
		{host.Windows, "my app", "dumpsyms 'my app' 'my app.pdb' > 'my app.sym'"},
	} {
		p, h, _ := newTestPage("")
		h.system = c.system
		m := p.Panel.Modules
		m.Module, m.Detail = 0, &rows.ModuleDetail{Command: "dumpsyms FILE FILE.pdb > FILE.sym", File: c.file}
		if got := tabs.MakeCommand(m); got != c.want {
			t.Errorf("%s, %s: %s, not %s", c.system, c.file, got, c.want)
		}
	}
}

// TestPlaces: another thread, frame or tab makes an entry of the history; typing, folding and
// default selections do not.
func TestPlaces(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	say(p, &protocol.QueryResult{})
	if len(h.entries) != 0 {
		t.Errorf("opening the first dump made entries: %q", h.entries)
	}
	p.Input("search", "x")
	p.Act("tab", "modules") // folds
	if len(h.entries) != 0 {
		t.Errorf("typing and folding made entries: %q", h.entries)
	}
	p.Act("frame", "1.-1")
	p.Act("thread", "0")
	p.Act("tab", "system")
	if len(h.entries) != 3 {
		t.Errorf("three places, %d entries: %q", len(h.entries), h.entries)
	}
	p.Address.Changed(h.entries[0])
	if p.State.Frame != 1 || p.State.Tab != "modules" {
		t.Errorf("back at %+v", p.State)
	}
	if len(h.entries) != 3 {
		t.Errorf("going back made an entry: %q", h.entries[3:])
	}
}

// TestSymbolsAreComing: while files are being read, the page does not call symbols missing.
func TestSymbolsAreComing(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	r := screen()
	r.Stack.Rows = append(r.Stack.Rows, stopHint)
	r.Summary.Missing, r.Summary.Findings = 2, []rows.FindingRow{{Title: "Stack ends early", Thread: -1}}
	p.Reading.Add([]host.File{fakeFile("big.sym")})
	p.Pace.answered(r, "")
	last := p.Stack.Rows[len(p.Stack.Rows)-1]
	if p.Reading.symbolsText() == "" || p.Verdict.hasFinding() || last.Suggestion || last.Function == stopHint.Function {
		t.Errorf("%q, finding %v, %+v", p.Reading.symbolsText(), p.Verdict.hasFinding(), last)
	}
	say(p, &protocol.Added{Dumps: p.Dumps.List, Items: []protocol.FileRow{{Name: "big.sym", Kind: "sym", Usable: true, Dump: -1}}})
	if p.Reading.symbolsText() == "" || p.Verdict.hasFinding() {
		t.Errorf("the stack is not walked with the new file, and %q", p.Reading.symbolsText())
	}
	again := screen()
	again.Summary.Findings = r.Summary.Findings
	p.Pace.answered(again, "")
	if p.Reading.symbolsText() != "" || !p.Verdict.hasFinding() {
		t.Errorf("all is read, and %q", p.Reading.symbolsText())
	}
}

var stopHint = rows.StackRow{Kind: rows.RowStop, Frame: -1, Inline: -2, Suggestion: true, Function: "No symbols for libfoo.so"}
