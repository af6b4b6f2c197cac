package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crashpane/crashpane/walker/report"
)

const id = "11223344556677880102030405060708A"

// stores are the paths of a module on servers of every layout.
var stores = []report.StoreFile{
	{Layout: report.LayoutBreakpad, Path: "a b.pdb/" + id + "/a b.sym", Else: "a b.pdb/44332211665588770102030405060708A/a b.sym"},
	{Layout: report.LayoutMicrosoft, Path: "a b.pdb/" + id + "/a b.pdb", Else: "a b.pdb/" + id + "/a b.pd_"},
	{Layout: report.LayoutMicrosoft, Path: "a.exe/5A9832E5b000/a.exe", Else: "a.exe/5A9832E5b000/a.ex_"},
	{Layout: report.LayoutDebuginfod, Path: "buildid/aabbccddeeff/debuginfo"},
	{Layout: report.LayoutDebuginfod, Path: "buildid/aabbccddeeff/executable"},
}

// content is what every file has.
var content = bytes.Repeat([]byte("0123456789abcdef"), 64<<10)

// server is a symbol server for tests: the files that it has, and the requests that it got.
type server struct {
	*httptest.Server
	has   map[string]bool
	serve http.HandlerFunc // of a file that it has; nil: http.ServeContent
	mu    sync.Mutex
	asked []*http.Request
}

func newServer(t *testing.T, serve http.HandlerFunc, has ...string) *server {
	s := &server{has: map[string]bool{}, serve: serve}
	for _, path := range has {
		s.has["/store/"+path] = true
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r)
		s.mu.Unlock()
		switch {
		case !s.has[r.URL.Path]:
			http.NotFound(w, r)
		case s.serve != nil:
			s.serve(w, r)
		default:
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// client is one for tests, which waits for nothing.
func client(t *testing.T, layout string, servers ...*server) *Client {
	var list []Server
	for _, s := range servers {
		list = append(list, Server{Layout: layout, Base: s.URL + "/store"})
	}
	c := New(list, filepath.Join(t.TempDir(), "symbols"))
	c.Pause, c.Idle = time.Millisecond, 2*time.Second
	return c
}

// left is what is in the folder and next to it.
func left(c *Client) (files []string) {
	filepath.WalkDir(filepath.Dir(c.Folder), func(path string, d os.DirEntry, _ error) error {
		if !d.IsDir() {
			name, _ := filepath.Rel(filepath.Dir(c.Folder), path)
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	return files
}

// TestLayouts: of each layout the files are found, and only those that are necessary are asked for.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		layout string
		has    []string
		want   []string
		asked  int
	}{
		{"", []string{stores[0].Path, stores[1].Path}, []string{stores[0].Path}, 1},
		{"", []string{stores[0].Else}, []string{stores[0].Else}, 2},
		{"", []string{stores[1].Path, stores[2].Else}, []string{stores[1].Path, stores[2].Else}, 5},
		{"", []string{stores[3].Path, stores[4].Path}, []string{stores[3].Path, stores[4].Path}, 8},
		{report.LayoutMicrosoft, []string{stores[0].Path, stores[1].Else}, []string{stores[1].Else}, 4},
		{report.LayoutDebuginfod, []string{stores[4].Path}, []string{stores[4].Path}, 2},
		{report.LayoutBreakpad, []string{stores[1].Path}, nil, 2},
	} {
		s := newServer(t, nil, c.has...)
		k := client(t, c.layout, s)
		paths, problems := k.Fetch(context.Background(), stores)
		if len(problems) > 0 || len(paths) != len(c.want) || len(s.asked) != c.asked {
			t.Errorf("%+v: %q, %v, %d requests", c, paths, problems, len(s.asked))
		}
		for i, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(data, content) || path != filepath.Join(k.Folder, filepath.FromSlash(c.want[i])) {
				t.Errorf("%+v: %s, %d bytes, %v", c, path, len(data), err)
			}
		}
		if files := left(k); len(files) != len(c.want) {
			t.Errorf("%+v: %q are left", c, files)
		}
		again, _ := k.Fetch(context.Background(), stores[:1])
		if len(again) > 0 && len(s.asked) != c.asked {
			t.Errorf("%+v: what is there is asked for again", c)
		}
		for _, r := range s.asked {
			if len(r.Cookies()) > 0 || r.Referer() != "" || r.Header.Get("Authorization") != "" || r.Method != http.MethodGet {
				t.Errorf("it sends %v", r.Header)
			}
		}
	}
}

// The second server is asked for what the first lacks.
func TestServers(t *testing.T) {
	first, second := newServer(t, nil), newServer(t, nil, stores[0].Path)
	k := client(t, "", first, second)
	if paths, problems := k.Fetch(context.Background(), stores); len(paths) != 1 || len(problems) > 0 || len(first.asked) != 8 {
		t.Errorf("%q, %v", paths, problems)
	}
}

// TestResume: a server that fails in the middle is asked for the rest, in this run and in the next.
func TestResume(t *testing.T) {
	failing, ranges := 2, []string{}
	var mu sync.Mutex
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		ranges = append(ranges, r.Header.Get("Range")+" "+r.Header.Get("If-Range"))
		w.Header().Set("ETag", `"v1"`)
		if failing--; failing >= 0 {
			from := 0
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
			w.Header().Set("Content-Length", fmt.Sprint(len(content)-from))
			if from > 0 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
				w.WriteHeader(http.StatusPartialContent)
			}
			w.Write(content[from : from+1000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}, stores[0].Path)
	k := client(t, "", s)
	paths, problems := k.Fetch(context.Background(), stores[:1])
	if len(problems) > 0 || len(paths) != 1 {
		t.Fatal(problems)
	}
	if data, _ := os.ReadFile(paths[0]); !bytes.Equal(data, content) {
		t.Errorf("%d bytes", len(data))
	}
	if len(ranges) != 3 || ranges[0] != " " || ranges[1] != `bytes=1000- "v1"` || ranges[2] != `bytes=2000- "v1"` {
		t.Errorf("%q", ranges)
	}

	// In the next run; and if the file is another one then, the download starts over.
	for _, version := range []string{`"v1"`, `"v2"`} {
		k := client(t, "", s)
		d := &download{c: k, part: filepath.Join(k.Folder+Partial, filepath.FromSlash(stores[0].Path))}
		if err := d.begin(&http.Response{Header: http.Header{"Etag": {version}}, ContentLength: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(d.part, content[:5000], 0o644)
		ranges = nil
		paths, problems := k.Fetch(context.Background(), stores[:1])
		if len(problems) > 0 || len(ranges) != 1 || ranges[0] != "bytes=5000- "+version {
			t.Errorf("%q, %v", ranges, problems)
		}
		if data, _ := os.ReadFile(paths[0]); !bytes.Equal(data, content) || len(left(k)) != 1 {
			t.Errorf("%s: %d bytes, %q", version, len(data), left(k))
		}
	}
}

// TestPatience: a server is given up when several answers in a row bring nothing, and not before.
func TestPatience(t *testing.T) {
	asked := 0
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		switch asked++; asked {
		case 1, 2, 4:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3: // a part
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			w.Write(content[:1000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		}
	}, stores[0].Path)
	if paths, problems := client(t, "", s).Fetch(context.Background(), stores[:1]); len(paths) != 1 || asked != 5 {
		t.Errorf("asked %d times: %v", asked, problems)
	}
}

// TestLies: servers that announce other lengths than they send, or send other parts than they were
// asked for.
func TestLies(t *testing.T) {
	length := func(n int, send []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			head := "HTTP/1.1 200 OK"
			if r.Header.Get("Range") != "" {
				head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-99/100"
			}
			fmt.Fprintf(buf, "%s\r\nContent-Length: %d\r\n\r\n%s", head, n, send)
			buf.Flush()
		}
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		max   int64
		want  string
	}{
		"more than it sends": {length(5000, content[:100]), maxSize, "the server announced 5000 bytes and sent 100"},
		"more than is taken": {length(1<<50, content[:100]), 1 << 20, "it has 1125899906842624 bytes, more than the 1048576 that are taken"},
		"without end":        {func(w http.ResponseWriter, r *http.Request) { endless(w) }, 1 << 20, "it has more than the 1048576 bytes that are taken"},
		"silence":            {func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() }, maxSize, "after 0 bytes"},
		"another compression": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Write(content)
		}, maxSize, `compresses it by "br"`},
		"an error":          {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) }, maxSize, "server error (503)"},
		"a token":           {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(401) }, maxSize, "refused (401): the server needs a token"},
		"to another scheme": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "ftp://example.com/a", 302) }, maxSize, "redirects to ftp://example.com/a"},
	} {
		s := newServer(t, c.serve, stores[0].Path)
		k := client(t, "", s)
		k.MaxSize, k.Idle = c.max, 200*time.Millisecond
		paths, problems := k.Fetch(context.Background(), stores[:1])
		if len(paths) > 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), c.want) || !strings.Contains(problems[0].Error(), s.URL+"/store/a%20b.pdb/") {
			t.Errorf("%s: %q, %v", name, paths, problems)
		}
		if len(s.asked) > 30 {
			t.Errorf("%s: %d requests", name, len(s.asked))
		}
		for _, file := range left(k) {
			if !strings.HasPrefix(file, "symbols"+Partial+"/") {
				t.Errorf("%s leaves %s", name, file)
			}
		}
	}
}

func endless(w http.ResponseWriter) {
	for {
		if _, err := w.Write(content); err != nil {
			return
		}
	}
}

// A file that is stored compressed stays so, and its parts are those of the compressed bytes.
func TestCompressed(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(content)
	z.Close()
	failed := false
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("ETag", `"g"`)
		if !failed {
			failed = true
			w.Header().Set("Content-Length", fmt.Sprint(packed.Len()))
			w.Write(packed.Bytes()[:10])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(packed.Bytes()))
	}, stores[0].Path)
	k := client(t, "", s)
	paths, problems := k.Fetch(context.Background(), stores[:1])
	if len(problems) > 0 || len(paths) != 1 || !strings.HasSuffix(paths[0], "a b.sym.gz") {
		t.Fatalf("%q, %v", paths, problems)
	}
	if data, _ := os.ReadFile(paths[0]); !bytes.Equal(data, packed.Bytes()) || s.asked[1].Header.Get("Range") != "bytes=10-" {
		t.Errorf("%d bytes, %v", len(data), s.asked[1].Header)
	}
	if _, problems := k.Fetch(context.Background(), stores[:1]); len(problems) > 0 || len(s.asked) != 2 {
		t.Error("what is there is asked for again")
	}
}

// What is refused, by its id or by its path, is not kept. A token goes to the server alone.
func TestRefused(t *testing.T) {
	s := newServer(t, nil, stores[0].Path)
	k := client(t, "", s)
	k.Check = func(string, string) error { return errors.New("of another build") }
	if paths, problems := k.Fetch(context.Background(), stores[:1]); len(paths) > 0 || len(problems) != 1 || len(left(k)) > 0 {
		t.Errorf("%q, %v, %q", paths, problems, left(k))
	}
	for _, path := range []string{"../" + id + "/a.sym", "a.pdb/../a.sym", "a.pdb/" + id + "/..", "/" + id + "/a", "a/b/" + id + "/c", "a\n.pdb/" + id + "/a.sym", `..\a/` + id + "/a.sym", "a.pdb/xyz12345/a.sym"} {
		if _, problems := k.Fetch(context.Background(), []report.StoreFile{{Layout: "breakpad", Path: path}}); len(problems) != 1 {
			t.Errorf("%q: %v", path, problems)
		}
	}
	if len(s.asked) != 1 {
		t.Errorf("%d requests", len(s.asked))
	}
	other := newServer(t, nil, stores[0].Path)
	leading := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		// The test's servers differ only in their ports, so the other gets a name.
		_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
		http.Redirect(w, r, "http://localhost:"+port+r.URL.Path, http.StatusFound)
	}, stores[0].Path)
	k = client(t, "", leading)
	k.Token = "t0ken"
	if paths, problems := k.Fetch(context.Background(), stores[:1]); len(paths) != 1 {
		t.Error(problems)
	}
	if leading.asked[0].Header.Get("Authorization") != "Bearer t0ken" || other.asked[0].Header.Get("Authorization") != "" || other.asked[0].Referer() != "" {
		t.Errorf("%v, %v", leading.asked[0].Header, other.asked[0].Header)
	}
}

func TestParseServer(t *testing.T) {
	for text, want := range map[string]Server{
		"https://h/p/": {"", "https://h/p", false}, "microsoft+https://h/p": {"microsoft", "https://h/p", false}, "debuginfod+http://h": {"debuginfod", "http://h", false},
		"https://h/a+b": {"", "https://h/a+b", false}, "two-tier+https://h/p": {"microsoft", "https://h/p", true},
		"h": {}, "ftp://h": {}, "https://u:p@h/": {}, "https://h/?q": {}, "other+https://h": {}, "https://": {},
	} {
		if got, err := ParseServer(text); (err == nil) != (want != Server{}) || err == nil && got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
