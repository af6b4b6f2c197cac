package engine

import (
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// A request for which the engine has no case is one that the page waits for in vain.
func TestEveryRequestHasACase(t *testing.T) {
	for _, req := range protocol.Requests() {
		e := New(func(protocol.Answer) {}, Options{})
		e.Handle(protocol.Call{ID: 1, Request: req}, nil) // panics if it has none
	}
}
