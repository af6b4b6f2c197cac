package site

import (
	"slices"
	"strings"
	"testing"
)

// TestLayouts: the page gets a base with its layout, and the policy has the address without it. A
// server that the Worker asks is a path on the page's own server, so the policy does not name it.
func TestLayouts(t *testing.T) {
	got, err := Bases("microsoft+https://symbols.example/download/symbols debuginfod+https://debug.example/ microsoft+/servers/a breakpad+/b")
	want := []string{"microsoft+https://symbols.example/download/symbols", "debuginfod+https://debug.example", "microsoft+/servers/a", "/b"}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("bases are %q, want %q (%v)", got, want, err)
	}
	if !strings.Contains(CSP(got...), "; connect-src 'self' https://symbols.example https://debug.example;") {
		t.Errorf("the policy is %s", CSP(got...))
	}
	through, err := Servers("microsoft+https://symbols.example/download/symbols, debuginfod+http://127.0.0.1:9000 breakpad+https://b.example/v1")
	if want := []string{"microsoft+/servers/symbols.example", "debuginfod+/servers/127.0.0.1:9000", "/servers/b.example"}; err != nil || !slices.Equal(through, want) {
		t.Errorf("through the Worker %q, want %q (%v)", through, want, err)
	}
	if !strings.Contains(CSP(through...), "; connect-src 'self';") {
		t.Errorf("the policy is %s", CSP(through...))
	}
	for _, bad := range []string{"https://symbols.example", "microsoft+/symbols", "microsoft+https://a/?q", "microsoft+https://u:p@a", "other+https://symbols.example", "microsoft+"} {
		if got, err := Servers(bad); err == nil {
			t.Errorf("%q was taken as %q", bad, got)
		}
	}
}

// TestBases: the bases become a part of the policy, so Bases must refuse everything but plain
// addresses.
func TestBases(t *testing.T) {
	got, err := Bases("https://symbols.example/v1/, /symbols http://127.0.0.1:9000 https://symbols.example/other")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"https://symbols.example/v1", "/symbols", "http://127.0.0.1:9000", "https://symbols.example/other"}
	if !slices.Equal(got, want) {
		t.Fatalf("bases are %q, want %q", got, want)
	}
	if !strings.Contains(CSP(got...), "; connect-src 'self' https://symbols.example http://127.0.0.1:9000;") {
		t.Errorf("the policy is %s", CSP(got...))
	}
	if !strings.Contains(MetaCSP(), "; connect-src 'self';") {
		t.Errorf("by default nothing but the page's own server may be reached: %s", MetaCSP())
	}
	if back := BasesOf(AddBases(`<script data-symbols="" defer>`, got)); !slices.Equal(back, want) {
		t.Errorf("the page says %q", back)
	}
	for _, bad := range []string{"https://a;script-src *", "*", "https://*.example", "ftp://a/b", "//a/b", "a/b", "https://u:p@a", "https://a/?q", "https://a/#x",
		"'unsafe-inline'", "data:", "/", `https://a"b`} {
		if got, err := Bases(bad); err == nil {
			t.Errorf("%q was taken as %q", bad, got)
		}
	}
}
