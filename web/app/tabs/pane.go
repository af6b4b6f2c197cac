// Package tabs has the parts of the lower panel, a file with a template each. Begin with compare.go: a
// table of its own; grid.go shows any table of the dump's own data. What the zones share is in package
// zone, which also says what a part may do (zone.Tab). The row of each part is in panel.go of web/app.
package tabs

import (
	"slices"

	"github.com/crashpane/crashpane/web/app/zone"
)

// pane has what all parts have in common.
type pane struct {
	page *zone.Shared
	id   string
}

func (t *pane) open() bool { return t.page.ShowsPart(t.id) }

// lacks reports whether the open dump has no data for a part.
func (t *pane) lacks(id string) bool {
	return t.page.Summary != nil && !slices.Contains(t.page.Have, id)
}
