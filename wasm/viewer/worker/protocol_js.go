package worker

import "syscall/js"

// The program and the scripts of its worker (web/static/worker.js and those joined to it) share one object, crashpaneWorker, and nothing else.
//
//	set by the scripts                                                        file
//	  memory() → bytes of the program's memory                                worker.js
//	  blocks(file, [offset, size, …]) → promise of a Uint8Array              blocks.js
//	  stream(file, from, to) → {next() → promise of a Uint8Array, end()}      stream.js
//	  range({url, token, size, edition, head}) → (from, to) → promise of a Uint8Array; an error may be changed    ranges.js
//	  unpack(blob, most, told(done)) → promise of a Blob, null if it is larger; undefined if the browser cannot unpack    unpack.js
//	set by the program
//	  receive(message)       handles a message of the page
//	  read {bytes, slices}   how much of files was read, for tests and benchmarks
//	  fetched                how many bytes were read from servers
//
// Messages from the page are {module}, which starts the program, and {request, file, remote, data}: a protocol.Call as a Uint8Array, and beside it a
// File, a file on a server as for range (index is another such file, beside it), or bytes. Messages to the page are {ready}; {reply, file, data, memory}: a protocol.Answer, what goes beside
// it, and the size of the program's memory; and {stopped}: why the program ended.

// scripts returns that object. It is empty in analyze (web/embed/analyze.js).
func scripts() js.Value { return js.Global().Get("crashpaneWorker") }
