package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// status describes the state of a request.
func (a *Asked) status() string {
	text := a.Text
	switch a.State {
	case askedWaiting:
		text = "waiting"
	case askedRunning:
		if text = "asking"; a.done > 0 {
			text = "receiving, " + rows.Size(a.done)
			if a.total > 0 {
				text += " of " + rows.Size(a.total)
			}
		}
	}
	if a.At != "" {
		text += "; redirected to " + rows.Clean(a.At)
	}
	return "    " + text
}

// readAllText is the text of the button that fetches all of a file which is read in parts.
func readAllText(a *Asked) string {
	return fmt.Sprintf("Read all of %s (%s)", rows.BaseName(a.URL), rows.Size(a.file.Size()))
}
