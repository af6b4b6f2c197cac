package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
)

// Program is the engine's program. Its worker fetches and compiles it while the page draws; files
// that the user drops meanwhile wait for it.
type Program struct {
	page        *Page
	loading     bool
	done, total int64 // bytes that have arrived, and of the whole; total is 0 if it is not known
}

// Loading reports how much of the program has arrived.
func (z *Program) Loading(done, total int64) { z.loading, z.done, z.total = true, done, total }

// Loaded is called when a worker has the program.
func (z *Program) Loaded() {
	*z = Program{page: z.page}
	z.page.Pace.step()
}

// Failed is called if the program cannot be had. The next drop tries again, with the files that
// wait now.
func (z *Program) Failed(problem string) {
	*z = Program{page: z.page}
	r := &z.page.Reading
	r.stopped = true
	if r.reading != nil {
		r.queue, r.reading = append([]host.File{r.reading}, r.queue...), nil
	}
	r.Job = Job{}
	if r.waits() {
		z.page.Notices.Show("error", fmt.Sprintf("Crashpane could not load its engine (%s).", rows.Clean(problem)))
		z.page.Notices.Offer("load-engine", "", "Try again")
	}
}

// again loads the program with the files that wait for it.
func (z *Program) again() {
	z.page.Notices.List = nil
	z.page.Reading.restore()
	z.page.Pace.step()
}

// wanted reports whether files wait for the program.
func (z *Program) wanted() bool { return z.loading && z.page.Reading.waits() }

func (z *Program) text() string {
	text := "Loading the engine"
	if z.done > 0 {
		text += ", " + rows.Size(z.done)
	}
	return text
}

// percent is how much has arrived; nil if it is not known.
func (z *Program) percent() any {
	if z.total <= 0 {
		return nil
	}
	return int(min(100, z.done*100/z.total))
}
