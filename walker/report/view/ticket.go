package view

import (
	"fmt"
	"path"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/ticket"
)

// TicketOptions says what a ticket has.
type TicketOptions struct {
	// Thread is the thread that it is about, -1 for the report's first. All: it has the others, too.
	Thread int
	All    bool
	// Private: it has private texts. Else they are hidden, and so are names of users in paths.
	Private bool
}

// maxCopied is the most frames of a ticket's stack, since a clipboard with tens of thousands of lines
// can hang other programs; maxOther is that of the threads that it is not about.
const (
	maxCopied = 1000
	maxOther  = 20
)

// Ticket makes the ticket of a report.
func Ticket(r *report.Report, demangle func(string) string, opt TicketOptions) *ticket.Ticket {
	if !opt.Private {
		r = r.Redacted()
	}
	v := New(r, demangle)
	if opt.Thread < 0 {
		opt.Thread = r.FirstThread
	}
	t := &ticket.Ticket{Dump: rows.Clean(rows.BaseName(r.Dump.Name)), Verdict: v.sentence(), Facts: v.ticketFacts(), WordSize: r.Dump.WordSize,
		Findings: v.Findings(), Hidden: !opt.Private}
	for _, m := range r.Messages {
		t.Messages = append(t.Messages, rows.Fact{Key: rows.Clean(m.Source), Value: rows.Clean(m.Text)})
	}
	for _, line := range strings.Split(strings.TrimSuffix(v.MissingText(), "\n"), "\n") {
		if line != "" {
			t.Missing = append(t.Missing, strings.Join(strings.FieldsFunc(line, func(c rune) bool { return c == '\t' }), ", "))
		}
	}
	for _, i := range v.moduleOrder() {
		t.AllModules = append(t.AllModules, v.ticketModule(i))
	}
	if first := v.thread(opt.Thread); first != nil {
		t.Stacks = append(t.Stacks, v.ticketStack(first, maxCopied))
		t.Modules = v.modulesOf(first)
		if opt.All {
			for _, i := range v.order() {
				if i != opt.Thread {
					t.Stacks = append(t.Stacks, v.ticketStack(&r.Threads[i], maxOther))
				}
			}
		}
		v.firstFrame(t, opt.Thread)
	}
	if !opt.Private {
		t.Map(report.HideUsers)
	}
	return t
}

// firstFrame adds the instruction that crashed, and the registers.
func (v *View) firstFrame(t *ticket.Ticket, thread int) {
	t.Code = v.instruction(thread, 0)
	frames := v.r.Threads[thread].Frames
	if len(frames) == 0 {
		return
	}
	d := rows.FrameDetail{}
	v.registers(&d, &frames[0])
	for _, r := range d.Registers {
		if r.Value != "" {
			t.Registers = append(t.Registers, r)
		}
	}
	if g := frames[0].Regs; g != nil && g.Arch != nil {
		t.FramePointer = g.Arch.Name == cpu.X86.Name
	}
}

// ticketFacts are the facts about the dump and the crash.
func (v *View) ticketFacts() []rows.Fact {
	r := v.r
	var out []rows.Fact
	add := func(key, value string, code bool) {
		if value = strings.TrimSpace(value); value != "" {
			out = append(out, rows.Fact{Key: key, Value: rows.Clean(value), Code: code})
		}
	}
	p := &r.Process
	add("Dump", rows.BaseName(r.Dump.Name), false)
	if r.Dump.Time != 0 {
		add("Time", Time(r.Dump.Time), false)
	}
	add("Product", p.Product+" "+p.Version, false)
	process := p.Name
	if p.Type != "" {
		process += " (" + p.Type + ")"
	}
	if p.PID != nil {
		process += fmt.Sprintf(", process %d", *p.PID)
	}
	add("Process", strings.TrimPrefix(process, ", "), false)
	if p.Uptime != nil {
		add("Uptime", Duration(*p.Uptime), false)
	}
	add("System", r.System.Display, false)
	add("Reason", recorded(r.Crash), false)
	if r.Crash != nil {
		_, _, _, words := v.site()
		add("Signature", words, true)
	}
	if r.Policy != "best" {
		add("Unwind method", r.Policy, false)
	}
	return out
}

// recorded returns an exception's name and address as the dump records them. If that is not what
// happened, it says whose each is.
//
//	SIGSEGV / SEGV_MAPERR, address 0x10
//	SIGSEGV / SI_KERNEL; the exception's record has address 0x0, the instruction's is 0x800000000000000
//	SIGABRT / SI_TKILL, which a signal's handler sent after the crash
func recorded(c *report.Crash) string {
	if c == nil {
		return ""
	}
	name := c.Reason.Name
	sent := c.Event.Sent || strings.HasPrefix(name, "SIGABRT") || strings.Contains(name, " / SI_") && !strings.HasSuffix(name, "SI_KERNEL")
	switch {
	case c.Answer:
		return name + ", with which a signal's handler answered the crash"
	case sent: // the record has the sender in place of an address
		return name
	case c.Event.HasAddress && c.Event.Address != c.Address:
		return fmt.Sprintf("%s; the exception's record has address %s, the instruction's is %s", name, short(c.Address), short(c.Event.Address))
	}
	return name + ", address " + short(c.Address)
}

// ticketStack makes a stack of a ticket, of at most most frames.
func (v *View) ticketStack(t *report.Thread, most int) ticket.Stack {
	out := ticket.Stack{Title: "Thread " + threadLabel(t) + crashedWord(t) + fmt.Sprintf(", id %d", t.ID), Total: len(t.Frames), Stop: stopSentence(t),
		Suggestion: sentenceCase(rows.Clean(t.Stop.Suggestion)), Quality: v.quality(t), Frames: []ticket.Frame{}}
	for i := 0; i < len(t.Frames) && most > 0; i++ {
		f := &t.Frames[i]
		if g := t.FoldAt(i); g != nil {
			out.Frames = append(out.Frames, ticket.Frame{StackRow: v.foldRow(t, g, ""), Several: g.Count})
			i = g.From + g.Count - 1
			continue
		}
		for k := range f.Inlines {
			row := v.inlineRow(f, i, k)
			out.Frames = append(out.Frames, ticket.Frame{StackRow: row, Call: windbgCall(row.Module, row.Full, "")})
		}
		out.Frames = append(out.Frames, v.ticketFrame(t, i))
		most--
	}
	return out
}

// ticketFrame makes a frame of a ticket.
func (v *View) ticketFrame(t *report.Thread, i int) ticket.Frame {
	f := &t.Frames[i]
	out := ticket.Frame{StackRow: v.frameRow(f, i)}
	if i+1 < len(t.Frames) {
		out.Return = t.Frames[i+1].PC
	}
	if g := f.Regs; g != nil && g.Arch != nil {
		r := g.Arch.SP
		if g.Arch.Name == cpu.X86.Name {
			r = g.Arch.FP
		}
		out.Child, _ = g.Get(r)
	}
	m := v.module(f.Module)
	switch {
	case named(f):
		out.Call = windbgCall(out.Module, v.full(f.Function), offsetOf(f.PC-f.FunctionStart))
	case m != nil:
		out.Call = windbgCall(out.Module, "", offsetOf(f.PC-f.Lookup+f.RVA))
	default:
		out.Call = v.frameHex(f, f.PC)
	}
	return out
}

func offsetOf(n uint64) string {
	if n == 0 {
		return ""
	}
	return "+" + short(n)
}

// windbgCall returns a call as WinDbg prints it: "app!parse+0x1c". A module's name is its file's
// without the ending of a program, with "_" for what cannot be part of an expression.
func windbgCall(module, function, offset string) string {
	switch ext := strings.ToLower(path.Ext(module)); ext {
	case ".exe", ".dll", ".sys", ".drv", ".ocx", ".cpl", ".scr":
		module = module[:len(module)-len(ext)]
	}
	module = strings.Map(func(c rune) rune {
		if c < 0x80 && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return '_'
		}
		return c
	}, module)
	switch {
	case module == "":
		return function + offset
	case function == "":
		return module + offset
	}
	return module + "!" + function + offset
}

// ticketModule makes a module of a ticket.
func (v *View) ticketModule(i int) ticket.Module {
	start, end := v.r.Modules[i].Range()
	return ticket.Module{ModuleRow: v.moduleRow(i), Size: end - start}
}

// modulesOf returns the modules on a stack, in its order, without those of guesses alone.
func (v *View) modulesOf(t *report.Thread) (out []ticket.Module) {
	seen := map[int]bool{}
	for i := range t.Frames {
		if m := t.Frames[i].Module; v.module(m) != nil && !seen[m] && t.GuessesAt(i) == nil {
			seen[m] = true
			out = append(out, v.ticketModule(m))
		}
	}
	return out
}

// sentence returns the verdict as plain text.
func (v *View) sentence() string {
	var b strings.Builder
	for _, s := range v.Verdict() {
		b.WriteString(s.Text)
	}
	return b.String()
}

func crashedWord(t *report.Thread) string {
	if t.Crashed {
		return " (crashed)"
	}
	return ""
}
