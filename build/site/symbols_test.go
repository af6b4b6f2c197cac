package site

import (
	"slices"
	"strings"
	"testing"
)

// TestBases: the bases become a part of the policy, so Bases must refuse everything but plain addresses.
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
