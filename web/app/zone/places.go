package zone

import "github.com/crashpane/crashpane/walker/report/rows"

// Sought is what a list was scrolled to: an address, or without one a frame's stack pointer.
type Sought struct {
	Known         bool
	Dump          string
	At            uint64
	Thread, Frame int
}

// Places is what the views of memory share.
type Places struct {
	Back, Forward []uint64 // addresses that were selected before, and after the present one
	Form          string   // the part that shows an address; "" for the usual
	Texts         bool     // texts are shown
}

// Visit records that another address is selected.
func (z *Places) Visit(from, to uint64) {
	if from != to {
		z.Back, z.Forward = append(z.Back, from), nil
	}
}

// Step moves to the address that was selected before, or forward again, and reports whether there is one.
func (z *Places) Step(at *uint64, by int) bool {
	from, to := &z.Back, &z.Forward
	if by > 0 {
		from, to = to, from
	}
	n := len(*from)
	if n > 0 {
		*to = append(*to, *at)
		*at, *from = (*from)[n-1], (*from)[:n-1]
	}
	return n > 0
}

// ShowsAddress reports whether a part of the panel shows the selected address.
func ShowsAddress(part string) bool {
	return part == rows.MemoryWords || part == rows.MemoryBytes || part == rows.MemoryText
}
