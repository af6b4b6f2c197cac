package main

import "syscall/js"

// This program and the scripts of its page (web/static/loader.js) meet in one object, which the program alone sees as crashpane, and nowhere else.
// loader.js makes it for each viewer.
//
//	by the loader
//	  root, mount                the element that the viewer fills, and the selector of the one in it that is drawn in
//	  themed, dropTarget         the elements that carry data-theme and data-ready, and on which files may be dropped
//	  live                       the live region, for screen readers
//	  filesInput, folderInput    the browser's choosers
//	  hostWindow, ownsWindow     the window; whether the viewer is the whole page
//	  module, makeWorker()       the compiled program, and what makes a worker that runs worker.js
//	  full(progress, signal)     → promise of the engine with all readers, compiled
//	  sample()                   → promise of the sample's files; undefined without a sample
//	  storage                    the storage of preferences; kept {get, put, size, clear} that of indexes
//	  sources                    what asks servers and folders for symbols (symbols.js): bases, resolve, ask, folder
//	  network, limits            whether servers may be asked; what the page around forbids {noFiles, readOnly, redact}
//	  memory                     what all programs of the page use: watch(worker)
//	  told(kind, detail)         is told events; undefined if nobody listens
//	by the program
//	  control(what, …)           does what the page around asks for; control_js.go says what

// loader is that object.
func loader() js.Value { return js.Global().Get("crashpane") }
