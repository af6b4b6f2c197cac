package app

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// Notice is a message above the zones that stays until it is closed.
type Notice struct {
	ID    int
	Level string // "error", "warning", "note"
	Text  string
	// Act and Arg are the action of the button beside the text, Do is the button's text; "" for no
	// button.
	Act, Arg, Do string
	// about is what the notice is about, if it is about files, and names are theirs.
	about fileTrouble
	names []string
}

// fileTrouble is what is wrong with files of a folder, which share a notice.
type fileTrouble struct{ folder, what string }

// maxNotices is the most messages above the zones. The Files tab has all messages about files.
const maxNotices = 4

// Notices has the messages above the zones, and the toast: a text that confirms an action for a
// moment.
type Notices struct {
	host      Host
	onProblem func(level, text string) // is called with errors and warnings
	List      []Notice
	lastID    int
	Toast     string
	toasts    int
}

// NewNotices makes an empty list. onProblem is called with each error and warning: its level and its text.
func NewNotices(h Host, onProblem func(level, text string)) Notices {
	return Notices{host: h, onProblem: onProblem}
}

// copy puts text on the clipboard, and confirms it with a toast.
func (z *Notices) copy(text, said string) {
	z.host.Copy(text, func(problem string) {
		if problem != "" {
			z.show("error", "The browser did not allow copying: "+problem)
			return
		}
		z.toast(said)
	})
}

// toast shows a text for a moment.
func (z *Notices) toast(text string) {
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

// show adds a notice, unless it is there already. If there are too many, it removes the oldest.
func (z *Notices) show(level, text string) {
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

// showFile adds a notice about a file, with its own text. Files of one folder with the same trouble
// share a notice, which names the first.
func (z *Notices) showFile(about fileTrouble, name, text string) {
	for i := range z.List {
		n := &z.List[i]
		if n.about != about || about.folder == "" {
			continue
		}
		if slices.Contains(n.names, name) {
			return
		}
		n.names = append(n.names, name)
		n.Text = counted(len(n.names), "file") + " of " + about.folder + " " + about.what + ": " + rows.BaseName(n.names[0])
		if more := len(n.names) - 2; more > 0 {
			n.Text += ", " + rows.BaseName(n.names[1]) + " and " + rows.Number(more) + " more."
		} else {
			n.Text += " and " + rows.BaseName(n.names[1]) + "."
		}
		z.host.Announce(n.Text)
		return
	}
	before := z.lastID
	if z.show("warning", text); z.lastID != before {
		n := &z.List[len(z.List)-1]
		n.about, n.names = about, []string{name}
		z.offer("show", "files", "Show files")
	}
}

// Problem adds an error of the host.
func (z *Notices) Problem(text string) { z.show("error", rows.Clean(text)) }

// ProposeFolder adds a button for the folder chooser to the last message: some browsers list a
// chosen folder that they do not list when it is dropped.
func (z *Notices) ProposeFolder() { z.offer("pick-folder", "", "Choose the folder") }

// offer adds a button to the last message.
func (z *Notices) offer(act, arg, do string) {
	if n := len(z.List); n > 0 {
		z.List[n-1].Act, z.List[n-1].Arg, z.List[n-1].Do = act, arg, do
	}
}

// withdraw removes the messages whose button does an action.
func (z *Notices) withdraw(act string) {
	z.List = slices.DeleteFunc(z.List, func(n Notice) bool { return n.Act == act })
}

// dismiss removes a message.
func (z *Notices) dismiss(id string) {
	for i, n := range z.List {
		if itoa(n.ID) == id {
			z.List = append(z.List[:i:i], z.List[i+1:]...)
			return
		}
	}
}
