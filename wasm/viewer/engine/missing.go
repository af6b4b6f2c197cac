package engine

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
)

// maxMissing is how many symbol files are asked for at most; whoever lacks more has most of them of modules that are on no stack.
const maxMissing = 500

// missing are the symbol files that a dump lacks, as far as its stacks are walked: those of the first thread's frames first, from the top, then by how many frames
// need them.
func (e *Engine) missing(dump int) []view.WantedRow {
	v := e.view(dump, -1)
	if v == nil {
		return nil
	}
	w := v.Wanted(0, maxMissing)
	rep := v.Report()
	if rep.FirstThread < 0 || rep.FirstThread >= len(rep.Threads) {
		return w.Rows
	}
	var first []view.WantedRow
	taken := map[int]bool{}
	for i := range rep.Threads[rep.FirstThread].Frames {
		m := rep.Threads[rep.FirstThread].Frames[i].Module
		if m < 0 || m >= len(rep.Modules) {
			continue
		}
		for k, row := range w.Rows {
			if mod := &rep.Modules[m]; !taken[k] && row.DebugID == view.Clean(mod.DebugID) && (row.Module == m || rep.Modules[row.Module].DebugFile == mod.DebugFile) {
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

// isSymbols says why a file that a server sent is not taken: it must be the symbol file that it was asked for, and nothing else.
func isSymbols(src *input.Source, id string) error {
	head, err := src.Bytes(0, min(src.Size, 4096))
	if err != nil {
		return err
	}
	m, ok := session.Identify(head)
	switch {
	case !ok:
		return fmt.Errorf("%s is no symbol file: it does not begin with a MODULE record", src.Name)
	case id != "" && !core.SameID(m.ID, id):
		return fmt.Errorf("%s is of another build: its id is %s", src.Name, m.ID)
	}
	return nil
}
