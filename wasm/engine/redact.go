package engine

import "github.com/crashpane/crashpane/walker/report"

// With Call.Redact, which the host page sets, the engine leaves private data out:
//
//   - It does not make the command line, the environment and the contents of streams, nor explanations, which quote words of the stack.
//   - It hides the texts that the program has left in the dump, and the names of open objects (report.Redacted).
//   - In every text that leaves the engine, exports included, it replaces the names of users in paths (report.HideUsers).

// setRedact applies a call's Redact. If that has changed, it drops the views, which were made with
// the other value.
func (e *Engine) setRedact(on bool) {
	if e.redact == on {
		return
	}
	e.redact = on
	clear(e.views)
	e.memories = memories{}
}

// Text returns the function that replaces each text that leaves the engine, or nil.
func (e *Engine) Text() func(string) string {
	if !e.redact {
		return nil
	}
	return report.HideUsers
}
