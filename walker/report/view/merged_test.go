package view

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report"
)

// TestSelectedInTree: the selected frame's row is found, although the thread that the row was made of has other frames in
// between that the tree leaves out.
func TestSelectedInTree(t *testing.T) {
	stack := func(functions string) (frames []report.Frame) {
		for _, f := range functions {
			frames = append(frames, report.Frame{Module: -1, Function: report.Name{Raw: string(f)}, HasFunction: true})
		}
		return frames
	}
	r := &report.Report{Threads: []report.Thread{
		{Index: 0, Frames: stack("wrm")},
		{Index: 1, Frames: stack("w?????rm"), Guesses: []report.Guesses{{From: 1, Count: 5}}},
		{Index: 2, Frames: stack("sm")},
	}}
	v := New(r, nil)
	for _, c := range []struct{ thread, frame, want int }{{0, 0, 2}, {1, 0, 2}, {1, 6, 1}, {1, 7, 0}, {1, 3, -1}, {2, 0, 3}, {2, 9, -1}, {7, 0, -1}} {
		page := v.Merged(func(r *report.Report) *report.Merged { return report.Merge(nil, r) }, MergedQuery{Count: 10, Thread: c.thread, Frame: c.frame})
		if page.Selected != c.want || page.Total != 4 {
			t.Errorf("frame %d of thread %d: row %d of %d", c.frame, c.thread, page.Selected, page.Total)
		}
		if c.want >= 0 && (page.Rows[c.want].Thread != c.thread || page.Rows[c.want].Frame != c.frame) {
			t.Errorf("row %d is for frame %d of thread %d", c.want, page.Rows[c.want].Frame, page.Rows[c.want].Thread)
		}
	}
}
