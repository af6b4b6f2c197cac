// Package store answers requests for symbol files out of a bucket: GET and HEAD of
//
//	/symbols/<debug file>/<debug id>/<name>
//
// the layout that Breakpad's tools know; and files of listed symbol servers, see ServersPrefix. It
// never takes anything: there is no method that could carry a dump.
package store

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Prefix is the path under which the files lie.
const Prefix = "/symbols/"

// Object is what a bucket says about a file.
type Object struct {
	// Size in bytes, as stored.
	Size int64
	// ETag with its quotation marks.
	ETag string
	// Encoding is the content encoding that it was stored with ("gzip"), or "".
	Encoding string
}

// Bucket holds files by key. A key that it does not have is a nil Object and no error.
type Bucket interface {
	Head(key string) (*Object, error)
	// Send answers the file's bytes from off on, n of them, by way of w, whose header is written
	// already. With n 0 it answers no body.
	Send(w http.ResponseWriter, key string, off, n int64) error
}

// Config is what the person who runs the source decides.
type Config struct {
	// Origins may read by CORS, each "https://host[:port]"; "*" is any. None: only pages of the
	// source's own origin.
	Origins []string
	// Token, if it is set, must come as "Authorization: Bearer …".
	Token string
	// MaxAge is how long a browser may keep an answer, in seconds.
	MaxAge int
	// Servers may be read through the Worker. Redirects are the origins that these may lead on to,
	// "https://host", or "https://*.host" for all names under it.
	Servers   []Server
	Redirects []string
}

// packed are the endings under which a compressed file may be next to a plain name, with their
// content encodings.
var packed = []struct{ ending, encoding string }{{".gz", "gzip"}, {".zst", "zstd"}}

// Handler serves a bucket, and the servers of the configuration by fetch.
func Handler(b Bucket, c Config, fetch Fetch) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Vary", "Origin")
		c.allow(h, r.Header.Get("Origin"))
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET, HEAD")
			h.Set("Access-Control-Allow-Headers", "Authorization, Range, If-Range, If-None-Match")
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			refuse(w, http.StatusMethodNotAllowed, "symbol files can only be read here (GET, HEAD)")
			return
		}
		if !c.knows(r.Header.Get("Authorization")) {
			h.Set("WWW-Authenticate", `Bearer realm="symbols"`)
			refuse(w, http.StatusUnauthorized, "a token is needed")
			return
		}
		if strings.HasPrefix(r.URL.EscapedPath(), ServersPrefix) {
			c.serve(w, r, fetch)
			return
		}
		key, ok := Key(r.URL.EscapedPath())
		if !ok {
			refuse(w, http.StatusNotFound, "no such file; ask for "+Prefix+"<debug file>/<debug id>/<name>.sym")
			return
		}
		send(w, r, b, key, c.MaxAge)
	})
}

// allow lets a page of a named origin read the answer.
func (c Config) allow(h http.Header, origin string) {
	for _, o := range c.Origins {
		if origin != "" && (o == "*" || strings.EqualFold(o, origin)) {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Encoding, Content-Length, Content-Range, ETag")
			return
		}
	}
}

// knows compares the token in constant time, by its hash, which says nothing of its length either.
func (c Config) knows(authorization string) bool {
	if c.Token == "" {
		return true
	}
	given, ok := strings.CutPrefix(authorization, "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(c.Token))
	return ok && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Key is the bucket's key for an escaped path: its three parts, unescaped. A debug id is
// hexadecimal; a part that would leave its folder, or has a control character, is not a name.
func Key(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, Prefix)
	parts, named := names(rest)
	if !ok || !named || len(parts) != 3 || !isHex(parts[1], 9, 48) {
		return "", false
	}
	return strings.Join(parts, "/"), true
}

// names are the parts of an escaped path, unescaped; false if one of them is not a name.
func names(path string) ([]string, bool) {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		name, err := url.PathUnescape(p)
		if err != nil || name == "" || name == "." || name == ".." || len(name) > 255 || strings.ContainsAny(name, "/\\") ||
			strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == 0xfffd }) {
			return nil, false
		}
		parts[i] = name
	}
	return parts, true
}

// find looks for a file under its name, in the id's two cases, and then for it compressed.
func find(b Bucket, key string) (found string, o *Object, err error) {
	parts := strings.Split(key, "/")
	for _, id := range []string{parts[1], strings.ToUpper(parts[1]), strings.ToLower(parts[1])} {
		key := parts[0] + "/" + id + "/" + parts[2]
		if o, err = b.Head(key); o != nil || err != nil {
			return key, o, err
		}
	}
	for _, p := range packed {
		if o, err = b.Head(key + p.ending); o != nil || err != nil {
			if o != nil && o.Encoding == "" {
				o.Encoding = p.encoding
			}
			return key + p.ending, o, err
		}
	}
	return key, nil, nil
}

func send(w http.ResponseWriter, r *http.Request, b Bucket, key string, maxAge int) {
	h := w.Header()
	found, o, err := find(b, key)
	switch {
	case err != nil:
		refuse(w, http.StatusBadGateway, "the bucket could not be read")
		return
	case o == nil:
		refuse(w, http.StatusNotFound, "there is no "+key)
		return
	}
	h.Set("ETag", o.ETag)
	h.Set("Cache-Control", fmt.Sprintf("private, max-age=%d", maxAge))
	h.Set("Content-Type", "application/octet-stream")
	if o.Encoding != "" {
		// A part of a compressed stream is of no use to anyone.
		h.Set("Content-Encoding", o.Encoding)
	} else {
		h.Set("Accept-Ranges", "bytes")
	}
	if matches(r.Header.Get("If-None-Match"), o.ETag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	off, n, status := int64(0), o.Size, http.StatusOK
	if want := r.Header.Get("Range"); want != "" && o.Encoding == "" && fresh(r.Header.Get("If-Range"), o.ETag) {
		var ok bool
		switch off, n, ok = Range(want, o.Size); {
		case !ok:
			off, n = 0, o.Size
		case n <= 0:
			h.Set("Content-Range", fmt.Sprintf("bytes */%d", o.Size))
			refuse(w, http.StatusRequestedRangeNotSatisfiable, fmt.Sprintf("the file has %d bytes", o.Size))
			return
		default:
			status = http.StatusPartialContent
			h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", off, off+n-1, o.Size))
		}
	}
	h.Set("Content-Length", strconv.FormatInt(n, 10))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		n = 0
	}
	// The header is gone: of an error, a body that ends early is all that can be said.
	_ = b.Send(w, found, off, n)
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, why+"\n")
}

// matches: If-None-Match names the file as it is (RFC 9110, 13.1.2).
func matches(list, etag string) bool {
	for _, one := range strings.Split(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || one != "" && strings.TrimPrefix(one, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// fresh: a part may be sent if the client's other parts are of the same file (RFC 9110, 13.1.5).
func fresh(ifRange, etag string) bool { return ifRange == "" || ifRange == etag }

// Range reads a Range header with one range of bytes (RFC 9110, 14.1.2): where it begins in a file
// of a size, and how many bytes it has, 0 if none of it exists. False: it is to be passed over, and
// the whole file sent, as for several ranges.
func Range(header string, size int64) (off, n int64, ok bool) {
	spec, ok := strings.CutPrefix(header, "bytes=")
	first, last, dash := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !dash || strings.Contains(spec, ",") {
		return 0, 0, false
	}
	number := func(s string) (int64, bool) {
		v, err := strconv.ParseUint(s, 10, 63)
		return int64(v), err == nil
	}
	if first == "" {
		n, ok = number(last)
		n = min(n, size)
		return size - n, n, ok
	}
	off, ok = number(first)
	if !ok {
		return 0, 0, false
	}
	end := size - 1
	if last != "" {
		to, ok := number(last)
		if !ok || to < off {
			return 0, 0, false
		}
		end = min(end, to)
	}
	return off, max(end-off+1, 0), true
}
