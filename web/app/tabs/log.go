package tabs

import (
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Log lists problems of the dump and of the symbol files. They come with the summary.
type Log struct{ pane }

// NewLog makes the part with an id.
func NewLog(s *zone.Shared, id string) zone.Tab {
	return &Log{pane{s, id}}
}

// Want implements Zone.
func (z *Log) Want(*protocol.Query) {}

// Apply implements Zone.
func (z *Log) Apply(*protocol.QueryResult) {}

// Count is for Tab.
func (z *Log) Count() (n int, alert bool) { return z.page.Summary.Diag, z.page.Summary.Errors > 0 }

// Empty is the text in place of rows, or "".
func (z *Log) Empty() string {
	if len(z.page.Summary.Log) > 0 {
		return ""
	}
	return "No problems with the dump or its symbols."
}
