package app

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Job is the long work that the page waits for.
type Job struct {
	Active      bool
	Text        string
	Done, Total int    // files
	Percent     int    // of the file, or -1
	shown       bool   // a dump of the job was opened
	told        string // of Text, what was drawn
	began       moment
	known       int // how many of the files were read before, by a worker that is gone
}

// Reading has the engine read files, one after the other, and knows which it has read: a new engine gets them all again.
type Reading struct {
	page     *Page
	Job      Job
	listing  listing
	queue    []File
	reading  File
	accepted []File
	jobStart int                // how many were accepted when the present job began
	unsaid   []protocol.FileRow // whose problems are still to be said
	decided  []protocol.Request // assignments and policy, to be said again to a new engine
	dead     bool               // the engine
	fragile  bool               // the engine died and has not shown since that it can do without
	replay   bool               // the files of the queue are known and read again
	drawn    moment             // the progress of a job, last
}

// waits reports whether there are files that are not read yet.
func (z *Reading) waits() bool { return z.reading != nil || len(z.queue) > 0 }

// Add reads files, in the order that shows a stack soonest: what is named as a dump first, then the small ones. What a
// file is, its content says; the name only decides the order.
func (z *Reading) Add(files []File) {
	if len(files) == 0 {
		return
	}
	files = inOrder(files)
	// What was said of earlier files stands in the Files tab.
	z.page.Notices.List = nil
	z.page.Work.Exact.stopped = false
	if !z.Job.Active {
		z.jobStart = len(z.accepted)
	}
	if z.dead {
		z.revive()
	}
	z.queue = append(z.queue, files...)
	z.Job.Total += len(files)
	z.next()
}

// inOrder sorts files; what they are is found out once for each.
func inOrder(files []File) []File {
	var dumps, others []File
	for _, f := range files {
		if looksLikeDump(f.Name()) {
			dumps = append(dumps, f)
		} else {
			others = append(others, f)
		}
	}
	sort.SliceStable(dumps, func(i, j int) bool { return dumps[i].Size() < dumps[j].Size() })
	sort.SliceStable(others, func(i, j int) bool { return others[i].Size() < others[j].Size() })
	return append(dumps, others...)
}

func looksLikeDump(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".dmp") || strings.HasSuffix(name, ".mdmp")
}

// next sends the next file of the queue. One at a time, so that what is already read can be shown in between, and so that
// it is known which file a dead worker was reading.
func (z *Reading) next() {
	if z.reading != nil {
		return
	}
	if len(z.queue) == 0 {
		if z.Job.Active {
			z.finish()
		}
		return
	}
	if (z.page.Screen.asking || z.page.Summary != nil && z.page.Screen.dirty[&z.page.Frame]) && z.page.Frame.Detail == nil && len(z.page.Dumps.List) > 0 && takesLong(z.queue[0]) {
		return // the engine answers in turn, and the first screen is on its way; looked goes on
	}
	z.reading, z.queue = z.queue[0], z.queue[1:]
	if !z.Job.Active {
		z.Job.began = now()
	}
	z.Job.Active = true
	z.Job.Text, z.Job.Percent = "Reading "+view.Clean(view.BaseName(z.reading.Name())), -1
	z.page.Stack.hideHints()
	z.page.send(z.addRequest(z.reading), z.reading)
	z.tellProgress()
}

// takesLong: an archive that is unpacked for seconds. Symbol files of any size are only searched.
func takesLong(f File) bool { return isPacked(f) && f.Size() > 1<<20 }

func isPacked(f File) bool {
	name := strings.ToLower(f.Name())
	for _, end := range []string{".gz", ".zip", ".zst", ".xz", ".cab"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// added takes the answer to a file.
func (z *Reading) added(r *protocol.Added, problem string) {
	if z.reading == nil {
		return
	}
	needs := r.NeedsReader && z.page.Work.Readers.state != readersHere
	asked := z.page.Work.Downloads.took(z.reading, r, problem)
	switch {
	case problem != "" && asked: // it stands where it was asked for
	case problem != "":
		z.page.Notices.say("error", problem)
	case needs:
		z.page.Work.Readers.want(z.reading)
	default:
		z.accepted = append(z.accepted, z.reading)
		if len(r.Items) > 0 {
			z.page.Work.Exact.sources[r.Items[0].Item] = z.reading
		}
	}
	if r.HoldsPrograms {
		z.page.Work.Readers.want()
	}
	z.page.Work.Making.know(z.reading, r.Items)
	z.reading = nil
	z.Job.Done++
	if !z.replay && !needs {
		z.unsaid = append(z.unsaid, r.Items...)
	}
	// The first dump of a job is shown as soon as it is there; those that come with it are in the switcher.
	first := len(z.page.Dumps.List) == 0 && len(r.Dumps) > 0
	newest := len(r.Dumps) > len(z.page.Dumps.List) && !first && !z.Job.shown
	z.Job.shown = z.Job.shown || first || newest
	newDump := len(z.page.Dumps.List)
	z.page.Dumps.List = r.Dumps
	if len(z.page.Dumps.List) > 0 {
		z.complain()
	}
	if z.replay && z.Job.Done >= z.Job.known {
		z.replay = false
		for _, d := range z.decided {
			z.page.send(d, nil)
		}
	}
	switch {
	case first:
		z.page.Dumps.show(z.page.Dumps.named(z.page.State.DumpName), z.page.State.DumpName != "" && z.page.Dumps.has(z.page.State.DumpName))
	case r.Same > 0 && !z.replay:
		z.page.Dumps.again(r)
	case newest && !z.replay:
		z.page.Dumps.show(r.Dumps[newDump].Dump, false)
	}
	if z.page.Summary != nil && z.page.Frame.Detail == nil { // the first question does not know of this file, the second one does
		for _, zone := range z.page.Screen.stack() {
			z.page.Screen.dirty[zone] = true
		}
	}
	z.page.Screen.ask() // if the first screen has waited for this file
	z.next()
}

// complain says what could not be used. The Files tab has the details; here is one line a file, or one for many. Without a dump the start page
// lists these files, so nothing is above it.
func (z *Reading) complain() {
	items := z.unsaid
	z.unsaid = nil
	for _, it := range items {
		text := ""
		switch {
		case !it.Usable && it.Message != "":
			text = it.Message
		case it.Assign:
			text = it.Name + " has no MODULE line, so it is not known whose symbols it holds. Assign it in the Files tab."
		}
		switch {
		case text == "":
		case len(z.page.Dumps.List) == 0 && !it.Usable:
			z.page.Host.Announce(text)
			z.page.Around.tell(Event{Kind: EventError, Level: "warning", Text: text})
		default:
			z.page.Notices.say("warning", text)
			if it.Assign {
				z.page.Notices.offer("show", "files", "Show the files")
			}
		}
	}
}

// finish ends a job and shows the result.
func (z *Reading) finish() {
	job := z.Job
	z.Job = Job{}
	if z.page.Screen.held != nil { // the first screen is still to come
		z.Job = Job{Active: true, Text: job.Text, Percent: -1, began: job.began}
	}
	z.page.Screen.askAll()
	rejected := len(z.unsaid) > 0 && !z.unsaid[len(z.unsaid)-1].Usable
	z.complain()
	if len(z.page.Dumps.List) == 0 && job.Done > 0 && !rejected && len(z.page.Notices.List) == 0 && z.page.Work.Readers.state != readersComing {
		z.page.Notices.say("note", fmt.Sprintf("Read %s. Now drop the crash dump that the symbols belong to.", files(job.Done)))
	}
	z.page.Host.Announce(fmt.Sprintf("%s read", files(job.Done)))
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return view.Number(n) + " files"
}

// Cancel ends the work that runs: the worker goes, and a new one gets the files that were read before.
func (z *Reading) Cancel() {
	if !z.page.Work.Busy() {
		return
	}
	if !z.Job.Active && (z.stopListing() || z.page.Work.Making.stop()) {
		return
	}
	stopped := z.page.Work.Readers.stop() + z.page.Work.Downloads.stop()
	if !z.Job.Active {
		z.page.Notices.say("note", fmt.Sprintf("Cancelled: %s left out.", files(stopped)))
		return
	}
	stopped += len(z.queue)
	if z.reading != nil {
		stopped++
	} else {
		// All files are known, and the stacks are being walked with them, which reads the symbols, and unpacks them. Only without the
		// archives of this job, or if there are none without all of its files, is that not begun again at once.
		from := min(z.jobStart, len(z.accepted))
		kept := slices.DeleteFunc(slices.Clone(z.accepted[from:]), takesLong)
		if len(kept) == len(z.accepted)-from {
			kept = nil
		}
		stopped += len(z.accepted) - from - len(kept)
		z.accepted = append(z.accepted[:from:from], kept...)
	}
	z.queue, z.reading, z.Job = nil, nil, Job{}
	z.page.Engine.Restart()
	z.revive()
	if len(z.queue) == 0 {
		z.forget()
	}
	z.page.Notices.say("note", fmt.Sprintf("Cancelled: %s left out.", files(stopped)))
	z.next()
}

// listing is the work of finding out what files a drop has; stop is nil while there is none.
type listing struct {
	found int
	stop  func()
}

// Listing says that folders are being looked through, how many files there are so far, and what stops it; without stop it is over.
func (z *Reading) Listing(found int, stop func()) { z.listing = listing{found, stop} }

func (z *Reading) stopListing() bool {
	if z.listing.stop == nil {
		return false
	}
	z.listing.stop()
	z.listing = listing{}
	z.page.Notices.say("note", "Cancelled: what was dropped last is left out.")
	return true
}

// forget goes back to the start, when the engine knows no file any more.
func (z *Reading) forget() {
	z.page.forget()
	z.page.Dumps.List, z.page.Dumps.Open, z.page.Summary = nil, 0, nil
	clear(z.page.Screen.dirty)
	z.page.Threads.ThreadPage, z.page.Stack.StackPage, z.page.Frame.Detail = view.ThreadPage{}, view.StackPage{}, nil
	z.page.Panel.empty()
	z.page.Host.SetTitle(z.page.Dumps.documentTitle())
}

// revive gives a new worker the files that were read, and says the decisions again.
func (z *Reading) revive() {
	if z.dead {
		z.page.Engine.Restart()
	}
	if z.page.Screen.asking { // no answer will come
		for _, zone := range z.page.Screen.zones {
			z.page.Screen.dirty[zone] = true
		}
	}
	z.dead, z.page.Screen.asking, z.page.Screen.held, z.page.Around.told = false, false, nil, protocol.Edition{}
	z.page.Work.Exact.forget()
	z.page.Work.Exports.forget()
	z.queue = append(append([]File{}, z.accepted...), z.queue...)
	z.accepted = nil
	z.Job = Job{Total: len(z.queue), Active: len(z.queue) > 0, began: now(), known: len(z.queue)}
	z.replay = len(z.queue) > 0
	if !z.replay {
		for _, d := range z.decided {
			z.page.send(d, nil)
		}
	}
}

// EngineStopped is called when the worker died. The page lives; the next drop starts a new one.
func (z *Reading) EngineStopped(why string) {
	if z.dead {
		return
	}
	text := "The engine stopped: " + view.Clean(why) + "."
	if z.reading != nil {
		text += " It was reading " + view.Clean(z.reading.Name()) + "."
	}
	switch {
	case z.replay, z.fragile:
		// It dies of a file that was read before: begin afresh instead of dying again at every drop.
		z.accepted, z.decided = nil, nil
		text += " Drop the files again to go on."
	case len(z.accepted) > 0:
		text += " The files read before come back with the next drop."
	}
	z.page.Work.Exact.forget()
	z.page.Work.Exports.forget()
	left := len(z.queue)
	z.dead, z.fragile, z.page.Screen.asking, z.replay = true, true, false, false
	z.queue, z.reading, z.Job = nil, nil, Job{}
	z.page.Notices.say("error", text)
	z.page.Screen.letOut(z.page.Screen.held)
	z.page.Around.told = protocol.Edition{}
	z.page.Around.tell(Event{Kind: EventIdle, Mark: z.page.Around.Mark})
	if left > 0 && len(z.accepted) > 0 {
		z.page.Notices.say("warning", fmt.Sprintf("%s after it were not read.", files(left)))
	}
}

// progress takes a report from within a long step.
func (z *Reading) progress(g protocol.Progress) (draw bool) {
	if !z.Job.Active {
		z.Job = Job{Active: true, Percent: -1, began: now()}
	}
	text := capital(g.Stage)
	if g.Name != "" {
		text += " " + view.Clean(view.BaseName(g.Name))
	}
	was := z.page.Work.value()
	z.Job.Text, z.Job.Percent = text, -1
	if g.Total > 0 {
		z.Job.Percent = int(min(100, g.Done*100/g.Total))
	}
	is := z.page.Work.value()
	draw = (was == nil) != (is == nil) || z.Job.told != text
	if was != nil && is != nil && was != is {
		z.page.Host.Progress("job-bar", is.(int))
	}
	z.tellProgress()
	// Work of a moment is over before anybody could read what it is.
	if z.Job.began.ago() < 200*time.Millisecond {
		return false
	}
	if draw {
		z.Job.told = text
	}
	return draw
}

// Count says which file of how many.
func (j Job) Count() string {
	if j.Total < 2 {
		return ""
	}
	return fmt.Sprintf("%s of %s", view.Number(min(j.Done+1, j.Total)), view.Number(j.Total))
}

func (z *Reading) tellProgress() {
	if z.Job.Active {
		z.page.Around.tell(Event{Kind: EventProgress, Text: z.Job.Text, Done: z.Job.Done, Total: z.Job.Total, Percent: z.Job.Percent})
	}
}

// Offer is Add by the hand of a person.
func (z *Reading) Offer(files []File) {
	if z.page.Around.TakesFiles() {
		z.Add(files)
	}
}

// symbolsText says that symbols are being read, "" if none are: what is missing is only known when all are there.
func (z *Reading) symbolsText() string {
	switch {
	case z.page.Summary == nil:
	case z.Job.Active && z.waits():
		if n := z.Job.Count(); n != "" {
			return "Reading symbols: file " + n
		}
		return "Reading symbols"
	case z.page.Work.Readers.state == readersComing, z.page.Work.Downloads.running > 0:
		return z.page.Work.text()
	}
	return ""
}

// decide posts a request that a new worker must hear again.
func (z *Reading) decide(req protocol.Request) {
	z.decided = append(z.decided, req)
	z.page.send(req, nil)
}

// HasFiles reports whether files would be lost with the page.
func (z *Reading) HasFiles() bool { return z.reading != nil || len(z.accepted)+len(z.queue) > 0 }

// addRequest is the request that reads a file. What a server sent may be nothing but the symbol file that it was asked for.
func (z *Reading) addRequest(f File) *protocol.Add {
	req := &protocol.Add{Name: f.Name()}
	for _, a := range z.page.Work.Downloads.Asked {
		if a.file == f {
			req.Symbols, req.DebugID = true, a.ID
		}
	}
	return req
}

// without begins the engine again with all files but one.
func (z *Reading) without(f File) {
	for i := range z.accepted {
		if z.accepted[i] == f {
			z.accepted = append(z.accepted[:i:i], z.accepted[i+1:]...)
			break
		}
	}
	if z.reading != nil {
		z.queue = append([]File{z.reading}, z.queue...)
		z.reading = nil
	}
	if !z.dead {
		z.page.Engine.Restart()
	}
	z.revive()
	z.page.Screen.countAnew()
	z.next()
	z.page.Screen.askAll()
}

// forced is the file that was last assigned to a module of this dump, or -1.
func (z *Reading) forced(module int) int {
	item := -1
	for _, d := range z.decided {
		switch d := d.(type) {
		case *protocol.Assign:
			if d.Dump == z.page.Dumps.Open && d.Module == module {
				item = d.Item
			}
		case *protocol.Unassign:
			if d.Dump == z.page.Dumps.Open && d.Module == module {
				item = -1
			}
		}
	}
	return item
}
