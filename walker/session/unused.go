package session

import (
	"cmp"
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/report"
)

// Unused says why a dump does not use a symbol file or binary of the session: a clause such as "its
// id is that of another build". It is "" for a file that is in use, that would be if a frame needed
// it, or of which Item.Message says why. named: a module that needs symbols and has none has the
// file's name.
func (s *Session) Unused(itemID, dumpIndex int) (why string, named bool) {
	if itemID < 0 || itemID >= len(s.items) || dumpIndex < 0 || dumpIndex >= len(s.dumps) {
		return "", false
	}
	it, d := s.items[itemID], s.dumps[dumpIndex]
	if !it.Usable || it.Kind != KindSym && it.Kind != KindBinary || it.part || it.NeedsAssignment {
		return "", false
	}
	// A file in use needs no reason. The next loop finds a module that the file fits, and the file
	// that is used there instead.
	for i := range d.modules {
		if ms := &d.modules[i]; ms.item == it || ms.bin == it {
			return "", false
		}
	}
	for i := range d.modules {
		m, ms := &d.Modules[i], &d.modules[i]
		exact := it.Kind == KindSym && it.is(m)
		if it.bin != nil {
			exact, _ = it.isBinary(m)
		}
		if !exact {
			continue
		}
		other := ms.item
		if it.bin != nil && ms.bin != nil || other == nil {
			other = ms.bin
		}
		if other != nil {
			return "another file is used for " + core.FileName(m.Name) + ": " + other.Name, false
		}
	}
	sym := symfile.Module{OS: it.SymOS, Arch: it.SymArch, ID: it.SymID, Name: it.SymName}
	if sym.Name == "" {
		sym.Name = it.storeFile
	}
	return d.mismatch(sym)
}

// Fits reports whether a file of the session may be of the dump's processor: Assign refuses others.
func (s *Session) Fits(itemID, dumpIndex int) bool {
	return itemID < 0 || itemID >= len(s.items) || dumpIndex < 0 || dumpIndex >= len(s.dumps) || s.dumps[dumpIndex].wrongArch(s.items[itemID].SymArch) == ""
}

// Mismatch is Unused for a symbol file that the session does not have, by its MODULE record.
func (s *Session) Mismatch(sym symfile.Module, dumpIndex int) (why string, named bool) {
	if dumpIndex < 0 || dumpIndex >= len(s.dumps) {
		return "", false
	}
	return s.dumps[dumpIndex].mismatch(sym)
}

// mismatch says why a file with a MODULE record, or what a binary would have there, is of none of
// the dump's modules.
func (d *dump) mismatch(sym symfile.Module) (why string, named bool) {
	if why := d.wrongArch(sym.Arch); why != "" {
		return why, d.lacks(sym.Name) >= 0
	}
	it := &item{Item: Item{SymName: sym.Name}}
	for i := range d.Modules {
		m := &d.Modules[i]
		if !it.sameName(m) {
			continue
		}
		named = d.lacks(sym.Name) >= 0
		name := core.FileName(m.Name)
		switch {
		case core.SameID(sym.ID, m.DebugID):
			return "", false
		case sym.ID == "":
			return "it has no id, and does not have the size of " + name, named
		case m.DebugID == "":
			return fmt.Sprintf("the dump has no id for %s to compare its id %s with", name, sym.ID), named
		}
		return fmt.Sprintf("%s: its id is %s, that of %s is %s", report.IDDifference(m.DebugID, sym.ID), sym.ID, name, m.DebugID), named
	}
	return fmt.Sprintf("the dump has no module with its name, %s, or its id, %s", cmp.Or(sym.Name, "none"), cmp.Or(sym.ID, "none")), false
}

// lacks returns the module of the file's name whose symbols a walk needed and that has none, or -1.
func (d *dump) lacks(name string) int {
	it := &item{Item: Item{SymName: name}}
	for i := range d.Modules {
		if d.modules[i].requested && d.modules[i].item == nil && d.modules[i].bin == nil && it.sameName(&d.Modules[i]) {
			return i
		}
	}
	return -1
}

// wrongArch says that a file is of another processor than the dump; "" if it is not, or if one of
// them is not known.
func (d *dump) wrongArch(arch string) string {
	a := d.Arch()
	if a == nil {
		return ""
	}
	if have, want := archFamily(arch), archFamily(a.Name); have != "" && want != "" && have != want {
		return fmt.Sprintf("it is for %s, and the dump is of %s", arch, a.Name)
	}
	return ""
}

// archFamily is one name for a processor whose files may belong to one process; "" if it is not
// known.
func archFamily(name string) string {
	if a := cpu.ByWord(name); a != nil {
		return a.FamilyName()
	}
	return ""
}
