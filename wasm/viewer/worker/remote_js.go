package worker

import (
	"errors"
	"io"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/protocol"
)

// remoteReader reads parts of a file on a server. Whoever reads waits; the messages that come meanwhile wait too.
type remoteReader struct {
	name   string
	size   int64
	read   js.Value // from, to → promise of a Uint8Array
	failed func(protocol.Answer)
	err    error // the first one; nothing is asked for after it
	parts  []remotePart
	end    int64 // of what was read last
	ahead  int64 // what is read at least, while reads follow each other
}

// remotePart is a part that is kept, outside of the program's own memory.
type remotePart struct {
	from, to int64
	bytes    js.Value // Uint8Array
}

const (
	// remoteSlice is how much of a file on a server is read at a time where the reader may choose, in bytes: what a search needs of a
	// place lies close together, and every frame needs some places of a file.
	remoteSlice = 4 << 10
	// remoteGap is up to how many bytes between two parts are fetched along: a request takes about as long.
	remoteGap = 64 << 10
	// Reads that follow each other are a pass over the file: each asks for twice as much, from leastAhead up to mostAhead.
	leastAhead, mostAhead = 16 << 10, 2 << 20
	maxRemoteParts        = 6
)

// newRemoteReader takes what the page was answered (symbols.js, ask). failed sends a message that nobody asked for.
func newRemoteReader(remote js.Value, failed func(protocol.Answer)) *remoteReader {
	return &remoteReader{name: remote.Get("url").String(), size: int64(remote.Get("size").Float()),
		read: scripts().Call("range", remote), failed: failed}
}

// ReadAt implements io.ReaderAt.
func (r *remoteReader) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= r.size {
		return 0, io.EOF
	}
	want := min(int64(len(p)), r.size-off)
	part, err := r.part(off, off+want)
	if err != nil {
		return 0, err
	}
	from := int(off - part.from)
	n := js.CopyBytesToGo(p, part.bytes.Call("subarray", from, from+int(want)))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// part is one that holds [from, to): of those at hand, or fetched.
func (r *remoteReader) part(from, to int64) (remotePart, error) {
	for _, p := range r.parts {
		if p.from <= from && to <= p.to {
			return p, nil
		}
	}
	if r.err != nil {
		return remotePart{}, r.err
	}
	// Passes read a little twice where slices meet.
	if from <= r.end && from > r.end-4096 && r.end > 0 {
		r.ahead = min(max(2*r.ahead, leastAhead), mostAhead)
		to = min(max(to, from+r.ahead), r.size)
	} else {
		r.ahead = 0
	}
	bytes, why := await(r.read.Invoke(float64(from), float64(to)))
	if err := r.took(to-from, why); err != nil {
		return remotePart{}, err
	}
	r.end = to
	p := remotePart{from, to, bytes}
	if len(r.parts) == maxRemoteParts {
		r.parts = r.parts[:maxRemoteParts-1]
	}
	r.parts = append([]remotePart{p}, r.parts...)
	return p, nil
}

// took notes that n bytes have come, or why not.
func (r *remoteReader) took(n int64, why js.Value) error {
	switch {
	case r.err != nil: // of a part that was asked for at the same time
	case why.Truthy():
		r.err = errors.New(why.Get("message").String())
		r.failed(protocol.Answer{Error: r.err.Error(), Reply: &protocol.RemoteFailed{URL: r.name, Changed: why.Get("changed").Truthy()}})
	default:
		if fetched += n; onFetch != nil && r.ahead == 0 { // a pass says itself how far it is
			onFetch(r.name)
		}
		scripts().Set("fetched", fetched)
	}
	return r.err
}

// ReadManyAt implements input.ManyReader: the requests are under way at the same time. Parts that are close together are one request.
func (r *remoteReader) ReadManyAt(parts []input.Part) error {
	if r.err != nil {
		return r.err
	}
	r.ahead = 0
	type run struct{ from, to int64 }
	var runs []run
	for _, p := range parts {
		if n := len(runs); n == 0 || p.Off-runs[n-1].to > remoteGap || runs[n-1].to-runs[n-1].from > mostAhead {
			runs = append(runs, run{p.Off, p.Off})
		}
		last := &runs[len(runs)-1]
		last.to = max(last.to, p.Off+int64(len(p.Data)))
	}
	asked := js.Global().Get("Array").New(len(runs))
	for i, run := range runs {
		asked.SetIndex(i, r.read.Invoke(float64(run.from), float64(run.to)))
	}
	settled, _ := await(js.Global().Get("Promise").Call("allSettled", asked))
	for i, run := range runs {
		one := settled.Index(i)
		if r.took(run.to-run.from, one.Get("reason")) != nil {
			return r.err
		}
		for ; len(parts) > 0 && parts[0].Off+int64(len(parts[0].Data)) <= run.to; parts = parts[1:] {
			js.CopyBytesToGo(parts[0].Data, one.Get("value").Call("subarray", float64(parts[0].Off-run.from)))
		}
	}
	return nil
}

// await is a promise's value, or what it was rejected with.
func await(promise js.Value) (value, err js.Value) {
	var yes, no js.Func
	done := make(chan struct{})
	settle := func(to *js.Value) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			*to = args[0]
			yes.Release()
			no.Release()
			close(done)
			return nil
		})
	}
	yes, no = settle(&value), settle(&err)
	promise.Call("then", yes, no)
	<-done
	return value, err
}

// fetched is how many bytes were read of servers; onFetch, if set, is called after each part with the file's name.
var (
	fetched int64
	onFetch func(name string)
)
