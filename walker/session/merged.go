package session

import "github.com/crashpane/crashpane/walker/report"

// Merged returns the stacks of all threads as one tree, of the present report.
func (s *Session) Merged() *report.Merged { return report.Merge(s.Dump, s.present()) }
