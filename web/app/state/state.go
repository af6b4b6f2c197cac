// Package state is what the user of the page has chosen, which a link restores: State, and how it is
// written into the page's address (query.go).
package state

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/web/app/words"
)

// UsualTab is the part of the lower panel that is open at first.
const UsualTab = "modules"

// State is what the user has chosen. It is stored in the page's address, so a link restores it.
type State struct {
	// Table shows the table of all dumps in place of one.
	Table    bool
	DumpName string // of the selected dump; "" for the first
	DumpID   string // its protocol.DumpName.ID
	// Signature is that of its crash: the start screen says it of a dump that is not open yet.
	Signature string
	Thread    int // -1: the one that the dump starts with
	Frame     int
	Inline    int    // -1: the physical frame
	Tab       string // a Part
	// At is the selected address, which the tab Memory and the outline show; 0 for none.
	At uint64
	OutlineState
	Closed bool   // the user has folded the lower panel
	Opened bool   // the user has opened it
	Side   string // what the frame zone shows: an ID of sides
	StackState
	ThreadFilter string
	Search       string
	Policy       string // "" for best
	// Theme is a preference of the user, not part of a link: Parse reads it, Address does not
	// write it.
	Theme string
}

// StackState is how the stack is shown.
type StackState struct {
	// HideInlines leaves the inlined calls out of the stack.
	HideInlines bool
	// ShowGuesses lists the possible callers and repeated frames that are one row otherwise.
	ShowGuesses bool
	// ShowOffsets has the offset in the function after each name.
	ShowOffsets bool
	// StackWords shows the words of the stack in place of its frames.
	StackWords bool
}

// OutlineState is what the outline shows.
type OutlineState struct {
	// Outline is the name of the file, Functions the text of its list. SourceFiles: the list is of source files.
	Outline, Functions string
	SourceFiles        bool
}

// Place is the part of the state that makes an entry of the history: Back returns to another place,
// and not to another search or filter.
func (s State) Place() State {
	if s.Table {
		return State{Table: true}
	}
	return State{DumpName: s.DumpName, Thread: s.Thread, Frame: s.Frame, Inline: s.Inline, Tab: s.Tab, At: s.At, OutlineState: OutlineState{Outline: s.Outline}}
}

// New returns the state of a page without an address.
func New() State {
	return State{Thread: -1, Inline: -1, Tab: UsualTab, Side: "registers"}
}

// MaxText bounds texts that come from an address, in bytes.
const MaxText = 200

// Address returns the state as a location hash without "#". Default values are left out.
func (s State) Address() string {
	var b strings.Builder
	text := func(key, value, usual string) {
		if value != usual {
			setQuery(&b, key, value)
		}
	}
	number := func(key string, value, usual int) {
		if value != usual {
			setQuery(&b, key, strconv.Itoa(value))
		}
	}
	usual := New()
	if s.Table {
		return "view=dumps"
	}
	text("dump", s.DumpName, "")
	text("id", s.DumpID, "")
	text("crash", s.Signature, "")
	number("thread", s.Thread, usual.Thread)
	number("frame", s.Frame, usual.Frame)
	number("inline", s.Inline, usual.Inline)
	text("tab", s.Tab, usual.Tab)
	if s.At != 0 {
		setQuery(&b, "address", "0x"+strconv.FormatUint(s.At, 16))
	}
	text("symbols", s.Outline, "")
	text("functions", s.Functions, "")
	text("side", s.Side, usual.Side)
	text("threads", s.ThreadFilter, "")
	text("search", s.Search, "")
	text("unwind", s.Policy, "")
	if s.SourceFiles {
		setQuery(&b, "list", "sources")
	}
	if s.HideInlines {
		setQuery(&b, "inlines", "hidden")
	}
	if s.StackWords {
		setQuery(&b, "stack", "words")
	}
	if s.ShowGuesses {
		setQuery(&b, "guesses", "shown")
	}
	if s.ShowOffsets {
		setQuery(&b, "offsets", "shown")
	}
	if s.Closed {
		setQuery(&b, "panel", "closed")
	} else if s.Opened {
		setQuery(&b, "panel", "open")
	}
	return b.String()
}

// Parse reads an address. Users type and paste addresses, so what it cannot read keeps its
// default value. Tab and Side are as they were typed: the page knows which there are.
func Parse(hash string) State {
	s := New()
	v, ok := parseQuery(strings.TrimPrefix(hash, "#"))
	if !ok {
		return s
	}
	number := func(key string, to *int, least int) {
		if n, err := strconv.Atoi(v[key]); err == nil && n >= least && n < 1<<24 {
			*to = n
		}
	}
	text := func(key string, to *string) {
		if t := v[key]; t != "" && len(t) <= MaxText {
			*to = t
		}
	}
	s.Table = v["view"] == "dumps"
	text("dump", &s.DumpName)
	text("id", &s.DumpID)
	text("crash", &s.Signature)
	number("thread", &s.Thread, -1)
	number("frame", &s.Frame, 0)
	number("inline", &s.Inline, -1)
	text("tab", &s.Tab)
	s.At, _ = words.ParseAddress(v["address"])
	text("side", &s.Side)
	text("symbols", &s.Outline)
	text("functions", &s.Functions)
	text("threads", &s.ThreadFilter)
	text("search", &s.Search)
	text("unwind", &s.Policy)
	s.SourceFiles = v["list"] == "sources"
	s.HideInlines = v["inlines"] == "hidden"
	s.StackWords = v["stack"] == "words"
	s.ShowGuesses = v["guesses"] == "shown"
	s.ShowOffsets = v["offsets"] == "shown"
	s.Closed, s.Opened = v["panel"] == "closed", v["panel"] == "open"
	if t := v["theme"]; t == "dark" || t == "light" {
		s.Theme = t
	}
	return s
}
