package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
)

// maxMissing is how many symbol files are asked for at most; whoever lacks more has most of them of modules that are on no stack.
const maxMissing = 500

// missing are the symbol files that a dump lacks, as far as its stacks are walked: those of the first thread's frames first, from the top, then by how many frames
// need them.
func (e *Engine) missing(dump int) []view.MissingRow {
	v := e.view(dump, -1)
	if v == nil {
		return nil
	}
	w := v.Missing(0, maxMissing)
	rep := v.Report()
	if rep.FirstThread < 0 || rep.FirstThread >= len(rep.Threads) {
		return w.Rows
	}
	var first []view.MissingRow
	taken := map[int]bool{}
	for i := range rep.Threads[rep.FirstThread].Frames {
		m := rep.Threads[rep.FirstThread].Frames[i].Module
		if m < 0 || m >= len(rep.Modules) {
			continue
		}
		for k, row := range w.Rows {
			if mod := &rep.Modules[m]; !taken[k] && rep.Modules[row.Module].DebugID == mod.DebugID && (row.Module == m || rep.Modules[row.Module].DebugFile == mod.DebugFile) {
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

// fromServer are the files that a server's answer holds. They are taken if they are of the build with the id that was asked for: symbol files, and where
// this engine has their readers programs and debug information. Nothing else is.
func (e *Engine) fromServer(src *input.Source, id string) ([]*input.Source, error) {
	files, err := intake.Expand(src, e.opt.Limits, func(name string, done, total int64) error {
		e.progress(session.Progress{Stage: "unpacking", Name: name, Done: done, Total: total})
		return nil
	})
	if errors.Is(err, intake.ErrNoUnpacker) {
		return []*input.Source{src}, nil // likewise
	}
	for _, f := range files {
		if err == nil {
			err = e.isOf(f, id)
		}
	}
	return files, err
}

// isOf says why a file is not of the build with an id.
func (e *Engine) isOf(src *input.Source, id string) error {
	var has []string
	g := intake.Sniff(src)
	if e.opt.OpenBinary == nil {
		switch g.Kind {
		case intake.ELF, intake.PE, intake.PDB, intake.Cab, intake.Zstd, intake.XZ:
			return nil // another engine reads it, and then looks at its id
		}
	}
	switch g.Kind {
	case intake.Sym:
		head, err := src.Bytes(0, min(src.Size, 4096))
		if err != nil {
			return err
		}
		m, _ := session.Identify(head)
		has = append(has, m.ID)
	case intake.ELF, intake.PE, intake.PDB:
		b, err := e.opt.OpenBinary(src)
		if err != nil {
			return err
		}
		has = append(has, b.Identity().DebugID, b.Identity().CodeID)
	default:
		return fmt.Errorf("%s is no symbol file or program: it is %s", src.Name, g.What)
	}
	for _, one := range has {
		if core.SameID(one, id) {
			return nil
		}
	}
	return fmt.Errorf("%s is of another build: its id is %s", src.Name, strings.Join(has, ", "))
}
