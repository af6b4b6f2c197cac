package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// The words and classes of the components. Components only place them.

func boolWord(b bool) string { return strconv.FormatBool(b) }

func tabIndex(selected bool) string {
	if selected {
		return "0"
	}
	return "-1"
}

func rowID(kind string, n int) string { return kind + "-" + strconv.Itoa(n) }

func itoa(n int) string { return strconv.Itoa(n) }

func pair(a, b int) string { return fmt.Sprintf("%d.%d", a, b) }

func joinLines(lines []string) string { return strings.Join(lines, "\n") }

// factClass is codeClass, and marks what is searched for.
func (p *Page) factClass(f view.Fact) string { return p.marks(codeClass(f.Code), f.Key+" "+f.Value) }

func codeClass(code bool) string {
	if code {
		return "code"
	}
	return "plain"
}

func (p *Page) rootClass() string {
	if p.Empty() {
		return "viewer empty"
	}
	return "viewer"
}

func (p *Page) mainClass() string {
	if p.State.Closed {
		return "main folded"
	}
	return "main"
}

func (p *Page) panelClass() string {
	if p.State.Closed {
		return "panel folded"
	}
	return "panel"
}

func (p *Page) dropText() string {
	if p.Empty() {
		return "Drop to read these files in this page"
	}
	return "Drop to add symbols or another dump"
}

func (p *Page) haveText() string {
	if n := p.Files.Rejections; n > 0 && n == p.Files.Total {
		return files(n) + " read, and no crash dump that can be shown."
	}
	return files(p.Files.Total) + " read so far, but no crash dump that can be shown."
}

// dumpTitle is the name of the open dump.
func (p *Page) dumpTitle() string {
	if p.Summary == nil {
		return ""
	}
	for i, d := range p.Dumps {
		if d.Dump == p.Dump && len(p.Dumps) > 1 {
			return fmt.Sprintf("%s (%d of %d)", p.Summary.Name, i+1, len(p.Dumps))
		}
	}
	return p.Summary.Name
}

// maxDumps bounds the list of dumps, which is no window.
const maxDumps = 500

// dumpChoices are the dumps of the switcher, while it is open.
func (p *Page) dumpChoices() []protocol.DumpName {
	if p.Menu != "dumps" {
		return nil
	}
	return p.Dumps[:min(len(p.Dumps), maxDumps)]
}

// jobValue is nil, an attribute left out, while nobody knows how far the work is.
func (p *Page) jobValue() any {
	j := p.Job
	if g := p.Readers; !j.Active && g.state == readersComing {
		if g.total <= 0 {
			return nil
		}
		return int(min(100, g.done*100/g.total))
	}
	switch {
	case !j.Active:
		return nil
	case j.Total > 1:
		return (j.Done*100 + max(j.Percent, 0)) / j.Total
	case j.Percent >= 0:
		return j.Percent
	}
	return nil
}

func (p *Page) problemText() string {
	if p.Summary.Errors == 1 {
		return "1 problem with this dump"
	}
	return view.Number(p.Summary.Errors) + " problems with this dump"
}

func (p *Page) missingText() string { return "Missing symbols: " + view.Number(p.Summary.Wanted) }

// Threads

func (p *Page) threadCount() string {
	if p.Summary == nil {
		return ""
	}
	if p.State.ThreadFilter != "" {
		return view.Number(p.Threads.Total) + " of " + view.Number(p.Summary.Threads)
	}
	return view.Number(p.Summary.Threads)
}

func (p *Page) threadClass(t view.ThreadRow) string {
	class := "thread"
	if t.Crashed {
		class += " crashed"
	}
	if t.Index == p.State.Thread {
		class += " selected"
	}
	if t.Hit {
		class += " hit"
	}
	return p.withFresh(class, rowID("thread", t.Index))
}

func (p *Page) threadName(t view.ThreadRow) string {
	if t.Name == "" {
		return "id " + t.ID
	}
	return t.Name
}

func (p *Page) threadTitle(t view.ThreadRow) string {
	return strings.TrimSpace(fmt.Sprintf("%s thread %d, id %s, %s", t.Name, t.Index, t.ID, frameCount(t.Frames)))
}

func (p *Page) threadTag(t view.ThreadRow) string {
	switch {
	case p.State.Search != "" && t.Hits > 0:
		return view.Number(t.Hits) + " found"
	case t.Crashed:
		return "crashed"
	case t.Requesting:
		return "requesting"
	}
	return ""
}

func (p *Page) threadTagClass(t view.ThreadRow) string {
	if t.Crashed && (p.State.Search == "" || t.Hits == 0) {
		return "thread-tag danger"
	}
	return "thread-tag"
}

func (p *Page) threadTop(t view.ThreadRow) string {
	if t.Top == "" && t.Pending {
		return "…"
	}
	if t.Top == "" {
		return "no frames"
	}
	return t.Top
}

func (p *Page) activeThread() any {
	if p.Threads.Selected < 0 {
		return nil
	}
	return rowID("thread", p.State.Thread)
}

func (p *Page) noThreads() string {
	if p.State.ThreadFilter != "" {
		return "No thread matches."
	}
	return "The dump lists no threads."
}

func frameCount(n int) string {
	if n == 1 {
		return "1 frame"
	}
	return view.Number(n) + " frames"
}

// hint is a tooltip, left out where it would say what can be read anyway.
func hint(title, text string) any {
	if title == "" || title == text {
		return nil
	}
	return title
}

// Stack

func (p *Page) stackTitle() string { return p.threadLabel() }

func (p *Page) stackCount() string {
	if p.Stack.Frames == 0 && p.Busy() {
		return "…"
	}
	return frameCount(p.Stack.Frames)
}

func (p *Page) isSelected(r view.StackRow) bool {
	return r.Frame == p.State.Frame && r.Inline == p.State.Inline
}

func (p *Page) frameClass(r view.StackRow) string {
	class := "row " + r.Kind
	for _, c := range []struct {
		is   bool
		name string
	}{{p.isSelected(r), " selected"}, {r.Weak, " weak"}, {r.Forced, " forced"}, {r.NoSymbol, " nosym"}, {r.Missing, " missing"}, {r.Hint, " hint"}, {r.Hit, " hit"}} {
		if c.is {
			class += c.name
		}
	}
	return p.withFresh(class, p.frameID(r))
}

func (p *Page) frameID(r view.StackRow) string { return "frame-" + p.frameKey(r) }

func (p *Page) frameKey(r view.StackRow) string { return pair(r.Frame, r.Inline) }

func (p *Page) frameAct(r view.StackRow) any {
	switch {
	case r.Hint:
		return "findings"
	case r.Kind == view.RowStop:
		return nil
	}
	return "frame"
}

func (p *Page) frameNumber(r view.StackRow) string {
	switch r.Kind {
	case view.RowInline:
		return "↳"
	case view.RowStop:
		return ""
	}
	return strconv.Itoa(r.Frame)
}

// Room says how many characters the cell of a frame's name has room for. It reports whether that is news.
func (p *Page) Room(characters int) bool {
	news := p.room != characters
	p.room = characters
	return news
}

// frameName is a row's name, as long as its cell.
func (p *Page) frameName(r view.StackRow) string {
	if r.NoSymbol || r.Kind == view.RowStop || p.room == 0 {
		return r.Function
	}
	room := p.room
	if r.Kind == view.RowInline {
		room -= 2 // it is indented
	}
	return view.FoldTo(r.Full, max(room, 1))
}

// columns are the widths of the stack's columns, which follow what the stack has.
func (p *Page) columns() string {
	return fmt.Sprintf("--cp-source:%dch;--cp-where:%dch", p.Stack.SourceWidth, p.Stack.WhereWidth+2)
}

func (p *Page) trustTitle(r view.StackRow) string {
	if r.Kind == view.RowStop {
		return ""
	}
	_, s := view.Word(r.Trust)
	if r.Forced {
		s += " Symbols that do not match the module were used."
	}
	return s
}

func (p *Page) moduleTitle(r view.StackRow) string {
	switch {
	case r.Forced:
		return r.Module + ": symbols that do not match are used"
	case r.Missing:
		return r.Module + ": its symbols are missing"
	}
	return r.Where()
}

func (p *Page) activeFrame() any {
	if p.Stack.Selected < 0 {
		return nil
	}
	return "frame-" + pair(p.State.Frame, p.State.Inline)
}

func (p *Page) noFrames() string {
	return "This thread has no frames."
}

// height and offset place a window of rows in its list: the whole list is as high as all rows would be.
func (p *Page) height(rows, px int) string { return fmt.Sprintf("height:%dpx", rows*px) }

func (p *Page) offset(from, px int) string { return fmt.Sprintf("transform:translateY(%dpx)", from*px) }

// Frame

func (p *Page) regClass(r view.Register) string {
	class := p.marks("reg", r.Value)
	if r.Role != "" {
		class += " role"
	}
	if r.Value == "" {
		class += " unknown"
	}
	return class
}

func regValue(r view.Register) string {
	if r.Value == "" {
		return "not known"
	}
	return r.Value
}

func attemptText(a view.Attempt) string {
	s := a.Reason
	if a.Rule != "" {
		s += " (" + strings.ReplaceAll(a.Rule, "\n", "; ") + ")"
	}
	return s
}

// Panel

// tabKeys are the keys of the tabs, in their order.
const tabKeys = "1234567890-"

func tabKey(tab int) string { return tabKeys[tab : tab+1] }

func (p *Page) foldText() string {
	if p.State.Closed {
		return "Unfold"
	}
	return "Fold"
}

func (p *Page) shows(tab string) bool {
	return p.Summary != nil && !p.State.Closed && p.State.Tab == tab
}

func (p *Page) tabCount(id string) string {
	if p.Summary == nil {
		return ""
	}
	n := 0
	switch id {
	case "modules":
		n = p.Summary.Modules
	case "wanted":
		n = p.Summary.Wanted
	case "files":
		n = p.Files.Total
	case "log":
		n = p.Summary.Diag
	case "findings":
		n = len(p.Summary.Findings)
	}
	if n == 0 {
		return ""
	}
	return view.Number(n)
}

func (p *Page) tabCountClass(id string) string {
	if p.Summary != nil && (id == "wanted" && p.Summary.Wanted > 0 || id == "findings" && len(p.Summary.Findings) > 0 || id == "log" && p.Summary.Errors > 0 ||
		id == "files" && p.Files.Problems > 0) {
		return "tab-count warn"
	}
	return "tab-count"
}

func (p *Page) frames(n int) string {
	if n == 0 {
		return ""
	}
	return view.Number(n)
}

func (p *Page) stateTitle(m view.ModuleRow) string {
	s := m.Word
	if m.SymbolFile != "" {
		s += ": " + m.SymbolFile
	}
	if m.Other != "" {
		s += "; the module has id " + m.DebugID + ", the file has " + m.Other
	}
	if m.Sparse {
		s += "\nIts functions were looked up where they stand, which is right as far as the file is sorted; it was not read as a whole."
	}
	for _, w := range m.Warnings {
		s += "\n" + w
	}
	return s
}

func (p *Page) idTitle(m view.ModuleRow) string {
	s := m.DebugFile + " " + m.DebugID
	if m.CodeID != "" {
		s += "\ncode id " + m.CodeID
	}
	return s
}

// canForce reports whether symbols of another build can be taken for a module, or taken back.
func (p *Page) canForce(m view.ModuleRow) bool {
	return m.State == "forced" && p.forcedItem(m.Index) >= 0 || m.State == "mismatch" && m.Item >= 0
}

func (p *Page) forceAct(m view.ModuleRow) string {
	if m.State == "forced" {
		return "unuse"
	}
	return "use"
}

func (p *Page) forceArg(m view.ModuleRow) string {
	if m.State == "forced" {
		return pair(p.forcedItem(m.Index), m.Index)
	}
	return pair(m.Item, m.Index)
}

func (p *Page) forceText(m view.ModuleRow) string {
	if m.State == "forced" {
		return "Stop using"
	}
	return "Use anyway"
}

// forcedItem is the file that was last assigned to a module of this dump, or -1.
func (p *Page) forcedItem(module int) int {
	item := -1
	for _, d := range p.decided {
		switch d := d.(type) {
		case *protocol.Assign:
			if d.Dump == p.Dump && d.Module == module {
				item = d.Item
			}
		case *protocol.Unassign:
			if d.Dump == p.Dump && d.Module == module {
				item = -1
			}
		}
	}
	return item
}

func (p *Page) noModules() string {
	if !p.Listed {
		return ""
	}
	return "The dump lists no modules."
}

func (p *Page) noWanted() string {
	if !p.Listed {
		return ""
	}
	return "Nothing is missing: every module on these stacks has its symbols."
}

func mismatchText(w view.WantedRow) string {
	if w.OtherFile == "" {
		return ""
	}
	return "given: " + w.OtherID
}

func mismatchTitle(w view.WantedRow) string {
	if w.OtherFile == "" {
		return ""
	}
	return fmt.Sprintf("wanted: %s\n%s has %s\n%s", w.DebugID, w.OtherFile, w.OtherID, w.Differs)
}

// Files

func kindWord(f protocol.FileRow) string {
	switch {
	case f.Kind == "minidump" && f.Usable:
		return "crash dump"
	case f.Kind == "sym" && f.Assign:
		return "symbols, no MODULE"
	case f.Kind == "sym" && f.Usable:
		return "symbols"
	case f.Kind == "archive" && f.Usable:
		return "archive"
	case isBinary(f):
		return "binary"
	case f.Kind == "other":
		return "not usable"
	}
	return f.Kind + ", not usable"
}

func fileClass(f protocol.FileRow) string {
	switch {
	case !f.Usable:
		return "state error"
	case f.Assign || f.WarningCount > 0:
		return "state warning"
	}
	return "state loaded"
}

func fileText(f protocol.FileRow) string {
	switch {
	case f.Message != "":
		return strings.TrimPrefix(f.Message, f.Name+": ")
	case f.Assign:
		return "Whose symbols these are is not said in the file."
	case f.WarningCount > 0 && len(f.Warnings) > 0:
		if f.WarningCount == 1 {
			return f.Warnings[0]
		}
		return fmt.Sprintf("%s warnings: %s", view.Number(f.WarningCount), f.Warnings[0])
	case f.SymName != "":
		return f.SymName + "  " + f.SymID
	case f.Dump >= 0:
		return "Open"
	case f.Kind == "archive" && f.Usable:
		return "What was in it stands below"
	}
	return ""
}

func fileName(f protocol.FileRow) string { return view.BaseName(f.Name) }

func fileTitle(f protocol.FileRow) string {
	s := fileText(f)
	if len(f.Warnings) > 1 {
		s += "\n" + strings.Join(f.Warnings[1:], "\n")
	}
	return s
}

// assignChoices are the modules that a file without a MODULE line may belong to.
func (p *Page) assignChoices(f protocol.FileRow) []protocol.Choice {
	if !f.Assign {
		return nil
	}
	return p.Files.Modules
}

func (p *Page) isPolicy(name string) bool {
	return name == p.State.Policy || name == "best" && p.State.Policy == ""
}

// Help

var helpKeys = []struct {
	Keys []string
	What string
}{
	{[]string{"j", "k"}, "next, previous frame; also arrows, Page Up, Home …"},
	{[]string{"n", "p"}, "next, previous thread"},
	{[]string{"x"}, "the crashed thread"},
	{[]string{"/"}, "search; Enter and Shift+Enter go to the next and the previous hit"},
	{[]string{"1 – 9", "0", "-"}, "the lower tabs; again folds them"},
	{[]string{"e"}, "why this frame"},
	{[]string{"i"}, "show or hide inlined calls"},
	{[]string{"c"}, "copy the stack as text"},
	{[]string{"Esc"}, "close, cancel, clear the search"},
}

// addressHelp states what the addresses and offsets of frames are.
const addressHelp = "The address of a caller, and its offset in the module, are those of its call: the return address less 1 byte (2 on ARM, 4 on ARM64), as in Breakpad’s text and " +
	"rust-minidump’s JSON. “Returns to” in a frame’s details is the return address itself."

type trustWord struct{ Trust, Word, Sentence string }

func trustWords() []trustWord {
	var out []trustWord
	for _, t := range []string{"context", "cfi", "prewalked", "leaf", "frame_pointer", "cfi_scan", "scan", "inline"} {
		w, s := view.Word(t)
		out = append(out, trustWord{t, w, s})
	}
	return out
}

// hasSaid reports whether the program said something of its end, and said is that.
func (p *Page) hasSaid() bool { return p.Summary != nil && len(p.Summary.Said) > 0 }

func (p *Page) said() view.Fact {
	if !p.hasSaid() {
		return view.Fact{}
	}
	return p.Summary.Said[0]
}
