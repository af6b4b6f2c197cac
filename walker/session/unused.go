package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Unused says why a dump does not use a file.
type Unused struct {
	Reason Reason
	// Why is the reason as a clause: "its id is that of another build". It may be "".
	Why string
	// Wanted: a module that needs symbols and has none has the file's name, or code that begins like
	// the file's.
	Wanted bool
	// Needless: the module that the file could be for has its right files.
	Needless bool
}

// Reason is a kind of reasons for which a dump does not use a file.
type Reason int

const (
	// NotUnused: the file is in use, would be if a frame needed it, or Item.Message says why it is
	// not.
	NotUnused      Reason = iota
	OtherFile             // another file is used for its module
	OtherProcessor        // it is for another processor than the dump
	OtherBuild            // its ids are not those of the module with its name
	OtherName             // its code may be a module's, whose name is another
	NoModule              // the dump has no module with its name or its id
)

// Unused says why the dump does not use a file of the store.
func (s *Session) Unused(f *symbols.File) Unused {
	s.settle()
	if f.IsPart() || s.isAssigned(f) {
		return Unused{}
	}
	// A file in use needs no reason. Else a module that it fits may use another one.
	another := ""
	for _, k := range f.Keys() {
		for _, i := range s.byKey[k.Text] {
			m, ms := &s.Modules[i], &s.modules[i]
			if ms.item == f || ms.bin == f {
				return Unused{}
			}
			exact := k.Sure
			if f.IsBinary && !exact && another == "" {
				exact, _ = f.Of(m).IsBinaryOf(m)
			}
			other := ms.item
			if f.IsBinary && ms.bin != nil || other == nil {
				other = ms.bin
			}
			if exact && other != nil && another == "" {
				another = "another file is used for " + core.FileName(m.Name) + ": " + other.Name()
			}
		}
	}
	if another != "" {
		return Unused{Reason: OtherFile, Why: another, Needless: true}
	}
	u := s.mismatch(&f.Known)
	u.Needless = (u.Reason == OtherBuild || u.Reason == OtherProcessor) && s.served(&f.Known)
	return u
}

// served reports whether the modules with a file's name have all their files.
func (s *Session) served(k *symbols.Known) (served bool) {
	for _, name := range k.Names() {
		for _, i := range s.byKey[symbols.NameKey(name).Text] {
			have := s.symbolsOf(i)
			partial := have.Has.NoProgram || have.Has.DebugFile != "" || len(have.Has.Missing) > 0 || have.Has.OnlyExports
			if have.File == "" || partial || have.State == report.SymbolsCorrupt || have.State == report.SymbolsAssigned {
				return false
			}
			served = true
		}
	}
	return served
}

// isAssigned reports whether the user has chosen a file for a module.
func (s *Session) isAssigned(f *symbols.File) bool {
	for _, g := range s.assigned {
		if f == g {
			return true
		}
	}
	return false
}

// Mismatch is Unused for a file that the store does not have.
func (s *Session) Mismatch(k symbols.Known) Unused {
	s.settle()
	return s.mismatch(&k)
}

// mismatch says why a file is of none of the dump's modules.
func (s *Session) mismatch(k *symbols.Known) Unused {
	lacks := s.lacks(k)
	if why := s.wrongArch(k.Arch); why != "" {
		return Unused{Reason: OtherProcessor, Why: why, Wanted: lacks}
	}
	sameName, like := -1, -1
	for _, key := range k.Keys() {
		for _, i := range s.byKey[key.Text] {
			switch {
			case key.Sure:
				return Unused{}
			case key.IsName() && sameName < 0:
				sameName = i
			case strings.HasPrefix(key.Text, "like "):
				like = i
			}
		}
	}
	switch {
	case sameName >= 0:
		return Unused{Reason: OtherBuild, Why: difference(k, &s.Modules[sameName]), Wanted: lacks}
	case like >= 0:
		m := &s.Modules[like]
		why := fmt.Sprintf("its code begins like that of %s, whose id %s is made of that, but its name is %s", core.FileName(m.Name), m.DebugID, k.Name)
		return Unused{Reason: OtherName, Why: why, Wanted: s.wants(like)}
	}
	why := fmt.Sprintf("the dump has no module with its name, %s, or its id, %s", cmp.Or(k.Name, k.StoreFile, "none"), cmp.Or(k.ID, k.CodeID, "none"))
	return Unused{Reason: NoModule, Why: why}
}

// difference says how a file's ids differ from those of a module that has its name.
func difference(k *symbols.Known, m *core.Module) string {
	name := core.FileName(m.Name)
	noID, noModuleID := core.NoID(k.ID), core.NoID(m.DebugID)
	switch {
	case (noID || noModuleID) && k.NoCode && k.Stamped && k.CodeID != "" && m.CodeID != "":
		// strip writes the time of its own run into the program.
		return fmt.Sprintf("its time stamp and size are %s, those of %s are %s: another build, or strip changed the program's (the program itself would show it)",
			strings.ToUpper(k.CodeID), name, strings.ToUpper(m.CodeID))
	case k.CodeID != "" && m.CodeID != "" && (noID || noModuleID):
		return fmt.Sprintf("its code id is %s, that of %s is %s: another build", strings.ToUpper(k.CodeID), name, strings.ToUpper(m.CodeID))
	case noID && k.Program:
		return "it has no id, and does not have the size of " + name
	case noID:
		return "it has no id, so that nothing shows whether it is of this build of " + name
	case noModuleID:
		return fmt.Sprintf("the dump has no id for %s to compare its id %s with", name, k.ID)
	}
	how := report.IDDifference(m.DebugID, k.ID)
	// A hash has 16 bytes. Most build ids have 20 or 8. What a program of a build id of 20 bytes has
	// in a dump may be its hash; that is not known to symbol files of other tools.
	if cv := &m.CodeView; cv.Signature == core.SigBpEL && len(cv.BuildID) == hashSize && len(k.CodeID) != 2*hashSize && !k.Program && len(k.OtherIDs) == 0 {
		how = "another build, or the dump's id is a hash of the code, as writers make it that find no build id (the program itself would show it)"
	}
	return fmt.Sprintf("%s: its id is %s, that of %s is %s", how, k.ID, name, m.DebugID)
}

// hashSize is the size in bytes of ids that are hashes of code.
const hashSize = 16

// lacks reports whether a walk needed the symbols of a module of a file's name, and had none.
func (s *Session) lacks(k *symbols.Known) bool {
	for _, name := range k.Names() {
		if slices.ContainsFunc(s.byKey[symbols.NameKey(name).Text], s.wants) {
			return true
		}
	}
	return false
}

// wants: a walk needed the symbols of a module, and had none.
func (s *Session) wants(module int) bool {
	m := &s.modules[module]
	return m.requested && m.item == nil && m.bin == nil
}

// wrongArch says that a file is of another processor than the dump; "" if it is not, or if one of
// them is not known.
func (s *Session) wrongArch(arch string) string {
	a := s.Arch()
	if a == nil {
		return ""
	}
	if w := s.Wow64(); w != nil && archFamily(arch) == w.Host.FamilyName() {
		return "" // of the layer
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
