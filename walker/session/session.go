// Package session joins everything: it takes files in any order, recognizes them, matches symbols to modules, walks, and
// builds reports. The page, the command line and the tests all use it. It does no I/O of its own beyond the sources it is
// given, and starts no goroutines.
package session

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// ItemKind is what a file turned out to be.
type ItemKind string

const (
	KindDump    ItemKind = "minidump"
	KindSym     ItemKind = "sym"
	KindArchive ItemKind = "archive" // a .zip or .gz; its members are items of their own
	KindOther   ItemKind = "other"   // not usable; Message says what it was taken for
)

// Item is one file, or one member of an archive, and what became of it.
type Item struct {
	ID   int
	Name string // untrusted text
	Size int64
	Kind ItemKind
	// Usable is false if the file could not be used; Message then says why: file, offset, what was wrong.
	Usable  bool
	Message string
	// Dump is the index of the dump that it became, or -1.
	Dump int
	// For symbol files: what the MODULE record says; ID "" if there is none and the file waits to be assigned by hand.
	SymName, SymID, SymOS, SymArch string
	// NeedsAssignment: no module can be matched without a person's word (no MODULE record).
	NeedsAssignment bool
	// Warnings are the first few of the symbol file's warnings, each naming its line; WarningCount is how many there are.
	Warnings     []string
	WarningCount int
}

// Progress says how far a long step is. Total may be 0 if it is not known.
type Progress struct {
	Stage string // "reading symbols", "unpacking", "walking", …
	Name  string // of the file
	Done  int64
	Total int64
}

// Options of a session.
type Options struct {
	Policy walker.Policy
	// Progress, if set, is called now and then from within long steps.
	Progress func(Progress)
	// Demangle makes readable names; nil leaves names as they are.
	Demangle func(string) string
}

// Session is the files of one investigation.
type Session struct {
	opt Options
	// unexported state
}

// The methods:
//
//	func New(opt Options) *Session
//	func (s *Session) Add(src *input.Source) []Item          // recognizes, unpacks, indexes; returns the items it made
//	func (s *Session) Items() []Item                         // all of them, in the order of arrival
//	func (s *Session) Dumps() []Item                         // the usable dumps, Item.Dump counting from 0
//	func (s *Session) Report(dump int) *report.Report        // walks if needed; the same pointer until something changed
//	func (s *Session) Assign(item, dump, module int) error   // "use anyway" and "assign by hand"
//	func (s *Session) Unassign(item, dump, module int)
//	func (s *Session) SetPolicy(p walker.Policy)
var _ = report.Version
var _ input.Source
