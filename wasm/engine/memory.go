package engine

import "github.com/crashpane/crashpane/walker/report"

// pointee returns the function that says what an address of a dump is in, without private texts.
func (e *Engine) pointee(dump int) func(uint64) report.Pointee {
	return e.files.Session(dump).Pointees(false)
}
