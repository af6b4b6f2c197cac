package store

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ServersPrefix is the path under which the Worker asks other symbol servers for its pages, since
// these let no page read their answers:
//
//	/servers/<host of a listed server>/<path of a file in that server's layout>
//
// It asks the servers of its configuration and no other, for paths of the server's layout alone,
// and sends them nothing but the path and the range of bytes that is wanted.
const ServersPrefix = "/servers/"

// Server is a symbol server that pages may read through the Worker.
type Server struct {
	// Host is its name and port, by which pages call it; Base its address without a slash at the
	// end.
	Host, Base string
	valid      func(path []string) bool
}

// layouts say which paths there are. Each part is a name already (see names).
var layouts = map[string]func(path []string) bool{
	// name.pdb/<signature><age>/name.pdb, name.exe/<time stamp><size>/name.exe; a cabinet if the
	// name's last character is "_".
	"microsoft": func(p []string) bool {
		return len(p) == 3 && isHex(p[1], 9, 48) && len(p[0]) == len(p[2]) && p[0][:len(p[0])-1] == p[2][:len(p[2])-1] &&
			(p[0] == p[2] || strings.HasSuffix(p[2], "_"))
	},
	"debuginfod": func(p []string) bool {
		return len(p) == 3 && p[0] == "buildid" && isHex(p[1], 8, 128) && (p[2] == "debuginfo" || p[2] == "executable")
	},
	// What a Breakpad server without CORS has, and the index next to it (crashpane index).
	"breakpad": func(p []string) bool {
		return len(p) == 3 && isHex(p[1], 9, 48) && strings.HasSuffix(strings.TrimSuffix(p[2], ".index"), ".sym")
	},
}

// isHex: a text of hexadecimal digits, from least to most of them.
func isHex(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// Servers reads the servers of a configuration: "microsoft+https://host/path
// debuginfod+https://host", separated by spaces or commas. One that cannot be read is an error, and
// none of them is asked then.
func Servers(text string) ([]Server, error) {
	var out []Server
	for _, one := range fields(text) {
		layout, base, _ := strings.Cut(one, "+")
		u, err := url.Parse(base)
		valid := layouts[layout]
		if err != nil || valid == nil || !plainOrigin(u) || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("%q is not a symbol server: microsoft+https://host/path, debuginfod+https://host or breakpad+https://host/path is wanted", one)
		}
		if slices.ContainsFunc(out, func(s Server) bool { return s.Host == u.Host }) {
			return nil, fmt.Errorf("%s is listed twice", u.Host)
		}
		out = append(out, Server{u.Host, strings.TrimRight(base, "/"), valid})
	}
	return out, nil
}

func fields(text string) []string { return strings.Fields(strings.ReplaceAll(text, ",", " ")) }

func plainOrigin(u *url.URL) bool {
	return u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http")
}

// Upstream is a server's answer.
type Upstream struct {
	Status int
	// Header is one of its header fields, or "".
	Header func(name string) string
	// Send answers the body by way of w, whose header is written already.
	Send func(w http.ResponseWriter) error
	// Drop gives the body up.
	Drop func()
}

// Fetch asks a server by GET with these header fields and no others, without cookies, and follows
// no redirect.
type Fetch func(address string, header map[string]string) (*Upstream, error)

// maxRedirects is how often a server may lead on.
const maxRedirects = 3

// serve answers a request for a file of a listed server.
func (c Config) serve(w http.ResponseWriter, r *http.Request, fetch Fetch) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", "GET, OPTIONS")
		refuse(w, http.StatusMethodNotAllowed, "files can only be read here (GET)")
		return
	}
	host, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), ServersPrefix), "/")
	at := slices.IndexFunc(c.Servers, func(s Server) bool { return s.Host == host })
	if at < 0 {
		refuse(w, http.StatusForbidden, "this server is not in SYMBOL_SERVERS")
		return
	}
	parts, ok := names(path)
	if !ok || r.URL.RawQuery != "" || !c.Servers[at].valid(parts) {
		refuse(w, http.StatusForbidden, "that is not the path of a symbol file on such a server")
		return
	}
	address := c.Servers[at].Base
	for _, p := range parts {
		address += "/" + url.PathEscape(p)
	}
	// Whatever else the page or the browser sent stays here.
	header := map[string]string{}
	if want := r.Header.Get("Range"); want != "" {
		if _, _, ok := Range(want, 1<<62); ok {
			header["Range"] = want
			if etag := r.Header.Get("If-Range"); isETag(etag) {
				header["If-Range"] = etag
			}
		}
	}
	up, why := c.follow(address, header, fetch)
	if up == nil {
		refuse(w, http.StatusBadGateway, why)
		return
	}
	c.pass(w, up, host)
}

// follow asks an address or, if the server redirects to one of the listed origins, that one. A
// nil answer comes with the reason.
func (c Config) follow(address string, header map[string]string, fetch Fetch) (*Upstream, string) {
	for range maxRedirects + 1 {
		up, err := fetch(address, header)
		if err != nil {
			return nil, "the server cannot be reached"
		}
		if up.Status < 300 || up.Status > 399 || up.Status == http.StatusNotModified {
			return up, ""
		}
		up.Drop()
		from, err := url.Parse(address)
		if err != nil {
			return nil, "the server's address cannot be read"
		}
		to, err := from.Parse(up.Header("Location"))
		if err != nil || !plainOrigin(to) || from.Scheme == "https" && to.Scheme != "https" {
			return nil, "the server redirects to an address that cannot be followed"
		}
		if (to.Scheme != from.Scheme || to.Host != from.Host) && !c.leadsTo(to) {
			return nil, "the server redirects to " + to.Scheme + "://" + to.Host + ", which is not among the origins that it may redirect to (SYMBOL_REDIRECTS)"
		}
		address = to.String()
	}
	return nil, "the server redirects too often"
}

// leadsTo: the origin is listed, or is a subdomain of one that is listed as "https://*.host".
func (c Config) leadsTo(u *url.URL) bool {
	for _, o := range c.Redirects {
		if rest, ok := strings.CutPrefix(o, "https://*."); ok && u.Scheme == "https" && strings.Contains(rest, ".") && strings.HasSuffix(u.Host, "."+rest) {
			return true
		}
		if o == u.Scheme+"://"+u.Host {
			return true
		}
	}
	return false
}

// passed are the header fields of a server's answer that go to the page.
var passed = []string{"Accept-Ranges", "Content-Length", "Content-Range", "ETag", "Last-Modified"}

// pass hands a server's answer on. If the answer is not a file, only its status matters.
func (c Config) pass(w http.ResponseWriter, up *Upstream, host string) {
	switch up.Status {
	case http.StatusOK, http.StatusPartialContent:
	case http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable:
		up.Drop()
		refuse(w, up.Status, fmt.Sprintf("%s answered %d", host, up.Status))
		return
	default:
		up.Drop()
		refuse(w, http.StatusBadGateway, fmt.Sprintf("%s answered %d", host, up.Status))
		return
	}
	h := w.Header()
	for _, name := range passed {
		// What was unpacked on its way has another length.
		if v := up.Header(name); v != "" && !(name == "Content-Length" && up.Header("Content-Encoding") != "") {
			h.Set(name, v)
		}
	}
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", fmt.Sprintf("private, max-age=%d", c.MaxAge))
	w.WriteHeader(up.Status)
	// The header is gone: of an error, a body that ends early is all that can be said.
	_ = up.Send(w)
}

// isETag: a strong entity tag (RFC 9110, 8.8.3).
func isETag(s string) bool {
	return len(s) >= 2 && len(s) < 200 && s[0] == '"' && s[len(s)-1] == '"' && !strings.ContainsAny(s[1:len(s)-1], "\"\r\n")
}
