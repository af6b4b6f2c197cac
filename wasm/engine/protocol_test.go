package engine

import (
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// The engine must have a case for every request, or the page waits for ever.
func TestEveryRequestHasACase(t *testing.T) {
	for _, req := range protocol.Requests() {
		e := New(func(protocol.Answer) {}, Options{})
		e.Handle(protocol.Call{ID: 1, Request: req}) // panics if it has none
	}
}
