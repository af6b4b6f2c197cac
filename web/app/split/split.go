// Package split has the splitters between the zones of the page, and the sizes that the user gives to
// zones with them. Begin with All.
package split

import (
	"fmt"
	"strconv"
	"strings"
)

// Sizes has the sizes that the user has given to zones, in pixels; 0 is the default size.
type Sizes struct{ Threads, Frame, Panel int }

// All describes the splitters: the limits and the default of the zone's size, in pixels. The
// style sheet also bounds them by the size of the window.
var All = []struct {
	Name, Label       string
	Least, Most, Size int
	// Grows is the direction in which the pointer or an arrow key enlarges the zone: 1 right or
	// down, -1 left or up.
	Grows    int
	Vertical bool // the line is vertical, and moves sideways
}{
	{"threads", "Width of the thread list", 140, 520, 232, 1, true},
	{"frame", "Width of the frame details", 220, 900, 372, -1, true},
	{"panel", "Height of the lower panel", 90, 900, 260, -1, false},
}

// of returns the size of the zone with a name.
func (s *Sizes) of(name string) *int {
	switch name {
	case "threads":
		return &s.Threads
	case "frame":
		return &s.Frame
	case "panel":
		return &s.Panel
	}
	return nil
}

// Resize sets the size of a zone in pixels, within its limits; 0 is the default.
func (s *Sizes) Resize(name string, px int) {
	for _, row := range All {
		if row.Name == name {
			if px != 0 {
				px = max(row.Least, min(px, row.Most))
			}
			*s.of(name) = px
		}
	}
}

// Text is what the browser stores.
func (s *Sizes) Text() string { return fmt.Sprintf("%d,%d,%d", s.Threads, s.Frame, s.Panel) }

// Load restores the sizes of an earlier visit.
func (s *Sizes) Load(text string) {
	parts := strings.Split(text, ",")
	if len(parts) != len(All) {
		return
	}
	for i, row := range All {
		if n, err := strconv.Atoi(parts[i]); err == nil && n >= row.Least && n <= row.Most {
			*s.of(row.Name) = n
		}
	}
}

// Style returns the sizes as custom properties of the style sheet, which has the defaults.
func (s *Sizes) Style() string {
	var b strings.Builder
	for _, row := range All {
		if n := *s.of(row.Name); n > 0 {
			fmt.Fprintf(&b, "--cp-%s:%dpx;", row.Name, n)
		}
	}
	return b.String()
}

// index returns the splitter's row of All.
func (c *Splitter) index() int {
	for i := range All {
		if All[i].Name == c.Name {
			return i
		}
	}
	return 0
}

func (c *Splitter) orientation() string {
	if All[c.index()].Vertical {
		return "vertical"
	}
	return "horizontal"
}

func (c *Splitter) label() string { return All[c.index()].Label }
func (c *Splitter) least() int    { return All[c.index()].Least }
func (c *Splitter) most() int     { return All[c.index()].Most }

// now is the size that the splitter reports to screen readers.
func (c *Splitter) now() int {
	if n := *c.Sizes.of(c.Name); n > 0 {
		return n
	}
	return All[c.index()].Size
}
