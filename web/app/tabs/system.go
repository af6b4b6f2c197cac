package tabs

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// policies are the unwind policies that the tab offers.
var policies = rows.Policies

// System shows facts about the process, the machine and the dump.
type System struct {
	pane
	Groups []rows.Group // in addition to those of the summary
	// private has the private groups that the user has revealed. It is never part of the address,
	// an export or the storage.
	private protocol.SystemQuery
}

// NewSystem makes the part with an id.
func NewSystem(s *zone.Shared, id string) zone.Tab {
	return &System{pane: pane{s, id}}
}

// Want implements Zone.
func (z *System) Want(q *protocol.Query) {
	private := z.private
	q.System = &private
}

// Hidden implements Zone.
func (z *System) Hidden() bool { return !z.open() }

// Apply implements Zone.
func (z *System) Apply(r *protocol.QueryResult) {
	if r.System != nil {
		z.Groups = r.System.Groups
	}
}

// reveal queries the contents of a private group.
func (z *System) reveal(title string) {
	z.private.CommandLine = z.private.CommandLine || title == "Command line"
	z.private.Environment = z.private.Environment || title == "Environment"
	z.page.Screen.Ask(z)
}

func (z *System) Actions() []zone.Action {
	return []zone.Action{{ID: "reveal", Do: func(title string) { z.reveal(title) }}}
}

func (z *System) Forget() { z.Groups, z.private = nil, protocol.SystemQuery{} }

func (z *System) HidePrivate() { z.private = protocol.SystemQuery{} }

// flagsText puts spaces around the bars of a list of flags ("0x3 A_FLAG|ANOTHER"), so that it can
// wrap.
func flagsText(s string) string {
	for i := range len(s) {
		if c := s[i]; !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '|' || c == ' ' || c == 'x' || c >= 'a' && c <= 'f') {
			return s
		}
	}
	return strings.ReplaceAll(s, "|", " | ")
}

// isSecret reports whether a group is private and not revealed yet: the engine sends it without
// facts.
func isSecret(g rows.Group) bool { return len(g.Facts) == 0 }

func revealText(g rows.Group) string { return "Show the " + lower(g.Title) }

func lower(s string) string {
	if s == "" {
		return s
	}
	return string(s[0]|0x20) + s[1:]
}

func (z *System) isPolicy(name string) bool {
	return name == z.page.State.Policy || name == "best" && z.page.State.Policy == ""
}
