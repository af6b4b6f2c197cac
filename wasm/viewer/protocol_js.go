package main

import "syscall/js"

// The program and the scripts of its page (web/static/loader.js) share one object, and nothing
// else. loader.js makes it for each viewer; only the viewer's own program sees it, as the global
// crashpane.
//
//	set by the loader
//	  root, mount                the element that the viewer fills, and the selector of the element in it that Vugu draws
//	  themed, dropTarget         the element with data-theme and data-ready; the element on which files may be dropped
//	  live                       the live region, for screen readers
//	  filesInput, folderInput    the browser's choosers
//	  hostWindow, ownsWindow     the window; whether the viewer is the whole page
//	  makeWorker()               makes a worker that runs worker.js with the engine's program
//	  first                      a worker that it has made already
//	  program                    the engine's program: {done, total} in bytes while a worker fetches it, then {module} or {problem}
//	  sample()                   → promise of the sample's files; undefined without a sample
//	  storage                    whether the viewer may store anything in the browser
//	  kept                       the storage of indexes: size, clear (kept.js)
//	  sources                    symbols from servers and folders (symbols.js): bases, resolve, ask, folder
//	  network, limits            whether servers may be asked; what the host page forbids: {noFiles, readOnly, redact}
//	  memory                     a Map of the size of each worker's memory, without those that have ended
//	  onEvent(kind, detail)      called with each event; undefined without a listener
//	set by the program
//	  control(what, …)           does what the host page requests (control_js.go)

// loader returns that object.
func loader() js.Value { return js.Global().Get("crashpane") }
