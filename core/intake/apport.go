package intake

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
)

// apportReader reads the core in a report of Ubuntu's Apport, still compressed. The report is a text of fields,
// "Key: value"; lines that begin with a blank go on with the field (problem_report.py, write and load):
//
//	CoreDump: base64
//	 H4sICAAAAAAC/0NvcmVEdW1wAA==
//	 7J0JfBRF…
//
// Each line is base64 of its own, with padding, of a part of a gzip file.
type apportReader struct {
	r    *bufio.Reader
	room [4096]byte // decoded
	have []byte     // of room, not yet read
	err  error
}

// newApport finds the field of the core.
func newApport(packed io.Reader) (io.Reader, error) {
	const field = "CoreDump: base64"
	r := bufio.NewReaderSize(packed, readSize)
	for start := true; ; {
		line, err := r.ReadSlice('\n')
		if start && string(bytes.TrimRight(line, "\r\n")) == field {
			z, err := gzip.NewReader(&apportReader{r: r})
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return z, err
		}
		if start = err == nil; err != nil && !errors.Is(err, bufio.ErrBufferFull) { // a longer line goes on
			return nil, errors.New("the report has no core (CoreDump)")
		}
	}
}

// Read implements io.Reader.
func (a *apportReader) Read(p []byte) (int, error) {
	for len(a.have) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		a.fill()
	}
	n := copy(p, a.have)
	a.have = a.have[n:]
	return n, nil
}

// fill decodes on, at most to the end of a line.
func (a *apportReader) fill() {
	var text [len(a.room) / 3 * 4]byte
	n := 0
	for n < len(text) && a.err == nil {
		c, err := a.r.ReadByte()
		switch {
		case err != nil:
			a.err = err
		case c == '\n':
			if next, _ := a.r.Peek(1); len(next) == 0 || next[0] != ' ' { // another field
				a.err = io.EOF
			}
			if n > 0 {
				a.decode(text[:n])
				return
			}
		case c != ' ' && c != '\r':
			text[n] = c
			n++
		}
	}
	a.decode(text[:n])
}

func (a *apportReader) decode(text []byte) {
	n, err := base64.StdEncoding.Decode(a.room[:], text)
	if a.have = a.room[:n]; err != nil {
		a.err = err
	}
}
