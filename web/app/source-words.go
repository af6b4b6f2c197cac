package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/view"
)

func (a *Asked) says() string {
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

func readAllText(a *Asked) string {
	return fmt.Sprintf("Read all of %s (%s)", view.BaseName(a.URL), view.Size(a.file.Size()))
}
