package app

import (
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/walker/report/rows"
)

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
	return joinLines(lines)
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
