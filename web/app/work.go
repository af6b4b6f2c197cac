package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/servers"
	"github.com/crashpane/crashpane/web/protocol"
)

// Work has the work that takes time, other than reading the user's files (Reading), and the bar
// that shows what is running.
type Work struct {
	page       *Page
	Program    Program
	Making     Making
	Downloads  servers.Downloads
	Exports    Exports
	Indexing   Indexing
	Background Background
}

func (z *Work) init(p *Page) {
	z.page, z.Program.page, z.Making.page, z.Exports.page, z.Indexing.page, z.Background.page = p, p, p, p, p, p
	z.Downloads.Init(&p.Shared, z.Indexing.begin, p.Reading.remove)
	z.Exports.waiting = map[int]export{}
	z.Indexing.forget()
}

// Busy reports whether there is work that can be cancelled.
func (z *Work) Busy() bool {
	return z.page.Reading.Job.Active || z.Program.wanted() || z.Making.name != "" || z.Downloads.Running > 0 || z.page.Reading.listing.stop != nil
}

// text describes the running work.
func (z *Work) text() string {
	switch {
	case z.page.Reading.Job.Active:
		return z.page.Reading.Job.Text
	case z.page.Reading.listing.stop != nil:
		return "Looking for files: " + rows.Number(z.page.Reading.listing.found) + " so far"
	case z.Downloads.Running > 0:
		return z.Downloads.Text()
	case z.Program.wanted():
		return z.Program.text()
	}
	return z.Making.text
}

// value is the value of the progress bar, or nil, which leaves the attribute out, if it is unknown.
func (z *Work) value() any {
	j := &z.page.Reading.Job
	switch {
	case !j.Active && z.Program.wanted():
		return z.Program.percent()
	case !j.Active:
		return nil
	case j.Total > 1:
		return (j.Done*100 + max(j.Percent, 0)) / j.Total
	case j.Percent >= 0:
		return j.Percent
	}
	return nil
}

// forget prepares for that no answer comes to what the engine was asked.
func (z *Work) forget() {
	z.page.Pace.reset()
	z.page.HostPage.reported = protocol.ReportID{}
	z.Indexing.forget()
	z.Exports.forget()
}

// Leaving has the engine end what it is doing, and leave out files (protocol.LeaveOut).
type Leaving struct {
	page  *Page
	items map[host.File][]int // of the accepted files, as the engine numbers them
	id    int                 // of the LeaveOut that the engine has not answered yet, or 0
}

// mostLeaving is how many milliseconds an engine has to answer a LeaveOut.
const mostLeaving = 2000

// leave sends a LeaveOut. Answers to earlier requests are ignored (Page.Answer). An engine that does
// not answer in time is replaced, and the new one reads the accepted files again.
func (z *Leaving) leave(q *protocol.LeaveOut) {
	p := z.page
	p.Work.forget()
	id := p.send(q, nil)
	z.id = id
	p.Host.After(mostLeaving, func() bool {
		if z.id != id {
			return false
		}
		p.Engine.Restart()
		p.Reading.restore()
		if len(p.Reading.queue) == 0 {
			p.Reading.forget()
		}
		p.Pace.step()
		return true
	})
}

// left goes on when the engine has answered.
func (z *Leaving) left() {
	z.id = 0
	if z.page.Reading.replay {
		z.page.repeatDecisions()
	}
	z.page.Screen.Mark(z.page.Screen.Zones...)
	z.page.Pace.step()
}
