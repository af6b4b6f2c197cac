package engine

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/session"
)

// maxMissing bounds the list of missing symbol files. A longer one would be mostly about modules
// that are on no stack.
const maxMissing = 500

// missing lists the symbol files that a dump lacks, as far as its stacks are walked: first those of
// the first thread's frames, from the top, then the others by the number of frames that need them.
func (e *Engine) missing(dump int) []rows.MissingRow {
	v := e.view(dump, -1)
	if v == nil {
		return nil
	}
	w := v.Missing(0, maxMissing)
	rep := v.Report()
	if rep.FirstThread < 0 || rep.FirstThread >= len(rep.Threads) {
		return w.Rows
	}
	var first []rows.MissingRow
	taken := map[int]bool{}
	seen := map[int]bool{} // modules: a deep recursion has thousands of frames in one
	for i := range rep.Threads[rep.FirstThread].Frames {
		m := rep.Threads[rep.FirstThread].Frames[i].Module
		if m < 0 || m >= len(rep.Modules) || seen[m] {
			continue
		}
		seen[m] = true
		mod := &rep.Modules[m]
		for k, row := range w.Rows {
			if !taken[k] && rep.Modules[row.Module].DebugID == mod.DebugID && (row.Module == m || rep.Modules[row.Module].DebugFile == mod.DebugFile) {
				taken[k] = true
				first = append(first, row)
			}
		}
	}
	for k, row := range w.Rows {
		if !taken[k] {
			first = append(first, row)
		}
	}
	return first
}

// fromServer returns the files in a server's answer.
func (e *Engine) fromServer(src *input.Source, id string) ([]*input.Source, error) {
	return session.FromServer(src, id, e.opt.Session, func(name string, done, total int64) error {
		e.progress(session.Progress{Stage: "unpacking", Name: name, Done: done, Total: total})
		return nil
	})
}
