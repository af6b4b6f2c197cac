package worker

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
)

// fileReader reads slices of a File, synchronously as only a worker may. A slice costs the same from 4 to 64 KiB, so where many
// are asked for close to each other, all of that part is read at once and kept: outside of the program's own memory, which
// never shrinks.
type fileReader struct {
	file, sync js.Value
	size       int64
	grain      int64           // the size of a part
	asked      map[int64]uint8 // part → how often it was asked for
	parts      []filePart      // used last first
}

// filePart is a part of the file that is kept.
type filePart struct {
	n     int64
	bytes js.Value // Uint8Array
}

const (
	partSize = 512 << 10
	// The debug information that is needed of a program or PDB is a few places of some hundred kilobytes each, and most of the file is not.
	binaryPart = 64 << 10
	// denseFrom is how often a part is asked for until it is read as a whole, which takes as long as some four slices.
	denseFrom = 4
	maxParts  = 32
)

func newFileReader(file js.Value) *fileReader {
	return &fileReader{file: file, sync: js.Global().Get("FileReaderSync").New(), size: int64(file.Get("size").Float()), grain: partSize, asked: map[int64]uint8{}}
}

// SourceOf is a File, or a Uint8Array, which stays outside of the program's memory.
func SourceOf(name string, value js.Value) *input.Source {
	if value.InstanceOf(js.Global().Get("Uint8Array")) {
		return input.New(name, arrayReader{value}, int64(value.Get("byteLength").Float()))
	}
	r := newFileReader(value)
	return input.New(name, r, r.size)
}

type arrayReader struct{ array js.Value }

// ReadAt implements io.ReaderAt.
func (a arrayReader) ReadAt(p []byte, off int64) (int, error) {
	size := int64(a.array.Get("byteLength").Float())
	if off < 0 || off >= size {
		return 0, io.EOF
	}
	n := js.CopyBytesToGo(p, a.array.Call("subarray", float64(off), float64(min(off+int64(len(p)), size))))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// ReadAt implements io.ReaderAt. A file that was moved, changed or locked since it was dropped is an error here.
func (f *fileReader) ReadAt(p []byte, off int64) (n int, err error) {
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, unreadable(e)
		}
	}()
	if off < 0 || off >= f.size {
		return 0, io.EOF
	}
	want := min(int64(len(p)), f.size-off)
	if off == 0 && f.grain == partSize && len(f.parts) == 0 {
		// The first bytes say what the file is.
		defer func() {
			if n >= 4 && (string(p[:4]) == "\x7fELF" || string(p[:2]) == "MZ" || string(p[:4]) == "Micr") {
				f.grain, f.asked = binaryPart, map[int64]uint8{}
			}
		}()
	}
	if want > f.grain/2 {
		n = js.CopyBytesToGo(p, f.slice(off, off+want))
	}
	for int64(n) < want { // a part, or two
		at := off + int64(n)
		part := at / f.grain
		k := min(want-int64(n), (part+1)*f.grain-at)
		if kept := f.part(part); kept.Truthy() {
			from := int(at - part*f.grain)
			n += js.CopyBytesToGo(p[n:], kept.Call("subarray", from, from+int(k)))
			continue
		}
		if n == 0 {
			k = want // what lies across two parts is read at once all the same
		}
		n += js.CopyBytesToGo(p[n:], f.slice(at, at+k))
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// ReadManyAt implements input.ManyReader (web/static/blocks.js). Whoever reads waits; the messages that come meanwhile wait too.
func (f *fileReader) ReadManyAt(parts []input.Part) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = unreadable(e)
		}
	}()
	if len(parts) == 1 { // nothing is read beside it
		_, err := f.ReadAt(parts[0].Data, parts[0].Off)
		return err
	}
	list := make([][2]int64, len(parts))
	total := int64(0)
	for i, p := range parts {
		list[i] = [2]int64{p.Off, int64(len(p.Data))}
		total += list[i][1]
	}
	noteRead(total)
	came, why := await(js.Global().Call("crashpaneBlocks", f.file, numbers(list)))
	if why.Truthy() {
		return unreadable(why.Get("message"))
	}
	at := 0
	for _, p := range parts {
		at += js.CopyBytesToGo(p.Data, came.Call("subarray", at, at+len(p.Data)))
	}
	return nil
}

// numbers are pairs as a Float64Array.
func numbers(pairs [][2]int64) js.Value {
	list := make([]byte, 0, 16*len(pairs))
	for _, p := range pairs {
		for _, n := range p {
			list = binary.LittleEndian.AppendUint64(list, math.Float64bits(float64(n)))
		}
	}
	bytes := js.Global().Get("Uint8Array").New(len(list))
	js.CopyBytesToJS(bytes, list)
	return js.Global().Get("Float64Array").New(bytes.Get("buffer"))
}

// noteRead counts what is read.
func noteRead(n int64) {
	slicesRead++
	if bytesRead += n; onRead != nil {
		onRead()
	}
	js.Global().Set("crashpaneRead", map[string]any{"bytes": bytesRead, "slices": slicesRead})
}

// kept is a part that is kept, else undefined.
func (f *fileReader) kept(n int64) js.Value {
	for i := range f.parts {
		if f.parts[i].n == n {
			kept := f.parts[i]
			copy(f.parts[1:i+1], f.parts[:i])
			f.parts[0] = kept
			return kept.bytes
		}
	}
	return js.Undefined()
}

// part is a part that is kept, or becomes worth keeping by being asked for; else undefined.
func (f *fileReader) part(n int64) js.Value {
	if kept := f.kept(n); kept.Truthy() {
		return kept
	}
	if f.asked[n]++; f.asked[n] < denseFrom {
		return js.Undefined()
	}
	f.asked[n] = 0
	if len(f.parts) < maxParts {
		f.parts = append(f.parts, filePart{})
	}
	copy(f.parts[1:], f.parts)
	f.parts[0] = filePart{n, f.slice(n*f.grain, min((n+1)*f.grain, f.size))}
	return f.parts[0].bytes
}

// slice reads [from, to) as a Uint8Array.
func (f *fileReader) slice(from, to int64) js.Value {
	noteRead(to - from)
	blob := f.file.Call("slice", float64(from), float64(to))
	return js.Global().Get("Uint8Array").New(f.sync.Call("readAsArrayBuffer", blob))
}

func unreadable(why any) error {
	return fmt.Errorf("the browser cannot read the file any more (%v); was it moved or changed?", why)
}
