package session

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/symbols"
)

// know notes the modules' keys. All modules are to be matched.
func (s *Session) know() {
	s.modules = make([]moduleSymbols, len(s.Modules))
	s.keys, s.byKey, s.stale = make([][]symbols.Key, len(s.Modules)), map[string][]int{}, map[int]bool{}
	for i := range s.Modules {
		s.keys[i], s.stale[i] = symbols.ModuleKeys(&s.Modules[i]), true
		for _, k := range s.keys[i] {
			s.byKey[k.Text] = append(s.byKey[k.Text], i)
		}
	}
}

// settle matches the modules that new files or assignments concern. If anything changed, the dump's
// report is out of date.
func (s *Session) settle() {
	s.closed = false
	files := s.opt.Store.Since(s.seen)
	s.seen += len(files)
	for _, f := range files {
		for _, k := range f.Keys() {
			for _, i := range s.byKey[k.Text] {
				s.stale[i] = true
			}
		}
	}
	for i := range s.stale {
		if s.match(i) {
			s.invalidate()
		}
	}
	clear(s.stale)
	for i := range s.modules {
		if ms := &s.modules[i]; ms.bin != nil && ms.bin.Revision() != ms.binRevision {
			ms.binRevision = ms.bin.Revision()
			s.invalidate()
		}
	}
}

// match finds the symbol file and the binary of a module again, since a new file may be better than
// one that is used, and the user's choice may have been taken back. It reports whether anything has
// changed.
func (s *Session) match(module int) bool {
	old := s.modules[module]
	fresh := moduleSymbols{requested: old.requested, unplaced: old.unplaced, odd: old.odd, oddLines: old.oddLines}
	candidates := s.opt.Store.For(s.keys[module])
	s.matchBinary(module, candidates, &fresh)
	s.matchSym(module, candidates, &fresh)
	if old.bin == fresh.bin {
		fresh.image, fresh.imageLooked, fresh.binRevision = old.image, old.imageLooked, old.binRevision
	}
	s.useInstead(old.item, fresh.item)
	s.useInstead(old.bin, fresh.bin)
	s.modules[module] = fresh
	return old.item != fresh.item || old.assigned != fresh.assigned || old.mismatch != fresh.mismatch || old.bin != fresh.bin || old.binAssigned != fresh.binAssigned
}

// useInstead tells the store that a file is used in place of another one.
func (s *Session) useInstead(old, file *symbols.File) {
	if old == file {
		return
	}
	if file != nil {
		s.opt.Store.Use(file)
	}
	if old != nil {
		s.opt.Store.Release(old)
	}
}

// matchBinary finds a module's binary: one that holds the program before one that holds debug
// information alone.
func (s *Session) matchBinary(module int, candidates []symbols.Candidate, ms *moduleSymbols) {
	m := &s.Modules[module]
	if f := s.assigned[assignment{module, true}]; f != nil {
		exact, _ := f.Of(m).IsBinaryOf(m)
		ms.bin, ms.binAssigned = f, !exact
		return
	}
	for i := range candidates {
		c := &candidates[i]
		if !c.IsBinary {
			continue
		}
		better := ms.bin == nil || c.Identity.Code && !ms.bin.Identity.Code
		switch exact, byName := c.IsBinaryOf(m); {
		case exact && (better || ms.byName):
			ms.bin, ms.byName = c.File, false
		case byName && better && (ms.bin == nil || ms.byName):
			ms.bin, ms.byName = c.File, true
		case !exact && c.SameName && s.wrongArch(c.Known.Arch) == "":
			ms.mismatch = c.File
		}
	}
}

// matchSym finds a module's symbol file, after its binary.
func (s *Session) matchSym(module int, candidates []symbols.Candidate, ms *moduleSymbols) {
	m := &s.Modules[module]
	if f := s.assigned[assignment{module, false}]; f != nil {
		ms.item, ms.assigned = f, !ms.exactSym(f.Of(m))
	} else {
		var mismatch *symbols.File
		sameName := false
		for i := range candidates {
			c := &candidates[i]
			if c.IsBinary {
				continue
			}
			switch exact := ms.exactSym(c); {
			case exact && (ms.item == nil || !sameName && c.SameName):
				ms.item, sameName = c.File, c.SameName
			case !exact && c.ID() != "" && c.SameName && s.wrongArch(c.Known.Arch) == "":
				mismatch = c.File
			}
		}
		ms.mismatch = cmp.Or(ms.mismatch, mismatch)
	}
	if ms.item != nil || ms.bin != nil {
		ms.mismatch = nil
	}
}

// exactSym reports whether a symbol file is of the module's very build. It may have another of the
// build's ids than the dump: its binary knows them all.
func (ms *moduleSymbols) exactSym(c *symbols.Candidate) bool {
	return c.Sure || ms.bin != nil && !ms.byName && !ms.binAssigned && ms.bin.Answers(c.ID())
}

// isOfModule reports whether a file is of a module by its own id.
func (s *Session) isOfModule(f *symbols.File) bool {
	return slices.ContainsFunc(f.Keys(), func(k symbols.Key) bool { return k.Sure && len(s.byKey[k.Text]) > 0 })
}

// idOf returns the debug id by which a module knows a binary; "" if none does.
func (s *Session) idOf(f *symbols.File) string {
	for _, k := range f.Keys() {
		for _, i := range s.byKey[k.Text] {
			if exact, _ := f.Of(&s.Modules[i]).IsBinaryOf(&s.Modules[i]); exact {
				return s.Modules[i].DebugID
			}
		}
	}
	return ""
}

// SameName reports whether a symbol file's name in its MODULE record is that of a module.
func (s *Session) SameName(module int, name string) bool {
	var k symbols.Known
	k.Name = name
	_, same := k.Fits(&s.Modules[module])
	return same
}

// extendModules tells the dump how much memory the modules take, where it may say too little.
func (s *Session) extendModules() {
	if !s.SizesAreLeast() {
		return
	}
	for i := range s.modules {
		ms := &s.modules[i]
		if ms.bin != nil && !ms.binAssigned {
			s.ExtendModule(i, ms.bin.Identity.Size)
		}
		if ms.item != nil && !ms.assigned {
			ms.item.WithSym(true, func(f *symfile.File) { s.ExtendModule(i, f.End()) })
		}
	}
}
