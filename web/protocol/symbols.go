package protocol

import "github.com/crashpane/crashpane/walker/report/view"

// Assign uses the symbols of Item for Module of Dump, whatever the ids say.
type Assign struct{ Item, Dump, Module int }

// Unassign takes that back.
type Unassign struct{ Dump, Module int }

// SetPolicy has the stacks unwound by another policy.
type SetPolicy struct{ Policy string }

// IgnoreCFI has the stacks unwound without the call frame information of Module of Dump, or with it again.
type IgnoreCFI struct {
	Dump, Module int
	On           bool
}

// Changed answers what changes stacks: all that is shown is to be asked for again.
type Changed struct{}

// ListMissing asks for the symbol files that Dump lacks.
type ListMissing struct{ Dump int }

// Missing lists them, those of the first thread's frames first.
type Missing struct{ Rows []view.MissingRow }

func (*Assign) request()      {}
func (*Unassign) request()    {}
func (*SetPolicy) request()   {}
func (*IgnoreCFI) request()   {}
func (*Changed) reply()       {}
func (*ListMissing) request() {}
func (*Missing) reply()       {}
