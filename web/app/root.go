package app

import (
	"github.com/crashpane/crashpane/web/app/split"
)

// Root is the whole page as a component.
type Root struct {
	Page      *Page
	header    Header
	jobBar    JobBar
	start     Start
	help      Help
	splitters [3]split.Splitter // of the rows of Splits
}

// NewRoot makes the component of a page.
func NewRoot(p *Page) *Root {
	c := &Root{Page: p, header: Header{p}, jobBar: JobBar{p}, start: Start{p}, help: Help{p}}
	for i := range c.splitters {
		c.splitters[i] = split.Splitter{Sizes: &p.Split, Name: split.All[i].Name}
	}
	return c
}

// Layout resizes the zones, and has whether files are dragged over the window.
type Layout struct {
	page     *Page
	Dragging bool // files are being dragged over the window
}

// Resize sets the size of a zone in pixels and stores it; 0 restores the default.
func (z *Layout) Resize(name string, px int) {
	z.page.Split.Resize(name, px)
	z.page.Host.Store("split", z.page.Split.Text())
}

func (z *Layout) rootClass() string {
	if z.page.Empty() {
		return "viewer empty"
	}
	return "viewer"
}

func (z *Layout) mainClass() string {
	if z.page.Folded() {
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
