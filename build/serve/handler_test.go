package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"

	"github.com/crashpane/crashpane/build/site"
)

func files() fstest.MapFS {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), ModTime: at} }
	return fstest.MapFS{
		"index.html":                 file("page"),
		"index.html.br":              file("page, br"),
		"index.html.gz":              file("page, gz"),
		"crashpane.01234567.wasm":    file("wasm"),
		"crashpane.01234567.wasm.br": file("wasm, br"),
		"sample/a.sym.gz":            file("compressed symbols"),
		"sample/a.sym.gz.gz":         file("must not be taken for a.sym.gz"),
		".secret":                    file("hidden"),
		"sample/.secret":             file("hidden"),
	}
}

func get(t *testing.T, method, path string, headers ...string) *http.Response {
	t.Helper()
	request := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	(&handler{files: files()}).ServeHTTP(recorder, request)
	return recorder.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	buffer := make([]byte, 200)
	n, _ := r.Body.Read(buffer)
	return string(buffer[:n])
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	for _, request := range [][2]string{{"GET", "/"}, {"GET", "/none"}, {"POST", "/"}, {"HEAD", "/index.html"}} {
		response := get(t, request[0], request[1])
		for _, want := range site.Headers() {
			if got := response.Header.Get(want[0]); got != want[1] {
				t.Errorf("%v: %s: %q", request, want[0], got)
			}
		}
	}
}

func TestNegotiation(t *testing.T) {
	for _, c := range []struct{ path, accept, encoding, body string }{
		{"/", "", "", "page"},
		{"/", "gzip, deflate, br, zstd", "br", "page, br"},
		{"/", "gzip", "gzip", "page, gz"},
		{"/", "br;q=0, gzip;q=0.5", "gzip", "page, gz"},
		{"/", "br;q=x", "", "page"},
		{"/", "*", "br", "page, br"},
		{"/", "*;q=0", "", "page"},
		{"/", "BR ; Q=1", "br", "page, br"},
		{"/crashpane.01234567.wasm", "gzip", "", "wasm"},
		{"/sample/a.sym.gz", "gzip, br", "", "compressed symbols"},
	} {
		response := get(t, "GET", c.path, "Accept-Encoding", c.accept)
		if got := response.Header.Get("Content-Encoding"); got != c.encoding {
			t.Errorf("%s, accepting %q: encoding %q, want %q", c.path, c.accept, got, c.encoding)
		}
		if got := body(t, response); got != c.body {
			t.Errorf("%s, accepting %q: body %q, want %q", c.path, c.accept, got, c.body)
		}
		if c.path == "/" && response.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s, accepting %q: no Vary", c.path, c.accept)
		}
	}
}

func TestCaching(t *testing.T) {
	page := get(t, "GET", "/")
	if got := page.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the page: %q", got)
	}
	wasm := get(t, "GET", "/crashpane.01234567.wasm")
	if got := wasm.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("the wasm: %q", got)
	}
	if got := wasm.Header.Get("Content-Type"); got != "application/wasm" {
		t.Errorf("the wasm: %q", got)
	}
	again := get(t, "GET", "/", "If-None-Match", page.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("with its own ETag: %d", again.StatusCode)
	}
	other := get(t, "GET", "/", "If-None-Match", page.Header.Get("ETag"), "Accept-Encoding", "br")
	if other.StatusCode != http.StatusOK {
		t.Errorf("another encoding has another ETag, but: %d", other.StatusCode)
	}
}

func TestRefusals(t *testing.T) {
	for path, want := range map[string]int{
		"/sample":               404,
		"/sample/":              404,
		"/none.js":              404,
		"/.secret":              404,
		"/sample/.secret":       404,
		"/../serve/main.go":     404,
		"/sample/../index.html": 404,
		"//index.html":          404,
	} {
		if got := get(t, "GET", path).StatusCode; got != want {
			t.Errorf("GET %s: %d, want %d", path, got, want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		response := get(t, method, "/")
		if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, response.StatusCode, response.Header.Get("Allow"))
		}
	}
	if got := body(t, get(t, "HEAD", "/")); got != "" {
		t.Errorf("HEAD has a body: %q", got)
	}
}

func TestRanges(t *testing.T) {
	plain := get(t, "GET", "/sample/a.sym.gz", "Range", "bytes=0-3")
	if plain.StatusCode != http.StatusPartialContent || body(t, plain) != "comp" {
		t.Errorf("a range of a file as it is: %d", plain.StatusCode)
	}
	packed := get(t, "GET", "/", "Range", "bytes=0-1", "Accept-Encoding", "br")
	if packed.StatusCode != http.StatusOK || body(t, packed) != "page, br" {
		t.Errorf("a range of a compressed file: %d", packed.StatusCode)
	}
}
