package store

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

type memory map[string]string

func (m memory) Head(key string) (*Object, error) {
	if strings.Contains(key, "broken") {
		return nil, errors.New("out of order")
	}
	v, ok := m[key]
	if !ok {
		return nil, nil
	}
	return &Object{Size: int64(len(v)), ETag: `"e` + strconv.Itoa(len(v)) + `"`}, nil
}

func (m memory) Send(w http.ResponseWriter, key string, off, n int64) error {
	_, err := io.WriteString(w, m[key][off:off+n])
	return err
}

const (
	id   = "5A9832E5287241C1838ED98914E9B7FF1"
	path = "/symbols/test_app.pdb/" + id + "/test_app.sym"
)

var files = memory{
	"test_app.pdb/" + id + "/test_app.sym": "MODULE windows x86 " + id + " test_app.pdb\n",
	"lib c++.so/" + id + "/lib c++.so.sym": "MODULE\n",
	"big.so/" + id + "/big.so.sym.gz":      "\x1f\x8b packed",
	"empty.so/" + id + "/empty.so.sym":     "",
	"near.so/" + id + "/near.so.sym.index": "symindex",
}

func ask(t *testing.T, c Config, method, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler(files, c, noServers(t)).ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFilesAndParts(t *testing.T) {
	whole := files["test_app.pdb/"+id+"/test_app.sym"]
	size := strconv.Itoa(len(whole))
	for _, tc := range []struct {
		name, method, path string
		header             []string
		status             int
		body, part         string
	}{
		{"whole", "GET", path, nil, 200, whole, ""},
		{"lower-case id", "GET", strings.Replace(path, id, strings.ToLower(id), 1), nil, 200, whole, ""},
		{"escaped", "GET", "/symbols/lib%20c%2B%2B.so/" + id + "/lib%20c++.so.sym", nil, 200, "MODULE\n", ""},
		{"head", "HEAD", path, nil, 200, "", ""},
		{"an index", "GET", "/symbols/near.so/" + id + "/near.so.sym.index", []string{"Range", "bytes=0-2"}, 206, "sym", "bytes 0-2/8"},
		{"empty", "GET", "/symbols/empty.so/" + id + "/empty.so.sym", nil, 200, "", ""},
		{"first bytes", "GET", path, []string{"Range", "bytes=0-5"}, 206, "MODULE", "bytes 0-5/" + size},
		{"to the end", "GET", path, []string{"Range", "bytes=7-"}, 206, whole[7:], "bytes 7-" + strconv.Itoa(len(whole)-1) + "/" + size},
		{"last bytes", "GET", path, []string{"Range", "bytes=-4"}, 206, whole[len(whole)-4:], "bytes " + strconv.Itoa(len(whole)-4) + "-" + strconv.Itoa(len(whole)-1) + "/" + size},
		{"longer than the file", "GET", path, []string{"Range", "bytes=7-99999999"}, 206, whole[7:], "bytes 7-" + strconv.Itoa(len(whole)-1) + "/" + size},
		{"behind the end", "GET", path, []string{"Range", "bytes=4000-"}, 416, "the file has " + size + " bytes\n", "bytes */" + size},
		{"several", "GET", path, []string{"Range", "bytes=0-1,3-4"}, 200, whole, ""},
		{"backwards", "GET", path, []string{"Range", "bytes=5-2"}, 200, whole, ""},
		{"another unit", "GET", path, []string{"Range", "lines=0-1"}, 200, whole, ""},
		{"of the same file", "GET", path, []string{"Range", "bytes=0-5", "If-Range", `"e` + size + `"`}, 206, "MODULE", "bytes 0-5/" + size},
		{"of a file that changed", "GET", path, []string{"Range", "bytes=0-5", "If-Range", `"old"`}, 200, whole, ""},
		{"known already", "GET", path, []string{"If-None-Match", `"a", W/"e` + size + `"`}, 304, "", ""},
		{"compressed", "GET", "/symbols/big.so/" + id + "/big.so.sym", []string{"Range", "bytes=0-1"}, 200, "\x1f\x8b packed", ""},
		{"absent", "GET", "/symbols/x.so/" + id + "/x.so.sym", nil, 404, "there is no x.so/" + id + "/x.so.sym\n", ""},
		{"bucket out of order", "GET", "/symbols/broken/" + id + "/x.sym", nil, 502, "the bucket could not be read\n", ""},
		{"a dump sent", "POST", path, nil, 405, "symbol files can only be read here (GET, HEAD)\n", ""},
		{"a dump put", "PUT", path, nil, 405, "symbol files can only be read here (GET, HEAD)\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := ask(t, Config{MaxAge: 60}, tc.method, tc.path, tc.header...)
			if r.StatusCode != tc.status {
				t.Errorf("status %d, want %d", r.StatusCode, tc.status)
			}
			if got := text(t, r); got != tc.body {
				t.Errorf("body %q, want %q", got, tc.body)
			}
			if got := r.Header.Get("Content-Range"); got != tc.part {
				t.Errorf("Content-Range %q, want %q", got, tc.part)
			}
			if tc.name == "compressed" && (r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Accept-Ranges") != "") {
				t.Errorf("header %v", r.Header)
			}
			if r.StatusCode == 200 && r.Header.Get("Cache-Control") != "private, max-age=60" {
				t.Errorf("header %v", r.Header)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, bad := range []string{
		"/symbols/", "/symbols/a/b", "/symbols/a/" + id, "/symbols/a/" + id + "/", "/symbols/a/" + id + "/b/c", "/a/" + id + "/b",
		"/symbols/../" + id + "/b", "/symbols/%2e%2e/" + id + "/b", "/symbols/a%2fb/" + id + "/b", "/symbols/a%5cb/" + id + "/b", "/symbols/a%00/" + id + "/b",
		"/symbols/a/xyz/b", "/symbols/a/12/b", "/symbols/a/" + strings.Repeat("1", 49) + "/b", "/symbols/a%zz/" + id + "/b", "/symbols/" + strings.Repeat("a", 256) + "/" + id + "/b",
	} {
		if key, ok := Key(bad); ok {
			t.Errorf("%s is taken for %s", bad, key)
		}
	}
}

func TestOriginsAndTokens(t *testing.T) {
	c := Config{Origins: []string{"https://portal.example"}, Token: "secret"}
	for _, tc := range []struct {
		name   string
		header []string
		status int
		origin string
	}{
		{"without a token", nil, 401, ""},
		{"with another", []string{"Authorization", "Bearer Secret"}, 401, ""},
		{"of another kind", []string{"Authorization", "Basic secret"}, 401, ""},
		{"with the token", []string{"Authorization", "Bearer secret"}, 200, ""},
		{"from the portal", []string{"Authorization", "Bearer secret", "Origin", "https://portal.example"}, 200, "https://portal.example"},
		{"from elsewhere", []string{"Authorization", "Bearer secret", "Origin", "https://portal.example.evil"}, 200, ""},
		{"refused, and the portal may know", []string{"Origin", "https://portal.example"}, 401, "https://portal.example"},
	} {
		r := ask(t, c, "GET", path, tc.header...)
		if r.StatusCode != tc.status || r.Header.Get("Access-Control-Allow-Origin") != tc.origin {
			t.Errorf("%s: %d, origin %q", tc.name, r.StatusCode, r.Header.Get("Access-Control-Allow-Origin"))
		}
	}
	r := ask(t, c, "OPTIONS", path, "Origin", "https://portal.example", "Access-Control-Request-Headers", "authorization, range")
	if r.StatusCode != 204 || !strings.Contains(r.Header.Get("Access-Control-Allow-Headers"), "Range") {
		t.Errorf("preflight: %d %v", r.StatusCode, r.Header)
	}
	if got := ask(t, Config{Origins: []string{"*"}}, "GET", path, "Origin", "https://any.example").Header.Get("Access-Control-Allow-Origin"); got != "https://any.example" {
		t.Errorf("any origin: %q", got)
	}
}

func FuzzRange(f *testing.F) {
	for _, s := range []string{"bytes=0-1", "bytes=-5", "bytes=5-", "bytes=9223372036854775807-", "bytes=-9223372036854775807", "bytes= 1 - 2"} {
		f.Add(s, int64(100))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		size = max(size, 0)
		if off, n, ok := Range(header, size); ok && n > 0 && (off < 0 || off+n > size) {
			t.Errorf("%q of %d bytes: %d bytes at %d", header, size, n, off)
		}
	})
}
