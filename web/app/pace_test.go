package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// Of many files those that are named like the modules without symbols come first, small ones are
// read together, and when the former are read the stack is queried again.
func TestWantedFilesFirst(t *testing.T) {
	p, _, e := newTestPage("")
	p.Dumps.List = []protocol.DumpName{{Name: "a.dmp"}}
	say(p, screen())
	var many []host.File
	for i := range 200 {
		many = append(many, sizedFile{fmt.Sprintf("symbols/lib%d-2.so.sym", i), 1000})
	}
	many = append(many, sizedFile{"symbols/program.exe", 1000})
	p.Reading.Add(many)
	if got := last[protocol.Add](e).Names; len(got) != mostOfParcel {
		t.Fatalf("%d files are read at first", len(got))
	}
	p.Reading.wantFirst([]string{"lib90.so", "LIB95.so.6", "lib9.so", "other.so"})
	for p.Pace.asking {
		say(p, screen())
	}
	e.sent = nil
	say(p, &protocol.Added{Dumps: p.Dumps.List})
	if got := strings.Join(last[protocol.Add](e).Names, " "); got != "symbols/lib90-2.so.sym symbols/lib95-2.so.sym" {
		t.Errorf("then %s are read", got)
	}
	for _, op := range e.ops() {
		if op == "query stack" {
			t.Error("the stack is queried before the files are read")
		}
	}
	e.sent = nil
	say(p, &protocol.Added{Dumps: p.Dumps.List})
	if got := strings.Join(e.ops(), " "); !strings.Contains(got, "query stack") {
		t.Errorf("the engine was asked %s", got)
	}
	for p.Reading.reading != nil {
		if one := p.Reading.reading; len(Members(one)) > 1 && strings.Contains(fmt.Sprint(one), ".exe") {
			t.Errorf("a program is read with others: %v", one)
		}
		say(p, &protocol.Added{Dumps: p.Dumps.List})
	}
	read := 0
	for _, f := range p.Reading.accepted {
		read += len(Members(f))
	}
	if read != len(many) {
		t.Errorf("%d of %d files were read", read, len(many))
	}
}

// A parcel is counted as its files, and read again as one.
func TestParcelCounts(t *testing.T) {
	p, _, e := newTestPage("")
	p.Dumps.List = []protocol.DumpName{{Name: "a.dmp"}}
	say(p, screen())
	var many []host.File
	for i := range 100 {
		many = append(many, sizedFile{fmt.Sprintf("%d.sym", i), 1000})
	}
	p.Reading.Add(many)
	say(p, &protocol.Added{Dumps: p.Dumps.List})
	if got := p.Reading.Job.Count(); got != "65 of 100" {
		t.Errorf("the second parcel is %q", got)
	}
	p.Reading.EngineStopped("test", false)
	if text := p.Notices.List[0].Text; !strings.Contains(text, "reading 64.sym and 35 files more") {
		t.Errorf("the notice is %q", text)
	}
	p.Reading.Add([]host.File{sizedFile{"more.sym", 1}})
	if got := last[protocol.Add](e).Names; len(got) != 64 || p.Reading.Job.Total != 65 {
		t.Errorf("again: %d files of %d", len(got), p.Reading.Job.Total)
	}
}
