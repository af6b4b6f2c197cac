package store

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// noServers fails a test that asks a server.
func noServers(t *testing.T) Fetch {
	return func(address string, _ map[string]string) (*Upstream, error) {
		t.Errorf("%s was asked", address)
		return nil, errors.New("not to be asked")
	}
}

// upstream answers by address, and keeps what it was asked.
type upstream struct {
	answers map[string]upstreamAnswer
	asked   []string
	headers []map[string]string
}

type upstreamAnswer struct {
	status int
	header map[string]string
	body   string
}

func (u *upstream) fetch(address string, header map[string]string) (*Upstream, error) {
	u.asked, u.headers = append(u.asked, address), append(u.headers, header)
	a, ok := u.answers[address]
	if !ok {
		return nil, errors.New("there is no such server")
	}
	return &Upstream{Status: a.status, Header: func(name string) string { return a.header[name] }, Drop: func() {},
		Send: func(w http.ResponseWriter) error { _, err := io.WriteString(w, a.body); return err }}, nil
}

const (
	msdl   = "https://msdl.example/download/symbols"
	debugs = "https://debug.example"
	pdbID  = "5A9832E5287241C1838ED98914E9B7FF1"
	pdb    = "/servers/msdl.example/app.pdb/" + pdbID + "/app.pdb"
	exe    = "/servers/msdl.example/app.exe/5F5E10003000/app.exe"
	elf    = "/servers/debug.example/buildid/0123456789abcdef/debuginfo"
)

func config(t *testing.T) Config {
	t.Helper()
	servers, err := Servers("microsoft+" + msdl + "/, debuginfod+" + debugs)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Servers: servers, MaxAge: 60, Redirects: []string{"https://files.example", "https://*.blob.example.net"}}
}

// TestServersAsked: a path of a listed server's layout is asked of that server, and of what came
// with the request no more than the range.
func TestServersAsked(t *testing.T) {
	u := &upstream{answers: map[string]upstreamAnswer{
		msdl + "/app.pdb/" + pdbID + "/app.pdb":              {200, map[string]string{"Content-Length": "3", "ETag": `"1"`, "Set-Cookie": "a=b", "Content-Type": "text/html"}, "MSF"},
		msdl + "/app.pdb/" + pdbID + "/app.pd_":              {200, map[string]string{"Content-Length": "2", "Content-Encoding": "gzip"}, "MSCF"},
		msdl + "/a%20%C3%A9.exe/5F5E10003000/a%20%C3%A9.exe": {206, map[string]string{"Content-Range": "bytes 0-1/9"}, "MZ"},
		debugs + "/buildid/0123456789abcdef/debuginfo":       {200, nil, "ELF"},
		debugs + "/buildid/0123456789abcdef/executable":      {404, nil, "<html>"},
		msdl + "/bad.exe/5F5E10003000/bad.exe":               {403, nil, "<html>"},
	}}
	for _, tc := range []struct {
		path, body string
		status     int
	}{
		{pdb, "MSF", 200},
		{strings.TrimSuffix(pdb, "b") + "_", "MSCF", 200},
		{"/servers/msdl.example/a%20%C3%A9.exe/5F5E10003000/a%20%C3%A9.exe", "MZ", 206},
		{elf, "ELF", 200},
		{"/servers/debug.example/buildid/0123456789abcdef/executable", "debug.example answered 404\n", 404},
		{"/servers/msdl.example/bad.exe/5F5E10003000/bad.exe", "msdl.example answered 403\n", 502},
		{exe, "the server cannot be reached\n", 502},
	} {
		r := httptest.NewRequest("GET", tc.path, nil)
		for name, value := range map[string]string{"Range": "bytes=0-1", "If-Range": `"e"`, "Cookie": "secret=1", "Authorization": "Bearer x", "Referer": "https://a/b", "Origin": "https://a",
			"User-Agent": "b", "X-Forwarded-For": "1.2.3.4"} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		Handler(memory{}, config(t), u.fetch).ServeHTTP(w, r)
		if w.Code != tc.status || w.Body.String() != tc.body {
			t.Errorf("%s: %d %q", tc.path, w.Code, w.Body.String())
		}
		if h := w.Header(); h.Get("Set-Cookie") != "" || w.Code < 300 && h.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: header %v", tc.path, h)
		}
		if w.Code == 200 && strings.HasSuffix(tc.path, "_") != (w.Header().Get("Content-Length") == "") && tc.path != elf {
			t.Errorf("%s: the length of what was unpacked on its way is said: %v", tc.path, w.Header())
		}
	}
	if len(u.asked) != 7 {
		t.Errorf("asked are %q", u.asked)
	}
	for _, h := range u.headers {
		if len(h) != 2 || h["Range"] != "bytes=0-1" || h["If-Range"] != `"e"` {
			t.Errorf("sent on was %v", h)
		}
	}
}

// TestServersRefused: what is not a file of a listed server's layout is asked of nobody.
func TestServersRefused(t *testing.T) {
	for _, tc := range []struct {
		name, method, path string
		header             []string
		config             Config
		status             int
	}{
		{"a dump sent", "POST", pdb, nil, config(t), 405},
		{"a head", "HEAD", pdb, nil, config(t), 405},
		{"a server that is not listed", "GET", strings.Replace(pdb, "msdl.example", "evil.example", 1), nil, config(t), 403},
		{"its name with another port", "GET", strings.Replace(pdb, "msdl.example", "msdl.example:8080", 1), nil, config(t), 403},
		{"its name and a user", "GET", strings.Replace(pdb, "msdl.example", "a@msdl.example", 1), nil, config(t), 403},
		{"a name that begins so", "GET", strings.Replace(pdb, "msdl.example", "msdl.example.evil", 1), nil, config(t), 403},
		{"an address", "GET", "/servers/https://evil.example/a.pdb/" + pdbID + "/a.pdb", nil, config(t), 403},
		{"none listed", "GET", pdb, nil, Config{}, 403},
		{"a query", "GET", pdb + "?dump=1", nil, config(t), 403},
		{"another name at the end", "GET", strings.TrimSuffix(pdb, "app.pdb") + "abc.pdb", nil, config(t), 403},
		{"the other layout", "GET", strings.Replace(elf, "debug.example", "msdl.example", 1), nil, config(t), 403},
		{"the other layout", "GET", strings.Replace(pdb, "msdl.example", "debug.example", 1), nil, config(t), 403},
		{"a path that leads out", "GET", "/servers/msdl.example/%2e%2e/" + pdbID + "/%2e%2e", nil, config(t), 403},
		{"a part with a slash", "GET", "/servers/msdl.example/a%2fb/" + pdbID + "/a%2fb", nil, config(t), 403},
		{"a part with a line end", "GET", "/servers/msdl.example/a%0ab/" + pdbID + "/a%0ab", nil, config(t), 403},
		{"a text that is no id", "GET", "/servers/msdl.example/app.pdb/secret-text/app.pdb", nil, config(t), 403},
		{"a long id", "GET", "/servers/msdl.example/app.pdb/" + strings.Repeat("A", 49) + "/app.pdb", nil, config(t), 403},
		{"no file", "GET", "/servers/msdl.example/", nil, config(t), 403},
		{"source files of debuginfod", "GET", "/servers/debug.example/buildid/0123456789abcdef/source/etc/passwd", nil, config(t), 403},
		{"no token", "GET", pdb, nil, Config{Servers: config(t).Servers, Token: "secret"}, 401},
	} {
		r := httptest.NewRequest(tc.method, tc.path, nil)
		w := httptest.NewRecorder()
		Handler(memory{}, tc.config, noServers(t)).ServeHTTP(w, r)
		if w.Code != tc.status {
			t.Errorf("%s: %d %s", tc.name, w.Code, w.Body.String())
		}
	}
}

// TestServersLeadOn: a server is followed to the origins that the configuration lists, and nowhere
// else.
func TestServersLeadOn(t *testing.T) {
	const from = msdl + "/app.pdb/" + pdbID + "/app.pdb"
	for _, tc := range []struct {
		to     string
		status int
		say    string
	}{
		{"https://files.example/x?sig=1", 200, "MSF"},
		{"https://shard5.blob.example.net/x?sig=1", 200, "MSF"},
		{"/download/symbols/other", 200, "MSF"},
		{"https://evil.example/x", 502, "https://evil.example, which is not among"},
		{"https://evilblob.example.net/x", 502, "is not among"},
		{"https://blob.example.net.evil.example/x", 502, "is not among"},
		{"http://files.example/x", 502, "to an address that cannot be followed"},
		{"http://127.0.0.1/x", 502, "to an address that cannot be followed"},
		{"file:///etc/passwd", 502, "to an address that cannot be followed"},
		{"https://u:p@files.example/x", 502, "to an address that cannot be followed"},
		{"", 502, "redirects too often"},
	} {
		to := tc.to
		if strings.HasPrefix(to, "/") {
			to = "https://msdl.example" + to
		}
		u := &upstream{answers: map[string]upstreamAnswer{from: {302, map[string]string{"Location": tc.to}, ""}, to: {200, nil, "MSF"}}}
		if tc.to == "" {
			u.answers[from] = upstreamAnswer{302, map[string]string{"Location": from}, ""}
		}
		w := httptest.NewRecorder()
		Handler(memory{}, config(t), u.fetch).ServeHTTP(w, httptest.NewRequest("GET", pdb, nil))
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.say) {
			t.Errorf("to %q: %d %s", tc.to, w.Code, w.Body.String())
		}
		if tc.status != 200 && tc.to != "" && len(u.asked) != 1 {
			t.Errorf("to %q: %q were asked", tc.to, u.asked)
		}
	}
}

func TestServersList(t *testing.T) {
	for _, bad := range []string{"https://msdl.example", "microsoft+ftp://a", "microsoft+https://u:p@a", "microsoft+https://a?x", "microsoft+", "other+https://a",
		"microsoft+https://a debuginfod+https://a"} {
		if got, err := Servers(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
	if got, err := Servers(""); err != nil || len(got) != 0 {
		t.Errorf("no servers: %v %v", got, err)
	}
}

// TestServersIndex: of a server in Breakpad's layout the index next to a symbol file may be asked,
// too, and nothing else next to it.
func TestServersIndex(t *testing.T) {
	servers, err := Servers("breakpad+https://b.example")
	if err != nil {
		t.Fatal(err)
	}
	for name, valid := range map[string]bool{"a.sym": true, "a.sym.index": true, "a.index": false, "a.sym.index.index": false, "a.sym.old": false} {
		if got := servers[0].valid([]string{"a", pdbID, name}); got != valid {
			t.Errorf("%s may be asked: %v", name, got)
		}
	}
}
