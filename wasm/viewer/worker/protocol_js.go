package worker

import "syscall/js"

// This program and the scripts of its worker (web/static/worker.js and what is joined to it) meet in one object, crashpaneWorker, and nowhere else.
// worker.js has the same list.
//
//	by the scripts                                                            file
//	  memory() → bytes of the program's memory                                worker.js
//	  blocks(file, [offset, size, …]) → promise of a Uint8Array              blocks.js
//	  stream(file, from, to) → {next() → promise of a Uint8Array, end()}      stream.js
//	  range({url, token, size, edition, head}) → (from, to) → promise of a Uint8Array; an error may be changed    ranges.js
//	  unpack(blob, most, told(done)) → promise of a Blob, null if it is larger; undefined without the browser's inflater    unpack.js
//	by the program
//	  receive(message)       takes a message of the page
//	  read {bytes, slices}   how much of files was read, for tests and benchmarks
//	  fetched                how many bytes were read of servers
//
// Messages of the page are {module}, which starts the program, and {request, file, remote, data}: a protocol.Call as a Uint8Array, and beside it a
// File, a file on a server as for range, or bytes. Messages to it are {ready}, {reply, file, data, memory}: a protocol.Answer and what comes beside
// it, and {stopped}: why the program ended.

// scripts is that object. analyze (web/embed/analyze.js) gives an empty one.
func scripts() js.Value { return js.Global().Get("crashpaneWorker") }
