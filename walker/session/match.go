package session

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// This file says which files belong to which modules of a dump. Both have keys, and a file is a
// module's if they have a key in common. Those of Key.Sure identify one build:
//
//	id 00112233…0             the debug id, in any of its two byte orders (core.SameID)
//	id 00112233…0 in app.pdb  of a file without a name of its own: its place in a symbol store
//	id 00112233…0 of app      an id that writers of dumps give a file in which they find no build id. Files can have it
//	                          in common, such as a hash of their first code, so that the name counts too
//	code 5A9832E524000        the identifier of the program itself: a build id, or time stamp and size
//
// The others ask for a closer look: "name app" that of any build, "like 00112233…0" an id of the
// third kind under any name.

// Key is something by which files and modules are known, as text.
type Key struct {
	Text string
	Sure bool
}

// NameKey returns the key of a name.
func NameKey(name string) Key { return Key{"name " + strings.ToLower(name), false} }

// ModuleKeys returns a module's keys.
func ModuleKeys(m *core.Module) []Key {
	var out []Key
	names := moduleNames(m)
	for _, n := range names {
		out = append(out, NameKey(n))
	}
	noID := strings.Trim(m.DebugID, "0") == ""
	if !noID {
		id := idKey(m.DebugID)
		out = append(out, Key{"id " + id, true}, Key{"id " + id + " in " + strings.ToLower(core.FileName(m.DebugFile)), true}, Key{"like " + id, false})
		for _, n := range names {
			out = append(out, Key{"id " + id + " of " + n, true})
		}
	}
	if m.CodeID != "" {
		out = append(out, Key{"code " + strings.ToUpper(m.CodeID), true})
		// Programs without a debug record (MinGW writes none) are known by their time stamp and size
		// alone.
		if noID {
			out = append(out, Key{"code without id " + strings.ToUpper(m.CodeID), true})
		}
	}
	return out
}

// moduleNames returns the names that a module's files may have, in lower case.
func moduleNames(m *core.Module) []string {
	var out []string
	for _, n := range []string{core.FileName(m.DebugFile), core.FileName(m.Name)} {
		if n = strings.ToLower(n); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	// A Windows program's symbols have the name of its PDB, which a dump without a debug record does
	// not know.
	if name := strings.ToLower(core.FileName(m.Name)); m.DebugID == "" && name != "" {
		out = append(out, strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".dll")+".pdb")
	}
	return out
}

// Known is what a file says of which module it is.
type Known struct {
	symfile.Identity
	// CodeName is the program's own name, if Identity.Name is that of its PDB, else "".
	CodeName string
	// storeFile and storeID are the identity that a symbol store's path gives the file.
	storeFile, storeID string
	// program: the file has the program's own identifier, which symbol files only repeat.
	program bool
}

// KnownSym is Known of a symbol file, by its path and its beginning.
func KnownSym(path string, head []byte) Known {
	k := Known{Identity: symfile.Identify(head)}
	k.storeFile, k.storeID = storePath(path)
	return k
}

// KnownBinary is Known of a program, library or debug file.
func KnownBinary(id *symbol.Identity) Known {
	return Known{Identity: symfile.Identity{Module: symfile.Module{OS: id.OS, Arch: id.Arch, ID: id.DebugID, Name: id.Name}, CodeID: id.CodeID, OtherIDs: id.OtherIDs},
		CodeName: id.CodeName, program: true}
}

// NoModule: nothing says of which module the file is.
func (k *Known) NoModule() bool {
	return k.Name == "" && k.ID == "" && k.CodeID == "" && k.storeID == ""
}

// names returns the file's names, in lower case.
func (k *Known) names() []string {
	var out []string
	name := k.Name
	if name == "" {
		name = k.storeFile
	}
	for _, n := range []string{name, k.CodeName} {
		if n != "" {
			out = append(out, strings.ToLower(n))
		}
	}
	return out
}

// Keys returns a file's keys.
func (k *Known) Keys() []Key {
	var out []Key
	names := k.names()
	for _, n := range names {
		out = append(out, NameKey(n))
	}
	noID := strings.Trim(k.ID, "0") == ""
	if !noID && !slices.Contains(k.OtherIDs, k.ID) {
		out = append(out, Key{"id " + idKey(k.ID), true})
	}
	if k.storeID != "" {
		out = append(out, Key{"id " + idKey(k.storeID) + " in " + strings.ToLower(k.storeFile), true})
	}
	for _, id := range k.OtherIDs {
		out = append(out, Key{"like " + idKey(id), false})
		for _, n := range names {
			out = append(out, Key{"id " + idKey(id) + " of " + n, true})
		}
	}
	if k.CodeID != "" {
		// A symbol file that has it together with another debug id than the module is of another
		// build.
		if k.program || noID {
			out = append(out, Key{"code " + strings.ToUpper(k.CodeID), true})
		}
		out = append(out, Key{"code without id " + strings.ToUpper(k.CodeID), true})
	}
	return out
}

// idKey returns the same text for debug ids that are the same by core.SameID: the id in capitals, in
// that of its two byte orders which sorts first.
func idKey(id string) string {
	id = strings.ToUpper(id)
	if swapped := core.ByteSwappedID(id); swapped != "" {
		return min(id, swapped)
	}
	return id
}

// storePath reads the identity out of a path of the symbol store's layout, <debug
// file>/<id>/<name>.sym.
func storePath(name string) (file, id string) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) < 3 {
		return "", ""
	}
	id = parts[len(parts)-2]
	// The shortest id is that of an old PDB: eight digits of time and an age.
	if len(id) < 9 || strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return "", ""
	}
	return parts[len(parts)-3], id
}

// fits reports whether a file is of a module: by a key that is sure, or only by its name.
func (k *Known) fits(m *core.Module) (sure, sameName bool) {
	of := ModuleKeys(m)
	for _, key := range k.Keys() {
		if slices.Contains(of, key) {
			sure = sure || key.Sure
			sameName = sameName || strings.HasPrefix(key.Text, "name ")
		}
	}
	return sure, sameName
}

// isBinary says how a binary belongs to a module: by a key, or, where one of the two has no id, by
// its name and size. What MinGW links has no debug id, and loads its DWARF sections with the
// program, so that strip changes the size: the file from before strip has the name and the time
// stamp of the module, and so has its separate debug file.
func (it *item) isBinary(m *core.Module) (exact, byName bool) {
	id := &it.ident
	sure, sameName := it.known.fits(m)
	if sure || sameName && it.hasChecksum(m.DebugID) {
		return true, false
	}
	// Loaders round sizes up to pages, and writers of dumps take the size from the file or from
	// memory.
	const page = 4096
	noID := m.CodeID == "" && strings.Trim(m.DebugID, "0") == "" || id.DebugID == "" && (id.CodeID == "" || m.CodeID == "")
	same := noID && id.Code && (id.Size+page-1)/page == (m.Size+page-1)/page
	if id.OS == "windows" && strings.Trim(m.DebugID, "0") == "" {
		same = same || sameStamp(id.CodeID, m.CodeID)
	}
	return false, same && sameName
}

// like reports whether a file has the module's id among those that files can have in common.
func (k *Known) like(m *core.Module) bool {
	return slices.ContainsFunc(k.OtherIDs, func(id string) bool { return core.SameID(id, m.DebugID) })
}

// hasChecksum reports whether a debug id is made of the file's check sum, as LLDB makes it. It reads
// the file only if the id has the form of one: four bytes.
func (it *item) hasChecksum(id string) bool {
	if len(id) < 33 || strings.Trim(id[8:], "0") != "" || it.bin == nil {
		return false
	}
	sum, err := it.bin.ChecksumID()
	return err == nil && core.SameID(sum, id)
}

// sameStamp reports whether two code ids of Windows begin with the same time stamp, of eight
// digits. Linkers that are told to write none write 0.
func sameStamp(a, b string) bool {
	const digits = 8
	return len(a) > digits && len(b) > digits && strings.EqualFold(a[:digits], b[:digits]) && strings.Trim(a[:digits], "0") != ""
}

// answers reports whether a debug id is the binary's, by any writer.
func (it *item) answers(debugID string) bool {
	return core.SameID(it.ident.DebugID, debugID) || slices.ContainsFunc(it.ident.OtherIDs, func(id string) bool { return core.SameID(id, debugID) })
}

// candidate is a file that may be a module's. sure: it is, by a key.
type candidate struct {
	it   *item
	sure bool
}

// candidates returns the files that each module of a dump has a key in common with, in the order of
// the session's items.
func (s *Session) candidates(d *dump) [][]candidate {
	keys := d.keys()
	out := make([][]candidate, len(d.Modules))
	for _, it := range s.items {
		for _, k := range it.keys {
			for _, i := range keys[k.Text] {
				if n := len(out[i]); n > 0 && out[i][n-1].it == it {
					out[i][n-1].sure = out[i][n-1].sure || k.Sure
				} else {
					out[i] = append(out[i], candidate{it, k.Sure})
				}
			}
		}
	}
	return out
}

// keys returns the modules that have a key.
func (d *dump) keys() map[string][]int {
	if d.byKey == nil {
		d.byKey = map[string][]int{}
		for i := range d.Modules {
			for _, k := range ModuleKeys(&d.Modules[i]) {
				d.byKey[k.Text] = append(d.byKey[k.Text], i)
			}
		}
	}
	return d.byKey
}
