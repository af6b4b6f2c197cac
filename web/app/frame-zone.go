package app

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// FrameZone shows the details of the selected row: registers, and why the frame is there.
type FrameZone struct {
	page   *Page
	Detail *rows.FrameDetail // nil until the first result
	Code   Code
}

// Want implements Zone.
func (z *FrameZone) Want(q *protocol.Query) { q.Detail = true }

// Apply implements Zone.
func (z *FrameZone) Apply(r *protocol.QueryResult) {
	if r.Detail == nil {
		return
	}
	z.Detail = r.Detail
	s := &z.page.State
	// An address may name a frame of a recursion that is not listed: the next one is selected in its place.
	if d := r.Detail; d.Thread == s.Thread && d.Frame > s.Frame && !z.page.Screen.Top && !z.page.Screen.Dirty[z] {
		z.page.selectFrame(d.Frame, -1)
	}
	if z.page.Screen.Top && r.Detail.Thread == s.Thread {
		s.Frame, s.Inline = max(0, r.Detail.Frame), r.Detail.Inline
		z.page.Address.place = s.Place() // the default selection is not a new place of the history
	}
}

// sides are the zone's tabs.
var sides = []struct{ ID, Title, Tip string }{
	{"code", "Code", "The instructions around this frame (d)"}, {"registers", "Registers", ""}, {"why", "Why this frame", "Why is this frame here? (e)"},
}

// isSide reports whether the zone has a tab.
func isSide(id string) bool {
	for _, s := range sides {
		if s.ID == id {
			return true
		}
	}
	return false
}

// show selects one of the zone's tabs.
func (z *FrameZone) show(side string) {
	if !isSide(side) {
		return
	}
	z.page.State.Side = side
	z.page.Address.write()
	z.page.Screen.Ask(&z.Code)
}

// toggle selects a tab, or if it is selected the registers.
func (z *FrameZone) toggle(side string) {
	if z.page.State.Side == side {
		side = "registers"
	}
	z.show(side)
}

// bodyClass makes room for the listing of code, which scrolls by itself.
func (z *FrameZone) bodyClass() string {
	if z.page.State.Side == "code" {
		return "frame-body holds-code"
	}
	return "frame-body"
}

// endTitle is the heading of the reason why the stack ends.
func (z *FrameZone) endTitle() string {
	switch w := z.Detail.Why; {
	case w.Last < 0:
		return "Why there are no frames"
	case w.Last == z.Detail.Frame:
		return "Why the stack ends here"
	default:
		return "The stack ends after frame " + strconv.Itoa(w.Last)
	}
}

// regClass marks registers with a role (pc, sp, fp, lr), unknown ones, and hits.
func (z *FrameZone) regClass(r rows.Register) string {
	class := z.page.Marks("reg", r.Value)
	if r.Role != "" {
		class += " role"
	}
	if r.Value == "" {
		class += " unknown"
	}
	return class
}

// checksText lists the checks that a frame has passed, and notes about it.
func checksText(w rows.Why) string {
	s := strings.Join(w.Checks, " · ")
	if len(w.Notes) == 0 {
		return s
	}
	if s != "" {
		s += " · "
	}
	return s + strings.Join(w.Notes, " · ")
}

// ruleWidth is how many characters of a rule fit into a line of the frame zone.
const ruleWidth = 44

// rulesText lists the rules with their numbers. A rule that does not fit into a line continues on
// indented lines: the computation, then its result:
//
//	ra = [0x7f7569879f78]
//	  word at 0x7f7569879f78 = 0x7f7569d278ec
//	  libc.so.6 + 0x1098ec
func rulesText(rules []string) string {
	lines := make([]string, 0, len(rules))
	for _, r := range rules {
		if rule, computed, ok := strings.Cut(r, ":  "); ok && utf8.RuneCountInString(r) > ruleWidth {
			computed, place, _ := strings.Cut(computed, "   ")
			r = strings.TrimSuffix(rule+"\n  "+computed+"\n  "+place, "\n  ")
		}
		lines = append(lines, r)
	}
	return words.Lines(lines)
}

// changesText lists the registers in the called frame and in this one, a line each.
func changesText(all []rows.Change) string {
	var b strings.Builder
	for _, c := range all {
		b.WriteString(c.Name + strings.Repeat(" ", max(1, 5-len(c.Name))) + known(c.Before) + " → ")
		if c.How == "unchanged" && c.Before == c.After {
			b.WriteString("the same\n")
			continue
		}
		b.WriteString(known(c.After) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func known(value string) string {
	if value == "" {
		return "unknown"
	}
	return value
}

// stopText says why the stack ends, and what would help.
func stopText(w rows.Why) string {
	if w.Suggestion == "" {
		return w.Stop
	}
	return strings.TrimSuffix(w.Stop, ".") + ". What would help: " + w.Suggestion + "."
}
