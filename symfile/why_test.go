package symfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// The lines after a row are those of the file, in the order in which they count.
func TestRecordText(t *testing.T) {
	f, err := Open(input.FromBytes("a.sym", []byte("MODULE Linux x86 0 a\r\n"+
		"STACK CFI INIT 1000 100 .cfa: $esp 4 + .ra: .cfa -4 + ^\r\n"+
		"STACK CFI 1008 .cfa: $esp 12 +\r\n"+
		"STACK CFI 1004 .cfa: $esp 8 +\r\n"+
		"STACK CFI 1080 .cfa: $esp 16 +\r\n"+
		"STACK CFI INIT 2000 100 .ra: .cfa -4 + ^\r\n"+
		"STACK CFI INIT 3000 100 .cfa: $esp 4 + $eip: .cfa -4 + ^\r\n"+
		"STACK WIN 4 4000 10 0 0 4 0 0 0 1 $eip $esp ^ = $esp $esp 4 + =\r\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := f.CFIText(0x1010)
	if got := fmt.Sprint(lines); err != nil || got != "[{2 STACK CFI INIT 1000 100 .cfa: $esp 4 + .ra: .cfa -4 + ^} "+
		"{4 STACK CFI 1004 .cfa: $esp 8 +} {3 STACK CFI 1008 .cfa: $esp 12 +}]" {
		t.Errorf("%s, %v", got, err)
	}
	if w, ok, err := f.WinText(0x4001); !ok || err != nil || w.Line != 8 || !strings.HasPrefix(w.Text, "STACK WIN 4 4000") || strings.HasSuffix(w.Text, "\r") {
		t.Errorf("%+v %v %v", w, ok, err)
	}
	if _, ok, _ := f.WinText(0x5000); ok {
		t.Error("a record where the file has none")
	}
	if lines, _ := f.CFIText(0x5000); lines != nil {
		t.Error("a record where the file has none")
	}
	// A record that cannot be used is named all the same.
	row, ans, err := f.Row(cpu.X86, 0x2000)
	var rule *unwind.RuleError
	if ans != symbol.No || !errors.As(err, &rule) || row.Origin.Line != 6 {
		t.Errorf("%+v %v %v", row, ans, err)
	}
	if _, ans, err := f.Row(cpu.X86, 0x3000); ans != symbol.Yes || err != nil {
		t.Errorf("%v %v", ans, err)
	}
	if n := f.RowNotes(0x3000); len(n) != 1 || !strings.Contains(n[0], "no rule for .ra") {
		t.Errorf("notes %q", n)
	}
	if n := f.RowNotes(0x1010); n != nil {
		t.Errorf("notes %q", n)
	}
}
