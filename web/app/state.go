package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

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
	// Theme is a preference of the user, not part of a link: ParseState reads it, Address does not
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

// place is the part of the state that makes an entry of the history: Back returns to another place,
// and not to another search or filter.
func (s State) place() State {
	if s.Table {
		return State{Table: true}
	}
	return State{DumpName: s.DumpName, Thread: s.Thread, Frame: s.Frame, Inline: s.Inline, Tab: s.Tab, At: s.At, OutlineState: OutlineState{Outline: s.Outline}}
}

// NewState returns the state of a page without an address.
func NewState() State {
	return State{Thread: -1, Inline: -1, Tab: usualTab, Side: "registers"}
}

func (s *State) toggleOffsets() { s.ShowOffsets = !s.ShowOffsets }

// maxStateText bounds texts that come from an address, in bytes.
const maxStateText = 200

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
	usual := NewState()
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

// ParseState reads an address. Users type and paste addresses, so what it cannot read keeps its
// default value.
func ParseState(hash string) State {
	s := NewState()
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
		if t := v[key]; t != "" && len(t) <= maxStateText {
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
	for _, t := range Parts() {
		if v["tab"] == t.ID {
			s.Tab = t.ID
		}
	}
	s.At, _ = parseAddress(v["address"])
	if isSide(v["side"]) {
		s.Side = v["side"]
	}
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

// Address keeps the state in the page's address.
type Address struct {
	page  *Page
	place State // the place last written
	// linked is the state of an address that was opened before its dump was.
	linked State
}

// refresh writes a new signature to the address, which stays the same place. That is the dump's start
// until the user selects something, also if the stack shows by now what that is.
func (z *Address) refresh() {
	s := z.page.State
	if z.page.Screen.top {
		s.Thread, s.Frame, s.Inline = z.place.Thread, 0, -1
	}
	z.page.Host.SetAddress(s.Address(), false)
}

// follow opens the dump that the address was about when it came, at its place, and reports whether
// it is there now.
func (z *Address) follow() bool {
	dump, ok := z.page.Dumps.match(z.linked)
	if !ok {
		return false
	}
	s, now := z.linked, &z.page.State
	s.Theme, s.Policy = now.Theme, now.Policy
	*now, z.linked = s, State{}
	z.page.Screen.top, z.page.Screen.seek = s.Thread < 0, true
	z.page.Dumps.show(dump, true)
	return true
}

// isAbout names the dump that the page's address is about, if it is not there yet, or returns "".
func (z *Address) isAbout() string {
	var parts []string
	for _, part := range [][2]string{{"", z.linked.DumpName}, {"id ", z.linked.DumpID}, {"signature ", z.linked.Signature}} {
		if part[1] != "" {
			parts = append(parts, part[0]+rows.Clean(part[1]))
		}
	}
	return strings.Join(parts, ", ")
}

// startText says on the start screen which file to drop, or is "".
func (z *Address) startText() string {
	if name := z.linked.Outline; name != "" && z.linked.DumpID == "" && z.linked.DumpName == "" {
		return "This address is about the functions of " + rows.Clean(name) + ". Drop it to see the same place."
	}
	if what := z.isAbout(); what != "" {
		return "This address is about a dump that is not open: " + what + ". Drop it to see the same place."
	}
	return ""
}

// copyLink copies the address of what is shown. Without names it has neither the dump's file name nor
// anything else from the dump, but its id.
func (z *Address) copyLink(names bool) {
	s := z.page.State
	if !names {
		s.DumpName, s.Signature, s.Search, s.ThreadFilter, s.OutlineState = "", "", "", "", OutlineState{}
	}
	z.page.Notices.copy(z.page.Host.Link(s.Address()), "Link copied")
}

// write writes the state to the address, and notifies the host page. With the first dump it waits
// until its stack is there (Pace.show): the browser handles a new address like a visit, in
// several processes, which takes about 40 ms of two cores.
func (z *Address) write() {
	if !z.page.Empty() || len(z.page.Dumps.List) == 0 || z.page.State.Table {
		z.set()
	}
	z.page.HostPage.notify(Event{Kind: EventSelect, State: z.page.State})
}

// set writes the state to the address. Another place makes an entry of the history, except the
// first one.
func (z *Address) set() {
	place := z.page.State.place()
	z.page.Host.SetAddress(z.page.State.Address(), (!z.page.Empty() || z.place.Table || z.place.Outline != "" || place.Outline != "") && place != z.place)
	z.place = place
}

// Changed applies an address that the user has typed or gone back to.
func (z *Address) Changed(hash string) {
	s := ParseState(hash)
	if s.DumpID == z.page.State.DumpID {
		s.Signature = z.page.State.Signature // an entry of the history may have one from before symbols came
	}
	if s.Address() == z.page.State.Address() {
		return
	}
	theme, policy := z.page.State.Theme, z.page.State.Policy
	z.page.State, z.place = s, s.place()
	if z.page.State.Theme == "" {
		z.page.State.Theme = theme
	}
	z.page.Host.SetTheme(z.page.State.Theme)
	if s.Policy != policy {
		z.page.setPolicy(s.Policy)
	}
	z.page.Panel.Outline.restored = false
	if len(z.page.Dumps.List) == 0 {
		z.linked = s
		z.page.Panel.Outline.reopen()
	} else if s.Table {
		z.page.Dumps.Table.shown()
	} else if dump, _ := z.page.Dumps.match(s); dump != z.page.Dumps.Open {
		z.page.Dumps.Open = dump
		z.page.forget()
	}
	z.page.Search.begin()
	z.page.Screen.top, z.page.Screen.seek = s.Thread < 0, true
	z.page.Screen.askAll()
}

// The state's address is a query string as net/url writes it. That package would add 15 KB to the
// page's program, for other parts of addresses.

// setQuery adds "key=value".
func setQuery(b *strings.Builder, key, value string) {
	if b.Len() > 0 {
		b.WriteByte('&')
	}
	b.WriteString(key)
	b.WriteByte('=')
	const digits = "0123456789ABCDEF"
	for i := range len(value) {
		switch c := value[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~':
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
}

// parseQuery reads a query string; ok is false if an escape is invalid. Of several values of a key,
// the first counts.
func parseQuery(s string) (values map[string]string, ok bool) {
	out := map[string]string{}
	for _, part := range strings.Split(s, "&") {
		k, v, _ := strings.Cut(part, "=")
		key, ok := unescape(k)
		value, ok2 := unescape(v)
		if !ok || !ok2 {
			return nil, false
		}
		if _, twice := out[key]; !twice {
			out[key] = value
		}
	}
	return out, true
}

// unescape replaces %XX and + (RFC 1866, section 8.2.1).
func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			b.WriteByte(' ')
		case '%':
			if i+2 >= len(s) {
				return "", false
			}
			hi, lo := digit(s[i+1]), digit(s[i+2])
			if hi < 0 || lo < 0 {
				return "", false
			}
			b.WriteByte(byte(hi<<4 | lo))
			i += 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// digit returns the value of a hexadecimal digit, or -1.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
