package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/view"
)

// Readers is the way to the full engine. The one that every page starts with reads dumps and symbol files; the other one reads
// binaries and more kinds of compressed files, is larger, and is fetched when the first of them is dropped.
type Readers struct {
	page        *Page
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

// want keeps a file that only the full engine can read until that is here. Without a file it is wanted for the programs in a dump.
func (z *Readers) want(f ...File) {
	z.files = append(z.files, f...)
	if z.state == readersNone {
		z.state, z.done, z.total = readersComing, 0, 0
		z.page.Host.Announce("Loading the reader for " + waitingNames(z.files))
		z.page.Engine.Extend()
	}
}

// Extending says how many bytes of the full engine have come; total is 0 if it is not known.
func (z *Readers) Extending(done, total int64) { z.done, z.total = done, total }

// Extended says that the full engine can be started, or what the problem was. It gets all files, those that the other
// one has read first; what is on the screen stays until there is something else to show.
func (z *Readers) Extended(problem string) {
	if z.state != readersComing {
		return
	}
	waiting := z.files
	*z = Readers{page: z.page, state: readersHere}
	if problem != "" {
		z.state = readersNone
		z.page.Notices.say("warning", fmt.Sprintf("Crashpane could not load its reader for %s (%s). To try again, add the files again.",
			waitingNames(waiting), view.Clean(problem)))
		// They are among the files, where it stands what they are.
		z.page.Reading.accepted = append(z.page.Reading.accepted, waiting...)
		return
	}
	if z.page.Reading.reading != nil {
		waiting = append(waiting, z.page.Reading.reading)
		z.page.Reading.reading = nil
	}
	waiting = append(waiting, z.page.Reading.queue...)
	z.page.Reading.queue = nil
	if !z.page.Reading.dead {
		z.page.Engine.Restart()
	}
	z.page.Reading.revive()
	z.page.Screen.countAnew()
	z.page.Reading.queue = append(z.page.Reading.queue, waiting...)
	z.page.Reading.Job.Total += len(waiting)
	z.page.Reading.next()
}

// stop gives up loading, and answers how many files waited for it.
func (z *Readers) stop() int {
	if z.state != readersComing {
		return 0
	}
	z.page.Engine.StopExtending()
	n := len(z.files)
	*z = Readers{page: z.page}
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
