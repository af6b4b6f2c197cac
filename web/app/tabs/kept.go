package tabs

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
)

// Kept has the setting and the size of the indexes of symbol files that the browser stores for the
// next visit.
type Kept struct {
	host  host.Host
	On    bool  // indexes are kept
	Bytes int64 // stored
	count int   // indexes stored
}

// load restores the setting of the last visit.
func (z *Kept) load(h host.Host) {
	z.host = h
	kept := z.host.Load("keep")
	if z.On = kept == "yes"; kept != "" { // if it was never set, nothing is stored, and the storage need not be opened
		z.Measure()
	}
}

// Toggle switches whether indexes are stored. It does not delete those that are.
func (z *Kept) Toggle() {
	word := "yes"
	if z.On {
		word = "no"
	}
	z.host.Store("keep", word)
	z.On = z.host.Load("keep") == "yes" // not where the page may store nothing
	z.Measure()
}

// Measure asks the browser for their size.
func (z *Kept) Measure() {
	z.host.KeptSize(func(bytes int64, n int) { z.Bytes, z.count = bytes, n })
}

// Clear deletes them.
func (z *Kept) Clear() {
	z.host.ForgetKept(func() {
		z.Bytes, z.count = 0, 0
		z.host.Announce("Kept indexes deleted")
	})
}

// text is the text of the button that deletes the indexes.
func (z *Kept) text() string {
	if z.count == 0 {
		return "No indexes kept"
	}
	return fmt.Sprintf("Delete indexes (%s)", rows.Size(z.Bytes))
}
