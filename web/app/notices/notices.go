// Package notices has the messages above the zones of the page, and its toast.
package notices

import (
	"slices"
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/words"
)

// Notice is a message above the zones that stays until it is closed.
type Notice struct {
	ID    int
	Level string // "error", "warning", "note"
	Text  string
	// Act and Arg are the action of the button next to the text, Do is the button's text; "" for no
	// button.
	Act, Arg, Do string
	// about is what the notice is about, if it is about files, and names are theirs.
	about Trouble
	names []string
}

// Trouble is what is wrong with files of a folder, which share a notice.
type Trouble struct{ Folder, What string }

// maxNotices is the most messages above the zones. The Files tab has all messages about files.
const maxNotices = 4

// Notices has the messages above the zones, and the toast: a text that confirms an action for a
// moment.
type Notices struct {
	host      host.Host
	onProblem func(level, text string) // is called with errors and warnings
	List      []Notice
	lastID    int
	Toast     string
	toasts    int
}

// New makes an empty list. onProblem is called with each error and warning: its level and its text.
func New(h host.Host, onProblem func(level, text string)) Notices {
	return Notices{host: h, onProblem: onProblem}
}

// Copy puts text on the clipboard, and confirms it with a toast.
func (z *Notices) Copy(text, said string) {
	z.host.Copy(text, func(problem string) {
		if problem != "" {
			z.Show("error", "The browser did not allow copying: "+problem)
			return
		}
		z.Confirm(said)
	})
}

// Confirm shows a text for a moment.
func (z *Notices) Confirm(text string) {
	z.Toast = text
	z.toasts++
	mine := z.toasts
	z.host.Announce(text)
	z.host.After(1800, func() (draw bool) {
		if draw = z.toasts == mine; draw {
			z.Toast = ""
		}
		return draw
	})
}

// Show adds a notice, unless it is there already. If there are too many, it removes the oldest.
func (z *Notices) Show(level, text string) {
	for _, n := range z.List {
		if n.Text == text {
			return
		}
	}
	z.lastID++
	z.List = append(z.List, Notice{ID: z.lastID, Level: level, Text: text})
	if len(z.List) > maxNotices {
		z.List = z.List[1:]
	}
	z.host.Announce(text)
	if level != "note" {
		z.onProblem(level, text)
	}
}

// ShowFile adds a notice about a file, with its own text. Files of one folder with the same trouble
// share a notice, which names the first.
func (z *Notices) ShowFile(about Trouble, name, text string) {
	for i := range z.List {
		n := &z.List[i]
		if n.about != about || about.Folder == "" {
			continue
		}
		if slices.Contains(n.names, name) {
			return
		}
		n.names = append(n.names, name)
		n.Text = words.Count(len(n.names), "file") + " of " + about.Folder + " " + about.What + ": " + rows.BaseName(n.names[0])
		if more := len(n.names) - 2; more > 0 {
			n.Text += ", " + rows.BaseName(n.names[1]) + " and " + rows.Number(more) + " more."
		} else {
			n.Text += " and " + rows.BaseName(n.names[1]) + "."
		}
		z.host.Announce(n.Text)
		return
	}
	before := z.lastID
	if z.Show("warning", text); z.lastID != before {
		n := &z.List[len(z.List)-1]
		n.about, n.names = about, []string{name}
		z.Offer("show", "files", "Show files")
	}
}

// Problem adds an error of the host.
func (z *Notices) Problem(text string) { z.Show("error", rows.Clean(text)) }

// ProposeFolder adds a button for the folder chooser to the last message: some browsers list a
// chosen folder that they do not list when it is dropped.
func (z *Notices) ProposeFolder() { z.Offer("pick-folder", "", "Choose the folder") }

// Offer adds a button to the last message.
func (z *Notices) Offer(act, arg, do string) {
	if n := len(z.List); n > 0 {
		z.List[n-1].Act, z.List[n-1].Arg, z.List[n-1].Do = act, arg, do
	}
}

// Withdraw removes the messages whose button does an action.
func (z *Notices) Withdraw(act string) {
	z.List = slices.DeleteFunc(z.List, func(n Notice) bool { return n.Act == act })
}

// Dismiss removes a message.
func (z *Notices) Dismiss(id string) {
	for i, n := range z.List {
		if strconv.Itoa(n.ID) == id {
			z.List = append(z.List[:i:i], z.List[i+1:]...)
			return
		}
	}
}
