package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/notices"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Job is the work that the user waits for: reading files and walking the first stack.
type Job struct {
	Active      bool
	Text        string
	Done, Total int    // files
	Percent     int    // of the file, or -1
	shown       bool   // a dump of the job was opened
	dumps       int    // how many dumps there were in the files
	table       bool   // the table of dumps was opened for them
	drawnText   string // the Text that was drawn last
	began       time.Time
	known       int // how many of the files were read before, by a worker that has ended
}

// Reading has the engine read files, one after the other. It keeps a list of those that were read,
// because a new engine must read them all again.
type Reading struct {
	page       *Page
	Job        Job
	listing    listing
	queue      []host.File
	reading    host.File // may be a Parcel
	accepted   []host.File
	leaving    Leaving
	jobStart   int                // length of accepted when the present job began
	unreported []protocol.FileRow // files whose problems are not shown yet
	stopped    bool               // the engine has died, and no new one was started
	fragile    bool               // the engine has died, and has not shown a dump since
	replay     bool               // the files of the queue were read before, and a new engine reads them again
	// announced is what was announced when the last job ended.
	announced string
	unused    map[string]bool // names of files that a notice has called unused
	anyway    map[string]bool // names of files that may unpack to more than usual
}

// waits reports whether there are files to read.
func (z *Reading) waits() bool { return z.reading != nil || len(z.queue) > 0 }

// Add reads files, in the order in which a stack is shown soonest: those named like dumps first,
// then the small ones. The name decides only the order; the engine recognizes a file by its
// content.
func (z *Reading) Add(files []host.File) {
	if len(files) == 0 {
		return
	}
	files = inOrder(files)
	// The Files tab still has the messages about earlier files.
	z.page.Notices.List = nil
	z.page.Work.Indexing.stopped = false
	if !z.Job.Active {
		z.jobStart = len(z.accepted)
	}
	if z.stopped {
		z.restore()
	}
	z.queue = append(z.queue, files...)
	z.Job.Total += len(files)
	z.page.Pace.step()
}

// send sends a file, or a Parcel, to the engine.
func (z *Reading) send(f host.File) {
	z.reading = f
	if !z.Job.Active {
		z.Job.began = time.Now()
	}
	z.Job.Active = true
	z.Job.Text, z.Job.Percent = "Reading "+rows.Clean(rows.BaseName(f.Name())), -1
	z.page.Stack.hideHints()
	if req := z.addRequest(f); req.Continue > 0 {
		z.page.send(req, nil)
	} else {
		z.page.send(req, f)
	}
	z.notifyProgress()
}

// added handles the engine's answer to a file.
func (z *Reading) added(r *protocol.Added, problem string) {
	if z.reading == nil {
		return
	}
	asked := z.page.Work.Downloads.Added(z.reading, r, problem)
	switch {
	case problem != "" && asked: // the list of requests has it
	case problem != "":
		z.page.Notices.Show("error", problem)
	default:
		z.accept(r)
	}
	z.page.Work.Making.addBinary(z.reading, r.Items)
	if r.Rest == 0 {
		z.Job.Done += len(Members(z.reading))
	}
	z.reading = nil
	if !z.replay {
		z.unreported = append(z.unreported, r.Items...)
	}
	// The first dump of a job is opened at once; the others are in the menu of dumps.
	first := len(z.page.Dumps.List) == 0 && len(r.Dumps) > 0
	newest := len(r.Dumps) > 0 && max(r.All, len(r.Dumps)) > len(z.page.Dumps.List) && !first && !z.Job.shown
	z.Job.shown = z.Job.shown || first || newest
	news := z.page.Menu.add(r)
	z.Job.dumps += len(news)
	if len(z.page.Dumps.List) > 0 {
		z.reportProblems()
	}
	if z.replay && z.Job.Done >= z.Job.known {
		z.page.repeatDecisions()
	}
	switch many := z.many(); {
	case first && many && !z.page.Address.follow():
		z.Job.table = true
		z.page.Table.show()
	case first:
		if !many && !z.page.Address.follow() {
			if what := z.page.Address.isAbout(); what != "" && !z.replay {
				z.page.Notices.Show("note", "This is not the dump of the address, which is "+what+".")
			}
			z.page.Menu.show(z.page.Dumps.List[0].Dump, false)
		}
	case newest && z.page.Address.follow():
	case r.Same > 0 && !z.replay && !many: // of many the list of files says it
		z.page.Menu.again(r)
	case newest && !z.replay && !many:
		z.page.Menu.show(news[0].Dump, false)
	case many && !z.Job.table && !z.replay:
		if z.Job.table = true; z.page.Screen.Top || z.page.Empty() {
			z.page.Table.show()
		}
	}
	z.page.Pace.fileRead(r.Rest > 0 && slices.ContainsFunc(r.Items, func(it protocol.FileRow) bool { return it.SymID != "" }))
}

// accept remembers the file that the engine has read, and what is left of it.
func (z *Reading) accept(r *protocol.Added) {
	file := z.reading
	if rest, ok := file.(*Rest); ok {
		file = rest.File
	} else {
		z.accepted, z.leaving.items[file] = append(z.accepted, file), nil
	}
	for _, it := range r.Items {
		z.leaving.items[file] = append(z.leaving.items[file], it.Item)
	}
	switch rest := (&Rest{file, r.Rest}); {
	case r.PutOff:
		z.queue = append(z.queue, rest)
	case r.Rest > 0:
		z.queue = append([]host.File{rest}, z.queue...)
	}
}

// fewDumps are dropped to be looked at; of more the table is shown first.
const fewDumps = 3

// many reports whether the job has more than fewDumps, as far as names tell it of files to be read. In a host page, which
// has a list of its own, the table is only shown if the user asks for it.
func (z *Reading) many() bool {
	if z.page.Inside {
		return false
	}
	n := z.Job.dumps
	for i := 0; i < len(z.queue) && n > 0 && n <= fewDumps; i++ {
		if looksLikeDump(z.queue[i].Name()) {
			n++
		}
	}
	return n > fewDumps
}

// reportProblems shows the files that Crashpane cannot use, with one notice for each folder. Without a dump there is
// none, since the start screen lists these files.
func (z *Reading) reportProblems() {
	items := z.unreported
	z.unreported = nil
	for _, it := range items {
		text := ""
		switch {
		case !it.Usable && it.Message != "", it.Refused:
			text = it.Message
		case it.Assign:
			text = it.Name + " has no MODULE line, so Crashpane does not know which module it belongs to. Assign it under Modules, Files."
		}
		switch {
		case text == "":
		case len(z.page.Dumps.List) == 0 && !it.Usable:
			z.page.Host.Announce(text)
			z.page.HostPage.notify(Event{Kind: EventError, Level: "warning", Text: text})
		default:
			folder, _, in := strings.Cut(it.Name, "/")
			if !in {
				folder = ""
			}
			switch {
			case it.Refused:
				z.page.Notices.Show("warning", text)
				z.page.Notices.Offer("anyway", it.Name, "Unpack it anyway")
			case it.Assign:
				z.page.Notices.ShowFile(notices.Trouble{Folder: folder, What: "have no MODULE line and can be assigned under Modules, Files"}, it.Name, text)
			default:
				z.page.Notices.ShowFile(notices.Trouble{Folder: folder, What: "cannot be used"}, it.Name, text)
			}
		}
	}
}

// tellUnused shows one notice about the symbol files and programs that no dump uses, once all files
// are read: until then the dump, or the program that they belong to, may still come.
func (z *Reading) tellUnused(list []protocol.FileRow) {
	if z.waits() {
		return
	}
	var news []protocol.FileRow
	for _, f := range list {
		if !z.unused[f.Name] {
			news = append(news, f)
		}
	}
	if len(news) == 0 {
		return
	}
	if z.unused == nil {
		z.unused = map[string]bool{}
	}
	for _, f := range news {
		z.unused[f.Name] = true
	}
	text := rows.BaseName(news[0].Name) + " is not used: " + news[0].Unused + "."
	if len(news) > 1 {
		text += " Modules, Files has more files that are not used."
	}
	z.page.Notices.Show("note", text)
	z.page.Notices.Offer("show", "files", "Show files")
	// The notice follows at once, and a screen reader reads the last announcement alone.
	z.page.Host.Announce(z.announced + ". " + text)
}

// finish ends a job and shows the result.
func (z *Reading) finish() {
	job := z.Job
	z.Job = Job{}
	if z.page.Pace.held != nil { // the first screen is not shown yet
		z.Job = Job{Active: true, Text: job.Text, Percent: -1, began: job.began}
	}
	z.page.Pace.unwalked = job.Done > 0
	z.page.Screen.AskAll()
	rejected := len(z.unreported) > 0 && !z.unreported[len(z.unreported)-1].Usable
	z.reportProblems()
	if len(z.page.Dumps.List) == 0 && job.Done > 0 && !rejected && len(z.page.Notices.List) == 0 {
		z.page.Notices.Show("note", fmt.Sprintf("Read %s. Now drop the crash dump that the symbols belong to.", words.Count(job.Done, "file")))
		z.page.Notices.Offer("outline", "-1", "Show their functions")
	}
	z.announced = fmt.Sprintf("%s read", words.Count(job.Done, "file"))
	z.page.Host.Announce(z.announced)
}

// Cancel ends the running work, and leaves out the files that it was for.
func (z *Reading) Cancel() {
	if !z.page.Work.Busy() {
		return
	}
	if !z.Job.Active && (z.stopListing() || z.page.Work.Making.stop()) {
		return
	}
	if z.reading == nil && len(z.queue) == 0 && z.page.Panel.Outline.stop() {
		z.Job = Job{}
		z.leaving.leave(&protocol.LeaveOut{})
		return
	}
	// Downloads end without a new engine, and so do files that wait for its program: stacks that are
	// walked meanwhile stay.
	stopped := z.page.Work.Downloads.Stop()
	if z.page.Work.Program.loading {
		stopped += len(z.queue)
		z.queue, z.Job = nil, Job{}
	}
	if !z.Job.Active || stopped > 0 && z.reading == nil && len(z.queue) == 0 {
		z.page.Notices.Show("note", fmt.Sprintf("Cancelled: %s left out.", words.Count(stopped, "file")))
		return
	}
	stopped += len(z.queue)
	_, isRest := z.reading.(*Rest)
	stays := ""
	if isRest || len(withoutRests(z.queue)) < len(z.queue) {
		stays = " What was unpacked of archives stays."
	}
	q := &protocol.LeaveOut{Last: z.reading != nil && !isRest}
	if z.reading != nil {
		stopped += len(Members(z.reading))
	} else {
		// All files are read, and the engine walks the stacks, for which it unpacks and reads
		// symbols. It would begin the same work again, so it goes on without the archives of this
		// drop, or if the drop had no archives, without its symbols, or else without all its files.
		from := min(z.jobStart, len(z.accepted))
		var kept []host.File
		for _, leaveOut := range []func(host.File) bool{takesLong, func(f host.File) bool { return !looksLikeDump(f.Name()) }} {
			if kept = slices.DeleteFunc(slices.Clone(z.accepted[from:]), leaveOut); len(kept) < len(z.accepted)-from {
				break
			}
			kept = nil
		}
		stopped += len(z.accepted) - from - len(kept)
		for _, f := range z.accepted[from:] {
			if !slices.Contains(kept, f) {
				q.Items = append(q.Items, z.leaving.items[f]...)
			}
		}
		z.accepted = append(z.accepted[:from:from], kept...)
	}
	z.queue, z.reading, z.Job = nil, nil, Job{}
	z.leaving.leave(q)
	z.page.Notices.Show("note", fmt.Sprintf("Cancelled: %s left out.%s", words.Count(stopped, "file"), stays))
}

// listing is the work of listing dropped folders; stop is nil while there is none.
type listing struct {
	found int
	stop  func()
}

// Listing shows that the host is listing folders: the number of files so far, and what cancels it.
// When it is over, stop is nil.
func (z *Reading) Listing(found int, stop func()) { z.listing = listing{found, stop} }

// stopListing cancels the listing, and reports whether there was one.
func (z *Reading) stopListing() bool {
	if z.listing.stop == nil {
		return false
	}
	z.listing.stop()
	z.listing = listing{}
	z.page.Notices.Show("note", "Cancelled: the last drop is left out.")
	return true
}

// forget goes back to the start screen, when the engine has no files any more.
func (z *Reading) forget() {
	z.page.forget()
	z.page.Dumps.List, z.page.Dumps.Open, z.page.Summary = nil, 0, nil
	z.page.Table.forget()
	clear(z.page.Screen.Dirty)
	z.page.Threads.ThreadPage, z.page.Stack.StackPage, z.page.Frame.Detail = rows.ThreadPage{}, rows.StackPage{}, nil
	z.page.Panel.empty()
	z.page.Host.SetTitle(z.page.Menu.documentTitle())
}

// restore has a new engine read the accepted files again; when it has, added repeats the user's
// decisions.
func (z *Reading) restore() {
	if z.stopped {
		z.page.Engine.Restart()
	}
	z.page.Work.forget()
	z.stopped, z.leaving.id = false, 0
	z.queue = append(slices.Clone(z.accepted), withoutRests(z.queue)...)
	z.accepted = nil
	total := 0
	for _, f := range z.queue {
		total += len(Members(f))
	}
	z.Job = Job{Total: total, Active: total > 0, began: time.Now(), known: total}
	if z.replay = len(z.queue) > 0; !z.replay {
		z.page.repeatDecisions()
	}
}

// EngineStopped is called when the engine's worker has died. The page keeps showing what it has;
// the next drop starts a new worker.
//
// silent: the worker has not said why. Once, another one reads the files at once, but for the one
// that the first was reading, and those of the queue.
func (z *Reading) EngineStopped(why string, silent bool) {
	if z.stopped {
		return
	}
	if z.page.Work.Program.loading {
		z.page.Work.Program.Failed(why)
		return
	}
	again, queue := silent && !z.fragile && !z.replay && len(z.accepted)+len(z.queue) > 0, withoutRests(z.queue)
	text := "The engine stopped: " + rows.Clean(why) + "."
	if z.reading != nil {
		text += " It was reading " + rows.Clean(z.reading.Name()) + "."
	}
	if rest, is := z.reading.(*Rest); is { // it is what was being read, though some of it was
		z.accepted = slices.DeleteFunc(z.accepted, func(f host.File) bool { return f == rest.File })
	}
	switch {
	case z.replay, z.fragile:
		// A file that was read before makes it die. Forget the files, or it would die again with
		// each drop.
		z.accepted, z.page.Decisions = nil, nil
		text += " Drop the files again to continue."
	case again:
		text += " Crashpane reads the other files again."
	case len(z.accepted) > 0:
		text += " Crashpane reads the earlier files again with the next drop."
	}
	z.page.Work.Indexing.forget()
	z.page.Work.Exports.forget()
	z.stopped, z.fragile, z.leaving.id, z.replay = true, true, 0, false
	z.queue, z.reading, z.Job = nil, nil, Job{}
	z.page.Notices.Show("error", text)
	z.page.Pace.engineStopped()
	z.page.HostPage.reported = protocol.ReportID{}
	z.page.HostPage.notify(Event{Kind: EventIdle, Mark: z.page.HostPage.Mark})
	switch {
	case again:
		z.restore()
		z.queue = append(z.queue, queue...)
		for _, f := range queue {
			z.Job.Total += len(Members(f))
		}
		z.page.Screen.ResetRevisions()
		z.page.Pace.step()
	case len(queue) > 0 && len(z.accepted) > 0:
		z.page.Notices.Show("warning", fmt.Sprintf("Not read: %s after it.", words.Count(len(queue), "file")))
	}
}

// progress shows a report of the engine, and reports whether the page must be drawn. The bar alone
// is moved without drawing.
func (z *Reading) progress(g protocol.Progress) (draw bool) {
	if !z.Job.Active {
		z.Job = Job{Active: true, Percent: -1, began: time.Now()}
	}
	text := words.Capital(g.Stage)
	if g.Name != "" {
		text += " " + rows.Clean(rows.BaseName(g.Name))
	}
	was := z.page.Work.value()
	z.Job.Text, z.Job.Percent = text, -1
	if g.Total > 0 {
		z.Job.Percent = int(min(100, g.Done*100/g.Total))
	}
	is := z.page.Work.value()
	draw = (was == nil) != (is == nil) || z.Job.drawnText != text
	if was != nil && is != nil && was != is {
		z.page.Host.Progress("job-bar", is.(int))
	}
	z.notifyProgress()
	// Short work is over before the user could read about it.
	if time.Since(z.Job.began) < 200*time.Millisecond {
		return false
	}
	if draw {
		z.Job.drawnText = text
	}
	return draw
}

// Count is "3 of 17", the file that is being read; "" for a single file.
func (j Job) Count() string {
	if j.Total < 2 {
		return ""
	}
	return fmt.Sprintf("%s of %s", rows.Number(min(j.Done+1, j.Total)), rows.Number(j.Total))
}

// notifyProgress notifies the host page.
func (z *Reading) notifyProgress() {
	if z.Job.Active {
		z.page.HostPage.notify(Event{Kind: EventProgress, Text: z.Job.Text, Done: z.Job.Done, Total: z.Job.Total, Percent: z.Job.Percent})
	}
}

// Offer is Add for files from the user, which the host page may forbid.
func (z *Reading) Offer(files []host.File) {
	if z.page.HostPage.TakesFiles() {
		z.Add(files)
	}
}

// symbolsText says that symbols are being read, "" if none are. Meanwhile the page does not say
// which symbols are missing.
func (z *Reading) symbolsText() string {
	switch {
	case z.page.Summary == nil:
	case z.Job.Active && z.waits():
		if n := z.Job.Count(); n != "" {
			return "Reading symbols: file " + n
		}
		return "Reading symbols"
	case z.page.Work.Downloads.Running > 0:
		return z.page.Work.text()
	case z.page.Pace.unwalked:
		return "Updating the stacks with the new files"
	}
	return ""
}

// decide sends a request that a new engine must get again.
func (z *Reading) decide(req protocol.Request) {
	z.page.Decisions = append(z.page.Decisions, req)
	z.page.send(req, nil)
}

// HasFiles reports whether closing the page would lose files.
func (z *Reading) HasFiles() bool { return z.reading != nil || len(z.accepted)+len(z.queue) > 0 }

// addRequest returns the request to read a file. A server's answer is accepted only if it is the
// requested symbol file.
func (z *Reading) addRequest(f host.File) *protocol.Add {
	req := &protocol.Add{Others: len(z.queue) > 0}
	if rest, ok := f.(*Rest); ok {
		req.Continue = rest.item
		return req
	}
	for _, one := range Members(f) {
		req.Names = append(req.Names, one.Name())
		if z.anyway[one.Name()] {
			req.Anyway = append(req.Anyway, one.Name())
		}
	}
	req.DebugID, req.Symbols = z.page.Work.Downloads.Requested(f)
	return req
}

// unpackAnyway has a new engine read all files again, and lets one of them, or the one that it is a
// member of, unpack to whatever there is room for.
func (z *Reading) unpackAnyway(name string) {
	if z.anyway == nil {
		z.anyway = map[string]bool{}
	}
	for _, f := range z.accepted {
		for _, one := range Members(f) {
			if own := rows.Clean(one.Name()); own == name || strings.HasPrefix(name, own+"/") {
				z.anyway[one.Name()] = true
			}
		}
	}
	z.page.Notices.List = nil
	z.remove(nil)
}

// remove starts a new engine with all files but one.
func (z *Reading) remove(f host.File) {
	for i := range z.accepted {
		if z.accepted[i] == f {
			z.accepted = append(z.accepted[:i:i], z.accepted[i+1:]...)
			break
		}
	}
	if z.reading != nil {
		z.queue = append([]host.File{z.reading}, z.queue...)
		z.reading = nil
	}
	if !z.stopped {
		z.page.Engine.Restart()
	}
	z.restore()
	z.page.Screen.ResetRevisions()
	z.page.Pace.step()
	z.page.Screen.AskAll()
}

// wantFirst moves the files of the queue that may be of modules without symbols to its front. A
// name decides only the order. When those are read, the stack is queried again, and may want
// others.
func (z *Reading) wantFirst(names []string) {
	stems := map[string]bool{}
	for _, name := range names {
		stem, _, _ := strings.Cut(strings.ToLower(name), ".")
		stems[stem] = true
	}
	var first, rest []host.File
	for _, f := range z.queue {
		if isOf(strings.ToLower(rows.BaseName(f.Name())), stems) {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	if len(first) > 0 {
		z.queue, z.page.Pace.wanted = append(first, rest...), len(first)
	}
}
