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
	// Load returns nil if it has no index for the key.
	Load(key string) []byte
	Store(key string, index []byte)
}

// pass is the making of one file's full index.
type pass struct {
	item  int
	keep  bool
	ended func(error)
}

// Unindexed returns the symbol files that lookups for a dump used and that have no full index; with
// unsorted only those that are not sorted, which all stacks should wait for (AwaitsIndex).
func (fs *Files) Unindexed(dump int, unsorted bool) []Item {
	s := fs.Session(dump)
	if s == nil {
		return nil
	}
	s.settle()
	var out []Item
	seen := map[*symbols.File]bool{}
	for i := range s.modules {
		f := s.modules[i].item
		if f == nil || seen[f] {
			continue
		}
		seen[f] = true
		f.WithSym(false, func(sym *symfile.File) {
			if it := fs.of[f]; it != nil && !sym.FullyIndexed() && !(unsorted && sym.Sorted()) {
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
func (fs *Files) IndexFile(itemID int, keep bool, ended func(error)) {
	fs.passes = append(fs.passes, &pass{itemID, keep, ended})
	fs.nextPass()
}

// StopIndexing ends all that IndexFile began. The files stay searched.
func (fs *Files) StopIndexing() {
	fs.passes = nil
	for _, x := range fs.opt.Indexers {
		x.Stop()
	}
}

// AwaitsIndex reports whether the stacks of a dump should not be walked until a file that is not
// sorted is fully indexed, because walking them then takes far fewer reads.
func (fs *Files) AwaitsIndex(dump int) bool {
	for _, it := range fs.Unindexed(dump, true) {
		for _, p := range fs.passes {
			if p.item == it.ID {
				return true
			}
		}
	}
	return false
}

// nextPass begins the next pass over a file, if none is running.
func (fs *Files) nextPass() {
	if fs.passRuns || len(fs.passes) == 0 {
		return
	}
	p := fs.passes[0]
	var full *symfile.File
	var err error
	fs.passRuns = true
	fs.opt.Beside(func() { full, err = fs.fullIndex(p) }, func() {
		fs.passRuns = false
		if len(fs.passes) > 0 && fs.passes[0] == p { // it was not stopped
			fs.passes = fs.passes[1:]
			if err == nil {
				fs.adopt(fs.items[p.item].file, full)
			}
			p.ended(err)
		}
		fs.nextPass()
	})
}

// fullIndex opens a symbol file with its full index, alongside the session's other work.
func (fs *Files) fullIndex(p *pass) (full *symfile.File, err error) {
	if p.item < 0 || p.item >= len(fs.items) || fs.items[p.item].file == nil || fs.items[p.item].file.IsBinary {
		return nil, fmt.Errorf("there is no symbol file number %d", p.item)
	}
	it := fs.items[p.item]
	src := it.file.Source()
	key := ""
	if p.keep && fs.opt.Indexes != nil {
		if print, err := symfile.Fingerprint(src); err == nil { // else the next visit indexes the file again
			key = fmt.Sprintf("%s-%d-%016x", it.SymID, src.Size, print)
		}
	}
	opt := it.file.Options()
	if key != "" {
		if index := fs.opt.Indexes.Load(key); index != nil {
			if full, err = symfile.OpenIndexed(src, input.FromBytes(src.Name, index), opt); err == nil {
				return full, nil
			}
		}
	}
	opt.Progress = func(done, total int64) {
		if fs.opt.Progress != nil {
			fs.opt.Progress(Progress{Stage: "indexing", Name: it.Name, Done: done, Total: total, Background: true})
		}
	}
	if full, err = symfile.Open(src, opt); err != nil {
		return nil, fmt.Errorf("%s was not fully indexed: %w", it.Name, err)
	}
	if key != "" {
		if index, err := full.Index(); err == nil {
			fs.opt.Indexes.Store(key, index)
		}
	}
	return full, nil
}

// adopt has lookups use a full index.
func (fs *Files) adopt(f *symbols.File, full *symfile.File) {
	f.Adopt(full)
	for _, s := range fs.sessions {
		if s != nil && s.uses(f) {
			if s.searched == nil {
				s.searched = s.report
			}
			s.invalidate()
		}
	}
}

// Corrects reports whether a dump's report was shown before a file was fully indexed, and was not
// compared with the new one (Corrected).
func (s *Session) Corrects() bool {
	return s.searched != nil
}

// Corrected counts the frames of a dump's stacks, including inlined calls, that differ from those
// that were shown before a file was fully indexed.
func (s *Session) Corrected() (n int) {
	if !s.Corrects() {
		return 0
	}
	was, is := s.searched, s.Report()
	s.searched = nil
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
