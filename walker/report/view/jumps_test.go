package view

import (
	"testing"
	"time"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

// codeOf makes a listing of instructions of one byte from 0x1000 on; jumps are targets by the number of the instruction.
func codeOf(n int, jumps map[int]int) *report.Code {
	c := &report.Code{}
	for i := range n {
		row := report.CodeRow{Instruction: report.Instruction{Address: 0x1000 + uint64(i), Text: "x", Place: report.Place{Module: 0}}, Callee: -1, In: report.Place{Module: 0, Offset: uint64(i)}}
		if to, ok := jumps[i]; ok {
			row.HasTarget, row.Target = true, 0x1000+uint64(to)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// TestJumps: a jump inside the listing is a line in the margin, and its target says where it comes from. Jumps to the same
// place share a line, others do not; a call and a jump that leads out have none.
func TestJumps(t *testing.T) {
	v := New(report.Build(reporttest.Windows()), nil)
	c := codeOf(8, map[int]int{1: 5, 2: 5, 4: 3, 6: 99, 7: 0})
	c.Rows[7].Call = true
	p := v.CodeList(c, func(string) SourceText { return nil }).Page(0, 99)
	// By row: the nearest lane, then the next. ' ' plus 1: up, 2: down, 4: out, 8: in.
	want := []string{"", " &", " '", "*#", "%#", " )", "", ""}
	from := []string{"", "", "", "from +0x4 ↓", "", "from +0x1 ↑, +0x2 ↑", "", ""}
	for i, r := range p.Rows {
		if r.Lanes != want[i] || r.From != from[i] {
			t.Errorf("row %d: lanes %q, want %q; %q, want %q", i, r.Lanes, want[i], r.From, from[i])
		}
	}
	if p.Lanes != 2 {
		t.Errorf("%d lanes", p.Lanes)
	}
}

// TestManyJumps: as much code as a listing may have, all of it jumps, takes no time that a user would notice, and the
// margin stays narrow.
func TestManyJumps(t *testing.T) {
	jumps := map[int]int{}
	const n = 64 << 10
	for i := range n {
		jumps[i] = (i*7919 + 13) % n
		if i%3 == 0 {
			jumps[i] = min(n-1, i+i%maxJump)
		}
	}
	start := time.Now()
	l := New(report.Build(reporttest.Windows()), nil).CodeList(codeOf(n, jumps), func(string) SourceText { return nil })
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("%v", d)
	}
	if p := l.Page(0, 10); p.Lanes != maxLanes {
		t.Errorf("%d lanes", p.Lanes)
	}
}
