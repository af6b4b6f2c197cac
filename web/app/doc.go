// Package app is the page: Vugu components over one Page value. It has no parser and does not touch
// the browser itself: Host stands between it and the document, focus, storage and clipboard, Engine
// between it and the worker. So it builds and is tested natively, and one window may have several
// pages.
//
// Input arrives as an action (Page.Act), a key (Page.Key) or typed text (Page.Input); the engine's
// messages arrive at Page.Answer. Each of these changes the Page and queries the engine for what is
// now visible (Screen.ask). The components then draw the Page.
//
// Begin with page.go, then ask.go, which has the cycle of query and result, and one zone, for
// example stack.go with stack.vugu. The files NAME_gen.go are generated from NAME.vugu by `make
// gen`.
//
//	page.go, root.go             the root, and its component
//	actions.go, keys.go          the table of actions, of fields and of the help; keys
//	state.go, address.go         the state that a link restores
//	ask.go                       zones, queries, windows of lists
//	verdict, threads, stack,     the zones of the screen
//	frame-zone, panel
//	modules, wanted, findings,   the tabs of the panel
//	compare, files-tab, system,
//	grid, log
//	files.go, dumps.go           reading files, and the menu of dumps
//	program.go, indexing.go,    work in the background
//	making.go, downloads.go
//	embed.go                     the host page
//	host.go                      what the page needs of the browser and of the engine
//	warm-up.go                   what the start screen does before the first dump arrives
package app
