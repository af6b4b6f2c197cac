package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall/js"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/readers"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/session"
)

// slice is how many bytes of a symbol file a search reads at a time, as in the command.
const slice = 4 << 10

// analyze handles the message of the package's analyze function (web/embed/analyze.js), which needs
// no page: {analyze: id, files: [{name, data}], policy}, where the first file is a dump and the
// others are its symbols. It posts {analyzed: id, json}, the report as `crashpane walk --format
// json` prints it, or {analyzed: id, error}. It reports whether the message was one of these.
func analyze(message js.Value) bool {
	id := message.Get("analyze")
	if id.IsUndefined() {
		return false
	}
	answer := map[string]any{"analyzed": id}
	if text, err := reportOf(message); err != nil {
		answer["error"] = err.Error()
	} else {
		answer["json"] = text
	}
	js.Global().Call("postMessage", answer)
	return true
}

// reportOf makes the report for a message of analyze.
func reportOf(message js.Value) (string, error) {
	name := message.Get("policy").String()
	policy, ok := walker.PolicyByName(name)
	if !ok {
		return "", fmt.Errorf("there is no unwind policy called %q", name)
	}
	opt := session.Options{Policy: policy, Demangle: msvc.Name, IndexOnDemand: true, Slice: slice}
	readers.Add(&opt)
	s := session.NewFiles(opt)
	files := message.Get("files")
	for i := range files.Length() {
		items := s.Add(sourceOf(files.Index(i).Get("name").String(), files.Index(i).Get("data")))
		if i > 0 || len(s.Dumps()) > 0 {
			continue
		}
		for _, it := range items {
			if it.Message != "" {
				return "", errors.New(it.Message)
			}
		}
		return "", fmt.Errorf("%s contains no dump", files.Index(i).Get("name").String())
	}
	r := s.Report(0)
	if r == nil {
		return "", errors.New("no stack could be walked")
	}
	var b strings.Builder
	err := jsonreport.Write(&b, r, jsonreport.Options{Explain: s.Session(0).Explainer(false)})
	return b.String(), err
}
