package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/signature"
)

// Verdict returns the sentence about the crash: which process, what happened, where.
//
//	app tried to read 8 bytes at 0x10 (null pointer plus 16, through rax) in parse.
func (v *View) Verdict() []rows.Span {
	r := v.r
	who := cmp.Or(rows.Clean(rows.BaseName(r.Process.Name)), "The process")
	out := []rows.Span{{Text: who, Role: "name"}}
	say := func(text, role string) { out = append(out, rows.Span{Text: text, Role: role}) }
	if r.Crash == nil && v.exceptionLost() {
		say(" cannot be judged: the dump is damaged, and its exception cannot be read.", "")
		return out
	}
	if r.Crash == nil || r.Crash.Requested {
		if r.Crash == nil {
			say(" did not crash: the dump holds no exception.", "")
		} else {
			say(" did not crash.", "")
		}
		if r.HasRequesting {
			say(" The dump was requested", "")
			if t := v.thread(r.FirstThread); t != nil {
				say(" by thread "+threadLabel(t), "")
			}
			say(".", "")
		}
		return out
	}
	e := &r.Crash.Event
	say(" "+rows.Clean(e.Did), "")
	if e.HasAddress {
		say(" ", "")
		say(short(e.Address), "code")
	}
	if why := v.reasonWhy(); why != "" {
		say(" ("+why+")", "guess")
	}
	v.where(say)
	say(".", "")
	return out
}

// reasonWhy returns the cause of the crash, with readable names.
func (v *View) reasonWhy() string {
	c := v.r.Crash.Named(v.full, func(n report.Name) string { return rows.Bare(v.full(n)) })
	return rows.Clean(c.Why())
}

// exceptionLost reports whether the dump may have an exception that could not be read, so that the
// verdict must not deny one.
func (v *View) exceptionLost() bool {
	for _, d := range v.r.Diagnostics {
		if d.Severity == "error" && (strings.Contains(d.Text, "Exception") || strings.Contains(d.Text, "irectory")) {
			return true
		}
	}
	return false
}

// site returns the crash's place, which is the first call of the program's own code, and the
// crash's signature. f is nil if the crashed thread has no frames, or none where the program can have
// ended itself.
//
// The first call of the program's own code is not always frame 0: after a failed assertion the
// first frames are abort and raise of the C library.
// name is its function, as the signature spells it, or "".
func (v *View) site() (f *report.Frame, inlined *report.Inline, name, words string) {
	words, name, at := signature.OfReport(v.r, signature.Own, v.full)
	if at.Frame < 0 {
		return nil, nil, "", words
	}
	thread := v.r.FirstThread
	if v.r.Crash != nil {
		thread = v.r.Crash.Thread
	}
	f = &v.r.Threads[thread].Frames[at.Frame]
	if at.Inline >= 0 {
		inlined = &f.Inlines[at.Inline]
	}
	return f, inlined, name, words
}

// upTo returns the frames of the crashed thread up to one of them.
func (v *View) upTo(f *report.Frame) []report.Frame {
	if t := v.thread(v.r.Crash.Thread); t != nil {
		for i := range t.Frames {
			if &t.Frames[i] == f {
				return t.Frames[:i+1]
			}
		}
	}
	return nil
}

// where adds the function of the crash's place, or without a name the module and the offset in it.
//
//	… in parse.    … at DllMain+0x1a0.    … in app+0x4f3a.
func (v *View) where(say func(text, role string)) {
	f, inlined, name, _ := v.site()
	offset, in := "", " in "
	switch frames := v.upTo(f); {
	case len(frames) < 2:
	// What was running did not cause the signal, and nor did its callers.
	case v.r.Crash.Event.Sent && frames[0].Module < 0:
		f, inlined, name = &frames[0], nil, ""
	case slices.ContainsFunc(frames, func(f report.Frame) bool { return f.Scanned() }):
		in = ", perhaps called from "
	}
	switch {
	case f == nil:
		if v.r.Crash.Ended > 0 {
			say("; this stack names no function of the program", "")
		}
		return
	case inlined == nil && named(f):
		offset = after(f)
	}
	switch {
	case in != " in ":
	case v.r.Crash.Event.Sent:
		in = " while running "
	case offset != "":
		in = " at "
	}
	if name != "" {
		say(in, "")
		say(name+offset, "code")
		return
	}
	m := v.module(f.Module)
	if m == nil {
		say(", outside of every module", "")
		return
	}
	say(in, "")
	say(rows.Clean(m.Title())+"+"+short(f.RVA), "code")
}

// pattern returns a note for values with which the program's runtimes fill memory, or "".
func (v *View) pattern(a uint64) string {
	if means := v.r.Patterns.Find(a); means != "" {
		return "perhaps " + means
	}
	return ""
}

// threadLabel returns a thread's number and name.
func threadLabel(t *report.Thread) string {
	s := fmt.Sprint(t.Index)
	if t.IsSecond {
		s = fmt.Sprintf("%d, second stack", t.Other)
	}
	if t.Unlisted {
		s = fmt.Sprintf("with id %d, which is not in the dump’s list", t.ID)
	}
	if t.Name != "" {
		s += " “" + rows.Clean(t.Name) + "”"
	}
	return s
}
