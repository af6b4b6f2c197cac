package servers

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
)

// Request is a request for a symbol file.
type Request struct {
	URL, ID string
	Else    string // requested if the server has nothing at URL, or ""
	At      string // where the server redirected to, or ""
	State   State
	Text    string // the result, in words
	file    host.File
	item    int  // its number in the engine, -1 while the engine has not read it
	all     bool // the user wants all of a file that is read in parts
	done    int64
	total   int64
	stop    func()
	token   string
	again   bool // it changed on the server, and was requested once more
	absent  bool // the server does not have it
}

// State is how far a request is.
type State int

// States of a request.
const (
	Waiting State = iota
	Running
	Received // received
	Partial  // available, and read in parts
	Failed   // failed, or cancelled
)

// status describes the state of a request.
func (a *Request) status() string {
	text := a.Text
	switch a.State {
	case Waiting:
		text = "waiting"
	case Running:
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
