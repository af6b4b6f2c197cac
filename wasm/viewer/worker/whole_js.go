package worker

import (
	"io"
	"syscall/js"
)

// wholeReader is a small file that was read at once, outside of the program's own memory: each slice of a File costs a round through the
// browser's processes, which takes as long as all that is done with what it holds.
type wholeReader struct {
	array js.Value // Uint8Array
	size  int64
}

const (
	// wholeFile is the size in bytes up to which a file is read so, and wholeFiles that of all of them together; the rest is read as all
	// others are.
	wholeFile  = 1 << 20
	wholeFiles = 8 << 20
)

var wholeBytes int64 // of the files that were read so

// readerOf is what reads a File of the browser.
func readerOf(file js.Value) (r io.ReaderAt, size int64) {
	f := newFileReader(file)
	if wholeBytes += f.size; f.size > wholeFile || wholeBytes > wholeFiles {
		wholeBytes -= f.size
		return f, f.size
	}
	defer func() {
		if recover() != nil {
			r, size = f, f.size // which says why it cannot be read
		}
	}()
	return wholeReader{f.slice(0, f.size), f.size}, f.size
}

// ReadAt implements io.ReaderAt.
func (w wholeReader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off >= w.size {
		return 0, io.EOF
	}
	if end := off + int64(len(p)); off > 0 || end < w.size {
		n = js.CopyBytesToGo(p, w.array.Call("subarray", int(off), int(min(end, w.size))))
	} else {
		n = js.CopyBytesToGo(p, w.array)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}
