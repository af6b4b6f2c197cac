package view

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
)

func TestHolds(t *testing.T) {
	const address = "at 0x00007F756A11927F"
	for _, c := range []struct {
		search, text string
		want         bool
	}{
		{"0x7f756a11927f", address, true},
		{"0x00007f756a11927f", address, true},
		{"00007f75`6a11927f", address, true},
		{"7F756A1192", address, true},
		{"0x7f756a", address, true},
		{"0x756a", address, false}, // an address begins where it is said to
		{"0x756a", "0x0000000000000001 0x0000756a", true},
		{"0x0", "0x0000000000000000", true},
		{"0x00", "0x4c", false},
		{"libtilecodec.so+0x127f", "libtilecodec.so+0x127f", true},
		{"libtilecodec.so +0x127f", "libtilecodec.so+0x127f", true},
		{"codec.cc:52", "/src/codec.cc:52", true},
		{"", "anything", false},
		{"  SigSegv ", "SIGSEGV / SEGV_MAPERR", true},
	} {
		if got := rows.Holds(rows.Query(c.search), c.text); got != c.want {
			t.Errorf("%q in %q: %v", c.search, c.text, got)
		}
	}
}

// TestFind: what is in the report is found where it is shown, in the order in which it is read.
func TestFind(t *testing.T) {
	v := New(example(), demangled)
	hits := v.Find(rows.Query("app::outer"))
	if len(hits) == 0 || hits[len(hits)-1].Thread != 1 || hits[len(hits)-1].Frame != 0 {
		t.Errorf("a function: %+v", hits)
	}
	for _, h := range v.Find(rows.Query("x.dll")) {
		if h.Tab == "modules" && h.Row == 1 {
			return
		}
	}
	t.Errorf("a module: %+v", v.Find(rows.Query("x.dll")))
}
