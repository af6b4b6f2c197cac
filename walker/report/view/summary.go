package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
)

// Summary is the top of a dump's page, and the counts of its lists.
type Summary struct {
	Name    string
	Verdict []Span
	// Reason is the exception as rust-minidump or Breakpad print it, Facts the line below the
	// verdict.
	Reason string
	Facts  []string
	// Messages has the program's own messages about its end, the most important first.
	Messages []Fact
	// Signature is the crash's signature, or "" without a crash.
	Signature string
	// FirstThread is the thread to show first.
	FirstThread                     int
	Threads, Modules, Missing, Diag int
	Errors                          int // number of diagnostics that are errors
	System                          []Group
	Log                             []LogRow
	// Findings say why stacks are incomplete.
	Findings []FindingRow
}

// Group is a titled list of facts.
type Group struct {
	Title string
	Facts []Fact
}

// Fact is a value with its name.
type Fact struct {
	Key, Value string
	Code       bool // show it in the monospaced font
}

// LogRow is a diagnostic.
type LogRow struct{ Severity, Text string }

// Summary makes the summary.
func (v *View) Summary() Summary {
	r := v.r
	s := Summary{Name: Clean(BaseName(r.Dump.Name)), Verdict: v.Verdict(),
		FirstThread: r.FirstThread, Threads: len(v.order()), Missing: len(r.Missing),
		Diag: len(r.Diagnostics), Facts: v.facts(), System: v.system(), Log: []LogRow{}, Findings: v.Findings(), Messages: []Fact{}}
	for _, said := range v.r.Messages {
		s.Messages = append(s.Messages, Fact{Key: Clean(said.Source), Value: Clean(said.Text)})
	}
	for i := range r.Modules {
		if !r.Modules[i].Merged {
			s.Modules++
		}
	}
	if r.Crash != nil {
		s.Reason = Clean(r.Crash.Reason.Name)
		_, _, words := v.site()
		s.Signature = Clean(words)
	}
	for i, d := range r.Diagnostics {
		if d.Severity == "error" {
			s.Errors++
		}
		if i < maxLog {
			s.Log = append(s.Log, LogRow{Clean(d.Severity), Clean(d.Text)})
		}
	}
	if n := len(r.Diagnostics) - maxLog; n > 0 {
		s.Log = append(s.Log, LogRow{"note", fmt.Sprintf("%s more are not listed here.", Number(n))})
	}
	return s
}

// maxLog is the most diagnostics that the page lists.
const maxLog = 200

// facts returns the line below the verdict: source line, thread, product, system, uptime, time.
//
//	parse.c:12 · thread 0 “main” · app 1.2 · Linux 6.5.0 · up 3 min 20 s · 2024-05-01 10:00:00 UTC
func (v *View) facts() []string {
	r := v.r
	out := []string{}
	t := v.thread(r.FirstThread)
	if r.Crash != nil {
		t = v.thread(r.Crash.Thread)
		if t == nil {
			out = append(out, fmt.Sprintf("the crashed thread (id %d) is not in the dump", r.Crash.ThreadID))
		}
	}
	if t != nil {
		if f, inlined, _ := v.site(); f != nil {
			file, line, has := f.File, f.Line, f.HasLine
			if inlined != nil {
				file, line, has = inlined.File, inlined.Line, inlined.HasLine
			}
			if s, _ := source(file, line, has); s != "" {
				out = append(out, s)
			}
		}
		out = append(out, "thread "+threadLabel(t))
	}
	if product := strings.TrimSpace(r.Process.Product + " " + r.Process.Version); product != "" {
		if r.Process.Type != "" {
			product += " (" + r.Process.Type + ")"
		}
		out = append(out, Clean(product))
	}
	if r.System.Display != "" {
		out = append(out, Clean(withoutBuild(r.System.Display)))
	}
	if r.Process.Uptime != nil {
		out = append(out, "up "+Duration(*r.Process.Uptime))
	}
	if r.Dump.Time != 0 {
		out = append(out, Time(r.Dump.Time))
	}
	return out
}

// withoutBuild removes the build of a Linux kernel ("#1 SMP PREEMPT_DYNAMIC …"), up to the next
// comma. The System tab shows it.
//
//	Linux 6.5.0 #1 SMP PREEMPT_DYNAMIC Mon, x86_64    Linux 6.5.0, x86_64
func withoutBuild(s string) string {
	from := strings.Index(s, " #")
	if from < 0 {
		return s
	}
	if to := strings.IndexByte(s[from:], ','); to >= 0 {
		return s[:from] + s[from+to:]
	}
	return s[:from]
}

// Time formats a dump's time in UTC, because users who share a dump may be in different time zones.
func Time(t uint32) string {
	at := time.Unix(int64(t), 0).UTC()
	y, m, d := at.Date()
	h, min, sec := at.Clock()
	// time.Format is so large a function that a browser takes 40 ms to compile it.
	return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d UTC", y, int(m), d, h, min, sec)
}

// Duration formats seconds: "75 s", "3 min 20 s", "2 days 5 h".
func Duration(s uint64) string {
	switch {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 2*3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 48*3600:
		return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
	}
	return fmt.Sprintf("%d days %d h", s/86400, s/3600%24)
}

// Size formats a number of bytes: "9,000 bytes", "120 KB", "1.5 GB".
func Size(n int64) string {
	switch {
	case n < 10_000:
		return Number(int(n)) + " bytes"
	case n < 10_000_000:
		return Number(int(n/1000)) + " KB"
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n < 1_000_000_000_000:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return Number(int(n/1_000_000_000_000)) + " TB"
}

// system returns the facts of the System tab.
//
// A group without any value is left out, and so is each fact without one.
func (v *View) system() []Group {
	r := v.r
	var g []Group
	add := func(title string, facts ...Fact) {
		kept := []Fact{}
		for _, f := range facts {
			if f.Value != "" {
				f.Value = Clean(f.Value)
				kept = append(kept, f)
			}
		}
		if len(kept) > 0 {
			g = append(g, Group{title, kept})
		}
	}
	add("Process", v.processFacts()...)
	said := make([]Fact, len(v.r.Messages))
	for i := range v.r.Messages {
		said[i] = Fact{Key: v.r.Messages[i].Source, Value: v.r.Messages[i].Text}
	}
	add("The program's messages", said...)
	if r.Crash != nil {
		add("Exception", v.exceptionFacts(r.Crash)...)
	}
	add("System", v.systemFacts()...)
	aux := make([]Fact, len(r.Process.Aux))
	for i, a := range r.Process.Aux {
		value := short(a.Value)
		if strings.Contains(auxNumbers, a.Name+" ") {
			value = fmt.Sprint(a.Value)
		}
		aux[i] = Fact{a.Name, strings.TrimSpace(value + "  " + v.place(a.Value) + a.Text), true}
	}
	add("Auxiliary vector", aux...)
	written := ""
	if r.Dump.Time != 0 {
		written = Time(r.Dump.Time)
	}
	add("Dump", Fact{"File", r.Dump.Name, true}, Fact{"Size", Size(r.Dump.Size), false}, Fact{"Written", written, false},
		Fact{"Flags", short(r.Dump.Flags), true}, Fact{"Unwind policy", r.Policy, false})
	return g
}

func (v *View) processFacts() []Fact {
	p := &v.r.Process
	pid, uptime := "", ""
	if p.PID != nil {
		pid = fmt.Sprint(*p.PID)
	}
	if p.Uptime != nil {
		uptime = Duration(*p.Uptime)
	}
	return []Fact{{"Name", p.Name, true}, {"Process id", pid, false}, {"Kind", p.Type, false}, {"Product", p.Product, false},
		{"Version", p.Version, false}, {"Channel", p.Channel, false}, {"Ran for", uptime, false}}
}

func (v *View) exceptionFacts(c *report.Crash) []Fact {
	params := make([]string, len(c.Params))
	for i, p := range c.Params {
		params[i] = short(p)
	}
	also := text.Reason(v.r, &c.Reason, c.Params)
	if also == c.Reason.Name {
		also = ""
	}
	return []Fact{{"Reason", c.Reason.Name, true}, {"In Breakpad's words", also, true}, {"Address", v.hex(c.Address), true},
		{"Thread id", fmt.Sprintf("%d (0x%x)", c.ThreadID, c.ThreadID), false}, {"Parameters", strings.Join(params, "  "), true}}
}

func (v *View) systemFacts() []Fact {
	s := &v.r.System
	distribution, cores, microcode := "", "", ""
	if l := v.r.LSB; l != nil {
		distribution = cmp.Or(l.Description, strings.TrimSpace(l.ID+" "+l.Release))
	}
	if s.CPUCount > 0 {
		cores = fmt.Sprint(s.CPUCount)
	}
	if s.Microcode != nil {
		microcode = short(*s.Microcode)
	}
	return []Fact{{"Operating system", s.OS, false}, {"Version", s.Version(), false},
		{"Distribution", distribution, false}, {"CPU", s.CPU, false}, {"CPU model", s.CPUInfo, false}, {"Cores", cores, false},
		{"Microcode", microcode, true}}
}

// auxNumbers are the entries of the auxiliary vector that are counts, sizes and ids, which the page
// shows in decimal.
const auxNumbers = "AT_PHENT AT_PHNUM AT_PAGESZ AT_UID AT_EUID AT_GID AT_EGID AT_CLKTCK AT_SECURE AT_RSEQ_FEATURE_SIZE AT_RSEQ_ALIGN AT_MINSIGSTKSZ "

// Policies are the unwind policies that the page offers, by their names in package walker.
var Policies = []struct{ Name, What string }{
	{"best", "best: Crashpane’s default"},
	{"breakpad", "like Breakpad"},
	{"rust-minidump", "like rust-minidump"},
	{"cfi", "call frame information only"},
	{"fp", "frame pointers only"},
	{"scan", "scanning only"},
}
