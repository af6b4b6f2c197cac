package main

import (
	"bufio"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/crashpane/crashpane/core/intake"
)

// unpackers are the formats that the page's first program has no room for.
var unpackers = map[intake.Kind]func(io.Reader) (io.Reader, error){
	intake.Zstd: func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	},
	intake.XZ: func(r io.Reader) (io.Reader, error) { return xz.NewReader(bufio.NewReader(r)) },
}

// spools are temporary files for what those unpack. They have no name any more where the system allows that.
type spools struct{ files []*os.File }

func (s *spools) create() (intake.Spool, error) {
	f, err := os.CreateTemp("", "crashpane-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	s.files = append(s.files, f)
	return f, nil
}

func (s *spools) close() {
	for _, f := range s.files {
		f.Close()
		os.Remove(f.Name())
	}
}
