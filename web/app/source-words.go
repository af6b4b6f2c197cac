package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/view"
)

func (a *Asked) says() string {
	text := a.Text
	switch a.State {
	case askedWaiting:
		text = "waits"
	case askedRunning:
		if text = "is asked"; a.done > 0 {
			text = "comes, " + view.Size(a.done)
			if a.total > 0 {
				text += " of " + view.Size(a.total)
			}
		}
	}
	if a.At != "" {
		text += "; by way of " + view.Clean(a.At)
	}
	return "    " + text
}

func readAllText(a *Asked) string {
	return fmt.Sprintf("Read all of %s, %s", view.BaseName(a.URL), view.Size(a.file.Size()))
}
