package engine

import (
	"errors"
	"fmt"
	"strings"

	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/web/protocol"
)

// export makes a text, and a name for a file with it.
func (e *Engine) export(req *protocol.Export) (*protocol.Exported, error) {
	v := e.whole(req.Dump)
	if v == nil {
		return &protocol.Exported{}, fmt.Errorf("there is no dump to export")
	}
	rep := v.Report()
	thread := req.Thread
	if thread < 0 {
		thread = rep.FirstThread
	}
	var b strings.Builder
	w := e.files.Budget().Writer(&b)
	var err error
	ending := ".txt"
	switch req.Kind {
	case protocol.ExportStack:
		b.WriteString(v.CopyStack(thread))
	case protocol.ExportMarkdown:
		b.WriteString(v.CopyMarkdown(thread))
	case protocol.ExportMissing:
		b.WriteString(v.MissingText())
	case protocol.ExportCompare:
		c, problem := e.comparison(req.Dump, rep, thread)
		if problem != "" {
			err = errors.New(problem)
			break
		}
		c.Demangle(e.demangle)
		err = text.WriteComparison(w, rep, c)
	case protocol.ExportText:
		err = text.Write(w, rep)
	case protocol.ExportMachine:
		ending = ".machine.txt"
		err = text.WriteMachine(w, rep)
	case protocol.ExportJSON:
		ending = ".json"
		// The JSON has the readable names of all frames under the key "crashpane".
		rep.Demangle(e.demangle)
		opt := jsonreport.Options{Pretty: true}
		if !e.redact {
			opt.Explain = e.files.Session(req.Dump).Explainer(false)
		}
		err = jsonreport.Write(w, rep, opt)
	default:
		err = fmt.Errorf("there is no export called %q", rows.Clean(req.Kind))
	}
	return &protocol.Exported{Text: b.String(), FileName: fileName(rep.Dump.Name) + ending}, err
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
