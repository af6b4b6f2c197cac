package table

import "github.com/crashpane/crashpane/walker/report/rows"

// Facts is the component of a list of facts. Those that are addresses are links to the memory there.
type Facts struct {
	List   []rows.Fact
	Hidden bool
}
