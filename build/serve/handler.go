package main

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/build/site"
)

// handler serves the files of one folder. It lists no folders, computes nothing, and refuses all
// methods but GET and HEAD, so that a request cannot change anything.
type handler struct {
	files fs.FS
	bases []string // the sources of symbols that the page was built with
}

// encodings are the content encodings that the bundle makes for a file (NAME.br, NAME.gz), the
// smallest first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// ServeHTTP sends a file with the site's headers, in the smallest encoding that the site has and
// the client accepts.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	for _, pair := range site.HeadersFor(name, h.bases...) {
		header.Set(pair[0], pair[1])
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	// fs.ValidPath refuses "..", empty elements and a trailing slash.
	if !fs.ValidPath(name) || hidden(name) || h.stat(name) == nil {
		header.Set("Cache-Control", "no-cache")
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}

	header.Set("Content-Type", site.ContentType(name))
	header.Set("Cache-Control", site.CacheControl(name))
	stored, encoding := name, ""
	accepted := accepts(r.Header.Get("Accept-Encoding"))
	for _, e := range encodings {
		if !site.Compresses(name) || h.stat(name+e.suffix) == nil {
			continue
		}
		header.Set("Vary", "Accept-Encoding")
		if encoding == "" && accepted(e.name) {
			stored, encoding = name+e.suffix, e.name
		}
	}
	h.send(w, r, stored, encoding)
}

// hidden reports whether an element of the name begins with a dot.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

// stat returns nil unless the name is a regular file.
func (h *handler) stat(name string) fs.FileInfo {
	info, err := fs.Stat(h.files, name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}

// send writes the stored file name, which holds a file of the site in the given encoding ("" for as
// it is).
func (h *handler) send(w http.ResponseWriter, r *http.Request, name, encoding string) {
	file, err := h.files.Open(name)
	if err != nil {
		http.Error(w, "cannot open "+path.Base(name), http.StatusInternalServerError)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	content, seekable := file.(io.ReadSeeker)
	if err != nil || !seekable {
		http.Error(w, "cannot read "+path.Base(name), http.StatusInternalServerError)
		return
	}
	// The bundle writes a file only when its content changes, so two contents differ in size or
	// time. Each encoding has its own ETag (RFC 9110, section 8.8.3.3).
	w.Header().Set("ETag", fmt.Sprintf(`"%x-%x%s"`, info.ModTime().UnixNano(), info.Size(), encoding))
	if encoding != "" {
		w.Header().Set("Content-Encoding", encoding)
		// A range would select bytes of the compressed file, which a client cannot decompress
		// alone.
		r.Header.Del("Range")
		w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	}
	http.ServeContent(w, r, name, info.ModTime(), content)
}

// accepts parses an Accept-Encoding header (RFC 9110, section 12.5.3) and returns a function that
// reports whether it allows an encoding. An encoding that the header does not name is allowed only
// by "*", and q=0 forbids it: "br;q=0, *" allows gzip and not br.
func accepts(header string) func(encoding string) bool {
	allowed := map[string]bool{}
	for _, item := range strings.Split(header, ",") {
		coding, parameters, _ := strings.Cut(item, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		if coding == "" {
			continue
		}
		q := 1.0
		for _, p := range strings.Split(parameters, ";") {
			if key, value, ok := strings.Cut(p, "="); ok && strings.EqualFold(strings.TrimSpace(key), "q") {
				var err error
				if q, err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
					q = 0
				}
			}
		}
		allowed[coding] = q > 0
	}
	return func(encoding string) bool {
		if yes, named := allowed[encoding]; named {
			return yes
		}
		return allowed["*"]
	}
}
