package signature

import (
	"path"
	"slices"
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
			frames = append(frames, Frame{Module: module, Function: name(in.Function), File: in.File, Line: in.Line, Offset: f.Lookup,
				Inlined: true, Language: language(in.Function.Raw, in.File)})
			calls = append(calls, Call{i, j})
		}
		own := Frame{Module: module, File: f.File, Line: f.Line, Offset: f.Lookup, Scanned: f.Scanned()}
		if f.Named() {
			own.Function, own.Nearest, own.Language = name(f.Function), f.Nearest, language(f.Function.Raw, f.File)
		}
		if len(f.Unloaded) > 0 {
			own.Unloaded = f.Unloaded[0].Module
		}
		frames, calls = append(frames, own), append(calls, Call{i, -1})
	}
	return frames, calls
}

// OfReport returns the signature of a report's crash, or "" without a crash, and the crash's place
// in the crashed thread's stack. The place's Frame is -1 if the stack is empty, or if the program ended
// itself and only functions of runtimes and systems are on the stack. word is the function of
// the place as the signature spells it, or "" if it has no name.
func OfReport(r *report.Report, lists Lists, name func(report.Name) string) (signature, word string, place Call) {
	thread := r.FirstThread
	if r.Crash != nil {
		thread = r.Crash.Thread
	}
	frames, calls := Stack(r, thread, name)
	if lists == Own {
		withoutPlaceholders(frames)
	}
	ended, all := ended(r.Crash, calls)
	place = Call{-1, -1}
	if i, own := Place(frames[ended:], lists); i >= 0 && (r.Crash == nil || r.Crash.Ended == 0 || r.Crash.Answer || own && !r.Crash.Runtimes) {
		place = calls[ended+i]
		if f := &frames[ended+i]; f.Function != "" {
			word = strings.TrimSpace(f.Word(lists))
		}
	}
	if r.Crash == nil || r.Crash.Requested {
		return "", word, place
	}
	if lists == Own {
		frames = frames[ended:]
		// What ended the program is all that there is to tell crashes apart.
		for all && len(frames) > 1 && (frames[0].Function == "" || lists.Irrelevant(frames[0].Word(lists), &frames[0])) {
			frames = frames[1:]
		}
	}
	c := Crash{Frames: frames, Reason: r.Crash.Reason.Name}
	if thread >= 0 && thread < len(r.Threads) && r.Threads[thread].LastError != nil {
		c.LastError = r.Threads[thread].LastError.Text
	}
	return Of(&c, lists), word, place
}

// OfHang returns the signature of a process that did not crash and hangs: of the thread that others wait for.
//
//	hang | db::Pool::lock | db::Query::run
func OfHang(r *report.Report, thread int, lists Lists, name func(report.Name) string) string {
	frames, _ := Stack(r, thread, name)
	if lists == Own {
		withoutPlaceholders(frames)
	}
	return "hang | " + Of(&Crash{Frames: frames}, lists)
}

// withoutPlaceholders removes what writers of symbol files put in place of a name.
func withoutPlaceholders(frames []Frame) {
	for i := range frames {
		if report.IsPlaceholder(frames[i].Function) {
			frames[i].Function = ""
		}
	}
}

// language finds out by a name as compilers have it, or else by the source file, which language a
// function is written in. A demangled name shows it by what only one of them has: Rust's hash, or
// parameters. Both languages can have a "core::f".
func language(raw, file string) Language {
	isHash := func(s string) bool { return len(s) >= 16 && strings.Trim(s[:16], "0123456789abcdef") == "" }
	_, legacy, _ := cutLast(raw, "17h")
	_, hash, _ := cutLast(raw, "::h")
	file = strings.ToLower(strings.ReplaceAll(file, `\`, "/"))
	if at := strings.Split(file, ":"); len(at) == 4 { // see sourcePath
		file = at[2]
	}
	switch ext := path.Ext(file); {
	case strings.HasPrefix(raw, "_R"), strings.HasPrefix(raw, "__R"), ext == ".rs", isHash(hash), isHash(legacy) && strings.HasPrefix(legacy[16:], "E"):
		return LanguageRust
	case strings.HasPrefix(raw, "_Z"), strings.HasPrefix(raw, "__Z"), strings.HasPrefix(raw, "?"), strings.HasSuffix(strings.TrimSuffix(raw, " const"), ")"),
		slices.Contains([]string{".cc", ".cpp", ".cxx", ".hh", ".hpp"}, ext):
		return LanguageCPP
	}
	return LanguageUnknown
}

// cutLast cuts a text at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// ended returns how many calls are those of what ended the program, or 0 if there are no others; all
// calls are theirs then.
func ended(c *report.Crash, calls []Call) (n int, all bool) {
	for i := range calls {
		if c == nil || calls[i].Frame >= c.Ended {
			return i, false
		}
	}
	return 0, c != nil && c.Ended > 0
}
