package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// A collector that keeps what it received, and a proxy, save an upload as an HTTP message: a line
// that says what it is, the header's lines, an empty line, and the body (RFC 9112, section 2.1).

// sniffHTTP recognizes a request or a response whose header is whole.
func sniffHTTP(_ *input.Source, head []byte) Guess {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	words := strings.Split(strings.TrimSuffix(string(line), "\r"), " ")
	what := ""
	switch {
	case len(words) == 3 && isMethod(words[0]) && isVersion(words[2]):
		what = "a saved HTTP request"
	case len(words) >= 2 && isVersion(words[0]) && len(words[1]) == 3:
		what = "a saved HTTP response"
	}
	if _, n := httpHeader(head); what != "" && n > 0 {
		return Guess{HTTP, what}
	}
	return Guess{}
}

// isMethod reports whether a word is a request's method: those that exist are in capitals.
func isMethod(word string) bool {
	return word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}

// isVersion reports whether a word is a version of HTTP: "HTTP/1.1", and "HTTP/2" as tools write it.
func isVersion(word string) bool {
	digits, ok := strings.CutPrefix(word, "HTTP/")
	return ok && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// httpHeader returns whether a message says that its body is in chunks, and how long its header is
// with the empty line; 0 if there is no header, or it does not end.
func httpHeader(head []byte) (chunked bool, size int) {
	for first := true; ; first = false {
		end := bytes.IndexByte(head[size:], '\n')
		if end < 0 {
			return false, 0
		}
		line := string(bytes.TrimSuffix(head[size:size+end], []byte("\r")))
		size += end + 1
		if line == "" {
			return chunked, size
		}
		key, value, ok := strings.Cut(line, ":")
		if !first && (!ok || key == "" || strings.ContainsAny(key, " \t")) {
			return false, 0
		}
		if strings.EqualFold(key, "transfer-encoding") {
			chunked = strings.HasSuffix(strings.ToLower(strings.TrimSpace(value)), "chunked")
		}
	}
}

// openHTTP adds the body of a message. A program that saves one may have put its chunks together, so
// that they are looked for.
func (e *expander) openHTTP(src *input.Source, depth int) {
	head, err := src.Bytes(0, min(src.Size, sniffSize))
	if err != nil {
		e.problem(src.Name, string(HTTP), 0, "", err)
		return
	}
	chunked, n := httpHeader(head)
	body := src.Sub(src.Name, int64(n), src.Size-int64(n))
	body.Notes = src.Notes
	line, _, _ := bytes.Cut(head[n:], []byte("\n"))
	if _, err := chunkSizeOf(line); chunked && err == nil {
		e.unpackBy(noWindow(newChunks), body, "the chunks of an HTTP message", depth, nil)
		return
	}
	e.expand(body, Sniff(body), depth+1, nil)
}

// chunks puts a body's chunks together (RFC 9112, section 7.1): each has a line with its size, and a
// line's end; the last one is empty.
type chunks struct {
	in    *countedReader
	left  int64 // of the chunk that is being read
	begun bool
}

func newChunks(r io.Reader) (io.Reader, error) { return &chunks{in: r.(*countedReader)}, nil }

// Read implements io.Reader.
func (c *chunks) Read(p []byte) (int, error) {
	if c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.in.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, cutOff(err)
}

// next reads the line before a chunk. After the last one it returns io.EOF.
func (c *chunks) next() (err error) {
	if c.begun {
		line, err := c.line()
		if err != nil {
			return err
		}
		if len(bytes.TrimRight(line, "\r\n")) > 0 {
			return errors.New("a chunk that is longer than its size")
		}
	}
	c.begun = true
	line, err := c.line()
	if err != nil {
		return err
	}
	if c.left, err = chunkSizeOf(line); err == nil && c.left == 0 {
		err = io.EOF
	}
	return err
}

// line reads a line, which is no longer than the reader's buffer.
func (c *chunks) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	*c.in.n += int64(len(line))
	return line, cutOff(err)
}

// chunkSizeOf returns the size that a line before a chunk says, in hexadecimal digits; what follows
// a semicolon is for others.
func chunkSizeOf(line []byte) (int64, error) {
	digits, _, _ := strings.Cut(string(line), ";")
	n, err := strconv.ParseUint(strings.TrimSpace(digits), 16, 63)
	if err != nil {
		return 0, fmt.Errorf("%q, where a chunk's size should be", clip(digits, 40))
	}
	return int64(n), nil
}
