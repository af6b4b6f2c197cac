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

// Add reads files, in the order that shows a stack soonest: what is named as a dump first, then the small ones. What a
// file is, its content says; the name only decides the order.
func (p *Page) Add(files []File) {
	if len(files) == 0 {
		return
	}
	files = inOrder(files)
	// What was said of earlier files stands in the Files tab.
	p.Notices = nil
	p.Exact.stopped = false
	if !p.Job.Active {
		p.jobStart = len(p.accepted)
	}
	if p.dead {
		p.revive()
	}
	p.queue = append(p.queue, files...)
	p.Job.Total += len(files)
	p.next()
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
func (p *Page) next() {
	if p.reading != nil {
		return
	}
	if len(p.queue) == 0 {
		if p.Job.Active {
			p.finish()
		}
		return
	}
	if (p.asking || p.Summary != nil && p.dirty&partFrame != 0) && p.Frame == nil && len(p.Dumps) > 0 && takesLong(p.queue[0]) {
		return // the engine answers in turn, and the first screen is on its way; looked goes on
	}
	p.reading, p.queue = p.queue[0], p.queue[1:]
	if !p.Job.Active {
		p.Job.began = time.Now()
	}
	p.Job.Active = true
	p.Job.Text, p.Job.Percent = "Reading "+view.Clean(view.BaseName(p.reading.Name())), -1
	p.hideHints()
	p.send(p.addRequest(p.reading), p.reading)
	p.tellProgress()
}

// takesLong: an archive that is unpacked for seconds. Symbol files of any size are only searched.
func takesLong(f File) bool { return isPacked(f) && f.Size() > 1<<20 }

func isPacked(f File) bool {
	name := strings.ToLower(f.Name())
	for _, end := range []string{".gz", ".zip", ".zst", ".xz"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// added takes the answer to a file.
func (p *Page) added(r *protocol.Added, problem string) {
	if p.reading == nil {
		return
	}
	needs := r.NeedsReader && p.Readers.state != readersHere
	asked := p.tookFile(p.reading, r, problem)
	switch {
	case problem != "" && asked: // it stands where it was asked for
	case problem != "":
		p.say("error", problem)
	case needs:
		p.wantReaders(p.reading)
	default:
		p.accepted = append(p.accepted, p.reading)
		if len(r.Items) > 0 {
			p.Exact.sources[r.Items[0].Item] = p.reading
		}
	}
	if r.HoldsPrograms {
		p.wantReaders()
	}
	p.knowBinaries(p.reading, r.Items)
	p.reading = nil
	p.Job.Done++
	if !p.replay && !needs {
		p.unsaid = append(p.unsaid, r.Items...)
	}
	// The first dump of a job is shown as soon as it is there; those that come with it are in the switcher.
	first := len(p.Dumps) == 0 && len(r.Dumps) > 0
	newest := len(r.Dumps) > len(p.Dumps) && !first && !p.Job.shown
	p.Job.shown = p.Job.shown || first || newest
	newDump := len(p.Dumps)
	p.Dumps = r.Dumps
	if len(p.Dumps) > 0 {
		p.complain()
	}
	if p.replay && p.Job.Done >= p.Job.known {
		p.replay = false
		for _, d := range p.decided {
			p.send(d, nil)
		}
	}
	switch {
	case first:
		p.open(p.dumpNamed(p.State.DumpName), p.State.DumpName != "" && p.has(p.State.DumpName))
	case r.Same > 0 && !p.replay:
		p.again(r)
	case newest && !p.replay:
		p.open(r.Dumps[newDump].Dump, false)
	}
	if p.Summary != nil && p.Frame == nil { // the first question does not know of this file, the second one does
		p.dirty |= partSummary | partThreads | partStack
	}
	p.ask(0) // if the first screen has waited for this file
	p.next()
}

// complain says what could not be used. The Files tab has the details; here is one line a file, or one for many. Without a dump the start page
// lists these files, so nothing is above it.
func (p *Page) complain() {
	items := p.unsaid
	p.unsaid = nil
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
		case len(p.Dumps) == 0 && !it.Usable:
			p.Host.Announce(text)
			p.tell(Event{Kind: EventError, Level: "warning", Text: text})
		default:
			p.say("warning", text)
			if it.Assign {
				p.offer("show", "files", "Show the files")
			}
		}
	}
}

// finish ends a job and shows the result.
func (p *Page) finish() {
	job := p.Job
	p.Job = Job{}
	if p.held != nil { // the first screen is still to come
		p.Job = Job{Active: true, Text: job.Text, Percent: -1, began: job.began}
	}
	p.ask(partsAll)
	rejected := len(p.unsaid) > 0 && !p.unsaid[len(p.unsaid)-1].Usable
	p.complain()
	if len(p.Dumps) == 0 && job.Done > 0 && !rejected && len(p.Notices) == 0 && p.Readers.state != readersComing {
		p.say("note", fmt.Sprintf("Read %s. Now drop the crash dump that the symbols belong to.", files(job.Done)))
	}
	p.Host.Announce(fmt.Sprintf("%s read", files(job.Done)))
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return view.Number(n) + " files"
}

// Cancel ends the work that runs: the worker goes, and a new one gets the files that were read before.
func (p *Page) Cancel() {
	if !p.Busy() {
		return
	}
	if !p.Job.Active && (p.stopListing() || p.stopMaking()) {
		return
	}
	stopped := p.stopReaders() + p.stopAsking()
	if !p.Job.Active {
		p.say("note", fmt.Sprintf("Cancelled: %s left out.", files(stopped)))
		return
	}
	stopped += len(p.queue)
	if p.reading != nil {
		stopped++
	} else {
		// All files are known, and the stacks are being walked with them, which reads the symbols, and unpacks them. Only without the
		// archives of this job, or if there are none without all of its files, is that not begun again at once.
		from := min(p.jobStart, len(p.accepted))
		kept := slices.DeleteFunc(slices.Clone(p.accepted[from:]), takesLong)
		if len(kept) == len(p.accepted)-from {
			kept = nil
		}
		stopped += len(p.accepted) - from - len(kept)
		p.accepted = append(p.accepted[:from:from], kept...)
	}
	p.queue, p.reading, p.Job = nil, nil, Job{}
	p.Engine.Restart()
	p.revive()
	if len(p.queue) == 0 {
		p.forget()
	}
	p.say("note", fmt.Sprintf("Cancelled: %s left out.", files(stopped)))
	p.next()
}

// listing is the work of finding out what files a drop has; stop is nil while there is none.
type listing struct {
	found int
	stop  func()
}

// Listing says that folders are being looked through, how many files there are so far, and what stops it; without stop it is over.
func (p *Page) Listing(found int, stop func()) { p.listing = listing{found, stop} }

func (p *Page) stopListing() bool {
	if p.listing.stop == nil {
		return false
	}
	p.listing.stop()
	p.listing = listing{}
	p.say("note", "Cancelled: what was dropped last is left out.")
	return true
}

// forget goes back to the start, when the engine knows no file any more.
func (p *Page) forget() {
	p.forgetRaw()
	p.Dumps, p.Summary, p.Frame, p.Listed, p.Dump, p.dirty = nil, nil, nil, false, 0, 0
	p.Threads, p.Stack, p.Modules, p.Wanted, p.Files = view.ThreadPage{}, view.StackPage{}, view.ModulePage{}, view.WantedPage{}, protocol.FilePage{}
	p.Host.SetTitle(p.title())
}

// revive gives a new worker the files that were read, and says the decisions again.
func (p *Page) revive() {
	if p.dead {
		p.Engine.Restart()
	}
	if p.asking { // no answer will come
		p.dirty |= partsAll
	}
	p.dead, p.asking, p.held, p.told = false, false, nil, protocol.Edition{}
	p.forgetExact()
	p.forgetExports()
	p.queue = append(append([]File{}, p.accepted...), p.queue...)
	p.accepted = nil
	p.Job = Job{Total: len(p.queue), Active: len(p.queue) > 0, began: time.Now(), known: len(p.queue)}
	p.replay = len(p.queue) > 0
	if !p.replay {
		for _, d := range p.decided {
			p.send(d, nil)
		}
	}
}

// EngineStopped is called when the worker died. The page lives; the next drop starts a new one.
func (p *Page) EngineStopped(why string) {
	if p.dead {
		return
	}
	text := "The engine stopped: " + view.Clean(why) + "."
	if p.reading != nil {
		text += " It was reading " + view.Clean(p.reading.Name()) + "."
	}
	switch {
	case p.replay, p.fragile:
		// It dies of a file that was read before: begin afresh instead of dying again at every drop.
		p.accepted, p.decided = nil, nil
		text += " Drop the files again to go on."
	case len(p.accepted) > 0:
		text += " The files read before come back with the next drop."
	}
	p.forgetExact()
	p.forgetExports()
	left := len(p.queue)
	p.dead, p.fragile, p.asking, p.replay = true, true, false, false
	p.queue, p.reading, p.Job = nil, nil, Job{}
	p.say("error", text)
	p.letOut(p.held)
	p.told = protocol.Edition{}
	p.tell(Event{Kind: EventIdle, Mark: p.Mark})
	if left > 0 && len(p.accepted) > 0 {
		p.say("warning", fmt.Sprintf("%s after it were not read.", files(left)))
	}
}

// progress takes a report from within a long step.
func (p *Page) progress(g protocol.Progress) (draw bool) {
	if !p.Job.Active {
		p.Job = Job{Active: true, Percent: -1, began: time.Now()}
	}
	text := capital(g.Stage)
	if g.Name != "" {
		text += " " + view.Clean(view.BaseName(g.Name))
	}
	was := p.jobValue()
	p.Job.Text, p.Job.Percent = text, -1
	if g.Total > 0 {
		p.Job.Percent = int(min(100, g.Done*100/g.Total))
	}
	is := p.jobValue()
	draw = (was == nil) != (is == nil) || p.Job.told != text
	if was != nil && is != nil && was != is {
		p.Host.Progress("job-bar", is.(int))
	}
	p.tellProgress()
	// Work of a moment is over before anybody could read what it is.
	if time.Since(p.Job.began) < 200*time.Millisecond {
		return false
	}
	if draw {
		p.Job.told = text
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

// closeDump leaves the open dump out. Its symbols stay: they may be those of another one.
func (p *Page) closeDump() {
	if !p.Empty() {
		p.decide(&protocol.CloseDump{Dump: p.Dump})
	}
}

// closed takes the dumps that are left, and shows one of them if the closed one was shown.
func (p *Page) closed(r *protocol.Closed) {
	p.Dumps = r.Dumps
	for _, d := range p.Dumps {
		if d.Dump == p.Dump {
			return
		}
	}
	if len(p.Dumps) > 0 {
		p.open(p.Dumps[0].Dump, false)
		return
	}
	p.forget()
	p.State.DumpName = ""
	p.address()
	p.ask(partFiles)
}

// again shows a dump that was there already, which the user may have closed, and says so.
func (p *Page) again(r *protocol.Added) {
	same := r.Same - 1
	p.decided = slices.DeleteFunc(p.decided, func(d protocol.Request) bool {
		c, ok := d.(*protocol.CloseDump)
		return ok && c.Dump == same
	})
	for _, it := range r.Items {
		if it.Dump >= 0 && it.Message != "" {
			p.say("note", it.Message+".")
		}
	}
	if !p.Job.shown {
		p.Job.shown = true
		p.open(same, false)
	}
}

func (p *Page) has(name string) bool {
	for _, d := range p.Dumps {
		if d.Name == name {
			return true
		}
	}
	return false
}

// dumpNamed is the number of a dump, the first one if there is none of that name.
func (p *Page) dumpNamed(name string) int {
	for _, d := range p.Dumps {
		if d.Name == name {
			return d.Dump
		}
	}
	return p.Dumps[0].Dump
}
