package report

import (
	"slices"
	"strings"
)

// hidden replaces private texts.
const hidden = "hidden"

// Redacted returns a report for others: the same without the texts that are private. Those are what
// the program said, annotations in which browsers put command line switches and addresses of pages,
// names of open objects, what was sent with the dump, what macOS' libraries said, and the kernel's
// arguments.
func (r *Report) Redacted() *Report {
	out := *r
	hide := func(private bool, texts ...*string) {
		for _, t := range texts {
			if private && *t != "" {
				*t = hidden
			}
		}
	}
	out.Messages = slices.Clone(r.Messages)
	for i := range out.Messages {
		hide(out.Messages[i].Private, &out.Messages[i].Text)
	}
	out.Annotations = slices.Clone(r.Annotations)
	for i := range out.Annotations {
		hide(out.Annotations[i].Private, &out.Annotations[i].Value)
	}
	out.Upload = slices.Clone(r.Upload)
	for i := range out.Upload {
		hide(true, &out.Upload[i].Value)
	}
	out.Handles = slices.Clone(r.Handles)
	for i := range out.Handles {
		hide(true, &out.Handles[i].Name)
	}
	out.MacCrashInfo = slices.Clone(r.MacCrashInfo)
	for i := range out.MacCrashInfo {
		m := &out.MacCrashInfo[i]
		hide(true, &m.Message, &m.Message2, &m.Signature, &m.Backtrace)
	}
	if r.MacBootArgs != nil {
		args := hidden
		out.MacBootArgs = &args
	}
	return &out
}

// Redacted returns an explanation without the values that the frame was found with, which have words of the
// stack in them: the rules and where they are from, and no numbers.
func (x *Explanation) Redacted() *Explanation {
	out := *x
	out.Steps = slices.Clone(x.Steps)
	for i := range out.Steps {
		out.Steps[i].Computed, out.Steps[i].Value, out.Steps[i].Known = hidden, 0, false
	}
	out.Registers, out.Words, out.Checks, out.Notes, out.Scanned = nil, nil, nil, nil, nil
	if x.End != nil {
		end := *x.End
		end.Scanned, out.End = nil, &end
	}
	return &out
}

// Redacted returns memory without its contents, except for words that point into a module or a stack.
func (m *MemoryView) Redacted() *MemoryView {
	out := *m
	out.Rows = slices.Clone(m.Rows)
	for i := range out.Rows {
		r := &out.Rows[i]
		r.Bytes = nil
		r.Words = slices.DeleteFunc(slices.Clone(r.Words), func(w MemoryWord) bool { return w.Points.Place.Module < 0 && w.Points.Thread < 0 })
		for k := range r.Words {
			r.Words[k].Points.Text = ""
		}
	}
	return &out
}

// homes are the folders that contain users' folders: on Linux and BSD, on macOS and Windows, and on
// Windows before Vista.
var homes = []string{"home", "users", "documents and settings"}

// userName replaces the names of users.
const userName = "USER"

// HideUsers replaces the names of users in paths: the part after one of homes, between slashes or
// backslashes. These may be doubled, as in JSON.
func HideUsers(s string) string {
	// Most texts have no path in them.
	if strings.IndexByte(s, '/') < 0 && strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '/' && s[i] != '\\' {
			continue
		}
		from := afterHome(s, i+1)
		if from < 0 {
			continue
		}
		to := from
		for to < len(s) && !endsName(s[to]) {
			to++
		}
		if to == from {
			continue
		}
		b.WriteString(s[done:from])
		b.WriteString(userName)
		done, i = to, to-1
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// afterHome returns the offset at which a user's name begins if one of homes is at offset i, else
// -1.
func afterHome(s string, i int) int {
	for _, h := range homes {
		end := i + len(h)
		if end >= len(s) || !strings.EqualFold(s[i:end], h) || s[end] != '/' && s[end] != '\\' {
			continue
		}
		for end < len(s) && (s[end] == '/' || s[end] == '\\') {
			end++
		}
		return end
	}
	return -1
}

// endsName reports whether a byte ends a user's name in a path. Spaces do not.
func endsName(c byte) bool { return c < ' ' || strings.IndexByte(`/\:*?"<>|`, c) >= 0 }
