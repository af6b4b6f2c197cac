package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// MergedQuery selects a window of the tree of all threads' stacks. Branches in the system's libraries
// are folded; Toggled are those that are the other way around.
type MergedQuery struct {
	From, Count   int
	Toggled       []int
	Thread, Frame int    // selected
	Search        string // a Query
}

// Merged returns a window of the tree of all threads' stacks. merge makes the tree, once for each report.
func (v *View) Merged(merge func(*report.Report) *report.Merged, q MergedQuery) rows.MergedPage {
	if v.merged == nil {
		v.merged = merge(v.r)
	}
	m := v.merged
	out := rows.MergedPage{Selected: -1, Rows: []rows.MergedRow{}, Title: count(m.Threads, "thread", "threads") + ", " + count(m.Stacks, "different stack", "different stacks"), Lines: []string{}}
	if m.Pending > 0 {
		out.Lines = append(out.Lines, count(m.Pending, "thread is", "threads are")+" not ready yet.")
	}
	for i := range m.Holders {
		out.Lines = append(out.Lines, rows.Clean(m.Holders[i].String())+".")
	}
	if s := m.UnknownText(); s != "" {
		out.Lines = append(out.Lines, s+".")
	}
	toggled := map[int]bool{}
	for _, b := range q.Toggled {
		toggled[b] = true
	}
	row, from := 0, max(0, q.From)
	depth, outer := v.depth(q.Thread, q.Frame), make([]int, len(m.Branches)) // outer: how many frames are outside of a branch
	for i := 0; i < len(m.Branches); i++ {
		b := &m.Branches[i]
		if b.Parent >= 0 {
			outer[i] = outer[b.Parent] + len(m.Branches[b.Parent].Frames)
		}
		closed := m.Foldable(i) && b.System != toggled[i]
		n := len(b.Frames)
		if closed {
			n = 1
		}
		holdsThread := out.Selected < 0 && slices.Contains(b.Threads, q.Thread)
		for k := range n {
			f := b.Frames[k]
			selected := holdsThread && outer[i]+k+1 == depth
			if selected || holdsThread && closed {
				out.Selected = row
			}
			if row >= from && row < from+q.Count {
				r := v.mergedRow(m, i, k, closed)
				r.Hit = v.mergedHolds(m, i, k, closed, q.Search)
				r.Thread, r.Frame = f.Thread, v.r.Threads[f.Thread].Number(f.Frame)
				if selected {
					r.Thread, r.Frame = q.Thread, v.thread(q.Thread).Number(q.Frame)
				}
				out.Rows = append(out.Rows, r)
			}
			row++
		}
		if closed {
			i = m.End(i) - 1
		}
	}
	out.Total, out.From = row, min(from, row)
	return out
}

// depth returns how many frames of a thread are in the tree from one of its frames outward, which is that frame's depth
// there; 0 for a frame that is not in the tree.
func (v *View) depth(thread, frame int) int {
	t := v.thread(thread)
	if t == nil || frame < 0 || frame >= len(t.Frames) || t.FoldAt(frame) != nil {
		return 0
	}
	n := len(t.Frames) - frame
	for _, f := range t.Folds() {
		if f.From > frame {
			n -= f.Count
		}
	}
	return n
}

// mergedRow makes the row of a frame of a branch, or of the whole branch.
func (v *View) mergedRow(m *report.Merged, branch, k int, closed bool) rows.MergedRow {
	b := &m.Branches[branch]
	x := &b.Frames[k]
	f := &v.r.Threads[x.Thread].Frames[x.Frame]
	row := v.frameRow(f, x.Frame)
	out := rows.MergedRow{Branch: branch, Level: b.Level, First: k == 0, Foldable: k == 0 && m.Foldable(branch), Open: !closed, Crashed: b.Crashed,
		Function: row.Function, Full: row.Full}
	if !row.NoSymbol {
		out.Module = row.Module
	}
	if k == 0 {
		out.Count, out.Share = len(b.Threads), 100*len(b.Threads)/max(1, m.Threads)
	}
	switch {
	case closed:
		out.Function, out.Note = m.FoldedText(v.r, branch, func(n report.Name) string { return rows.Fold(v.full(n)) })
		out.Full = out.Function
	case k == len(b.Frames)-1 && len(b.Ends) > 0:
		out.Note = m.EndsText(v.r, b)
	}
	if x.Repeat != nil && !closed {
		out.Note = strings.TrimSpace(fmt.Sprintf("%s times %s. %s", rows.Number(x.Repeat.Times()), count(x.Repeat.Period, "frame", "frames"), out.Note))
	}
	out.Function, out.Note = rows.Clean(out.Function), rows.Clean(out.Note)
	return out
}

// mergedHolds reports whether a row contains a Query: its frame, or if the branch is folded one of the
// branch's and of those behind it.
func (v *View) mergedHolds(m *report.Merged, branch, k int, closed bool, query string) bool {
	if query == "" {
		return false
	}
	holds := func(x report.MergedFrame) bool {
		return v.frameHolds(&v.r.Threads[x.Thread].Frames[x.Frame], x.Frame, -1, query)
	}
	if !closed {
		return holds(m.Branches[branch].Frames[k])
	}
	for i := branch; i < m.End(branch); i++ {
		if slices.ContainsFunc(m.Branches[i].Frames, holds) {
			return true
		}
	}
	return false
}
