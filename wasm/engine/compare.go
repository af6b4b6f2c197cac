package engine

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// comparison has the last comparison, and what it is of.
type comparison struct {
	of     *report.Report
	thread int
	made   *report.Comparison
}

// maxCompared is the most frames of a stack to compare: the comparison has each with its registers,
// once for each policy.
const maxCompared = 20_000

// compare makes a window of the comparison of a thread's stack under several unwind policies.
func (e *Engine) compare(v *view.View, q protocol.Query) rows.ComparePage {
	c, problem := e.comparison(q.Dump, v.Report(), q.Thread)
	if problem != "" {
		return rows.ComparePage{Selected: -1, Problem: problem}
	}
	return v.Compare(c, q.Compare.Span.From, q.Compare.Span.Count, q.Compare.Row)
}

// comparison returns the comparison of a thread, made once for each report and thread, or a problem
// for the user.
func (e *Engine) comparison(dump int, rep *report.Report, thread int) (*report.Comparison, string) {
	if thread < 0 || thread >= len(rep.Threads) {
		return nil, "There is no thread to compare."
	}
	if n := len(rep.Threads[thread].Frames); n > maxCompared {
		return nil, fmt.Sprintf("This stack has %s frames, too many to compare on the page. Use the command: crashpane compare --thread %d DUMP.",
			rows.Number(n), thread)
	}
	if e.compared.of != rep || e.compared.thread != thread {
		c, err := e.files.Session(dump).Compare(thread)
		if err != nil {
			return nil, rows.Clean(err.Error())
		}
		e.compared = comparison{rep, thread, c}
	}
	return e.compared.made, ""
}
