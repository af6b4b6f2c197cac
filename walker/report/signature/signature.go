// Package signature makes the signature of a crash, which groups equal crashes, and finds the
// crash's place: the first frame of the program's own code.
//
//	frames              class         signature
//	abort               irrelevant    skipped
//	memcpy              prefix        memcpy
//	parse(Buffer&)      neither       memcpy | parse
//
// Start at OfReport in stack.go, then Of in this file; normalize.go makes the words of frames. The
// algorithm is that of Mozilla's crash-stats (the Python package siggen): with its lists the
// signatures are the same. Own has shorter lists.
package signature

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Frame is a call, inlined or not. Unknown fields are empty.
type Frame struct {
	Module, Function, File string
	Line                   uint32 // 0 if it is not known
	// Offset is the address. Unloaded is the first unloaded module that covered it, or "".
	Offset   uint64
	Unloaded string
	// Nearest: Function is only the nearest name before the address. Inlined: it is an inlined call.
	// Scanned: the frame was found by scanning.
	Nearest, Inlined, Scanned bool
	Language                  Language
}

// Language is the language that a function's name shows that it is written in.
type Language uint8

const (
	LanguageUnknown Language = iota
	LanguageCPP
	LanguageRust
)

// Lists classify the words of frames.
type Lists interface {
	// Irrelevant frames are skipped. Prefix frames are part of the signature and do not end it.
	Irrelevant(word string, f *Frame) bool
	Prefix(word string, f *Frame) bool
	// Once reports whether consecutive frames with the same word count once.
	Once(word string, f *Frame) bool
	// WithLine reports whether the word of a function includes its line.
	WithLine(function string) bool
	// Shown returns a frame's word as the signature has it.
	Shown(word string, f *Frame) string
	// Sentinel returns the index of the word at which the signature starts.
	Sentinel(words []string) int
}

const (
	// maxFrames is how many calls a signature considers.
	maxFrames = 40
	// maxLength is the length of the longest signature, in characters.
	maxLength = 255
)

// Words returns the words of a stack's first calls.
func Words(frames []Frame, lists Lists) []string {
	frames = frames[:min(len(frames), maxFrames)]
	out := make([]string, len(frames))
	for i := range frames {
		out[i] = frames[i].Word(lists)
	}
	return out
}

// Place returns the index of the first frame of the program's own code. Without one it is 0,
// or -1 without frames, and own is false.
func Place(frames []Frame, lists Lists) (at int, own bool) {
	words := Words(frames, lists)
	for i, w := range words {
		if w != "" && !lists.Irrelevant(w, &frames[i]) && !lists.Prefix(w, &frames[i]) {
			return i, true
		}
	}
	return min(len(words), 1) - 1, false
}

// Crash is what Of makes a signature from.
type Crash struct {
	Frames []Frame // of the crashed thread; inlined calls before the frame they are in
	// Reason is the exception and LastError the thread's last error, as rust-minidump prints them.
	Reason, LastError string
}

// Of returns the signature of a crash.
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
	if lists == Own {
		s = withPlace(s)
	}
	if utf8.RuneCountInString(s) > maxLength {
		s = string([]rune(s)[:maxLength-3]) + "..."
	}
	return s
}

// withPlace leaves words out of a signature that is too long, those right before the last, so that the
// last word, the crash's place, is not cut off: "<T as core::fmt::Display>::fmt | ... | app::show".
func withPlace(s string) string {
	words := strings.Split(s, " | ")
	last := len(words) - 1
	for n := last; n > 0 && utf8.RuneCountInString(s) > maxLength; n-- {
		s = strings.Join(slices.Concat(words[:n-1], []string{"...", words[last]}), " | ")
	}
	return s
}

// joined returns the words of the relevant frames, up to the first that is not a prefix, joined by
// " | ".
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
		if out = append(out, lists.Shown(w, &frames[i])); !lists.Prefix(w, &frames[i]) {
			break
		}
	}
	switch {
	case len(out) > 0:
		return strings.Join(out, " | ")
	case len(words) > 0 && words[0] != "":
		return lists.Shown(words[0], &frames[0])
	}
	return "EMPTY: no frame data available"
}

// outOfMemory reports whether a signature is that of a program which ran out of memory, as
// crash-stats finds it out.
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
