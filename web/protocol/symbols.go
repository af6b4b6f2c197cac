package protocol

import "github.com/crashpane/crashpane/walker/report/rows"

// Assign uses the symbols of Item for a module, whatever their ids say.
type Assign struct{ Item, Dump, Module int }

// Unassign undoes Assign.
type Unassign struct{ Dump, Module int }

// SetPolicy sets the unwind policy.
type SetPolicy struct{ Policy string }

// IgnoreCFI sets whether the walker ignores the call frame information of a module.
type IgnoreCFI struct {
	Dump, Module int
	On           bool
}

// Changed answers a request that changes stacks: the page must query everything again.
type Changed struct{}

// ListMissing queries the symbol files that Dump lacks.
type ListMissing struct{ Dump int }

// Missing lists the missing symbol files, those of the first thread's frames first.
type Missing struct{ Rows []rows.MissingRow }

func (*Assign) request()      {}
func (*Unassign) request()    {}
func (*SetPolicy) request()   {}
func (*IgnoreCFI) request()   {}
func (*Changed) reply()       {}
func (*ListMissing) request() {}
func (*Missing) reply()       {}
