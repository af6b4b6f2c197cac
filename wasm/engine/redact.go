package engine

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/web/protocol"
)

// With Call.Redact, which the host page sets, the engine leaves private data out:
//
//   - It does not make the command line, the environment and the contents of streams, nor explanations, which quote words of the stack.
//   - It hides the texts that the program has left in the dump, and the names of open objects (hideRow, redacted).
//   - In every text that leaves the engine, exports included, it replaces the names of users in paths (HideUsers).

// setRedact applies a call's Redact. If that has changed, it drops the views, which were made with
// the other value.
func (e *Engine) setRedact(on bool) {
	if e.redact == on {
		return
	}
	e.redact = on
	clear(e.views)
}

// Text returns the function that replaces each text that leaves the engine, or nil.
func (e *Engine) Text() func(string) string {
	if !e.redact {
		return nil
	}
	return HideUsers
}

// hidden replaces private texts.
const hidden = "hidden"

// privateColumn is the column of a grid that has private texts: values of annotations, in which
// browsers put command line switches and addresses of pages, and names of open objects.
var privateColumn = map[string]int{"annotations": 2, "handles": 2}

// openAnnotations are the sources of annotations that never quote the program's data.
var openAnnotations = []string{fromAssertion, fromLimits, fromWriter}

// hideRow hides what is private in a row of a grid.
func hideRow(grid string, r protocol.GridRow) {
	at, ok := privateColumn[grid]
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

// redacted is a report for others: the same without the names of open objects, what was sent with
// the dump, what macOS' libraries said, and the kernel's arguments.
func (e *Engine) redacted(rep *report.Report) *report.Report {
	if !e.redact {
		return rep
	}
	out := *rep
	out.Messages = hideMessages(rep.Messages)
	out.Upload = slices.Clone(rep.Upload)
	for i := range out.Upload {
		out.Upload[i].Value = hidden
	}
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

// homes are the folders that contain users' folders: on Linux and BSD, on macOS and Windows, and on
// Windows before Vista.
var homes = []string{"home", "users", "documents and settings"}

// userName replaces the names of users.
const userName = "USER"

// HideUsers replaces the names of users in paths: the part after one of homes, between slashes or
// backslashes. These may be doubled, as in JSON.
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

// afterHome returns the offset at which a user's name begins if one of homes is at offset i, else
// -1.
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

// endsName reports whether a byte ends a user's name in a path. Spaces do not.
func endsName(c byte) bool { return c < ' ' || strings.IndexByte(`/\:*?"<>|`, c) >= 0 }
