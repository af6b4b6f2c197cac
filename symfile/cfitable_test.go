package symfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// All rows of a symbol file, as "crashpane rules" prints them, are those that single lookups give.
func TestCFITable(t *testing.T) {
	text := "MODULE Linux x86_64 000000000000000000000000000000000 a\n" +
		"STACK CFI INIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" +
		"STACK CFI 2008 .cfa: $rsp 24 +\n" +
		"STACK CFI 2004 .cfa: $rsp 16 +\n" +
		"STACK CFI 2004 $rbx: .cfa -16 + ^\n" +
		"STACK CFI 2010 .cfa: $rsp 99 +\n" +
		"STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" +
		"STACK CFI 1000 .cfa: $rsp 16 +\n" +
		"STACK CFI 1004 .cfa: $nosuch\n" +
		"STACK CFI 1008 .cfa: $rbp 16 +\n"
	for name, open := range map[string]func() (*File, error){
		"whole":    func() (*File, error) { return Open(input.FromBytes("a.sym", []byte(text)), Options{}) },
		"onDemand": func() (*File, error) { return OpenOnDemand(input.FromBytes("a.sym", []byte(text)), Options{}) },
	} {
		f, err := open()
		if err != nil {
			t.Fatal(err)
		}
		tab := f.CFITable(cpu.AMD64)
		var got []string
		err = tab.Each(func(start, end uint64, row unwind.Row) error {
			got = append(got, fmt.Sprintf("%x-%x %s, %s", start, end, row.Describe(cpu.AMD64), row.Origin))
			for _, rva := range []uint64{start, end - 1} {
				one, ok, err := tab.Row(rva)
				if err != nil || !ok || !one.Equal(&row) || one.Start != row.Start {
					t.Errorf("%s at 0x%x: %v %v %v, all: %v", name, rva, one, ok, err, row)
				}
			}
			return nil
		})
		want := []string{
			"1000-1004 cfa = $rsp + 16, ra = [cfa − 8], a.sym line 8",
			"1008-1010 cfa = $rbp + 16, ra = [cfa − 8], a.sym line 10",
			"2000-2004 cfa = $rsp + 8, ra = [cfa − 8], a.sym line 2",
			"2004-2008 cfa = $rsp + 16, ra = [cfa − 8], $rbx = [cfa − 16], a.sym line 5",
			"2008-2010 cfa = $rsp + 24, ra = [cfa − 8], $rbx = [cfa − 16], a.sym line 3",
		}
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if w := tab.Warnings(); len(w) != 1 || !strings.Contains(w[0], "line 9") || !strings.Contains(w[0], "$nosuch") {
			t.Errorf("%s: warnings %q", name, w)
		}
		row, ok, err := tab.Row(0x1005)
		if ok || err != nil || !strings.Contains(row.Origin.Note, "$nosuch") {
			t.Errorf("%s: %v %v %v", name, row, ok, err)
		}
	}
}
