package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Partial is the ending of the folder with what is not yet complete. It is next to the folder of the
// symbols, so that half a file is not taken for a whole one.
const Partial = ".partial"

// maxAttempts is how often an address is asked in a row without a byte of it coming.
const maxAttempts = 3

// download is the download of one address. What is below is kept in a file next to the part, for the
// next run.
type download struct {
	c             *Client
	address, part string
	// validator is what the server named the file's version by (ETag, else Last-Modified), encoding its
	// Content-Encoding, total its size in bytes, -1 if unknown.
	validator, encoding string
	total               int64
}

// unreachable is the error of a server to which there is no connection.
type unreachable struct{ error }

// get downloads an address into the folder, and returns its path. It goes on with
// what an earlier run has left, and repeats what fails in the middle.
func (c *Client) get(ctx context.Context, address, local, id string) (string, error) {
	d := &download{c: c, address: address, part: filepath.Join(c.Folder+Partial, local), total: -1}
	d.load()
	most := d.have() // that there ever was: a server may lead back to the beginning
	for attempt := 0; ; attempt++ {
		again, err := d.ask(ctx)
		if err == nil {
			break
		}
		if have := d.have(); have > most {
			most, attempt = have, 0
		}
		if !again || ctx.Err() != nil || attempt >= maxAttempts-1 {
			if d.have() == 0 {
				d.remove()
			}
			return "", fmt.Errorf("%s: %w", address, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(c.Pause << attempt):
		}
	}
	return d.keep(local, id)
}

// keep moves the file to its place, if it is the wanted one.
func (d *download) keep(local, id string) (string, error) {
	path := filepath.Join(d.c.Folder, local)
	if d.encoding == "gzip" {
		path += ".gz"
	}
	if d.c.Check != nil {
		if err := d.c.Check(d.part, id); err != nil {
			d.remove()
			return "", fmt.Errorf("%s: %w", d.address, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(d.part, path); err != nil {
		return "", err
	}
	d.remove()
	return path, nil
}

// remove removes the part and its folders, as far as they are empty.
func (d *download) remove() {
	d.c.folders.Lock()
	defer d.c.folders.Unlock()
	os.Remove(d.part)
	os.Remove(d.part + versionEnding)
	for dir := filepath.Dir(d.part); len(dir) >= len(d.c.Folder+Partial); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break
		}
	}
}

// have returns how much of the file is there.
func (d *download) have() int64 {
	st, err := os.Stat(d.part)
	if err != nil {
		return 0
	}
	return st.Size()
}

// versionEnding is the ending of the file with a part's version.
const versionEnding = ".version"

// load reads what an earlier run knew of the part. Without that the part is of no use.
func (d *download) load() {
	text, err := os.ReadFile(d.part + versionEnding)
	if err == nil {
		fields := append(strings.Split(string(text), "\n"), "", "", "")
		d.validator, d.encoding = fields[0], fields[1]
		d.total, err = strconv.ParseInt(fields[2], 10, 64)
	}
	if err != nil || d.validator == "" && d.total < 0 {
		os.Remove(d.part)
		d.validator, d.encoding, d.total = "", "", -1
	}
}

// begin forgets the part, and notes the version of the file that a response begins.
func (d *download) begin(r *http.Response) error {
	d.validator, d.encoding, d.total = validatorOf(r), r.Header.Get("Content-Encoding"), r.ContentLength
	text := d.validator + "\n" + d.encoding + "\n" + strconv.FormatInt(d.total, 10) + "\n"
	d.c.folders.Lock()
	defer d.c.folders.Unlock()
	if err := os.MkdirAll(filepath.Dir(d.part), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(d.part+versionEnding, []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(d.part, nil, 0o644)
}

// validatorOf returns what names a version strongly enough for If-Range (RFC 9110, 13.1.5): an ETag
// that is not weak, else the date of the last change.
func validatorOf(r *http.Response) string {
	if tag := r.Header.Get("ETag"); strings.HasPrefix(tag, `"`) {
		return tag
	}
	return r.Header.Get("Last-Modified")
}

// ask asks for what is missing and appends it. again: it may be repeated.
func (d *download) ask(ctx context.Context) (again bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.address, nil)
	if err != nil {
		return false, err
	}
	have := d.have()
	req.Header.Set("User-Agent", "crashpane")
	req.Header.Set("Accept-Encoding", "gzip")
	if d.c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+d.c.Token)
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if d.validator != "" {
			req.Header.Set("If-Range", d.validator)
		}
	}
	r, err := d.c.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address is shown elsewhere
		}
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return true, unreachable{dial}
		}
		return true, err
	}
	defer r.Body.Close()
	switch again, err := d.answered(r, have); {
	case err != nil:
		return again, err
	case d.total > d.c.MaxSize:
		return false, fmt.Errorf("it has %d bytes, more than the %d that are taken", d.total, d.c.MaxSize)
	}
	return d.append(r.Body, cancel)
}

// answered reads the head of a response to a request for what follows the first have bytes. An error
// says why its body is of no use.
func (d *download) answered(r *http.Response, have int64) (again bool, err error) {
	switch s := r.StatusCode; {
	case s == http.StatusOK:
		if e := r.Header.Get("Content-Encoding"); e != "" && e != "gzip" && e != "identity" {
			return false, fmt.Errorf("the server compresses it by %q, for which it was not asked", e)
		}
		return false, d.begin(r)
	case s == http.StatusPartialContent && have > 0:
		from, total, ok := contentRange(r.Header.Get("Content-Range"))
		if ok && from == have && (d.total < 0 || total == d.total) && r.Header.Get("Content-Encoding") == d.encoding {
			d.total = total
			return false, nil
		}
		what := r.Header.Get("Content-Range")
		d.remove()
		return true, fmt.Errorf("asked for what follows byte %d, the server sent %q", have, what)
	case s == http.StatusRequestedRangeNotSatisfiable && have > 0: // the file is another one now
		d.remove()
		return true, fmt.Errorf("the file has fewer than %d bytes now", have)
	case s == http.StatusNotFound, s == http.StatusGone:
		return false, errAbsent
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		if d.c.Token != "" {
			return false, fmt.Errorf("refused (%d): the server does not accept the token", s)
		}
		return false, fmt.Errorf("refused (%d): the server needs a token (--token-file)", s)
	case s == http.StatusTooManyRequests, s >= 500:
		return true, fmt.Errorf("server error (%d); try again later", s)
	}
	return false, fmt.Errorf("the server answered %d", r.StatusCode)
}

// append appends a response's body to the part. What ends early may be repeated. cancel ends the
// response, if no byte comes for a while.
func (d *download) append(body io.Reader, cancel func()) (again bool, err error) {
	f, err := os.OpenFile(d.part, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	have := d.have()
	silent := time.AfterFunc(d.c.Idle, cancel)
	defer silent.Stop()
	buf := make([]byte, 256<<10)
	for {
		n, readErr := body.Read(buf)
		silent.Reset(d.c.Idle)
		if have += int64(n); have > d.c.MaxSize {
			return false, fmt.Errorf("it has more than the %d bytes that are taken", d.c.MaxSize)
		}
		if d.total >= 0 && have > d.total {
			d.remove()
			return false, fmt.Errorf("the server sent more than the %d bytes that it announced", d.total)
		}
		if _, err := f.Write(buf[:n]); err != nil {
			return false, err
		}
		if d.c.Progress != nil {
			d.c.Progress(d.address, have, d.total)
		}
		switch {
		case readErr == nil:
		case readErr == io.EOF && (d.total < 0 || have == d.total):
			return false, nil
		case readErr == io.EOF, errors.Is(readErr, io.ErrUnexpectedEOF):
			return true, fmt.Errorf("the server announced %d bytes and sent %d", d.total, have)
		default:
			return true, fmt.Errorf("after %d bytes: %w", have, readErr)
		}
	}
}

// contentRange reads "bytes 5-9/10": where a part begins, and the size of the whole (RFC 9110, 14.4).
func contentRange(s string) (from, total int64, ok bool) {
	span, whole, ok := strings.Cut(strings.TrimPrefix(s, "bytes "), "/")
	first, last, dash := strings.Cut(span, "-")
	from, err1 := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	total, err3 := strconv.ParseInt(whole, 10, 64)
	return from, total, ok && dash && errors.Join(err1, err2, err3) == nil && from >= 0 && to == total-1 && from <= to
}
