package engine

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/app"
)

// comparison is the last one made, and of what.
type comparison struct {
	of     *report.Report
	thread int
	made   *report.Comparison
}

// maxCompared is how many frames a stack may have to be compared: each is kept with its registers, once for each way of walking.
const maxCompared = 20_000

// compare is a window of the comparison of a thread's walks. It is made once for each report and thread.
func (e *Engine) compare(v *view.View, q app.Look) view.ComparePage {
	rep := v.Report()
	none := view.ComparePage{Thread: q.Thread, Selected: -1}
	if q.Thread < 0 || q.Thread >= len(rep.Threads) {
		none.Problem = "There is no thread to compare."
		return none
	}
	if n := len(rep.Threads[q.Thread].Frames); n > maxCompared {
		none.Problem = fmt.Sprintf("This stack has %s frames, which are too many to compare here. The command does it: crashpane compare --thread %d DUMP.",
			view.Number(n), q.Thread)
		return none
	}
	if e.compared.of != rep || e.compared.thread != q.Thread {
		c, err := e.session.Compare(q.Dump, q.Thread)
		if err != nil {
			none.Problem = view.Clean(err.Error())
			return none
		}
		e.compared = comparison{rep, q.Thread, c}
	}
	return v.Compare(e.compared.made, q.Compare.From, q.Compare.Count, q.Compared)
}
