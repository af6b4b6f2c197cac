// Package signature finds the place of a crash: the first frame that is a user's, and the words by which equal crashes are grouped. Frames
// of runtimes that only end a program (abort, a panic's machinery) say nothing of a crash; functions that everything calls (memcpy,
// malloc) say it with their caller.
//
// The algorithm is that of Mozilla's crash-stats (the Python package siggen), so that with its lists the signatures are the same ones. Our
// own lists are short.
package signature

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Frame is a call, inlined or not, as far as it is known.
type Frame struct {
	Module, Function, File string
	Line                   uint32 // 0 if it is not known
	// Offset is the address. Unloaded is the first unloaded module that had it, "" if there is none.
	Offset   uint64
	Unloaded string
}

// Lists say what the words of frames mean for a crash.
type Lists interface {
	// Irrelevant frames are passed over. Prefix frames are part of the signature and do not end it. Both get a frame with its word.
	Irrelevant(word string, f *Frame) bool
	Prefix(word string, f *Frame) bool
	// Once: of several in a row one is told.
	Once(word string, f *Frame) bool
	// WithLine: the line belongs to the function.
	WithLine(function string) bool
	// Sentinel is the index of the word to start at, 0 if there is none.
	Sentinel(words []string) int
}

const (
	// maxFrames is how many calls are looked at.
	maxFrames = 40
	// maxLength of a signature, in characters.
	maxLength = 255
)

// Words are the words of a stack's first calls.
func Words(frames []Frame, lists Lists) []string {
	frames = frames[:min(len(frames), maxFrames)]
	out := make([]string, len(frames))
	for i := range frames {
		out[i] = frames[i].Word(lists)
	}
	return out
}

// Place is the index of the first frame that is a user's. If all are of runtimes it is the first one; -1 without frames.
func Place(frames []Frame, lists Lists) int {
	words := Words(frames, lists)
	for i, w := range words {
		if w != "" && !lists.Irrelevant(w, &frames[i]) && !lists.Prefix(w, &frames[i]) {
			return i
		}
	}
	return min(len(words), 1) - 1
}

// Crash is what a signature is made of.
type Crash struct {
	Frames []Frame // of the crashed thread; inlined calls before the frame they are in
	// Reason is the exception and LastError the thread's last error, both in rust-minidump's words.
	Reason, LastError string
}

// Of is the signature of a crash.
func Of(c *Crash, lists Lists) string {
	s := joined(c, lists)
	if strings.Contains(c.Reason, "STATUS_DEVICE_DATA_ERROR") {
		s = "bad hardware | " + s
	}
	if outOfMemory(c, s) {
		s = "OOM | unknown | " + s
	}
	if c.Reason == "EXCEPTION_STACK_OVERFLOW" {
		s = "stackoverflow | " + s
	}
	s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	if utf8.RuneCountInString(s) > maxLength {
		s = string([]rune(s)[:maxLength-3]) + "..."
	}
	return s
}

// joined are the words of the frames that count, up to the first that is no prefix.
func joined(c *Crash, lists Lists) string {
	words, frames := Words(c.Frames, lists), c.Frames
	if len(words) > 0 {
		at := lists.Sentinel(words)
		words, frames = words[at:], frames[at:]
	}
	var out []string
	for i, w := range words {
		if w == "" || lists.Irrelevant(w, &frames[i]) || lists.Once(w, &frames[i]) && len(out) > 0 && out[len(out)-1] == w {
			continue
		}
		if out = append(out, w); !lists.Prefix(w, &frames[i]) {
			break
		}
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, " | ")
	case len(words) > 0 && words[0] != "":
		return words[0]
	}
	return "EMPTY: no frame data available"
}

func outOfMemory(c *Crash, signature string) bool {
	for _, part := range []string{"NS_ABORT_OOM", "mozalloc_handle_oom", "CrashAtUnhandlableOOM", "AutoEnterOOMUnsafeRegion", "alloc::oom::oom"} {
		if strings.Contains(signature, part) {
			return true
		}
	}
	switch c.LastError {
	case "ERROR_COMMITMENT_LIMIT", "ERROR_NOT_ENOUGH_MEMORY":
		return true
	}
	return c.Reason == "STATUS_FATAL_MEMORY_EXHAUSTION" || c.Reason == "STATUS_NO_MEMORY"
}
