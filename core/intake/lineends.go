package intake

import (
	"bytes"
	"io"
)

// Breakpad's reader of symbol files takes CR and LF alike for the end of a line (processor's
// basic_source_line_resolver.cc, LoadModuleFromMemory), so that it reads a text whose lines end in
// CR alone. Expand makes them LF.

// endsInCR: the first line of a text ends in CR, and no LF follows. Some writers leave "\r\r\n".
func endsInCR(head []byte) bool {
	head = bytes.TrimLeft(head, "\r\n")
	end := bytes.IndexAny(head, "\r\n")
	if end < 0 || head[end] == '\n' {
		return false
	}
	rest := bytes.TrimLeft(head[end:], "\r")
	return len(rest) > 0 && rest[0] != '\n'
}

// crReader converts a text while it is read. A line that ends in CR and LF gets a blank one after it.
type crReader struct{ in io.Reader }

func newCR(in io.Reader) (io.Reader, error) { return crReader{in}, nil }

// Read implements io.Reader.
func (c crReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	toLF(p[:n])
	return n, err
}

// toLF replaces each CR.
func toLF(p []byte) {
	for i, b := range p {
		if b == '\r' {
			p[i] = '\n'
		}
	}
}

// IsConverted reports whether files of the kind are texts that Expand writes in another form.
func (k Kind) IsConverted() bool { return k == UTF16 || k == CRLines }

// Plain returns the beginning of a file as its reader gets it: a text in UTF-8 whose lines end in
// LF, if it is in UTF-16 or its lines end in CR alone, else as it is.
func Plain(head []byte) []byte {
	head = toUTF8(head)
	if endsInCR(head) {
		head = bytes.Clone(head)
		toLF(head)
	}
	return head
}
