package zone

import "github.com/vugu/vugu"

// Tab is a zone of the lower panel: what it queries (Want), how it applies a result (Apply), and
// its component (Build), whose template draws its rows. A new one is a type in web/app/tabs, in
// NAME.go with its template in NAME.vugu, and a Part of a row of Tabs (web/app/panel.go).
// These methods are optional:
//
//	Count() (n int, alert bool)   the number next to the title, 0 for none, and whether it needs attention
//	Disabled() bool               the dump has no data for the tab
//	List() *table.List            the window of rows; without it all rows are drawn
//	Actions() []Action            the actions of its elements
//	Forget()                      clears its state when another dump is opened
//	ThreadSelected()              clears what belongs to the thread that was selected before
//	HidePrivate()                 hides private data that the user has revealed
//	Opened()                      its element is a new one
//	ShowRow(row int)              shows a row, for the search
//	MoveSelection(by int)         moves its selection
//	ListKey(key string) bool      handles a key in its list, in place of MoveSelection
//	Beside() (Zone, *List)        a second zone next to it
type Tab interface {
	Zone
	vugu.Builder
}
