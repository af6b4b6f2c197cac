package app

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Preview is the dialog that shows a text before it is copied or downloaded: what private texts it
// has is for the user to see and to decide. They are hidden at first.
type Preview struct {
	page *Page
	kind *protocol.ExportKind // nil: the dialog is closed
	act  string               // "copy" or "download": the main button
	from string               // ID of the element that has the focus again afterwards
	// Private: private texts are not hidden.
	Private bool
	id      int // of the pending request
	made    bool
	text    string
	name    string // of the file
	problem string
}

// maxPreview is how much of a text the dialog shows, in bytes. Lists of megabytes would make the page
// slow.
const maxPreview = 60_000

// isOpen reports whether the dialog is open.
func (z *Preview) isOpen() bool { return z.kind != nil }

// open opens the dialog for an export. act is "copy" or "download", from the element that has the
// focus when the dialog is closed.
func (z *Preview) open(act, id, from string) {
	kind := protocol.ExportOf(id)
	if kind == nil || z.page.Empty() || z.page.Reading.stopped {
		return
	}
	z.kind, z.act, z.from, z.Private = kind, act, from, false
	z.request()
	z.page.Host.Focus("preview-act")
}

// request requests the text.
func (z *Preview) request() {
	z.text, z.made, z.problem = "", false, ""
	var id int
	id = z.page.Work.Exports.request(z.kind.ID, z.Private, func(r *protocol.Exported, problem string) {
		if z.isOpen() && z.id == id {
			z.text, z.name, z.problem, z.made = r.Text, r.FileName, problem, problem == ""
			if z.drawn() {
				z.page.Host.ShowDocument(previewFrame, z.text)
			}
		}
	})
	z.id = id
}

// previewFrame is the id of the element in which the host shows an HTML document.
const previewFrame = "preview-frame"

// drawn reports whether the dialog shows the text as the document that it is.
func (z *Preview) drawn() bool { return z.isOpen() && strings.HasPrefix(z.kind.MIME, "text/html") }

// toggle hides or shows private texts.
func (z *Preview) toggle() {
	z.Private = !z.Private
	z.request()
}

// close closes the dialog.
func (z *Preview) close() {
	z.page.Host.Focus(z.from)
	z.kind, z.text = nil, ""
}

// done copies or downloads the text, and closes the dialog.
func (z *Preview) done(act string) {
	if !z.isOpen() || !z.made {
		return
	}
	kind, text, name := z.kind, z.text, z.name
	z.close()
	if act == "download" {
		z.page.Host.Download(name, kind.MIME, text)
		return
	}
	z.page.Notices.Copy(text, kind.Copied)
}

// title is the heading of the dialog.
func (z *Preview) title() string {
	if !z.isOpen() {
		return ""
	}
	return z.kind.Title
}

// note says what the text has.
func (z *Preview) note() string {
	switch {
	case z.problem != "":
		return rows.Clean(z.problem)
	case !z.made:
		return "Writing it…"
	case z.page.Limits.Redact:
		return rows.Size(int64(len(z.text))) + ". The host page has private texts hidden."
	case z.Private:
		return rows.Size(int64(len(z.text))) + ", with private texts of the dump and user names in paths. Read it before you send it to others."
	}
	return rows.Size(int64(len(z.text))) + ". Private texts of the dump are hidden, and user names in paths are replaced by USER."
}

// parts returns the text in parts that can be drawn (rows.MaxText), as far as the dialog shows it.
func (z *Preview) parts() (out []string) {
	text := z.text
	if len(text) > maxPreview {
		text = text[:maxPreview]
	}
	for len(text) > rows.MaxText {
		end := strings.LastIndexByte(text[:rows.MaxText], '\n') + 1
		if end == 0 {
			end = len(strings.ToValidUTF8(text[:rows.MaxText], ""))
		}
		if end == 0 {
			end = rows.MaxText
		}
		out, text = append(out, text[:end]), text[end:]
	}
	return append(out, strings.ToValidUTF8(text, ""))
}

// cutText says how much of the text the dialog does not show, or "".
func (z *Preview) cutText() string {
	if n := len(z.text) - maxPreview; n > 0 && !z.drawn() {
		return rows.Size(int64(n)) + " more are not shown here."
	}
	return ""
}

// actText is the text of a button.
func actText(act string) string {
	if act == "download" {
		return "Download"
	}
	return "Copy"
}

// other is what the second button does: the menu in which the user chose the export says what the
// first does.
func (z *Preview) other() string {
	if z.act == "download" {
		return "copy"
	}
	return "download"
}
