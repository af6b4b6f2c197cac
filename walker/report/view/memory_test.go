package view

import (
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// TestMemoryForms: words, bytes and text, and what is left out of each.
func TestMemoryForms(t *testing.T) {
	windows := &core.Dump{System: &core.SystemInfo{OS: core.Windows}}
	v := New(&report.Report{Dump: report.Dump{WordSize: 8}, Patterns: analysis.PatternsOf(windows, 8)}, nil)
	nothing, stack := report.Nowhere(), report.Nowhere()
	stack.Thread = 3
	part := func(r ...report.MemoryRow) *report.MemoryPart {
		return &report.MemoryPart{Address: 0x1002, Total: len(r), Rows: r, WordSize: 8}
	}
	word := func(value uint64, points report.Pointee) report.MemoryRow {
		return report.MemoryRow{Address: 0x1000, Bytes: make([]byte, 8), From: "dump", Words: []report.MemoryWord{{Value: value, Points: points}}}
	}
	text := report.MemoryRow{Address: 0x1000, Skip: 1, Bytes: []byte("a\x00ü\xff"), From: `C:\x.dll`}
	wide := report.MemoryRow{Address: 0x1000, Bytes: []byte("h\x00i\x00!\x00\x00\x00")}
	for _, c := range []struct {
		form            string
		texts, redacted bool
		row             report.MemoryRow
		want            rows.MemoryRow
	}{
		{rows.MemoryBytes, false, false, text, rows.MemoryRow{Address: "0x0000000000001001", From: "x.dll", Hex: "   61 00 c3 bc ff", Selected: true, Byte: 2}},
		{rows.MemoryBytes, true, false, text, rows.MemoryRow{Address: "0x0000000000001001", From: "x.dll", Hex: "   61 00 c3 bc ff", Text: " a····", Selected: true, Byte: 2}},
		{rows.MemoryBytes, true, true, text, rows.MemoryRow{Address: "0x0000000000001001", From: "x.dll", Selected: true}},
		{rows.MemoryText, true, false, text, rows.MemoryRow{Address: "0x0000000000001001", From: "x.dll", Text: "a·ü·", Selected: true}},
		{rows.MemoryText, true, false, wide, rows.MemoryRow{Address: "0x0000000000001000", Text: "hi!·", Selected: true}},
		{rows.MemoryText, false, false, wide, rows.MemoryRow{Address: "0x0000000000001000", Selected: true}},
		{rows.MemoryWords, false, false, word(0xdddddddddddddde5, nothing), rows.MemoryRow{Address: "0x0000000000001000", From: "dump", Word: "0xdddddddddddddde5", Points: "perhaps memory that Microsoft's debug heap has freed", Selected: true}},
		{rows.MemoryWords, true, true, word(0x6f6c6c6568, nothing), rows.MemoryRow{Address: "0x0000000000001000", From: "dump", Word: "hidden", Selected: true}},
		{rows.MemoryWords, true, true, word(0x7ffe1000, stack), rows.MemoryRow{Address: "0x0000000000001000", From: "dump", Word: "0x000000007ffe1000", Points: "stack of thread 3", Selected: true}},
		{rows.MemoryWords, true, false, report.MemoryRow{Address: 0x2000, Gap: 4096}, rows.MemoryRow{Address: "0x0000000000002000", Gap: "4,096 bytes that neither the dump nor an added program has", Selected: true}},
	} {
		page := v.Memory(part(c.row), nothing, MemoryWish{Form: c.form, Texts: c.texts, Redacted: c.redacted})
		if len(page.Rows) != 1 || page.Rows[0] != c.want {
			t.Errorf("%s, texts %t, redacted %t:\n%+v\nwant\n%+v", c.form, c.texts, c.redacted, page.Rows, c.want)
		}
		if (page.Withheld == "") != (c.texts && !c.redacted) {
			t.Errorf("%s, texts %t, redacted %t: %q", c.form, c.texts, c.redacted, page.Withheld)
		}
	}
}
