package report

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/reason"
)

// Exception is one of the dump's exceptions. The first is the crash; LLDB writes one for each
// thread that a signal has stopped.
type Exception struct {
	Reason  Reason
	Code    uint32
	Flags   uint32
	Address uint64
	Params  []uint64
	// Thread is the index of the thread in Threads, or -1; ThreadID is its id.
	Thread   int
	ThreadID uint32
	Event    analysis.Event
	// Nested are the records that Windows keeps of exceptions before this one: it was raised while
	// they were handled. Missing is the address of a further one that the dump does not hold, or 0.
	Nested  []Exception
	Missing uint64
}

// exceptions makes the list of the dump's exceptions.
func (b *builder) exceptions() {
	b.r.Exceptions = []Exception{}
	for i := range b.d.Exceptions {
		e := &b.d.Exceptions[i]
		one := b.exception(e)
		records, missing := b.d.NestedExceptions(e)
		for k := range records {
			one.Nested = append(one.Nested, b.exception(&records[k]))
		}
		one.Missing = missing
		b.r.Exceptions = append(b.r.Exceptions, one)
	}
	if e := b.r.CrashException(); e != nil && !b.r.Crash.Answer {
		e.Event = b.r.Crash.Event // which knows the instruction, too
	}
}

// CrashException returns the exception that Crash is about, or nil.
func (r *Report) CrashException() *Exception {
	if r.Crash == nil || r.Crash.Index >= len(r.Exceptions) {
		return nil
	}
	return &r.Exceptions[r.Crash.Index]
}

// exception decodes an exception by its record alone.
func (b *builder) exception(e *core.Exception) Exception {
	d := *b.d
	d.Exception = e
	why := reason.Decode(&d)
	out := Exception{Reason: Reason{why.Name, why.Code, why.Flags}, Code: e.Code, Flags: e.Flags, Address: why.Address, Params: append([]uint64{}, e.Params...),
		Thread: b.d.ThreadByID(e.ThreadID), ThreadID: e.ThreadID, Nested: []Exception{},
		Event: analysis.Event{Did: why.Text, Address: why.Address, HasAddress: why.HasAddress, Why: why.Why}}
	if why.HasAddress {
		out.Event.Did += " at"
	}
	return out
}

// exceptionFindings says what the dump has besides the exception that the report is about, and what
// it lacks of it.
func (b *builder) exceptionFindings() {
	r := b.r
	add := func(kind FindingKind, thread int, suggestion, format string, args ...any) {
		r.Findings = append(r.Findings, Finding{Kind: kind, Thread: thread, Module: -1, Suggestion: suggestion, Text: fmt.Sprintf(format, args...)})
	}
	if n := len(r.Exceptions); n > 1 {
		const most = 8 // the JSON has all of them
		var all []string
		for i := range min(n, most) {
			all = append(all, b.threadWords(&r.Exceptions[i])+": "+r.Exceptions[i].summary())
		}
		text := strings.Join(all, "; ")
		if n > most {
			text += fmt.Sprintf("; and %d more", n-most)
		}
		shown := "first"
		if r.Crash != nil && r.Crash.Index > 0 { // in a dump that is not normalized
			shown = "last"
		}
		add(FindingSeveral, -1, "", "the dump has %d exceptions, and the %s is shown as the crash: %s", n, shown, text)
	}
	for i := range r.Exceptions {
		e := &r.Exceptions[i]
		for k := range e.Nested {
			add(FindingNested, e.Thread, "", "the exception of %s was raised while another was handled: %s", b.threadWords(e), e.Nested[k].summary())
		}
		if e.Missing != 0 {
			add(FindingNested, e.Thread, "", "the exception of %s was raised while another was handled, whose record at 0x%x the dump does not hold", b.threadWords(e), e.Missing)
		}
		if e.Thread >= 0 && !r.Threads[e.Thread].Unlisted {
			continue
		}
		list := "the dump has no list of threads"
		if r.Listed > 0 {
			list = "it is not in the dump's list of " + count(r.Listed, "thread", "threads")
		}
		what := "its first frame is the exception's own"
		_, unreadable := b.d.ContextOf(&b.d.Exceptions[i])
		switch {
		case e.Thread < 0 && unreadable == nil: // as in a dump that is not normalized
			what = "the unwind policy walks no thread that is not in the list"
		case e.Thread < 0:
			what = "the exception has no registers of its own either, so it has no stack"
		case len(r.Threads[e.Thread].Frames) > 1:
			what = "its stack begins at the exception's own registers"
		}
		add(FindingUnlisted, e.Thread, "have the dump written with all threads", "the thread with the id %d had the exception, and %s: %s", e.ThreadID, list, what)
	}
}

// summary returns the exception and what it did: "SIGSEGV / SEGV_MAPERR, tried to read memory at
// 0x10".
func (e *Exception) summary() string {
	return e.Reason.Name + ", " + e.Event.String()
}

// threadWords returns "thread 3", or "the thread with the id 777" for one that has no number.
func (b *builder) threadWords(e *Exception) string {
	if e.Thread < 0 {
		return fmt.Sprintf("the thread with the id %d", e.ThreadID)
	}
	return b.threadText(e.Thread)
}

// count returns "1 thread", "2 threads".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// wow64Findings says which threads of a 32-bit process lack their own registers, and which lack
// their second stack.
func (b *builder) wow64Findings() {
	w := b.d.Wow64()
	if w == nil {
		return
	}
	add := func(kind FindingKind, of []core.Lacking, suggestion, format string) {
		if len(of) == 0 {
			return
		}
		first := of[0]
		who, why, thread := fmt.Sprintf("thread %d", first.Thread), first.Why, first.Thread
		if n := len(of); n > 1 {
			who, why, thread = fmt.Sprintf("%d threads", n), fmt.Sprintf("of thread %d, %s", first.Thread, first.Why), -1
		}
		b.r.Findings = append(b.r.Findings, Finding{Kind: kind, Thread: thread, Module: -1, Suggestion: suggestion, Text: fmt.Sprintf(format, who, why)})
	}
	add(FindingWow64, w.Lacking, "have the dump written by a 32-bit tool, or with all memory",
		"the process is a 32-bit one, dumped by a 64-bit tool, and the 32-bit registers of %s are not known, so that the frames are those of the 64-bit layer: %s")
	add(FindingLayer, w.Left, "", "%s ran 32-bit code, and the stack in the 64-bit layer under it is not shown: %s")
}

// dumpFindings says what the dump lacks as a whole.
func (b *builder) dumpFindings() {
	add := func(kind FindingKind, module int, suggestion, text string) {
		b.r.Findings = append(b.r.Findings, Finding{Kind: kind, Thread: -1, Module: module, Text: text, Suggestion: suggestion})
	}
	if b.d.System == nil && b.d.Micro == nil {
		text := "the dump does not say its system and processor (it has no SystemInfo stream)"
		if b.d.Stream(core.StreamSystemInfo) != nil {
			text = "the dump does not say its system and processor (its SystemInfo stream cannot be read)"
		}
		if a := b.d.Arch(); a != nil {
			text += ": the processor, " + a.Name + ", is known by the threads' registers"
		}
		if b.d.Exception != nil {
			text += "; what the exception's code means is not known"
		}
		add(FindingNoSystem, -1, "", text)
	}
	var unnamed []int
	for i := range b.r.Modules {
		if nameless(b.r.Modules[i].Name) {
			unnamed = append(unnamed, i)
		}
	}
	switch n := len(unnamed); {
	case n == 1:
		add(FindingNameless, unnamed[0], "", "a module has no name in the dump; it is called "+b.r.Modules[unnamed[0]].Title()+", by its address")
	case n > 1:
		add(FindingNameless, -1, "", fmt.Sprintf("%d modules have no name in the dump; they are called by their addresses, such as %s", n, b.r.Modules[unnamed[0]].Title()))
	}
}
