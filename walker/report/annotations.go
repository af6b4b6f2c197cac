package report

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Annotation is a text that the program or the crash handler has left in the dump: Crashpad's
// annotations, comments, an assertion, macOS crash information, limits.
type Annotation struct {
	From, Name, Value string
	Private           bool // Value may have the program's data
}

// annotationsOf returns a dump's annotations. An assertion is source code, and limits and the
// writer's errors are not the program's; every other text may quote its data.
func annotationsOf(d *core.Dump) []Annotation {
	all := []Annotation{}
	open := func(from, name, value string) { all = append(all, Annotation{From: from, Name: name, Value: value}) }
	add := func(from, name, value string) {
		all = append(all, Annotation{From: from, Name: name, Value: value, Private: true})
	}
	for _, c := range []*string{d.Windows.CommentA, d.Windows.CommentW} {
		if c != nil {
			add("Comment", "", *c)
		}
	}
	if a := d.Assertion; a != nil {
		for _, f := range []struct{ name, value string }{{"expression", a.Expression}, {"function", a.Function}, {"file", a.File}} {
			if f.value != "" {
				open("Assertion", f.name, f.value)
			}
		}
	}
	for _, n := range d.Src.Notes {
		from := "Upload"
		if n.Origin == "envelope" {
			from = "Envelope"
		}
		add(from, n.Key, n.Value)
	}
	crashpadAnnotations(d, add)
	for i := range d.MacCrashInfo {
		m := &d.MacCrashInfo[i]
		for _, f := range []struct{ name, value string }{{"message", m.Message}, {"second message", m.SecondMessage},
			{"signature", m.Signature}, {"backtrace", m.Backtrace}} {
			if f.value != "" {
				add(BaseName(m.Module), f.name, f.value)
			}
		}
	}
	if d.SoftErrors != "" {
		open("Writer", "soft errors", d.SoftErrors)
	}
	if d.MacBootArgs != nil {
		add("Kernel", "boot arguments", *d.MacBootArgs)
	}
	for _, l := range d.Limits {
		open("Limits", l.Name, strings.TrimSpace(l.Soft+" of "+l.Hard+" "+l.Unit))
	}
	return all
}

// crashpadAnnotations adds what Crashpad has stored, of the process and of its modules.
func crashpadAnnotations(d *core.Dump, add func(from, name, value string)) {
	c := d.Crashpad
	if c == nil {
		return
	}
	if c.ReportID != "" {
		add("Crashpad", "report id", c.ReportID)
	}
	if c.ClientID != "" {
		add("Crashpad", "client id", c.ClientID)
	}
	for _, kv := range c.Annotations {
		add("Crashpad", kv.Key, kv.Value)
	}
	for i := range c.Modules {
		m := &c.Modules[i]
		from := fmt.Sprintf("module %d", m.Module)
		if int(m.Module) < len(d.Modules) {
			from = BaseName(d.Modules[m.Module].Name)
		}
		for _, text := range m.List {
			add(from, "", text)
		}
		for _, kv := range m.Simple {
			add(from, kv.Key, kv.Value)
		}
		for k := range m.Objects {
			o := &m.Objects[k]
			text, isText := o.Text()
			if !isText {
				text = hex.EncodeToString(o.Value[:min(len(o.Value), 256)])
			}
			add(from, o.Name, text)
		}
	}
}
