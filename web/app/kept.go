package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/view"
)

// Kept are the indexes of symbol files that the browser keeps for the next visit.
type Kept struct {
	page  *Page
	On    bool  // indexes are kept
	Bytes int64 // of them
	count int
}

// load begins as the last visit ended.
func (z *Kept) load() {
	kept := z.page.Host.Load("keep")
	if z.On = kept == "yes"; kept != "" { // else nothing can have been kept, and the storage is not touched
		z.measure()
	}
}

// toggle switches whether indexes are kept. Those that are kept are left, until they are cleared.
func (z *Kept) toggle() {
	z.On = !z.On
	word := "no"
	if z.On {
		word = "yes"
	}
	z.page.Host.Store("keep", word)
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

// text is the button that clears what is kept.
func (z *Kept) text() string {
	if z.count == 0 {
		return "No indexes kept"
	}
	return fmt.Sprintf("Delete indexes (%s)", view.Size(z.Bytes))
}
