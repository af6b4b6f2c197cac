package session

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Large symbol files are searched at first (Options.IndexOnDemand). IndexFile makes the full index
// of one, one file after the other, while the session does other work.

// IndexStore keeps indexes of symbol files for the next visit.
type IndexStore interface {
	// Load returns nil if there is none.
	Load(key string) []byte
	Store(key string, index []byte)
}

// pass is the making of one file's full index.
type pass struct {
	item  int
	keep  bool
	ended func(error)
}

// Unindexed returns the symbol files that lookups for a dump used and that have no full index.
func (s *Session) Unindexed(dumpIndex int) []Item {
	if dumpIndex < 0 || dumpIndex >= len(s.dumps) {
		return nil
	}
	s.settle(s.dumps[dumpIndex])
	var out []Item
	seen := map[*symbols.File]bool{}
	for i := range s.dumps[dumpIndex].modules {
		f := s.dumps[dumpIndex].modules[i].item
		if f == nil || seen[f] {
			continue
		}
		seen[f] = true
		f.WithSym(false, func(sym *symfile.File) {
			if it := s.of[f]; it != nil && !sym.FullyIndexed() {
				out = append(out, it.Item)
			}
		})
	}
	return out
}

// IndexFile begins to make the full index of a symbol file, after those that were begun before.
// With keep it uses an index from Options.Indexes instead, or stores a new one there. At the end it
// calls ended, unless StopIndexing came first. Lookups then use the index, and the stacks that used
// the file are walked again at the next Report, because a search may have answered wrongly.
func (s *Session) IndexFile(itemID int, keep bool, ended func(error)) {
	s.passes = append(s.passes, &pass{itemID, keep, ended})
	s.nextPass()
}

// StopIndexing ends all that IndexFile began. The files stay searched.
func (s *Session) StopIndexing() {
	s.passes = nil
	for _, x := range s.opt.Indexers {
		x.Stop()
	}
}

// AwaitsIndex reports whether the stacks of a dump should not be walked until a file is fully
// indexed, because walking them then takes far fewer reads.
func (s *Session) AwaitsIndex(dumpIndex int) bool {
	for _, it := range s.Unindexed(dumpIndex) {
		for _, p := range s.passes {
			if p.item == it.ID {
				return true
			}
		}
	}
	return false
}

// nextPass begins the next pass over a file, if none is running.
func (s *Session) nextPass() {
	if s.passRuns || len(s.passes) == 0 {
		return
	}
	p := s.passes[0]
	var full *symfile.File
	var err error
	s.passRuns = true
	s.opt.Beside(func() { full, err = s.fullIndex(p) }, func() {
		s.passRuns = false
		if len(s.passes) > 0 && s.passes[0] == p { // it was not stopped
			s.passes = s.passes[1:]
			if err == nil {
				s.adopt(s.items[p.item].file, full)
			}
			p.ended(err)
		}
		s.nextPass()
	})
}

// fullIndex opens a symbol file with its full index, beside the session's other work.
func (s *Session) fullIndex(p *pass) (full *symfile.File, err error) {
	if p.item < 0 || p.item >= len(s.items) || s.items[p.item].file == nil || s.items[p.item].file.IsBinary {
		return nil, fmt.Errorf("there is no symbol file number %d", p.item)
	}
	it := s.items[p.item]
	src := it.file.Source()
	key := ""
	if p.keep && s.opt.Indexes != nil {
		if print, err := symfile.Fingerprint(src); err == nil { // else the next visit indexes the file again
			key = fmt.Sprintf("%s-%d-%016x", it.SymID, src.Size, print)
		}
	}
	opt := it.file.Options()
	if key != "" {
		if index := s.opt.Indexes.Load(key); index != nil {
			if full, err = symfile.OpenIndexed(src, input.FromBytes(src.Name, index), opt); err == nil {
				return full, nil
			}
		}
	}
	opt.Progress = func(done, total int64) {
		if s.opt.Progress != nil {
			s.opt.Progress(Progress{Stage: "indexing", Name: it.Name, Done: done, Total: total, Background: true})
		}
	}
	if full, err = symfile.Open(src, opt); err != nil {
		return nil, fmt.Errorf("%s was not fully indexed: %w", it.Name, err)
	}
	if key != "" {
		if index, err := full.Index(); err == nil {
			s.opt.Indexes.Store(key, index)
		}
	}
	return full, nil
}

// adopt has lookups use a full index.
func (s *Session) adopt(f *symbols.File, full *symfile.File) {
	f.Adopt(full)
	for _, d := range s.dumps {
		if d.uses(f) {
			if d.searched == nil {
				d.searched = d.report
			}
			d.invalidate()
		}
	}
}

// Corrects reports whether a dump's report was shown before a file was fully indexed, and was not
// compared with the new one (Corrected).
func (s *Session) Corrects(dumpIndex int) bool {
	return dumpIndex >= 0 && dumpIndex < len(s.dumps) && s.dumps[dumpIndex].searched != nil
}

// Corrected counts the frames of a dump's stacks, including inlined calls, that differ from those
// that were shown before a file was fully indexed.
func (s *Session) Corrected(dumpIndex int) (n int) {
	if !s.Corrects(dumpIndex) {
		return 0
	}
	was, is := s.dumps[dumpIndex].searched, s.Report(dumpIndex)
	s.dumps[dumpIndex].searched = nil
	for i := range is.Threads {
		if i < len(was.Threads) && !was.Threads[i].Pending {
			n += changedFrames(was.Threads[i].Frames, is.Threads[i].Frames)
		}
	}
	return n
}

// changedFrames counts the frames of a stack that differ.
func changedFrames(was, is []report.Frame) (n int) {
	for i := range is {
		switch {
		case i >= len(was), is[i].PC != was[i].PC:
			n += 1 + len(is[i].Inlines)
			continue
		case is[i].Function.Raw != was[i].Function.Raw, is[i].File != was[i].File, is[i].Line != was[i].Line, is[i].Trust != was[i].Trust:
			n++
		}
		for k := range is[i].Inlines {
			if a := is[i].Inlines[k]; k >= len(was[i].Inlines) || a.Function.Raw != was[i].Inlines[k].Function.Raw ||
				a.File != was[i].Inlines[k].File || a.Line != was[i].Inlines[k].Line {
				n++
			}
		}
	}
	return n + max(0, len(was)-len(is))
}
