package app

import "github.com/crashpane/crashpane/web/protocol"

// Leaving has the engine end what it is doing, and leave out files (protocol.LeaveOut).
type Leaving struct {
	page  *Page
	items map[File][]int // of the accepted files, as the engine numbers them
	id    int            // of the LeaveOut that the engine has not answered yet, or 0
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
		p.Screen.Pace.step()
		return true
	})
}

// left goes on when the engine has answered.
func (z *Leaving) left() {
	z.id = 0
	if z.page.Reading.replay {
		z.page.repeatDecisions()
	}
	z.page.Screen.mark(z.page.Screen.zones...)
	z.page.Screen.Pace.step()
}
