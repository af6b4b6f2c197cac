package app

import (
	"fmt"
	"strconv"
	"strings"
)

// Split has the sizes that the user has given to zones, in pixels; 0 is the default size.
type Split struct{ Threads, Frame, Panel int }

// Splits describes the splitters: the limits and the default of the zone's size, in pixels. The
// style sheet also bounds them by the size of the window.
var Splits = []struct {
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
func (s *Split) of(name string) *int {
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

// Layout has the sizes of the zones, and whether files are dragged over the window.
type Layout struct {
	page     *Page
	Split    Split
	Dragging bool // files are being dragged over the window
}

// Resize sets the size of a zone in pixels and stores it; 0 restores the default.
func (z *Layout) Resize(name string, px int) {
	for _, s := range Splits {
		if s.Name != name {
			continue
		}
		if px != 0 {
			px = max(s.Least, min(px, s.Most))
		}
		*z.Split.of(name) = px
		z.page.Host.Store("split", fmt.Sprintf("%d,%d,%d", z.Split.Threads, z.Split.Frame, z.Split.Panel))
	}
}

// load restores the sizes of an earlier visit.
func (z *Layout) load(text string) {
	parts := strings.Split(text, ",")
	if len(parts) != len(Splits) {
		return
	}
	for i, s := range Splits {
		if n, err := strconv.Atoi(parts[i]); err == nil && n >= s.Least && n <= s.Most {
			*z.Split.of(s.Name) = n
		}
	}
}

// style returns the sizes as custom properties of the style sheet, which has the defaults.
func (z *Layout) style() string {
	var b strings.Builder
	for _, s := range Splits {
		if n := *z.Split.of(s.Name); n > 0 {
			fmt.Fprintf(&b, "--cp-%s:%dpx;", s.Name, n)
		}
	}
	return b.String()
}

// index returns the splitter's row of Splits.
func (c *Splitter) index() int {
	for i := range Splits {
		if Splits[i].Name == c.Name {
			return i
		}
	}
	return 0
}

func (c *Splitter) orientation() string {
	if Splits[c.index()].Vertical {
		return "vertical"
	}
	return "horizontal"
}

func (c *Splitter) label() string { return Splits[c.index()].Label }
func (c *Splitter) least() int    { return Splits[c.index()].Least }
func (c *Splitter) most() int     { return Splits[c.index()].Most }

// now is the size that the splitter reports to screen readers.
func (c *Splitter) now() int {
	if n := *c.Page.Layout.Split.of(c.Name); n > 0 {
		return n
	}
	return Splits[c.index()].Size
}

// Drag sets whether files are being dragged over the window.
func (z *Layout) Drag(on bool) { z.Dragging = on }

func (z *Layout) rootClass() string {
	if z.page.Empty() {
		return "viewer empty"
	}
	return "viewer"
}

func (z *Layout) mainClass() string {
	if z.page.Panel.folded() {
		return "main folded"
	}
	return "main"
}

func (z *Layout) dropText() string {
	if z.page.Empty() {
		return "Drop to read these files in this page"
	}
	return "Drop to add symbols or another dump"
}
