package engine

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/web/protocol"
)

// What an engine leaves out when a page around the viewer asks for it (Call.Redact): the command line, the environment and the
// contents of streams are not made at all, nor are explanations, which quote words of the stack; what the program wrote into its dump and
// what it had open stand there without their contents (see hideRow, redacted); and in every text that leaves the engine, exports among
// them, the names of users in paths are replaced.

// setRedact takes the wish of a request. What was made in the other way is forgotten.
func (e *Engine) setRedact(on bool) {
	if e.redact == on {
		return
	}
	e.redact = on
	clear(e.views)
}

// Text is what becomes of each text that leaves the engine; nil if nothing does.
func (e *Engine) Text() func(string) string {
	if !e.redact {
		return nil
	}
	return HideUsers
}

// hidden stands where something private stood.
const hidden = "hidden"

// tellingColumn is the column of a grid that holds what a program wrote or what it had open; browsers put the switches of their command
// line and addresses into annotations.
var tellingColumn = map[string]int{"annotations": 2, "handles": 2}

// openAnnotations are the sources of annotations that quote nothing of what a program worked on.
var openAnnotations = []string{fromAssertion, fromLimits, fromWriter}

// hideRow hides what is private in a row of a grid.
func hideRow(grid string, r protocol.GridRow) {
	at, ok := tellingColumn[grid]
	if !ok || r.Cells[at] == "" || grid == "annotations" && slices.Contains(openAnnotations, r.Cells[0]) {
		return
	}
	r.Cells[at] = hidden
}

// hideMessages hides what a program said of its end. An assertion is its source code.
func hideMessages(said []report.Message) []report.Message {
	said = slices.Clone(said)
	for i := range said {
		if said[i].Source != "assertion" {
			said[i].Text = hidden
		}
	}
	return said
}

// redacted is a report for others: the same without the names of open objects, what macOS' libraries said, and the kernel's arguments.
func (e *Engine) redacted(rep *report.Report) *report.Report {
	if !e.redact {
		return rep
	}
	out := *rep
	out.Messages = hideMessages(rep.Messages)
	out.Handles = slices.Clone(rep.Handles)
	for i := range out.Handles {
		if out.Handles[i].Name != "" {
			out.Handles[i].Name = hidden
		}
	}
	out.MacCrashInfo = slices.Clone(rep.MacCrashInfo)
	for i := range out.MacCrashInfo {
		m := &out.MacCrashInfo[i]
		for _, text := range []*string{&m.Message, &m.Message2, &m.Signature, &m.Backtrace} {
			if *text != "" {
				*text = hidden
			}
		}
	}
	if rep.MacBootArgs != nil {
		args := hidden
		out.MacBootArgs = &args
	}
	return &out
}

// homes are the folders whose next one is named after a user: Linux and BSD, macOS and Windows, Windows before Vista.
var homes = []string{"home", "users", "documents and settings"}

// userName stands where the name of a user stood.
const userName = "USER"

// HideUsers replaces the names of users in paths: what stands behind one of homes, between slashes or backslashes, also doubled ones, as
// JSON has them.
func HideUsers(s string) string {
	// Most texts have no path in them.
	if strings.IndexByte(s, '/') < 0 && strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '/' && s[i] != '\\' {
			continue
		}
		from := afterHome(s, i+1)
		if from < 0 {
			continue
		}
		to := from
		for to < len(s) && !endsName(s[to]) {
			to++
		}
		if to == from {
			continue
		}
		b.WriteString(s[done:from])
		b.WriteString(userName)
		done, i = to, to-1
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// afterHome is where the name of a user begins if a home's name stands at i, else -1.
func afterHome(s string, i int) int {
	for _, h := range homes {
		end := i + len(h)
		if end >= len(s) || !strings.EqualFold(s[i:end], h) || s[end] != '/' && s[end] != '\\' {
			continue
		}
		for end < len(s) && (s[end] == '/' || s[end] == '\\') {
			end++
		}
		return end
	}
	return -1
}

// endsName reports whether a byte cannot belong to the name of a user in a path. Spaces can.
func endsName(c byte) bool { return c < ' ' || strings.IndexByte(`/\:*?"<>|`, c) >= 0 }
