package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/view"
)

// Readers is the way to the full engine. The one that every page starts with reads dumps and symbol files; the other one reads
// binaries and more kinds of compressed files, is larger, and is fetched when the first of them is dropped.
type Readers struct {
	state       readers
	done, total int64
	files       []File // that wait for it
}

type readers int

const (
	readersNone readers = iota
	readersComing
	readersHere
)

// wantReaders keeps a file that only the full engine can read until that is here. Without a file it is wanted for the programs in a dump.
func (p *Page) wantReaders(f ...File) {
	p.Readers.files = append(p.Readers.files, f...)
	if p.Readers.state == readersNone {
		p.Readers.state, p.Readers.done, p.Readers.total = readersComing, 0, 0
		p.Host.Announce("Loading the reader for " + waitingNames(p.Readers.files))
		p.Engine.Extend()
	}
}

// Extending says how many bytes of the full engine have come; total is 0 if it is not known.
func (p *Page) Extending(done, total int64) { p.Readers.done, p.Readers.total = done, total }

// Extended says that the full engine can be started, or what the problem was. It gets all files, those that the other
// one has read first; what is on the screen stays until there is something else to show.
func (p *Page) Extended(problem string) {
	if p.Readers.state != readersComing {
		return
	}
	waiting := p.Readers.files
	p.Readers = Readers{state: readersHere}
	if problem != "" {
		p.Readers.state = readersNone
		p.say("warning", fmt.Sprintf("%s cannot be read: the part of Crashpane that reads such files could not be loaded (%s). Drop it again to try again.",
			waitingNames(waiting), view.Clean(problem)))
		// They are among the files, where it stands what they are.
		p.accepted = append(p.accepted, waiting...)
		return
	}
	if p.reading != nil {
		waiting = append(waiting, p.reading)
		p.reading = nil
	}
	waiting = append(waiting, p.queue...)
	p.queue = nil
	if !p.dead {
		p.Engine.Restart()
	}
	p.revive()
	for list, e := range p.editions {
		// Its reports are counted anew.
		e.Revision = -1
		p.editions[list] = e
	}
	p.queue = append(p.queue, waiting...)
	p.Job.Total += len(waiting)
	p.next()
}

// stopReaders gives up loading, and answers how many files waited for it.
func (p *Page) stopReaders() int {
	if p.Readers.state != readersComing {
		return 0
	}
	p.Engine.StopExtending()
	n := len(p.Readers.files)
	p.Readers = Readers{}
	return n
}

// waitingNames is "libfoo.so.debug", or how many there are.
func waitingNames(files_ []File) string {
	if len(files_) == 0 {
		return "the programs in the dump"
	}
	if len(files_) == 1 {
		return view.Clean(view.BaseName(files_[0].Name()))
	}
	return files(len(files_))
}

// Busy reports whether there is work that can be cancelled.
func (p *Page) Busy() bool {
	return p.Job.Active || p.Readers.state == readersComing || p.Making.name != "" || p.Sources.running > 0 || p.listing.stop != nil
}

// jobText says what goes on.
func (p *Page) jobText() string {
	switch {
	case p.Job.Active:
		return p.Job.Text
	case p.listing.stop != nil:
		return "Looking for files: " + view.Number(p.listing.found) + " so far"
	case p.Sources.running > 0:
		return p.askingText()
	case p.Readers.state != readersComing:
		return p.Making.text
	}
	text := "Loading the reader for " + waitingNames(p.Readers.files)
	if p.Readers.done > 0 {
		text += ", " + view.Size(p.Readers.done)
	}
	return text
}
