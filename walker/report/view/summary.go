package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/text"
)

// Summary makes the summary.
func (v *View) Summary() rows.Summary {
	r := v.r
	s := rows.Summary{Name: rows.Clean(rows.BaseName(r.Dump.Name)), Verdict: v.Verdict(),
		FirstThread: r.FirstThread, Threads: len(v.order()), Missing: len(r.Missing),
		Diag: len(r.Diagnostics), Facts: v.facts(), System: v.system(), Log: []rows.LogRow{}, Findings: v.Findings(), Messages: []rows.Fact{}}
	for _, said := range v.r.Messages {
		s.Messages = append(s.Messages, rows.Fact{Key: rows.Clean(said.Source), Value: rows.Clean(said.Text)})
	}
	for i := range r.Modules {
		if !r.Modules[i].Merged {
			s.Modules++
		}
	}
	if r.Crash != nil {
		s.Reason = rows.Clean(r.Crash.Reason.Name)
		_, _, _, words := v.site()
		s.Signature = rows.Clean(words)
	}
	for i, d := range r.Diagnostics {
		if d.Severity == "error" {
			s.Errors++
		}
		if i < maxLog {
			s.Log = append(s.Log, rows.LogRow{Severity: rows.Clean(d.Severity), Text: rows.Clean(d.Text)})
		}
	}
	if n := len(r.Diagnostics) - maxLog; n > 0 {
		s.Log = append(s.Log, rows.LogRow{Severity: "note", Text: fmt.Sprintf("%s more are not listed here.", rows.Number(n))})
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
		if f, inlined, _, _ := v.site(); f != nil {
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
		out = append(out, rows.Clean(product))
	}
	if r.System.Display != "" {
		out = append(out, rows.Clean(withoutBuild(r.System.Display)))
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

// system returns the facts of the System tab.
//
// A group without any value is left out, and so is each fact without one.
func (v *View) system() []rows.Group {
	r := v.r
	var g []rows.Group
	add := func(title string, facts ...rows.Fact) {
		kept := []rows.Fact{}
		for _, f := range facts {
			if f.Value != "" {
				f.Value = rows.Clean(f.Value)
				kept = append(kept, f)
			}
		}
		if len(kept) > 0 {
			g = append(g, rows.Group{Title: title, Facts: kept})
		}
	}
	add("Process", v.processFacts()...)
	said := make([]rows.Fact, len(v.r.Messages))
	for i := range v.r.Messages {
		said[i] = rows.Fact{Key: v.r.Messages[i].Source, Value: v.r.Messages[i].Text}
	}
	add("The program's messages", said...)
	if r.Crash != nil {
		add("Exception", v.exceptionFacts(r.Crash)...)
	}
	add("System", v.systemFacts()...)
	aux := make([]rows.Fact, len(r.Process.Aux))
	for i, a := range r.Process.Aux {
		value := short(a.Value)
		if strings.Contains(auxNumbers, a.Name+" ") {
			value = fmt.Sprint(a.Value)
		}
		aux[i] = rows.Fact{Key: a.Name, Value: strings.TrimSpace(value + "  " + v.place(a.Value) + a.Text), Code: true}
	}
	add("Auxiliary vector", aux...)
	written := ""
	if r.Dump.Time != 0 {
		written = Time(r.Dump.Time)
	}
	flags := ""
	if !r.Dump.Core && !r.Dump.Micro {
		flags = short(r.Dump.Flags)
	}
	add("Dump", rows.Fact{Key: "File", Value: r.Dump.Name, Code: true}, rows.Fact{Key: "Size", Value: rows.Size(r.Dump.Size), Code: false}, rows.Fact{Key: "Written", Value: written, Code: false},
		rows.Fact{Key: "Flags", Value: flags, Code: true}, rows.Fact{Key: "Unwind policy", Value: r.Policy, Code: false})
	return g
}

func (v *View) processFacts() []rows.Fact {
	p := &v.r.Process
	pid, uptime := "", ""
	if p.PID != nil {
		pid = fmt.Sprint(*p.PID)
	}
	if p.Uptime != nil {
		uptime = Duration(*p.Uptime)
	}
	return []rows.Fact{{Key: "Name", Value: p.Name, Code: true}, {Key: "Process id", Value: pid, Code: false}, {Key: "Kind", Value: p.Type, Code: false}, {Key: "Product", Value: p.Product, Code: false},
		{Key: "Version", Value: p.Version, Code: false}, {Key: "Channel", Value: p.Channel, Code: false}, {Key: "Ran for", Value: uptime, Code: false}}
}

func (v *View) exceptionFacts(c *report.Crash) []rows.Fact {
	params := make([]string, len(c.Params))
	for i, p := range c.Params {
		params[i] = short(p)
	}
	also := text.Reason(v.r, &c.Reason, c.Params)
	if also == c.Reason.Name {
		also = ""
	}
	return []rows.Fact{{Key: "Reason", Value: c.Reason.Name, Code: true}, {Key: "In Breakpad's words", Value: also, Code: true}, {Key: "Address", Value: v.hex(c.Address), Code: true},
		{Key: "Thread id", Value: fmt.Sprintf("%d (0x%x)", c.ThreadID, c.ThreadID), Code: false}, {Key: "Parameters", Value: strings.Join(params, "  "), Code: true}}
}

func (v *View) systemFacts() []rows.Fact {
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
	return []rows.Fact{{Key: "Operating system", Value: s.OS, Code: false}, {Key: "Version", Value: s.Version(), Code: false},
		{Key: "Distribution", Value: distribution, Code: false}, {Key: "CPU", Value: s.CPU, Code: false}, {Key: "CPU model", Value: s.CPUInfo, Code: false}, {Key: "Cores", Value: cores, Code: false},
		{Key: "Microcode", Value: microcode, Code: true}}
}

// auxNumbers are the entries of the auxiliary vector that are counts, sizes and ids, which the page
// shows in decimal.
const auxNumbers = "AT_PHENT AT_PHNUM AT_PAGESZ AT_UID AT_EUID AT_GID AT_EGID AT_CLKTCK AT_SECURE AT_RSEQ_FEATURE_SIZE AT_RSEQ_ALIGN AT_MINSIGSTKSZ "
