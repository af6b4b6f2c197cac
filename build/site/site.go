// Package site holds the rules for serving the built page: its headers with the content security
// policy, its content types, and which of its files a browser may cache for ever. build/bundle,
// build/serve and build/gates use these, so that they cannot disagree. hosts.go writes the same
// rules as configuration of the usual web servers.
package site

import (
	"path"
	"strings"
)

// directives is the page's content security policy. connect-src allows the page's own origin, from
// which the page fetches its wasm and its sample, and the symbol sources that it is built with,
// which are none by default. So a browser does not let the page send a dump anywhere else, even if
// an attacker's script ran in it. img-src allows data: for the icons in the style sheet.
var directives = []string{
	"default-src 'none'",
	"script-src 'self' 'wasm-unsafe-eval'",
	"connect-src 'self'",
	"style-src 'self' " + ReportStyle,
	"img-src 'self' data:",
	"worker-src 'self'",
	"manifest-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	noFrames,
}

// ReportStyle allows the style sheet of the HTML report (walker/report/ticket), which the page shows
// before it is downloaded, in a frame that has the page's policy, too.
const ReportStyle = "'sha256-XUHSFfvA7gCNp/218szGusfojoE47xkP5mG8tzSk8g0='"

// noFrames is the directive that forbids other pages to show this one in a frame. Browsers ignore
// it in a meta element (CSP Level 3, section 3.3).
const noFrames = "frame-ancestors 'none'"

// CSP returns the policy as a header's value. bases are the symbol sources that the page may also
// ask (Bases).
func CSP(bases ...string) string { return strings.Join(policy(bases), "; ") }

// policy returns directives with the servers of bases added to connect-src.
func policy(bases []string) []string {
	out := append([]string{}, directives...)
	for i, d := range out {
		if strings.HasPrefix(d, "connect-src ") {
			out[i] = strings.Join(append([]string{d}, origins(bases)...), " ")
		}
	}
	return out
}

// MetaCSP returns the policy for a meta element, for hosts that cannot send headers: it is without
// noFrames.
func MetaCSP(bases ...string) string {
	var kept []string
	for _, d := range policy(bases) {
		if !strings.HasPrefix(d, "frame-ancestors") {
			kept = append(kept, d)
		}
	}
	return strings.Join(kept, "; ")
}

// SingleCSP returns the policy of the page as one file. It forbids every request. scripts and
// sheets are the hashes of the scripts and style sheets in the page, as 'sha256-…'. The page makes
// its workers from blob: URLs.
func SingleCSP(scripts, sheets []string) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src " + strings.Join(scripts, " ") + " 'wasm-unsafe-eval'",
		"connect-src 'none'",
		"style-src " + strings.Join(append([]string{ReportStyle}, sheets...), " "),
		"img-src data:",
		"worker-src blob:",
		"base-uri 'none'",
		"form-action 'none'",
	}, "; ")
}

// Headers returns the names and values of the headers that a server sends with every response.
func Headers(bases ...string) [][2]string {
	return [][2]string{
		{"Content-Security-Policy", CSP(bases...)},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
	}
}

// Framed is the one file that other pages may show in a frame. Its script checks the origin of each
// message (web/embed/embed.js).
const Framed = "embed.html"

// HeadersFor returns the headers of one file.
func HeadersFor(name string, bases ...string) [][2]string {
	headers := Headers(bases...)
	if name == Framed {
		headers[0][1] = MetaCSP(bases...)
	}
	return headers
}

// types are the content types by extension. They are listed here because package mime reads the
// machine's own tables, which may lack .wasm: WebAssembly.compileStreaming refuses a response that
// is not application/wasm.
var types = map[string]string{
	".html":        "text/html; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".webmanifest": "application/manifest+json",
	".wasm":        "application/wasm",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".webp":        "image/webp",
	".ico":         "image/x-icon",
	".txt":         "text/plain; charset=utf-8",
	".gz":          "application/gzip",
}

// ContentType returns the type of a file by its name's extension.
func ContentType(name string) string {
	if t, ok := types[path.Ext(name)]; ok {
		return t
	}
	return "application/octet-stream"
}

// Hashed reports whether a name contains the hash of the file's content (crashpane.0123abcd.js), so
// that the content under this name never changes.
func Hashed(name string) bool {
	base := path.Base(name)
	base = strings.TrimSuffix(base, path.Ext(base))
	hash := path.Ext(base)
	return len(hash) == 1+HashLen && strings.Trim(hash[1:], "0123456789abcdef") == ""
}

// HashLen is the number of hexadecimal digits of a hash in a file name.
const HashLen = 8

// CacheControl returns the Cache-Control header of a file. A browser may keep files with a hash in
// their name for ever, and has to ask the server whether others have changed.
func CacheControl(name string) string {
	if Hashed(name) {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// Compresses reports whether the bundle makes a .br and a .gz of a file. Files that are compressed
// already do not get any.
func Compresses(name string) bool {
	switch path.Ext(name) {
	case ".gz", ".br", ".zip", ".png", ".ico":
		return false
	}
	return true
}
