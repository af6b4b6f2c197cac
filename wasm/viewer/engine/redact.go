package engine

import "strings"

// What an engine leaves out when a page around the viewer asks for it (Request.Redact): the command line, the environment and the
// contents of streams are not made at all, nor are explanations, which quote words of the stack; and in every text that leaves the
// engine, exports among them, the names of users in paths are replaced.

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
