package engine

import (
	"strings"
)

// With Call.Redact, which the host page sets, the engine leaves private data out:
//
//   - It does not make the command line, the environment and the contents of streams, nor explanations, which quote words of the stack.
//   - It hides the texts that the program has left in the dump, and the names of open objects (report.Redacted).
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
