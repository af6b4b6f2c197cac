package elf

import (
	"bytes"
	"io"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// counted counts the bytes that are read.
type counted struct {
	io.ReaderAt
	n int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.n += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// TestChecksumOnce: all modules of a dump may ask whether a file has their check sum, and it is read
// once.
func TestChecksumOnce(t *testing.T) {
	made := &elftest.File{Class: 64, Machine: 62, Type: 3}
	made.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: make([]byte, 1<<20), Align: 16})
	data := made.Bytes()
	r := &counted{ReaderAt: bytes.NewReader(data)}
	f, err := Open(input.New("a", r, int64(len(data))))
	if err != nil {
		t.Fatal(err)
	}
	first, err := f.ChecksumID()
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	read := r.n
	if again, err := f.ChecksumID(); again != first || err != nil || r.n != read || read < len(data) {
		t.Errorf("%s, then %s (%v): %d bytes read, then %d", first, again, err, read, r.n)
	}
}
