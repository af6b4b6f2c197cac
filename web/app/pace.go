package app

import (
	"strings"
	"time"

	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Pace decides, after each event, what happens next: which file the engine reads, what it is
// queried for, whether a result is shown at once or held back, and how long background work rests.
// docs/ARCHITECTURE.md has its stages and events as tables.
type Pace struct {
	page      *Page
	asking    bool                  // a query is pending
	asked     time.Time             // when the last one was sent for a screen that was complete
	held      *protocol.QueryResult // a first screen that is held back
	painting  bool                  // the next query waits until the browser has painted a part of a first screen
	unwalked  bool                  // files were read, and no stack has come that was walked with them
	wanted    int                   // of the next files of the queue, how many the stack waits for (wantFirst)
	namesCome bool                  // the file that is being read has the last of those
	lastDrawn time.Time             // when the progress of a job was last drawn
}

// stage is how much of a dump's first screen there is. A first screen takes three queries, so that
// each is drawn in a short task of its own: drawing everything at once would block the page's
// thread for too long.
type stage int

const (
	noDump     stage = iota // only symbols are read, or nothing
	unshown                 // there is a dump, and the first query is for headline, threads and stack
	stackShown              // those are shown, and the second query is for the frame
	shown                   // the frame is shown too; the next query is for all other zones
)

func (z *Pace) stage() stage {
	switch p := z.page; {
	case len(p.Dumps.List) == 0:
		return noDump
	case p.Table.Open():
		return shown
	case p.Summary == nil:
		return unshown
	case p.Frame.Detail == nil:
		return stackShown
	}
	return shown
}

const (
	// smallFile and smallPacked are sizes in bytes: the engine reads a file up to this size in less
	// time than drawing the first screen takes.
	smallFile   = 512 << 10
	smallPacked = 64 << 10
	// The same is true of up to indexedFiles symbol files of this size, which the engine indexes.
	indexedFile, indexedFiles = 5 << 20, 2
	// firstFiles and firstLook bound the wait of the first screen for small files, so that it need
	// not be drawn twice: the number of files, including the dump, and the time.
	firstFiles = 8
	firstLook  = 250 * time.Millisecond
	// firstNames is how long a first screen waits for the names of a large symbol file. They mostly
	// arrive in half of that. Drawing the screen twice would take a fifth of it, and would show a
	// stack of bare addresses for a moment.
	firstNames = 800 * time.Millisecond
	// namesAgain is how often a stack is queried again while an archive with symbols is unpacked. It
	// is drawn each time.
	namesAgain = time.Second
	// mostOfParcel bounds a Parcel, so that the engine answers queries several times a second.
	mostOfParcel = 64
	// restDrawing is how long background work rests while the page draws a result. Without it, the
	// page's task took more than 50 ms in one of 25 runs with 1 GB of symbols. While the user
	// scrolls, queries come at intervals shorter than often, and it rests for longer: with two
	// cores, and the engine and the workers busy, a task that needs 15 ms of CPU takes 60 ms.
	restDrawing, restScrolling, often = 40, 150, 400 * time.Millisecond
)

// step sends the next query, and the next file.
func (z *Pace) step() {
	z.query()
	z.read()
}

// query queries the dirty zones, as far as they are visible, unless it must wait. At most one query
// is pending.
func (z *Pace) query() {
	p := z.page
	dirty := p.Screen.Dirty
	for zone := range dirty {
		if p.Screen.Hidden(zone) {
			delete(dirty, zone)
		}
	}
	// Without a dump only the list of files and an outline can be queried.
	if z.asking || z.painting || p.Reading.stopped || p.Reading.leaving.id != 0 || len(dirty) == 0 || z.stage() == noDump && !dirty[p.Panel.Files] && !dirty[p.Panel.Outline] && !dirty[&p.Frame.Code] || z.awaitsFile() {
		return
	}
	q := &protocol.Query{Selection: protocol.Selection{Dump: p.Dumps.Open, Thread: p.State.Thread, Frame: p.State.Frame, Inline: p.State.Inline, Top: p.Screen.Top,
		HideInlines: p.State.HideInlines, ShowGuesses: p.State.ShowGuesses}, Search: p.State.Search, Wanted: isMany(p.Reading.queue), Rest: restDrawing}
	for _, zone := range z.part() {
		zone.Want(q)
		delete(dirty, zone)
	}
	switch now := time.Now(); {
	case len(dirty) > 0:
		q.Rest = protocol.UntilNext
	case z.stage() == shown:
		if now.Sub(z.asked) < often && !p.Table.Open() {
			q.Rest = restScrolling
		}
		z.asked = now
	}
	z.asking = true
	p.send(q, nil)
}

// stack returns the zones that make up the first screen.
func (z *Pace) stack() []zone.Zone {
	return []zone.Zone{&z.page.Verdict, &z.page.Threads, &z.page.Stack}
}

// part returns the dirty zones of the stage's query, or all if none of those is dirty.
func (z *Pace) part() []zone.Zone {
	zones := z.page.Screen.Zones
	first := map[stage][]zone.Zone{unshown: z.stack(), stackShown: append(z.stack(), &z.page.Frame)}[z.stage()]
	for _, among := range [][]zone.Zone{first, zones} {
		var now []zone.Zone
		for _, zone := range among {
			if z.page.Screen.Dirty[zone] {
				now = append(now, zone)
			}
		}
		if len(now) > 0 {
			return now
		}
	}
	return nil
}

// awaitsFile reports whether the first query should wait, because a file will be read in a moment.
func (z *Pace) awaitsFile() bool {
	r := &z.page.Reading
	f := r.reading
	if f == nil && len(r.queue) > 0 {
		f = r.queue[0]
	}
	if z.page.Summary != nil || z.page.Table.Open() || f == nil || host.IsRemote(f) || r.Job.Done >= firstFiles {
		return false
	}
	late := time.Since(r.Job.began) > firstLook
	switch {
	case isPacked(f):
		return !late && f.Size() <= smallPacked
	case strings.HasSuffix(strings.ToLower(f.Name()), ".sym"):
		return !late && (f.Size() <= smallFile || f.Size() <= indexedFile && r.Job.Done <= indexedFiles)
	}
	// Of programs and debug files the engine reads the headers. A walk between the files of a module
	// would read much more: all names of a program without its debug information.
	return true
}

// read sends the next file of the queue, or the next small ones together. The others wait, so that
// the engine answers queries in between, and so that the page knows which file a worker was reading
// when it died. Before a first screen is complete, a file that takes long waits too, since the
// engine works in order. After the last file the job is over.
func (z *Pace) read() {
	p := z.page
	r := &p.Reading
	now := z.stage()
	switch {
	case r.reading != nil || r.stopped || r.leaving.id != 0 || p.Work.Program.loading:
	case len(r.queue) == 0:
		if r.Job.Active && r.Job.Total > 0 {
			r.finish()
		}
	case takesLong(r.queue[0]) && (now == unshown && z.asking || now == stackShown && (z.asking || p.Screen.Dirty[&p.Frame])):
	default:
		n := z.parcel()
		f := r.queue[0]
		if n > 1 {
			f = &Parcel{r.queue[:n:n]}
		}
		r.queue = r.queue[n:]
		if z.wanted > 0 {
			z.wanted -= n
			z.namesCome = z.wanted == 0
		}
		r.send(f)
	}
}

// isMany reports whether files are more than the first screen waits for.
func isMany(files []host.File) bool { return len(files) >= firstFiles }

// parcel returns how many of the next files are read together. There are no Parcels while a first
// screen is not complete, which they would delay.
func (z *Pace) parcel() (n int) {
	queue := z.page.Reading.queue
	if now := z.stage(); !isMany(queue) || now == unshown || now == stackShown {
		return 1
	}
	most := min(len(queue), mostOfParcel)
	if z.wanted > 0 {
		most = min(most, z.wanted)
	}
	for n < most && fitsParcel(queue[n], z.page.Table.Open()) {
		if _, alone := z.page.Work.Downloads.Requested(queue[n]); alone {
			break
		}
		n++
	}
	return max(n, 1)
}

// fileRead is called when the engine has read a file. If the stack was queried without it, it is
// queried again. symbols: there were symbols in an archive whose other files come later; for these it
// is queried again now and then.
func (z *Pace) fileRead(symbols bool) {
	if z.namesCome || z.stage() == stackShown || symbols && time.Since(z.asked) > namesAgain {
		z.namesCome = false
		z.page.Screen.Mark(z.stack()...)
	}
	if z.page.Table.Open() && time.Since(z.asked) > often {
		z.page.Screen.Mark(&z.page.Table)
	}
	z.step()
}

// drawsFile reports whether the page is drawn after a file: not at once within a job of many files,
// nor just before the result of a pending query, which will draw anyway.
func (z *Pace) drawsFile() bool {
	job := &z.page.Reading.Job
	if job.Active && (time.Since(z.lastDrawn) < 150*time.Millisecond || time.Since(job.began) < 150*time.Millisecond) ||
		z.asking && time.Since(job.began) < 200*time.Millisecond {
		return false
	}
	z.lastDrawn = time.Now()
	return true
}

// answered handles the result of the pending query. It reports whether the page must be drawn.
func (z *Pace) answered(r *protocol.QueryResult, problem string) (draw bool) {
	z.asking = false
	if z.holdBack(r) {
		return false
	}
	z.show(r, problem)
	return true
}

// holdBack holds back the result for the first screen while the engine opens a large symbol file,
// and queries again, for a result with names. If that does not arrive in time, release shows the
// first result. It reports whether it did so.
func (z *Pace) holdBack(r *protocol.QueryResult) bool {
	again := z.held != nil // this is the second result, so show it in any case
	z.held = nil
	reading := &z.page.Reading
	f := reading.reading
	if again || z.page.Summary != nil || r.Summary == nil || f == nil || f.Size() <= smallFile || isPacked(f) || host.IsRemote(f) || looksLikeDump(f.Name()) || reading.replay {
		return false
	}
	left := firstNames - time.Since(reading.Job.began)
	if left <= 0 {
		return false
	}
	z.held = r
	z.page.Screen.Ask(z.stack()...)
	z.page.Host.After(int(left.Milliseconds()), func() (draw bool) { return z.release(r) })
	return true
}

// release shows a result that is held back, and reports whether it was.
func (z *Pace) release(r *protocol.QueryResult) (was bool) {
	if r == nil || z.held != r {
		return false
	}
	z.held = nil
	z.show(r, "")
	return true
}

// show has the zones apply a result. While a part of a first screen is painted, the next query
// waits.
func (z *Pace) show(r *protocol.QueryResult, problem string) {
	p := z.page
	before := z.stage()
	if !p.Reading.Job.Active || !p.Reading.waits() {
		p.Reading.Job = Job{}
	}
	if problem != "" {
		p.Notices.Show("error", problem)
	}
	if p.Empty() && (r.Summary != nil || problem != "") { // the first dump: its address has waited for this
		p.Address.set()
	}
	p.Screen.Top = p.Screen.Top || p.State.Thread < 0
	z.unwalked = z.unwalked && p.Screen.Dirty[&p.Stack] && problem == "" // a dirty stack is not queried yet
	for _, zone := range p.Screen.Zones {
		zone.Apply(r)
	}
	if r.Files != nil {
		p.Panel.Outline.reopen()
		p.Reading.tellUnused(r.Files.Unused)
	}
	if len(r.Wanted) > 0 {
		p.Reading.wantFirst(r.Wanted)
	}
	p.Work.Indexing.start(r.Unindexed)
	if p.Work.Background.Text == "" {
		p.Work.Background.began = time.Time{} // further work counts its time from its own start
	}
	dirty := p.Screen.Dirty
	if len(dirty) == 0 && !p.Reading.waits() && (r.Pending == 0 || len(p.Work.Indexing.running) > 0) {
		p.Screen.Opening = false
	}
	now := z.stage()
	if now == stackShown && dirty[&p.Frame] || now == shown && before != shown && len(dirty) > 0 {
		z.painting = true
		p.Host.NextFrame(z.painted)
	}
	z.step()
	p.HostPage.notifyIdle(r)
}

// painted is called when a part of a first screen is painted. If a symbol file is being read, the
// stack is queried again, with its names. The engine waits for a query (protocol.UntilNext), so one
// is sent even if nothing is dirty by now.
func (z *Pace) painted() {
	z.painting = false
	if z.page.Reading.reading != nil && z.stage() == stackShown {
		z.page.Screen.Mark(z.stack()...)
	} else if len(z.page.Screen.Dirty) == 0 {
		z.page.Screen.Mark(&z.page.Verdict)
	}
	z.step()
}

// isDone reports whether nothing more will come after a result.
func (z *Pace) isDone(r *protocol.QueryResult) bool {
	return len(z.page.Screen.Dirty) == 0 && !z.asking && !z.page.Reading.waits() && r.Pending == 0
}

// engineStopped shows what is held back, since nothing better will come.
func (z *Pace) engineStopped() {
	z.asking = false
	z.release(z.held)
}

// reset is called for a new engine: what the one before was asked will not be answered.
func (z *Pace) reset() {
	if z.asking {
		z.page.Screen.Mark(z.page.Screen.Zones...)
	}
	*z = Pace{page: z.page, unwalked: z.unwalked, lastDrawn: z.lastDrawn}
}
