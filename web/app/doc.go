// Package app is the page: Vugu components over one Page value. It has no parser and does not touch the browser itself: Host stands
// between it and the document, focus, storage and clipboard, Engine between it and the worker. So it builds and is tested natively, and
// one window may have several pages.
//
// Input arrives as an action (Page.Act), a key (Page.Key) or typed text (Page.Input); the engine's messages arrive at Page.Answer. Each
// of these changes the Page and queries the engine for what is now visible (Screen.ask). The components then draw the Page.
//
// Begin with page.go, then ask.go, which has the cycle of query and result, and one zone, for example stack.go with stack.vugu. The files
// NAME_gen.go are generated from NAME.vugu by `make gen`.
package app
