package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/view"
)

// status describes the state of a request.
func (a *Asked) status() string {
	text := a.Text
	switch a.State {
	case askedWaiting:
		text = "waiting"
	case askedRunning:
		if text = "asking"; a.done > 0 {
			text = "receiving, " + view.Size(a.done)
			if a.total > 0 {
				text += " of " + view.Size(a.total)
			}
		}
	}
	if a.At != "" {
		text += "; redirected to " + view.Clean(a.At)
	}
	return "    " + text
}

// readAllText is the text of the button that fetches all of a file which is read in parts.
func readAllText(a *Asked) string {
	return fmt.Sprintf("Read all of %s (%s)", view.BaseName(a.URL), view.Size(a.file.Size()))
}
