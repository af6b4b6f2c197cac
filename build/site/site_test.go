package site

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/ticket"
)

func TestCSPNamesNoOtherOrigin(t *testing.T) {
	for _, d := range strings.Split(CSP(), "; ") {
		words := strings.Fields(d)
		for _, source := range words[1:] {
			switch source {
			case "'none'", "'self'", "'wasm-unsafe-eval'", "data:", ReportStyle:
			default:
				t.Errorf("%s allows %s", words[0], source)
			}
		}
	}
	if !strings.HasPrefix(CSP(), "default-src 'none'; ") {
		t.Error("what is not named must be forbidden")
	}
	if strings.Contains(MetaCSP(), "frame-ancestors") {
		t.Error("frame-ancestors has no meaning in a meta element, and browsers complain about it")
	}
}

// TestReportStyle: the preview of the HTML report has the report's styles, because the policy of every
// page has their hash.
func TestReportStyle(t *testing.T) {
	var b strings.Builder
	if err := ticket.WriteHTML(&b, &ticket.Ticket{}); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.String(), "<style>")
	style, _, ok := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !ok || want != ReportStyle {
		t.Errorf("the report's style sheet has the hash %s, ReportStyle is %s", want, ReportStyle)
	}
	for name, policy := range map[string]string{"the site": CSP(), "the page": MetaCSP(), "the single file": SingleCSP(nil, nil)} {
		if !strings.Contains(policy, ReportStyle) {
			t.Errorf("%s does not allow it: %s", name, policy)
		}
	}
	for _, name := range []string{"docs/EMBEDDING.md", "build/portal/portal.mjs"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil || !strings.Contains(string(text), ReportStyle) {
			t.Errorf("%s does not have %s: %v", name, ReportStyle, err)
		}
	}
}

func TestHashed(t *testing.T) {
	for name, want := range map[string]bool{
		"crashpane.0123abcd.js":   true,
		"crashpane.0123abcd.wasm": true,
		"a/b.deadbeef.css":        true,
		"crashpane.js":            false,
		"crashpane.0123abc.js":    false,
		"crashpane.0123ABCD.js":   false,
		"libc.so.6.sym.gz":        false,
		"index.html":              false,
	} {
		if got := Hashed(name); got != want {
			t.Errorf("Hashed(%q) = %v", name, got)
		}
		if got := CacheControl(name) == "no-cache"; got == want {
			t.Errorf("CacheControl(%q) = %q", name, CacheControl(name))
		}
	}
}

func TestContentType(t *testing.T) {
	for name, want := range map[string]string{
		"crashpane.0123abcd.wasm": "application/wasm",
		"sample/tilecruncher.dmp": "application/octet-stream",
		"sample/libc.so.6.sym.gz": "application/gzip",
		"index.html":              "text/html; charset=utf-8",
	} {
		if got := ContentType(name); got != want {
			t.Errorf("ContentType(%q) = %q", name, got)
		}
	}
}

func TestOnlyOneFileMayBeFramed(t *testing.T) {
	policy := func(name string) string { return HeadersFor(name)[0][1] }
	for _, name := range []string{"index.html", "crashpane.0123abcd.js", "sample/embed.html", "embed.htm"} {
		if !strings.Contains(policy(name), "frame-ancestors 'none'") {
			t.Errorf("%s may be framed: %s", name, policy(name))
		}
	}
	if strings.Contains(policy(Framed), "frame-ancestors") || !strings.HasPrefix(policy(Framed), "default-src 'none'; ") {
		t.Errorf("%s: %s", Framed, policy(Framed))
	}
	// A host sends the headers of every rule of _headers that matches, so the common rule must not
	// forbid frames.
	for _, rule := range strings.Split(HeadersFile(nil), "\n/") {
		if strings.HasPrefix(rule, "/*") && strings.Contains(rule, "frame-ancestors") {
			t.Errorf("_headers forbids frames for all: %s", rule)
		}
	}
	if n := strings.Count(HeadersFile(nil), noFrames); n != 2 {
		t.Errorf("_headers keeps %d pages out of frames, want the page by its two names", n)
	}
	for name, text := range map[string]string{"Apache": Apache(), "nginx": Nginx(), "Caddy": Caddy()} {
		if !strings.Contains(text, MetaCSP()+`"`) || !strings.Contains(text, CSP()) {
			t.Errorf("%s lacks one of the policies:\n%s", name, text)
		}
	}
}
