// Package zone is what the zones of the page share: the selection and the open dump (Shared), which of
// them need data (Screen), and what a host page forbids (Limits). A zone of the lower panel is a Tab.
// Begin with shared.go. Zones know this package and not each other; web/app has them all.
package zone

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/notices"
	"github.com/crashpane/crashpane/web/app/split"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Shared is what all zones of the page share: the browser, the selection, what is known about the open
// dump, and what a zone can have the page do (Acts).
type Shared struct {
	Host    host.Host
	State   state.State
	Summary *rows.Summary // of the selected dump; nil if none is shown
	Dumps   Dumps
	Screen  Screen
	Notices notices.Notices
	Limits  Limits
	Inside  bool // the viewer is in a host page
	Split   split.Sizes
	Memory  Places
	// Decisions are what the user has decided of the files: assignments, closed dumps, the unwind policy.
	Decisions []protocol.Request
	// Found are the hits of the search.
	Found protocol.FoundPage
	// Have has the ids of the panel's parts for which the dump has data.
	Have []string
	// Listed is set when the panel's first lists have arrived. Before that, an empty list does not say
	// that there is nothing.
	Listed bool
	Acts
}

// Acts is what a zone can have the page do.
type Acts struct {
	// Send sends a request to the engine, and returns its number, which the answer has; 0 if the engine has ended.
	Send func(req protocol.Request) (id int)
	// AddFiles has the engine read files.
	AddFiles func(files []host.File)
	// Decide sends a decision of the user, which a new engine gets again.
	Decide func(req protocol.Request)
	// SelectThread and SelectFrame select a thread, and a frame of it; inline is -1, or an inlined call.
	SelectThread func(thread int)
	SelectFrame  func(frame, inline int)
	// ShowPart opens a part of the panel, and queries it; also one that is open.
	ShowPart func(id string)
}

// Dumps are those that the engine has.
type Dumps struct {
	List []protocol.DumpName
	Open int // number of the open dump
}

// MaxDumps bounds the menus of dumps, which are drawn completely.
const MaxDumps = 500

// Empty reports whether no dump is open: the page shows the start screen or the table of dumps.
func (s *Shared) Empty() bool { return s.Summary == nil }

// Folded reports whether the panel is only its line of tabs: the user has folded it, or the window is
// low, and neither the user nor the address has asked for a tab, or for a height of the panel.
func (s *Shared) Folded() bool {
	return s.State.Closed || !s.State.Opened && s.State.Tab == state.UsualTab && s.Split.Panel == 0 && s.Host.Low()
}

// ShowsPart reports whether a part of the panel is visible.
func (s *Shared) ShowsPart(id string) bool {
	return s.Summary != nil && !s.Folded() && s.State.Tab == id
}

// Marks adds the class "hit" to an element's classes if one of its texts contains the searched
// text.
func (s *Shared) Marks(class string, texts ...string) string {
	if s.State.Search != "" && rows.Holds(rows.Query(s.State.Search), texts...) {
		return class + " hit"
	}
	return class
}

// FactClass is the class of a fact, with that of a hit if it is one.
func (s *Shared) FactClass(f rows.Fact) string {
	return s.Marks(words.CodeClass(f.Code), f.Key+" "+f.Value)
}

// IsHit reports whether a row of a part is the current hit.
func (s *Shared) IsHit(part string, row int) bool {
	h := s.Found.Hit
	return s.Found.At > 0 && s.State.Search != "" && h.Tab == part && h.Row == row
}

// Assigned returns the file that is assigned to a module of the open dump, or -1.
func (s *Shared) Assigned(module int) int {
	item := -1
	for _, d := range s.Decisions {
		switch d := d.(type) {
		case *protocol.Assign:
			if d.Dump == s.Dumps.Open && d.Module == module {
				item = d.Item
			}
		case *protocol.Unassign:
			if d.Dump == s.Dumps.Open && d.Module == module {
				item = -1
			}
		}
	}
	return item
}
