package signature

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// Call locates a Frame in a report's stack: an inlined call of a frame, or the frame itself if
// Inline is -1.
type Call struct{ Frame, Inline int }

// Stack returns the first calls of a thread, inlined calls before their frame, and where each is in
// the report. name returns the name to use for a function.
func Stack(r *report.Report, thread int, name func(report.Name) string) (frames []Frame, calls []Call) {
	if thread < 0 || thread >= len(r.Threads) {
		return nil, nil
	}
	t := &r.Threads[thread]
	for i := range t.Frames {
		if len(frames) >= maxFrames {
			break
		}
		f := &t.Frames[i]
		module := ""
		if f.Module >= 0 {
			module = report.BaseName(r.Modules[f.Module].Name)
			if strings.HasPrefix(r.System.OS, "Windows") {
				module = strings.ToLower(module)
			}
		}
		for j := range f.Inlines {
			in := &f.Inlines[j]
			frames = append(frames, Frame{Module: module, Function: name(in.Function), File: in.File, Line: in.Line, Offset: f.Lookup})
			calls = append(calls, Call{i, j})
		}
		own := Frame{Module: module, File: f.File, Line: f.Line, Offset: f.Lookup}
		if f.Named() {
			own.Function, own.Nearest = name(f.Function), f.Nearest
		}
		if len(f.Unloaded) > 0 {
			own.Unloaded = f.Unloaded[0].Module
		}
		frames, calls = append(frames, own), append(calls, Call{i, -1})
	}
	return frames, calls
}

// OfReport returns the signature of a report's crash, or "" without a crash, and the crash's place
// in the crashed thread's stack. The place's Frame is -1 if the stack is empty.
func OfReport(r *report.Report, lists Lists, name func(report.Name) string) (string, Call) {
	thread := r.FirstThread
	if r.Crash != nil {
		thread = r.Crash.Thread
	}
	frames, calls := Stack(r, thread, name)
	ended := ended(r.Crash, calls)
	at := Call{-1, -1}
	if i := Place(frames[ended:], lists); i >= 0 {
		at = calls[ended+i]
	}
	if r.Crash == nil || r.Crash.Requested {
		return "", at
	}
	if lists == Own {
		frames = frames[ended:]
	}
	c := Crash{Frames: frames, Reason: r.Crash.Reason.Name}
	if thread >= 0 && thread < len(r.Threads) && r.Threads[thread].LastError != nil {
		c.LastError = r.Threads[thread].LastError.Text
	}
	return Of(&c, lists), at
}

// ended returns how many calls are those of what ended the program, or 0 if there are no others.
func ended(c *report.Crash, calls []Call) int {
	for i := range calls {
		if c != nil && calls[i].Frame >= c.Ended {
			return i
		}
	}
	return 0
}
