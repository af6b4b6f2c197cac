package app

// Root is the whole page as a component.
type Root struct {
	Page      *Page
	header    Header
	jobBar    JobBar
	start     Start
	help      Help
	splitters [3]Splitter // of the rows of Splits
}

// NewRoot makes the component of a page.
func NewRoot(p *Page) *Root {
	c := &Root{Page: p, header: Header{p}, jobBar: JobBar{p}, start: Start{p}, help: Help{p}}
	for i := range c.splitters {
		c.splitters[i] = Splitter{p, Splits[i].Name}
	}
	return c
}
