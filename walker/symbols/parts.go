package symbols

import (
	"slices"
	"sort"
	"strings"
)

// A binary itself tells which other files are parts of it: Binary.Attach takes a file in, or not.
// But only those that may be are offered to it: files that have one of its keys, a name or a build
// id that it links to, or split units if some of its own are elsewhere.

// Keys that are not a module's.
const (
	keySplit  = "split units" // a file of split debug information
	keyObject = "object"      // one that a linker made programs of
	// Debug files are also known by a check sum, if they or their program have no id.
	keyDebug = "debug file"
	keyNoID  = "debug file without id"
)

// partKeys returns the keys that a file has as a part of another one.
func (f *File) partKeys() []Key {
	if !f.IsBinary {
		return nil
	}
	id := &f.Identity
	out := []Key{NameKey(baseName(f.src.Name))}
	if id.SplitUnits {
		out = append(out, Key{keySplit, false})
	}
	if id.Object {
		out = append(out, Key{keyObject, false})
	}
	if !id.Code {
		out = append(out, Key{keyDebug, false})
	}
	if !id.Code && (id.DebugID == "" || id.CodeID == "") {
		out = append(out, Key{keyNoID, false})
	}
	return out
}

// linkKeys returns the keys of files that may be parts of a binary.
func (f *File) linkKeys() []string {
	f.mu.Lock()
	defer f.unlock()
	var out []string
	for _, k := range f.keys {
		out = append(out, k.Text)
	}
	b, err := f.openBinary()
	if err != nil {
		return out
	}
	id := b.Identity()
	for _, name := range id.LinkedNames {
		out = append(out, NameKey(name).Text)
	}
	for _, id := range id.LinkedIDs {
		out = append(out, codeKey(id).Text)
	}
	if id.NeedsSplit {
		out = append(out, keySplit)
	}
	if id.NeedsObjects {
		out = append(out, keyObject)
	}
	switch {
	case len(id.LinkedNames) == 0:
	case id.DebugID == "" || id.CodeID == "":
		out = append(out, keyDebug)
	default:
		out = append(out, keyNoID)
	}
	return out
}

// findParts offers a binary that is in use the files that may be parts of it, and has those that
// come later offered to it.
func (s *Store) findParts(main *File) {
	for more := true; more; { // a debug file has links of its own
		more = false
		keys := main.linkKeys()
		s.mu.Lock()
		var files []*File
		for _, k := range keys {
			if !slices.Contains(main.waitsFor, k) {
				main.waitsFor = append(main.waitsFor, k)
				s.waiting[k] = append(s.waiting[k], main)
			}
			files = append(files, s.byKey[k]...)
		}
		files = main.untried(files)
		s.mu.Unlock()
		for _, f := range files {
			more = main.attach(f) || more
		}
	}
}

// offer offers a new file to the binaries in use that it may be a part of.
func (s *Store) offer(f *File) {
	if !f.IsBinary {
		return
	}
	s.mu.Lock()
	var mains []*File
	for _, k := range append(f.partKeys(), f.keys...) {
		for _, main := range s.waiting[k.Text] {
			if len(main.untried([]*File{f})) > 0 {
				mains = append(mains, main)
			}
		}
	}
	s.mu.Unlock()
	for _, main := range mains {
		if main.attach(f) && !f.Identity.Object { // an object has no links
			s.findParts(main)
		}
	}
}

// stopWaiting ends that new files are offered to a binary. The caller holds s.mu.
func (s *Store) stopWaiting(main *File) {
	for _, k := range main.waitsFor {
		s.waiting[k] = slices.DeleteFunc(s.waiting[k], func(f *File) bool { return f == main })
	}
	main.waitsFor = nil
}

// untried returns those of the files that were not offered to a binary before, each once. The caller
// holds the store's mu.
func (f *File) untried(files []*File) []*File {
	var out []*File
	for _, g := range files {
		// A program of another build is not a part; debug files may have ids of their own, and objects
		// have none.
		ofAnotherBuild := g.Identity.Code && !g.Identity.Object && !strings.EqualFold(g.Identity.DebugID, f.Identity.DebugID)
		if g == f || f.tried[g] || !g.IsBinary || ofAnotherBuild {
			continue
		}
		if f.tried == nil {
			f.tried = map[*File]bool{}
		}
		f.tried[g] = true
		out = append(out, g)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].number < out[j].number })
	return out
}

// attach offers a file to a binary, and reports whether the binary has taken it in.
func (f *File) attach(part *File) bool {
	f.mu.Lock()
	defer f.unlock()
	b, err := f.openBinary()
	if err != nil {
		return false
	}
	took, err := b.Attach(part.src)
	if err != nil && f.src.Cancelled() == nil {
		part.refusal.CompareAndSwap(nil, &err)
	}
	if took {
		f.parts = append(f.parts, part)
		part.part.Store(true)
		f.revision.Add(1)
	}
	return took
}

// Refusal is why a binary that links to a file of this name does not take it in, or nil.
func (f *File) Refusal() error {
	if err := f.refusal.Load(); err != nil {
		return *err
	}
	return nil
}

// baseName returns a path's last part; both kinds of slash separate.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
