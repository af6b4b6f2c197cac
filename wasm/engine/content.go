package engine

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptext"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// maxTextStream is the largest stream that is shown as text, in bytes. Larger ones are shown as a
// hex dump, which reads only the visible lines.
const maxTextStream = 8 << 20

// perLine is how many bytes a line of a hex dump has.
const perLine = 16

// content makes a window of a stream's content: its decoded fields, its text, or its bytes.
func (e *Engine) content(d *core.Dump, dump int, q protocol.ContentQuery) *protocol.ContentPage {
	if q.Stream < 0 || q.Stream >= len(d.Streams) {
		return nil
	}
	s := &d.Streams[q.Stream]
	out := &protocol.ContentPage{Title: streamName(s), Bytes: q.Bytes, Lines: []string{}}
	if e.redact {
		out.OnlyBytes, out.Total, out.Lines = true, 1, []string{"The host page does not let this viewer show the contents of streams."}
		return out
	}
	if dumptext.Private(s.Type) && !q.Private {
		out.Private = true
		return out
	}
	if !q.Bytes {
		key := fmt.Sprint(dump, " ", q.Stream)
		if e.linesOf != key {
			e.lines, e.linesOf = lines(d, s), key
		}
		if out.Bytes = e.lines == nil; !out.Bytes {
			out.Total = len(e.lines)
			out.From = max(0, min(q.Span.From, out.Total))
			for _, l := range e.lines[out.From:min(out.Total, out.From+q.Span.Count)] {
				out.Lines = append(out.Lines, rows.Clean(l))
			}
			return out
		}
		out.OnlyBytes = true
	}
	hexWindow(d, s, q.Span, out)
	return out
}

// lines returns a stream's decoded fields or its text; nil if it has neither.
func lines(d *core.Dump, s *core.Stream) []string {
	if s.Form != core.FormFields {
		if t := textLines(d, s); t != nil {
			return t
		}
	}
	if !s.Decoded || s.Duplicate {
		return nil
	}
	var b strings.Builder
	if ok, err := dumptext.WriteStream(&b, d, s.Type, dumptext.Options{}); !ok || err != nil || b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// textLines returns the lines of a stream that is text, and nil if it is not. The arguments in a
// command line, and the variables in an environment, end with a zero byte.
func textLines(d *core.Dump, s *core.Stream) []string {
	if s.Loc.Size == 0 || s.Loc.Size > maxTextStream || !s.Loc.In(d.Src.Size) {
		return nil
	}
	p, err := d.Src.Bytes(int64(s.Loc.Off), int64(s.Loc.Size))
	if err != nil {
		return nil
	}
	p = bytes.TrimRight(p, "\x00\n")
	if dumptext.Private(s.Type) {
		p = bytes.ReplaceAll(p, []byte{0}, []byte{'\n'})
	}
	if !utf8.Valid(p) {
		return nil
	}
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return nil
		}
	}
	return strings.Split(string(p), "\n")
}

// hexWindow makes the lines of a hex dump. It reads only the bytes of these lines.
func hexWindow(d *core.Dump, s *core.Stream, span protocol.Span, out *protocol.ContentPage) {
	size := int64(0)
	if int64(s.Loc.Off) < d.Src.Size {
		size = min(int64(s.Loc.Size), d.Src.Size-int64(s.Loc.Off))
	}
	out.Total = int((size + perLine - 1) / perLine)
	out.From = max(0, min(span.From, out.Total))
	n := min(int64(span.Count)*perLine, size-int64(out.From)*perLine)
	if n <= 0 {
		return
	}
	at := int64(out.From) * perLine
	p, err := d.Src.Bytes(int64(s.Loc.Off)+at, n)
	if err != nil {
		out.Lines = append(out.Lines, rows.Clean(err.Error()))
		return
	}
	for len(p) > 0 {
		line := p[:min(perLine, len(p))]
		p = p[len(line):]
		text := make([]byte, len(line))
		for i, c := range line {
			if text[i] = c; c < ' ' || c > '~' {
				text[i] = '.'
			}
		}
		out.Lines = append(out.Lines, fmt.Sprintf("%08x  % -47x  %s", at, line, text))
		at += int64(len(line))
	}
}

// system returns the facts about the system that the report lacks: all fields of the streams about
// it.
func system(d *core.Dump) []rows.Group {
	var out []rows.Group
	add := func(title string, facts []rows.Fact) {
		if len(facts) > 0 {
			out = append(out, rows.Group{Title: title, Facts: facts[:min(len(facts), maxFacts)]})
		}
	}
	for _, g := range []struct {
		title string
		t     core.StreamType
	}{{"System information", core.StreamSystemInfo}, {"Process information", core.StreamMiscInfo}} {
		var facts []rows.Fact
		for _, f := range dumptext.Fields(d, g.t) {
			_, name, _ := strings.Cut(f.Path, ".")
			facts = append(facts, rows.Fact{Key: rows.Clean(strings.ReplaceAll(name, "_", " ")), Value: rows.Clean(f.Text), Code: true})
		}
		add(g.title, facts)
	}
	add("Memory of the process", processMemory(d))
	add("Memory of the machine", machineMemory(d))
	for _, g := range []struct {
		title string
		from  []core.KeyValue
	}{{"/proc/cpuinfo", d.Linux.CPUFields}, {"/proc/self/status", d.Linux.StatusFields}} {
		var facts []rows.Fact
		for _, kv := range g.from {
			facts = append(facts, rows.Fact{Key: rows.Clean(kv.Key), Value: rows.Clean(kv.Value), Code: true})
		}
		add(g.title, facts)
	}
	return out
}

// processMemory returns how much memory the process used, in Microsoft's terms.
func processMemory(d *core.Dump) (facts []rows.Fact) {
	if d.Windows.VMCounters == nil {
		return nil
	}
	for _, c := range d.Windows.VMCounters.Counters {
		value := rows.Size(int64(c.Value))
		if strings.HasSuffix(c.Name, "Count") {
			value = fmt.Sprint(c.Value)
		}
		facts = append(facts, rows.Fact{Key: spaced(c.Name), Value: value})
	}
	return facts
}

// machineMemory returns how much memory the machine has, and how much of it was in use. The Streams
// tab has all counters.
func machineMemory(d *core.Dump) (facts []rows.Fact) {
	if d.Windows.SystemMemory == nil {
		return nil
	}
	page := int64(0)
	for _, c := range d.Windows.SystemMemory.Counters {
		what := map[string]string{"NumberOfPhysicalPages": "Physical", "AvailablePages": "Available", "CommittedPages": "Committed", "CommitLimit": "Commit limit",
			"PeakCommitment": "Peak commitment"}[c.Name]
		if c.Name == "PageSize" {
			page = int64(c.Value)
		} else if what != "" {
			facts = append(facts, rows.Fact{Key: what, Value: rows.Size(int64(c.Value) * page)})
		}
	}
	return facts
}

// spaced divides a name into words: "Peak Working Set Size".
func spaced(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// maxFacts bounds a group. /proc/cpuinfo repeats its fields for each processor; the Streams tab has
// all of it.
const maxFacts = 40

// privateGroups returns the groups for the command line and the environment. A group without facts
// tells the page that there is one to reveal.
func privateGroups(d *core.Dump, q protocol.SystemQuery) []rows.Group {
	out := []rows.Group{}
	for _, s := range []struct {
		title string
		t     core.StreamType
		asked bool
	}{{"Command line", core.StreamLinuxCmdLine, q.CommandLine}, {"Environment", core.StreamLinuxEnviron, q.Environment}} {
		st := d.Stream(s.t)
		if st == nil || st.Loc.Size == 0 {
			continue
		}
		g := rows.Group{Title: s.title, Facts: []rows.Fact{}}
		if s.asked {
			for _, line := range textLines(d, st) {
				key, value, ok := strings.Cut(line, "=")
				if !ok || s.t == core.StreamLinuxCmdLine {
					key, value = "", line
				}
				if len(g.Facts) < 400 {
					g.Facts = append(g.Facts, rows.Fact{Key: rows.Clean(key), Value: rows.Clean(value), Code: true})
				}
			}
		}
		out = append(out, g)
	}
	return out
}
