package main

import (
	"fmt"
	"io"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/wasm/jsvalue"
)

// fileReader reads slices of a File synchronously, which the browser allows only in a worker. A
// slice takes the same time up to about 64 KiB, which is what input.Source reads at a time.
type fileReader struct {
	file, sync js.Value
	// held has a part of the file from an offset on, as a Uint8Array outside of the program's
	// memory: all of a small file, or the chunk that is indexed. Each slice of a File takes a round
	// trip through the browser's processes, as long as all the work with a small file's content.
	held   js.Value
	heldAt int64
	heldTo int64
	size   int64
	// kept has blocks around the last small reads: the readers of debug information jump back and
	// forth by a few hundred bytes, and a slice of 16 KiB takes no longer than one of 1 KiB.
	kept input.Blocks
}

const (
	// keptBlock is the size in bytes of a kept block. A program of 601 MB with DWARF takes 3,533
	// slices with it, and 22,309 without (build/browser/debugfile.mjs).
	keptBlock = 16 << 10
	// wholeFile is the size in bytes up to which a file is read at once, and wholeFiles that of all
	// of them together.
	wholeFile  = 1 << 20
	wholeFiles = 8 << 20
)

var wholeBytes int64 // size of the files that were read at once, together

func newFileReader(file js.Value) *fileReader {
	return &fileReader{file: file, sync: js.Global().Get("FileReaderSync").New(), size: int64(file.Get("size").Float())}
}

// readersOf makes the readers of Files from the user. Of several files it reads the beginnings
// together: otherwise the engine would wait for another process of the browser with each of them.
func readersOf(files js.Value) []*fileReader {
	readers := make([]*fileReader, files.Length())
	for i := range readers {
		readers[i] = newFileReader(files.Index(i))
	}
	if len(readers) == 1 {
		if f := readers[0]; f.fitsWhole() {
			wholeBytes += f.size
			f.hold(0, f.size) // if it cannot be read, ReadAt will say why
		}
		return readers
	}
	begun := js.Global().Get("Array").New()
	for i, f := range readers {
		begun.SetIndex(i, f.file.Call("slice", 0, min(f.size, keptBlock)).Call("arrayBuffer"))
	}
	settled, _ := jsvalue.Await(js.Global().Get("Promise").Call("allSettled", begun))
	for i, f := range readers {
		if bytes := settled.Index(i).Get("value"); bytes.Truthy() {
			f.held = js.Global().Get("Uint8Array").New(bytes)
			f.heldTo = int64(f.held.Get("byteLength").Int())
			noteRead(f.heldTo, f.file)
		}
	}
	return readers
}

// fitsWhole reports whether a file may be held completely.
func (f *fileReader) fitsWhole() bool { return f.size <= wholeFile && wholeBytes+f.size <= wholeFiles }

// dropBeginnings gives up what readersOf has read of several files: of thousands a stack needs few.
func dropBeginnings(readers []*fileReader) {
	if len(readers) == 1 {
		return
	}
	for _, f := range readers {
		f.held, f.heldTo, f.kept = js.Undefined(), 0, input.Blocks{}
	}
}

// Forget implements input.Forgetter.
func (f *fileReader) Forget() { f.kept = input.Blocks{} }

// hold reads a part of the file at once.
func (f *fileReader) hold(from, to int64) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = unreadable(e)
		}
	}()
	f.held = f.slice(from, to)
	f.heldAt, f.heldTo = from, to
	return nil
}

// holds reports whether a part of the file is held.
func (f *fileReader) holds(from, to int64) bool { return from >= f.heldAt && to <= f.heldTo }

// sourceOf makes a Source of a File or a Uint8Array, which stays outside of the program's memory.
func sourceOf(name string, value js.Value) *input.Source {
	if value.InstanceOf(js.Global().Get("Uint8Array")) {
		size := int64(value.Get("byteLength").Float())
		return input.New(name, &fileReader{held: value, heldTo: size, size: size}, size)
	}
	return newFileReader(value).source(name)
}

// source makes a Source of the File.
func (f *fileReader) source(name string) *input.Source {
	src := input.New(name, f, f.size)
	if modified := f.file.Get("lastModified"); modified.Type() == js.TypeNumber {
		src.Modified = int64(modified.Float()) / 1000
	}
	return src
}

// ReadAt implements io.ReaderAt. A file that was moved, changed or locked since it was dropped is
// an error here.
func (f *fileReader) ReadAt(p []byte, off int64) (n int, err error) {
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, unreadable(e)
		}
	}()
	if off < 0 || off >= f.size {
		return 0, io.EOF
	}
	end := min(off+int64(len(p)), f.size)
	if off/keptBlock == (end-1)/keptBlock && !f.holds(off, end) {
		block, start := f.kept.Get(off)
		if block == nil {
			start = off &^ (keptBlock - 1)
			block = make([]byte, min(keptBlock, f.size-start))
			if js.CopyBytesToGo(block, f.slice(start, start+int64(len(block)))) < len(block) {
				return 0, io.ErrUnexpectedEOF
			}
			f.kept.Put(block, start)
		}
		n = copy(p, block[off-start:])
	} else {
		n = js.CopyBytesToGo(p, f.slice(off, end))
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// ReadManyAt implements input.ManyReader. The engine waits for the bytes; messages that arrive
// meanwhile stay in the queue.
func (f *fileReader) ReadManyAt(parts []input.Part) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = unreadable(e)
		}
	}()
	if len(parts) == 1 || f.holds(0, f.size) { // nothing to read in parallel
		for _, p := range parts {
			js.CopyBytesToGo(p.Data, f.slice(p.Off, p.Off+int64(len(p.Data))))
		}
		return nil
	}
	begin := func(from, to int64) js.Value {
		return f.file.Call("slice", float64(from), float64(to)).Call("arrayBuffer")
	}
	return readTogether(parts, fileGap, begin, func(n int64, why js.Value) error {
		if why.Truthy() {
			return unreadable(jsvalue.Problem(why))
		}
		noteRead(n, f.file)
		return nil
	})
}

// fileGap is up to how many bytes between two parts of a file are read along. Each read is a round
// trip to another process of the browser, which takes about 0.6 ms for any size up to about 100 KB.
const fileGap = 128 << 10

// readTogether fills parts, which are sorted by offset, by many reads that are under way at
// once, about 16 MiB. Parts at most gap bytes apart are one read. begin begins one and returns
// the promise of an ArrayBuffer; ended is called with how many bytes have arrived, or why not.
func readTogether(parts []input.Part, gap int64, begin func(from, to int64) js.Value, ended func(n int64, why js.Value) error) error {
	const mostOfOne, mostAtOnce = 2 << 20, 16 << 20
	type run struct {
		from, to int64
		parts    []input.Part
	}
	var runs []run
	for _, p := range parts {
		if n := len(runs); n == 0 || p.Off-runs[n-1].to > gap || runs[n-1].to-runs[n-1].from > mostOfOne {
			runs = append(runs, run{from: p.Off})
		}
		last := &runs[len(runs)-1]
		last.to, last.parts = max(last.to, p.Off+int64(len(p.Data))), append(last.parts, p)
	}
	for len(runs) > 0 {
		begun := js.Global().Get("Array").New()
		n, bytes := 0, int64(0)
		for ; n < len(runs) && bytes < mostAtOnce; n++ {
			begun.SetIndex(n, begin(runs[n].from, runs[n].to))
			bytes += runs[n].to - runs[n].from
		}
		settled, _ := jsvalue.Await(js.Global().Get("Promise").Call("allSettled", begun))
		for i, run := range runs[:n] {
			one := settled.Index(i)
			if err := ended(run.to-run.from, one.Get("reason")); err != nil {
				return err
			}
			bytes := js.Global().Get("Uint8Array").New(one.Get("value"))
			for _, p := range run.parts {
				if js.CopyBytesToGo(p.Data, bytes.Call("subarray", float64(p.Off-run.from))) < len(p.Data) {
					return unreadable("it has become shorter")
				}
			}
		}
		runs = runs[n:]
	}
	return nil
}

// noteRead counts a read of a file.
func noteRead(n int64, file js.Value) {
	slicesRead++
	if bytesRead += n; onRead != nil {
		onRead(file)
	}
	scripts().Set("read", map[string]any{"bytes": bytesRead, "slices": slicesRead})
}

// slice reads [from, to) as a Uint8Array.
func (f *fileReader) slice(from, to int64) js.Value {
	if f.holds(from, to) {
		return f.held.Call("subarray", float64(from-f.heldAt), float64(to-f.heldAt))
	}
	noteRead(to-from, f.file)
	blob := f.file.Call("slice", float64(from), float64(to))
	return js.Global().Get("Uint8Array").New(f.sync.Call("readAsArrayBuffer", blob))
}

func unreadable(why any) error {
	return fmt.Errorf("the browser cannot read the file any more (%v); was it moved or changed?", why)
}
