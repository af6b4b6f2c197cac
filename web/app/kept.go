package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// Kept has the setting and the size of the indexes of symbol files that the browser stores for the
// next visit.
type Kept struct {
	page  *Page
	On    bool  // indexes are kept
	Bytes int64 // stored
	count int   // indexes stored
}

// load restores the setting of the last visit.
func (z *Kept) load() {
	kept := z.page.Host.Load("keep")
	if z.On = kept == "yes"; kept != "" { // if it was never set, nothing is stored, and the storage need not be opened
		z.measure()
	}
}

// toggle switches whether indexes are stored. It does not delete those that are.
func (z *Kept) toggle() {
	word := "yes"
	if z.On {
		word = "no"
	}
	z.page.Host.Store("keep", word)
	z.On = z.page.Host.Load("keep") == "yes" // not where the page may store nothing
	z.measure()
}

func (z *Kept) measure() {
	z.page.Host.KeptSize(func(bytes int64, n int) { z.Bytes, z.count = bytes, n })
}

func (z *Kept) clear() {
	z.page.Host.ForgetKept(func() {
		z.Bytes, z.count = 0, 0
		z.page.Host.Announce("Kept indexes deleted")
	})
}

// text is the text of the button that deletes the indexes.
func (z *Kept) text() string {
	if z.count == 0 {
		return "No indexes kept"
	}
	return fmt.Sprintf("Delete indexes (%s)", rows.Size(z.Bytes))
}
