package symbols

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// This file says by what files and modules are known. Both have keys, and a file is a
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

// IsName reports whether the key is a name: that of any build.
func (k Key) IsName() bool { return strings.HasPrefix(k.Text, "name ") }

// NameKey returns the key of a name.
func NameKey(name string) Key { return Key{"name " + strings.ToLower(name), false} }

// ModuleKeys returns a module's keys.
func ModuleKeys(m *core.Module) []Key {
	var out []Key
	names := moduleNames(m)
	for _, n := range names {
		out = append(out, NameKey(n))
	}
	noID := core.NoID(m.DebugID)
	if !noID {
		id := idKey(m.DebugID)
		out = append(out, Key{"id " + id, true}, Key{"id " + id + " in " + strings.ToLower(core.FileName(m.DebugFile)), true}, Key{"like " + id, false})
		for _, n := range names {
			out = append(out, Key{"id " + id + " of " + n, true})
		}
	}
	if m.CodeID != "" {
		out = append(out, codeKey(m.CodeID))
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

// codeKey returns the key of the identifier of a program itself.
func codeKey(id string) Key { return Key{"code " + strings.ToUpper(id), true} }

// Known is what a file says about the module that it belongs to.
type Known struct {
	symfile.Identity
	// CodeName is the program's own name, if Identity.Name is that of its PDB, else "".
	CodeName string
	// StoreFile and storeID are the identity that a symbol store's path gives the file.
	StoreFile, storeID string
	// Program: the file has the program's own identifier, which symbol files only repeat. Stamped is
	// as in symbol.Identity.
	Program, Stamped bool
	// NoCode: it is a debug file, without the program's code.
	NoCode bool
}

// KnownSym is Known of a symbol file, by its path and its beginning.
func KnownSym(path string, head []byte) Known {
	k := Known{Identity: symfile.Identify(head)}
	k.StoreFile, k.storeID = storePath(path)
	return k
}

// KnownBinary is Known of a program, library or debug file.
func KnownBinary(id *symbol.Identity) Known {
	return Known{Identity: symfile.Identity{Module: symfile.Module{OS: id.OS, Arch: id.Arch, ID: id.DebugID, Name: id.Name}, CodeID: id.CodeID, OtherIDs: id.OtherIDs},
		CodeName: id.CodeName, Program: true, Stamped: id.Stamped, NoCode: !id.Code}
}

// NoModule: nothing says to which module the file belongs.
func (k *Known) NoModule() bool {
	return k.Name == "" && k.ID == "" && k.CodeID == "" && k.storeID == ""
}

// Names returns the file's names, in lower case.
func (k *Known) Names() []string {
	var out []string
	name := cmp.Or(k.Name, k.StoreFile)
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
	names := k.Names()
	for _, n := range names {
		out = append(out, NameKey(n))
	}
	noID := core.NoID(k.ID)
	if !noID && !slices.Contains(k.OtherIDs, k.ID) {
		out = append(out, Key{"id " + idKey(k.ID), true})
	}
	if k.storeID != "" {
		out = append(out, Key{"id " + idKey(k.storeID) + " in " + strings.ToLower(k.StoreFile), true})
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
		if k.Program || noID {
			out = append(out, codeKey(k.CodeID))
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

// Fits reports whether a file is of a module: by a key that is sure, or only by its name.
func (k *Known) Fits(m *core.Module) (sure, sameName bool) {
	of := ModuleKeys(m)
	for _, key := range k.Keys() {
		if slices.Contains(of, key) {
			sure = sure || key.Sure
			sameName = sameName || key.IsName()
		}
	}
	return sure, sameName
}

// sameStamp reports whether two code ids of Windows begin with the same time stamp, of eight
// digits. Linkers that are told to write none write 0.
func sameStamp(a, b string) bool {
	const digits = 8
	return len(a) > digits && len(b) > digits && strings.EqualFold(a[:digits], b[:digits]) && strings.Trim(a[:digits], "0") != ""
}
