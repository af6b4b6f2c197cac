package app

import "github.com/crashpane/crashpane/web/protocol"

// Log lists problems of the dump and of the symbol files. They come with the summary.
type Log struct{ pane }

func newLog(t pane) Tab { return &Log{t} }

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
