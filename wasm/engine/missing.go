package engine

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
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

// fromServer returns the files in a server's answer. It accepts only symbol files, programs and
// debug files, and only those with the requested id.
func (e *Engine) fromServer(src *input.Source, id string) ([]*input.Source, error) {
	files, err := intake.Expand(src, e.opt.Session.Limits, func(name string, done, total int64) error {
		e.progress(session.Progress{Stage: "unpacking", Name: name, Done: done, Total: total})
		return nil
	})
	for _, f := range files {
		if err == nil {
			err = e.isOf(f, id)
		}
	}
	return files, err
}

// isOf returns an error unless a file has an id.
func (e *Engine) isOf(src *input.Source, id string) error {
	var has []string
	g := intake.Sniff(src)
	switch {
	case g.Kind == intake.Sym:
		head, err := src.Bytes(0, min(src.Size, 4096))
		if err != nil {
			return err
		}
		known := symbols.KnownSym(src.Name, head)
		has = append(append(has, known.ID), known.OtherIDs...)
	case g.Kind.IsBinary() && e.opt.Session.OpenBinary != nil:
		b, err := e.opt.Session.OpenBinary(src)
		if err != nil {
			return err
		}
		known := b.Identity()
		has = append(append(has, known.DebugID, known.CodeID), known.OtherIDs...)
	default:
		return fmt.Errorf("%s is not a symbol file or a program: it is %s", src.Name, g.What)
	}
	for _, one := range has {
		if core.SameID(one, id) {
			return nil
		}
	}
	return fmt.Errorf("%s is of another build: its id is %s", src.Name, strings.Join(has, ", "))
}
