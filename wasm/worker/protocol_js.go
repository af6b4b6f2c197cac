package main

import "syscall/js"

// The program and the scripts of its worker (web/static/worker.js and those joined to it) share one
// object, crashpaneWorker, and nothing else.
//
//	set by the scripts                                                        file
//	  memory() → bytes of the program's memory                                worker.js
//	  beside() → {ask(message) → promise of the answer, end(why)}: a new worker with the same program    worker.js
//	  kept {get(key), put(key, Uint8Array)} → promise of a Uint8Array         kept.js
//	  range({url, token, size, edition, head}) → (from, to) → promise of an ArrayBuffer; an error may be changed    ranges.js
//	  unpack(blob, most, onProgress(done) → whether to go on) → promise of a Blob, null if it is larger; undefined if the browser cannot unpack    unpack.js
//	set by the program
//	  receive(message)       handles a message of the page; until the program sets it, the scripts keep messages
//	  read {bytes, slices}   how much of files was read, for tests and benchmarks
//	  fetched                how many bytes were read from servers
//
// A message from the page that starts the program is {program, size, script}; {lock} has the worker
// hold a lock of that name. Others are {request, cancel, dropped, remote}: a protocol.Call as a
// Uint8Array, whether it cancels what runs, and the files that come with it. These are dropped Files,
// or a file on a server as for range; index is another such file, its index. Messages to the page are
// {program}: how much of it has arrived, and then the module or the problem; {locked}; {ready};
// {reply, data, memory}: a protocol.Answer, bytes that come with it, and the size of the memory of
// the program and its indexers; and {stopped}: why the program ended.
//
// Messages to an indexer's worker are {program, script} and {chunk: [from, to, section], name, file,
// remote}; it answers {indexed, index, memory}, or {indexed, problem, indivisible, changed,
// memory}.

// scripts returns that object. It is empty in analyze (web/embed/analyze.js).
func scripts() js.Value { return js.Global().Get("crashpaneWorker") }
