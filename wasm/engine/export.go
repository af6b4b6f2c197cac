package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/report/ticket"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// exportJob is what an export is made of.
type exportJob struct {
	e            *Engine
	whole, rep   *report.Report // rep is without what is private, unless the export has it
	dump, thread int
	private      bool
}

// exportWriters write the rows of protocol.Exports, by their ID.
var exportWriters = map[string]func(j *exportJob, w io.Writer) error{
	protocol.ExportStack:   asTicket(ticket.WriteText, false),
	"markdown":             asTicket(ticket.WriteMarkdown, false),
	"jira":                 asTicket(ticket.WriteJira, false),
	"windbg":               asTicket(ticket.WriteWinDbg, false),
	"html":                 asTicket(ticket.WriteHTML, true),
	"brief":                asTicket(ticket.WriteBrief, false),
	"modules":              asTicket(ticket.WriteModules, false),
	protocol.ExportMissing: func(j *exportJob, w io.Writer) error { return write(w, view.New(j.rep, nil).MissingText()) },
	"text":                 func(j *exportJob, w io.Writer) error { return text.Write(w, j.rep) },
	"machine":              func(j *exportJob, w io.Writer) error { return text.WriteMachine(w, j.rep) },
	protocol.ExportJSON:    writeJSON,
	protocol.ExportCompare: writeComparison,
}

// asTicket returns an export that is a form of a ticket, with all threads or that one alone.
func asTicket(form func(io.Writer, *ticket.Ticket) error, all bool) func(j *exportJob, w io.Writer) error {
	return func(j *exportJob, w io.Writer) error {
		return form(w, view.Ticket(j.rep, j.e.demangle, view.TicketOptions{Thread: j.thread, All: all, Private: j.private}))
	}
}

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

// writeJSON writes the report with the readable names of all frames, under the key "crashpane".
func writeJSON(j *exportJob, w io.Writer) error {
	j.rep.Demangle(j.e.demangle)
	opt := jsonreport.Options{Pretty: true, Text: report.HideUsers, Private: j.private}
	if j.private {
		opt.Text, opt.Explain = nil, j.e.files.Session(j.dump).Explainer(false)
	}
	return jsonreport.Write(w, j.rep, opt)
}

func writeComparison(j *exportJob, w io.Writer) error {
	c, problem := j.e.comparison(j.dump, j.whole, j.thread)
	if problem != "" {
		return errors.New(problem)
	}
	c.Demangle(j.e.demangle)
	return text.WriteComparison(w, j.rep, c)
}

// export makes a text, and a name for a file with it.
func (e *Engine) export(req *protocol.Export) (*protocol.Exported, error) {
	v := e.whole(req.Dump)
	if v == nil {
		return &protocol.Exported{}, errors.New("there is no dump to export")
	}
	kind := protocol.ExportOf(req.Kind)
	if kind == nil {
		return &protocol.Exported{}, fmt.Errorf("there is no export called %q", rows.Clean(req.Kind))
	}
	job := &exportJob{e, v.Report(), v.Report(), req.Dump, req.Thread, req.Private && !e.redact}
	if job.thread < 0 {
		job.thread = job.rep.FirstThread
	}
	if !job.private {
		job.rep = job.rep.Redacted()
	}
	var b strings.Builder
	err := exportWriters[kind.ID](job, e.files.Budget().Writer(&b))
	out := &protocol.Exported{Text: b.String(), FileName: fileName(job.rep.Dump.Name) + kind.Ending}
	if !job.private {
		out.Text = report.HideUsers(out.Text)
	}
	return out, err
}

// fileName returns a dump's name as the start of a file name: without folders and ".dmp".
// Characters that a file system or a user could misread become "_": the dump's name is untrusted.
func fileName(dump string) string {
	s := rows.BaseName(dump)
	if len(s) >= 4 && strings.EqualFold(s[len(s)-4:], ".dmp") {
		s = s[:len(s)-4]
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && b.Len() > 0:
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
		if b.Len() >= 100 {
			break
		}
	}
	if b.Len() == 0 {
		return "crash"
	}
	return b.String()
}
