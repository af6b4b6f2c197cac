// Package site says what the built page is on the wire: its headers, its content types, and which of its files may
// be cached for ever. The bundle, the server and the gates read it here, so that they cannot disagree.
package site

import (
	"path"
	"strings"
)

// directives is the page's content security policy. connect-src names the page's own origin, because the page
// fetches its own wasm and sample; nothing else may be reached from it but the sources of symbols that it is built with, of which there
// are none by default. What comes in as a dump can therefore not leave, even if the page had a hole. img-src allows data: for the icons in the style sheet.
var directives = []string{
	"default-src 'none'",
	"script-src 'self' 'wasm-unsafe-eval'",
	"connect-src 'self'",
	"style-src 'self'",
	"img-src 'self' data:",
	"worker-src 'self'",
	"manifest-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	noFrames,
}

// noFrames is what keeps a page out of frames. It is valid in headers only.
const noFrames = "frame-ancestors 'none'"

// CSP is the policy as a header. bases are the sources of symbol files that the page may ask besides (Bases).
func CSP(bases ...string) string { return strings.Join(policy(bases), "; ") }

// policy is directives with the servers of bases among what may be reached.
func policy(bases []string) []string {
	out := append([]string{}, directives...)
	for i, d := range out {
		if strings.HasPrefix(d, "connect-src ") {
			out[i] = strings.Join(append([]string{d}, origins(bases)...), " ")
		}
	}
	return out
}

// MetaCSP is the policy as a meta element, for hosts that cannot send headers. frame-ancestors is not valid there.
func MetaCSP(bases ...string) string {
	var kept []string
	for _, d := range policy(bases) {
		if !strings.HasPrefix(d, "frame-ancestors") {
			kept = append(kept, d)
		}
	}
	return strings.Join(kept, "; ")
}

// SingleCSP is the policy of the page that is one file: nothing may be fetched or sent, by no address whatever. Its scripts and
// style sheets, which stand in it, are allowed by their hashes; its workers come from blob: addresses that it makes.
func SingleCSP(scripts, sheets []string) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + strings.Join(scripts, " ") + " 'wasm-unsafe-eval'",
		"connect-src 'none'",
		"style-src " + strings.Join(sheets, " "),
		"img-src data:",
		"worker-src blob:",
		"base-uri 'none'",
		"form-action 'none'",
	}, "; ")
}

// Headers are sent with every answer.
func Headers(bases ...string) [][2]string {
	return [][2]string{
		{"Content-Security-Policy", CSP(bases...)},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
	}
}

// Framed is the one file that other pages may show in a frame. It asks whose messages it takes, see web/embed/embed.js; all others
// are shown in no frame.
const Framed = "embed.html"

// HeadersFor are the headers of one file.
func HeadersFor(name string, bases ...string) [][2]string {
	headers := Headers(bases...)
	if name == Framed {
		headers[0][1] = MetaCSP(bases...)
	}
	return headers
}

// types is written out and not left to the mime package, which reads the machine's own tables: a wrong type for
// wasm makes the browser refuse to compile it while it streams in.
var types = map[string]string{
	".html":        "text/html; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".webmanifest": "application/manifest+json",
	".wasm":        "application/wasm",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".ico":         "image/x-icon",
	".txt":         "text/plain; charset=utf-8",
	".gz":          "application/gzip",
}

// ContentType answers the type of a file by its name.
func ContentType(name string) string {
	if t, ok := types[path.Ext(name)]; ok {
		return t
	}
	return "application/octet-stream"
}

// Hashed reports whether a name carries the hash of its content (crashpane.0123abcd.js), so that what stands
// under it never changes.
func Hashed(name string) bool {
	base := path.Base(name)
	base = strings.TrimSuffix(base, path.Ext(base))
	hash := path.Ext(base)
	return len(hash) == 1+HashLen && strings.Trim(hash[1:], "0123456789abcdef") == ""
}

// HashLen is the number of hexadecimal digits of a hash in a file name.
const HashLen = 8

// CacheControl answers how long a file may be kept: hashed ones for ever, others only if the host still has the
// same one.
func CacheControl(name string) string {
	if Hashed(name) {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// Compresses reports whether a file gets a .br and a .gz beside it.
func Compresses(name string) bool {
	switch path.Ext(name) {
	case ".gz", ".br", ".zip", ".png", ".ico":
		return false
	}
	return true
}
