package main

import (
	"errors"
	"fmt"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/lazy"
	"github.com/crashpane/crashpane/wasm/jsvalue"
)

// indexer implements symfile.ChunkIndexer with a worker of its own, in addition to the engine's. The first
// chunk starts it; it runs the same program.
type indexer struct {
	worker js.Value // of crashpaneWorker.beside
	memory int      // of its program, in bytes
}

// maxIndexers bounds the workers: each needs memory of its own, and more of them do not read a disk
// faster.
const maxIndexers = 4

// beside are the engine's indexers.
var beside []*indexer

// newIndexers makes one more indexer than there are processors: while one waits for the bytes of
// its chunk, the others work.
func newIndexers() (list []symfile.ChunkIndexer) {
	for range min(js.Global().Get("navigator").Get("hardwareConcurrency").Int()+1, maxIndexers) {
		x := &indexer{}
		beside, list = append(beside, x), append(list, x)
	}
	return list
}

// Index implements symfile.ChunkIndexer. A file that only this program has, because it is unpacked
// in its memory and therefore small, is indexed here.
func (x *indexer) Index(c symfile.Chunk) (index []byte, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("no worker could be started: %v", why)
		}
	}()
	message := map[string]any{"chunk": []any{float64(c.From), float64(c.To), int(c.Section)}, "name": c.Src.Name}
	whole, _ := c.Src.Within()
	remote, isRemote := whole.Reader().(*remoteReader)
	if isRemote {
		message["remote"] = remote.remote
	} else if file := fileOf(c.Src); file.Truthy() {
		message["file"] = file
	} else {
		return new(symfile.Indexer).Index(c)
	}
	if !x.worker.Truthy() {
		x.worker = scripts().Call("beside")
	}
	reply, why := jsvalue.Await(x.worker.Call("ask", message))
	if why.Truthy() {
		x.Stop() // its worker has ended
		return nil, errors.New(jsvalue.Problem(why))
	}
	x.memory = reply.Get("memory").Int()
	js.Global().Call("postMessage", map[string]any{"memory": memory()})
	if problem := reply.Get("problem"); problem.Truthy() {
		err = errors.New(problem.String())
		if reply.Get("indivisible").Bool() {
			return nil, symfile.ErrIndivisible
		}
		if isRemote {
			remote.fail(err, reply.Get("changed").Bool())
		}
		return nil, err
	}
	return jsvalue.BytesOf(reply.Get("index")), nil
}

// Stop implements symfile.ChunkIndexer. Ending the worker frees its memory.
func (x *indexer) Stop() {
	if x.worker.Truthy() {
		x.worker.Call("end", "it was stopped")
	}
	x.worker, x.memory = js.Undefined(), 0
}

// own indexes chunks in an indexer's worker.
var own symfile.Indexer

// indexChunk answers an indexer's message.
func indexChunk(self, message js.Value) {
	at := message.Get("chunk")
	c := symfile.Chunk{From: int64(at.Index(0).Float()), To: int64(at.Index(1).Float()), Section: lazy.Section(at.Index(2).Int())}
	name, changed := message.Get("name").String(), false
	var err error
	if remote := message.Get("remote"); remote.Truthy() {
		r := newRemoteReader(remote, func(_ error, is bool) { changed = is })
		err = r.hold(chunkRange(c, r.size))
		c.Src = input.New(name, r, r.size)
	} else {
		r := newFileReader(message.Get("file"))
		err = r.hold(chunkRange(c, r.size))
		c.Src = input.New(name, r, r.size)
	}
	var index []byte
	if err == nil {
		index, err = own.Index(c)
	}
	reply := map[string]any{"indexed": true, "memory": memory()}
	if err != nil {
		reply["problem"], reply["changed"], reply["indivisible"] = err.Error(), changed, errors.Is(err, symfile.ErrIndivisible)
		self.Call("postMessage", reply)
		return
	}
	array := jsvalue.ArrayOf(index)
	reply["index"] = array
	self.Call("postMessage", reply, []any{array.Get("buffer")})
}

// chunkRange is what is read of a file at once for a chunk: a byte before it, which shows whether a
// line begins there, and some of the line after it.
func chunkRange(c symfile.Chunk, size int64) (from, to int64) {
	const mostHeld, lastLine = 16 << 20, 4 << 10
	from = max(0, c.From-1)
	return from, min(c.To+lastLine, size, from+mostHeld)
}
