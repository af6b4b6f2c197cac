package report

import "slices"

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
