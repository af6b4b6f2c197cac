package session

import (
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/symbols"
)

// know notes the modules' keys. All modules are to be matched.
func (d *dump) know() {
	d.modules = make([]moduleSymbols, len(d.Modules))
	d.keys, d.byKey, d.stale = make([][]symbols.Key, len(d.Modules)), map[string][]int{}, map[int]bool{}
	for i := range d.Modules {
		d.keys[i], d.stale[i] = symbols.ModuleKeys(&d.Modules[i]), true
		for _, k := range d.keys[i] {
			d.byKey[k.Text] = append(d.byKey[k.Text], i)
		}
	}
}

// settleAll is settle for all dumps.
func (s *Session) settleAll() {
	for _, d := range s.dumps {
		s.settle(d)
	}
}

// settle matches the modules that new files or assignments concern. If anything changed, the dump's
// report is out of date.
func (s *Session) settle(d *dump) {
	files := s.store.Since(d.seen)
	d.seen += len(files)
	for _, f := range files {
		for _, k := range f.Keys() {
			for _, i := range d.byKey[k.Text] {
				d.stale[i] = true
			}
		}
	}
	for i := range d.stale {
		if s.match(d, i) {
			d.invalidate()
		}
	}
	clear(d.stale)
	for i := range d.modules {
		if ms := &d.modules[i]; ms.bin != nil && ms.bin.Revision() != ms.binRevision {
			ms.binRevision = ms.bin.Revision()
			d.invalidate()
		}
	}
}

// match finds the symbol file and the binary of a module anew, since a new file may be better than
// one that is used, and the user's choice may have been taken back. It reports whether anything has
// changed.
func (s *Session) match(d *dump, module int) bool {
	old := d.modules[module]
	fresh := moduleSymbols{requested: old.requested, unplaced: old.unplaced, odd: old.odd, oddLines: old.oddLines}
	candidates := s.store.For(d.keys[module])
	s.matchBinary(d, module, candidates, &fresh)
	s.matchSym(d, module, candidates, &fresh)
	if old.bin == fresh.bin {
		fresh.image, fresh.imageLooked, fresh.binRevision = old.image, old.imageLooked, old.binRevision
	}
	s.useInstead(old.item, fresh.item)
	s.useInstead(old.bin, fresh.bin)
	d.modules[module] = fresh
	return old.item != fresh.item || old.assigned != fresh.assigned || old.mismatch != fresh.mismatch || old.bin != fresh.bin || old.binAssigned != fresh.binAssigned
}

// useInstead tells the store that a file is used in place of another one.
func (s *Session) useInstead(old, file *symbols.File) {
	if old == file {
		return
	}
	if file != nil {
		s.store.Use(file)
	}
	if old != nil {
		s.store.Release(old)
	}
}

// matchBinary finds a module's binary: one that holds the program before one that holds debug
// information alone.
func (s *Session) matchBinary(d *dump, module int, candidates []symbols.Candidate, ms *moduleSymbols) {
	m := &d.Modules[module]
	if f := d.assigned[assignment{module, true}]; f != nil {
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
			if it := s.of[c.File]; it != nil {
				it.idInUse = m.DebugID
			}
		case byName && better && (ms.bin == nil || ms.byName):
			ms.bin, ms.byName = c.File, true
		case !exact && c.SameName && d.wrongArch(c.Known.Arch) == "":
			ms.mismatch = c.File
		}
	}
}

// matchSym finds a module's symbol file, after its binary.
func (s *Session) matchSym(d *dump, module int, candidates []symbols.Candidate, ms *moduleSymbols) {
	m := &d.Modules[module]
	if f := d.assigned[assignment{module, false}]; f != nil {
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
			case !exact && c.ID() != "" && c.SameName && d.wrongArch(c.Known.Arch) == "":
				mismatch = c.File
			}
		}
		if ms.mismatch == nil {
			ms.mismatch = mismatch
		}
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

// isOfModule reports whether a file is of a dump's module by its own id.
func (s *Session) isOfModule(f *symbols.File) bool {
	for _, d := range s.dumps {
		for _, k := range f.Keys() {
			if k.Sure && len(d.byKey[k.Text]) > 0 {
				return true
			}
		}
	}
	return false
}

// SameName reports whether a symbol file's name in its MODULE record is that of a dump's module.
func (s *Session) SameName(dumpIndex, module int, name string) bool {
	var k symbols.Known
	k.Name = name
	_, same := k.Fits(&s.dumps[dumpIndex].Modules[module])
	return same
}

// extendModules tells the dump how much memory the modules take, where it may say too little.
func (s *Session) extendModules(d *dump) {
	if !d.SizesAreLeast() {
		return
	}
	for i := range d.modules {
		ms := &d.modules[i]
		if ms.bin != nil && !ms.binAssigned {
			d.ExtendModule(i, ms.bin.Identity.Size)
		}
		if ms.item != nil && !ms.assigned {
			ms.item.WithSym(true, func(f *symfile.File) { d.ExtendModule(i, f.End()) })
		}
	}
}
