package app

import (
	"github.com/crashpane/crashpane/walker/report/view"
)

// Notice is a message above the zones that stays until it is closed.
type Notice struct {
	ID    int
	Level string // "error", "warning", "note"
	Text  string
	// Act and Arg are what the button beside the text does, and Do is what is on it; "" for no button.
	Act, Arg, Do string
}

// maxNotices is how many messages stand above the zones; the Files tab has all that is to say of files.
const maxNotices = 4

// Notices are messages above the zones, and what was just done.
type Notices struct {
	page   *Page
	List   []Notice
	lastID int
	Toast  string
	toasts int
}

// copy puts text on the clipboard and says so.
func (z *Notices) copy(text, said string) {
	z.page.Host.Copy(text, func(problem string) {
		if problem != "" {
			z.say("error", "The browser did not allow copying: "+problem)
			return
		}
		z.toast(said)
	})
}

// toast says that something was done, for a moment.
func (z *Notices) toast(text string) {
	z.Toast = text
	z.toasts++
	mine := z.toasts
	z.page.Host.Announce(text)
	z.page.Host.After(1800, func() (draw bool) {
		if draw = z.toasts == mine; draw {
			z.Toast = ""
		}
		return draw
	})
}

// say adds a notice; the oldest goes when there are many.
func (z *Notices) say(level, text string) {
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
	z.page.Host.Announce(text)
	if level != "note" {
		z.page.Around.tell(Event{Kind: EventError, Level: level, Text: text})
	}
}

// Problem is for the host: something could not be done.
func (z *Notices) Problem(text string) { z.say("error", view.Clean(text)) }

// ProposeFolder puts the button that opens the folder chooser beside the last message: the browser may list there what it does not list
// when it is dropped.
func (z *Notices) ProposeFolder() { z.offer("pick-folder", "", "Choose the folder") }

// offer puts a button beside the last message: what it does (Act), and what is on it.
func (z *Notices) offer(act, arg, do string) {
	if n := len(z.List); n > 0 {
		z.List[n-1].Act, z.List[n-1].Arg, z.List[n-1].Do = act, arg, do
	}
}

// dismiss closes a message.
func (z *Notices) dismiss(id string) {
	for i, n := range z.List {
		if itoa(n.ID) == id {
			z.List = append(z.List[:i:i], z.List[i+1:]...)
			return
		}
	}
}
