package main

import (
	"errors"
	"io"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/wasm/jsvalue"
)

// remoteReader reads parts of a file on a server. The caller waits; messages that come
// meanwhile wait too.
type remoteReader struct {
	remote js.Value // what the page was answered (symbols.js, ask)
	name   string
	size   int64
	read   js.Value // from, to → promise of an ArrayBuffer
	failed func(err error, changed bool)
	err    error // the first one; nothing is asked for after it
	// held is the part that was read last, outside of the program's own memory.
	held     js.Value
	from, to int64
}

const (
	// remoteSlice is how much of a file on a server is read at a time where the reader may choose,
	// in bytes. What a search needs at an address is close together in the file, and every frame
	// needs a few such places.
	remoteSlice = 4 << 10
	// remoteGap is up to how many bytes between two parts are fetched along: a request takes about
	// as long.
	remoteGap = 64 << 10
)

// newRemoteReader makes a reader. It calls failed when nothing can be read any more, with whether
// that is because the file has changed.
func newRemoteReader(remote js.Value, failed func(err error, changed bool)) *remoteReader {
	return &remoteReader{remote: remote, name: remote.Get("url").String(), size: int64(remote.Get("size").Float()),
		read: scripts().Call("range", remote), failed: failed}
}

// ReadAt implements io.ReaderAt.
func (r *remoteReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= r.size {
		return 0, io.EOF
	}
	end := off + min(int64(len(p)), r.size-off)
	if off < r.from || end > r.to {
		if err := r.hold(off, end); err != nil {
			return 0, err
		}
	}
	n := js.CopyBytesToGo(p, r.held.Call("subarray", float64(off-r.from), float64(end-r.from)))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// hold reads a part of the file.
func (r *remoteReader) hold(from, to int64) error {
	if r.err != nil {
		return r.err
	}
	bytes, why := jsvalue.Await(r.read.Invoke(float64(from), float64(to)))
	if err := r.ended(to-from, why); err != nil {
		return err
	}
	r.held, r.from, r.to = js.Global().Get("Uint8Array").New(bytes), from, to
	return nil
}

// fail notes that nothing can be read any more.
func (r *remoteReader) fail(err error, changed bool) {
	if r.err == nil {
		r.err = err
		r.failed(err, changed)
	}
}

// ended notes that n bytes have arrived, or why not.
func (r *remoteReader) ended(n int64, why js.Value) error {
	if why.Truthy() {
		r.fail(errors.New(jsvalue.Problem(why)), why.Get("changed").Truthy())
	}
	if r.err == nil {
		if fetched += n; onFetch != nil {
			onFetch(r.name)
		}
		scripts().Set("fetched", fetched)
	}
	return r.err
}

// ReadManyAt implements input.ManyReader.
func (r *remoteReader) ReadManyAt(parts []input.Part) error {
	if r.err != nil {
		return r.err
	}
	begin := func(from, to int64) js.Value { return r.read.Invoke(float64(from), float64(to)) }
	return readTogether(parts, remoteGap, begin, r.ended)
}

// fetched is how many bytes were read of servers; onFetch, if set, is called after each part with
// the file's name.
var (
	fetched int64
	onFetch func(name string)
)
