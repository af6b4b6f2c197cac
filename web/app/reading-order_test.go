package app

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// Of many files those that are named like the modules without symbols come first, several are under
// way at once, and when the former are read the stack is queried again.
func TestWantedFilesFirst(t *testing.T) {
	p, _, e := newTestPage("")
	p.Dumps.List = []protocol.DumpName{{Name: "a.dmp"}}
	say(p, screen())
	var many []File
	for i := range 100 {
		many = append(many, sizedFile{fmt.Sprintf("symbols/lib%d-2.so.sym", i), 1000})
	}
	p.Reading.Add(many)
	if got := 1 + len(p.Reading.ahead); got != 1+mostAhead {
		t.Fatalf("%d files are under way", got)
	}
	p.Reading.wantFirst([]string{"lib90.so", "LIB95.so.6", "lib9.so", "other.so"})
	if got := fmt.Sprint(p.Reading.queue[0].Name(), " ", p.Reading.queue[1].Name(), " ", p.Reading.queue[2].Name()); got != "symbols/lib90-2.so.sym symbols/lib95-2.so.sym symbols/lib33-2.so.sym" {
		t.Errorf("first are %s", got)
	}
	for p.Screen.asking {
		say(p, screen())
	}
	e.sent = nil
	for range 1 + mostAhead + 2 {
		for _, op := range e.ops() {
			if op == "query stack" {
				t.Fatal("the stack is queried before the files are read")
			}
		}
		say(p, &protocol.Added{Dumps: p.Dumps.List})
	}
	if got := e.ops(); len(got) == 0 || got[0] != "query stack" {
		t.Errorf("then the engine was asked %v", got)
	}
}
