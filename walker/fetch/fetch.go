// Package fetch downloads symbol files from symbol servers. A server gets the names and ids of
// modules, which are in the addresses, and nothing else of a dump: no cookie and no referrer.
//
// Start at Client.Fetch, which asks the servers for one missing file; get.go is the download of one
// address, which goes on where it was interrupted. This package has net/http and must not be linked
// into the page.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crashpane/crashpane/walker/report"
)

// Server is a symbol server. Layout is one of report's layouts, or "" for a server that is asked in
// all of them. TwoTier: it has Microsoft's layout below folders named by the first two letters of the files' names.
type Server struct {
	Layout, Base string
	TwoTier      bool
}

// ParseServer reads the address of a server, "https://host/path" or "microsoft+https://host/path".
func ParseServer(text string) (Server, error) {
	s := Server{Base: text}
	if layout, base, ok := strings.Cut(text, "+"); ok && !strings.Contains(layout, "/") {
		s = Server{Layout: layout, Base: base}
		if layout == twoTier {
			s.Layout, s.TwoTier = report.LayoutMicrosoft, true
			layout = s.Layout
		}
		if !slices.Contains([]string{report.LayoutBreakpad, report.LayoutMicrosoft, report.LayoutDebuginfod}, layout) {
			return s, fmt.Errorf("%q: there is no layout %q; there are breakpad, microsoft, two-tier, debuginfod", text, layout)
		}
	}
	u, err := url.Parse(s.Base)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return s, fmt.Errorf("%q is not the address of a server; an address like https://symbols.example/path is, without a user name, ? or #", text)
	}
	s.Base = strings.TrimRight(s.Base, "/")
	return s, nil
}

// twoTier is Server.TwoTier in an address.
const twoTier = "two-tier"

// Client downloads files into a folder, which it lays out as the servers are.
type Client struct {
	Servers []Server
	Folder  string
	// Token, if it is set, is sent as "Authorization: Bearer …" to the servers, and to no other host
	// that they lead on to.
	Token string
	// Check returns an error for a file that does not have the id. It may be nil.
	Check func(path, id string) error
	// Progress is called now and then by the downloads, each in a goroutine of its own. total is -1 if
	// it is not known.
	Progress func(address string, done, total int64)
	// MaxSize is the size in bytes of the largest file that is taken; New sets maxSize.
	MaxSize int64
	// Pause is how long to wait before the first repetition, and Idle how long for the next byte. New
	// sets pause and idle.
	Pause, Idle time.Duration
	client      *http.Client
	folders     sync.Mutex // held while a download makes or removes folders, which others have, too
	down        sync.Map   // Server → the error of its first download, if it cannot be reached
}

// Limits of a Client, if its user does not set others.
const (
	maxSize = 16 << 30
	pause   = time.Second
	idle    = time.Minute
)

// New makes a Client.
func New(servers []Server, folder string) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	// What is compressed is stored so, and a Range is one of the compressed bytes.
	t.DisableCompression = true
	t.ResponseHeaderTimeout = idle
	return &Client{Servers: servers, Folder: folder, MaxSize: maxSize, Pause: pause, Idle: idle, client: &http.Client{Transport: t, CheckRedirect: follow}}
}

// maxRedirects is how often a server may lead on.
const maxRedirects = 5

// follow allows a redirect to another address of the web, but not from https to http.
func follow(to *http.Request, via []*http.Request) error {
	switch from := via[len(via)-1].URL; {
	case len(via) > maxRedirects:
		return errors.New("it redirects too often")
	case to.URL.Scheme != "https" && (to.URL.Scheme != "http" || from.Scheme == "https"):
		return fmt.Errorf("it redirects to %s, which is not encrypted", to.URL.Redacted())
	}
	to.Header.Del("Referer")
	return nil
}

// errAbsent: the server does not have a file.
var errAbsent = errors.New("the server does not have it")

// Fetch downloads the files for a missing one from the first server that has them. It returns the
// paths of what it has downloaded or found in the folder, none and no problems if no server has any. A server
// that cannot be reached is not asked again, and the problem is the same for all files.
//
// A symbol file makes the others unnecessary. Servers of the other layouts may have two files, the
// program and its debug information, and both are wanted.
func (c *Client) Fetch(ctx context.Context, files []report.StoreFile) (paths []string, problems []error) {
ask:
	for _, server := range c.Servers {
		if err, down := c.down.Load(server); down {
			problems = append(problems, err.(error))
			continue
		}
		layout := "" // of the files that the server has
		for _, f := range files {
			if server.Layout != "" && server.Layout != f.Layout || layout != "" && layout != f.Layout {
				continue
			}
			path, err := c.file(ctx, server, f)
			var no unreachable
			switch {
			case errors.As(err, &no):
				err, _ := c.down.LoadOrStore(server, fmt.Errorf("%s cannot be reached: %w", server.Base, no))
				problems = append(problems, err.(error))
				continue ask
			case err == nil:
				layout, paths = f.Layout, append(paths, path)
			case !errors.Is(err, errAbsent):
				problems = append(problems, err)
			}
		}
		if len(paths) > 0 {
			break
		}
	}
	return paths, problems
}

// file downloads one file, which may be at two places of a server.
func (c *Client) file(ctx context.Context, server Server, f report.StoreFile) (string, error) {
	places := []string{f.Path, f.Else}
	if f.Else == "" {
		places = places[:1]
	}
	for _, path := range places {
		if local := filepath.FromSlash(path); filepath.IsLocal(local) && c.present(local) != "" {
			return c.present(local), nil
		}
	}
	err := errAbsent
	for _, path := range places {
		address, id, problem := addressOf(server, path)
		if problem != nil {
			return "", problem
		}
		var at string
		if at, err = c.get(ctx, address, filepath.FromSlash(path), id); !errors.Is(err, errAbsent) {
			return at, err
		}
	}
	return "", err
}

// addressOf returns a file's address and the id in it. The path is made of names of a dump, which is
// not trusted: it must not lead out of the folder, nor to another place of the server.
func addressOf(server Server, path string) (address, id string, err error) {
	parts := strings.Split(path, "/")
	if len(parts) != 3 || !filepath.IsLocal(filepath.FromSlash(path)) || len(parts[1]) < 8 || strings.Trim(parts[1], "0123456789abcdefABCDEF") != "" {
		return "", "", fmt.Errorf("%q is not asked for: it is not the path of a symbol file", path)
	}
	address, id = server.Base, parts[1]
	if server.TwoTier {
		parts = append([]string{strings.ToLower(parts[0][:min(2, len(parts[0]))])}, parts...)
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || len(part) > 255 || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == 0xfffd }) {
			return "", "", fmt.Errorf("%q is not asked for: %q is not a file name", path, part)
		}
		address += "/" + url.PathEscape(part)
	}
	return address, id, nil
}

// present returns the path of a file that the folder has, as it is or compressed, or "".
func (c *Client) present(local string) string {
	for _, ending := range []string{"", ".gz"} {
		path := filepath.Join(c.Folder, local) + ending
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
